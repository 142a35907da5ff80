package results_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"neardup/extract"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/preferences"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// The score of a text is the best of those of its pages, each from the last list that has
// it, whether or not memory holds it.
func TestTextScores(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := pipetest.OpenTest(t)
		if seed%2 == 1 {
			pipetest.Spill(t)
		}
		w.Options.RunRows = 1 + random.IntN(8) // so four times as many texts are held
		uri := func() string { return fmt.Sprintf("http://a.example/%d", random.IntN(60)) }
		scoreOf := map[string]float32{}
		for _, list := range []string{"first", "second", "third"}[:1+random.IntN(3)] {
			var lines strings.Builder
			for range 1 + random.IntN(60) {
				u, score := uri(), float32(random.IntN(20))/4
				scoreOf[u] = score
				fmt.Fprintf(&lines, "%s\t%v\n", u, score)
			}
			if _, err := preferences.Add(t.Context(), w, workspace.Preference{Name: list, Kind: workspace.KindScores}, strings.NewReader(lines.String())); err != nil {
				t.Fatal(err)
			}
		}
		want := map[rows.TextID]float32{}
		b := w.DB.Batch()
		for i := range 100 {
			var text rows.TextID // few differ in the first half
			text[0], text[15] = byte(2+random.IntN(6))<<5, byte(random.IntN(8))
			d := extract.Document{TargetURI: uri()}
			want[text] = max(want[text], scoreOf[d.TargetURI])
			if err := b.SetJSON(layout.DocumentKey(extract.ID{byte(i)}, "a.warc", 0), rows.Document{Document: d, TextID: hex.EncodeToString(text[:])}); err != nil {
				t.Fatal(err)
			}
		}
		scores, err := preferences.ScoresOf(w)
		if err := errors.Join(err, b.Commit()); err != nil {
			t.Fatal(err)
		}
		digests := map[[16]byte]float32{}
		for u, want := range scoreOf {
			digests[preferences.URIDigest(u)] = want
			if score, ok, err := scores.Of(u); err != nil || !ok || score != want {
				t.Errorf("seed %d: %s has %v, want %v: %v", seed, u, score, want, err)
			}
		}
		for x, err := range scores.All() {
			if want, ok := digests[x.URI]; err != nil || !ok || x.Score != want {
				t.Errorf("seed %d: of all scores %x has %v, want %v: %v", seed, x.URI, x.Score, want, err)
			}
			delete(digests, x.URI)
		}
		if len(digests) > 0 {
			t.Errorf("seed %d: %d scores are not among all", seed, len(digests))
		}
		if _, ok, err := scores.Of("http://b.example/"); ok || err != nil {
			t.Errorf("seed %d: a page without a score has one: %v", seed, err)
		}
		texts, err := results.LoadTextScores(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range want {
			if score, err := texts.Of(text); err != nil || score != want {
				t.Errorf("seed %d: %x has %v, want %v: %v", seed, text, score, want, err)
			}
		}
		for i := range byte(8) {
			if score, err := texts.Of(rows.TextID{0, 1, i}); err != nil || score != 0 {
				t.Errorf("seed %d: a text that is not there has %v: %v", seed, score, err)
			}
		}
		if err := texts.Close(); err != nil {
			t.Error(err)
		}
	}
}
