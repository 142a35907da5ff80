package earlier_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/earlier"
	"neardup/pipeline/internal/pipetest"
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
