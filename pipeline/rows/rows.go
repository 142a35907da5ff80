// Package rows has the types of what the stages hand on to each other: plain
// values that know no database. Package dataflow computes with them, package
// store keeps them.
package rows

import (
	"bytes"
	"hash/fnv"
	"io"

	"neardup/cluster"
	"neardup/report"
)

// TextID is the id of a text. extract and cluster have types of their own for it.
type TextID = cluster.ID

// CompareTexts orders ids as the tables do.
func CompareTexts(a, b TextID) int { return bytes.Compare(a[:], b[:]) }

// Occurrence is about a page that has a text.
type Occurrence struct {
	Site       uint64 // Hash of the site, or NoSite
	Address    uint64 // Hash of the page's address
	Navigation bool
}

// Hash returns the hash of a site, an address or a path, which has a fixed width:
// FNV-1a, 64 bits.
func Hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s)
	return h.Sum64()
}

// NoSite is the site hash of a page without a site, such as a line of a text
// collection.
var NoSite = Hash("")

// Signed is about a text that was signed. It counts the characters of the text,
// and those of frames. Without text.frames it has only the number
// of signatures.
type Signed struct{ Signatures, Characters, LeftOut uint32 }

// Candidate is a pair of texts that a search found. A has the larger key. Score is
// what the search says of the pair, 0 if nothing.
type Candidate struct {
	A, B  cluster.Key
	Score float64
}

// Score is a verdict: the relation of a text to another one, and how much of them
// is the same.
type Score struct {
	Relation                 report.Relation // near, contained, contains or judged; none of a pair that is not near
	Resemblance, Containment float64
}

// Inverse returns the score seen from the other text.
func (s Score) Inverse() Score {
	switch s.Relation {
	case report.Contained:
		s.Relation = report.Contains
	case report.Contains:
		s.Relation = report.Contained
	}
	return s
}

// Link is a verified pair with the score of the member as seen from the leader.
type Link struct {
	Leader, Member cluster.Key
	Score          Score
}

// Cluster is the place of a text in a cluster, which its representative names.
// Score is that of the text against another member. The representative is
// against itself.
type Cluster struct {
	Cluster, Member, Against TextID
	Score                    Score
}
