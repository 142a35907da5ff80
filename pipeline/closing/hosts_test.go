package closing

import (
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
	"neardup/report"
)

func TestLeaves(t *testing.T) {
	defer func(n int) { extsort.Bytes = n }(extsort.Bytes)
	key := func(n byte) cluster.Key { return cluster.NewKey(1, rows.TextID{n}) } // a smaller n is the larger key
	leaf := func(text, host byte, share float64) contained { return contained{key(text), key(host), share, .5} }
	for _, c := range []struct {
		name      string
		add, want []contained
	}{
		{"none", nil, nil},
		{"one", []contained{leaf(2, 1, .9)}, []contained{leaf(2, 1, .9)}},
		{"in a text of a smaller key", []contained{leaf(1, 2, .9)}, []contained{leaf(1, 2, .9)}},
		{"the greatest share", []contained{leaf(9, 1, .9), leaf(9, 2, .95), leaf(9, 3, .92)}, []contained{leaf(9, 2, .95)}},
		{"of equal ones the largest key", []contained{leaf(9, 3, .9), leaf(9, 2, .9), leaf(9, 4, .9)}, []contained{leaf(9, 2, .9)}},
		{"a host is no leaf", []contained{leaf(2, 1, .9), leaf(3, 2, .9)}, []contained{leaf(3, 2, .9)}},
		{"nor one that is not the best", []contained{leaf(2, 1, .9), leaf(3, 2, .8), leaf(3, 1, .9)}, []contained{leaf(3, 1, .9)}},
		{"by host, then text", []contained{leaf(7, 2, .9), leaf(8, 1, .9), leaf(6, 2, .9)},
			[]contained{leaf(8, 1, .9), leaf(6, 2, .9), leaf(7, 2, .9)}},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		for round := range 10 {
			if extsort.Bytes = 1 << 20; round%2 == 0 {
				extsort.Bytes = 60 // through files
			}
			random.Shuffle(len(c.add), func(i, j int) { c.add[i], c.add[j] = c.add[j], c.add[i] })
			h := newHosts(t.TempDir())
			for _, x := range c.add {
				l := rows.Link{Leader: x.host, Member: x.text, Score: rows.Score{Relation: report.Contained, Resemblance: x.resemblance, Containment: x.share}}
				if x.text.Compare(x.host) < 0 {
					l.Leader, l.Member, l.Score.Relation = l.Member, l.Leader, report.Contains
				}
				if err := h.add(l); err != nil {
					t.Fatal(err)
				}
			}
			var got []contained
			for x, err := range h.best(true) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, x)
			}
			if err := h.close(); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, got %v, want %v", c.name, err, got, c.want)
			}
		}
	}
}
