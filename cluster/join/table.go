package join

import "slices"

// record is a set of tokens that one or more records of the collections are.
type record struct {
	mass  int64 // |x|, or σx: of all its tokens
	first int   // where its listed tokens begin
	size  int32 // how many they are: those that another record has
	probe int32 // of them, in the probing prefix
	index int32 // and in the indexing prefix
	side  int32 // the collection
}

// table is the collections made ready for the join.
type table struct {
	o        Options
	b        bounds
	weighted bool
	sides    int

	records []record // by mass, the smallest first
	tokens  []uint32 // of the records, ascending in each: ranks in the global ordering
	rest    []int64  // weighted: the mass of a token with those after it in its record
	words   int      // of a bitmap
	bitmaps []uint64

	memberEnds []int   // where the members of a record end
	members    []int32 // places in the collections, ascending

	lists    []int // where the list of side*ranks + rank begins
	postings []posting
	ranks    int
	counts   Counts

	// similar replaces the measure's verdict (for Edit). It is called by
	// several workers.
	similar func(x, y int32) (similarity float64, ok bool)
}

// posting says that a record has a token, and where in it.
type posting struct{ record, place int32 }

func newTable(cs []Collection, o Options, b bounds, group bool) (*table, error) {
	r := reader{t: &table{o: o, b: b, weighted: o.Weights != nil, sides: len(cs)}, cs: slices.Clone(cs)}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	r.read(group)
	r.drop()
	r.order()
	r.t.makeIndex()
	return r.t, nil
}

// marking tells that only prefixes are sorted, and the rest of an overlap is
// found by marking the tokens of one record: no filter looks at a suffix.
func (t *table) marking() bool { return !t.weighted && t.o.Algorithm != PPJoinPlus }

// prefix is the number of tokens after which less than overlap is left: "min j"
// of 6.2, which without weights is |x| - α + 1, less the tokens that only x
// has; with Extra more of corollary 4.7.
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

// memberList is the places in the collection of the records that x is.
func (t *table) memberList(x int32) []int32 {
	if x == 0 {
		return t.members[:t.memberEnds[0]]
	}
	return t.members[t.memberEnds[x-1]:t.memberEnds[x]]
}

// makeIndex lists, for each token, the records whose indexing prefix has it,
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
