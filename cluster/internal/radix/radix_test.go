package radix

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 100, 511, 512, 513, 5000} {
		for _, bits := range []int{0, 1, 10, 11, 21, 22, 23, 40, 63, 64} {
			for _, distinct := range []uint64{1, 50, 1 << 63} {
				a := make([]Entry, n)
				for i := range a {
					k := r.Uint64N(distinct)
					a[i] = Entry{k<<60 ^ k<<30 ^ k, uint32(i)}
				}
				r.Shuffle(n, func(i, j int) { a[i], a[j] = a[j], a[i] })
				want := slices.Clone(a)
				slices.SortFunc(want, func(x, y Entry) int {
					for i := 63; i >= 64-bits; i-- {
						if d := int(x.Key>>i&1) - int(y.Key>>i&1); d != 0 {
							return d
						}
					}
					return int(x.ID) - int(y.ID)
				})
				Sort(a, make([]Entry, n+3), bits)
				if !slices.Equal(a, want) {
					t.Fatalf("%d entries by %d bits: wrong order", n, bits)
				}
				checkRuns(t, a, bits)
			}
		}
	}
}

func checkRuns(t *testing.T, a []Entry, bits int) {
	t.Helper()
	lists := map[uint64][]Entry{}
	for _, e := range a {
		k := uint64(0)
		if bits > 0 {
			k = e.Key >> (64 - bits)
		}
		lists[k] = append(lists[k], e)
	}
	want := map[string]bool{}
	for _, l := range lists {
		if len(l) > 1 {
			want[fmt.Sprint(l)] = true
		}
	}
	n := 0
	Runs(a, bits, func(run []Entry) bool {
		if !want[fmt.Sprint(run)] {
			t.Fatalf("%v is no run", run)
		}
		n++
		return true
	})
	if n != len(want) {
		t.Fatalf("%d runs, want %d", n, len(want))
	}
	calls := 0
	if all := Runs(a, bits, func([]Entry) bool { calls++; return false }); all != (n == 0) || calls != min(n, 1) {
		t.Fatalf("%d calls after false, %v", calls, all)
	}
}
