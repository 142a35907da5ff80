package shingle

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/signature"
	"neardup/signature/internal/hash"
	"neardup/signature/minhash"
	"neardup/signature/words/wordstest"
)

var allOptions = []Options{
	{Words: 10, Sketch: ByMinWise, Size: 20},
	{Words: 2, Sketch: ByMinWise, Size: 1},
	{Words: 2, Sketch: ByMinWise, Size: 30, Super: 4},
	{Words: 3, Sketch: ByModulo, Modulus: 25},
	{Words: 2, Sketch: ByModulo, Modulus: 3},
	{Words: 2, Sketch: ByModulo, Modulus: 2, Super: 3},
	{Words: 1, Sketch: BySmallest, Size: 4},
	{Words: 2, Sketch: BySmallest, Size: 9, Super: 9},
	{Words: 4, Sketch: All},
	{Words: 1, Sketch: All, Super: 2},
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
		{"words", Options{Sketch: All}},
		{"sketch", Options{Words: 1}},
		{"size", Options{Words: 1, Sketch: ByMinWise}},
		{"size", Options{Words: 1, Sketch: BySmallest, Size: 1<<16 + 1}},
		{"modulus", Options{Words: 1, Sketch: ByModulo, Size: 5}},
		{"super", Options{Words: 1, Sketch: All, Super: -1}},
		{"super", Options{Words: 1, Sketch: ByMinWise, Size: 5, Super: 6}},
	} {
		if err := c.o.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.name) {
			t.Errorf("%+v: %v, want an error about %s", c.o, err, c.name)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewScheme(%+v) does not panic", c.o)
				}
			}()
			NewScheme(c.o)
		}()
	}
}

