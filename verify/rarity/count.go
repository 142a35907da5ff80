package rarity

import (
	"cmp"
	"fmt"
	"iter"
)

// Sighting records that a page of a site has a sentence. A page is an address, not
// a capture: many captures of one page do not make its text common.
type Sighting struct {
	Sentence uint64 // SiteKey of the site and of the sentence's unit
	Page     uint64 // hash of the address
}

// Compare orders sightings by sentence and page.
func (s Sighting) Compare(o Sighting) int {
	return cmp.Or(cmp.Compare(s.Sentence, o.Sentence), cmp.Compare(s.Page, o.Page))
}

// SiteKey returns the key of a sentence on a site, from the hash of the site and
// the key of the sentence's unit.
func SiteKey(site, unit uint64) uint64 {
	h := (site ^ site>>29) * 0xbf58476d1ce4e5b9
	h = (h ^ unit) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Common is a sentence with the number of pages of a site that have it.
type Common struct {
	Sentence uint64
	Pages    int
}

// Count counts the pages of each sentence of a site, and emits the sentences of
// more than beyond pages. Sightings come sorted; repetitions count once. Errors are
// those of sightings and emit.
func Count(sightings iter.Seq2[Sighting, error], beyond int, emit func(Common) error) error {
	var last Sighting
	pages := 0 // pages of last's site and sentence
	end := func() error {
		if pages <= beyond {
			return nil
		}
		return emit(Common{last.Sentence, pages})
	}
	for s, err := range sightings {
		if err != nil {
			return err
		}
		order := last.Compare(s)
		switch {
		case pages > 0 && order == 0:
			continue
		case pages > 0 && order > 0:
			return fmt.Errorf("rarity: sightings out of order: %x after %x", s, last)
		case pages > 0 && s.Sentence == last.Sentence:
			pages++
		default:
			if err := end(); err != nil {
				return err
			}
			pages = 1
		}
		last = s
	}
	return end()
}
