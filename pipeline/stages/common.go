package stages

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"

	"golang.org/x/sync/errgroup"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/results"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify/rarity"
)

// Verdicts ask how common a sentence is on its site (package rarity). Before the
// first, the pages of each are counted: every unit of a text is a sighting under
// the digest of site and unit, once for the smallest address of the text on the
// site. So neither many captures of a page make its text common,
// nor many addresses of one text. Sightings are sorted, on disk where they are many; what stands on
// too few pages to matter is not kept (TableCommon). Counting is no part of
// signing, so signatures of texts that were there stay when crawls are added;
// what is common is counted again then, and the pairs are verified again, since
// the perhaps-similar sets that they are of changed. An interruption starts it
// over.

// learnCommon fills TableCommon, unless nothing asks for it.
func learnCommon(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor) error {
	if at.Learned || w.Config.Verify.RarePages == 0 || w.Config.NewMeasure() == nil {
		return nil
	}
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return err
	}
	b := w.DB.Batch()
	if err := errors.Join(b.Clear(store.TableCommon), b.Commit()); err != nil {
		return err
	}
	sorter := extsort.NewPairs(w.DB.Tmp, w.Options.RunRows)
	defer func() { _ = sorter.Close() }() // the workspace's tmp is emptied anyway
	w.Options.Progress.Total(extracted.Texts, "texts")
	if err := see(w, sr, sorter); err != nil {
		return err
	}
	run := store.FixedRun{Size: store.CommonRunSize}
	flush := func() error {
		err := w.DB.Ingest(sr.Ctx, store.CommonRows(&run, w.Options.Workers)...)
		run.Clear()
		return err
	}
	err := rarity.Count(sightings(sr.Ctx, sorter), w.Config.Verify.RarePages, func(c rarity.Common) error {
		run.Add([]byte{store.TableCommon}, binary.BigEndian.AppendUint64(nil, c.Sentence), binary.BigEndian.AppendUint32(nil, uint32(c.Pages)))
		if run.Len() < w.Options.RunRows {
			return nil
		}
		return flush()
	})
	if err := errors.Join(err, flush()); err != nil {
		return err
	}
	at.Learned = true
	b = w.DB.Batch()
	return errors.Join(sr.SetCursor(b, at), b.Commit())
}

// see adds the sightings of all texts to a sorter. Texts are cut in parallel;
// their order does not matter.
func see(w *workspace.Workspace, sr *workspace.StageRun, sorter *extsort.Pairs) error {
	g, ctx := errgroup.WithContext(sr.Ctx)
	work, done := make(chan *sightJob, w.Options.Workers), make(chan *sightJob, w.Options.Workers)
	g.Go(func() error {
		defer close(work)
		for j, err := range sightJobs(w, nil) {
			if err != nil {
				return err
			}
			select {
			case work <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	workers, wctx := errgroup.WithContext(ctx)
	for range w.Options.Workers {
		workers.Go(func() error {
			for j := range work {
				j.see()
				select {
				case done <- j:
				case <-wctx.Done():
					return wctx.Err()
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(done)
		return workers.Wait()
	})
	g.Go(func() error {
		for j := range done {
			for _, s := range j.seen {
				if err := sorter.Add(extsort.Pair{s.Sentence, s.Page}); err != nil {
					return err
				}
			}
			w.Options.Progress.Add(j.read)
		}
		return ctx.Err()
	})
	return g.Wait()
}

// see cuts the texts into their units.
func (j *sightJob) see() {
	for _, t := range j.texts {
		j.seen = dataflow.Sightings(j.seen, t)
	}
	j.texts = nil
}

// sightings gives those of a sorter in order.
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
