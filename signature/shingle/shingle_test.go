package shingle

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// slowSet is the shingles themselves.
func slowSet(words []string, w int) map[string]bool {
	out := map[string]bool{}
	if n := len(words); n > 0 && n < w {
		w = n
	}
	for i := 0; i+w <= len(words); i++ {
		out[strings.Join(words[i:i+w], "\x00")] = true
	}
	return out
}

func slowCommon(a, b map[string]bool) (n int) {
	for s := range a {
		if b[s] {
			n++
		}
	}
	return n
}

func checkTexts(t *testing.T, x, y []string, w int) {
	t.Helper()
	a, b := slowSet(x, w), slowSet(y, w)
	p, q := Of(x, w), Of(y, w)
	if len(p) != len(a) || len(q) != len(b) || !slices.IsSorted(p) {
		t.Fatalf("%d-shingles of %.60q: %d, want %d", w, x, len(p), len(a))
	}
	common := slowCommon(a, b)
	var r, c float64
	if union := len(a) + len(b) - common; union > 0 {
		r = float64(common) / float64(union)
	}
	if len(a) > 0 {
		c = float64(common) / float64(len(a))
	}
	if Common(p, q) != common || Resemblance(p, q) != r || Containment(p, q) != c {
		t.Fatalf("%.60q, %.60q: %d in common, %v, %v; want %d, %v, %v", x, y, Common(p, q), Resemblance(p, q), Containment(p, q), common, r, c)
	}
	if Common(q, p) != common || Resemblance(q, p) != r {
		t.Fatalf("%.60q, %.60q: not symmetric", x, y)
	}
}

// Slide 13.
func TestExampleOfTheLecture(t *testing.T) {
	a := Of(strings.Fields("a rose is red a rose is white"), 4)
	b := Of(strings.Fields("a rose is white a rose is red"), 4)
	if r, c := Resemblance(a, b), Containment(a, b); r != .25 || c != .4 {
		t.Errorf("resemblance %v, containment %v; want .25, .4", r, c)
	}
}

func TestAgainstTheShinglesThemselves(t *testing.T) {
	texts := []string{
		"", "a", "a a", "a b", "b a", "a b c d e f g", "x a b c d e f g", strings.Repeat("a ", 100), strings.Repeat("a b ", 50),
		"近 重 复 文 档", "重 复 文 档 检 测", "один два три четыре", "один два три пять", "\xff \xfe \x00",
		strings.Repeat("the same long line of a huge document ", 10_000),
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		var words []string
		for range r.IntN(40) {
			words = append(words, string(rune('a'+r.IntN(3))))
		}
		texts = append(texts, strings.Join(words, " "))
	}
	for _, x := range texts {
		for _, y := range texts {
			for _, w := range []int{1, 2, 4} {
				if len(x)+len(y) < 10_000 || x == y {
					checkTexts(t, strings.Fields(x), strings.Fields(y), w)
				}
			}
		}
	}
}

