package rarity

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// made makes a text of some of a number of sentences.
func made(random *rand.Rand, of int, some float64) (t Text) {
	for k := range uint64(of) {
		if random.Float64() < some {
			u := weighed{k + 1, int32(one + k), int32(one+k) / int32(1+k%5)}
			t.units = append(t.units, u)
			t.sum.add(u)
		}
	}
	return t
}

// keysOf returns the keys of the sentences of texts.
func keysOf(texts ...Text) map[uint64]bool {
	keys := map[uint64]bool{}
	for _, t := range texts {
		for _, u := range t.units {
			keys[u.key] = true
		}
	}
	return keys
}

// Bounds are what they are by their definition, whatever is in the index.
func TestIndexBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(71, 72))
	few, common := 0, 0
	for range 300 {
		x := NewIndex(1 << 30)
		var texts [][2]Text
		all := 1 + random.IntN(3*commonFrom)
		for range random.IntN(3 * commonFrom) {
			of := [2]Text{made(random, all, random.Float64()), made(random, all, random.Float64())}
			texts = append(texts, of)
			x.Add(of[0], of[1])
		}
		if x.Len() != len(texts) {
			t.Fatalf("%d texts, want %d", x.Len(), len(texts))
		}
		var b Bounds
		for range 3 { // the memory of the bounds before is used again
			whole, own := made(random, all, random.Float64()), made(random, all/2, random.Float64())
			x.Bound(&b, whole, own)
			have := map[uint64][]int32{}
			for i, of := range texts {
				for k := range keysOf(of[0], of[1]) {
					have[k] = append(have[k], int32(i))
				}
			}
			var want []int32
			for k := range keysOf(whole, own) {
				if len(have[k]) <= commonFrom {
					want = append(want, have[k]...)
				}
			}
			slices.Sort(want)
			if want = slices.Compact(want); !slices.Equal(b.Few, want) {
				t.Fatalf("few %v, want %v", b.Few, want)
			}
			wantCommon := make([]Weights, 2)
			for i, r := range []Text{whole, own} {
				for _, u := range r.units {
					if len(have[u.key]) > commonFrom {
						wantCommon[i].Plain += int64(u.plain)
						wantCommon[i].Rare += int64(u.rare)
					}
				}
			}
			if !reflect.DeepEqual(b.Common, wantCommon) {
				t.Fatalf("common %v, want %v", b.Common, wantCommon)
			}
			if len(want) > 0 {
				few++
			}
			if wantCommon[0].Rare > 0 {
				common++
			}
		}
	}
	if few < 100 || common < 100 {
		t.Errorf("%d with few, %d with common ones", few, common)
	}
}

// A full index takes no further texts, and goes on telling of those that it has.
func TestFullIndex(t *testing.T) {
	random := rand.New(rand.NewPCG(73, 74))
	text := func() Text { return made(random, 20, 1) }
	x := NewIndex(90)
	for range 6 {
		x.Add(text(), Text{})
	}
	x.Add(made(random, 1, 1)) // it would fit
	var b Bounds
	if x.Bound(&b, text()); x.Len() != 4 || !slices.Equal(b.Few, []int32{0, 1, 2, 3}) {
		t.Errorf("%d texts, bounds %+v", x.Len(), b)
	}
	if (*Index)(nil).Len() != 0 {
		t.Error("a nil index has texts")
	}
}
