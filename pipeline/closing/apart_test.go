package closing_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/pipeline/closing"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/rows"
	"neardup/report"
)

// Apart finds the best hosts, against a search over all pairs for each text.
func TestApart(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 8))
		near := pipetest.RandomLinks(rng)
		in := func(id rows.TextID) (rows.TextID, bool, error) {
			return rows.TextID{id[0] % 5}, id[0]%3 > 0, nil
		}
		type found struct {
			text, host         cluster.Key
			share, resemblance float64
		}
		best := map[cluster.Key]found{}
		for _, l := range near {
			x, y := l.Leader, l.Member
			switch l.Score.Relation {
			case report.Contains:
				x, y = y, x
			case report.Contained:
			default:
				continue
			}
			a, inA, _ := in(x.ID())
			b, inB, _ := in(y.ID())
			if inA && inB && a == b {
				continue
			}
			old, ok := best[y]
			if !ok || l.Score.Containment > old.share || l.Score.Containment == old.share && x.Compare(old.host) < 0 {
				best[y] = found{y, x, l.Score.Containment, l.Score.Resemblance}
			}
		}
		var want []rows.Contained
		for _, l := range slices.SortedFunc(maps.Values(best), func(a, b found) int {
			return slices.Compare(slices.Concat(a.host[:], a.text[:]), slices.Concat(b.host[:], b.text[:]))
		}) {
			c := rows.Contained{Group: l.host.ID(), Host: l.host.ID(), Text: l.text.ID(),
				Score: rows.Score{Relation: report.Contained, Resemblance: l.resemblance, Containment: l.share}}
			if group, ok, _ := in(c.Host); ok {
				c.Group = group
			}
			c.Cluster, _, _ = in(c.Text)
			want = append(want, c)
		}
		rng.Shuffle(len(near), func(i, j int) { near[i], near[j] = near[j], near[i] })
		var got []rows.Contained
		err := closing.Apart(t.TempDir(), pipetest.LinkSeq(near), in, func(c rows.Contained) error { got = append(got, c); return nil })
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %v (%v), want %v", seed, got, err, want)
		}
	}
}
