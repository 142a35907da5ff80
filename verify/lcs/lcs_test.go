package lcs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// keep stands before the matches: it must not be joined to them, nor changed.
var keep = Match{-7, -7, 7}

// check compares Matches with the oracle, without a limit and for every maxD
// given, and returns D.
func check(t *testing.T, s *Solver, a, b []int32, limits ...int) int {
	t.Helper()
	pairs := alignment(a, b)
	want := append([]Match{keep}, runs(pairs)...)
	d := len(a) + len(b) - 2*len(pairs)
	for _, maxD := range append(limits, -1) {
		got, ok := s.Matches([]Match{keep}, a, b, maxD, Hint{})
		if ok != (maxD < 0 || d <= maxD) {
			t.Fatalf("%v %v: D=%d, maxD=%d: ok=%v", a, b, d, maxD, ok)
		}
		if ok && !slices.Equal(got, want) || !ok && (len(got) != 1 || got[0] != keep) {
			t.Fatalf("%v %v: maxD=%d: %v, want %v", a, b, maxD, got, want)
		}
	}
	return d
}

// force compares either algorithm alone with rule 3 of the oracle: greedy
// search without a budget, and bands that grow from w, with blocks of span.
func force(t *testing.T, s *Solver, a, b []int32, maxD, w, span int) {
	t.Helper()
	if len(a) == 0 || len(b) == 0 {
		return
	}
	pairs := walk(a, b, 0, 0)
	want := runs(pairs)
	d := len(a) + len(b) - 2*len(pairs)
	if maxD < 0 {
		maxD = len(a) + len(b)
	}
	compare := func(name string, ok bool) {
		t.Helper()
		got := s.path.runs
		slices.Reverse(got)
		if ok != (d <= maxD) || ok && !slices.Equal(got, want) {
			t.Fatalf("%s: %v %v: D=%d, maxD=%d, w=%d, span=%d: %v, %v, want %v", name, a, b, d, maxD, w, span, ok, got, want)
		}
		s.path = path{}
	}
	s.path = path{}
	s.bands.intern(a, b)
	ok := s.bands.search(maxD, w, span)
	if ok {
		s.bands.walk(&s.path, a, b)
	}
	compare("bands", ok)
	if a[0] != b[0] {
		s.greedy.reset()
		reached := s.greedy.search(a, b, maxD, 20)
		if reached < len(a)+len(b) && s.greedy.d < maxD {
			reached = s.greedy.search(a, b, maxD, 1<<40)
		}
		if ok = reached == len(a)+len(b); ok {
			s.greedy.walk(&s.path, a, b)
		}
		compare("greedy", ok)
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
		words(c.length, c.letters, func(w []int32) { all = append(all, slices.Clone(w)) })
		var s Solver
		for _, a := range all {
			for _, b := range all {
				limits := make([]int, 0, 16)
				for d := range len(a) + len(b) + 1 {
					limits = append(limits, d)
				}
				d := check(t, &s, a, b, limits...)
				force(t, &s, a, b, -1, 0, 1)
				force(t, &s, a, b, d, 1, 1)
				force(t, &s, a, b, d-1, d, 2)
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

// mosaic returns a sequence of about n letters with runs, repeats and, when there
// is another sequence, pieces of that one.
func mosaic(rng *rand.Rand, n, letters int, other []int32) (a []int32) {
	for len(a) < n {
		l := 1 + rng.IntN(n-len(a))
		if rng.IntN(2) == 0 {
			l = min(l, 1+rng.IntN(40))
		}
		switch from := other; {
		case rng.IntN(4) == 0:
			a = append(a, slices.Repeat(sequence(rng, 1+rng.IntN(3), letters), (l+2)/3)...)
		case rng.IntN(4) == 0:
			a = append(a, sequence(rng, l, letters)...)
		default:
			if len(from) == 0 || rng.IntN(5) == 0 {
				from = a
			}
			if len(from) > 0 {
				at := rng.IntN(len(from))
				a = append(a, edited(rng, from[at:min(at+l, len(from))], 1+rng.IntN(9), letters)...)
			}
		}
	}
	return a
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
		d := check(t, &s, a, b)
		check(t, &s, a, b, d-2, d-1, d, d+1, rng.IntN(d+2))
		force(t, &s, a, b, -1, rng.IntN(d+2), 1)
	}
	a := sequence(rng, 2000, 50)
	check(t, &s, a, edited(rng, a, 300, 50), 10, 100, 1000)
	check(t, &s, a, sequence(rng, 1500, 50), 10, 1000, 3000)
	check(t, &s, a, sequence(rng, 3, 50), 1997)
}

// Lengths on and beside the edges of words, groups and strips, whole and
// skewed; bands that start too narrow; blocks of several tiles.
func TestEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var s Solver
	length := func() int {
		return max(0, []int{0, 1, 64, 128, 256, 512, 768}[rng.IntN(7)]+rng.IntN(5)-2)
	}
	n := 400
	if testing.Short() {
		n = 50
	}
	for range n {
		letters := []int{1, 2, 3, 20, 2000}[rng.IntN(5)]
		a := mosaic(rng, length(), letters, nil)
		b := mosaic(rng, length(), letters, a)
		if rng.IntN(2) == 0 {
			a, b = b, a
		}
		d := check(t, &s, a, b)
		check(t, &s, a, b, d-1, d, d+1, d+64, d/2)
		span := 1 + rng.IntN(5)
		force(t, &s, a, b, -1, 0, span)
		force(t, &s, a, b, d+rng.IntN(3), rng.IntN(d+1), span)
		force(t, &s, a, b, d-1, rng.IntN(d+1), span)
	}
}

// From nothing in common to everything.
func TestAnyDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var s Solver
	a := sequence(rng, 700, 30)
	for share := 0; share <= 700; share += 35 {
		b := slices.Clone(a)
		for _, i := range rng.Perm(700)[:share] {
			b[i] += 30
		}
		for _, b := range [][]int32{b, b[:600], b[90:]} {
			d := check(t, &s, a, b)
			check(t, &s, a, b, d-1, d, d+1)
			force(t, &s, a, b, -1, 0, 1)
			force(t, &s, b, a, -1, d, 2)
		}
	}
}

// The path is along an edge of a band that is just wide enough, and comes to it
// where a strip begins.
func TestEdgeOfBand(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var s Solver
	for range 40 {
		common := sequence(rng, 600+rng.IntN(500), 8)
		other := slices.Clone(common)
		other[0] = 9
		for i := rng.IntN(len(other)) * 2; i < len(other); i += 1 + rng.IntN(60) {
			other[i] = rng.Int32N(8)
		}
		own := 64*rng.IntN(5) + rng.IntN(2)
		a := append(slices.Clone(common), slices.Repeat([]int32{10}, own)...)
		at := stripBits*rng.IntN(3) + rng.IntN(3)
		insert := slices.Repeat([]int32{10 + rng.Int32N(2)}, own)
		if rng.IntN(2) == 0 {
			insert = sequence(rng, own, 8)
		}
		b := slices.Insert(other, at, insert...)
		d := check(t, &s, a, b)
		for _, span := range []int{1, 2, 8} {
			force(t, &s, a, b, d, d, span)
			force(t, &s, b, a, d, d, span)
		}
	}
}

// Sequences too long for the table: D against Myers, and the two algorithms
// against one another.
func TestLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds under the race detector; -short asks for less")
	}
	rng := rand.New(rand.NewPCG(5, 5))
	var s Solver
	for _, c := range []struct{ n, letters, edits int }{
		{30_000, 60, 10}, {30_000, 3000, 400}, {20_000, 60, 3000}, {5_000, 4, 5000}, {40_000, 2, 500},
	} {
		a := sequence(rng, c.n, c.letters)
		b := edited(rng, a, c.edits, c.letters)
		d := distance(a, b)
		want, ok := s.Matches(nil, a, b, d, Hint{})
		n, x, y := 0, 0, 0
		for _, m := range want {
			if m.X < x || m.Y < y || !slices.Equal(a[m.X:m.X+m.Len], b[m.Y:m.Y+m.Len]) {
				t.Fatalf("%+v: %v is not a match or out of place", c, m)
			}
			n, x, y = n+m.Len, m.X+m.Len, m.Y+m.Len
		}
		if !ok || len(a)+len(b)-2*n != d {
			t.Fatalf("%+v: %v, %d matches, D=%d", c, ok, n, d)
		}
		if _, ok = s.Matches(nil, a, b, d-1, Hint{}); ok {
			t.Fatalf("%+v: D=%d is more than maxD", c, d)
		}
		for _, span := range []int{1, 2, 7, 32} {
			p := prefix(a, b)
			a, b := a[p:], b[p:]
			q := suffix(a, b)
			a, b = a[:len(a)-q], b[:len(b)-q]
			s.path = path{offset: p}
			s.path.add(len(a), len(b), q)
			s.bands.intern(a, b)
			if !s.bands.search(len(a)+len(b), d/3, span) {
				t.Fatalf("%+v: no band", c)
			}
			s.bands.walk(&s.path, a, b)
			s.path.add(-p, -p, p)
			slices.Reverse(s.path.runs)
			if !slices.Equal(s.path.runs, want) {
				t.Fatalf("%+v: span %d changes the matches", c, span)
			}
		}
	}
}

