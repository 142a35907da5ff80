// Package static writes the report of a run: a directory of HTML pages that opens
// from disk, without network and scripts. It is pure: it gets all numbers and
// texts, and a function that creates files.
//
// URIs, titles and texts are crawled. The pages show them as text, never as markup,
// and URIs never as links.
package static

import "neardup/report"

// Report is the content of the pages.
type Report struct {
	Title      string
	Statistics Statistics
	Clusters   []Cluster    // clusters with a page of their own, the largest first; they include those of Spans
	Samples    []Difference // from the lowest resemblance up

	Contained     []report.ContainedPage // the first pages that are contained in others
	ContainedLeft int64                  // further contained texts
}

// Statistics holds the numbers. The same workspace and options give the same
// numbers.
type Statistics struct {
	Program  string         `json:"program"` // with its version
	Method   Method         `json:"method"`
	Seed     uint64         `json:"seed"`    // of the samples
	Summary  report.Summary `json:"summary"` // without the stages' times
	Totals   Counts         `json:"totals"`
	Hosts    Hosts          `json:"hosts"`
	Periods  Periods        `json:"periods"`
	Evidence []Evidence     `json:"evidence"` // relations that occur, in the order of Relations
	Scores   Scores         `json:"scores"`
	Within   Span           `json:"one_host"` // clusters whose pages are all of one host
	Across   Span           `json:"several_hosts"`
	Audits   []Audit        `json:"audits,omitempty"`
	Keep     Keep           `json:"keep"`
}

// Keep holds the sums of a keep list with the default rules.
type Keep struct {
	Rules string `json:"rules"`
	report.Kept
}

// Method is the method that found the clusters.
type Method struct {
	Name     string    `json:"name"` // names of its parts
	Settings []Setting `json:"settings"`
}

// Setting is a setting that the method uses.
type Setting struct {
	Key   string `json:"key"` // SECTION.KEY
	Value string `json:"value"`
}

// Counts counts pages and the bytes of their payloads. Near-duplicates are the
// members of clusters other than the representative.
type Counts struct {
	Pages          int64 `json:"pages"`
	Bytes          int64 `json:"bytes"`
	Clustered      int64 `json:"clustered_pages"`
	Duplicates     int64 `json:"near_duplicates"`
	DuplicateBytes int64 `json:"near_duplicate_bytes"`
}

// Add adds other counts to c.
func (c *Counts) Add(o Counts) {
	c.Pages += o.Pages
	c.Bytes += o.Bytes
	c.Clustered += o.Clustered
	c.Duplicates += o.Duplicates
	c.DuplicateBytes += o.DuplicateBytes
}

// Named holds the counts of a host or a period.
type Named struct {
	Name string `json:"name"` // empty for URIs without a host
	Counts
}

// Hosts holds the counts by host: the registrable domain of the target URI, or its
// host if it has none.
type Hosts struct {
	Hosts      int64   `json:"hosts"`
	Duplicates int64   `json:"hosts_with_near_duplicates"`
	Top        []Named `json:"top"` // by bytes of near-duplicates, then near-duplicates, pages and name
	Others     Counts  `json:"others"`
}

// Periods holds the counts by date of capture. Periods without pages are left out.
type Periods struct {
	Unit    string  `json:"unit"` // month or year
	Periods []Named `json:"periods"`
	Others  Counts  `json:"others"`  // of periods that are not listed
	Undated Counts  `json:"undated"` // of pages without a valid WARC-Date
}

// Evidence counts the pages that are in their clusters by a relation.
type Evidence struct {
	Relation report.Relation `json:"relation"`
	Pages    int64           `json:"pages"`
	Bytes    int64           `json:"bytes"`
}

// Relations lists the relations by strength. Those up to Contained are verified
// against the representative, which has the text of these members.
var Relations = []report.Relation{report.Representative, report.Identical, report.Near, report.Alike, report.Contained, report.Contains,
	report.Linked, report.Judged}

// Bins of a distribution.
const Bins = 20

