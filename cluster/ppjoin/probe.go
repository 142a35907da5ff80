package ppjoin

import (
	"context"
	"slices"
)

// state is what the probe knows about a pair: A[y] in algorithm 1.
type state struct {
	overlap int64 // of the prefixes so far; 0: not met, pruned: not similar
	need    int64 // α
	x, y    int32 // positions after the last common token
}

const pruned = -1

// prober probes the index with records, the smallest first.
type prober struct {
	ctx    context.Context
	t      *table
	states []state // of all records
	met    []int32 // those with a state
	low    int32   // records below this index are too small to be similar
	found  []match
	marks  []uint32 // by token: 1 + the last probing record that has it
	marked int32    // that record
	counts Counts
	emit   func(Pair) error
}

// match is a record similar to the probing one.
type match struct {
	record     int32
	similarity float64
}

func (t *table) newProber(ctx context.Context, emit func(Pair) error) *prober {
	p := &prober{ctx: ctx, t: t, states: make([]state, len(t.records)), emit: emit, marked: -1}
	if t.marking() {
		p.marks = make([]uint32, t.ranks)
	}
	return p
}

// probe emits the pairs of record n with smaller ones: algorithm 1.
func (p *prober) probe(n int32) error {
	t := p.t
	x := &t.records[n]
	if n%16 == 0 {
		if err := p.ctx.Err(); err != nil {
			return err
		}
	}
	if err := p.equal(n); err != nil || x.probe == 0 {
		return err
	}
	least := t.b.least(x.mass)
	for t.records[p.low].mass < least && p.low < n {
		p.low++
	}
	side := 0
	if t.sides == 2 {
		side = int(1 - x.side)
	}
	for i, rank := range t.tokens[x.first : x.first+int(x.probe)] {
		at := side*t.ranks + int(rank)
		list := t.postings[t.lists[at]:t.lists[at+1]]
		if len(list) == 0 || list[0].record >= n {
			continue
		}
		if list[0].record < p.low {
			from, _ := slices.BinarySearchFunc(list, p.low, func(q posting, low int32) int { return int(q.record - low) })
			list = list[from:]
		}
		p.scan(n, int32(i), list)
	}
	for i, y := range p.met {
		if i%1024 == 1023 {
			if err := p.ctx.Err(); err != nil {
				return err
			}
		}
		s := p.states[y]
		p.states[y] = state{}
		if s.overlap != pruned {
			p.verify(n, y, s)
		}
	}
	p.met = p.met[:0]
	return p.emitFound(n)
}

// scan adds the records before n that have the token at position i of n.
func (p *prober) scan(n, i int32, list []posting) {
	t := p.t
	x := &t.records[n]
	restX, mass := int64(x.size-i), int64(1)
	if t.weighted {
		restX = t.after(x, i)
		mass = restX - t.after(x, i+1)
	}
	positional := t.o.Algorithm != AllPairs
	for k, q := range list {
		if q.record >= n {
			list = list[:k]
			break
		}
		s := &p.states[q.record]
		if s.overlap == pruned {
			continue
		}
		y := &t.records[q.record]
		fresh := s.overlap == 0
		if fresh {
			p.met = append(p.met, q.record)
			s.need = t.b.overlap(x.mass, y.mass)
			p.counts.Prefix++
		}
		if positional {
			restY := int64(y.size - q.place)
			if t.weighted {
				restY = t.after(y, q.place)
			}
			if s.overlap+min(restX, restY) < s.need {
				s.overlap = pruned
				continue
			}
		}
		if fresh && !p.admit(n, i, q, s.need) {
			s.overlap = pruned
			continue
		}
		s.overlap += mass
		s.x, s.y = i+1, q.place+1
	}
	p.counts.Scanned += int64(len(list))
}

// admit applies the filters that look beyond the prefixes, once for each pair
// (algorithm 5: "on the first occasion that it is formed").
func (p *prober) admit(n, i int32, q posting, need int64) bool {
	t := p.t
	x, y := &t.records[n], &t.records[q.record]
	p.counts.Positional++
	if t.words > 0 && t.bitmapBound(n, q.record) < need {
		return false
	}
	p.counts.Bitmap++
	if t.o.Algorithm == PPJoinPlus && !t.suffixAdmits(x, y, i, q.place, need) {
		return false
	}
	p.counts.Suffix++
	return true
}

// after returns the mass of the tokens of x from position i on.
func (t *table) after(x *record, i int32) int64 {
	if i >= x.size {
		return 0
	}
	if !t.weighted {
		return int64(x.size - i)
	}
	return t.rest[x.first+int(i)]
}