// beside never gives less than D, nor more than the matches that it is given
// leave; and what it is given may be nonsense.
func TestBeside(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	var s Solver
	tight := 0
	for range 60 {
		letters := 2 + rng.IntN(40)
		a := mosaic(rng, 2500+rng.IntN(1500), letters, nil)
		b := edited(rng, a, 1+rng.IntN(len(a)/8), letters)
		b = slices.Insert(b, rng.IntN(len(b)), sequence(rng, rng.IntN(400), letters)...)
		if rng.IntN(2) == 0 {
			a, b = b, a
		}
		offset := rng.IntN(3)
		a, b = a[offset:], b[offset:]
		all, _ := s.Matches(nil, a, b, -1, Hint{})
		d := distance(a, b)
		var some, junk []Match
		bound := len(a) + len(b)
		for _, m := range all {
			if rng.IntN(4) > 0 {
				bound -= 2 * m.Len
				some = append(some, Match{m.X + offset, m.Y + offset, m.Len})
			}
			junk = append(junk, Match{rng.IntN(len(a)), rng.IntN(len(b)), 1 + rng.IntN(300)})
		}
		s.bands.intern(a, b)
		if got, ok := s.bands.beside(some, offset); ok {
			tight++
			if got < d || got > bound {
				t.Fatalf("beside %d matches %d, D=%d", len(some), got, d)
			}
		}
		if got, ok := s.bands.beside(junk, offset); ok && got < d {
			t.Fatalf("%d, D=%d", got, d)
		}
		if _, ok := s.bands.beside(nil, offset); ok {
			t.Fatal("all of the table without a hint")
		}
	}
	if tight < 40 {
		t.Errorf("beside gave up %d times of 60", 60-tight)
	}
}

