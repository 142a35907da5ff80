package lcs

import (
	"math/rand/v2"
	"slices"
)

// seed places elements in the slots at random, so that a hostile text cannot choose
// letters that collide. Results do not depend on it.
var seed = rand.Uint64() | 1

// symbols numbers the elements of a sequence, from 1. The number 0 is for what
// does not occur in it.
type symbols struct {
	small    [2048]int32 // numbers of the elements from 0 up, Latin to Arabic
	slots    []uint64    // of the others, open addressing: number<<32 | element, 0 if free
	shift    int         // 64 - log2(len(slots))
	elements []int32     // by number
	count    []int32     // by number: occurrences
}

const leastSlots = 9 // log2

func (s *symbols) reset() {
	clear(s.small[:])
	s.elements, s.count = append(s.elements[:0], 0), append(s.count[:0], 0)
	s.resize(leastSlots)
}

// resize makes room for 2^log slots and fills in what has a number.
func (s *symbols) resize(log int) {
	s.slots = slices.Grow(s.slots[:0], 1<<log)[:1<<log]
	clear(s.slots)
	s.shift = 64 - log
	for id, c := range s.elements[1:] {
		if uint32(c) >= uint32(len(s.small)) {
			s.slots[s.find(c)] = slot(id+1, c)
		}
	}
}

func slot(id int, c int32) uint64 { return uint64(id)<<32 | uint64(uint32(c)) }

// find returns the slot of c, or the free one where it belongs.
func (s *symbols) find(c int32) int {
	i := int(uint64(uint32(c)) * seed >> s.shift) // multiply-shift
	for {
		if e := s.slots[i]; e == 0 || int32(e) == c {
			return i
		}
		if i++; i == len(s.slots) {
			i = 0
		}
	}
}

// number returns the number of c.
func (s *symbols) number(c int32) int32 {
	if uint32(c) < uint32(len(s.small)) {
		return s.small[c]
	}
	return int32(s.slots[s.find(c)] >> 32)
}

// add sets ids to the numbers of the elements of a, all of them counted.
func (s *symbols) add(ids, a []int32) {
	for i, c := range a {
		id := s.number(c)
		if id == 0 {
			id = s.enter(c)
		}
		s.count[id]++
		ids[i] = id
	}
}

// enter gives c a number.
func (s *symbols) enter(c int32) int32 {
	id := len(s.elements)
	s.elements, s.count = append(s.elements, c), append(s.count, 0)
	if uint32(c) < uint32(len(s.small)) {
		s.small[c] = int32(id)
		return int32(id)
	}
	s.slots[s.find(c)] = slot(id, c)
	if 2*id >= len(s.slots) {
		s.resize(65 - s.shift)
	}
	return int32(id)
}

// take sets ids to the numbers of the elements of b. It takes each element from the
// counts, and returns how many were there to be taken.
func (s *symbols) take(ids, b []int32) (taken int) {
	for i, c := range b {
		id := s.number(c)
		ids[i] = id
		if s.count[id] > 0 {
			s.count[id]--
			taken++
		}
	}
	return taken
}