// verify adds up the rest of the overlap: algorithm 2. It goes on after the last
// common token. The record whose prefix ends first has no further common tokens
// within its prefix.
func (p *prober) verify(n, m int32, s state) {
	t := p.t
	x, y := &t.records[n], &t.records[m]
	p.counts.Candidates++
	if t.o.Extra > 0 && s.overlap < min(int64(t.o.Extra)+1, s.need) {
		return // corollary 4.7; records with fewer tokens share as many as they must
	}
	i, j := s.x, s.y
	if t.tokens[x.first+int(x.probe)-1] < t.tokens[y.first+int(y.index)-1] {
		i = max(i, x.probe)
	} else {
		j = max(j, y.index)
	}
	if t.o.Algorithm != AllPairs && s.overlap+min(t.after(x, i), t.after(y, j)) < s.need {
		return
	}
	p.counts.Verified++
	overlap := s.overlap
	switch {
	case t.weighted:
		overlap += t.weightedOverlap(x, y, i, j, s.need-overlap)
	case t.marking():
		overlap += p.common(n, t.tokens[y.first+int(s.y):y.first+int(y.size)])
	default:
		overlap += common(t.tokens[x.first+int(i):x.first+int(x.size)], t.tokens[y.first+int(j):y.first+int(y.size)], s.need-overlap)
	}
	if overlap < s.need {
		return
	}
	var similarity float64
	var ok bool
	if t.similar != nil {
		similarity, ok = t.similar(n, m)
	} else {
		similarity, ok = t.b.decide(x.mass, y.mass, overlap, func() (x, y []uint32) { return t.given(n), t.given(m) })
	}
	if ok {
		p.counts.Similar++
		p.found = append(p.found, match{m, similarity})
	}
}

// emitFound emits the pairs of record n with its similar records, the smallest
// first, so that the order does not depend on the ids of tokens.
func (p *prober) emitFound(n int32) error {
	t := p.t
	slices.SortFunc(p.found, func(a, b match) int { return int(a.record - b.record) })
	for _, m := range p.found {
		for _, a := range t.memberList(n) {
			for _, b := range t.memberList(m.record) {
				first, second := b, a
				if t.sides == 2 && t.records[n].side == 0 || t.sides == 1 && a < b {
					first, second = a, b
				}
				if err := p.pair(int(first), int(second), m.similarity); err != nil {
					return err
				}
			}
		}
	}
	p.found = p.found[:0]
	return nil
}

// equal emits the pairs of the equal records that n stands for.
func (p *prober) equal(n int32) error {
	members := p.t.memberList(n)
	if len(members) < 2 || p.t.sides == 2 {
		return nil
	}
	mass := p.t.records[n].mass
	similarity, ok := p.t.b.decide(mass, mass, mass, func() (x, y []uint32) { return p.t.given(n), p.t.given(n) })
	if !ok {
		return nil
	}
	for i, b := range members {
		for _, a := range members[:i] {
			if err := p.pair(int(a), int(b), similarity); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *prober) pair(a, b int, similarity float64) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	p.counts.Pairs++
	return p.emit(Pair{a, b, similarity})
}

// common returns how many of the given tokens record n has.
func (p *prober) common(n int32, y []uint32) int64 {
	if p.marked != n {
		p.marked = n
		x := &p.t.records[n]
		for _, rank := range p.t.tokens[x.first : x.first+int(x.size)] {
			p.marks[rank] = uint32(n) + 1
		}
	}
	common := 0
	for _, rank := range y {
		if p.marks[rank] == uint32(n)+1 {
			common++
		}
	}
	return int64(common)
}

// common returns the number of tokens in both. If it is below need, the result
// may be any number below need.
func common(x, y []uint32, need int64) int64 {
	n, i, j := int64(0), 0, 0
	for i < len(x) && j < len(y) {
		a, b := x[i], y[j]
		switch {
		case a == b:
			n++
			i++
			j++
			continue
		case a < b:
			i++
		default:
			j++
		}
		if n+int64(min(len(x)-i, len(y)-j)) < need {
			break
		}
	}
	return n
}

// weightedOverlap is common for masses, from positions i and j on.
func (t *table) weightedOverlap(x, y *record, i, j int32, need int64) int64 {
	sum := int64(0)
	for i < x.size && j < y.size {
		a, b := t.tokens[x.first+int(i)], t.tokens[y.first+int(j)]
		switch {
		case a == b:
			sum += t.after(x, i) - t.after(x, i+1)
			i++
			j++
			continue
		case a < b:
			i++
		default:
			j++
		}
		if sum+min(t.after(x, i), t.after(y, j)) < need {
			break
		}
	}
	return sum
}
