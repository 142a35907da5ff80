package lcs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// table is the oracle: the textbook O(NM) recurrence.
func table(a, b []int32) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diag := 0
		for j, y := range b {
			up := row[j+1]
			if x == y {
				row[j+1] = diag + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diag = up
		}
	}
	return row[len(b)]
}

// check compares Matches with the oracle, without a limit and for every maxD
// given.
func check(t *testing.T, s *Solver, a, b []int32, limits ...int) {
	t.Helper()
	want := table(a, b)
	keep := Match{-7, -7, 7} // must not be joined with what follows, nor changed
	m, ok := s.Matches([]Match{keep}, a, b, -1)
	if !ok || m[0] != keep {
		t.Fatalf("%v %v: ok=%v, %v", a, b, ok, m)
	}
	m = m[1:]
	n, x, y := 0, 0, 0
	for i, r := range m {
		if r.Len <= 0 || r.X < x || r.Y < y || r.X+r.Len > len(a) || r.Y+r.Len > len(b) {
			t.Fatalf("%v %v: run %d of %v is out of place", a, b, i, m)
		}
		if i > 0 && r.X == x && r.Y == y {
			t.Fatalf("%v %v: runs not joined: %v", a, b, m)
		}
		for j := range r.Len {
			if a[r.X+j] != b[r.Y+j] {
				t.Fatalf("%v %v: run %d of %v does not match", a, b, i, m)
			}
		}
		n, x, y = n+r.Len, r.X+r.Len, r.Y+r.Len
	}
	if n != want {
		t.Fatalf("%v %v: %d matches, want %d", a, b, n, want)
	}
	d := len(a) + len(b) - 2*want
	for _, maxD := range limits {
		l, ok := s.Matches([]Match{keep}, a, b, maxD)
		if ok != (maxD < 0 || d <= maxD) {
			t.Fatalf("%v %v: D=%d, maxD=%d: ok=%v", a, b, d, maxD, ok)
		}
		if !ok && len(l) != 1 || ok && !slices.Equal(l[1:], m) {
			t.Fatalf("%v %v: maxD=%d changes the matches: %v, want %v", a, b, maxD, l, m)
		}
	}
}

// words calls f with every sequence of up to n letters.
func words(n, letters int, f func([]int32)) {
	w := make([]int32, 0, n)
	var rec func()
	rec = func() {
		f(w)
		if len(w) == n {
			return
		}
		for c := range letters {
			w = append(w, int32(c))
			rec()
			w = w[:len(w)-1]
		}
	}
	rec()
}

func TestExhaustive(t *testing.T) {
	for _, c := range []struct{ length, letters int }{{6, 2}, {4, 3}} {
		var all [][]int32
		words(c.length, c.letters, func(w []int32) { all = append(all, append([]int32(nil), w...)) })
		var s Solver
		for _, a := range all {
			for _, b := range all {
				limits := make([]int, 0, 16)
				for d := -1; d <= len(a)+len(b); d++ {
					limits = append(limits, d)
				}
				check(t, &s, a, b, limits...)
			}
		}
	}
}

func sequence(rng *rand.Rand, n, letters int) []int32 {
	a := make([]int32, n)
	for i := range a {
		a[i] = rng.Int32N(int32(letters))
	}
	return a
}

// edited copies a with about n insertions, deletions and replacements.
func edited(rng *rand.Rand, a []int32, n, letters int) []int32 {
	out := make([]int32, 0, len(a)+n)
	for _, c := range a {
		if rng.IntN(len(a)) >= n {
			out = append(out, c)
			continue
		}
		switch rng.IntN(3) {
		case 0:
			out = append(out, c, rng.Int32N(int32(letters)))
		case 1:
			out = append(out, rng.Int32N(int32(letters)))
		}
	}
	return out
}

func TestRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s Solver
	for range 1500 {
		letters := 1 + rng.IntN(30)
		a := sequence(rng, rng.IntN(120), letters)
		b := sequence(rng, rng.IntN(120), letters)
		if len(a) > 0 && rng.IntN(2) == 0 {
			b = edited(rng, a, rng.IntN(len(a)), letters)
		}
		d := len(a) + len(b) - 2*table(a, b)
		check(t, &s, a, b, d-2, d-1, d, d+1, rng.IntN(d+2))
	}
	a := sequence(rng, 2000, 50)
	check(t, &s, a, edited(rng, a, 300, 50), 10, 100, 1000)
	check(t, &s, a, sequence(rng, 1500, 50), 10, 1000, 3000)
	check(t, &s, a, sequence(rng, 3, 50), 1997)
}

// Matches of Myers' own example, figure 1.
func TestPaper(t *testing.T) {
	code := func(s string) (a []int32) {
		for _, r := range s {
			a = append(a, r)
		}
		return a
	}
	check(t, new(Solver), code("abcabba"), code("cbabac"), 0, 4, 5, 6)
}

func TestNoAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	a := sequence(rng, 1000, 20)
	b := edited(rng, a, 100, 20)
	var s Solver
	dst, _ := s.Matches(nil, a, b, -1)
	if n := testing.AllocsPerRun(10, func() { dst, _ = s.Matches(dst[:0], a, b, -1) }); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

func FuzzMatches(f *testing.F) {
	f.Add([]byte("abcabba"), []byte("cbabac"), 5)
	f.Add([]byte(""), []byte("x"), 0)
	f.Add([]byte("aaaaaaaa"), []byte("aaaa"), -1)
	f.Add([]byte("the quick brown fox"), []byte("the brown quick fox"), 12)
	f.Fuzz(func(t *testing.T, p, q []byte, maxD int) {
		if len(p) > 400 || len(q) > 400 {
			return
		}
		conv := func(p []byte) []int32 {
			a := make([]int32, len(p))
			for i, c := range p {
				a[i] = int32(c)
			}
			return a
		}
		check(t, new(Solver), conv(p), conv(q), maxD, maxD%64)
	})
}

func BenchmarkMatches(b *testing.B) {
	for _, d := range []int{0, 20, 200, 1000, 2000, 5000} {
		rng := rand.New(rand.NewPCG(5, 6))
		x := sequence(rng, 10_000, 60)
		y := edited(rng, x, d*3/4, 60) // an edit costs 4/3 operations on average
		var s Solver
		var m []Match
		run := func(name string, maxD int) {
			b.Run(fmt.Sprintf("D=%d%s", d, name), func(b *testing.B) {
				b.ReportAllocs()
				m, _ = s.Matches(m[:0], x, y, maxD) // grows the scratch
				for b.Loop() {
					m, _ = s.Matches(m[:0], x, y, maxD)
				}
			})
		}
		run("", -1)
		if d == 5000 {
			run("/maxD=1000", 1000)
		}
	}
}
