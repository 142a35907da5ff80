package simhash

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/signature"
	"neardup/signature/internal/hash"
	"neardup/signature/words"
	"neardup/signature/words/wordstest"
)

var allOptions = []Options{
	{1, words.Count}, {1, words.Log}, {1, words.One}, {2, words.Count}, {3, words.Log}, {10, words.One},
}

func TestOptions(t *testing.T) {
	for _, o := range allOptions {
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
	}
	for name, o := range map[string]Options{"words": {0, words.Count}, "weight": {1, "tf"}} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v, want an error about %s", o, err, name)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewScheme(%+v) does not panic", o)
				}
			}()
			NewScheme(o)
		}()
	}
}

// slowTerms is a text's shingles with their numbers.
func slowTerms(text string, w int) map[string]int {
	all, out := wordstest.Strings(text), map[string]int{}
	if len(all) > 0 {
		w = min(w, len(all))
		for i := range len(all) - w + 1 {
			out[strings.Join(all[i:i+w], " ")]++
		}
	}
	return out
}

// slowWeight is the definition, in multiples of 1/1024.
func slowWeight(weight string, n int) float64 {
	switch weight {
	case words.Count:
		return float64(n)
	case words.Log:
		return math.Round(1024*(1+math.Log(float64(n)))) / 1024
	}
	return 1
}

// slowSign is the lecture's sum for each bit, over the terms themselves.
func slowSign(o Options, text string) []signature.Signature {
	terms := slowTerms(text, o.Words)
	var v [Bits]float64
	for term, n := range terms {
		var hashes []uint64
		for word := range strings.SplitSeq(term, " ") {
			hashes = append(hashes, hash.String(word))
		}
		h := hash.Windows(nil, hashes, len(hashes))[0]
		for k := range v {
			if h>>k&1 == 1 {
				v[k] += slowWeight(o.Weight, n)
			} else {
				v[k] -= slowWeight(o.Weight, n)
			}
		}
	}
	if len(terms) == 0 {
		return nil
	}
	var s uint64
	for k := range v {
		if v[k] > 0 { // multiples of 1/1024: sums are exact
			s |= 1 << k
		}
	}
	return []signature.Signature{signature.Of(s)}
}

var schemeTexts = []string{
	"", " .,!\n", "a", "A", "a a a", "a a b", "a b", "b a", "one two three", "One, two: THREE!", "one two three four five six", "近重复文档检测，近重复",
	"カタカナとひらがなー", "ภาษาไทยไม่มีช่องว่าง", "один два три два один", "\xff\xfe", "\xff broken \xe4\xb8 text", strings.Repeat("the same line again ", 200) + "end",
}

func checkScheme(t *testing.T, s signature.Scheme, o Options, text string) {
	t.Helper()
	got := s.Sign([]signature.Signature{{1}}, text)
	if want := append([]signature.Signature{{1}}, slowSign(o, text)...); !slices.Equal(got, want) {
		t.Fatalf("%+v: %.60q: %x, want %x", o, text, got, want)
	}
}

func TestScheme(t *testing.T) {
	for _, o := range allOptions {
		s := NewScheme(o)
		for _, text := range schemeTexts {
			checkScheme(t, s, o, text)
		}
	}
}

func FuzzScheme(f *testing.F) {
	for i, text := range schemeTexts {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		o := allOptions[int(n)%len(allOptions)]
		checkScheme(t, NewScheme(o), o, text)
	})
}

// Single words have no order; runs of them have.
func TestOrder(t *testing.T) {
	const text, turned = "four words in order", "order words in four"
	for _, o := range allOptions {
		s := NewScheme(o)
		if got := slices.Equal(s.Sign(nil, text), s.Sign(nil, turned)); got != (o.Words == 1) {
			t.Errorf("%+v: %v that the order of words does not matter", o, got)
		}
	}
}

func TestHugeTexts(t *testing.T) {
	var different strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&different, "word%d ", i)
	}
	for _, o := range allOptions {
		s := NewScheme(o)
		one, many := s.Sign(nil, strings.Repeat("word ", 800_000)), s.Sign(nil, strings.Repeat("word ", 20))
		if !slices.Equal(one, many) || len(one) != 1 {
			t.Errorf("%+v: a word 800,000 times has %x, 20 times %x", o, one, many)
		}
		a, b := s.Sign(nil, different.String()), s.Sign(nil, "changed "+different.String())
		if n := Differ(a[0].Bits(), b[0].Bits()); n > 3 {
			t.Errorf("%+v: one more word of 400,000 changes %d bits", o, n)
		}
	}
}

// prose returns words of which few are frequent.
func prose(r *rand.Rand, n int) (out []string) {
	for range n {
		out = append(out, fmt.Sprint("w", int(math.Exp(r.Float64()*8))))
	}
	return out
}

// slowCosine is that of the vectors of the terms' weights.
func slowCosine(o Options, x, y string) float64 {
	a, b := slowTerms(x, o.Words), slowTerms(y, o.Words)
	var product, squaresA, squaresB float64
	for term, n := range a {
		w := slowWeight(o.Weight, n)
		squaresA += w * w
		if m := b[term]; m > 0 {
			product += w * slowWeight(o.Weight, m)
		}
	}
	for _, n := range b {
		w := slowWeight(o.Weight, n)
		squaresB += w * w
	}
	return product / math.Sqrt(squaresA*squaresB)
}

// Planted pairs, from text to the pairs of the search: each bit differs with
// the probability that belongs to the cosine, and pairs are found where no more
// than Distance do.
func TestPlantedPairs(t *testing.T) {
	const pairs = 1000
	r := rand.New(rand.NewPCG(7, 7))
	for _, o := range []Options{{1, words.Log}, {1, words.One}, {3, words.Count}} {
		s := NewScheme(o)
		var prints []uint64
		var differ, want, squares, recall float64
		for range pairs {
			x := prose(r, 400)
			y := slices.Clone(x)
			for range r.IntN(12) {
				y[r.IntN(len(y))] = fmt.Sprint("v", r.IntN(1000))
			}
			a, b := strings.Join(x, " "), strings.Join(y, " ")
			p := math.Acos(min(1, slowCosine(o, a, b))) / math.Pi
			print, other := s.Sign(nil, a)[0].Bits(), s.Sign(nil, b)[0].Bits()
			prints = append(prints, print, other)
			share := float64(Differ(print, other)) / Bits
			differ += share
			want += p
			squares += (share - p) * (share - p)
			recall += binomial(Bits, Distance, p)
		}
		// 4.5 standard errors, as measured; and sums of a few frequent words are
		// not yet normal.
		if bound := 4.5*math.Sqrt(squares) + .02*want; math.Abs(differ-want) > bound {
			t.Errorf("%+v: %v of the bits differ, want %v within %v", o, differ/pairs, want/pairs, bound/pairs)
		}
		found := 0.0
		for i := 0; i < len(prints); i += 2 {
			if Differ(prints[i], prints[i+1]) <= Distance { // tables find each, see neardup/cluster/hamming
				found++
			}
		}
		if found < recall-4.5*math.Sqrt(pairs)/2 {
			t.Errorf("%+v: %v of %d pairs are found, want %v", o, found, pairs, recall)
		}
	}
}

// binomial returns the probability of at most k of n with probability p.
func binomial(n, k int, p float64) (sum float64) {
	term := math.Pow(1-p, float64(n))
	for i := range k + 1 {
		sum += term
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
	}
	return sum
}
