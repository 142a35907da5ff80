package learning

import (
	"errors"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/signature/terms"
)

// termBytes is about how much text is counted at a time, in bytes.
const termBytes = 1 << 20

// Terms fills TableTerm with the terms of all texts that are compared. After an
// interruption it starts over.
func Terms(w *workspace.Workspace, sr *workspace.StageRun) error {
	var at cursor
	if _, err := sr.Cursor(&at); err != nil || at.Terms {
		return err
	}
	if err := w.DB.Clear(layout.TableTerm); err != nil {
		return err
	}
	w.ForgetTerms()
	sorter := extsort.NewPairs(w.DB.Tmp, w.Options.RunRows)
	defer func() { _ = sorter.Close() }() // on an error the workspace empties its tmp anyway
	var texts []string
	bytes := 0
	count := func() error {
		for _, p := range dataflow.CountTerms(w.Config.Text.Terms, texts) {
			if err := sorter.Add(p); err != nil {
				return err
			}
		}
		texts, bytes = texts[:0], 0
		return nil
	}
	for t, err := range results.ComparedTexts(w) {
		texts, bytes = append(texts, t), bytes+len(t)
		if err == nil && bytes >= termBytes {
			err = count()
		}
		if err := errors.Join(err, sr.Ctx.Err()); err != nil {
			return err
		}
	}
	if err := count(); err != nil {
		return err
	}
	out := writing{w, sr, layout.TableTerm, layout.NewCommonRun()}
	err := dataflow.SumTerms(sorter.Sorted(), func(term uint64, n terms.Count) error {
		return out.add(term, uint32(n))
	})
	if err := errors.Join(err, out.flush()); err != nil {
		return err
	}
	at.Terms = true
	b := w.DB.Batch()
	return errors.Join(sr.SetCursor(b, at), b.Commit())
}
