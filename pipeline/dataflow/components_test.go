package dataflow

import (
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/cluster/partition"
	"neardup/configs"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
	"neardup/report"
)

func linkSeq(links []rows.Link) iter.Seq2[rows.Link, error] {
	return func(yield func(rows.Link, error) bool) {
		for _, l := range links {
			if !yield(l, nil) {
				return
			}
		}
	}
}

// graphComponents is the oracle: the components as cluster.CloseTransitive finds them
// in a graph in memory.
func graphComponents(t *testing.T, links []rows.Link) (out []Component) {
	of := map[cluster.Key]cluster.Key{}
	err := cluster.CloseTransitive(keysOf(linkSeq(links)), func(a cluster.Assignment) error {
		of[a.Cluster], of[a.Member] = a.Cluster, a.Cluster
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	roots := slices.Sorted(func(yield func(string) bool) {
		seen := map[cluster.Key]bool{}
		for _, root := range of {
			if !seen[root] && !yield(string(root[:])) {
				return
			}
			seen[root] = true
		}
	})
	for _, root := range roots {
		var c Component
		for k := range maps.Keys(of) {
			if of[k] == cluster.Key([]byte(root)) {
				c.Keys = append(c.Keys, k)
			}
		}
		slices.SortFunc(c.Keys, cluster.Key.Compare)
		for _, l := range links {
			if a, b := slices.Index(c.Keys, l.Leader), slices.Index(c.Keys, l.Member); a >= 0 {
				c.Links = append(c.Links, partition.Link{Pair: partition.Pair{A: int32(a), B: int32(b)}, Resemblance: l.Score.Resemblance})
				c.Scores = append(c.Scores, l.Score)
			}
		}
		out = append(out, c)
	}
	return out
}

// randomLinks returns sorted near pairs of up to 30 texts. Some link nothing, as one
// text only contains the other.
func randomLinks(rng *rand.Rand) (links []rows.Link) {
	keys := make([]cluster.Key, 2+rng.IntN(30))
	for i := range keys {
		keys[i] = cluster.NewKey(float32(rng.IntN(4)), rows.TextID{byte(i), byte(rng.Int())})
	}
	slices.SortFunc(keys, cluster.Key.Compare)
	for a := range keys {
		for b := a + 1; b < len(keys); b++ {
			if rng.IntN(len(keys)) > 0 {
				continue
			}
			relation := []report.Relation{report.Near, report.Near, report.Alike, report.Contained, report.Contains}[rng.IntN(5)]
			links = append(links, rows.Link{Leader: keys[a], Member: keys[b],
				Score: rows.Score{Relation: relation, Resemblance: float64(rng.IntN(3)) / 4, Containment: float64(rng.IntN(3)) / 4}})
		}
	}
	return links
}

func TestComponents(t *testing.T) {
	c := configs.Verify{Contained: configs.ContainedApart}
	defer func(n int) { extsort.Bytes = n }(extsort.Bytes)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		near := randomLinks(rng)
		if seed == 150 { // through files from here
			extsort.Bytes = 500
		}
		var got []Component
		for c, err := range Components(t.TempDir(), linkSeq(near), c) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c)
		}
		links := slices.DeleteFunc(slices.Clone(near), func(l rows.Link) bool { return !c.Links(l.Score.Relation.Resembles()) })
		if want := graphComponents(t, links); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
	}
}

// An error of the near pairs ends the components, and so do pairs out of order.
func TestComponentsErrors(t *testing.T) {
	broken := errors.New("broken")
	a, b, c := cluster.NewKey(3, rows.TextID{}), cluster.NewKey(2, rows.TextID{}), cluster.NewKey(1, rows.TextID{})
	near := rows.Score{Relation: report.Near}
	for name, links := range map[string]iter.Seq2[rows.Link, error]{
		"broken":     func(yield func(rows.Link, error) bool) { yield(rows.Link{}, broken) },
		"disordered": linkSeq([]rows.Link{{Leader: b, Member: c, Score: near}, {Leader: a, Member: b, Score: near}}),
	} {
		n := 0
		for _, err := range Components(t.TempDir(), links, configs.Verify{}) {
			if n++; err == nil || name == "broken" && !errors.Is(err, broken) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d components with an error", name, n)
		}
	}
}

// Apart finds the best hosts, against a search over all pairs for each text.
func TestApart(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 8))
		near := randomLinks(rng)
		in := func(id rows.TextID) (rows.TextID, bool, error) {
			return rows.TextID{id[0] % 5}, id[0]%3 > 0, nil
		}
		best := map[cluster.Key]cluster.Leaf{}
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
			if !ok || l.Score.Containment > old.Share || l.Score.Containment == old.Share && x.Compare(old.Host) < 0 {
				best[y] = cluster.Leaf{Contained: y, Host: x, Share: l.Score.Containment, Resemblance: l.Score.Resemblance}
			}
		}
		var want []rows.Contained
		for _, l := range slices.SortedFunc(maps.Values(best), func(a, b cluster.Leaf) int {
			return slices.Compare(slices.Concat(a.Host[:], a.Contained[:]), slices.Concat(b.Host[:], b.Contained[:]))
		}) {
			c := rows.Contained{Group: l.Host.ID(), Host: l.Host.ID(), Text: l.Contained.ID(),
				Score: rows.Score{Relation: report.Contained, Resemblance: l.Resemblance, Containment: l.Share}}
			if group, ok, _ := in(c.Host); ok {
				c.Group = group
			}
			c.Cluster, _, _ = in(c.Text)
			want = append(want, c)
		}
		rng.Shuffle(len(near), func(i, j int) { near[i], near[j] = near[j], near[i] })
		var got []rows.Contained
		err := Apart(t.TempDir(), linkSeq(near), in, func(c rows.Contained) error { got = append(got, c); return nil })
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %v (%v), want %v", seed, got, err, want)
		}
	}
}
