// Package rarity weighs what two texts have in common by how rare it is. Text
// that only these two have says that they are one; text that stands on page
// after page of their site says nothing. So it tells apart pages that one
// template makes alike, such as two functions of one reference or two products
// of one shop, whose measured resemblance is high, and it keeps articles
// together that got another headline. The TLCS paper counts such pages among
// its false positives ("similar objects", section 4), and deletes signatures
// that are frequent (section 3.1); that the verdict asks how rare the common
// text is, is ours.
package rarity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode"

	"neardup/extract/text"
	"neardup/verify"
)

// Options of the check. docs/verdicts.md has the rows behind the defaults.
type Options struct {
	RarePages       int     `yaml:"rare_pages" json:"rare_pages"`             // pages of one site on which a sentence may stand before it counts less; 0: no check
	RareResemblance float64 `yaml:"rare_resemblance" json:"rare_resemblance"` // least weighted resemblance of near-duplicates, from 0 to 1
}

// Validate names the first option that makes no sense.
func (o Options) Validate() error {
	switch {
	case o.RarePages < 0 || o.RarePages > maxPages:
		return fmt.Errorf("rare_pages: %d, must be from 0 to %d", o.RarePages, maxPages)
	case !(o.RareResemblance >= 0 && o.RareResemblance <= 1):
		return fmt.Errorf("rare_resemblance: %v, must be from 0 to 1", o.RareResemblance)
	}
	return nil
}

const (
	one      = 1 << 24 // the weight 1
	floor    = 100     // a sentence keeps at least one part in so many of its weight
	maxPages = 1 << 16 // keeps products of weights inside 64 bits
)

// Unit is a sentence as it is counted.
type Unit struct {
	Key     uint64 // a hash of its text without numbers; 0: it has no letter, and does not count
	Columns int    // width of what is hashed
}

// UnitOf is the unit of a sentence. Numbers are left out: prices, dates,
// versions and counters change in one page, and a template has others on each
// of its pages.
func UnitOf(sentence string) Unit { return unit(sentence, false) }

// ExactUnitOf is the unit of a sentence with its numbers: of what a frame has on
// every page, they are a part.
func ExactUnitOf(sentence string) Unit { return unit(sentence, true) }

func unit(sentence string, numbers bool) Unit {
	h := uint64(14695981039346656037) // FNV-1a over code points, then mixed
	letters, columns := false, 0
	for _, r := range sentence {
		switch {
		case r < 0x80:
			if '0' <= r && r <= '9' && !numbers {
				continue
			}
			letters = letters || 'a' <= r|0x20 && r|0x20 <= 'z'
			columns++
		case unicode.IsNumber(r) && !numbers:
			continue
		default:
			letters = letters || unicode.IsLetter(r)
			columns += text.RuneColumns(r)
		}
		h = (h ^ uint64(uint32(r))) * 1099511628211
	}
	if !letters {
		return Unit{}
	}
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return Unit{max(1, h^h>>32), columns}
}

// Units gives the distinct units of a text, by UnitOf or ExactUnitOf, sorted by their
// keys.
func Units(t string, of func(sentence string) Unit) []Unit {
	out := make([]Unit, 0, 1+len(t)/64)
	for s := range text.Each(t) {
		if u := of(s); u.Key != 0 {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b Unit) int { return cmp.Compare(a.Key, b.Key) })
	return slices.CompactFunc(out, func(a, b Unit) bool { return a.Key == b.Key })
}

// Text is a text prepared for comparison: its units with their weights. It is
// not changed by that, so goroutines can share it.
type Text struct{ units []weighed }

type weighed struct {
	key   uint64
	plain int32 // weight of the sentence, in parts of one
	rare  int32 // the same, less where the sentence is common
}

// Bytes is the memory that t takes, about.
func (t Text) Bytes() int { return 16 * len(t.units) }

// Read prepares a text. pages, asked for each unit once and by ascending keys,
// gives the number of pages of the site that has the sentence on the most of
// them, among the sites that have the text.
func (o Options) Read(t string, pages func(key uint64) int) Text {
	units := Units(t, UnitOf)
	out := make([]weighed, len(units))
	for i, u := range units {
		plain := plainWeight(u.Columns)
		out[i] = weighed{u.Key, plain, o.rareWeight(plain, pages(u.Key))}
	}
	return Text{out}
}

