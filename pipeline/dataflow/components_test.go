package dataflow_test

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
	"neardup/pipeline/closing"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/rows"
	"neardup/report"
)

// graphComponents is the oracle: the components as cluster.CloseTransitive finds them
// in a graph in memory.
func graphComponents(t *testing.T, links []rows.Link) (out []dataflow.Component) {
	of := map[cluster.Key]cluster.Key{}
	keys := func(yield func(cluster.Link, error) bool) {
		for _, l := range links {
			if !yield(cluster.Link{Leader: l.Leader, Member: l.Member}, nil) {
				return
			}
		}
	}
	err := cluster.CloseTransitive(keys, func(a cluster.Assignment) error {
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
		var c dataflow.Component
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

// Components of more than max_links links are those whose texts join the largest
// representative, as in the closing rule.
func TestComponents(t *testing.T) {
	defer func(n int) { extsort.Bytes = n }(extsort.Bytes)
	defer func(n int) { closing.HeldLinks = n }(closing.HeldLinks)
	all := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		near := pipetest.RandomLinks(rng)
		if seed == 150 { // through files from here, if they are not held
			extsort.Bytes = 500
		}
		c := configs.Verify{Contained: configs.ContainedApart}
		links := slices.DeleteFunc(slices.Clone(near), func(l rows.Link) bool { return !c.Links(l.Score.Relation.Resembles()) })
		closing.HeldLinks = rng.IntN(2*len(links) + 2)
		c.Partition.MaxLinks = rng.IntN(len(links) + 1)
		large := dataflow.NewLarge(t.TempDir())
		var got []dataflow.Component
		for c, err := range dataflow.Components(t.TempDir(), pipetest.LinkSeq(near), c, large) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c)
		}
		var want []dataflow.Component
		var counts, wantCounts rows.PartitionCounts
		var stars, wantStars []rows.Link
		for _, x := range graphComponents(t, links) {
			if most := c.Partition.MaxLinks; most == 0 || len(x.Links) <= most {
				want = append(want, x)
				continue
			}
			wantCounts.Add(rows.PartitionCounts{Components: 1, TooLarge: 1})
			wantStars = append(wantStars, plainStars(x)...)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
		memory := extsort.Messages(t.TempDir())
		memory.Messages = rng.IntN(5)
		err := errors.Join(large.Stars(t.Context(), memory, &counts, func(l []rows.Link) error { stars = append(stars, l...); return nil }), large.Close())
		if err != nil || counts != wantCounts || !slices.Equal(stars, wantStars) {
			t.Fatalf("seed %d: %v, got %v and %v, want %v and %v", seed, err, counts, stars, wantCounts, wantStars)
		}
		all += len(stars)
	}
	if all < 100 {
		t.Errorf("only %d texts joined representatives of large components", all)
	}
}

// plainStars is the oracle of Large.Stars for a component, whose links are sorted.
func plainStars(c dataflow.Component) (joined []rows.Link) {
	in := make([]bool, len(c.Keys)) // texts that joined another
	for x := range c.Keys {
		for i, l := range c.Links {
			if int(l.B) == x && !in[x] && !in[l.A] {
				in[x] = true
				joined = append(joined, rows.Link{Leader: c.Keys[l.A], Member: c.Keys[x], Score: c.Scores[i]})
			}
		}
	}
	slices.SortStableFunc(joined, func(a, b rows.Link) int { return a.Leader.Compare(b.Leader) })
	return joined
}

// An error of the near pairs ends the components, and so do pairs out of order, whether
// the links are few or many.
func TestComponentsErrors(t *testing.T) {
	defer func(n int) { closing.HeldLinks = n }(closing.HeldLinks)
	broken := errors.New("broken")
	a, b, c := cluster.NewKey(3, rows.TextID{}), cluster.NewKey(2, rows.TextID{}), cluster.NewKey(1, rows.TextID{})
	near := rows.Score{Relation: report.Near}
	for name, links := range map[string]iter.Seq2[rows.Link, error]{
		"broken":     func(yield func(rows.Link, error) bool) { yield(rows.Link{}, broken) },
		"disordered": pipetest.LinkSeq([]rows.Link{{Leader: b, Member: c, Score: near}, {Leader: a, Member: b, Score: near}}),
	} {
		for _, held := range []int{0, 2} {
			closing.HeldLinks = held
			n := 0
			for _, err := range dataflow.Components(t.TempDir(), links, configs.Verify{}, dataflow.NewLarge(t.TempDir())) {
				if n++; err == nil || name == "broken" && !errors.Is(err, broken) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if n != 1 {
				t.Errorf("%s: %d components with an error", name, n)
			}
		}
	}
}
