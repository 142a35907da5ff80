package join

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

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

// set is a record as it is read.
type set struct {
	from, to int // in the reader's tokens
	alone    uint32
	side     uint8
	mass     int64
	hash     uint64
	members  int32
}

// token is what is known of one while reading.
type token struct {
	seen      uint32 // 1 + the last record that has it
	frequency [2]uint32
}

func (t *token) shared(sides int) bool {
	if sides == 2 {
		return t.frequency[0] > 0 && t.frequency[1] > 0
	}
	return t.frequency[0] > 1
}

// reader builds a table.
type reader struct {
	t      *table
	cs     []Collection
	mass   []int64 // of the token ids; nil: 1
	info   []token
	tokens []uint32 // of the sets
	sets   []set
	setOf  []int32 // of all records
}

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

// prepare finds the range of ids, makes them dense if they are far from it,
// and looks up their weights.
func (r *reader) prepare() error {
	total, records, largest := 0, 0, -1
	for _, c := range r.cs {
		total, records = total+len(c.Tokens), records+len(c.Ends)
		for _, t := range c.Tokens {
			largest = max(largest, int(t))
		}
	}
	if records > math.MaxInt32 {
		return fmt.Errorf("join: %d records, at most %d can be joined", records, math.MaxInt32)
	}
	if r.t.weighted {
		if largest >= len(r.t.o.Weights) {
			return fmt.Errorf("join: token %d has no weight: there are %d", largest, len(r.t.o.Weights))
		}
		r.mass = make([]int64, len(r.t.o.Weights))
		for i, w := range r.t.o.Weights {
			if r.t.b.measure == Cosine {
				w *= w
			}
			r.mass[i] = int64(math.Round(w * weightSteps))
		}
	} else if largest > 4*total+1024 {
		largest = r.renumber()
	}
	r.info = make([]token, largest+1)
	r.tokens = make([]uint32, 0, total)
	r.sets = make([]set, 0, records)
	r.setOf = make([]int32, 0, records)
	return nil
}

// renumber gives the tokens dense ids and returns the largest.
func (r *reader) renumber() int {
	dense := map[uint32]uint32{}
	for i, c := range r.cs {
		tokens := make([]uint32, len(c.Tokens))
		for j, t := range c.Tokens {
			id, ok := dense[t]
			if !ok {
				id = uint32(len(dense))
				dense[t] = id
			}
			tokens[j] = id
		}
		r.cs[i].Tokens = tokens
	}
	return len(dense) - 1
}

// mix spreads the bits of a token (the finalizer of MurmurHash3, A. Appleby).
func mix(v uint64) uint64 {
	v = (v ^ v>>33) * 0xff51afd7ed558ccd
	v = (v ^ v>>33) * 0xc4ceb9fe1a85ec53
	return v ^ v>>33
}

// read takes in the records, equal ones once, and the frequencies.
func (r *reader) read(group bool) {
	n := cap(r.setOf)
	slots := make([]int32, 1<<bits.Len(uint(2*n))) // 1 + a set, open addressing
	mask := uint64(len(slots) - 1)
	for side, c := range r.cs {
		start := 0
		for i, end := range c.Ends {
			s := set{from: len(r.tokens), side: uint8(side), members: 1}
			stamp := uint32(len(r.setOf) + 1)
			for _, t := range c.Tokens[start:end] {
				if r.info[t].seen == stamp {
					continue
				}
				m := int64(1)
				if r.mass != nil {
					if m = r.mass[t]; m == 0 {
						continue
					}
				}
				r.info[t].seen = stamp
				r.tokens = append(r.tokens, t)
				s.mass += m
				s.hash += mix(uint64(t) + 1)
			}
			start = end
			s.to = len(r.tokens)
			if c.Alone != nil {
				s.alone = c.Alone[i]
				s.mass += int64(s.alone)
			}
			s.hash = mix(s.hash + uint64(side))
			at := s.hash & mask
			same := int32(-1)
			for ; group && s.alone == 0 && same < 0 && slots[at] != 0; at = (at + 1) & mask {
				if o := &r.sets[slots[at]-1]; o.hash == s.hash && o.side == s.side && r.equal(o, &s, stamp) {
					same = slots[at] - 1
				}
			}
			if same >= 0 {
				r.tokens = r.tokens[:s.from]
				r.sets[same].members++
				r.setOf = append(r.setOf, same)
				continue
			}
			if s.alone == 0 && group {
				slots[at] = int32(len(r.sets) + 1)
			}
			r.setOf = append(r.setOf, int32(len(r.sets)))
			r.sets = append(r.sets, s)
			for _, t := range r.tokens[s.from:] {
				r.info[t].frequency[side]++
			}
		}
	}
	r.t.counts.Records, r.t.counts.Distinct = int64(len(r.setOf)), int64(len(r.sets))
}

// equal compares two sets; the tokens of s have been seen with stamp.
func (r *reader) equal(o, s *set, stamp uint32) bool {
	if o.to-o.from != s.to-s.from {
		return false
	}
	for _, t := range r.tokens[o.from:o.to] {
		if r.info[t].seen != stamp {
			return false
		}
	}
	return true
}

// drop removes the tokens of sets that cannot be similar to any other, because
// too little of them is elsewhere; after that less is elsewhere of others.
func (r *reader) drop() {
	t := r.t
	for i := range r.sets {
		s := &r.sets[i]
		shared := int64(0)
		for _, id := range r.tokens[s.from:s.to] {
			if r.info[id].shared(t.sides) {
				if r.mass != nil {
					shared += r.mass[id]
				} else {
					shared++
				}
			}
		}
		if s.mass == 0 || shared < t.b.probing(s.mass) {
			for _, id := range r.tokens[s.from:s.to] {
				r.info[id].frequency[s.side]--
			}
			s.to = s.from
		}
	}
}