// slowSketch is what two texts have to share to share a signature, as strings:
// the shingles themselves, with the number of the permutation where there is
// one, or runs of them in the order of the hashes.
func slowSketch(o Options, text string) map[string]bool {
	type value struct {
		hash uint64
		name string
	}
	var all []value // ascending
	for shingle := range slowSet(wordstest.Strings(text), o.Words) {
		var hashes []uint64
		for word := range strings.SplitSeq(shingle, "\x00") {
			hashes = append(hashes, hash.String(word))
		}
		all = append(all, value{hash.Windows(nil, hashes, len(hashes))[0], shingle})
	}
	slices.SortFunc(all, func(a, b value) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	var values []value
	switch o.Sketch {
	case All:
		values = all
	case BySmallest:
		values = all[:min(o.Size, len(all))]
	case ByModulo:
		for _, v := range all {
			if v.hash%uint64(o.Modulus) == 0 {
				values = append(values, v)
			}
		}
		if len(values) == 0 && len(all) > 0 {
			values = all[:1]
		}
	case ByMinWise: // minhash's tests have the permutations
		var hashes []uint64
		for _, v := range all {
			hashes = append(hashes, v.hash)
		}
		for i, h := range minhash.New(o.Size, 0).First(nil, hashes) {
			values = append(values, value{hash.At(h, i), fmt.Sprint(i, " ", all[slices.Index(hashes, h)].name)})
		}
		slices.SortFunc(values, func(a, b value) int {
			if a.hash < b.hash {
				return -1
			}
			return 1
		})
	}
	out := map[string]bool{}
	if o.Super == 0 {
		for _, v := range values {
			out[v.name] = true
		}
		return out
	}
	w := min(o.Super, len(values))
	for i := 0; len(values) > 0 && i+w <= len(values); i++ {
		out[fmt.Sprint(values[i:i+w])] = true
	}
	return out
}

// checkScheme: a text has as many signatures as it ought to, each once, and two
// texts have as many in common as values of their sketches.
func checkScheme(t *testing.T, o Options, x, y string) {
	t.Helper()
	s := NewScheme(o)
	a := s.Sign([]signature.Signature{{1}}, x)[1:]
	b := s.Sign(nil, y)
	if again := NewScheme(o).Sign(nil, x); !slices.Equal(a, again) {
		t.Fatalf("%.60q: %x, by another %x", x, a, again)
	}
	slowA, slowB := slowSketch(o, x), slowSketch(o, y)
	if len(a) != len(slowA) || len(b) != len(slowB) {
		t.Fatalf("%+v: %.60q has %d signatures, want %d; %.60q %d, want %d", o, x, len(a), len(slowA), y, len(b), len(slowB))
	}
	got := 0
	for i, key := range a {
		if i > 0 && bytes.Compare(a[i-1][:], key[:]) >= 0 {
			t.Fatalf("%+v: %.60q has %x twice, or not in order", o, x, key)
		}
		if slices.Contains(b, key) {
			got++
		}
	}
	if want := slowCommon(slowA, slowB); got != want {
		t.Fatalf("%+v: %.60q and %.60q have %d signatures in common, want %d", o, x, y, got, want)
	}
	if (len(a) > 0) != (len(wordstest.Strings(x)) > 0) {
		t.Fatalf("%+v: %.60q has %d signatures", o, x, len(a))
	}
}

var schemeTexts = []string{
	"", " .,!\n", "a", "A", "a a a", "a b", "b a", "One, two: THREE!", "three two one", "one two three four five six", "one two three four five seven",
	"近重复文档检测", "近重复文档检索，", "カタカナとひらがなー", "ภาษาไทยไม่มีช่องว่าง", "один два три четыре пять", "\xff\xfe", "\xff broken \xe4\xb8 text",
	strings.Repeat("the same line again ", 50), strings.Repeat("the same line again ", 60) + "end",
	"a rose is red a rose is white", "a rose is white a rose is red", // slide 13
}

func TestScheme(t *testing.T) {
	for _, o := range allOptions {
		for _, x := range schemeTexts {
			for _, y := range schemeTexts {
				checkScheme(t, o, x, y)
			}
		}
	}
}

func FuzzScheme(f *testing.F) {
	for i, text := range schemeTexts {
		f.Add(text, schemeTexts[(i+1)%len(schemeTexts)], uint8(i))
	}
	f.Fuzz(func(t *testing.T, x, y string, n uint8) {
		if len(x)+len(y) > 4000 {
			return
		}
		checkScheme(t, allOptions[int(n)%len(allOptions)], x, y)
	})
}

// Short texts that differ share nothing, whatever is short: the text, the
// sample, or the sketch.
func TestShortTextsAreNotMerged(t *testing.T) {
	for _, o := range []Options{
		{Words: 10, Sketch: ByMinWise, Size: 20, Super: 10}, {Words: 10, Sketch: ByModulo, Modulus: 1 << 40},
		{Words: 10, Sketch: ByModulo, Modulus: 25, Super: 6}, {Words: 10, Sketch: BySmallest, Size: 20, Super: 6}, {Words: 10, Sketch: All, Super: 6},
	} {
		s := NewScheme(o)
		seen := map[signature.Signature]string{}
		for i := range 300 {
			var text []string
			for j := range 1 + i%15 {
				text = append(text, fmt.Sprint("w", i, "x", j))
			}
			signatures := s.Sign(nil, strings.Join(text, " "))
			if len(signatures) == 0 {
				t.Errorf("%+v: %q has no signature", o, text)
			}
			for _, key := range signatures {
				if other, ok := seen[key]; ok {
					t.Errorf("%+v: %q and %q share a signature", o, text, other)
				}
				seen[key] = strings.Join(text, " ")
			}
		}
	}
}

// The chance to share a value is what the sketch promises: of each permutation
// the resemblance, of each shingle in common 1 of Modulus.
func TestPlantedTexts(t *testing.T) {
	const pairs, size, modulus = 400, 20, 10
	r := rand.New(rand.NewPCG(7, 7))
	wise, mod := NewScheme(Options{Words: 4, Sketch: ByMinWise, Size: size}), NewScheme(Options{Words: 4, Sketch: ByModulo, Modulus: modulus})
	common := func(s signature.Scheme, x, y string) (n float64) {
		keys := s.Sign(nil, x)
		for _, key := range s.Sign(nil, y) {
			if slices.Contains(keys, key) {
				n++
			}
		}
		return n
	}
	var resemblance, shared, gotWise, gotMod float64
	for range pairs {
		var text []string
		for range 200 {
			text = append(text, fmt.Sprint("w", r.IntN(100000)))
		}
		other := slices.Clone(text)
		for range r.IntN(30) {
			other[r.IntN(len(other))] = "changed"
		}
		resemblance += Resemblance(Of(text, 4), Of(other, 4))
		shared += float64(Common(Of(text, 4), Of(other, 4)))
		x, y := strings.Join(text, " "), strings.Join(other, " ")
		gotWise += common(wise, x, y)
		gotMod += common(mod, x, y)
	}
	// 4.5 standard errors: of a shot for each permutation, of variance 1/4 at
	// most, and of one for each shingle in common.
	if want, bound := resemblance*size, 4.5*math.Sqrt(pairs*size)/2; math.Abs(gotWise-want) > bound {
		t.Errorf("min-wise: %v in common, want %v within %v", gotWise, want, bound)
	}
	if want := shared / modulus; math.Abs(gotMod-want) > 4.5*math.Sqrt(want) {
		t.Errorf("modulo: %v in common, want %v within %v", gotMod, want, 4.5*math.Sqrt(want))
	}
}

func TestHugeTexts(t *testing.T) {
	var different strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&different, "word%d ", i)
	}
	repeated, chinese := strings.Repeat("word ", 800_000), strings.Repeat("字", 1_000_000)
	for _, c := range []struct {
		o         Options
		different int // signatures of the text of different words, about
	}{
		{Options{Words: 10, Sketch: ByMinWise, Size: 1000}, 1000},
		{Options{Words: 10, Sketch: ByMinWise, Size: 84, Super: 6}, 79},
		{Options{Words: 10, Sketch: ByModulo, Modulus: 25}, 16000},
		{Options{Words: 10, Sketch: BySmallest, Size: 50}, 50},
		{Options{Words: 10, Sketch: All}, 399_991},
	} {
		s := NewScheme(c.o)
		for _, text := range []string{repeated, chinese} { // one shingle
			n := 1
			if c.o.Sketch == ByMinWise {
				n = c.different
			}
			if got := s.Sign(nil, text); len(got) != n {
				t.Errorf("%+v: %.20q has %d signatures, want %d", c.o, text, len(got), n)
			}
		}
		if got := len(s.Sign(nil, different.String())); got < c.different*9/10 || got > c.different*11/10 {
			t.Errorf("%+v: %d signatures of a text of different words, want about %d", c.o, got, c.different)
		}
	}
}
