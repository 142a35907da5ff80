package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

type merge func(iter.Seq2[Edge, error], Memory, func(Membership) error) error

// sets runs a merge and writes its sets.
func sets(t *testing.T, m merge, edges []Edge, memory Memory) grouped {
	t.Helper()
	out := grouped{}
	err := m(each(edges), memory, func(m Membership) error {
		out.add(name(m.Set), name(m.Member))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMerge(t *testing.T) {
	for _, test := range []struct{ name, edges, direct, following, lists string }{
		{"nothing", "", "", "", ""},
		{"one list", "a: b c", "a: a b c", "a: a b c", "a: a b c"},
		{"a list within reach", "a: b\nb: c", "a: a b c", "a: a b c", "a: a b c"},
		{
			"two steps: only following reaches d",
			"a: b\nb: c\nc: d",
			"a: a b c\nc: c d",
			"a: a b c d",
			"a: a b c d",
		},
		{
			"between two sets: c's list goes to the larger",
			"a: c\nb: c\nc: d",
			"a: a c d\nb: b c",
			"a: a c d\nb: b",
			"a: a c d\nb: b c",
		},
		{
			"b is merged, so that its c starts a set which e's list can join",
			"a: b\nb: c\nc: e\ne: f",
			"a: a b c\nc: c e f",
			"a: a b c e f",
			"a: a b c e f",
		},
		{
			"reached late from the larger, early from the smaller",
			"a: d\nb: e\nd: e\ne: f",
			"a: a d e\nb: b e f",
			"a: a d e f\nb: b",
			"a: a d e f\nb: b e",
		},
		{"apart", "a: c\nb: d", "a: a c\nb: b d", "a: a c\nb: b d", "a: a c\nb: b d"},
		{
			"one document shares signatures with two, which share none: it is in the sets of both",
			"a: c\nb: c",
			"a: a c\nb: b c",
			"a: a c\nb: b",
			"a: a c\nb: b c",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := sets(t, MergeDirect, edgesOf(test.edges), Memory{}).String(); got != test.direct {
				t.Errorf("direct:\n%s\nwant\n%s", got, test.direct)
			}
			if got := sets(t, MergeFollowing, edgesOf(test.edges), Memory{}).String(); got != test.following {
				t.Errorf("following:\n%s\nwant\n%s", got, test.following)
			}
			if got := sets(t, MergeLists, edgesOf(test.edges), Memory{}).String(); got != test.lists {
				t.Errorf("lists:\n%s\nwant\n%s", got, test.lists)
			}
		})
	}
}

// transcribed does on lists what the paper says of them. The sets can overlap; with
// once, a document stays with the first.
func transcribed(lists [][]Key, following, once bool) grouped {
	merged := map[Key][]Key{} // "The lists with the same representative will be merged"
	for _, list := range lists {
		rep := slices.MinFunc(list, Key.Compare)
		merged[rep] = append(merged[rep], list...)
	}
	var order []Key // "Then we sort all the lists according to their representatives"
	for rep := range merged {
		order = append(order, rep)
	}
	slices.SortFunc(order, Key.Compare)
	out, taken := grouped{}, map[Key]bool{}
	for _, rep := range order { // "Begin from the first list"
		set, ok := merged[rep]
		if !ok {
			continue
		}
		delete(merged, rep)
		own := len(set)
		for i := 0; i < len(set) && (following || i < own); i++ {
			if other, ok := merged[set[i]]; ok { // "whose representatives exist in this list"
				set = append(set, other...)
				delete(merged, set[i])
			}
		}
		for _, m := range set {
			if !once || !taken[m] {
				taken[m] = true
				out.add(name(rep), name(m))
			}
		}
	}
	return out
}

// checkMerge compares both merges of the lists with the paper's words, at
// limits of memory that make them spill.
func checkMerge(t *testing.T, lists [][]Key) {
	t.Helper()
	var edges []Edge
	for _, list := range lists {
		rep := slices.MinFunc(list, Key.Compare)
		for _, m := range list {
			if m != rep {
				edges = append(edges, Edge{rep, m})
			}
		}
	}
	slices.SortFunc(edges, compareEdges)
	direct, following := transcribed(lists, false, false).String(), transcribed(lists, true, true).String()
	whole := transcribed(lists, true, false)
	for _, limit := range []int{0, 1, 2, 7} {
		spill := &memorySpill{}
		memory := Memory{Messages: limit, Spill: spill}
		if limit == 0 {
			memory.Spill = nil
		}
		if got := sets(t, MergeDirect, edges, memory).String(); got != direct {
			t.Fatalf("direct, limit %d:\n%s\nwant\n%s", limit, got, direct)
		}
		if got := sets(t, MergeLists, edges, memory); got.String() != whole.String() {
			t.Fatalf("lists, limit %d:\n%s\nwant\n%s", limit, got, whole)
		}
		for _, list := range lists {
			if !slices.ContainsFunc(slices.Collect(maps.Values(whole)), func(set []string) bool {
				return !slices.ContainsFunc(list, func(k Key) bool { return !slices.Contains(set, name(k)) })
			}) {
				t.Fatalf("the documents of list %v are in no set together", list)
			}
		}
		got := sets(t, MergeFollowing, edges, memory)
		seen := map[string]bool{}
		for _, members := range got {
			for _, m := range members {
				if seen[m] {
					t.Fatalf("%s was put into a set twice", m)
				}
				seen[m] = true
			}
		}
		if got.String() != following {
			t.Fatalf("following, limit %d:\n%s\nwant\n%s", limit, got, following)
		}
		if spill.open != 0 {
			t.Fatalf("%d runs left open", spill.open)
		}
	}
}

func TestMergeEqualsThePaper(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 200 {
		docs := 3 + r.IntN(100)
		var lists [][]Key
		for range r.IntN(docs) {
			list := []Key{number3(r.IntN(docs))}
			for n := 1 + r.IntN(4); len(list) <= n; {
				if k := number3(r.IntN(docs)); !slices.Contains(list, k) || n > docs-2 {
					list = append(list, k)
				}
			}
			if slices.ContainsFunc(list, func(k Key) bool { return k != list[0] }) {
				lists = append(lists, list)
			}
		}
		checkMerge(t, lists)
	}
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 2, 3})
	f.Add([]byte{0, 9, 1, 9, 9, 10, 10, 11, 1, 11})
	f.Add([]byte("any text at all is a graph of thirty-two documents"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var lists [][]Key
		for _, e := range fuzzEdges(b) {
			lists = append(lists, []Key{e.Rep, e.Member})
		}
		checkMerge(t, lists)
	})
}

