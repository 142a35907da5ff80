package stages

import (
	"errors"
	"fmt"
	"iter"

	"neardup/extract/text"
	"neardup/pipeline/extsort"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/signature/terms"
)

// termBytes is about how much text a worker counts at a time, in bytes.
const termBytes = 1 << 20

// termJob is a batch of texts whose terms a worker counts.
type termJob struct {
	texts  []string
	counts []extsort.Pair // term, count
}

// maxTerms limits the terms with a row. They are held in memory, in about 40 bytes
// each.
const maxTerms = 20_000_000

// learnTerms fills TableTerm with the terms of all texts that are compared, by which
// the scheme and the measure terms weigh them. Of the terms that occur once, it keeps
// one of each part of speech: the others count the same without a row. After an
// interruption the count starts over.
func learnTerms(w *workspace.Workspace, sr *workspace.StageRun) error {
	var at frameCursor
	if _, err := sr.Cursor(&at); err != nil || at.Terms {
		return err
	}
	b := w.DB.Batch()
	if err := errors.Join(b.Clear(store.TableTerm), b.Commit()); err != nil {
		return err
	}
	w.ForgetTerms()
	sorter := extsort.NewPairs(w.DB.Tmp, w.Options.RunRows)
	defer func() { _ = sorter.Close() }() // on an error the workspace empties its tmp anyway
	count := func() func(*termJob) error {
		return func(j *termJob) error {
			counter := terms.NewCounter(w.Config.Text.Terms)
			for _, t := range j.texts {
				counter.Add(t)
			}
			for term, n := range counter.All() {
				j.counts = append(j.counts, extsort.Pair{term, uint64(n)})
			}
			j.texts = nil
			return nil
		}
	}
	if err := queue.Unordered(sr.Ctx, w.Options.Workers, termJobs(w), count, func(j *termJob) error {
		for _, p := range j.counts {
			if err := sorter.Add(p); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	run := store.NewCommonRun()
	flush := func() error {
		err := w.DB.Ingest(sr.Ctx, store.CommonRows(&run, w.Options.Workers)...)
		run.Clear()
		return err
	}
	var once [terms.Groups]bool
	kept := 0
	put := func(term uint64, n terms.Count) error {
		if n.Times() == 1 {
			if once[n.Group()] {
				return nil
			}
			once[n.Group()] = true
		}
		if kept++; kept > maxTerms {
			return fmt.Errorf("over %d terms occur repeatedly; frequencies of the collection are for short texts: take text.terms.frequencies: %s", maxTerms, terms.OfDictionary)
		}
		run.AddCommon(store.TableTerm, term, uint32(n))
		if run.Len() < w.Options.RunRows {
			return nil
		}
		return flush()
	}
	var last uint64
	var sum terms.Count
	for p, err := range sorter.Sorted() {
		if err := errors.Join(err, sr.Ctx.Err()); err != nil {
			return err
		}
		if n := terms.Count(p[1]); sum == 0 || p[0] == last {
			last, sum = p[0], sum.Plus(n)
			continue
		}
		if err := put(last, sum); err != nil {
			return err
		}
		last, sum = p[0], terms.Count(p[1])
	}
	if sum != 0 {
		if err := put(last, sum); err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	at.Terms = true
	b = w.DB.Batch()
	return errors.Join(sr.SetCursor(b, at), b.Commit())
}

// termJobs yields the texts that are compared, in batches.
func termJobs(w *workspace.Workspace) iter.Seq2[*termJob, error] {
	return func(yield func(*termJob, error) bool) {
		j, bytes := &termJob{}, 0
		for r, err := range w.DB.Table(store.TableText) {
			if err != nil {
				yield(nil, err)
				return
			}
			id, err := r.TextID()
			value, verr := r.Value()
			left, lerr := results.LeftOut(w, id)
			if err := errors.Join(err, verr, lerr); err != nil {
				yield(nil, err)
				return
			}
			if left {
				continue
			}
			j.texts = append(j.texts, text.Cut(string(value), w.Config.Text.MaxColumns))
			if bytes += len(value); bytes >= termBytes {
				if !yield(j, nil) {
					return
				}
				j, bytes = &termJob{}, 0
			}
		}
		if len(j.texts) > 0 {
			yield(j, nil)
		}
	}
}
