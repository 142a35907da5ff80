package explaining

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// cancelled is a context that ends when it has been asked so often.
type cancelled struct {
	context.Context
	left *int
}

func (c cancelled) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A pair that nobody waits for is left before each comparison.
func TestExplanationThatIsCancelled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.WriteLines(t, explainable(rand.New(rand.NewPCG(1, 1)))[:2]))
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	var pages [2]results.Found
	for i := range pages {
		if pages[i], err = results.FindPage(context.Background(), w, pipetest.TextURN(i)); err != nil {
			t.Fatal(err)
		}
	}
	for asked := range 2 {
		left := asked
		e, compared, err := Found(cancelled{context.Background(), &left}, w, pages)
		if !errors.Is(err, context.Canceled) || compared[0] != "" != (asked > 0) || e.Method.Scheme != "" {
			t.Errorf("cancelled after %d looks: %v, %q, %+v", asked, err, compared, e.Method)
		}
	}
}
