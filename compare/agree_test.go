package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// random makes a clustering of n texts, many of them in none.
func random(rng *rand.Rand, n int) Clustering {
	c := make(Clustering, n)
	clusters := 1 + rng.IntN(n+1)
	for i := range c {
		c[i] = int32(rng.IntN(clusters+2)) - 2
		c[i] = max(c[i], None)
	}
	return c
}

func randomPages(rng *rand.Rand, n int) []int32 {
	pages := make([]int32, n)
	for i := range pages {
		pages[i] = 1 + int32(rng.IntN(3)*rng.IntN(3))
	}
	return pages
}

// slowAgreement lists all pairs of pages.
func slowAgreement(a, b Clustering, pages []int32) (both, onlyA, onlyB int64) {
	var texts []int
	for i, n := range pages {
		for range n {
			texts = append(texts, i)
		}
	}
	for x, i := range texts {
		for _, j := range texts[x+1:] {
			inA, inB := a[i] != None && a[i] == a[j], b[i] != None && b[i] == b[j]
			switch {
			case inA && inB:
				both++
			case inA:
				onlyA++
			case inB:
				onlyB++
			}
		}
	}
	return both, onlyA, onlyB
}

func TestAgreementIsThatOfAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	parted := 0
	for range 2000 {
		n := rng.IntN(12)
		a, b, pages := random(rng, n), random(rng, n), randomPages(rng, n)
		g := NewAgreement("a", "b", a.Joined(pages), b.Joined(pages), JoinedByBoth(a, b, pages))
		both, onlyA, onlyB := slowAgreement(a, b, pages)
		jaccard := 1.0
		if all := both + onlyA + onlyB; all > 0 {
			jaccard = float64(both) / float64(all)
		}
		if want := (Agreement{"a", "b", both, onlyA, onlyB, jaccard}); g != want {
			t.Fatalf("%v %v %v: got %+v, want %+v", a, b, pages, g, want)
		}
		if both > 0 && onlyA > 0 && onlyB > 0 {
			parted++
		}
	}
	if parted < 100 {
		t.Errorf("only %d clusterings agreed and parted both ways", parted)
	}
}

// One cluster of all pages has more pairs than could be listed.
func TestAgreementOfLargeClusters(t *testing.T) {
	const n = 1 << 19
	a, b, pages := make(Clustering, n), make(Clustering, n), make([]int32, n)
	for i := range n {
		b[i], pages[i] = int32(i%2), 4
	}
	g := NewAgreement("a", "b", a.Joined(pages), b.Joined(pages), JoinedByBoth(a, b, pages))
	if half := pairs(2 * n); g.Both != 2*half || g.OnlyA != pairs(4*n)-2*half || g.OnlyB != 0 {
		t.Errorf("got %+v", g)
	}
	ids := make([][16]byte, n)
	for i := range ids {
		ids[i] = [16]byte{byte(i >> 16), byte(i >> 8), byte(i)}
	}
	no := func(int32) bool { return false }
	found := Dispute{Joins: a, Parts: b, Pages: pages, IDs: ids, Judged: no, Labelled: func(Pair) bool { return false }}.Pairs(3)
	if len(found) != 3 {
		t.Errorf("%d disputed pairs", len(found))
	}
}

func TestClustersInOrder(t *testing.T) {
	var got []string
	for c := range (Clustering{2, None, 0, 2, 0, None}).clusters() {
		got = append(got, fmt.Sprint(c))
	}
	if want := []string{"[2 4]", "[]", "[0 3]"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
