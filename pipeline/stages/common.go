package stages

import (
	"context"
	"errors"
	"iter"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/verify/rarity"
)

// Two stages ask how common a sentence is on its site. Signing leaves out what is
// so common that it belongs to the site's frame (text.frames). A verdict weighs
// what two pages share by its rarity (package rarity). Before each, the pages of
// each sentence are counted.
//
// Every unit of a text is one sighting under the digest of site and unit. It counts
// once per text and site, for the smallest address of the text on the site. So
// neither many captures of a page nor many addresses of one text make the text
// common. For frames, the text around a page's main content counts too, at the
// address of the page, because what lies around the main content of one page may
// look like main content on another.
//
// Sightings are sorted, on disk if they are many. What stands on too few pages to
// matter is not kept. Each stage counts for itself, since its options decide what
// matters; that costs little beside its other work. After an interruption the count
// starts over.

// countCommon fills a table with the sentences that more than beyond pages of a
// site have.
func countCommon(w *workspace.Workspace, sr *workspace.StageRun, table byte, beyond int) error {
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return err
	}
	b := w.DB.Batch()
	if err := errors.Join(b.Clear(table), b.Commit()); err != nil {
		return err
	}
	sorter := extsort.NewPairs(w.DB.Tmp, w.Options.RunRows)
	defer func() { _ = sorter.Close() }() // on an error the workspace empties its tmp anyway
	w.Options.Progress.Total(extracted.Texts, "texts")
	if err := see(w, sr, sorter, table == layout.TableFrame); err != nil {
		return err
	}
	run := layout.NewCommonRun()
	flush := func() error {
		err := w.DB.Ingest(sr.Ctx, layout.CommonRows(&run, w.Options.Workers)...)
		run.Clear()
		return err
	}
	err := rarity.Count(sightings(sr.Ctx, sorter), beyond, func(c rarity.Common) error {
		run.AddCommon(table, c.Sentence, uint32(c.Pages))
		if run.Len() < w.Options.RunRows {
			return nil
		}
		return flush()
	})
	return errors.Join(err, flush())
}

// learnCommon fills TableCommon if the config needs it.
func learnCommon(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor) error {
	if at.Learned || w.Config.Verify.RarePages == 0 || w.Config.NewMeasure() == nil {
		return nil
	}
	if err := countCommon(w, sr, layout.TableCommon, w.Config.Verify.RarePages); err != nil {
		return err
	}
	at.Learned = true
	b := w.DB.Batch()
	return errors.Join(sr.SetCursor(b, at), b.Commit())
}

// frameCursor records what is learned.
type frameCursor struct {
	Learned bool `json:"learned"` // the frames
	Terms   bool `json:"terms,omitempty"`
}

// LearnFrames fills TableFrame with the sentences that are on enough pages to
// belong to a frame, and with the number of pages of their sites.
func LearnFrames(w *workspace.Workspace, sr *workspace.StageRun) error {
	var at frameCursor
	if _, err := sr.Cursor(&at); err != nil || at.Learned {
		return err
	}
	if err := countCommon(w, sr, layout.TableFrame, dataflow.FewestFramePages(w.Config)-1); err != nil {
		return err
	}
	at.Learned = true
	b := w.DB.Batch()
	return errors.Join(sr.SetCursor(b, at), b.Commit())
}

// see adds the sightings of all texts to a sorter: for frames, those with numbers,
// and those around the texts; otherwise those without numbers.
func see(w *workspace.Workspace, sr *workspace.StageRun, sorter *extsort.Pairs, frames bool) error {
	add := func(sightings iter.Seq[rarity.Sighting]) error {
		for s := range sightings {
			if err := sorter.Add(extsort.Pair{s.Sentence, s.Page}); err != nil {
				return err
			}
		}
		return nil
	}
	n := int64(0)
	for t, err := range results.TextsWithUnits(w) {
		if err != nil {
			return err
		}
		for _, p := range t.Pages {
			if err := add(dataflow.Sightings(t.Units, p, frames)); err != nil {
				return err
			}
		}
		if n++; n%signBatch == 0 {
			w.Options.Progress.Add(signBatch)
			if err := sr.Ctx.Err(); err != nil {
				return err
			}
		}
	}
	w.Options.Progress.Add(n % signBatch)
	if !frames {
		return nil
	}
	for a, err := range results.Around(w) {
		if err := errors.Join(err, sr.Ctx.Err()); err != nil {
			return err
		}
		if err := add(a.Sightings()); err != nil {
			return err
		}
	}
	return nil
}

// sightings yields the sightings of a sorter in order.
func sightings(ctx context.Context, sorter *extsort.Pairs) iter.Seq2[rarity.Sighting, error] {
	return func(yield func(rarity.Sighting, error) bool) {
		n := 0
		for p, err := range sorter.Sorted() {
			if n++; err == nil && n&0xffff == 0 {
				err = ctx.Err()
			}
			if !yield(rarity.Sighting{Sentence: p[0], Page: p[1]}, err) || err != nil {
				return
			}
		}
	}
}
