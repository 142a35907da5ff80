package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowComponents unites the components of linked documents until nothing changes.
func slowComponents(links []Edge) (out []Message) {
	keys, _ := neighboursOf(links)
	of := map[Key]Key{}
	for _, k := range keys {
		of[k] = k
	}
	for changed := true; changed; {
		changed = false
		for _, l := range links {
			a, b := of[l.Rep], of[l.Member]
			if a == b {
				continue
			}
			changed = true
			if a.Compare(b) > 0 {
				a = b
			}
			of[l.Rep], of[l.Member] = a, a
		}
	}
	for _, k := range keys {
		out = append(out, Message{To: k, Value: of[k]})
	}
	return out
}

func components(links []Edge, m Memory) (out []Message, err error) {
	err = Components(each(linksOf(links)), m, func(d, c Key) error { out = append(out, Message{d, c}); return nil })
	return out, err
}

func checkComponents(t *testing.T, links []Edge) {
	t.Helper()
	want := slowComponents(links)
	for _, limit := range []int{0, 1, 9, 40} {
		spill := &memorySpill{}
		memory := Memory{Messages: limit, Spill: spill}
		if limit == 0 {
			memory.Spill = nil
		}
		got, err := components(links, memory)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("limit %d: %v\n%v\nwant\n%v", limit, err, got, want)
		}
		if spill.open != 0 {
			t.Fatalf("%d runs left open", spill.open)
		}
	}
}

func TestComponents(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		n := 2 + r.IntN(150)
		checkComponents(t, randomEdges(r, n, r.IntN(2*n)))
	}
	for _, links := range []string{"", "a: b", "a: b c d e", "a: e\nb: e\nc: e", "a: b\nb: c\nc: d", "a: c\nb: d", "a: b b c\nb: c c"} {
		checkComponents(t, edgesOf(links))
	}
}

func FuzzComponents(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 2, 3})
	f.Add([]byte{0, 9, 1, 9, 9, 10, 10, 11, 1, 11})
	f.Add([]byte("any text at all is a graph of thirty-two documents"))
	f.Fuzz(func(t *testing.T, b []byte) { checkComponents(t, fuzzEdges(b)) })
}

func TestComponentsErrors(t *testing.T) {
	stop := errors.New("stop")
	quiet := func(Key, Key) error { return nil }
	for _, order := range []string{"b: c\na: c", "a: c b", "a: a", "b: a"} {
		if err := Components(each(linksOf(edgesOf(order))), Memory{}, quiet); err == nil {
			t.Errorf("no error for %q", order)
		}
	}
	if err := Components(failing(linksOf(edgesOf("a: b")), stop), Memory{}, quiet); !errors.Is(err, stop) {
		t.Errorf("links: %v", err)
	}
	if err := Components(each(linksOf(edgesOf("a: b c"))), Memory{}, func(Key, Key) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("emit: %v", err)
	}
	links := randomEdges(rand.New(rand.NewPCG(1, 2)), 40, 80)
	for at := 1; ; at++ {
		spill := &memorySpill{failAt: at}
		_, err := components(links, Memory{Messages: 4, Spill: spill})
		if spill.open != 0 {
			t.Fatalf("spill failed at operation %d: %d runs left open", at, spill.open)
		}
		if spill.operations < at { // it did not fail
			break
		}
		if !errors.Is(err, errSpill) {
			t.Fatalf("spill failed at operation %d: %v", at, err)
		}
	}
}

func BenchmarkComponents(b *testing.B) {
	star, window := []Edge(nil), []Edge(nil)
	number := func(i int) Key { return doc(fmt.Sprintf("%08d", i)) }
	for i := range 100_000 {
		star = append(star, Edge{number(0), number(i + 1)})
		for j := 1; j <= 10; j++ {
			window = append(window, Edge{number(i), number(i + j*j)})
		}
	}
	for name, links := range map[string][]Link{"random": linksOf(benchmarkEdges()), "star": linksOf(star), "window": linksOf(window)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Components(each(links), Memory{}, func(Key, Key) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(links))/b.Elapsed().Seconds(), "links/s")
		})
	}
}