// plainWeight is the weight of a sentence in the TLCS paper, section 3.1: 1 + ln
// of its length.
func plainWeight(columns int) int32 {
	return int32(math.Round(one * (1 + math.Log(float64(columns)))))
}

// rareWeight is the weight of a sentence that stands on so many pages. Beyond
// RarePages it falls with their third power, down to a floor, so that text that all
// versions of a page have in common still counts where they have next to no
// other.
func (o Options) rareWeight(plain int32, pages int) int32 {
	limit, n := int64(o.RarePages), int64(pages)
	switch {
	case n <= limit:
		return plain
	case n >= int64(o.Saturation()):
		return plain / floor
	}
	return max(plain/floor, int32(int64(plain)*limit*limit/(n*n)*limit/n))
}

// Saturation is the number of pages from which on a sentence counts as little
// as it can.
func (o Options) Saturation() int { return int(math.Ceil(float64(o.RarePages) * math.Cbrt(floor))) }

// Share is what two texts share of what they have, by the weights of their
// sentences, from 0 to 1.
type Share struct {
	Resemblance float64 // of the sentences of either: Jaccard's coefficient, weighted
	Containment float64 // of the sentences of the lighter text
}

// Evidence is what two texts share, as measured in two ways.
type Evidence struct {
	Plain Share // each sentence counts as if it were rare
	Rare  Share // common ones count less
}

// Compare weighs two texts; it does not matter which comes first. A sentence
// that both have is as common as where it is the commonest. Texts without
// sentences share all they have.
func Compare(a, b Text) Evidence {
	var plain, rare sums
	x, y := a.units, b.units
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].key < y[0].key:
			plain.own[0] += int64(x[0].plain)
			rare.own[0] += int64(x[0].rare)
			x = x[1:]
		case len(x) == 0 || x[0].key > y[0].key:
			plain.own[1] += int64(y[0].plain)
			rare.own[1] += int64(y[0].rare)
			y = y[1:]
		default:
			plain.both += int64(x[0].plain)
			rare.both += int64(min(x[0].rare, y[0].rare))
			x, y = x[1:], y[1:]
		}
	}
	return Evidence{plain.share(), rare.share()}
}

// sums are of weights: of the sentences of both texts, and of those that only
// one has.
type sums struct {
	both int64
	own  [2]int64
}

func (s *sums) share() Share {
	of := func(all int64) float64 {
		if all == 0 {
			return 1
		}
		return float64(s.both) / float64(all)
	}
	return Share{of(s.both + s.own[0] + s.own[1]), of(s.both + min(s.own[0], s.own[1]))}
}

// RareContainment is the least weighted containment: that of two texts of equal
// weight whose resemblance is RareResemblance.
func (o Options) RareContainment() float64 { return 2 * o.RareResemblance / (1 + o.RareResemblance) }

// Parts reports whether the evidence parts texts that resemble each other, and
// texts of which one contains the other: what is rare of what they share is
// too little, and less than if all text counted alike. Where it is more, the
// sentences that only one of them has are common, and the measured scores have
// judged those already.
func (o Options) Parts(e Evidence) (alike, contained bool) {
	parts := func(rare, plain, least float64) bool { return o.RarePages > 0 && rare < least && rare < plain }
	return parts(e.Rare.Resemblance, e.Plain.Resemblance, o.RareResemblance),
		parts(e.Rare.Containment, e.Plain.Containment, o.RareContainment())
}

// Decide is the verdict on two texts by the evidence and, where that leaves it
// open, by their scores. One that the evidence rejects has no scores.
func (o Options) Decide(e Evidence, scored func() verify.Verdict) verify.Verdict {
	alike, contained := o.Parts(e)
	rejected := verify.Verdict{Rejected: verify.ByRarity}
	if alike && contained {
		return rejected
	}
	v := scored()
	if v.Near && (v.Contained && contained || !v.Contained && alike) {
		return rejected
	}
	return v
}
