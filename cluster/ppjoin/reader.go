package ppjoin

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// set is a distinct record while collections are read.
type set struct {
	from, to int // in the reader's tokens
	alone    uint32
	side     uint8
	mass     int64
	hash     uint64
	members  int32
}

// token is what the reader knows about a token.
type token struct {
	seen      uint32 // 1 + the last record with the token
	frequency uint32 // in the first collection
}

// reader builds a table.
type reader struct {
	t      *table
	cs     []Collection
	mass   []int64 // by token id; nil: all 1
	info   []token
	second []uint32 // frequencies in the second collection, if there is one
	ranks  []uint32 // in the global ordering; noRank: only one record has the token
	tokens []uint32 // of the sets
	sets   []set
	setOf  []int32 // set of each record
}

// prepare finds the range of ids, renumbers them if they are far from dense, and
// looks up their weights.
func (r *reader) prepare() error {
	total, records, largest := 0, 0, -1
	for _, c := range r.cs {
		total, records = total+len(c.Tokens), records+len(c.Ends)
		for _, t := range c.Tokens {
			largest = max(largest, int(t))
		}
	}
	if records > math.MaxInt32 {
		return fmt.Errorf("ppjoin: %d records, at most %d can be joined", records, math.MaxInt32)
	}
	if r.t.weighted {
		if err := r.weigh(); err != nil {
			return err
		}
		r.t.cs = r.cs
	} else if largest > 4*total+1024 {
		largest = r.renumber()
	}
	r.info = make([]token, largest+1)
	if r.t.sides == 2 {
		r.second = make([]uint32, largest+1)
	}
	r.tokens = make([]uint32, 0, total)
	r.sets = make([]set, 0, records)
	r.setOf = make([]int32, 0, records)
	return nil
}

// weigh sets the masses of tokens from their weights.
func (r *reader) weigh() error {
	w, b, longest := r.t.o.Weights, &r.t.b, 0
	for _, c := range r.cs {
		for _, t := range c.Tokens {
			if int(t) >= w.Len() {
				return fmt.Errorf("ppjoin: token %d has no weight: there are %d", t, w.Len())
			}
		}
		for i := range c.Len() {
			longest = max(longest, len(c.Record(i)))
		}
	}
	r.mass, b.unit = w.masses(b.measure, r.cs)
	b.slack = 8*float64(longest) + 8 // two steps per token, in the overlap and in the masses of both records
	return nil
}

// renumber gives the tokens dense ids. It returns the largest.
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

// read reads the records, equal ones once, and counts the frequencies.
func (r *reader) read(group bool) {
	n := cap(r.setOf)
	slots := make([]int32, 1<<bits.Len(uint(2*n))) // 1 + a set, open addressing
	mask := uint64(len(slots) - 1)
	for side, c := range r.cs {
		start := 0
		for i, end := range c.Ends {
			s := set{from: len(r.tokens), side: uint8(side), members: 1}
			stamp := uint32(len(r.setOf) + 1)
			s.mass, s.hash = r.take(c.Tokens[start:end], stamp, side == 0)
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
				if side == 0 {
					for _, t := range r.tokens[s.from:] {
						r.info[t].frequency--
					}
				}
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
			if side == 1 {
				for _, t := range r.tokens[s.from:] {
					r.second[t]++
				}
			}
		}
	}
	r.t.counts.Records, r.t.counts.Distinct = int64(len(r.setOf)), int64(len(r.sets))
}

// take appends the tokens of a record, each once. It returns their mass and a
// hash that does not depend on their order. If asked to, it counts them as tokens
// of the first collection.
func (r *reader) take(record []uint32, stamp uint32, count bool) (mass int64, hash uint64) {
	info, tokens, first := r.info, r.tokens, uint32(0)
	if count {
		first = 1
	}
	for _, t := range record {
		k := &info[t]
		if k.seen == stamp {
			continue
		}
		if r.mass != nil {
			if r.mass[t] == 0 {
				continue
			}
			mass += r.mass[t]
		}
		k.seen = stamp
		k.frequency += first
		tokens = append(tokens, t)
		h := (uint64(t) + 1) * spread
		hash += h ^ h>>29
	}
	if r.mass == nil {
		mass = int64(len(tokens) - len(r.tokens))
	}
	r.tokens = tokens
	return mass, hash
}

// shared reports whether a pair of sets to be joined can share the token.
func (r *reader) shared(id uint32) bool {
	if r.second != nil {
		return r.info[id].frequency > 0 && r.second[id] > 0
	}
	return r.info[id].frequency > 1
}

// equal reports whether two sets are equal. stamp marks the tokens of s.
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
// other sets have too few of their tokens. Then other sets may lose their common
// tokens, too. drop does nothing if few tokens stand alone.
func (r *reader) drop() {
	t := r.t
	lone := 0
	for id := range r.info {
		if !r.shared(uint32(id)) {
			lone++
		}
	}
	for _, c := range r.cs {
		for _, n := range c.Alone {
			lone += int(n)
		}
	}
	if 16*lone < len(r.tokens) {
		return
	}
	for i := range r.sets {
		s := &r.sets[i]
		shared := int64(0)
		for _, id := range r.tokens[s.from:s.to] {
			if r.shared(id) {
				if r.mass != nil {
					shared += r.mass[id]
				} else {
					shared++
				}
			}
		}
		if s.mass == 0 || shared < t.b.probing(s.mass) {
			for _, id := range r.tokens[s.from:s.to] {
				if s.side == 1 {
					r.second[id]--
				} else {
					r.info[id].frequency--
				}
			}
			s.to = s.from
		}
	}
}

