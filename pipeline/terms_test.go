package pipeline_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/pipeline/explaining"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/lookup"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/signature/terms"
	degree "neardup/verify/terms"
)

// With frequencies of the collection, texts are signed and compared by what the
// whole collection has, also if it comes in parts: the clusters, and the scores that
// explain has, are the same.
func TestFrequenciesOfTheCollection(t *testing.T) {
	for _, method := range []string{"simfinder", "simfinder-tuned"} {
		c, err := configs.Load(method, []string{"text.terms.frequencies=collection"})
		if err != nil {
			t.Fatal(err)
		}
		texts, _ := pipetest.Planted(rand.New(rand.NewPCG(15, 16)), 24)
		half := len(texts) / 2
		a, b := pipetest.WriteTexts(t, 0, texts[:half]), pipetest.WriteTexts(t, half, texts[half:])
		dir := filepath.Join(t.TempDir(), "ws")
		want := pipetest.RunAll(t, dir, c, workspace.Options{Workers: 1}, a, b)
		later := filepath.Join(t.TempDir(), "ws")
		first := pipetest.RunAll(t, later, c, workspace.Options{Workers: 3, RunRows: 50}, b)
		if got := pipetest.RunAll(t, later, c, workspace.Options{Workers: 2}, a); !bytes.Equal(got, want) || bytes.Equal(got, first) {
			t.Errorf("%s: other clusters if the texts come in parts", method)
		}
		rng := rand.New(rand.NewPCG(17, 18))
		cut := filepath.Join(t.TempDir(), "ws")
		for range 4 {
			pipetest.RunInterrupted(t, cut, c, 1+rng.Int64N(80), workspace.Options{Workers: 1 + rng.IntN(3), RunRows: 20 + rng.IntN(200)}, a, b)
		}
		if !bytes.Equal(pipetest.RunAll(t, cut, c, workspace.Options{}, a, b), want) {
			t.Errorf("%s: other clusters after interruptions", method)
		}
		plain, err := configs.Load(method, nil)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(want, pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), plain, workspace.Options{}, a, b)) {
			t.Errorf("%s: the frequencies change nothing", method)
		}

		// The slow way: a Counter of all texts.
		counter := terms.NewCounter(c.Text.Terms)
		for _, s := range texts {
			counter.Add(s)
		}
		o := c.Verify.Terms
		o.Weighing = c.Text.Terms
		o.Collection = terms.NewFrequencies(counter.All())
		m := degree.New(o)
		w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		near := 0
		_, members := pipetest.ClustersOf(t, want)
		for _, x := range members {
			if x.RecordID == x.VerifiedAgainst || x.VerifiedAgainst == "" {
				continue
			}
			e, err := explaining.Pages(t.Context(), w, x.RecordID, x.VerifiedAgainst)
			if err != nil {
				t.Fatal(err)
			}
			var i, j int
			if _, err := fmt.Sscanf(x.RecordID+x.VerifiedAgainst, "<urn:text:%d><urn:text:%d>", &i, &j); err != nil {
				t.Fatal(err)
			}
			v := m.Comparer().Compare(m.Prepare(strings.TrimSpace(texts[i])), m.Prepare(strings.TrimSpace(texts[j])))
			if d := float64(e.Score.Resemblance) - v.Resemblance; d > 1e-9 || d < -1e-9 {
				t.Errorf("%s: %d and %d: explain has %v, the definition %v", method, i, j, e.Score.Resemblance, v.Resemblance)
			}
			near++
		}
		if near < 20 {
			t.Errorf("%s: %d pairs", method, near)
		}
		x, err := lookup.Open(w)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
