package cluster

import (
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

type closing func(iter.Seq2[Link, error], func(Assignment) error) error

func representative(m Memory) closing {
	return func(links iter.Seq2[Link, error], emit func(Assignment) error) error {
		return CloseRepresentative(links, m, emit)
	}
}

func assignments(t *testing.T, c closing, links []Edge) []Assignment {
	t.Helper()
	var out []Assignment
	if err := c(each(linksOf(links)), func(a Assignment) error { out = append(out, a); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// clusters writes a cluster a line; a linked member is written "member/against".
func clusters(as []Assignment) string {
	g := grouped{}
	for _, a := range as {
		m := name(a.Member)
		if a.Against != a.Cluster {
			m += "/" + name(a.Against)
		}
		g.add(name(a.Cluster), m)
	}
	return g.String()
}

func TestClose(t *testing.T) {
	for _, test := range []struct{ name, links, representative, transitive string }{
		{"nothing", "", "", ""},
		{"a star", "a: b c d", "a: b c d", "a: b c d"},
		{"a chain: c's only leader has joined a", "a: b\nb: c", "a: b", "a: b c/b"},
		{"a longer chain: d has c to represent it", "a: b\nb: c\nc: d", "a: b\nc: d", "a: b c/b d/c"},
		{"c joins the larger of two", "a: c\nb: c", "a: c", "a: b/c c"},
		{"c cannot join b, and so joins a smaller representative", "a: b\nb: d\nc: d", "a: b\nc: d", "a: b c/d d/b"},
		{"the shortest evidence, and the largest of equally short", "a: b c\nb: d\nc: d e\nd: e", "a: b c\nd: e", "a: b c d/b e/c"},
		{"two components", "a: c\nb: d", "a: c\nb: d", "a: c\nb: d"},
	} {
		t.Run(test.name, func(t *testing.T) {
			links := edgesOf(test.links)
			if got := clusters(assignments(t, representative(Memory{}), links)); got != test.representative {
				t.Errorf("representative:\n%s\nwant\n%s", got, test.representative)
			}
			if got := clusters(assignments(t, CloseTransitive, links)); got != test.transitive {
				t.Errorf("transitive:\n%s\nwant\n%s", got, test.transitive)
			}
		})
	}
}

// neighbours of every document, from the largest key down.
func neighboursOf(links []Edge) (keys []Key, of map[Key][]Key) {
	of = map[Key][]Key{}
	for _, l := range links {
		of[l.Rep] = append(of[l.Rep], l.Member)
		of[l.Member] = append(of[l.Member], l.Rep)
	}
	for k, n := range of {
		keys = append(keys, k)
		slices.SortFunc(n, Key.Compare)
		of[k] = slices.Compact(n)
	}
	slices.SortFunc(keys, Key.Compare)
	return keys, of
}

func slowRepresentative(links []Edge) []Assignment {
	keys, of := neighboursOf(links)
	var out []Assignment
	represents := map[Key]bool{}
	for _, x := range keys {
		i := slices.IndexFunc(of[x], func(k Key) bool { return k.Compare(x) < 0 && represents[k] })
		if i >= 0 {
			out = append(out, Assignment{of[x][i], x, of[x][i]})
		} else {
			represents[x] = true
		}
	}
	slices.SortFunc(out, compareAssignments)
	return out
}

func slowTransitive(links []Edge) []Assignment {
	keys, of := neighboursOf(links)
	var out []Assignment
	seen := map[Key]bool{}
	for _, root := range keys {
		if seen[root] {
			continue
		}
		seen[root] = true
		for search := []Key{root}; len(search) > 0; search = search[1:] {
			for _, n := range of[search[0]] {
				if !seen[n] {
					seen[n] = true
					search = append(search, n)
					out = append(out, Assignment{root, n, search[0]})
				}
			}
		}
	}
	slices.SortFunc(out, compareAssignments)
	return out
}

func compareAssignments(a, b Assignment) int {
	return Message{a.Cluster, a.Member}.Compare(Message{b.Cluster, b.Member})
}

func checkClose(t *testing.T, links []Edge) {
	t.Helper()
	want := slowRepresentative(links)
	for _, limit := range []int{0, 1, 2, 7} {
		spill := &memorySpill{}
		memory := Memory{Messages: limit, Spill: spill}
		if limit == 0 {
			memory.Spill = nil
		}
		if got := assignments(t, representative(memory), links); !slices.Equal(got, want) {
			t.Fatalf("representative, limit %d:\n%s\nwant\n%s", limit, clusters(got), clusters(want))
		}
		if spill.open != 0 {
			t.Fatalf("%d runs left open", spill.open)
		}
	}
	for _, a := range want {
		if _, ok := slices.BinarySearchFunc(links, Edge{a.Cluster, a.Member}, compareEdges); !ok {
			t.Fatalf("%s was never compared with %s", name(a.Member), name(a.Cluster))
		}
	}
	want = slowTransitive(links)
	if got := assignments(t, CloseTransitive, links); !slices.Equal(got, want) {
		t.Fatalf("transitive:\n%s\nwant\n%s", clusters(got), clusters(want))
	}
}

func TestCloseEqualsTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for range 200 {
		n := 2 + r.IntN(150)
		links := randomEdges(r, n, r.IntN(2*n))
		checkClose(t, links)

		// Said twice is said once.
		again := slices.Clone(links)
		for _, l := range links {
			if r.IntN(3) == 0 {
				again = append(again, l)
			}
		}
		slices.SortFunc(again, compareEdges)
		for _, c := range []closing{representative(Memory{}), CloseTransitive} {
			if !slices.Equal(assignments(t, c, links), assignments(t, c, again)) {
				t.Fatal("repeated links matter")
			}
		}
	}
}

func FuzzClose(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 2, 3})
	f.Add([]byte{0, 9, 1, 9, 9, 10, 10, 11, 1, 11})
	f.Add([]byte("any text at all is a graph of thirty-two documents"))
	f.Fuzz(func(t *testing.T, b []byte) { checkClose(t, fuzzEdges(b)) })
}

func TestCloseErrors(t *testing.T) {
	stop := errors.New("stop")
	quiet := func(Assignment) error { return nil }
	for what, c := range map[string]closing{"representative": representative(Memory{}), "transitive": CloseTransitive} {
		for _, order := range []string{"b: c\na: c", "a: c b", "a: a", "b: a"} {
			if err := c(each(linksOf(edgesOf(order))), quiet); err == nil {
				t.Errorf("%s: no error for %q", what, order)
			}
		}
		if err := c(failing(linksOf(edgesOf("a: b")), stop), quiet); !errors.Is(err, stop) {
			t.Errorf("%s: links: %v", what, err)
		}
		n := 0
		err := c(each(linksOf(edgesOf("a: b c"))), func(Assignment) error { n++; return stop })
		if !errors.Is(err, stop) || n != 1 {
			t.Errorf("%s: emit called %d times: %v", what, n, err)
		}
	}
}

func BenchmarkClose(b *testing.B) {
	links := linksOf(benchmarkEdges())
	for _, bench := range []struct {
		name string
		closing
	}{{"representative", representative(Memory{})}, {"transitive", CloseTransitive}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bench.closing(each(links), func(Assignment) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(links))/b.Elapsed().Seconds(), "links/s")
		})
	}
}
