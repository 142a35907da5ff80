// Package audit draws samples of pairs from clusters for people to judge, and
// estimates from their judgements how right the clusters are. It is pure; package
// pipeline/workspace stores the judgements.
package audit

import "strings"

// Pair is a pair of pages, by their WARC-Record-IDs with angle brackets, the
// smaller first.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
}

// NewPair returns the pair of two record IDs, given in any order, with or without
// angle brackets.
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
	True    Verdict = "true"    // the main content of the pages is the same
	False   Verdict = "false"   // the pages are about different items, even if they share a template
	Unknown Verdict = "unknown" // the judge cannot tell
)

// Cause is why two pages that are not near-duplicates were announced as such: a
// source of false positives of the TLCS paper, section 4.
type Cause string

// The causes, in the order of the paper.
const (
	Object       Cause = "object"       // similar but different objects, such as two models of one series
	Boilerplate  Cause = "boilerplate"  // a very large template around the content
	Replies      Cause = "replies"      // forum pages that differ in small but critical replies
	Transitivity Cause = "transitivity" // both are near a third page, not each other
	Other        Cause = "other"
)

// Causes lists all causes.
var Causes = []Cause{Object, Boilerplate, Replies, Transitivity, Other}

// Judgement is a verdict of one judge on one pair.
type Judgement struct {
	Pair
	Judge   string  `json:"judge"`
	Verdict Verdict `json:"verdict"`
	Note    string  `json:"note,omitempty"`
	Enforce bool    `json:"enforce,omitempty"` // the next clustering has to follow it
	Time    string  `json:"time,omitempty"`    // RFC 3339, UTC
	Cause   Cause   `json:"cause,omitempty"`   // with False: why the two were announced, if the judge says
}
