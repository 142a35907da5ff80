// Package rows has the types that the stages hand on to each other. They are plain
// values that know no database: package dataflow computes with them, and package
// store keeps them.
package rows

import (
	"bytes"
	"slices"

	"neardup/cluster"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
)

// TextID identifies a text. Packages extract and cluster have types of their own
// for it.
type TextID = cluster.ID

// CompareTexts orders text IDs as the tables do.
func CompareTexts(a, b TextID) int { return bytes.Compare(a[:], b[:]) }

// Occurrence describes one page that has a text.
type Occurrence struct {
	Site       uint64 // Hash of the site, or NoSite
	Address    uint64 // Hash of Document.Page
	Title      pair.Title
	Navigation bool
}

// Hash returns the 64-bit FNV-1a hash of a site, a URI or a path.
func Hash(s string) uint64 {
	h := uint64(0xcbf29ce484222325) // package hash/fnv allocates
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h
}

// NoSite is the site hash of a page without a site, such as a line of a text
// collection.
var NoSite = Hash("")

// SitePage is the page that counts for a text on a site: the one with the smallest
// address. Both fields are hashes.
type SitePage struct{ Site, Address uint64 }

// Counted is what the pages of sentences were last counted with, of a text.
type Counted struct {
	Documents []uint64 // hashes of the documents that have the text and of their pages, ascending
	Pages     []SitePage
}

// TouchedPage is a page that counts for a text and did not before. It is fresh if no page
// had its address before, and no page of its site the text.
type TouchedPage struct {
	SitePage
	Fresh bool
}

// Equal reports whether nothing that counts has changed.
func (c Counted) Equal(o Counted) bool {
	return slices.Equal(c.Documents, o.Documents) && slices.Equal(c.Pages, o.Pages)
}

// Units are the keys of the sentences of a text, by which the pages of a site that
// have a sentence are counted (package rarity): keys with numbers and without. A
// sentence without numbers has one key in both forms. Each list of keys is ascending,
// without repeats.
type Units struct {
	Both    []uint64 // keys with numbers that are also keys without
	Plain   []uint64 // other keys without numbers
	Columns []uint32 // columns of the sentences of Both, then of Plain, without numbers
	Exact   []uint64 // other keys with numbers
	PlainOf []uint32 // of each of Exact, the index of its key without numbers in Both, then Plain
}

// Signed describes a signed text: its signatures, its characters, those in frames,
// and its sentences in frames. Framed has a bit for each of the text's Units.Both,
// then Units.Exact, from the lowest bit of the first byte up; zeros at the end are
// left out.
type Signed struct {
	Signatures, Characters, LeftOut uint32
	Framed                          []byte
}

// Candidate is a pair of texts that a search found. A has the larger key. Score is
// the search's own score of the pair, or 0.
type Candidate struct {
	A, B  cluster.Key
	Score float64
}

// Score is a verdict: the relation of one text to another, and their scores.
type Score struct {
	Relation                 report.Relation // near, contained, contains or judged; none if the pair is not near
	Resemblance, Containment float64
}

// Inverse returns the score as seen from the other text.
func (s Score) Inverse() Score {
	s.Relation = s.Relation.Inverse()
	return s
}

// Link is a near pair with the score of the member as seen from the leader.
type Link struct {
	Leader, Member cluster.Key
	Score          Score
}

// State has short digests of what decisions on a text depend on.
type State struct {
	ID      TextID
	Fixed   uint64 // all of it except Weights
	Weights uint64 // weights of its sentences
}

// Decided is a decision on a pair of texts, for later runs. A and B are their places in
// a list of texts, A that of the larger key.
type Decided struct {
	A, B     int
	Weighing pair.Weighing
	// Bounded is set where a bound rejected the pair, unless the weights of sentences
	// make the two alike.
	Bounded bool
	Verdict verify.Verdict
	// Relation is that of B as seen from A, if they are near.
	Relation report.Relation
	// Whole is that of a [pair.Decision].
	Whole *verify.Verdict
}

// Score returns the score of B as seen from A.
func (d Decided) Score() Score {
	return Score{d.Relation, d.Verdict.Resemblance, d.Verdict.Containment}
}

// Screening is what the screen of a set of many leaders said of its texts, for later runs.
// Texts are given by their places in a list of texts.
type Screening struct {
	From    int      // the first member that was screened; 0: there is none
	Leaders []int    // ascending
	Common  []uint64 // of each member from From on: rarity.Bounds.Digest
	Left    []Left   // pairs of a leader before a member's chunk that are compared, by member, then leader
}

// Left is a leader and a member that are compared.
type Left struct {
	Leader, Member int
	Rare           int // weight of what they share, at least 1
}

// Contained is a text that is contained in another text, its host, of another
// cluster. Group is the representative of the host's cluster, or the host if it is
// in none. Cluster is the representative of the text's cluster, or zero if it is in
// none. Score is that of the text as seen from the host.
type Contained struct {
	Group, Host, Text, Cluster TextID
	Score                      Score
}

// Cluster is the place of a text in a cluster, which is named by its
// representative. Score is that of the text against another member, Against. A
// representative is scored against itself.
type Cluster struct {
	Cluster, Member, Against TextID
	Score                    Score
}

// Exported is what a group of the clusters' exports takes in them and adds to the
// summary.
type Exported struct {
	Group  TextID
	Bytes  [3]int64 // in clusters.jsonl, clusters.csv and contained.jsonl
	Counts report.ClusterCounts
}
