package shingles

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/signature/shingle"
	"neardup/signature/words"
	"neardup/signature/words/wordstest"
	"neardup/verify"
)

var allOptions = []Options{
	{Words: 10, Sketch: Exact, Resemblance: .5, Containment: 2},
	{Words: 1, Sketch: Exact, Resemblance: .9, Containment: .9},
	{Words: 2, Sketch: Exact, Resemblance: 2, Containment: .7},
	{Words: 2, Sketch: shingle.ByMinWise, Size: 20, Resemblance: .5, Containment: .9},
	{Words: 3, Sketch: shingle.ByModulo, Modulus: 25, Resemblance: .5, Containment: .9},
	{Words: 1, Sketch: shingle.ByModulo, Modulus: 2, Resemblance: .5, Containment: .9},
	{Words: 2, Sketch: shingle.BySmallest, Size: 10, Resemblance: .5, Containment: .9},
}

func TestOptions(t *testing.T) {
	for _, o := range allOptions {
		if err := o.Validate(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"words", Options{Sketch: Exact, Resemblance: .5, Containment: .9}},
		{"sketch", Options{Words: 1, Resemblance: .5, Containment: .9}},
		{"sketch", Options{Words: 1, Sketch: shingle.All, Resemblance: .5, Containment: .9}},
		{"size", Options{Words: 1, Sketch: shingle.ByMinWise, Resemblance: .5, Containment: .9}},
		{"modulus", Options{Words: 1, Sketch: shingle.ByModulo, Resemblance: .5, Containment: .9}},
		{"resemblance", Options{Words: 1, Sketch: Exact, Containment: .9}},
		{"containment", Options{Words: 1, Sketch: Exact, Resemblance: .5, Containment: math.NaN()}},
		{"containment", Options{Words: 1, Sketch: Exact, Resemblance: .5}},
		{"resemblance and containment", Options{Words: 1, Sketch: Exact, Resemblance: 1.1, Containment: 2}},
	} {
		if err := c.o.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.name) {
			t.Errorf("%+v: %v, want an error about %s", c.o, err, c.name)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("New(%+v) does not panic", c.o)
				}
			}()
			New(c.o)
		}()
	}
}

// slowSet is a text's shingles, with their hashes.
func slowSet(text string, w int) map[string]uint64 {
	all, out := wordstest.Strings(text), map[string]uint64{}
	w = min(w, len(all))
	s := words.Shingler{W: w}
	for i := 0; len(all) > 0 && i+w <= len(all); i++ {
		run := strings.Join(all[i:i+w], " ")
		out[run] = s.Append(nil, run)[0]
	}
	return out
}

// slowScores are the definitions, exactly, or on the samples. The estimates from
// permutations are left to the sketches' own tests.
func slowScores(o Options, x, y string) (resemblance, containment float64) {
	a, b := slowSet(x, o.Words), slowSet(y, o.Words)
	sizeA, sizeB := len(a), len(b)
	if sizeA == 0 || sizeB == 0 {
		return 0, 0
	}
	if o.Sketch == shingle.ByModulo {
		for _, set := range []map[string]uint64{a, b} {
			least := ""
			for s, h := range set {
				if least == "" || h < set[least] {
					least = s
				}
			}
			leastHash, sampled := set[least], false
			for s, h := range set {
				if h%uint64(o.Modulus) == 0 {
					sampled = true
				} else {
					delete(set, s)
				}
			}
			if !sampled {
				set[least] = leastHash
			}
		}
	}
	common := 0
	for s := range a {
		if _, ok := b[s]; ok {
			common++
		}
	}
	smaller := len(a)
	if sizeB < sizeA || sizeA == sizeB && len(b) < len(a) {
		smaller = len(b)
	}
	return float64(common) / float64(len(a)+len(b)-common), float64(common) / float64(smaller)
}

// check compares two texts, and what all measures promise.
func check(t *testing.T, o Options, x, y string) {
	t.Helper()
	m := New(o)
	a, b := m.Prepare(x), m.Prepare(y)
	c := m.Comparer()
	got := c.Compare(a, b)
	if other := m.Comparer().Compare(b, a); got != other {
		t.Fatalf("%+v: %.60q and %.60q: %+v, the other way %+v", o, x, y, got, other)
	}
	if !(got.Resemblance >= 0 && got.Resemblance <= 1 && got.Containment >= 0 && got.Containment <= 1) {
		t.Fatalf("%+v: %.60q and %.60q: %+v", o, x, y, got)
	}
	if near := got.Resemblance >= o.Resemblance || got.Containment >= o.Containment; got.Near != near {
		t.Fatalf("%+v: %.60q and %.60q: %+v", o, x, y, got)
	}
	if len(wordstest.Strings(x)) == 0 {
		if none := verify.Scored(0, 0, 1, 1); got != none || c.Compare(a, a) != none {
			t.Fatalf("%+v: %.60q, which has no words, and %.60q: %+v", o, x, y, got)
		}
	} else if self := c.Compare(a, m.Prepare(x)); self != verify.Scored(1, 1, o.Resemblance, o.Containment) {
		t.Fatalf("%+v: %.60q and itself: %+v", o, x, self)
	}
	if o.Sketch == Exact || o.Sketch == shingle.ByModulo {
		if r, c := slowScores(o, x, y); got.Resemblance != r || got.Containment != c {
			t.Fatalf("%+v: %.60q and %.60q: %+v, want %v, %v", o, x, y, got, r, c)
		}
	}
}

