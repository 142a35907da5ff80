package terms

// Frequencies are F(t), F' and F of equation 1, counted in a collection: "the
// frequency of term t in the background database". They do not change.
type Frequencies struct {
	counts      map[uint64]uint32 // by the hash of the term
	least, most [groups]uint64    // of the terms of each part of speech
}

// of returns the frequency of a term, and those of the least and the most frequent
// term of its part of speech. A term that the collection does not have counts as the
// least frequent.
func (f *Frequencies) of(g group, term uint64) (frequency, least, most uint64) {
	least, most = max(1, f.least[g]), max(1, f.most[g])
	return min(max(least, uint64(f.counts[term])), most), least, most
}

// Counter counts the terms of texts. It is not safe for concurrent use.
type Counter struct {
	weigher *Weigher
	counts  map[uint64]uint32
	groups  map[uint64]group
}

// NewCounter returns a Counter of the terms that a Weigher of the options makes,
// also of those that weigh nothing.
func NewCounter(o Weighing) *Counter {
	o.Collection = nil
	w := NewWeigher(o)
	w.counts = &Counter{w, map[uint64]uint32{}, map[uint64]group{}}
	return w.counts
}

// Add counts the terms of a text, with repetitions.
func (c *Counter) Add(text string) { c.weigher.Append(nil, text) }

// add counts a term once more. Its count stays below 2^31, as those of the
// dictionary do.
func (c *Counter) add(g group, term uint64) {
	if n := c.counts[term]; n < 1<<31-1 {
		c.counts[term] = n + 1
	}
	c.groups[term] = g
}

// Frequencies returns the counts so far. The Counter must not be used afterwards.
func (c *Counter) Frequencies() *Frequencies {
	f := &Frequencies{counts: c.counts}
	for term, g := range c.groups {
		n := uint64(c.counts[term])
		if f.least[g] == 0 || n < f.least[g] {
			f.least[g] = n
		}
		f.most[g] = max(f.most[g], n)
	}
	return f
}
