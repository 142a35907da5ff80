// Package rarity weighs what two texts share by how rare it is. Text that only
// these two have shows that they are versions of one page. Text that is on page
// after page of their site shows nothing. So the weighing separates pages whose
// resemblance comes from a common template, such as two functions of one reference
// or two products of one shop, and it keeps articles together that got another
// headline. The TLCS paper counts such pages among its false positives ("similar
// objects", section 4), and deletes frequent signatures (section 3.1). Weighing a
// verdict by rarity is not in the paper.
package rarity

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"neardup/extract/text"
	"neardup/verify"
)

// Options are the options of the check. docs/verdicts.md has the measurements
// behind the defaults.
type Options struct {
	RarePages       int     `yaml:"rare_pages" json:"rare_pages"`             // pages of one site that may have a sentence before it weighs less; 0: no check
	RareResemblance float64 `yaml:"rare_resemblance" json:"rare_resemblance"` // smallest weighted resemblance of near pairs, from 0 to 1
	Sentences       float64 `yaml:"sentences" json:"sentences"`               // smallest resemblance of the sentences of two pages of one site that are alike, from 0 to 1; 0: none are
	RareSentences   float64 `yaml:"rare_sentences" json:"rare_sentences"`     // and the smallest weighted one, from 0 to 1
	RareFramed      float64 `yaml:"rare_framed" json:"rare_framed"`           // smallest weighted resemblance of two pages of one site that are near with its frame alone, and of two texts that are near with what they regain, from 0 to 1; 0: any
	OtherPages      float64 `yaml:"other_pages" json:"other_pages"`           // smallest resemblance of two pages of one site that differ in title and address, from 0 to 1
}

// Validate returns an error that names the first invalid option.
func (o Options) Validate() error {
	switch {
	case o.RarePages < 0 || o.RarePages > maxPages:
		return fmt.Errorf("rare_pages: %d, must be from 0 to %d", o.RarePages, maxPages)
	case !(o.RareResemblance >= 0 && o.RareResemblance <= 1):
		return fmt.Errorf("rare_resemblance: %v, must be from 0 to 1", o.RareResemblance)
	case !(o.Sentences >= 0 && o.Sentences <= 1):
		return fmt.Errorf("sentences: %v, must be from 0 to 1", o.Sentences)
	case !(o.RareSentences >= 0 && o.RareSentences <= 1):
		return fmt.Errorf("rare_sentences: %v, must be from 0 to 1", o.RareSentences)
	case !(o.RareFramed >= 0 && o.RareFramed <= 1):
		return fmt.Errorf("rare_framed: %v, must be from 0 to 1", o.RareFramed)
	case !(o.OtherPages >= 0 && o.OtherPages <= 1):
		return fmt.Errorf("other_pages: %v, must be from 0 to 1", o.OtherPages)
	}
	return nil
}

const (
	one      = 1 << 24 // the weight 1
	floor    = 100     // a sentence keeps at least 1/floor of its weight
	maxPages = 1 << 16 // keeps products of weights within 64 bits
)

// Unit is the form of a sentence that is counted. Only its letters, marks and numbers
// count, in lower case, so that pages that are typeset differently have the same sentences.
type Unit struct {
	Key     uint64 // hash of them, by UnitOf without numbers; 0: no letter, does not count
	Columns int    // text.LettersColumns of them
}

// UnitOf returns the unit of a sentence without its numbers. Prices, dates,
// versions and counters change within one page, and differ between the pages of a
// template.
func UnitOf(sentence string) Unit { return SentenceOf(sentence).Plain }

// ExactUnitOf returns the unit of a sentence with its numbers. In a frame, which is
// the same on every page, they belong to the text.
func ExactUnitOf(sentence string) Unit {
	var space [256]byte
	read := text.Letters(space[:0], sentence)
	if kindsOf(read)&letter == 0 {
		return Unit{}
	}
	return unitOf(read)
}

