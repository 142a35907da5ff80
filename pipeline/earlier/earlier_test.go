package earlier_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/earlier"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// What is known of texts by their sentences, without reading them, is what the texts give,
// also of texts that are cut. It is the same whether states are known, and sides are held.
func TestSidesAreThoseOfTheTexts(t *testing.T) {
	for _, settings := range [][]string{
		{"text.frames=4", "verify.rare_pages=2"}, {"text.frames=4", "verify.rare_pages=2", "text.max_columns=400"},
		{"text.frames=0", "verify.rare_pages=2", "text.max_columns=400"}, {"verify.rare_pages=0"},
	} {
		config := pipetest.MustLoad(t, settings...)
		dir := t.TempDir()
		crawl, ws := filepath.Join(dir, "crawl.warc"), filepath.Join(dir, "ws")
		if err := pipetest.NewWeb(3, 2).Crawl(crawl, 60); err != nil {
			t.Fatal(err)
		}
		pipetest.RunAll(t, ws, config, workspace.Options{}, crawl)
		w := pipetest.Open(t, ws, config)
		method, err := w.Method()
		reader, readErr := results.LoadReader(w)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		judge := dataflow.Judge(method)
		framed, cut := 0, 0
		for _, changed := range []map[rows.TextID]bool{nil, {}} { // all states are made, or none
			e, err := earlier.Open(w, workspace.StartStage(t.Context(), nil, stages.All[3]), changed)
			if err != nil {
				t.Fatal(err)
			}
			for s, err := range results.SignedTexts(w) {
				if err != nil {
					t.Fatal(err)
				}
				want, err := reader.Prepare(judge, s.ID)
				got, gotErr := e.Texts().Get(s.ID)
				sentences, sentencesErr := e.Sentences(s.ID)
				if err := errors.Join(err, gotErr, sentencesErr); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%v: %x is %+v, want %+v", settings, s.ID, got, want)
				}
				if want := want.Sentences(); config.Verify.RarePages > 0 && !reflect.DeepEqual(sentences, want) {
					t.Errorf("%v: %x has %+v, want %+v", settings, s.ID, sentences, want)
				}
				if n, ok := e.Length(s.ID); !ok || n != want.Len() {
					t.Errorf("%v: %x has %d characters (%v), want %d", settings, s.ID, n, ok, want.Len())
				}
				if want.HasFrame() {
					framed++
				}
				if dataflow.NeedsText(config, s.Signed) {
					cut++
				}
			}
			e.Close()
		}
		if (framed > 0) != (config.Text.Frames > 0) || (cut > 0) != (config.Text.MaxColumns == 400) {
			t.Errorf("%v: %d texts with frames, %d that may be cut: the test tells nothing", settings, framed, cut)
		}
	}
}

// Of a set that was parts of several sets, what was noted of each is found, by the texts, also
// once the results are replaced.
func TestResultsOfOtherSets(t *testing.T) {
	config := pipetest.MustLoad(t)
	dir := t.TempDir()
	crawl, ws := filepath.Join(dir, "crawl.warc"), filepath.Join(dir, "ws")
	if err := pipetest.NewWeb(3, 2).Crawl(crawl, 80); err != nil {
		t.Fatal(err)
	}
	pipetest.RunAll(t, ws, config, workspace.Options{}, crawl)
	w := pipetest.Open(t, ws, config)
	e, err := earlier.Open(w, workspace.StartStage(t.Context(), nil, stages.All[3]), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var keys []cluster.Key
	for s, err := range results.SignedTexts(w) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, cluster.NewKey(1, s.ID))
	}
	states, err := dataflow.StatesOf(keys, e)
	if err != nil || len(keys) < 70 {
		t.Fatal(len(keys), err)
	}
	b := w.DB.Batch()
	errs := []error{b.Clear(layout.TableSetResult)}
	for _, of := range [][2]int{{0, 20}, {20, 50}, {50, 58}, {58, 61}} {
		x := layout.Result{States: states[of[0]:of[1]]}
		for i := range x.States[1:] {
			x.Decided = append(x.Decided, rows.Decided{A: i, B: i + 1})
		}
		errs = append(errs, b.Set(layout.ResultKey(layout.TableSetResult, keys[of[0]]), x.Value()))
	}
	if err := errors.Join(append(errs, b.Commit())...); err != nil {
		t.Fatal(err)
	}
	found := func(set ...[]cluster.Key) (pairs int) {
		all := slices.Concat(set...)
		_, recall, err := e.Set(all)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all[1:] {
			_, ok, err := recall.Of(all[i].ID(), all[i+1].ID())
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				pairs++
			}
		}
		return pairs
	}
	for n := range 2 {
		for _, tt := range []struct {
			name string
			set  [][]cluster.Key
			want int
		}{
			{"a part of a large set", [][]cluster.Key{keys[4:20]}, 15},
			{"parts of two", [][]cluster.Key{keys[4:20], keys[30:50]}, 15 + 19},
			{"a small set among new texts", [][]cluster.Key{keys[51:58], keys[61:70]}, 0},
			{"few texts of a large set", [][]cluster.Key{keys[61:70], keys[40:50]}, 0},
		} {
			if got := found(tt.set...); got != tt.want {
				t.Errorf("%s, round %d: %d decisions, want %d", tt.name, n, got, tt.want)
			}
		}
		b := w.DB.Batch()
		if err := errors.Join(e.Keep(b, nil, nil, nil), b.Commit()); err != nil {
			t.Fatal(err)
		}
	}
}