// No hint changes the matches.
func TestHints(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	var s Solver
	for _, c := range []struct{ n, letters, edits int }{
		{300, 4, 200}, {900, 40, 300}, {2000, 3, 900}, {6000, 60, 3000}, {6000, 3000, 2500},
	} {
		a := sequence(rng, c.n, c.letters)
		b := edited(rng, a, c.edits, c.letters)
		want, _ := s.Matches(nil, a, b, -1, Hint{})
		d, called := len(a)+len(b), false
		for _, m := range want {
			d -= 2 * m.Len
		}
		give := func(m []Match) func() []Match { return func() []Match { called = true; return m } }
		some, junk := slices.Clone(want), slices.Clone(want)
		some = slices.DeleteFunc(some, func(Match) bool { return rng.IntN(3) == 0 })
		rng.Shuffle(len(junk), func(i, j int) { junk[i], junk[j] = junk[j], junk[i] })
		for _, hint := range []Hint{{D: 1}, {D: d / 3}, {D: d}, {D: 2 * d}, {D: 1 << 30},
			{Common: give(want)}, {Common: give(some)}, {Common: give(junk)}, {Common: give(nil)}} {
			for _, maxD := range []int{-1, d, d + 100, d - 1} {
				got, ok := s.Matches(nil, a, b, maxD, hint)
				if ok != (maxD < 0 || d <= maxD) || ok && !slices.Equal(got, want) {
					t.Fatalf("%+v: D=%d, maxD=%d, %+v: %v, other matches", c, d, maxD, hint.D, ok)
				}
			}
		}
		if called != (c.n*c.n >= besideFrom) {
			t.Errorf("%+v: common asked for: %v", c, called)
		}
	}
}