const noRank = math.MaxUint32

// rank orders the tokens that sets share: the document frequency ordering of
// 2.1; for two collections by the product of the frequencies (7.4.2); with
// weights "by decreasing order of weight" (6.2).
func (r *reader) rank() {
	t := r.t
	r.ranks = make([]uint32, len(r.info))
	if t.sides == 1 && !t.weighted {
		places := make([]uint32, len(r.sets)+3) // by frequency, shifted by one
		for i := range r.info {
			places[r.info[i].frequency+1]++
		}
		lone := places[1] + places[2] // of frequency 0 and 1
		t.ranks = len(r.info) - int(lone)
		places[1], places[2] = 0, 0
		for f := 1; f < len(places); f++ {
			places[f] += places[f-1]
		}
		for i := range r.info {
			if f := r.info[i].frequency; f > 1 {
				r.ranks[i] = places[f]
				places[f]++
			} else {
				r.ranks[i] = noRank
			}
		}
		return
	}
	var shared []uint32
	for i := range r.info {
		r.ranks[i] = noRank
		if r.shared(uint32(i)) {
			shared = append(shared, uint32(i))
		}
	}
	pairs := func(id uint32) uint64 {
		if r.second != nil {
			return uint64(r.info[id].frequency) * uint64(r.second[id])
		}
		return uint64(r.info[id].frequency)
	}
	slices.SortFunc(shared, func(a, b uint32) int {
		if t.weighted && r.mass[a] != r.mass[b] {
			return cmp.Compare(r.mass[b], r.mass[a])
		}
		return cmp.Or(cmp.Compare(pairs(a), pairs(b)), cmp.Compare(a, b))
	})
	for i, id := range shared {
		r.ranks[id] = uint32(i)
	}
	t.ranks = len(shared)
}

// order makes records of the sets, sorted by mass, with tokens sorted by rank.
func (r *reader) order() {
	t := r.t
	r.rank()
	var masses []int64 // by rank
	if t.weighted {
		masses = make([]int64, t.ranks)
		for id, rank := range r.ranks {
			if rank != noRank {
				masses[rank] = r.mass[id]
			}
		}
	}
	kept := 0
	bySize := make([]int32, 0, len(r.sets))
	for i := range r.sets {
		if s := &r.sets[i]; s.to > s.from || s.members > 1 {
			bySize = append(bySize, int32(i))
			kept += s.to - s.from
		}
	}
	sortByMass(bySize, r.sets)

	// The tokens stay where they are; only the records are sorted.
	t.records = make([]record, len(bySize))
	t.tokens = r.tokens
	t.words = bitmapWords(t.o.Bitmaps && !t.weighted, kept, len(bySize))
	t.bitmaps = make([]uint64, t.words*len(bySize))
	if t.weighted {
		t.rest = make([]int64, len(t.tokens))
	}
	recordOf := make([]int32, len(r.sets))
	for i := range recordOf {
		recordOf[i] = -1
	}
	for n, i := range bySize {
		recordOf[i] = int32(n)
	}
	inChunks(len(r.sets), t.o.Workers, func(i int) {
		if n := recordOf[i]; n >= 0 {
			r.fill(n, &r.sets[i], masses)
		}
	})
	for i := range t.records {
		if t.records[i].size > 0 {
			t.counts.Probing++
		}
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

// fill makes record n of a set. It replaces ids by ranks in place.
func (r *reader) fill(n int32, s *set, masses []int64) {
	t := r.t
	x := &t.records[n]
	*x = record{mass: s.mass, first: s.from, side: int32(s.side)}
	ids := r.tokens[s.from:s.to]
	tokens := ids[:0]
	shared := int64(0)
	ranks := r.ranks
	for _, id := range ids {
		if rank := ranks[id]; rank != noRank {
			tokens = append(tokens, rank)
			if t.weighted {
				shared += masses[rank]
			}
		}
	}
	if !t.weighted {
		shared = int64(len(tokens))
	}
	if shared < t.b.probing(x.mass) {
		return // equal records only
	}
	x.size = int32(len(tokens))
	if t.weighted {
		slices.Sort(tokens)
		sum := int64(0)
		for j := len(tokens) - 1; j >= 0; j-- {
			sum += masses[tokens[j]]
			t.rest[x.first+j] = sum
		}
	}
	x.probe = t.prefix(x, t.b.probing(x.mass))
	x.index = t.prefix(x, t.b.indexing(x.mass))
	switch {
	case t.marking():
		sortLowest(tokens, int(max(x.probe, x.index)))
	case !t.weighted:
		slices.Sort(tokens)
	}
	t.fillBitmap(n, tokens)
}

// sortByMass sorts sets by mass, then by index.
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

// sortLowest moves the k smallest tokens of a to its beginning, sorted.
func sortLowest(a []uint32, k int) {
	if k > 24 && len(a) > 24 { // from here on inserting costs more
		slices.Sort(a)
		return
	}
	insert := func(j int, v uint32) {
		for ; j > 0 && a[j-1] > v; j-- {
			a[j] = a[j-1]
		}
		a[j] = v
	}
	if k = min(k, len(a)); k == 0 {
		return
	}
	for i := 1; i < k; i++ {
		insert(i, a[i])
	}
	last := a[k-1]
	for i := k; i < len(a); i++ {
		if v := a[i]; v < last {
			a[i] = last
			insert(k-1, v)
			last = a[k-1]
		}
	}
}
