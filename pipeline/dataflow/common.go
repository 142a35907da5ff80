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
	exact, plain := rarity.Keys(text)
	for _, k := range exact {
		if _, ok := slices.BinarySearch(plain, k); ok {
			u.Both = append(u.Both, k)
		} else {
			u.Exact = append(u.Exact, k)
		}
	}
	for _, k := range plain {
		if _, ok := slices.BinarySearch(u.Both, k); !ok {
			u.Plain = append(u.Plain, k)
		}
	}
	return u
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