// SentenceOf returns a sentence in both forms. Without numbers in it they have one
// key.
func SentenceOf(sentence string) Sentence {
	var space [256]byte
	read := text.Letters(space[:0], sentence)
	has := kindsOf(read)
	if has&letter == 0 {
		return Sentence{}
	}
	u := unitOf(read)
	if has&number == 0 {
		return Sentence{u.Key, u}
	}
	rest := read[:0]
	for at := 0; at < len(read); {
		r, n := utf8.DecodeRune(read[at:])
		if !unicode.IsNumber(r) {
			rest = append(rest, read[at:at+n]...)
		}
		at += n
	}
	return Sentence{u.Key, unitOf(rest)}
}

// unitOf returns the unit of what counts of a sentence. Its key is not 0.
func unitOf(read []byte) Unit {
	return Unit{max(1, xxhash.Sum64(read)), text.LettersColumns(read)}
}

// kinds are the kinds of characters that stand in a sentence.
type kinds byte

const (
	letter kinds = 1 << iota
	number
	beyond // not ASCII
)

var ascii = func() (of [256]kinds) {
	for c := range of {
		switch r := rune(c); {
		case r >= utf8.RuneSelf:
			of[c] = beyond
		case unicode.IsLetter(r):
			of[c] = letter
		case unicode.IsNumber(r):
			of[c] = number
		}
	}
	return of
}()

// kindsOf returns the kinds of characters of what counts of a sentence.
func kindsOf(read []byte) (has kinds) {
	for _, c := range read {
		has |= ascii[c]
	}
	if has&beyond == 0 {
		return has
	}
	has = 0
	for at := 0; at < len(read); {
		if c := read[at]; c < utf8.RuneSelf {
			has |= ascii[c]
			at++
			continue
		}
		r, n := utf8.DecodeRune(read[at:])
		switch {
		case r >= 0x4E00 && r <= 0x9FFF, unicode.IsLetter(r): // the first are most of Chinese
			has |= letter
		case unicode.IsNumber(r):
			has |= number
		}
		at += n
	}
	return has
}

// Sentence is a sentence of a text in both forms.
type Sentence struct {
	Exact uint64 // key by ExactUnitOf
	Plain Unit   // by UnitOf
}

// Sentences returns the distinct sentences of a text that count, sorted by Exact.
func Sentences(t string) []Sentence {
	out := make([]Sentence, 0, 1+len(t)/64)
	for s := range text.Each(t) {
		if s := SentenceOf(s); s.Exact != 0 {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Sentence) int { return cmp.Compare(a.Exact, b.Exact) })
	return slices.CompactFunc(out, func(a, b Sentence) bool { return a.Exact == b.Exact })
}

// Units returns the distinct units of a text, by UnitOf or ExactUnitOf, sorted by
// key.
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

// Text is a text prepared for comparison: its units with their weights. Comparisons
// do not change it, so goroutines can share it.
type Text struct {
	units   []weighed
	sum     Weights // of all units
	columns int     // of all units
}

type weighed struct {
	key   uint64
	plain int32 // weight of the sentence, in units of 1/one
	rare  int32 // the same, reduced if the sentence is common
}

// Weights are sums of weights of sentences.
type Weights struct {
	Plain int64 // each counts as rare
	Rare  int64 // common ones count less
}

func (w *Weights) add(u weighed) {
	w.Plain += int64(u.plain)
	w.Rare += int64(u.rare)
}

// Weights returns the weights of all sentences of t.
func (t Text) Weights() Weights { return t.sum }

// Columns returns the width of the sentences of t that count, without their numbers.
func (t Text) Columns() int { return t.columns }

// Len returns the number of sentences of t that count.
func (t Text) Len() int { return len(t.units) }

// Bytes returns about the memory that t takes.
func (t Text) Bytes() int { return 16 * len(t.units) }

// Append appends the weights of the text's sentences to b.
func (t Text) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(t.units)))
	for _, u := range t.units {
		b = binary.BigEndian.AppendUint32(b, uint32(u.rare))
	}
	return b
}

// Read prepares a text. pages returns the number of pages that have a unit, on the
// site with the most of them among those that have the text. It is called once for
// each unit, in ascending order of keys.
func (o Options) Read(t string, pages func(key uint64) int) Text {
	return o.Weigh(Units(t, UnitOf), pages)
}