// 1 - r is a metric: the triangle inequality.
func TestDistanceIsAMetric(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var sets []Set
	for range 25 {
		var words []string
		for range 1 + r.IntN(12) {
			words = append(words, strconv.Itoa(r.IntN(6)))
		}
		sets = append(sets, Of(words, 2))
	}
	for _, a := range sets {
		for _, b := range sets {
			if d := 1 - Resemblance(a, b); (d == 0) != slices.Equal(a, b) {
				t.Fatalf("distance %v of %v and %v", d, a, b)
			}
			for _, c := range sets {
				if (1-Resemblance(a, b))+(1-Resemblance(b, c)) < 1-Resemblance(a, c)-1e-12 {
					t.Fatalf("no triangle: %v, %v, %v", a, b, c)
				}
			}
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add("a rose is red a rose is white", "a rose is white a rose is red", uint8(4))
	f.Add("", "a", uint8(1))
	f.Add("近 重 复", "近 重", uint8(10))
	f.Fuzz(func(t *testing.T, x, y string, w uint8) {
		if strings.Contains(x+y, "\x00") { // the oracle's separator
			return
		}
		checkTexts(t, strings.Fields(x), strings.Fields(y), int(w)%16+1)
	})
}

// planted is two sets of which so many are in both, in A only, in B only.
func planted(r *rand.Rand, both, onlyA, onlyB int) (a, b Set) {
	all := make([]uint64, both+onlyA+onlyB)
	for i := range all {
		all[i] = r.Uint64()
	}
	a = NewSet(slices.Clone(all[:both+onlyA]))
	b = NewSet(append(slices.Clone(all[:both]), all[both+onlyA:]...))
	return a, b
}

// Every estimator against the exact value, over many draws of the hashes: the
// mean within 4.5 standard errors, as measured, and what bias is stated.
func TestEstimatorsAreUnbiased(t *testing.T) {
	const m, rounds = 64, 1000
	r := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct{ both, onlyA, onlyB int }{
		{500, 0, 0}, {0, 300, 300}, {250, 125, 125}, {400, 20, 80}, {100, 0, 400}, {30, 10, 10},
	} {
		a, b := planted(r, c.both, c.onlyA, c.onlyB)
		resemblance, containment := Resemblance(a, b), Containment(a, b)
		type estimator struct {
			name        string
			want, bias  float64
			estimate    func(a, b Set) float64
			symmetrical bool
		}
		// contained is convex or concave in r with |c''| ≤ 4 for |B| ≤ 5|A|, and
		// the variance of r is at most 1/(4m): the bias is at most 2/(4m).
		bend := .5 / m
		const modulus = 8 // samples of 50 shingles on average have none with probability .0013
		for _, e := range []estimator{
			{"min-wise resemblance", resemblance, 0, func(a, b Set) float64 { return ResemblanceMinWise(MinWise(a, m), MinWise(b, m)) }, true},
			{"min-wise containment", containment, bend, func(a, b Set) float64 { return ContainmentMinWise(MinWise(a, m), MinWise(b, m)) }, false},
			{"mod resemblance", resemblance, .01, func(a, b Set) float64 { return ResemblanceMod(sampleOf(a, modulus), sampleOf(b, modulus)) }, true},
			{"mod containment", containment, .01, func(a, b Set) float64 { return ContainmentMod(sampleOf(a, modulus), sampleOf(b, modulus)) }, false},
			{"smallest resemblance", resemblance, 0, func(a, b Set) float64 { return ResemblanceSmallest(Smallest(a, m), Smallest(b, m), m) }, true},
			{"smallest containment", containment, bend, func(a, b Set) float64 { return ContainmentSmallest(Smallest(a, m), Smallest(b, m), m) }, false},
		} {
			sum, squares := 0.0, 0.0
			for i := range rounds {
				a, b := planted(r, c.both, c.onlyA, c.onlyB)
				x := e.estimate(a, b)
				if i%100 == 0 && e.symmetrical && x != e.estimate(b, a) {
					t.Fatalf("%s is not symmetric", e.name)
				}
				sum += x
				squares += (x - e.want) * (x - e.want)
			}
			n := float64(rounds)
			if bound := 4.5*math.Sqrt(squares/n/n) + e.bias + 1e-9; math.Abs(sum/n-e.want) > bound {
				t.Errorf("%+v: %s has mean %v, want %v within %v", c, e.name, sum/n, e.want, bound)
			}
			if strings.HasSuffix(e.name, "min-wise resemblance") || e.name == "smallest resemblance" {
				// Min-wise has variance r(1-r)/m; the smallest, without
				// replacement, no more.
				if v := resemblance * (1 - resemblance) / m; squares/n > v*(1+4.5*math.Sqrt(2/n))+1e-12 {
					t.Errorf("%+v: %s has variance %v, at most %v is promised", c, e.name, squares/n, v)
				}
			}
		}
	}
}

func TestSketches(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	s, _ := planted(r, 200, 0, 0)
	shuffled := slices.Clone(s)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	again := NewSet(append(shuffled, shuffled[:50]...))
	for _, make := range []func(Set) Sketch{
		func(s Set) Sketch { return MinWise(s, Permutations) },
		func(s Set) Sketch { return sampleOf(s, Modulus) },
		func(s Set) Sketch { return ModOrLeast(s, Modulus) },
		func(s Set) Sketch { return ModOrLeast(s, 1<<60) },
		func(s Set) Sketch { return Smallest(s, 20) },
	} {
		a, b := make(s), make(again)
		if !slices.Equal(a.Values, b.Values) || a.Size != 200 || len(a.Values) == 0 {
			t.Errorf("%v, in another order %v", a, b)
		}
		if none := make(nil); len(none.Values) != 0 || none.Size != 0 {
			t.Errorf("%v of nothing", none)
		}
	}
	for _, x := range sampleOf(s, 5).Values {
		if x%5 != 0 || !slices.Contains(s, x) {
			t.Errorf("%x is not to be in the sketch", x)
		}
	}
	if got := ModOrLeast(s, 5); !slices.Equal(got.Values, sampleOf(s, 5).Values) {
		t.Errorf("%x is not the sample", got.Values)
	}
	if got := ModOrLeast(s, 1<<60); !slices.Equal(got.Values, s[:1]) {
		t.Errorf("%x is not the smallest", got.Values)
	}
	if got := Smallest(s, 1000); len(got.Values) != 200 {
		t.Errorf("%d of all are the smallest 1000", len(got.Values))
	}
	none, some := Sketch{}, MinWise(s, 5)
	for _, got := range []float64{
		ResemblanceMinWise(none, some), ResemblanceMinWise(none, none), ContainmentMinWise(none, some), ContainmentMinWise(some, none),
		ResemblanceMod(none, none), ContainmentMod(none, some), ResemblanceSmallest(none, none, 5), ContainmentSmallest(none, some, 5),
	} {
		if got != 0 {
			t.Errorf("nothing resembles something: %v", got)
		}
	}
}

// Sketches of a pair that are wholly samples give the exact values.
func TestSketchesOfSmallDocuments(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		a, b := planted(r, r.IntN(10), r.IntN(10), r.IntN(10))
		if got := ResemblanceSmallest(Smallest(a, 30), Smallest(b, 30), 30); got != Resemblance(a, b) {
			t.Errorf("%v, want %v", got, Resemblance(a, b))
		}
		if got := ContainmentSmallest(Smallest(a, 30), Smallest(b, 30), 30); math.Abs(got-Containment(a, b)) > 1e-12 {
			t.Errorf("%v, want %v", got, Containment(a, b))
		}
		if ResemblanceMod(sampleOf(a, 1), sampleOf(b, 1)) != Resemblance(a, b) || ContainmentMod(sampleOf(a, 1), sampleOf(b, 1)) != Containment(a, b) {
			t.Error("all shingles give another value than the exact one")
		}
	}
}

func TestSuper(t *testing.T) {
	s := Sketch{Values: []uint64{5, 3, 9, 1}}
	got := Super(s, 2)
	if len(got) != 3 || !slices.Equal(got, Super(Sketch{Values: []uint64{9, 1, 5, 3}}, 2)) {
		t.Errorf("%x: want three that do not depend on the order", got)
	}
	if n := Common(got, Super(Sketch{Values: []uint64{1, 3, 7, 9}}, 2)); n != 1 { // ⟨1, 3⟩
		t.Errorf("%d supershingles in common, want 1", n)
	}
	for _, w := range []int{0, 5} {
		if got := Super(s, w); got != nil {
			t.Errorf("supershingles of %d: %x", w, got)
		}
	}
	// Alike documents share some, others none.
	r := rand.New(rand.NewPCG(6, 6))
	near, far := 0, 0
	for range 200 {
		a, b := planted(r, 960, 20, 20)
		c, d := planted(r, 200, 400, 400)
		if Common(Super(MinWise(a, 84), 6), Super(MinWise(b, 84), 6)) > 0 {
			near++
		}
		if Common(Super(MinWise(c, 84), 6), Super(MinWise(d, 84), 6)) > 0 {
			far++
		}
	}
	if near < 195 || far > 5 {
		t.Errorf("of 200 pairs each, %d at resemblance .96 and %d at .2 share a supershingle", near, far)
	}
}