func TestMergeErrors(t *testing.T) {
	stop := errors.New("stop")
	quiet := func(Membership) error { return nil }
	for what, m := range map[string]merge{"direct": MergeDirect, "following": MergeFollowing, "lists": MergeLists} {
		for _, order := range []string{"b: c\na: c", "a: c b", "a: a", "b: a"} {
			if err := m(each(edgesOf(order)), Memory{}, quiet); err == nil {
				t.Errorf("%s: no error for %q", what, order)
			}
		}
		if err := m(failing(edgesOf("a: b"), stop), Memory{}, quiet); !errors.Is(err, stop) {
			t.Errorf("%s: edges: %v", what, err)
		}
		graph := edgesOf("a: b c\nb: d\ne: f")
		calls := 0
		if err := m(each(graph), Memory{}, func(Membership) error { calls++; return nil }); err != nil {
			t.Fatal(err)
		}
		for at := 1; at <= calls; at++ {
			n := 0
			err := m(each(graph), Memory{}, func(Membership) error {
				if n++; n == at {
					return stop
				}
				return nil
			})
			if !errors.Is(err, stop) || n != at {
				t.Errorf("%s: emit %d of %d: %v", what, at, calls, err)
			}
		}
	}
}

// benchmarkEdges makes a million edges of 300,000 documents, in which most
// members are near their representative and some are anywhere below.
func benchmarkEdges() []Edge {
	r := rand.New(rand.NewPCG(15, 16))
	const docs = 300_000
	keys := make([]Key, docs)
	for i := range keys {
		var id ID
		binary.BigEndian.PutUint64(id[:], r.Uint64())
		keys[i] = NewKey(float32(r.IntN(113)), id)
	}
	slices.SortFunc(keys, Key.Compare)
	edges := make([]Edge, 1_000_000)
	for i := range edges {
		rep := r.IntN(docs - 1)
		reach := 1000
		if r.IntN(4) == 0 {
			reach = docs
		}
		edges[i] = Edge{keys[rep], keys[rep+1+r.IntN(min(reach, docs-1-rep))]}
	}
	slices.SortFunc(edges, compareEdges)
	return edges
}

func benchmarkMerge(b *testing.B, m merge) {
	edges := benchmarkEdges()
	for _, limit := range []int{0, 1 << 14} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				memory := Memory{}
				if limit > 0 {
					memory = Memory{Messages: limit, Spill: &memorySpill{}}
				}
				if err := m(each(edges), memory, func(Membership) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(edges))/b.Elapsed().Seconds(), "edges/s")
		})
	}
}

func BenchmarkMergeDirect(b *testing.B)    { benchmarkMerge(b, MergeDirect) }
func BenchmarkMergeFollowing(b *testing.B) { benchmarkMerge(b, MergeFollowing) }
