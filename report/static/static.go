// Package static writes the report of a run: a directory of HTML pages that
// opens from disk, without network and without script. It is pure: it is given
// all numbers and texts, and how to make a file.
//
// URIs, titles and texts are crawled. They are shown as text, never as markup,
// and URIs never as links.
package static

import "neardup/report"

// Report is what the pages show.
type Report struct {
	Title      string
	Statistics Statistics
	Clusters   []Cluster    // that have a page of their own, the largest first; those of Spans are among them
	Samples    []Difference // the least alike first
}

// Statistics are the numbers. The same workspace and options give the same.
type Statistics struct {
	Program  string         `json:"program"` // and its version
	Method   Method         `json:"method"`
	Seed     uint64         `json:"seed"`    // of the samples
	Summary  report.Summary `json:"summary"` // without the stages' times
	Totals   Counts         `json:"totals"`
	Hosts    Hosts          `json:"hosts"`
	Periods  Periods        `json:"periods"`
	Evidence []Evidence     `json:"evidence"` // of the relations that there are, in the order of Relations
	Scores   Scores         `json:"scores"`
	Within   Span           `json:"one_host"` // clusters of pages of one host
	Across   Span           `json:"several_hosts"`
	Audits   []Audit        `json:"audits,omitempty"`
}

// Method is how the clusters were found.
type Method struct {
	Name     string    `json:"name"` // its parts
	Settings []Setting `json:"settings"`
}

// Setting is one that the method uses.
type Setting struct {
	Key   string `json:"key"` // SECTION.KEY
	Value string `json:"value"`
}

// Counts are of pages, and of bytes of their payload. Redundant are the members
// of clusters that are not the representative.
type Counts struct {
	Pages          int64 `json:"pages"`
	Bytes          int64 `json:"bytes"`
	Clustered      int64 `json:"clustered_pages"`
	Redundant      int64 `json:"redundant_pages"`
	RedundantBytes int64 `json:"redundant_bytes"`
}

// Add adds up.
func (c *Counts) Add(o Counts) {
	c.Pages += o.Pages
	c.Bytes += o.Bytes
	c.Clustered += o.Clustered
	c.Redundant += o.Redundant
	c.RedundantBytes += o.RedundantBytes
}

// Named are the counts of a host or a period.
type Named struct {
	Name string `json:"name"` // a host may be empty: of URIs without one
	Counts
}

// Hosts are the counts by host, which is the registrable domain of the target
// URI, or its host where it has none.
type Hosts struct {
	Hosts     int64   `json:"hosts"`
	Redundant int64   `json:"hosts_with_redundant_pages"`
	Top       []Named `json:"top"` // by redundant bytes, then redundant pages, pages and name
	Others    Counts  `json:"others"`
}

// Periods are the counts by date of capture. Periods without pages are not
// there.
type Periods struct {
	Unit    string  `json:"unit"` // month or year
	Periods []Named `json:"periods"`
	Others  Counts  `json:"others"`  // of periods beyond those listed
	Undated Counts  `json:"undated"` // of pages whose WARC-Date is no date
}

// Evidence says how many pages are in their clusters by a relation.
type Evidence struct {
	Relation report.Relation `json:"relation"`
	Pages    int64           `json:"pages"`
	Bytes    int64           `json:"bytes"`
}

// Relations are in order of what they say: those up to Contained are verified
// against the representative, which has what they have.
var Relations = []report.Relation{report.Representative, report.Identical, report.Near, report.Contained, report.Contains,
	report.Linked, report.Judged}

// Bins of a distribution.
const Bins = 20

// Scores are those of members whose text is not the representative's.
type Scores struct {
	Pages       int64        `json:"pages"`
	Resemblance Distribution `json:"resemblance"`
	Containment Distribution `json:"containment"`
}

// Distribution is that of a score. The tenth is what a tenth of the pages are
// below, the median what half of them are.
type Distribution struct {
	Tenth  report.Score `json:"tenth"`
	Median report.Score `json:"median"`
	Bins   [Bins]Bin    `json:"bins"` // i: from i/20 to under (i+1)/20, the last with 1
}

// Bin counts pages by how they are in their clusters.
type Bin struct {
	Near      int64 `json:"near"`
	Contained int64 `json:"contained"` // or contains
	Linked    int64 `json:"linked"`    // or judged
}

// Sum returns all of the bin.
func (b Bin) Sum() int64 { return b.Near + b.Contained + b.Linked }

// Span are the clusters whose pages are of one host, or of several.
type Span struct {
	Clusters  int64    `json:"clusters"`
	Pages     int64    `json:"pages"`
	Redundant int64    `json:"redundant_pages"`
	Bytes     int64    `json:"redundant_bytes"`
	Largest   []string `json:"largest"` // ids
}

// Audit is what people said of a sample of pairs.
type Audit struct {
	Name      string  `json:"name"`
	Sample    string  `json:"sample"`            // pages or verified pairs
	Different bool    `json:"different"`         // only pairs whose texts differ
	Missing   int     `json:"missing,omitempty"` // strata of which nothing is judged
	Pairs     int     `json:"pairs"`             // judged true or false
	Value     float64 `json:"precision"`
	Low       float64 `json:"low"` // of the 95% interval
	High      float64 `json:"high"`
	Judges    int     `json:"judges"`
	Outdated  bool    `json:"outdated"` // it was drawn from clusters that are there no more
}

// Page is a page of the archive.
type Page struct {
	RecordID string
	URI      string
	Date     string
	Title    string // empty: none, or not looked up
}

// Cluster is a cluster with its first members.
type Cluster struct {
	ID      string
	Size    int
	Page           // the representative
	First   string // date, of members that have one
	Last    string
	Hosts   []Named // those with most members, at most 20; Clustered counts them
	HostSum int     // all
	Bytes   int64   // redundant
	Lowest  report.Score
	By      []Evidence // as in Statistics
	Members []Member   // the representative first, then by date and record id; at most MostMembers

	Differences []Difference // of members and what they were verified against
}

// MostMembers are those that are listed of a cluster.
const MostMembers = 500

// Member is a page of a cluster.
type Member struct {
	Page
	Bytes       int64
	Relation    report.Relation
	Resemblance report.Score
	Containment report.Score
	Against     string // record id of what it was verified against
	AgainstAt   int    // its number in Members, from 1; 0: it is not listed
}

// Difference is a pair of pages that were verified against each other, and where
// their texts differ.
type Difference struct {
	Name        string // why it is shown
	Cluster     string // id
	A, B        Page   // B is a member that was verified against A
	Relation    report.Relation
	Resemblance report.Score
	Containment report.Score
	Same        int // characters that both have
	OnlyA       int
	OnlyB       int
	Moved       int       // of both texts
	Excerpts    []Excerpt // where they differ most, in the order of the texts
	Left        int       // other places
}

// Excerpt is a place where two texts differ, with what is around it.
type Excerpt []Piece

// Piece is a part of an excerpt.
type Piece struct {
	Kind PieceKind
	Text string
	Left int    // characters left out between Text and End
	End  string // empty where nothing behind what is left out is shown
}

// PieceKind says which text has a piece.
type PieceKind string

// The kinds of pieces.
const (
	Both   PieceKind = "both"
	OnlyA  PieceKind = "a"
	OnlyB  PieceKind = "b"
	MovedA PieceKind = "moved-a" // in a at this place, in b at another
	MovedB PieceKind = "moved-b"
)
