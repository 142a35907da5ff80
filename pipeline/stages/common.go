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
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify/rarity"
)

// How common a sentence is on its site is asked twice: what is so common that it is
// of the site's frame is not signed (text.frames), and a verdict weighs what two pages
// share by its rarity (package rarity). Before that the pages of each are counted:
// every unit of a text is a sighting under the digest of site and unit, once for the
// smallest address of the text on the site. So neither many captures of a page make
// its text common, nor many addresses of one text. Sightings are sorted, on disk where
// they are many; what stands on too few pages to matter is not kept. Each stage counts
// for itself, since its options say what matters: that costs little beside its work.
// An interruption starts the count over.

// countCommon fills a table with the sentences that more than so many pages of a site
// have.
func countCommon(w *workspace.Workspace, sr *workspace.StageRun, table byte, of func(sentence string) rarity.Unit, beyond int) error {
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return err
	}
	b := w.DB.Batch()
	if err := errors.Join(b.Clear(table), b.Commit()); err != nil {
		return err
	}
	sorter := extsort.NewPairs(w.DB.Tmp, w.Options.RunRows)
	defer func() { _ = sorter.Close() }() // the workspace's tmp is emptied anyway
	w.Options.Progress.Total(extracted.Texts, "texts")
	if err := see(w, sr, sorter, of); err != nil {
		return err
	}
	run := store.FixedRun{Size: store.CommonRunSize}
	flush := func() error {
		err := w.DB.Ingest(sr.Ctx, store.CommonRows(&run, w.Options.Workers)...)
		run.Clear()
		return err
	}
	err := rarity.Count(sightings(sr.Ctx, sorter), beyond, func(c rarity.Common) error {
		run.Add([]byte{table}, binary.BigEndian.AppendUint64(nil, c.Sentence), binary.BigEndian.AppendUint32(nil, uint32(c.Pages)))
		if run.Len() < w.Options.RunRows {
			return nil
		}
		return flush()
	})
	return errors.Join(err, flush())
}

// learnCommon fills TableCommon, unless nothing asks for it.
func learnCommon(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor) error {
	if at.Learned || w.Config.Verify.RarePages == 0 || w.Config.NewMeasure() == nil {
		return nil
	}
	if err := countCommon(w, sr, store.TableCommon, rarity.UnitOf, w.Config.Verify.RarePages); err != nil {
		return err
	}
	at.Learned = true
	b := w.DB.Batch()
	return errors.Join(sr.SetCursor(b, at), b.Commit())
}

// frameCursor says that the frames are learned.
type frameCursor struct {
	Learned bool `json:"learned"`
}

// LearnFrames fills TableFrame: with the sentences that are on enough pages to be of a
// frame, and with the pages of the sites that have so many.
func LearnFrames(w *workspace.Workspace, sr *workspace.StageRun) error {
	var at frameCursor
	if _, err := sr.Cursor(&at); err != nil || at.Learned {
		return err
	}
	if err := countCommon(w, sr, store.TableFrame, rarity.ExactUnitOf, w.Config.Text.Frames-1); err != nil {
		return err
	}
	at.Learned = true
	b := w.DB.Batch()
	return errors.Join(sr.SetCursor(b, at), b.Commit())
}

// sightBytes is about how much text a worker cuts at a time, counted once for
// each of its sites.
const sightBytes = 1 << 20

// sightJob is some texts on their way through the workers.
type sightJob struct {
	texts []dataflow.SiteText
	bytes int
	read  int64 // texts
	seen  []rarity.Sighting
}

// see adds the sightings of all texts to a sorter. Texts are cut in parallel;
// their order does not matter.
func see(w *workspace.Workspace, sr *workspace.StageRun, sorter *extsort.Pairs, of func(sentence string) rarity.Unit) error {
	g, ctx := errgroup.WithContext(sr.Ctx)
	work, done := make(chan *sightJob, w.Options.Workers), make(chan *sightJob, w.Options.Workers)
	g.Go(func() error {
		defer close(work)
		for j, err := range sightJobs(w) {
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
				j.see(of)
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
func (j *sightJob) see(of func(sentence string) rarity.Unit) {
	for _, t := range j.texts {
		j.seen = dataflow.Sightings(j.seen, t, of)
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

// sightJobs returns all texts, in batches.
func sightJobs(w *workspace.Workspace) iter.Seq2[*sightJob, error] {
	return func(yield func(*sightJob, error) bool) {
		occurrences, err := w.DB.Seeker(store.TableOccurrence)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = occurrences.Close() }()
		j := &sightJob{}
		send := func() bool {
			full := j
			j = &sightJob{}
			return yield(full, nil)
		}
		addresses := map[uint64]uint64{} // by site
		for r, err := range w.DB.Table(store.TableText) {
			if err != nil {
				yield(nil, err)
				return
			}
			id := rows.TextID(r.Key()[1:])
			value, err := r.Value()
			if err := errors.Join(err, addressesOf(occurrences, id, addresses)); err != nil {
				yield(nil, err)
				return
			}
			t := dataflow.SiteText{ID: id, Text: string(value)}
			for site, address := range addresses {
				t.Pages = append(t.Pages, dataflow.SitePage{Site: site, Address: address})
				if j.bytes += len(t.Text); j.bytes >= sightBytes {
					j.texts = append(j.texts, t)
					t.Pages = nil
					if !send() {
						return
					}
				}
			}
			if len(t.Pages) > 0 {
				j.texts = append(j.texts, t)
			}
			if j.read++; j.read == signBatch && !send() {
				return
			}
		}
		if j.read > 0 {
			send()
		}
	}
}

// addressesOf sets addresses to the smallest of the text's on each of its sites.
func addressesOf(occurrences *store.Seeker, t rows.TextID, addresses map[uint64]uint64) error {
	clear(addresses)
	for r, err := range occurrences.Rows(store.Key(store.TableOccurrence, t[:])) {
		if err != nil {
			return err
		}
		o, err := r.Occurrence()
		if err != nil {
			return err
		}
		if old, ok := addresses[o.Site]; o.Site != rows.NoSite && (!ok || o.Address < old) {
			addresses[o.Site] = o.Address
		}
	}
	return nil
}
