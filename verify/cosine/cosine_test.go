package cosine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/signature/words"
	"neardup/signature/words/wordstest"
	"neardup/verify"
)

var allOptions = []Options{
	{Letters, 1, words.Count, .95}, {Letters, 1, words.Log, .95}, {Letters, 1, words.One, .8}, {Letters, 2, words.Count, 1}, {Letters, 3, words.Log, .5},
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
		{"terms", Options{"", 1, words.Count, .95}},
		{"words", Options{Letters, 0, words.Count, .95}},
		{"weight", Options{Letters, 1, "tf-idf", .95}},
		{"cosine", Options{Letters, 1, words.Count, 0}},
		{"cosine", Options{Letters, 1, words.Count, 1.01}},
		{"cosine", Options{Letters, 1, words.Count, math.NaN()}},
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

// slowVector is a text's terms with their weights.
func slowVector(o Options, text string) map[string]float64 {
	all, out := wordstest.Strings(text), map[string]float64{}
	w := min(o.Words, len(all))
	for i := 0; len(all) > 0 && i+w <= len(all); i++ {
		out[strings.Join(all[i:i+w], " ")]++
	}
	for term, n := range out {
		switch o.Weight {
		case words.Log:
			out[term] = math.Round(1024 * (1 + math.Log(n)))
		case words.One:
			out[term] = 1
		}
	}
	return out
}

// slowScores are the definitions.
func slowScores(o Options, x, y string) (cosine, containment float64) {
	a, b := slowVector(o, x), slowVector(o, y)
	var product, common, squaresA, squaresB, sumA, sumB float64
	for term, w := range a {
		squaresA += w * w
		sumA += w
		product += w * b[term]
		common += min(w, b[term])
	}
	for _, w := range b {
		squaresB += w * w
		sumB += w
	}
	if sumA == 0 || sumB == 0 {
		return 0, 0
	}
	return product / (math.Sqrt(squaresA) * math.Sqrt(squaresB)), common / min(sumA, sumB)
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
	cosine, containment := slowScores(o, x, y)
	if math.Abs(got.Resemblance-cosine) > 1e-12 || math.Abs(got.Containment-containment) > 1e-12 || got.Near != (got.Resemblance >= o.Cosine) {
		t.Fatalf("%+v: %.60q and %.60q: %+v, want %v, %v", o, x, y, got, cosine, containment)
	}
	if !(got.Resemblance >= 0 && got.Resemblance <= 1 && got.Containment >= 0 && got.Containment <= 1) {
		t.Fatalf("%+v: %.60q and %.60q: %+v", o, x, y, got)
	}
	if len(wordstest.Strings(x)) == 0 {
		if none := verify.Scored(0, 0, 1, never); got != none || c.Compare(a, a) != none {
			t.Fatalf("%+v: %.60q, which has no words, and %.60q: %+v", o, x, y, got)
		}
	} else if self := c.Compare(a, m.Prepare(x)); self != verify.Scored(1, 1, o.Cosine, never) {
		t.Fatalf("%+v: %.60q and itself: %+v", o, x, self)
	}
}

var texts = []string{
	"", " .,!\n", "a", "A", "a a a", "a a b", "a b", "b a", "One, two: THREE!", "three two one", "one two three four five six", "one two three four five seven",
	"近重复文档检测", "近重复文档检索，", "カタカナとひらがなー", "ภาษาไทยไม่มีช่องว่าง", "один два три четыре пять", "\xff\xfe", "\xff broken \xe4\xb8 text",
	strings.Repeat("the same line again ", 50), strings.Repeat("the same line again ", 60) + "end",
}

func TestAgainstTheTermsThemselves(t *testing.T) {
	all := slices.Clone(texts)
	r := rand.New(rand.NewPCG(1, 1))
	for range 25 {
		var text []string
		for range r.IntN(60) {
			text = append(text, string(rune('a'+r.IntN(1+r.IntN(12)))))
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

// Worked out by hand: (2, 1) and (1, 2, 2) of the words a, b, c.
func TestExample(t *testing.T) {
	for _, c := range []struct {
		weight              string
		cosine, containment float64
	}{
		{words.Count, 4 / math.Sqrt(5*9), 2. / 3}, // 2·1 + 1·2; min(2, 1) + min(1, 2) of 2 + 1
		{words.One, 2 / math.Sqrt(2*3), 1},
	} {
		m := New(Options{Letters, 1, c.weight, .95})
		got := m.Comparer().Compare(m.Prepare("a b, a"), m.Prepare("C c b B a"))
		if math.Abs(got.Resemblance-c.cosine) > 1e-15 || got.Containment != c.containment || got.Near {
			t.Errorf("%s: %+v, want %v, %v", c.weight, got, c.cosine, c.containment)
		}
	}
}

// Single words have no order; runs of them have.
func TestOrder(t *testing.T) {
	for _, o := range allOptions {
		m := New(o)
		got := m.Comparer().Compare(m.Prepare("four words in order"), m.Prepare("order words in four"))
		if (got.Resemblance == 1) != (o.Words == 1) {
			t.Errorf("%+v: %+v of the same words in another order", o, got)
		}
	}
}

func TestHugeTexts(t *testing.T) {
	var different strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&different, "word%d ", i)
	}
	repeated := strings.Repeat("word ", 1_000_000)
	for _, o := range allOptions {
		m := New(o)
		a, b, small := m.Prepare(repeated), m.Prepare(different.String()), m.Prepare(repeated[:200])
		c := m.Comparer()
		if got := c.Compare(a, small); got.Resemblance != 1 || got.Containment != 1 || !got.Near {
			t.Errorf("%+v: a word a million times and 40 times: %+v", o, got)
		}
		if got := c.Compare(a, b); got.Near || got.Resemblance != 0 {
			t.Errorf("%+v: one word and different ones: %+v", o, got)
		}
		if got := c.Compare(b, b); got.Resemblance != 1 {
			t.Errorf("%+v: different words and themselves: %+v", o, got)
		}
		if a.Bytes() > 1<<12 || b.Bytes() < 12*290_000 {
			t.Errorf("%+v: %d bytes of one term, %d of many", o, a.Bytes(), b.Bytes())
		}
	}
}

// Cut by the dictionary, the first text has three terms and the second shares two of
// them; by letters they share 9 of 10.
func TestSegmentedTerms(t *testing.T) {
	for terms, want := range map[string]float64{Segmented: 2. / 3, Letters: .9} {
		m := New(Options{terms, 1, words.Count, .95})
		v := m.Comparer().Compare(m.Prepare("中国人民银行今天宣布"), m.Prepare("中国人民银行昨天宣布"))
		if math.Abs(v.Resemblance-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", terms, v.Resemblance, want)
		}
	}
}
