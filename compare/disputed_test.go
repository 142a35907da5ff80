package compare

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomDispute has n texts, in few clusters if they are to be large.
func randomDispute(rng *rand.Rand, n int) Dispute {
	d := Dispute{Joins: random(rng, n), Parts: random(rng, n), Pages: randomPages(rng, n), IDs: make([][16]byte, n)}
	if rng.IntN(2) == 0 {
		for i := range d.Joins {
			d.Joins[i] = int32(i % 2)
		}
	}
	judged := map[int32]bool{}
	for i := range n {
		for b := range d.IDs[i] {
			d.IDs[i][b] = byte(rng.Uint32())
		}
		judged[int32(i)] = rng.IntN(3) == 0
	}
	slices.SortFunc(d.IDs, func(a, b [16]byte) int { return slices.Compare(a[:], b[:]) })
	d.Judged = func(i int32) bool { return judged[i] }
	d.Labelled = func(p Pair) bool { return judged[p[0]] && judged[p[1]] && (p[0]+p[1])%5 > 0 }
	return d
}

// slowDisputed lists all disputed pairs.
func slowDisputed(d Dispute) (all []Pair) {
	for i := range int32(len(d.Joins)) {
		for j := i; int(j) < len(d.Joins); j++ {
			joined := d.Joins[i] != None && d.Joins[i] == d.Joins[j] && (i != j || d.Pages[i] > 1)
			if joined && (d.Parts[i] == None || d.Parts[i] != d.Parts[j]) {
				all = append(all, Pair{i, j})
			}
		}
	}
	return all
}

func TestDisputedPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	large := 0
	for range 1500 {
		d := randomDispute(rng, rng.IntN(60))
		all := slowDisputed(d)
		n := rng.IntN(8)
		got := d.Pairs(n)
		seen := map[Pair]bool{}
		unlabelled := false
		for _, p := range got {
			if !slices.Contains(all, p) || seen[p] {
				t.Fatalf("%v is not disputed, or there twice: %+v", p, d)
			}
			seen[p] = true
			if d.Labelled(p) && unlabelled {
				t.Fatalf("labelled pair %v behind one that is not: %v", p, got)
			}
			unlabelled = unlabelled || !d.Labelled(p)
		}
		clusters, size := map[int32]bool{}, map[int32]int{}
		for _, p := range all {
			clusters[d.Joins[p[0]]] = true
		}
		for _, k := range d.Joins {
			size[k]++
		}
		if len(got) > n || len(got) < min(n, len(clusters)) {
			t.Fatalf("%d of %d pairs of %d clusters, want %d", len(got), len(all), len(clusters), n)
		}
		small := true
		for k := range clusters {
			small = small && size[k] <= perCluster
		}
		if !small {
			large++
		} else if n := len(d.Pairs(len(all) + 1)); n != len(all) { // small clusters are looked at whole
			t.Fatalf("%d pairs, want %d: %+v", n, len(all), d)
		}
		// Without labels no cluster gets a second pair before each has one.
		d.Labelled = func(Pair) bool { return false }
		byCluster := map[int32]int{}
		for _, p := range d.Pairs(n) {
			byCluster[d.Joins[p[0]]]++
		}
		if len(byCluster) < min(n, len(clusters)) {
			t.Fatalf("%d pairs of %d clusters only, of %d", n, len(byCluster), len(clusters))
		}
	}
	if large == 0 {
		t.Error("no large cluster")
	}
}

// How clusters are numbered changes nothing.
func TestDisputedPairsDoNotDependOnNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	found := 0
	for range 300 {
		d := randomDispute(rng, 60)
		want := d.Pairs(20)
		found += len(want)
		for _, c := range []*Clustering{&d.Joins, &d.Parts} {
			last := slices.Max(*c)
			other := slices.Clone(*c)
			for i, k := range other {
				if k != None {
					other[i] = last - k
				}
			}
			*c = other
		}
		if got := d.Pairs(20); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if found == 0 {
		t.Error("no pairs")
	}
}

// Labelled pairs of a large cluster are found also where few of its texts are
// judged.
func TestDisputedPairsFindTheJudged(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	d := randomDispute(rng, 5000)
	for i := range d.Joins {
		d.Joins[i], d.Parts[i] = 0, int32(i%3)
	}
	d.Judged = func(i int32) bool { return i == 2600 || i == 4000 }
	d.Labelled = func(p Pair) bool { return d.Judged(p[0]) && d.Judged(p[1]) && p[0] != p[1] }
	if got := d.Pairs(2); len(got) != 2 || got[0] != (Pair{2600, 4000}) {
		t.Errorf("got %v", got)
	}
	// One text among thousands that the other method has apart is found.
	parts := slices.Clone(d.Parts)
	for i := range d.Parts {
		d.Parts[i] = 0
	}
	d.Parts[1234], d.Judged = 1, func(int32) bool { return false }
	if got := d.Pairs(1); len(got) != 1 || got[0][0] != 1234 && got[0][1] != 1234 {
		t.Errorf("got %v", got)
	}
	// Judged texts that nobody disputes do not keep others out.
	d.Parts, d.Judged = parts, func(i int32) bool { return i%3 == 0 }
	d.Labelled = func(Pair) bool { return false }
	if got := d.Pairs(2); len(got) != 2 {
		t.Errorf("got %v", got)
	}
}
