package dataflow

import (
	"cmp"
	"iter"
	"slices"

	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify/rarity"
)

// UnitsOf returns the units of a text.
func UnitsOf(text string) (u rows.Units) {
	all := rarity.Sentences(text)
	plain := make([]rarity.Unit, len(all))
	for i, s := range all {
		plain[i] = s.Plain
	}
	slices.SortFunc(plain, compareUnits)
	plain = slices.CompactFunc(plain, func(a, b rarity.Unit) bool { return a.Key == b.Key })
	columns := make([]uint32, 0, len(plain))
	for _, p := range plain {
		if _, both := slices.BinarySearchFunc(all, p.Key, func(s rarity.Sentence, key uint64) int { return cmp.Compare(s.Exact, key) }); both {
			u.Both, u.Columns = append(u.Both, p.Key), append(u.Columns, uint32(p.Columns))
		} else {
			u.Plain, columns = append(u.Plain, p.Key), append(columns, uint32(p.Columns))
		}
	}
	u.Columns = append(u.Columns, columns...)
	for _, s := range all {
		if _, both := slices.BinarySearch(u.Both, s.Exact); both {
			continue
		}
		of, found := slices.BinarySearch(u.Both, s.Plain.Key)
		if !found {
			of, _ = slices.BinarySearch(u.Plain, s.Plain.Key)
			of += len(u.Both)
		}
		u.Exact, u.PlainOf = append(u.Exact, s.Exact), append(u.PlainOf, uint32(of))
	}
	return u
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
	Page  SitePage
	Exact []uint64
}

// SitePage is the page that counts for a text on a site: the one with the smallest
// address. Both fields are hashes.
type SitePage struct{ Site, Address uint64 }

// Sightings yields the sightings of the sentences of a text on a site, with numbers
// or without. Sorted, they are the input of rarity.Count.
func Sightings(u rows.Units, p SitePage, exact bool) iter.Seq[rarity.Sighting] {
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

func sight(units []uint64, p SitePage, yield func(rarity.Sighting) bool) bool {
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
