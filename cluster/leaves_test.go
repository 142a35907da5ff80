package cluster

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

func leafKey(n byte) Key { return NewKey(1, ID{n}) } // a smaller n is the larger key

func TestLeaves(t *testing.T) {
	leaf := func(contained, host byte, share float64) Leaf {
		return Leaf{leafKey(contained), leafKey(host), share, 0}
	}
	for _, c := range []struct {
		name      string
		add, want []Leaf
	}{
		{"none", nil, nil},
		{"one", []Leaf{leaf(2, 1, .9)}, []Leaf{leaf(2, 1, .9)}},
		{"the greatest share", []Leaf{leaf(9, 1, .9), leaf(9, 2, .95), leaf(9, 3, .92)}, []Leaf{leaf(9, 2, .95)}},
		{"of equal ones the largest key", []Leaf{leaf(9, 3, .9), leaf(9, 2, .9), leaf(9, 4, .9)}, []Leaf{leaf(9, 2, .9)}},
		{"a host is no leaf", []Leaf{leaf(2, 1, .9), leaf(3, 2, .9)}, []Leaf{leaf(3, 2, .9)}},
		{"by host, then contained", []Leaf{leaf(7, 2, .9), leaf(8, 1, .9), leaf(6, 2, .9)},
			[]Leaf{leaf(8, 1, .9), leaf(6, 2, .9), leaf(7, 2, .9)}},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		for range 10 {
			random.Shuffle(len(c.add), func(i, j int) { c.add[i], c.add[j] = c.add[j], c.add[i] })
			var l Leaves
			for _, x := range c.add {
				l.Add(x)
			}
			if got := l.All(); !reflect.DeepEqual(got, c.want) && len(got)+len(c.want) > 0 {
				t.Errorf("%s: got %v, want %v", c.name, got, c.want)
			}
		}
	}
}
