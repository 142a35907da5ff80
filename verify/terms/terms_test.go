package terms_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	scheme "neardup/signature/terms"
	"neardup/verify"
	"neardup/verify/terms"
)

var vocabulary = strings.Fields(`the of archive crawl page duplicate 2024 seven it not near quickly
	中国 公民 旅游 护照 的 很 他们 三 恢復 龘 北京大学生 了 和 です データ ภาษาไทย 😀 ，`)

func text(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
		b.WriteString([]string{" ", "", "，"}[r.IntN(3)])
	}
	return b.String()
}

func options(r *rand.Rand) terms.Options {
	o := measured([]scheme.Options{preset, paper}[r.IntN(2)])
	o.Long = r.IntN(2) == 0
	if r.IntN(4) == 0 {
		o.Intervals.Connective = scheme.Interval{} // such terms do not count
	}
	if r.IntN(3) == 0 {
		o.Similarity = terms.Plain
	}
	o.Threshold = float64(1+r.IntN(100)) / 100
	o.Containment = float64(1+r.IntN(120)) / 100
	return o
}

// slow is equations 3 and 4 by maps.
func slow(o terms.Options, x, y string) verify.Verdict {
	set := func(text string) map[uint64]float64 {
		out := map[uint64]float64{}
		for _, t := range scheme.NewWeigher(o.Weighing).Append(nil, text) {
			out[t.Hash] = float64(t.Weight)
			if o.Similarity == terms.Plain {
				out[t.Hash] = 1
			}
		}
		return out
	}
	a, b := set(x), set(y)
	both, inA, inB := 0.0, 0.0, 0.0 // integers below 2^53, so that sums are exact
	for h, w := range a {
		inA += w
		if _, ok := b[h]; ok {
			both += w
		}
	}
	for _, w := range b {
		inB += w
	}
	if both == 0 {
		return verify.Verdict{Rejected: verify.ByScore}
	}
	v := verify.Verdict{Resemblance: both / (inA + inB - both), Containment: both / math.Min(inA, inB)}
	v.Near = v.Resemblance >= o.Threshold || v.Containment >= o.Containment
	v.Contained = v.Near && v.Resemblance < o.Threshold
	if !v.Near {
		v.Rejected = verify.ByScore
	}
	return v
}

func check(t *testing.T, o terms.Options, m *terms.Measure, x, y string) verify.Verdict {
	t.Helper()
	a, b, c := m.Prepare(x), m.Prepare(y), m.Comparer()
	got, want := c.Compare(a, b), slow(o, x, y)
	if swapped := c.Compare(b, a); got != want || swapped != got {
		t.Fatalf("%+v\n%q\n%q: %+v, swapped %+v, want %+v", o, x, y, got, swapped, want)
	}
	return got
}

func TestCompareIsTheEquations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	near, far := 0, 0
	for range 60 {
		o := options(r)
		m := terms.New(o)
		for range 30 {
			common := text(r, r.IntN(20))
			if check(t, o, m, text(r, r.IntN(8))+"\n"+common, common+"\n"+text(r, r.IntN(8))).Near {
				near++
			} else {
				far++
			}
		}
	}
	if near < 100 || far < 100 {
		t.Errorf("%d near and %d far pairs", near, far)
	}
}

func FuzzCompare(f *testing.F) {
	terms.New(measured(preset)).Prepare("中") // loads the dictionary, which takes longer than an input may
	f.Add(uint64(1), "", "。")
	f.Add(uint64(2), "中国公民 the archive", "The Archive 中国")
	f.Add(uint64(3), "\xff\xfe中\x80", "a\u0301の龘")
	f.Add(uint64(4), strings.Repeat("of ", 90), "of 2024")
	f.Fuzz(func(t *testing.T, seed uint64, x, y string) {
		o := options(rand.New(rand.NewPCG(seed, 0)))
		m := terms.New(o)
		v := check(t, o, m, x, y)
		if !(0 <= v.Resemblance && v.Resemblance <= v.Containment && v.Containment <= 1) {
			t.Fatalf("%+v", v)
		}
		if self := check(t, o, m, x, x); self.Resemblance != 0 && self.Resemblance != 1 {
			t.Fatalf("%q with itself: %+v", x, self)
		}
	})
}

