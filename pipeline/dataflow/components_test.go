package dataflow

import (
	"errors"
	"iter"
	"testing"

	"neardup/cluster"
	"neardup/pipeline/rows"
)

// Each link of a component has the score of its two texts, and an error of the scores
// ends the components.
func TestComponentsHaveScores(t *testing.T) {
	keys := make([]cluster.Key, 5)
	for i := range keys {
		keys[i] = cluster.NewKey(float32(100-i), rows.TextID{byte(i)})
	}
	var links iter.Seq2[cluster.Link, error] = func(yield func(cluster.Link, error) bool) {
		for _, p := range [][2]int{{0, 1}, {0, 2}, {3, 4}} {
			if !yield(cluster.Link{Leader: keys[p[0]], Member: keys[p[1]]}, nil) {
				return
			}
		}
	}
	of := map[[2]cluster.Key]float64{{keys[0], keys[1]}: 0.25, {keys[0], keys[2]}: 0.5, {keys[3], keys[4]}: 0.75}
	got := map[[2]cluster.Key]float64{}
	for c, err := range Components(links, func(leader, member cluster.Key) (rows.Score, error) {
		return rows.Score{Resemblance: of[[2]cluster.Key{leader, member}]}, nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range c.Links {
			if c.Scores[i].Resemblance != l.Resemblance {
				t.Errorf("link %v has the score %v", l, c.Scores[i])
			}
			got[[2]cluster.Key{c.Keys[l.A], c.Keys[l.B]}] = l.Resemblance
		}
	}
	if len(got) != len(of) {
		t.Errorf("%d links, want %d", len(got), len(of))
	}
	for p, want := range of {
		if got[p] != want {
			t.Errorf("got %v, want %v", got[p], want)
		}
	}
	broken := errors.New("broken")
	n := 0
	for _, err := range Components(links, func(cluster.Key, cluster.Key) (rows.Score, error) { return rows.Score{}, broken }) {
		if n++; !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d components with an error", n)
	}
}
