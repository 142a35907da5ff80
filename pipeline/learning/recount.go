package learning

import (
	"iter"
	"math/bits"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify/rarity"
)

// recount is what to count again.
type recount struct {
	fresh []extsort.Pair      // sightings of sentences on fresh pages
	again map[uint64]struct{} // other sentences of touched texts
	sites map[uint64]struct{} // of fresh and again, what counts the pages of a site and is no sentence
	on    map[uint64]struct{} // sites of touched texts; no sentence of another site is counted again
	less  bool                // a sentence is on fewer pages than before
}

// recountOf returns what to count again: sentences with numbers, also those that are
// around the texts, or without. It returns nil if that is too much.
func recountOf(w *workspace.Workspace, touched []touchedText, fresh map[rows.SitePage]bool, exact bool) (*recount, error) {
	units, err := w.DB.Seeker(layout.TableUnits)
	if err != nil {
		return nil, err
	}
	defer func() { _ = units.Close() }()
	occurrences, err := w.DB.Seeker(layout.TableOccurrence)
	if err != nil {
		return nil, err
	}
	defer func() { _ = occurrences.Close() }()
	rounds, err := w.DB.Seeker(layout.TableUnitsRound)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rounds.Close() }()
	c := &recount{again: map[uint64]struct{}{}, sites: map[uint64]struct{}{}, on: map[uint64]struct{}{}}
	add := func(sightings iter.Seq[rarity.Sighting], fresh bool) {
		for s := range sightings {
			if fresh {
				c.fresh = append(c.fresh, extsort.Pair{s.Sentence, s.Page})
			} else {
				c.again[s.Sentence] = struct{}{}
			}
		}
	}
	var u rows.Units
	var round []uint64
	tooMuch := func() bool { return len(c.fresh)+len(c.again) > heldRecounts(w) }
	for _, t := range touched {
		if tooMuch() {
			return nil, nil
		}
		if len(t.pages) > 0 {
			r, ok, err := units.Get(layout.UnitsKey(t.id))
			if err == nil && !ok {
				err = layout.Corrupt(layout.UnitsKey(t.id))
			}
			if err == nil {
				err = r.Units(&u)
			}
			if err != nil {
				return nil, err
			}
			for _, p := range t.pages {
				c.on[p.Site] = struct{}{}
				add(dataflow.Sightings(u, p.SitePage, exact), p.Fresh)
				for s := range dataflow.Sightings(rows.Units{}, p.SitePage, exact) {
					c.sites[s.Sentence] = struct{}{}
				}
			}
		}
		if !exact {
			continue
		}
		for r, err := range occurrences.FewRows(layout.OccurrencesOf(t.id)) {
			p, d, err := pageOf(r, err)
			if err != nil {
				return nil, err
			}
			if t.isCounted(results.CountedDocument(d, p)) {
				continue
			}
			for at, err := range rounds.FewRows(layout.UnitsRoundsOf(d)) {
				var a dataflow.AroundUnits
				if err == nil {
					a.Page.Site, a.Page.Address, a.Exact, err = at.UnitsRound(round)
				}
				if err != nil {
					return nil, err
				}
				round = a.Exact
				if c.on[a.Page.Site] = struct{}{}; tooMuch() {
					return nil, nil
				}
				add(a.Sightings(), fresh[a.Page])
			}
		}
	}
	return c, nil
}

// countAgain brings a table of sentences up to date, and adds what changes to a batch. It
// returns the texts of which a sentence was counted, or nil if they are too many, and the
// number of all texts.
func (c *recount) countAgain(w *workspace.Workspace, sr *workspace.StageRun, b store.Batch, table byte, beyond int) (changed map[rows.TextID]bool, texts int, err error) {
	before, err := results.LoadCommon(w, table)
	if err != nil {
		return nil, 0, err
	}
	tally, known := sr.Tally(table)
	set := func(x rarity.Common, isNew bool) error {
		if isNew {
			tally.Add(layout.CommonKey(table, x.Sentence))
		}
		return b.Set(layout.CommonKey(table, x.Sentence), layout.CommonValue(uint32(x.Pages)))
	}
	counted := map[uint64]struct{}{}
	extsort.SortPairs(c.fresh)
	err = rarity.Count(sightingsOf(c.fresh), 0, func(x rarity.Common) error {
		n, ok, err := before.Has(x.Sentence)
		if err != nil {
			return err
		}
		if _, also := c.again[x.Sentence]; also || !ok {
			c.again[x.Sentence] = struct{}{}
			return nil
		}
		x.Pages += n
		counted[x.Sentence] = struct{}{}
		return set(x, false)
	})
	if err != nil {
		return nil, 0, err
	}
	sorter := extsort.NewPairs(w.DB.Tmp, w.Options.RunRows)
	defer func() { _ = sorter.Close() }()
	has := false
	again, more := sieved(c.again), sieved(counted)
	only := func(sentence uint64) bool {
		isAgain := again.has(sentence)
		if !has && (isAgain || more.has(sentence)) {
			_, site := c.sites[sentence]
			has = !site
		}
		return isAgain
	}
	changed = map[rows.TextID]bool{}
	err = see(w, sr, sorter, table == layout.TableFrame, &selection{c.on, only}, func(t *results.TextUnits) error {
		if texts++; has && len(changed) <= heldTouched(w) {
			changed[t.ID] = true
		}
		has = false
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	if len(changed) > heldTouched(w) {
		changed = nil
	}
	err = rarity.Count(sightings(sr.Ctx, sorter), beyond, func(x rarity.Common) error {
		delete(c.again, x.Sentence)
		n, ok, err := before.Has(x.Sentence)
		if err != nil || ok && n == x.Pages {
			return err
		}
		c.less = c.less || n > x.Pages
		return set(x, !ok)
	})
	if err != nil {
		return nil, 0, err
	}
	for key := range c.again { // those on too few pages now
		if _, ok, err := before.Has(key); err != nil {
			return nil, 0, err
		} else if ok {
			c.less = true
			tally.Remove(layout.CommonKey(table, key))
			if err := b.Delete(layout.CommonKey(table, key)); err != nil {
				return nil, 0, err
			}
		}
	}
	if known {
		sr.Known(table, tally.Contents())
	}
	return changed, texts, nil
}

// sieve asks a set of hashes only for those that are likely to be in it. What tells
// others apart fits in the processor's cache, where the set does not.
type sieve struct {
	set    map[uint64]struct{}
	likely []uint64 // a bit for each hash, of 16 or more for each in the set
}

func sieved(set map[uint64]struct{}) sieve {
	s := sieve{set, make([]uint64, 1<<bits.Len(uint(len(set)/4)))}
	for hash := range set {
		word, bit := s.place(hash)
		*word |= bit
	}
	return s
}

func (s *sieve) place(hash uint64) (word *uint64, bit uint64) {
	return &s.likely[hash>>6&uint64(len(s.likely)-1)], 1 << (hash & 63)
}

func (s *sieve) has(hash uint64) bool {
	if word, bit := s.place(hash); *word&bit == 0 {
		return false
	}
	_, ok := s.set[hash]
	return ok
}

// sightingsOf yields sorted sightings.
func sightingsOf(pairs []extsort.Pair) iter.Seq2[rarity.Sighting, error] {
	return func(yield func(rarity.Sighting, error) bool) {
		for _, p := range pairs {
			if !yield(rarity.Sighting{Sentence: p[0], Page: p[1]}, nil) {
				return
			}
		}
	}
}