const noRank = math.MaxUint32

// rank orders the tokens that sets share: the document frequency ordering of
// 2.1; for two collections by the product of the frequencies (7.4.2); with
// weights "by decreasing order of weight" (6.2). It is put into seen.
func (r *reader) rank() {
	t := r.t
	if t.sides == 1 && !t.weighted {
		places := make([]uint32, len(r.sets)+2)
		for i := range r.info {
			if k := &r.info[i]; k.shared(1) {
				places[k.frequency[0]+1]++
				t.ranks++
			}
		}
		for f := 1; f < len(places); f++ {
			places[f] += places[f-1]
		}
		for i := range r.info {
			k := &r.info[i]
			k.seen = noRank
			if k.shared(1) {
				k.seen = places[k.frequency[0]]
				places[k.frequency[0]]++
			}
		}
		return
	}
	var shared []uint32
	for i := range r.info {
		r.info[i].seen = noRank
		if r.info[i].shared(t.sides) {
			shared = append(shared, uint32(i))
		}
	}
	pairs := func(id uint32) uint64 {
		f := r.info[id].frequency
		if t.sides == 1 {
			return uint64(f[0])
		}
		return uint64(f[0]) * uint64(f[1])
	}
	slices.SortFunc(shared, func(a, b uint32) int {
		if t.weighted && r.mass[a] != r.mass[b] {
			return cmp.Compare(r.mass[b], r.mass[a])
		}
		return cmp.Or(cmp.Compare(pairs(a), pairs(b)), cmp.Compare(a, b))
	})
	for i, id := range shared {
		r.info[id].seen = uint32(i)
	}
	t.ranks = len(shared)
}

// order makes records of the sets, by mass, their tokens by rank.
func (r *reader) order() {
	t := r.t
	r.rank()
	var masses []int64 // by rank
	if t.weighted {
		masses = make([]int64, t.ranks)
		for i, k := range r.info {
			if k.seen != noRank {
				masses[k.seen] = r.mass[i]
			}
		}
	}
	kept := int64(0)
	bySize := make([]int32, 0, len(r.sets))
	for i := range r.sets {
		if s := &r.sets[i]; s.to > s.from || s.members > 1 {
			bySize = append(bySize, int32(i))
			kept += int64(s.to - s.from)
		}
	}
	sortByMass(bySize, r.sets)
	t.words = bitmapWords(t.o.Bitmaps && !t.weighted, kept, int64(len(bySize)))

	t.records = make([]record, 0, len(bySize))
	t.tokens = make([]uint32, 0, kept)
	recordOf := make([]int32, len(r.sets))
	for i := range recordOf {
		recordOf[i] = -1
	}
	for _, i := range bySize {
		s := &r.sets[i]
		x := record{mass: s.mass, first: len(t.tokens), side: int32(s.side)}
		shared := int64(0)
		for _, id := range r.tokens[s.from:s.to] {
			if rank := r.info[id].seen; rank != noRank {
				t.tokens = append(t.tokens, rank)
				if t.weighted {
					shared += masses[rank]
				} else {
					shared++
				}
			}
		}
		if shared < t.b.probing(s.mass) {
			t.tokens = t.tokens[:x.first]
			if s.members == 1 {
				continue
			}
		}
		tokens := t.tokens[x.first:]
		sortTokens(tokens)
		x.size = int32(len(tokens))
		if t.weighted {
			t.rest = append(t.rest, make([]int64, len(tokens))...)
			sum := int64(0)
			for j := len(tokens) - 1; j >= 0; j-- {
				sum += masses[tokens[j]]
				t.rest[x.first+j] = sum
			}
		}
		x.probe = t.prefix(&x, t.b.probing(s.mass))
		x.index = t.prefix(&x, t.b.indexing(s.mass))
		if x.size > 0 {
			t.counts.Probing++
		}
		t.appendBitmap(tokens)
		recordOf[i] = int32(len(t.records))
		t.records = append(t.records, x)
	}

	t.memberEnds = make([]int, len(t.records))
	for i, x := range recordOf {
		if x >= 0 {
			t.memberEnds[x] = int(r.sets[i].members)
		}
	}
	sum := 0
	for x, n := range t.memberEnds {
		t.memberEnds[x] = sum
		sum += n
	}
	t.members = make([]int32, sum)
	before := 0
	for _, c := range r.cs {
		for i := range c.Len() {
			if x := recordOf[r.setOf[before+i]]; x >= 0 {
				t.members[t.memberEnds[x]] = int32(i)
				t.memberEnds[x]++
			}
		}
		before += c.Len()
	}
}

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

// sortByMass sorts sets by mass, then place.
func sortByMass(order []int32, sets []set) {
	largest := int64(0)
	for _, i := range order {
		largest = max(largest, sets[i].mass)
	}
	if largest > 4*int64(len(order))+1024 {
		slices.SortFunc(order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(sets[a].mass, sets[b].mass), cmp.Compare(a, b))
		})
		return
	}
	places := make([]int32, largest+2)
	for _, i := range order {
		places[sets[i].mass+1]++
	}
	for m := range largest {
		places[m+1] += places[m]
	}
	from := slices.Clone(order)
	for _, i := range from {
		order[places[sets[i].mass]] = i
		places[sets[i].mass]++
	}
}

// sortTokens sorts a record.
func sortTokens(a []uint32) {
	if len(a) > 16 {
		slices.Sort(a)
		return
	}
	for i := 1; i < len(a); i++ {
		v, j := a[i], i
		for ; j > 0 && a[j-1] > v; j-- {
			a[j] = a[j-1]
		}
		a[j] = v
	}
}
