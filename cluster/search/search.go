// Package search finds the texts that are to be compared. Each search has a file of
// its own. A search is a function over sorted rows: it knows neither the database
// nor the workspace, and runs over plain sorted files as well.
//
//	Map   postings by signature, then key  → rows of the search
//	Find  these rows, or all texts         → perhaps-similar sets, or candidate pairs
package search

import (
	"context"
	"iter"

	"neardup/cluster"
	"neardup/signature"
)

// Search is a way to find the texts that are to be compared.
type Search interface {
	// Emits returns what Find emits.
	Emits() Kind
	// Find emits the sets or pairs to be compared, in any order, and adds to the
	// counts c.
	Find(ctx context.Context, in Input, out Sink, c *Counts) error
	// Meet returns what the search would do with two texts, as far as the two alone
	// tell.
	Meet(Two) Meeting
}

// Mapper is a Search that reads postings. The caller sorts the rows that Map emits
// and passes them to Find.
type Mapper interface {
	Search
	// RowSize returns the length of a row, in bytes.
	RowSize() int
	// Map emits the rows of the postings, which may begin at any signature. It adds
	// to the counts c of the signatures before.
	Map(in Input, out RowSink, c *Counts) error
}

// Updater is a Mapper that can bring rows up to date where some postings changed.
type Updater interface {
	Mapper
	// Update emits the changes of rows. It brings the counts c of all lists up to date.
	// ok is false if it cannot: then all rows must be made again.
	Update(in Input, changed Changes, out ChangeSink, c *Counts) (ok bool, err error)
}

// Changes are the postings that changed since rows were made. Input has the present
// postings. No posting comes twice.
type Changes struct {
	Postings iter.Seq2[Changed, error]  // by signature
	Long     iter.Seq2[LongList, error] // the long lists, by signature, as they were
	// Had reports whether a signature may have had postings before. It is asked once, at
	// most, for each signature with changed postings. It may be nil.
	Had func(signature.Signature) bool
}

// Changed is a posting that was added or removed.
type Changed struct {
	cluster.Posting
	Removed bool
}

// LongList is a list that is long enough to be deleted.
type LongList struct {
	Signature signature.Signature
	cluster.LongList
}

// ChangeSink receives what Update emits.
type ChangeSink struct {
	// Row is called where more lists give a row than before, or fewer (by is
	// negative). A row may come several times, and the sum may be 0.
	Row func(row []byte, by int) error // must not keep row
	// Long is called for each long list that changed; list is nil if it is not long
	// any more.
	Long func(s signature.Signature, list *cluster.LongList) error
}

// Scorer is a Search that scores the pairs that it finds.
type Scorer interface {
	Search
	// Score scores two texts as the search does.
	Score(Two) (Score, error)
}

// Kind is what a search emits.
type Kind int

// Kinds of search.
const (
	Sets   Kind = iota // perhaps-similar sets
	Pairs              // candidate pairs
	Scored             // candidate pairs with the search's scores
)

// Input is the input of a search. Each iterator can be used any number of times.
type Input struct {
	Postings  iter.Seq2[cluster.Posting, error] // by signature; in any order within one signature
	Different func() (int64, error)             // number of distinct signatures
	// Members returns the texts that have a signature, in any order.
	Members func(signature.Signature) ([]cluster.Key, error)
	// Concentrated reports whether the members of a list are of many pages of few sites.
	Concentrated func(members []cluster.Key) (bool, error)

	Rows  iter.Seq2[[]byte, error] // rows of Map, ascending, without repeats
	Texts iter.Seq2[Text, error]   // the texts that are compared

	Memory  cluster.Memory
	Workers int
}

// Text is a text to be compared, with its key.
type Text struct {
	Key  cluster.Key
	Text string
}

// RowSink receives what Map emits.
type RowSink struct {
	Row func(row []byte) error // must not keep row
	// Whole is called with the first signature of which no row was emitted yet. All
	// rows of earlier signatures were emitted, and the counts cover exactly these
	// signatures.
	Whole func(next signature.Signature) error
	// Long is called for each list that is long enough to be deleted, by signature.
	Long func(signature.Signature, cluster.LongList) error
}

// Sink receives what Find emits.
type Sink struct {
	Member func(cluster.Membership) error              // with kind Sets
	Pair   func(a, b cluster.Key, score float64) error // with kinds Pairs and Scored
}

// Counts are the counts of a search. Each search sets only some of them.
type Counts struct {
	cluster.ListCounts
	Edges   int64          `json:"distinct_edges,omitempty"` // not "edges", which ListCounts has
	Hamming *HammingCounts `json:"hamming,omitempty"`
	Join    *JoinCounts    `json:"join,omitempty"`
}

// Two is a pair of texts, in any order, without the rest of the archive.
type Two struct {
	Texts      [2]string
	Signatures [2][]signature.Signature // ascending, without repeats
	Shared     int                      // number of signatures that both have
}

// Meeting is what a search would do with two texts, as far as the two alone tell.
type Meeting struct {
	Candidates bool    // the two are candidates
	Least      int     // shared signatures needed to be candidates; 0: sharing does not decide
	Lists      bool    // they meet in signature lists, which a run may delete
	Exact      bool    // the search finds every pair that reaches its score
	Bits       *int    // limit of the bits in which signatures of candidates differ
	Tokens     *Tokens // only of a join
}

// Tokens counts the tokens of two texts and those in common.
type Tokens struct {
	Of     [2]int `json:"of"`
	Common int    `json:"common"`
}

// Score is a search's score of two texts.
type Score struct {
	Known, Near bool    // Known: the two texts tell whether they are near; Near: they are
	Scored      bool    // Similarity is set
	Similarity  float64 // from 0 to 1
	Measure     string  // name of the similarity
	Least       float64 // smallest similarity of near texts; above 1: something else decides
}
