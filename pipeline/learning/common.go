package learning

import (
	"context"
	"errors"
	"iter"
	"slices"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
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
// site have. It calls each, which may be nil, with each text.
func countCommon(w *workspace.Workspace, sr *workspace.StageRun, table byte, beyond int, each func(*results.TextUnits) error) error {
	sorter := extsort.NewPairs(w.DB.Tmp, w.Options.RunRows)
	defer func() { _ = sorter.Close() }() // on an error the workspace empties its tmp anyway
	if err := see(w, sr, sorter, table == layout.TableFrame, nil, each); err != nil {
		return err
	}
	out := writing{w, sr, table, layout.NewCommonRun()}
	err := rarity.Count(sightings(sr.Ctx, sorter), beyond, func(c rarity.Common) error {
		return out.add(c.Sentence, uint32(c.Pages))
	})
	return errors.Join(err, out.flush())
}

// writing writes the numbers of hashes into a table that had no rows.
type writing struct {
	w     *workspace.Workspace
	sr    *workspace.StageRun
	table byte
	run   layout.FixedRun
}

func (x *writing) add(hash uint64, n uint32) error {
	x.run.AddCommon(x.table, hash, n)
	if x.run.Len() < x.w.Options.RunRows {
		return nil
	}
	return x.flush()
}

func (x *writing) flush() error {
	err := x.w.DB.Ingest(x.sr.Ctx, layout.CommonRows(&x.run, x.w.Options.Workers)...)
	x.run.Clear()
	return err
}

// Common brings TableCommon up to date if the config needs it. Then it sets learned,
// which is part of the cursor at, and commits the cursor together with the table. It
// returns the texts of which sentences may have other counts now; nil if it can be any.
func Common(w *workspace.Workspace, sr *workspace.StageRun, at any, learned *bool) (changed map[rows.TextID]bool, err error) {
	if *learned || w.Config.Verify.RarePages == 0 || w.Config.NewMeasure() == nil {
		return nil, nil
	}
	*learned = true
	touched, ok, err := notedTouched(w, sr)
	if err != nil {
		return nil, err
	}
	var c *recount // nil: all
	if ok {
		if c, err = recountOf(w, touched, nil, false); err != nil {
			return nil, err
		}
	}
	b := w.DB.Batch()
	if c != nil {
		changed, _, err = c.countAgain(w, sr, b, layout.TableCommon, w.Config.Verify.RarePages)
	} else if err = w.DB.Clear(layout.TableCommon); err == nil {
		err = countCommon(w, sr, layout.TableCommon, w.Config.Verify.RarePages, nil)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return changed, errors.Join(forgetTouched(b), sr.SetCursor(b, at), b.Commit())
}

// Frames brings TableFrame up to date: it has the sentences that are on enough
// pages to belong to a frame, and the number of pages of their sites. It returns the
// texts of which other sentences may be in frames now, as framesAgain does.
func Frames(w *workspace.Workspace, sr *workspace.StageRun) (changed map[rows.TextID]bool, err error) {
	var at cursor
	if _, err := sr.Cursor(&at); err != nil || at.Learned {
		return nil, err
	}
	at.Learned = true
	touched, fresh, ok, err := findTouched(w, sr)
	if err != nil {
		return nil, err
	}
	if ok {
		c, err := recountOf(w, touched, fresh, true)
		if err != nil {
			return nil, err
		}
		if c != nil {
			return framesAgain(w, sr, c, touched, at)
		}
	}
	b := w.DB.Batch()
	err = errors.Join(b.Clear(layout.TableFrame, layout.TableCounted), Forget(b), b.Commit())
	if err != nil {
		return nil, err
	}
	var counted []extsort.Entry
	held := 0 // rows, and documents of them by sixteen
	flush := func() error {
		err := w.DB.Ingest(sr.Ctx, slices.Values(counted))
		counted, held = nil, 0
		return err
	}
	err = countCommon(w, sr, layout.TableFrame, dataflow.FewestFramePages(w.Config)-1, func(t *results.TextUnits) error {
		if len(t.Documents) > 0 {
			counted = append(counted, extsort.Entry{Key: layout.CountedKey(t.ID), Value: layout.CountedValue(t.Counted)})
		}
		if held += 1 + len(t.Documents)/16; held < w.Options.RunRows/16 {
			return nil
		}
		return flush()
	})
	if err := errors.Join(err, flush()); err != nil {
		return nil, err
	}
	b = w.DB.Batch()
	return nil, errors.Join(b.Set(layout.MetaKey(noteOfCounts), []byte(agree)), sr.SetCursor(b, at), b.Commit())
}

// progressEach is the number of texts after which progress is reported.
const progressEach = 64

// see adds the sightings of all texts to a sorter: for frames, those with numbers,
// and those around the texts; otherwise those without numbers. Where only is not nil,
// it adds those that are selected. each, which may be nil, is called after each text.
func see(w *workspace.Workspace, sr *workspace.StageRun, sorter *extsort.Pairs, frames bool, only *selection, each func(*results.TextUnits) error) error {
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return err
	}
	w.Options.Progress.Total(extracted.Texts, "texts")
	add := func(sightings iter.Seq[rarity.Sighting]) error {
		for s := range sightings {
			if only != nil && !only.sentence(s.Sentence) {
				continue
			}
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
			if !only.on(p.Site) {
				continue
			}
			if err := add(dataflow.Sightings(t.Units, p, frames)); err != nil {
				return err
			}
		}
		if each != nil {
			if err := each(t); err != nil {
				return err
			}
		}
		if n++; n%progressEach == 0 {
			w.Options.Progress.Add(progressEach)
			if err := sr.Ctx.Err(); err != nil {
				return err
			}
		}
	}
	w.Options.Progress.Add(n % progressEach)
	if !frames {
		return nil
	}
	for a, err := range results.Around(w) {
		if err := errors.Join(err, sr.Ctx.Err()); err != nil {
			return err
		}
		if !only.on(a.Page.Site) {
			continue
		}
		if err := add(a.Sightings()); err != nil {
			return err
		}
	}
	return nil
}

// selection is a choice of sightings.
type selection struct {
	sites    map[uint64]struct{}
	sentence func(sentence uint64) bool // of these sites
}

// on reports whether sightings on a site can be selected. A nil selection has all.
func (s *selection) on(site uint64) bool {
	if s == nil {
		return true
	}
	_, ok := s.sites[site]
	return ok
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