// Weigh is Read for a text that is given by its units, by UnitOf, sorted by key.
func (o Options) Weigh(units []Unit, pages func(key uint64) int) Text {
	out := Text{units: make([]weighed, len(units))}
	for i, u := range units {
		plain := plainWeight(u.Columns)
		out.units[i] = weighed{u.Key, plain, o.rareWeight(plain, pages(u.Key))}
		out.sum.add(out.units[i])
		out.columns += u.Columns
	}
	return out
}

// plainWeight returns the weight of a sentence in the TLCS paper, section 3.1: 1 +
// ln of its length.
func plainWeight(columns int) int32 {
	return int32(math.Round(one * (1 + math.Log(float64(columns)))))
}

// rareWeight returns the weight of a sentence that is on so many pages. Beyond
// RarePages it falls with the third power of their number, down to a floor. The
// floor lets text that all versions of a page share still count if they share
// little else.
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

// Saturation returns the number of pages from which on a sentence has its smallest
// weight.
func (o Options) Saturation() int { return int(math.Ceil(float64(o.RarePages) * math.Cbrt(floor))) }

// Share is how much two texts share, by the weights of their sentences, from 0 to
// 1.
type Share struct {
	Resemblance float64 // weighted Jaccard coefficient of the two sets of sentences
	Containment float64 // shared part of the lighter text
}

// Evidence is how much two texts share, weighed in two ways.
type Evidence struct {
	Plain  Share   // every sentence counts as rare
	Rare   Share   // common sentences count less
	Shared int     // number of rare sentences that both have
	Both   Weights // of the sentences that both have
}

// Compare weighs two texts, in either order. A sentence that both have counts as
// common as it is where it is most common. Texts without sentences share
// everything.
func Compare(a, b Text) Evidence {
	var plain, rare sums
	shared := 0
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
			if x[0].rare == x[0].plain && y[0].rare == y[0].plain {
				shared++
			}
			x, y = x[1:], y[1:]
		}
	}
	return Evidence{plain.share(), rare.share(), shared, Weights{plain.both, rare.both}}
}

// Regained returns what other has of the sentences that own lacks of whole. There is nothing
// if own is no part of whole, since that was cut.
func Regained(whole, own, other Text) (t Text) {
	rest, others := own.units, other.units
	for _, u := range whole.units {
		if len(rest) > 0 && rest[0].key == u.key {
			rest = rest[1:]
			continue
		}
		for len(others) > 0 && others[0].key < u.key {
			others = others[1:]
		}
		if len(others) > 0 && others[0].key == u.key {
			t.units = append(t.units, u)
			t.sum.add(u)
		}
	}
	if len(rest) > 0 {
		return Text{}
	}
	return t
}

// With returns t with the sentences of other, which has none of t's. The columns of the
// result are not known.
func (t Text) With(other Text) Text {
	if len(other.units) == 0 {
		return t
	}
	out := Text{units: slices.Concat(t.units, other.units), sum: t.sum}
	slices.SortFunc(out.units, func(a, b weighed) int { return cmp.Compare(a.key, b.key) })
	for _, u := range other.units {
		out.sum.add(u)
	}
	return out
}

// Has reports whether the text has a sentence with this key.
func (t Text) Has(key uint64) bool {
	_, ok := slices.BinarySearchFunc(t.units, key, func(u weighed, key uint64) int { return cmp.Compare(u.key, key) })
	return ok
}

// Nothing reports whether two texts that have sentences share none.
func (e Evidence) Nothing() bool { return e.Plain.Containment == 0 }

// sums are sums of weights: of all sentences, and of those that only one text has.
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

// RareContainment returns the smallest weighted containment of near pairs: that of
// two texts of equal weight whose weighted resemblance is RareResemblance.
func (o Options) RareContainment() float64 { return 2 * o.RareResemblance / (1 + o.RareResemblance) }

// RareRegained returns the smallest weighted resemblance of two texts of different sites that
// are near with what they regain.
func (o Options) RareRegained() float64 { return max(o.RareResemblance, o.RareFramed) }

