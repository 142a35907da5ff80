package stages

import (
	"context"
	"errors"
	"iter"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
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
	defer func() { _ = sorter.Close() }() // on an error the workspace empties its tmp anyway
	w.Options.Progress.Total(extracted.Texts, "texts")
	jobs := sightJobs(w)
	if table == store.TableFrame {
		jobs = both(jobs, aroundJobs(w))
	}
	if err := see(w, sr, sorter, jobs, of); err != nil {
		return err
	}
	run := store.NewCommonRun()
	flush := func() error {
		err := w.DB.Ingest(sr.Ctx, store.CommonRows(&run, w.Options.Workers)...)
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
	if err := countCommon(w, sr, store.TableCommon, rarity.UnitOf, w.Config.Verify.RarePages); err != nil {
		return err
	}
	at.Learned = true
	b := w.DB.Batch()
	return errors.Join(sr.SetCursor(b, at), b.Commit())
}

// frameCursor records that the frames are learned.
type frameCursor struct {
	Learned bool `json:"learned"`
}

// LearnFrames fills TableFrame with the sentences that are on enough pages to
// belong to a frame, and with the number of pages of their sites.
func LearnFrames(w *workspace.Workspace, sr *workspace.StageRun) error {
	var at frameCursor
	if _, err := sr.Cursor(&at); err != nil || at.Learned {
		return err
	}
	if err := countCommon(w, sr, store.TableFrame, rarity.ExactUnitOf, dataflow.FewestFramePages(w.Config)-1); err != nil {
		return err
	}
	at.Learned = true
	b := w.DB.Batch()
	return errors.Join(sr.SetCursor(b, at), b.Commit())
}

// sightBytes is about how much text a worker splits at a time, in bytes. A text
// counts once for each of its sites.
const sightBytes = 1 << 20

// sightJob is a batch of texts for the workers.
type sightJob struct {
	texts []dataflow.SiteText
	bytes int
	read  int64 // number of texts
	seen  []rarity.Sighting
}

// see adds the sightings of all texts to a sorter.
func see(w *workspace.Workspace, sr *workspace.StageRun, sorter *extsort.Pairs, jobs iter.Seq2[*sightJob, error], of func(sentence string) rarity.Unit) error {
	cut := func() func(*sightJob) error {
		return func(j *sightJob) error { j.see(of); return nil }
	}
	return queue.Unordered(sr.Ctx, w.Options.Workers, jobs, cut, func(j *sightJob) error {
		for _, s := range j.seen {
			if err := sorter.Add(extsort.Pair{s.Sentence, s.Page}); err != nil {
				return err
			}
		}
		w.Options.Progress.Add(j.read)
		return nil
	})
}

// see splits the texts into units and appends their sightings.
func (j *sightJob) see(of func(sentence string) rarity.Unit) {
	for _, t := range j.texts {
		j.seen = dataflow.Sightings(j.seen, t, of)
	}
	j.texts = nil
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

// sightJobs yields all texts, in batches.
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
			id, err := r.TextID()
			value, verr := r.Value()
			if err := errors.Join(err, verr, addressesOf(occurrences, id, addresses)); err != nil {
				yield(nil, err)
				return
			}
			t := dataflow.SiteText{Text: string(value)}
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

// aroundJobs yields the texts around the main content of the pages, in batches.
func aroundJobs(w *workspace.Workspace) iter.Seq2[*sightJob, error] {
	return func(yield func(*sightJob, error) bool) {
		j := &sightJob{}
		for t, err := range results.Around(w) {
			if err != nil {
				yield(nil, err)
				return
			}
			j.texts = append(j.texts, t)
			if j.bytes += len(t.Text); j.bytes < sightBytes {
				continue
			}
			full := j
			j = &sightJob{}
			if !yield(full, nil) {
				return
			}
		}
		if len(j.texts) > 0 {
			yield(j, nil)
		}
	}
}

// both yields the jobs of a, then those of b.
func both(a, b iter.Seq2[*sightJob, error]) iter.Seq2[*sightJob, error] {
	return func(yield func(*sightJob, error) bool) {
		for _, jobs := range []iter.Seq2[*sightJob, error]{a, b} {
			for j, err := range jobs {
				if !yield(j, err) {
					return
				}
			}
		}
	}
}

// addressesOf sets addresses to the smallest address of the text on each of its
// sites.
func addressesOf(occurrences *store.Seeker, t rows.TextID, addresses map[uint64]uint64) error {
	clear(addresses)
	for r, err := range occurrences.Rows(store.OccurrencesOf(t)) {
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
