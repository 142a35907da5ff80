package minhash

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
	"neardup/signature/words/wordstest"
)

func TestOptions(t *testing.T) {
	good := Options{Words: 5, Rows: 5, Threshold: .8, Recall: .95}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	if got := good.LSH(); got != (LSH{5, 8}) { // as in TestBandsIsTheLeast
		t.Errorf("%+v for a recall of .95 at .8", got)
	}
	if got := (Options{Words: 1, Rows: 3, Bands: 7}); got.Validate() != nil || got.LSH() != (LSH{3, 7}) {
		t.Errorf("%+v: %v, %v", got, got.Validate(), got.LSH())
	}
	for name, change := range map[string]func(*Options){
		"words":      func(o *Options) { o.Words = 0 },
		"rows":       func(o *Options) { o.Rows = 0 },
		"bands":      func(o *Options) { o.Bands = -1 },
		"threshold":  func(o *Options) { o.Threshold = 0 },
		"threshold ": func(o *Options) { o.Threshold = math.NaN() },
		"recall":     func(o *Options) { o.Recall = 1 },
		"with rows":  func(o *Options) { o.Rows, o.Bands = 257, 256 },
		"bands is":   func(o *Options) { o.Threshold = 1e-9 }, // more than can be
	} {
		o := good
		change(&o)
		err := o.Validate()
		if err == nil || !strings.Contains(err.Error(), name) {
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

// slowFeatures is the set of a text's shingles, from the words themselves.
func slowFeatures(text string, w int) (out []uint64) {
	all := wordstest.Strings(text)
	seen := map[string]bool{}
	for i := 0; i+min(w, len(all)) <= len(all) && len(all) > 0; i++ {
		shingle := all[i : i+min(w, len(all))]
		if seen[strings.Join(shingle, " ")] {
			continue
		}
		seen[strings.Join(shingle, " ")] = true
		var hashes []uint64
		for _, s := range shingle {
			hashes = append(hashes, hash.String(s))
		}
		out = append(out, hash.Windows(nil, hashes, len(hashes))...)
	}
	return out
}

// slowBands is the bands themselves, by number and components.
func slowBands(o Options, text string) map[string]bool {
	c, out := o.LSH(), map[string]bool{}
	s := slowSign(c.Components(), 0, slowFeatures(text, o.Words))
	for i := 0; i < len(s); i += c.Rows {
		out[fmt.Sprint(i, s[i:i+c.Rows])] = true
	}
	return out
}

// checkScheme: a text has a signature for each band, and two texts have as many
// in common as bands.
func checkScheme(t *testing.T, o Options, x, y string) {
	t.Helper()
	s := NewScheme(o)
	before := []signature.Signature{{1}}
	a := s.Sign(before, x)
	b := s.Sign(nil, y)
	if a[0] != before[0] {
		t.Fatal("what was there before is not")
	}
	a = a[1:]
	if again := NewScheme(o).Sign(nil, x); !slices.Equal(a, again) {
		t.Fatalf("%.60q: %x, by another %x", x, a, again)
	}
	bands, other := slowBands(o, x), slowBands(o, y)
	if len(a) != len(bands) || len(b) != len(other) {
		t.Fatalf("%+v: %.60q has %d signatures for %d bands, %.60q %d for %d", o, x, len(a), len(bands), y, len(b), len(other))
	}
	got, want := 0, 0
	for i, key := range a {
		if i > 0 && bytes.Compare(a[i-1][:], key[:]) >= 0 {
			t.Fatalf("%.60q has %x twice, or not in order", x, key)
		}
		if slices.Contains(b, key) {
			got++
		}
	}
	for band := range bands {
		if other[band] {
			want++
		}
	}
	if got != want {
		t.Fatalf("%+v: %.60q and %.60q have %d signatures in common, want %d", o, x, y, got, want)
	}
}

var schemeTexts = []string{
	"", " .,!\n", "a", "A", "a a a", "one two three", "One, two: THREE!", "three two one", "one two three four five six", "one two three four five seven",
	"近重复文档检测", "近重复文档检索，", "カタカナとひらがなー", "ภาษาไทยไม่มีช่องว่าง", "один два три четыре пять", "\xff\xfe", "\xff broken \xe4\xb8 text",
	strings.Repeat("the same line again ", 200), strings.Repeat("the same line again ", 300) + "end",
}

func TestScheme(t *testing.T) {
	for _, o := range []Options{{Words: 1, Rows: 1, Bands: 9}, {Words: 3, Rows: 2, Bands: 8}, {Words: 5, Rows: 5, Threshold: .8, Recall: .95}} {
		for _, x := range schemeTexts {
			for _, y := range schemeTexts {
				checkScheme(t, o, x, y)
			}
		}
	}
	o := Options{Words: 5, Rows: 5, Bands: 8}
	if got := NewScheme(o).Sign(nil, "?! ..."); len(got) != 0 {
		t.Errorf("%x for a text without words", got)
	}
}

func FuzzScheme(f *testing.F) {
	for i, text := range schemeTexts {
		f.Add(text, schemeTexts[(i+1)%len(schemeTexts)], uint8(i), uint8(i/3), uint8(i/2))
	}
	f.Fuzz(func(t *testing.T, x, y string, w, rows, bands uint8) {
		if len(x)+len(y) > 4000 {
			return
		}
		checkScheme(t, Options{Words: int(w)%6 + 1, Rows: int(rows)%4 + 1, Bands: int(bands)%8 + 1}, x, y)
	})
}

// Texts of megabytes, of one word and of all different ones.
func TestHugeTexts(t *testing.T) {
	var different strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&different, "word%d ", i)
	}
	o := Options{Words: 5, Rows: 5, Threshold: .8, Recall: .95}
	s := NewScheme(o)
	for _, text := range []string{strings.Repeat("word ", 800_000), strings.Repeat("字", 1_000_000), different.String()} {
		signatures := s.Sign(nil, text)
		// A change at the end is next to nothing of a text of different words; one
		// word repeated has a single shingle, and five more make it another text.
		changed := s.Sign(nil, text+" changed")
		common := 0
		for _, x := range changed {
			if slices.Contains(signatures, x) {
				common++
			}
		}
		if len(signatures) != 8 || len(changed) != 8 || text == different.String() && common < 7 {
			t.Errorf("%.20q: %d signatures, changed %d, of which %d are the same", text, len(signatures), len(changed), common)
		}
	}
}

// The promise, from text to signatures: pairs of texts are candidates with the
// probability that belongs to the Jaccard coefficient of their shingles, and
// those at the threshold with at least the recall.
func TestRecallOfTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, o := range []Options{
		{Words: 1, Rows: 5, Threshold: .8, Recall: .95}, {Words: 5, Rows: 5, Threshold: .8, Recall: .95}, {Words: 3, Rows: 4, Threshold: .5, Recall: .9},
	} {
		s := NewScheme(o)
		found, expected, variance := 0.0, 0.0, 0.0
		over, foundOver := 0, 0
		for range 2000 {
			var x []string
			for range 60 + r.IntN(300) {
				x = append(x, fmt.Sprint("w", r.IntN(5000)))
			}
			y := slices.Clone(x)
			rate := (1 - o.Threshold) / float64(1+o.Words) * 2 * r.Float64() // of changes, each of which spoils so many shingles
			for i := range y {
				if r.Float64() < rate {
					y[i] = fmt.Sprint("v", r.IntN(5000))
				}
			}
			a, b := strings.Join(x, " "), strings.Join(y, " ")
			similarity := jaccard(slowFeatures(a, o.Words), slowFeatures(b, o.Words))
			p := o.LSH().Candidate(similarity)
			expected += p
			variance += p * (1 - p)
			keys, candidate := s.Sign(nil, a), false
			for _, key := range s.Sign(nil, b) {
				candidate = candidate || slices.Contains(keys, key)
			}
			if similarity >= o.Threshold {
				over++
			}
			if candidate {
				found++
				if similarity >= o.Threshold {
					foundOver++
				}
			}
		}
		if bound := 4.5 * math.Sqrt(variance); math.Abs(found-expected) > bound {
			t.Errorf("%+v: %v pairs are candidates, want %v within %v", o, found, expected, bound)
		}
		if over < 200 || float64(foundOver) < o.Recall*float64(over) {
			t.Errorf("%+v: of %d pairs over the threshold %d are found", o, over, foundOver)
		}
	}
}

func jaccard(a, b []uint64) float64 {
	in := map[uint64]bool{}
	for _, x := range a {
		in[x] = true
	}
	common := 0
	for _, x := range b {
		if in[x] {
			common++
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}