// Parts reports whether the evidence separates texts that are near by resemblance,
// and texts of which one contains the other. It does if what they share, weighed by
// rarity, is too little and is less than unweighed. If it is more, the sentences
// that only one text has are common ones, and the measured scores have judged those
// already.
func (o Options) Parts(e Evidence) (alike, contained bool) {
	if o.RarePages == 0 {
		return false, false
	}
	return tooLittle(e.Rare.Resemblance, e.Plain.Resemblance, o.RareResemblance),
		tooLittle(e.Rare.Containment, e.Plain.Containment, o.RareContainment())
}

// tooLittle reports whether a share that is weighed by rarity is below its least
// value, and is lower than unweighed.
func tooLittle(rare, plain, least float64) bool { return rare < least && rare < plain }

// Little is Parts for texts of which less is known: the weights of all their sentences; and
// of those of the first that the second may have, the weight in the first, most, and the
// largest that they can have in the second. It tells only whether a share is below its least
// value. Lighter texts are never little where heavier ones are not.
func (o Options) Little(most, second, a, b int64) (alike, contained bool) {
	onlyA, onlyB := max(0, a-most), max(0, b-second)
	return float64(most) < o.RareResemblance*float64(most+onlyA+onlyB), float64(most) < o.RareContainment()*float64(most+min(onlyA, onlyB))
}

// Framed reports whether two pages of one site that are near by resemblance may owe
// that to its frame: little of what they share is rare, so they must be near without
// the frame, too.
func (o Options) Framed(e Evidence) bool {
	return o.RarePages > 0 && tooLittle(e.Rare.Resemblance, e.Plain.Resemblance, o.RareFramed)
}

// Alike reports whether two texts have the same sentences, except numbers and a few
// sentences, and share more than the sentences of their site. An example are two
// captures of a page of figures: the number in each line differs, so no long part
// of the texts is equal.
func (o Options) Alike(e Evidence) bool {
	return o.RarePages > 0 && o.Sentences > 0 && e.Shared >= fewestShared && e.Plain.Resemblance >= o.Sentences && e.Rare.Resemblance >= o.RareSentences
}

// MayTurnAlike reports whether Alike holds or can come to hold with other weights. The
// evidence is of the same sentences.
func (o Options) MayTurnAlike(e Evidence) bool {
	return o.RarePages > 0 && o.Sentences > 0 && e.Plain.Resemblance >= o.Sentences
}

// fewestShared is how many rare sentences two alike texts must share. Pages of a
// template with different numbers on each page share none.
const fewestShared = 1

// MayBeAlike reports whether Alike can hold. It is false for most texts of
// different lengths.
func (o Options) MayBeAlike(a, b Text) bool {
	return o.RarePages > 0 && o.Sentences > 0 && float64(min(a.sum.Plain, b.sum.Plain)) >= o.Sentences*float64(max(a.sum.Plain, b.sum.Plain))
}

// WeightsMayBeAlike is MayBeAlike for texts of these weights, which may be rounded.
func (o Options) WeightsMayBeAlike(a, b float32) bool {
	const rounded = 1 - 1e-6
	return o.RarePages > 0 && o.Sentences > 0 && float64(min(a, b)) >= rounded*o.Sentences*float64(max(a, b))
}

// Decide returns the verdict on two texts by the evidence and, if that does not
// decide, by their scores. If the evidence rejects a pair, its scores are not
// computed. Texts that are alike, but not near by the measure, get the scores of
// their sentences.
func (o Options) Decide(e Evidence, scored func() verify.Verdict) verify.Verdict {
	alike, contained := o.Parts(e)
	rejected := verify.Verdict{Rejected: verify.ByRarity}
	if alike && contained {
		return rejected
	}
	v := scored()
	if (!v.Near || v.Contained) && o.Alike(e) {
		return verify.Verdict{Near: true, Alike: true, Resemblance: e.Plain.Resemblance, Containment: e.Plain.Containment}
	}
	if v.Near && (v.Contained && contained || !v.Contained && alike) {
		return rejected
	}
	return v
}