var texts = []string{
	"", " .,!\n", "a", "A", "a a a", "a b", "b a", "One, two: THREE!", "three two one", "one two three four five six", "one two three four five seven",
	"近重复文档检测", "近重复文档检索，", "カタカナとひらがなー", "ภาษาไทยไม่มีช่องว่าง", "один два три четыре пять", "\xff\xfe", "\xff broken \xe4\xb8 text",
	strings.Repeat("the same line again ", 50), strings.Repeat("the same line again ", 60) + "end", strings.Repeat("a b c d e f g h i j k l m n ", 3),
}

func TestAgainstTheShinglesThemselves(t *testing.T) {
	all := slices.Clone(texts)
	r := rand.New(rand.NewPCG(1, 1))
	for range 25 {
		var text []string
		for range r.IntN(60) {
			text = append(text, string(rune('a'+r.IntN(12))))
		}
		all = append(all, strings.Join(text, " "))
	}
	for _, o := range allOptions {
		for _, x := range all {
			for _, y := range all {
				check(t, o, x, y)
			}
		}
	}
}

func FuzzCompare(f *testing.F) {
	for i, text := range texts {
		f.Add(text, texts[(i+1)%len(texts)], uint8(i))
	}
	f.Fuzz(func(t *testing.T, x, y string, n uint8) { check(t, allOptions[int(n)%len(allOptions)], x, y) })
}

// Slide 13: 8 shingles, 2 of them in both texts, which have 5 each.
func TestExampleOfTheLecture(t *testing.T) {
	m := New(Options{Words: 4, Sketch: Exact, Resemblance: .25, Containment: 2})
	got := m.Comparer().Compare(m.Prepare("a rose is red a rose is white"), m.Prepare("a rose is white a rose is red"))
	if want := verify.Scored(.25, .4, .25, 2); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Estimates are right on average, and as far off as their variance says: on
// planted pairs, of which y has a part more than x.
func TestEstimates(t *testing.T) {
	const pairs, size, modulus = 400, 64, 8
	r := rand.New(rand.NewPCG(2, 2))
	exact := New(Options{Words: 3, Sketch: Exact, Resemblance: .5, Containment: 2})
	for _, o := range []Options{
		{Words: 3, Sketch: shingle.ByMinWise, Size: size, Resemblance: .5, Containment: 2},
		{Words: 3, Sketch: shingle.ByModulo, Modulus: modulus, Resemblance: .5, Containment: 2},
		{Words: 3, Sketch: shingle.BySmallest, Size: size, Resemblance: .5, Containment: 2},
	} {
		m := New(o)
		var resemblance, containment, squares, squaresC, variance float64
		for range pairs {
			var x []string
			for range 500 {
				x = append(x, fmt.Sprint("w", r.IntN(100000)))
			}
			y := slices.Clone(x)
			for range r.IntN(100) {
				y[r.IntN(len(y))] = fmt.Sprint("v", r.IntN(100000))
			}
			y = append(y, x[:r.IntN(20)]...)
			a, b := strings.Join(x, " "), strings.Join(y, " ")
			want := exact.Comparer().Compare(exact.Prepare(a), exact.Prepare(b))
			got := m.Comparer().Compare(m.Prepare(a), m.Prepare(b))
			d, dc := got.Resemblance-want.Resemblance, got.Containment-want.Containment
			resemblance += d
			containment += dc
			squares += d * d
			squaresC += dc * dc
			variance += want.Resemblance * (1 - want.Resemblance) / size
		}
		// The containment of permutations bends the resemblance and is cut off
		// at 1: 1/size.
		if bound := 4.5 * math.Sqrt(squares); math.Abs(resemblance) > bound {
			t.Errorf("%+v: resemblance off by %v on average, more than %v", o, resemblance/pairs, bound/pairs)
		}
		if bound := 4.5*math.Sqrt(squaresC) + pairs/size; math.Abs(containment) > bound {
			t.Errorf("%+v: containment off by %v on average, more than %v", o, containment/pairs, bound/pairs)
		}
		// The relative standard error of a variance is sqrt(2/pairs), about.
		if bound := variance * (1 + 4.5*math.Sqrt(2./pairs)); squares > bound {
			t.Errorf("%+v: variance %v, more than %v", o, squares/pairs, bound/pairs)
		}
	}
}

func TestHugeTexts(t *testing.T) {
	var different strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&different, "word%d ", i)
	}
	repeated := strings.Repeat("word ", 800_000)
	for _, o := range allOptions {
		m := New(o)
		a, b, small := m.Prepare(repeated), m.Prepare(different.String()), m.Prepare(repeated[:200])
		c := m.Comparer()
		if got := c.Compare(a, small); got.Resemblance != 1 || !got.Near {
			t.Errorf("%+v: a word 800,000 times and 40 times: %+v", o, got)
		}
		if got := c.Compare(a, b); got.Near {
			t.Errorf("%+v: one word and different ones: %+v", o, got)
		}
		if a.Bytes() > 1<<12 || b.Bytes() < 100 {
			t.Errorf("%+v: %d bytes of one shingle, %d of many", o, a.Bytes(), b.Bytes())
		}
	}
}
