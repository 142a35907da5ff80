// Package audit draws samples of pairs from clusters for people to judge, and
// computes from their judgements how right the clusters are. It is pure;
// package pipeline keeps the judgements.
package audit

import "strings"

// Pair names two pages by their WARC-Record-IDs, with angle brackets, the smaller
// first.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
}

// NewPair returns the pair of two record ids. They may come in any order, with
// angle brackets or without.
func NewPair(a, b string) Pair {
	a, b = recordID(a), recordID(b)
	return Pair{min(a, b), max(a, b)}
}

func recordID(s string) string { return "<" + strings.Trim(s, "<>") + ">" }

// Verdict is a judge's verdict on a pair, by the guideline of the TLCS paper,
// section 4.
type Verdict string

// The verdicts.
const (
	True    Verdict = "true"    // the main content of the pages is identical
	False   Verdict = "false"   // their main item differs, whatever the template
	Unknown Verdict = "unknown" // it cannot be said
)

// Judgement is a verdict of one judge on one pair.
type Judgement struct {
	Pair
	Judge   string  `json:"judge"`
	Verdict Verdict `json:"verdict"`
	Note    string  `json:"note,omitempty"`
	Enforce bool    `json:"enforce,omitempty"` // the next clustering must follow it
	Time    string  `json:"time,omitempty"`    // RFC 3339, UTC
}
