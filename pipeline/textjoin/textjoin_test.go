package textjoin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/cluster/search"
	"neardup/example"
	"neardup/extract"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

func namedSources(t *testing.T, names ...string) []inputs.Source {
	t.Helper()
	sources, _, err := inputs.Find(t.Context(), t.TempDir(), names, nil, pipetest.MustLoad(t).Extract.Limits)
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

func writeText(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReadTextsIsExtract: texts and counts are those of the extract stage, but
// for revisits, which it looks up.
func TestReadTextsIsExtract(t *testing.T) {
	var crawl bytes.Buffer
	if err := example.Write(&crawl); err != nil {
		t.Fatal(err)
	}
	path := writeText(t, "crawl.warc.gz", crawl.String())
	config := pipetest.MustLoad(t)
	dir := t.TempDir()
	w, err := workspace.Open(dir, stages.All, config, true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Run(context.Background(), "extract", "extract", namedSources(t, path)); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for r, err := range w.DB.Table(layout.TableDocument) {
		if err != nil {
			t.Fatal(err)
		}
		var d rows.Document
		if err := r.JSON(&d); err != nil {
			t.Fatal(err)
		}
		id, err := layout.ParseTextID(d.TextID)
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := w.DB.Get(layout.TextKey(id))
		if err != nil {
			t.Fatal(err)
		}
		if d.RevisitOf == "" {
			want[d.RecordID] = string(text)
		}
	}
	if len(want) == 0 {
		t.Fatal("no documents")
	}
	for _, workers := range []int{1, 3} {
		texts, counts, err := Read(context.Background(), namedSources(t, path), config.Extract, 1<<30, workers, workspace.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range texts {
			if want[x.ID] != x.Text {
				t.Errorf("%d workers: %s has another text", workers, x.ID)
			}
		}
		if len(texts) != len(want) || counts.Documents != int64(len(texts)) {
			t.Errorf("%d workers: %d texts, counted %d, want %d", workers, len(texts), counts.Documents, len(want))
		}
		recordsAccounted(t, counts)
		if n := counts.Skipped[string(extract.ReasonUnresolved)]; n == 0 || n != counts.Revisits {
			t.Errorf("%d of %d revisits are skipped", n, counts.Revisits)
		}
	}
}

// recordsAccounted: every record is a text, a duplicate or skipped.
func recordsAccounted(t *testing.T, c results.ExtractCounts) {
	t.Helper()
	skipped := int64(0)
	for _, n := range c.Skipped {
		skipped += n
	}
	if c.Records != c.Documents+c.Duplicates+skipped {
		t.Errorf("%d records, but %d texts, %d duplicates, %d skipped", c.Records, c.Documents, c.Duplicates, skipped)
	}
}

func TestReadTextsOfCollections(t *testing.T) {
	tsv := writeText(t, "a.tsv", "\xef\xbb\xbf2\ttwo  words\n\n1\tone\r\n2\ttwo words\n3\t\nno tab\n1\tanother one\n")
	jsonl := writeText(t, "b.jsonl", `{"id": "1", "text": "one"}`+"\n"+
		`{"id": "x\ty", "text": "control"}`+"\n"+`{"id": 1.50, "url": "http://a.example/", "text": "number"}`+"\n"+
		`{"id": "http://b.example/", "text": "address"}`+"\n"+`{"text": "none"}`+"\n[]\n")
	var first []Text
	for _, names := range [][]string{{tsv, jsonl}, {jsonl, tsv}} {
		texts, counts, err := Read(context.Background(), namedSources(t, names...), pipetest.MustLoad(t).Extract, 1<<30, 2, workspace.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		recordsAccounted(t, counts)
		want := []Text{{"1", "another one"}, {"1", "one"}, {"1.50", "number"}, {"2", "two words"}, {"http://b.example/", "address"}}
		if !slices.Equal(texts, want) {
			t.Errorf("%q, want %q", texts, want)
		}
		if counts.Duplicates != 2 || counts.Records != 12 || counts.Files != 2 {
			t.Errorf("%+v", counts)
		}
		if first == nil {
			first = texts
		}
		if !slices.Equal(texts, first) {
			t.Error("the order of the files changes the texts")
		}
	}
}

func TestReadTextsStops(t *testing.T) {
	limits := pipetest.MustLoad(t).Extract
	path := writeText(t, "a.tsv", strings.Repeat("id\ttext\n", 1000))
	// 1,000 times 6 bytes, before duplicates are known.
	if _, _, err := Read(context.Background(), namedSources(t, path), limits, 6000, 2, workspace.Silent{}); err != nil {
		t.Error(err)
	}
	for range 20 {
		if _, _, err := Read(context.Background(), namedSources(t, path), limits, 5999, 2, workspace.Silent{}); !errors.Is(err, ErrTooMuchText) {
			t.Fatalf("%v, want %v", err, ErrTooMuchText)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Read(ctx, namedSources(t, path), limits, 1<<30, 2, workspace.Silent{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	missing := filepath.Join(t.TempDir(), "missing.tsv")
	texts, counts, err := Read(context.Background(), namedSources(t, missing, path), limits, 1<<30, 2, workspace.Silent{})
	if !errors.Is(err, workspace.ErrInputFailure) || !strings.Contains(err.Error(), "1 of 2 files") || !strings.Contains(err.Error(), "missing.tsv") {
		t.Error(err)
	}
	if len(texts) != 1 || counts.Unreadable != 1 || counts.Duplicates != 999 {
		t.Errorf("%d texts, %+v", len(texts), counts)
	}
	gone := namedSources(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(context.Background(), gone, limits, 1<<30, 2, workspace.Silent{}); !errors.Is(err, workspace.ErrInputFailure) || errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
}

func joinSettings(algorithm string, threshold float64) search.Join {
	return search.Join{Tokens: "words", Size: 1, Measure: "jaccard", Threshold: threshold, Weights: "none",
		Algorithm: algorithm, MaxDepth: 2, Bitmaps: true, MaxBytes: 1 << 30}
}

func TestJoinOptionsValidate(t *testing.T) {
	good := Options{Join: joinSettings("ppjoin", .8), MaxPairs: 1}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"measure: ":           func(o *Options) { o.Measure = "dice" },
		"threshold: 0 ":       func(o *Options) { o.Threshold = 0 },
		"threshold: 1.01 ":    func(o *Options) { o.Threshold = 1.01 },
		"weights: there":      func(o *Options) { o.Weights = "" },
		"weights: idf is for": func(o *Options) { o.Measure, o.Tokens, o.Weights = "edit", "characters", "idf" },
		"tokens: there":       func(o *Options) { o.Tokens = "bytes" },
		"tokens: edit":        func(o *Options) { o.Measure = "edit" },
		"distance: -1 ":       func(o *Options) { o.Measure, o.Distance, o.Tokens = "edit", -1, "characters" },
		"extra: longer p":     func(o *Options) { o.Measure, o.Extra, o.Tokens = "edit", 1, "characters" },
		"size: 101 ":          func(o *Options) { o.Size = 101 },
		"algorithm: there":    func(o *Options) { o.Algorithm = "dice" },
		"weights: there is":   func(o *Options) { o.Weights = "given" },
		"recall: 1 ":          func(o *Options) { o.Algorithm, o.Recall, o.Rows = "lsh", 1, 5 },
		"rows: 0 ":            func(o *Options) { o.Algorithm, o.Recall = "lsh", .9 },
		"rows: 20 at ":        func(o *Options) { o.Algorithm, o.Recall, o.Rows, o.Threshold = "lsh", .9, 20, .1 },
		"algorithm: lsh is":   func(o *Options) { o.Algorithm, o.Measure = "lsh", "overlap" },
		"sketch: 4 is for":    func(o *Options) { o.Sketch, o.Weights = 4, "idf" },
		"sketch: 4 is for an": func(o *Options) { o.Sketch, o.Algorithm = 4, "lsh" },
		"sketch: -1 is not":   func(o *Options) { o.Sketch = -1 },
		"distance: -2 is not": func(o *Options) { o.Measure, o.Distance = "hamming", -2 },
		"weights: idf is fo":  func(o *Options) { o.Measure, o.Weights = "hamming", "idf" },
		"max_depth: -1 ":      func(o *Options) { o.MaxDepth = -1 },
		"extra: -1 ":          func(o *Options) { o.Extra = -1 },
		"extra: longer":       func(o *Options) { o.Extra, o.Weights = 1, "idf" },
		"workers: -1 ":        func(o *Options) { o.Workers = -1 },
		"max-pairs: 0 ":       func(o *Options) { o.MaxPairs = 0 },
		"threshold: NaN ":     func(o *Options) { o.Threshold -= o.Threshold; o.Threshold /= o.Threshold },
	} {
		o := good
		change(&o)
		err := o.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s...", o, err, want)
		}
		if _, err := Join(context.Background(), o, nil); !errors.Is(err, workspace.ErrUsage) {
			t.Errorf("%+v: %v, want wrong use", o, err)
		}
	}
}

// madeTexts returns words of a few letters, many of them variants of others.
func madeTexts(r *rand.Rand, n int, prefix string) (out []Text) {
	for i := range n {
		var words []string
		if i > 0 && r.IntN(2) == 0 {
			words = strings.Fields(out[r.IntN(i)].Text)
		}
		for range 1 + r.IntN(3) {
			words = append(words, fmt.Sprintf("w%d", r.IntN(60)))
		}
		out = append(out, Text{fmt.Sprintf("%s%03d", prefix, i), strings.Join(words, " ")})
	}
	return out
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// TestJoinComparesAll: the output is that of comparing all pairs of texts, for
// one collection and for two.
func TestJoinComparesAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a, b := madeTexts(r, 120, "a"), madeTexts(r, 60, "b")
	const threshold = .6
	for _, collections := range [][][]Text{{a}, {a, b}} {
		other := collections[len(collections)-1]
		var want strings.Builder
		for i, x := range a {
			for j, y := range other {
				if len(collections) == 1 && j <= i {
					continue
				}
				s, u := wordSet(x.Text), wordSet(y.Text)
				common := 0
				for w := range s {
					if u[w] {
						common++
					}
				}
				if similarity := float64(common) / float64(len(s)+len(u)-common); similarity >= threshold {
					fmt.Fprintf(&want, "%s\t%s\t%.6f\n", x.ID, y.ID, similarity)
				}
			}
		}
		if want.Len() == 0 {
			t.Fatal("no pairs")
		}
		for _, algorithm := range []string{"allpairs", "ppjoin", "ppjoinplus"} {
			for workers := range 4 {
				o := Options{Join: joinSettings(algorithm, threshold), Workers: workers, MaxPairs: 1 << 20}
				o.MaxDepth, o.Extra, o.Bitmaps = workers, workers, workers%2 == 0
				result, err := Join(context.Background(), o, collections...)
				if err != nil {
					t.Fatal(err)
				}
				var got bytes.Buffer
				if err := result.Write(&got, "tsv"); err != nil {
					t.Fatal(err)
				}
				if got.String() != want.String() {
					t.Errorf("%+v, %d collections: other pairs", o, len(collections))
				}
			}
		}
	}
}

// Pairs are in the order of their IDs, also where several texts have one.
func TestJoinOrder(t *testing.T) {
	texts := []Text{{"i1", "a b c x"}, {"i1", "b c d y"}, {"k0", "a b c d"}, {"k1", "b c d"}, {"k8", "z c d y"}, {"k9", "a b c"}}
	for _, collections := range [][][]Text{{texts}, {texts, texts}} {
		result, err := Join(t.Context(), Options{Join: joinSettings("ppjoin", .3), MaxPairs: 100}, collections...)
		if err != nil {
			t.Fatal(err)
		}
		var ids [][2]string
		ones := 0 // pairs of each text with the ID that two have
		for _, p := range result.Pairs {
			ids = append(ids, [2]string{result.a[p.A].ID, result.b[p.B].ID})
			if ids[len(ids)-1] == [2]string{"i1", "k0"} {
				ones++
			}
		}
		if ones != 2 || !slices.IsSortedFunc(ids, func(x, y [2]string) int { return slices.Compare(x[:], y[:]) }) {
			t.Errorf("%d collections: %v", len(collections), ids)
		}
	}
}

func TestJoinStops(t *testing.T) {
	same := make([]Text, 3000) // 4.5 million pairs
	for i := range same {
		same[i] = Text{fmt.Sprint(i), "all the same"}
	}
	o := Options{Join: joinSettings("ppjoin", .8), MaxPairs: 1000}
	if _, err := Join(context.Background(), o, same); !errors.Is(err, ErrTooManyPairs) {
		t.Errorf("%v, want %v", err, ErrTooManyPairs)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o.MaxPairs = 1 << 40
	if _, err := Join(ctx, o, same); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

func TestBeginning(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"a\n b\tc":                "a b c",
		"one\x00\x1b\u202etwo":    `one\u0000\u001b\u202etwo`,
		strings.Repeat(" ", 900):  "…",
		strings.Repeat("é", 200):  strings.Repeat("é", 200),
		strings.Repeat("日", 201):  strings.Repeat("日", 200) + "…",
		strings.Repeat("𝔘", 300):  strings.Repeat("𝔘", 200) + "…",
		strings.Repeat("ab", 1e6): strings.Repeat("ab", 100) + "…",
	} {
		if got := beginning(text); got != want {
			t.Errorf("%.20q...: %q, want %q", text, got, want)
		}
	}
}
