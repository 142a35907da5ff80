package terms

import "iter"

// Frequencies are F(t), F' and F of equation 1, counted in a collection: "the
// frequency of term t in the background database".
type Frequencies struct {
	counts      map[uint64]uint32 // by the hash of the term
	least, most [groups]uint64    // of the terms of each part of speech
}

// of returns the frequency of a term, and those of the least and the most frequent
// term of its part of speech. A term that the collection does not have counts as the
// least frequent. So do all terms without a collection.
func (f *Frequencies) of(g group, term uint64) (frequency, least, most uint64) {
	if f == nil {
		return 1, 1, 1
	}
	least, most = max(1, f.least[g]), max(1, f.most[g])
	return min(max(least, uint64(f.counts[term])), most), least, most
}

// Count is the number of occurrences of a term, and its part of speech, in one
// number, so that it can be stored.
type Count uint32

const (
	groupBits = 3
	maxCount  = 1<<(32-groupBits) - 1
)

// Times returns the number of occurrences, at most maxCount.
func (c Count) Times() int { return int(c >> groupBits) }

// Plus returns the sum of two counts of one term.
func (c Count) Plus(d Count) Count {
	n := min(uint64(c>>groupBits)+uint64(d>>groupBits), maxCount)
	return Count(n)<<groupBits | d&(1<<groupBits-1)
}

// Group returns the number of the part of speech, below Groups.
func (c Count) Group() int { return int(c & (1<<groupBits - 1)) }

// Groups is the number of parts of speech.
const Groups = int(groups)

// NewFrequencies returns the frequencies of terms, given by their hashes, each once.
// Terms that occur once can be left out, but for one of each part of speech.
func NewFrequencies(terms iter.Seq2[uint64, Count]) *Frequencies {
	f := &Frequencies{counts: map[uint64]uint32{}}
	for term, c := range terms {
		g, n := c.Group(), uint64(c.Times())
		f.counts[term] = uint32(n)
		if f.least[g] == 0 || n < f.least[g] {
			f.least[g] = n
		}
		f.most[g] = max(f.most[g], n)
	}
	return f
}

// Counter counts the terms of texts. It is not safe for concurrent use.
type Counter struct {
	weigher *Weigher
	counts  map[uint64]Count
}

// NewCounter returns a Counter of the terms that a Weigher of the options makes,
// also of those that weigh nothing.
func NewCounter(o Weighing) *Counter {
	w := NewWeigher(o)
	w.counts = &Counter{w, map[uint64]Count{}}
	return w.counts
}

// Add counts the terms of a text, with repetitions.
func (c *Counter) Add(text string) { c.weigher.Append(nil, text) }

func (c *Counter) add(g group, term uint64) {
	c.counts[term] = c.counts[term].Plus(1<<groupBits | Count(g))
}

// All yields the counts so far by the hashes of the terms, in any order.
func (c *Counter) All() iter.Seq2[uint64, Count] {
	return func(yield func(uint64, Count) bool) {
		for term, n := range c.counts {
			if !yield(term, n) {
				return
			}
		}
	}
}
