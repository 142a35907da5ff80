package ppjoin

import (
	"context"
	"slices"
)

// record is a distinct set of tokens. It stands for one or more equal records of
// the collections.
type record struct {
	mass  int64 // |x|, or σx: of all its tokens
	first int   // start of its listed tokens
	size  int32 // number of listed tokens, which are those that another record has
	probe int32 // number of listed tokens in the probing prefix
	index int32 // number of listed tokens in the indexing prefix
	side  int32 // the collection
}

// table is the collections prepared for the join.
type table struct {
	o        Options
	b        bounds
	weighted bool
	sides    int

	records []record     // by mass, the smallest first
	tokens  []uint32     // of the records, ascending in each: ranks in the global ordering
	cs      []Collection // with weights: as given, to compute from the weights
	rest    []int64      // with weights: mass of a token and all after it in its record
	words   int          // words of a bitmap
	bitmaps []uint64

	memberEnds []int   // end of the members of a record
	members    []int32 // indexes in the collections, ascending

	lists    []int // start of the list of side*ranks + rank
	postings []posting
	ranks    int
	counts   Counts

	// similar replaces the measure's verdict (for edit distance). Several
	// workers call it.
	similar func(x, y int32) (similarity float64, ok bool)
}

// posting says that a record has a token, and at which position.
type posting struct{ record, place int32 }

func newTable(ctx context.Context, cs []Collection, o Options, b bounds, group bool) (*table, error) {
	r := reader{t: &table{o: o, b: b, weighted: o.Weights != nil, sides: len(cs)}, cs: slices.Clone(cs)}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	for _, step := range []func(){func() { r.read(group) }, r.drop, r.order, r.t.makeIndex} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step()
	}
	return r.t, nil
}

// marking reports whether only prefixes are sorted, and the rest of an overlap is
// found by marking the tokens of one record. This is the case if no filter looks at
// a suffix.
func (t *table) marking() bool { return !t.weighted && t.o.Algorithm != PPJoinPlus }

// prefix returns the number of tokens after which less than overlap is left: "min
// j" of 6.2. Without weights that is |x| - α + 1, less the tokens that only x has,
// plus the Extra ones of corollary 4.7.
func (t *table) prefix(x *record, overlap int64) int32 {
	if !t.weighted {
		return int32(max(0, min(int64(x.size), int64(x.size)-overlap+1+int64(t.o.Extra))))
	}
	n, _ := slices.BinarySearchFunc(t.rest[x.first:x.first+int(x.size)], overlap, func(rest, overlap int64) int {
		if rest < overlap {
			return 1
		}
		return -1
	})
	return int32(n)
}

// memberList returns the indexes in the collection of the records that x stands
// for.
func (t *table) memberList(x int32) []int32 {
	if x == 0 {
		return t.members[:t.memberEnds[0]]
	}
	return t.members[t.memberEnds[x-1]:t.memberEnds[x]]
}

// makeIndex lists for each token the records whose indexing prefix has it, sorted
// by mass.
func (t *table) makeIndex() {
	t.lists = make([]int, t.sides*t.ranks+1)
	for i := range t.records {
		x := &t.records[i]
		for _, rank := range t.tokens[x.first : x.first+int(x.index)] {
			t.lists[int(x.side)*t.ranks+int(rank)]++
		}
	}
	sum := 0
	for i, n := range t.lists {
		sum += n
		t.lists[i] = sum
	}
	t.postings = make([]posting, sum)
	for i := len(t.records) - 1; i >= 0; i-- {
		x := &t.records[i]
		for place, rank := range t.tokens[x.first : x.first+int(x.index)] {
			at := &t.lists[int(x.side)*t.ranks+int(rank)]
			*at--
			t.postings[*at] = posting{int32(i), int32(place)}
		}
	}
	t.counts.Postings = int64(sum)
}
