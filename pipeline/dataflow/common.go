package dataflow

import (
	"cmp"
	"iter"
	"slices"

	"neardup/configs"
	"neardup/extract/text"
	"neardup/pipeline/rows"
	"neardup/verify/rarity"
)

// UnitsOf returns the units of a text.
func UnitsOf(t string) (u rows.Units) {
	var plain []rarity.Unit    // keys without numbers
	var rest []rarity.Sentence // sentences with numbers
	for s := range text.Each(t) {
		switch s := rarity.SentenceOf(s); {
		case s.Exact == 0:
		case s.Exact == s.Plain.Key:
			plain = append(plain, s.Plain)
		default:
			rest = append(rest, s)
		}
	}
	plain = sortUnits(plain)
	u.Both, u.Columns = make([]uint64, len(plain)), make([]uint32, len(plain))
	for i, p := range plain {
		u.Both[i], u.Columns[i] = p.Key, uint32(p.Columns)
	}
	slices.SortFunc(rest, func(a, b rarity.Sentence) int { return cmp.Compare(a.Exact, b.Exact) })
	rest = slices.CompactFunc(rest, func(a, b rarity.Sentence) bool { return a.Exact == b.Exact })
	plain = plain[:0]
	for _, s := range rest {
		if _, both := slices.BinarySearch(u.Both, s.Plain.Key); !both {
			plain = append(plain, s.Plain)
		}
	}
	for _, p := range sortUnits(plain) {
		u.Plain, u.Columns = append(u.Plain, p.Key), append(u.Columns, uint32(p.Columns))
	}
	for _, s := range rest {
		of, found := slices.BinarySearch(u.Both, s.Plain.Key)
		if !found {
			of, _ = slices.BinarySearch(u.Plain, s.Plain.Key)
			of += len(u.Both)
		}
		u.Exact, u.PlainOf = append(u.Exact, s.Exact), append(u.PlainOf, uint32(of))
	}
	return u
}

// sortUnits sorts units by key, and leaves out repeats.
func sortUnits(units []rarity.Unit) []rarity.Unit {
	slices.SortFunc(units, compareUnits)
	return slices.CompactFunc(units, func(a, b rarity.Unit) bool { return a.Key == b.Key })
}

func compareUnits(a, b rarity.Unit) int { return cmp.Compare(a.Key, b.Key) }

// ExactUnits returns the units with numbers of a text.
func ExactUnits(text string) []uint64 {
	var units []uint64
	for _, s := range rarity.Sentences(text) {
		units = append(units, s.Exact)
	}
	return units
}

// AroundUnits are the units with numbers of the visible text around the main content
// of a page.
type AroundUnits struct {
	Page  rows.SitePage
	Exact []uint64
}

// Sightings yields the sightings of the sentences of a text on a site, with numbers
// or without. Sorted, they are the input of rarity.Count.
func Sightings(u rows.Units, p rows.SitePage, exact bool) iter.Seq[rarity.Sighting] {
	rest := u.Plain
	if exact {
		rest = u.Exact
	}
	return func(yield func(rarity.Sighting) bool) {
		_ = yield(rarity.Sighting{Sentence: siteKey(p.Site), Page: p.Address}) && sight(u.Both, p, yield) && sight(rest, p, yield)
	}
}

// Sightings yields the sightings of the sentences around a text. The pages of a site
// are counted by their texts, not by what is around these.
func (a AroundUnits) Sightings() iter.Seq[rarity.Sighting] {
	return func(yield func(rarity.Sighting) bool) { sight(a.Exact, a.Page, yield) }
}

func sight(units []uint64, p rows.SitePage, yield func(rarity.Sighting) bool) bool {
	for _, u := range units {
		if !yield(rarity.Sighting{Sentence: rarity.SiteKey(p.Site, u), Page: p.Address}) {
			return false
		}
	}
	return true
}

// siteKey is the key under which the pages of a site are counted, as if all had one
// sentence. No unit has the key 0.
func siteKey(site uint64) uint64 { return rarity.SiteKey(site, 0) }

// weigh weighs a compared text that these sites have. pages returns how common its
// sentences are.
func weigh(c configs.Verify, compared string, sites []uint64, pages Pages) (t rarity.Text, err error) {
	t = c.Read(compared, func(unit uint64) int {
		n, failed := MaxPages(sites, unit, pages)
		err = cmp.Or(err, failed)
		return n
	})
	return t, err
}

// MaxPages returns the number of pages that have a sentence, on the site with the
// most of them.
func MaxPages(sites []uint64, unit uint64, pages Pages) (int, error) {
	largest := 1
	for _, site := range sites {
		n, err := pages(rarity.SiteKey(site, unit))
		if err != nil {
			return largest, err
		}
		largest = max(largest, n)
	}
	return largest, nil
}

// AskCommon calls pages for each sentence whose number of pages Prepare needs.
func AskCommon(c configs.Config, t Text, frames, pages Pages) error {
	r, err := Read(c, t, frames)
	if err != nil {
		return err
	}
	if _, err := weigh(c.Verify, r.Whole, t.Sites, pages); err != nil || !r.HasFrame() {
		return err
	}
	_, err = weigh(c.Verify, r.Own, t.Sites, pages)
	return err
}
