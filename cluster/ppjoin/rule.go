package ppjoin

// Rule decides which pairs a join finds, by its measure, threshold and weights.
// Joins that find candidates by other means use it to find the same pairs as Self
// and Between.
type Rule struct {
	o    Options
	b    bounds
	mass []int64 // by token id; nil: all 1
}

// NewRule returns the rule of a join of one collection or two.
func NewRule(o Options, cs ...Collection) (*Rule, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := reader{t: &table{o: o, b: newBounds(o), weighted: o.Weights != nil, sides: len(cs)}, cs: cs}
	if o.Weights != nil {
		if err := r.weigh(); err != nil {
			return nil, err
		}
	}
	return &Rule{o, r.t.b, r.mass}, nil
}

// Mass returns the mass of a token: 1, or its weight (its square for Cosine) in the
// join's steps.
func (r *Rule) Mass(token uint32) int64 {
	if r.mass == nil {
		return 1
	}
	return r.mass[token]
}

// Unit returns the mass of a weight of 1.
func (r *Rule) Unit() float64 { return r.b.unit }

// Slack returns how far the masses of similar records can fall short of the bounds
// of sections 2.2 and 6.1, because weights are rounded to masses and the bounds are
// float64.
func (r *Rule) Slack() float64 { return 2*r.b.slack + 1e-6 }

// Decide returns the similarity of records of masses x and y with the given
// overlap, and whether it reaches the threshold.
func (r *Rule) Decide(x, y, overlap int64, tokensX, tokensY []uint32) (similarity float64, ok bool) {
	return r.b.decide(x, y, overlap, func() (x, y []uint32) { return tokensX, tokensY })
}

// SuffixDistance returns a lower bound of the Hamming distance of two ascending
// sets: algorithm 3 to a depth of maxDepth. It may be any number above limit if
// the distance is above limit.
func SuffixDistance(x, y []uint32, limit, maxDepth int) int {
	return suffix(x, y, limit, 1, maxDepth)
}

// Prefixes returns the lengths of a record's probing and indexing prefixes (section 3,
// lemma 4.4): two similar records share a token of the larger one's probing prefix and
// the smaller one's indexing prefix. A length may be 0 or less: the record is similar to
// none.
func (r *Rule) Prefixes(size int64) (probing, indexing int64) {
	return size - r.b.probing(size) + 1, size - r.b.indexing(size) + 1
}

// Least returns the size of the smallest record that can be similar to one of a size.
func (r *Rule) Least(size int64) int64 { return r.b.least(size) }

// Overlap returns the smallest overlap of similar records of these sizes.
func (r *Rule) Overlap(x, y int64) int64 { return r.b.overlap(x, y) }