// A table of verdicts that can be followed by hand: all nouns weigh 1 there,
// function words a tenth.
func TestVerdicts(t *testing.T) {
	o := measured(paper)
	o.Intervals.Noun, o.Intervals.Connective = scheme.Interval{1, 1}, scheme.Interval{0.125, 0.125}
	plain := o
	plain.Similarity = terms.Plain
	contained := o
	contained.Containment = 0.9
	for _, test := range []struct {
		name                     string
		o                        terms.Options
		x, y                     string
		near                     bool
		resemblance, containment float64
	}{
		{"function words weigh little", o, "archive of the web", "archive for a web", true, 2 / 2.5, 2 / 2.25},
		{"as much as others under equation 3", plain, "archive of the web", "archive for a web", false, 2.0 / 6, 0.5},
		{"repetitions count once", o, "web web archive", "archive archive web", true, 1, 1},
		{"the threshold is reached", terms.Options{Weighing: o.Weighing, Similarity: terms.Plain, Threshold: 0.75, Containment: 2}, "a b c", "c b a page", true, 0.75, 1},
		{"contained, and not asked for", o, "crawl", "crawl archive page web", false, 0.25, 1},
		{"contained", contained, "crawl", "crawl archive page web", true, 0.25, 1},
		{"nothing in common", o, "crawl", "archive", false, 0, 0},
		{"nothing", contained, "……", "", false, 0, 0},
	} {
		got := check(t, test.o, terms.New(test.o), test.x, test.y)
		if got.Near != test.near || got.Resemblance != test.resemblance || got.Containment != test.containment {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// A Measure and its documents are for concurrent use.
func TestConcurrentUse(t *testing.T) {
	m := terms.New(measured(preset))
	r := rand.New(rand.NewPCG(3, 4))
	texts := make([]string, 30)
	docs := make([]verify.Document, len(texts))
	for i := range texts {
		texts[i] = text(r, 30)
		docs[i] = m.Prepare(texts[i])
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			c := m.Comparer()
			for i, x := range texts {
				for j := range texts {
					if got, want := c.Compare(m.Prepare(x), docs[j]), c.Compare(docs[i], docs[j]); got != want {
						t.Errorf("%q and %q: %+v, want %+v", x, texts[j], got, want)
					}
				}
			}
		})
	}
	all.Wait()
}

// A document holds each term once, and no room for repetitions.
func TestBytes(t *testing.T) {
	m := terms.New(measured(preset))
	once, often := m.Prepare("web archive").Bytes(), m.Prepare(strings.Repeat("web archive ", 1000)).Bytes()
	if once < 32 || often > once+64 {
		t.Errorf("two terms take %d bytes, and said a thousand times %d", once, often)
	}
}

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*terms.Options){
		"": func(o *terms.Options) { o.Threshold, o.Containment = 1, 2 },
		`similarity is "", must be "weighted" or "plain"`:                     func(o *terms.Options) { o.Similarity = "" },
		"threshold is 0, must be above 0":                                     func(o *terms.Options) { o.Threshold = 0 },
		"threshold is NaN, must be above 0":                                   func(o *terms.Options) { o.Threshold = math.NaN() },
		"containment is -1, must be above 0":                                  func(o *terms.Options) { o.Containment = -1 },
		"threshold, containment: both above 1, so that no pair could be near": func(o *terms.Options) { o.Threshold = 2 },
		"max_terms is 0, must be from 1 to 16777216":                          func(o *terms.Options) { o.MaxTerms = 0 },
		"intervals.other is [3 2], must be [a, b] with 0 <= a <= b <= 1000":   func(o *terms.Options) { o.Intervals.Other = scheme.Interval{3, 2} },
	} {
		o := measured(preset)
		change(&o)
		got := ""
		if err := o.Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
