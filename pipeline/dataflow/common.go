package dataflow

import (
	"cmp"

	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify/rarity"
)

// SiteText is a text with the sites that have it.
type SiteText struct {
	ID    rows.TextID
	Text  string
	Pages []SitePage
}

// SitePage is a page with a text on a site: the one with the smallest address, by
// their hashes.
type SitePage struct{ Site, Address uint64 }

// Sightings appends where the sentences of a text stand, by rarity.UnitOf or
// rarity.ExactUnitOf. Sorted, they are what
// rarity.Count counts.
func Sightings(to []rarity.Sighting, t SiteText, of func(sentence string) rarity.Unit) []rarity.Sighting {
	units := rarity.Units(t.Text, of)
	for _, p := range t.Pages {
		to = append(to, rarity.Sighting{Sentence: siteKey(p.Site), Page: p.Address})
		for _, u := range units {
			to = append(to, rarity.Sighting{Sentence: rarity.SiteKey(p.Site, u.Key), Page: p.Address})
		}
	}
	return to
}

// siteKey counts the pages of a site, as if all had one sentence: no unit has the key 0.
func siteKey(site uint64) uint64 { return rarity.SiteKey(site, 0) }

// Weigh weighs a text as it is compared, which stands on these sites. pages tells
// how common its sentences are.
func Weigh(c configs.Verify, compared string, sites []uint64, pages Pages) (t rarity.Text, err error) {
	t = c.Read(compared, func(unit uint64) int {
		n, failed := MaxPages(sites, unit, pages)
		err = cmp.Or(err, failed)
		return n
	})
	return t, err
}

// MaxPages is the number of pages that have a sentence, of the site that has it on
// the most.
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
