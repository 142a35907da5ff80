package dataflow

import (
	"cmp"

	"neardup/configs"
	"neardup/verify/rarity"
)

// SiteText is a text with the sites that have it, or the text around the main
// content of one page.
type SiteText struct {
	Text   string
	Around bool
	Pages  []SitePage
}

// SitePage is the page that counts for a text on a site: the one with the smallest
// address. Both fields are hashes.
type SitePage struct{ Site, Address uint64 }

// Sightings appends the sightings of a text's sentences, by rarity.UnitOf or
// rarity.ExactUnitOf. Sorted, they are the input of rarity.Count. The pages of a
// site are counted by their texts, not by what is around these.
func Sightings(to []rarity.Sighting, t SiteText, of func(sentence string) rarity.Unit) []rarity.Sighting {
	units := rarity.Units(t.Text, of)
	for _, p := range t.Pages {
		if !t.Around {
			to = append(to, rarity.Sighting{Sentence: siteKey(p.Site), Page: p.Address})
		}
		for _, u := range units {
			to = append(to, rarity.Sighting{Sentence: rarity.SiteKey(p.Site, u.Key), Page: p.Address})
		}
	}
	return to
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