// The scratch memory does not grow like the table.
func TestMemory(t *testing.T) {
	for _, n := range []int{100, 10_000, 100_000, 1_000_000} {
		s := bands{idA: make([]int32, n), lenB: n}
		s.setSpan(2*n, 1)
		kept, block := s.words(2*n)*8, s.blockRows()*stripWords*8
		greedy, ids := 6*4*min(n/2, greedyBudget), 2*4*n
		if kept+block+greedy+ids > 64<<20 {
			t.Errorf("%d elements: %d + %d + %d + %d bytes", n, kept, block, greedy, ids)
		}
	}
	rng := rand.New(rand.NewPCG(8, 8))
	var s Solver
	a := sequence(rng, 30_000, 2000) // nothing is kept beyond the bound
	s.Matches(nil, a, sequence(rng, 30_000, 2000), -1, Hint{})
	if got, bound := len(s.bands.kept), s.bands.words(60_000); got > bound {
		t.Errorf("%d words kept, not %d", got, bound)
	}
	b := append(sequence(rng, 50, 2000), a[:29_000]...)
	s.Matches(nil, a, b, -1, Hint{})
	if got, bound := len(s.bands.kept), s.bands.words(4096); got > bound {
		t.Errorf("%d words kept, not %d", got, bound)
	}
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

// Values that are not code points, and that all want one slot.
func TestValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var s Solver
	a, b := sequence(rng, 900, 1000), sequence(rng, 800, 1000)
	for _, f := range []func(int32) int32{
		func(v int32) int32 { return -v },
		func(v int32) int32 { return v << 20 },
		func(v int32) int32 { return v << 31 >> 31 },
	} {
		p, q := slices.Clone(a), slices.Clone(b)
		for i := range p {
			p[i] = f(p[i])
		}
		for i := range q {
			q[i] = f(q[i])
		}
		check(t, &s, p, q)
	}
}

func TestNoAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, letters := range []int{20, 3000} {
		for _, edits := range []int{0, 3, 100, 3000} {
			a := sequence(rng, 3000, letters)
			b := edited(rng, a, edits, letters)
			var s Solver
			dst, _ := s.Matches(nil, a, b, -1, Hint{})
			if n := testing.AllocsPerRun(10, func() { dst, _ = s.Matches(dst[:0], a, b, -1, Hint{}) }); n != 0 {
				t.Errorf("%d letters, %d edits: %v allocations a call", letters, edits, n)
			}
		}
	}
}

func FuzzMatches(f *testing.F) {
	f.Add([]byte("abcabba"), []byte("cbabac"), 5, uint8(1), uint8(1))
	f.Add([]byte(""), []byte("x"), 0, uint8(0), uint8(0))
	f.Add([]byte("aaaaaaaa"), []byte("aaaa"), -1, uint8(70), uint8(2))
	f.Add([]byte("the quick brown fox"), []byte("the brown quick fox"), 12, uint8(33), uint8(3))
	f.Fuzz(func(t *testing.T, p, q []byte, maxD int, repeat, span uint8) {
		times := 1 + int(repeat)%80
		if len(p)*times > 800 || len(q)*times > 800 {
			return
		}
		conv := func(p []byte) []int32 {
			a := make([]int32, 0, len(p)*times)
			for i := range times { // not quite the same each time
				for j, c := range p {
					if i == 0 || (i*31+j)%(7+int(span)) != 0 {
						a = append(a, int32(c))
					}
				}
			}
			return a
		}
		a, b := conv(p), conv(q)
		s := new(Solver)
		d := check(t, s, a, b, maxD, maxD%64)
		check(t, s, a, b, d-1, d)
		force(t, s, a, b, maxD, d/4, 1+int(span)%6)
	})
}