// Scores holds the distributions of the scores of members whose text is not the
// representative's.
type Scores struct {
	Pages       int64        `json:"pages"`
	Resemblance Distribution `json:"resemblance"`
	Containment Distribution `json:"containment"`
}

// Distribution is the distribution of a score. A tenth of the pages are below
// Tenth, and half of them below Median.
type Distribution struct {
	Tenth  report.Score `json:"tenth"`
	Median report.Score `json:"median"`
	Bins   [Bins]Bin    `json:"bins"` // bin i counts scores from i/20 to below (i+1)/20, the last one also 1
}

// Bin counts pages by relation.
type Bin struct {
	Near      int64 `json:"near"`
	Contained int64 `json:"contained"` // contained or contains
	Linked    int64 `json:"linked"`    // linked or judged
}

// Sum returns the number of all pages in the bin.
func (b Bin) Sum() int64 { return b.Near + b.Contained + b.Linked }

// Span holds the figures of the clusters whose pages are of one host, or of
// several.
type Span struct {
	Clusters   int64    `json:"clusters"`
	Pages      int64    `json:"pages"`
	Duplicates int64    `json:"near_duplicates"`
	Bytes      int64    `json:"near_duplicate_bytes"`
	Largest    []string `json:"largest"` // ids
}

// Audit is the result of people's judgements of a sample of pairs.
type Audit struct {
	Name      string  `json:"name"`
	Sample    string  `json:"sample"`            // pages or verified pairs
	Different bool    `json:"different"`         // only pairs whose texts differ
	Missing   int     `json:"missing,omitempty"` // strata without a decided pair
	Pairs     int     `json:"pairs"`             // judged true or false
	Value     float64 `json:"precision"`
	Low       float64 `json:"low"` // lower end of the 95% interval
	High      float64 `json:"high"`
	Judges    int     `json:"judges"`
	Outdated  bool    `json:"outdated"` // the clusters have changed since the sample was drawn
}

// Page is a page of the archive.
type Page struct {
	RecordID string
	URI      string
	Date     string
	Title    string // empty if there is none, or if it was not looked up
}

// Cluster is a cluster with its first members.
type Cluster struct {
	ID      string
	Size    int
	Page           // the representative
	First   string // earliest date
	Last    string
	Hosts   []Named // the hosts with the most members, at most 20; Clustered counts them
	HostSum int     // number of all hosts
	Bytes   int64   // of near-duplicates
	Lowest  report.Score
	By      []Evidence // as in Statistics
	Members []Member   // the representative first, then by date and record ID; at most MaxMembers

	Differences []Difference // between members and the pages that they were verified against
}

// MaxMembers limits the listed members of a cluster.
const MaxMembers = 500

// Member is a page of a cluster.
type Member struct {
	Page
	Bytes       int64
	Relation    report.Relation
	Resemblance report.Score
	Containment report.Score
	Against     string // record ID of the page that it was verified against
	AgainstAt   int    // index of that page in Members, from 1; 0 if it is not listed
}

// Difference is a pair of pages that were verified against each other, with the
// places where their texts differ.
type Difference struct {
	Name        string // why the pair is shown
	Cluster     string // ID of the cluster
	A, B        Page   // B is a member that was verified against A
	Relation    report.Relation
	Resemblance report.Score
	Containment report.Score
	Same        int // characters that both have
	OnlyA       int
	OnlyB       int
	Moved       int       // characters of both texts
	Excerpts    []Excerpt // where they differ the most, in the order of the texts
	Left        int       // number of other places
}

// Excerpt is a place where two texts differ, with the text around it.
type Excerpt []Piece

// Piece is a part of an excerpt.
type Piece struct {
	Kind PieceKind
	Text string
	Left int    // characters left out between Text and End
	End  string // empty if nothing after the gap is shown
}

// PieceKind tells which text has a piece.
type PieceKind string

// Kinds of pieces.
const (
	Both   PieceKind = "both"
	OnlyA  PieceKind = "a"
	OnlyB  PieceKind = "b"
	MovedA PieceKind = "moved-a" // at this place in a, at another in b
	MovedB PieceKind = "moved-b"
)
