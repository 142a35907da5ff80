// Package report writes clusters in the formats of docs/format.md. It is pure: it
// writes only to the writers that it is given.
package report

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"

	"neardup/verify"
)

// Cluster is a group of near-duplicate pages.
type Cluster struct {
	ID             string   `json:"cluster"` // hexadecimal ID of the representative's text
	Size           int      `json:"size"`
	Representative string   `json:"representative"`         // its record id
	EstimatedBy    string   `json:"estimated_by,omitempty"` // by what the scores estimate a resemblance; empty: they are computed from the texts
	Members        []Member `json:"members"`                // the representative first, then by date and record id

	// Pages that members contain and that are in no cluster with them, by the
	// member, then by date and record ID.
	Contained []ContainedPage `json:"contained,omitempty"`

	// A cluster of many pages may come in parts, one after another. Each has the fields
	// above, but only its members, and only the last has the contained pages.
	From int  `json:"-"` // members of the parts before
	More bool `json:"-"` // another part follows
}

// estimatedBy returns the quantity that the scores of a member come from, if they are
// estimates. The scores of the same text are not.
func (c Cluster) estimatedBy(m Member) string {
	if m.Relation == Representative || m.Relation == Identical {
		return ""
	}
	return c.EstimatedBy
}

// Relation is how a member belongs to its cluster.
type Relation string

// Resembles reports whether the relation is one of texts that resemble each other,
// not of containment.
func (r Relation) Resembles() bool { return r == Near || r == Alike }

// Relations of a member to the page that it was verified against.
const (
	Representative Relation = "representative"
	Identical      Relation = "identical" // the same visible text
	Near           Relation = "near"      // resemblance reaches its threshold
	Alike          Relation = "alike"     // the resemblance of the sentences without their numbers reaches its threshold; the scores are those of the sentences
	Contained      Relation = "contained" // the member is contained in the other
	Contains       Relation = "contains"  // the member contains the other
	Linked         Relation = "linked"    // verified against a member other than the representative
	Judged         Relation = "judged"    // people judged that it belongs to the other; the scores are still those of the two texts
)

// RelationOf returns the relation of a near pair of texts of these lengths, seen from
// the second text. Texts of one length are near where each has the other in it.
func RelationOf(v verify.Verdict, first, second int) Relation {
	switch {
	case v.Alike:
		return Alike
	case !v.OnlyContained(first, second):
		return Near
	case second < first:
		return Contained
	}
	return Contains
}

// Inverse returns the relation seen from the other text.
func (r Relation) Inverse() Relation {
	switch r {
	case Contained:
		return Contains
	case Contains:
		return Contained
	}
	return r
}

// Member is a page of a cluster, with its evidence.
type Member struct {
	RecordID        string   `json:"record_id"`
	URI             string   `json:"uri"`
	Date            string   `json:"date"`
	Title           string   `json:"title,omitempty"`       // the heading of the main content if it is known, otherwise the page's title
	Byline          string   `json:"byline,omitempty"`      // author and date of the main content, as the page writes them
	Unsure          bool     `json:"main_unsure,omitempty"` // the main content is uncertain: all visible text was compared
	WARC            string   `json:"warc"`                  // name of the file
	Path            string   `json:"path"`                  // path of the file as it was given
	Entry           string   `json:"entry,omitempty"`       // entry of the file, if that is a WACZ file
	Offset          int64    `json:"offset"`                // of the record, or of the compressed member that it starts in
	Digest          string   `json:"digest"`
	Relation        Relation `json:"relation"`
	Resemblance     Score    `json:"resemblance"`
	Containment     Score    `json:"containment"` // of the shorter text in the longer
	VerifiedAgainst string   `json:"verified_against"`
	RevisitOf       string   `json:"revisit_of,omitempty"` // record ID of the capture that a revisit refers to
	Chosen          *Chosen  `json:"chosen,omitempty"`     // what a keep list decides about the page, if that was requested
	Bytes           int64    `json:"-"`                    // payload bytes
	AgainstDocument string   `json:"-"`                    // docID of the page that it was verified against
	AgainstText     string   `json:"-"`                    // textID of that page
	Source          string   `json:"-"`                    // ID of the file's source in the workspace
	Capture         `json:"-"`
}

// Capture has the fields of a page that only some formats show.
type Capture struct {
	Document    string // its docID, in hexadecimal
	Status      int    // status of the HTTP response; 0: unknown
	RecordBytes int64  // bytes of the record in its file; 0 if unknown, or if its compressed member holds more
	MediaType   string // media type as which the page was read
	TypeSniffed bool   // the content decided the media type, not the declaration
	Charset     string
	TextBytes   int64  // of the visible text
	Site        string // registrable domain or host; empty if there is none
	Text        string // textID, hexadecimal
	Clipped     bool   // part of the page, or of its text, is unknown
	Derived     bool   // it is text that was made from a capture, and no capture
}

// Score is a similarity from 0 to 1, written with four decimals.
type Score float64

// rounded returns the score with four decimals. It is 1 only if the score is
// exactly 1.
func (s Score) rounded() float64 {
	r := math.Round(float64(s)*1e4) / 1e4
	if s < 1 {
		return min(r, 0.9999)
	}
	return r
}

func (s Score) String() string { return string(s.append(nil)) }

func (s Score) append(b []byte) []byte { return strconv.AppendFloat(b, s.rounded(), 'f', -1, 64) }

// Short returns the score with two decimals. It is 1.00 only if the score is
// exactly 1.
func (s Score) Short() string {
	r := math.Round(float64(s)*100) / 100
	if s < 1 {
		r = min(r, 0.99)
	}
	return strconv.FormatFloat(r, 'f', 2, 64)
}

// MarshalJSON implements json.Marshaler.
func (s Score) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// Writer writes clusters, or their parts, one after another. Close ends the output, but does not
// close the underlying writer.
type Writer interface {
	Write(Cluster) error
	Close() error
}

// NewCSV returns a writer of one line of CSV for each member.
func NewCSV(w io.Writer) Writer { return &csvWriter{w: csv.NewWriter(w)} }

// NewHeadlessCSV returns a writer of the same lines without the header, for a file that
// continues another.
func NewHeadlessCSV(w io.Writer) Writer { return &csvWriter{w: csv.NewWriter(w), header: true} }

// NewChosenCSV returns a writer that also writes the choice for each member.
func NewChosenCSV(w io.Writer) Writer { return &csvWriter{w: csv.NewWriter(w), chosen: true} }

type csvWriter struct {
	w      *csv.Writer
	header bool // the header is written
	chosen bool
	line   []string // memory for a line
}

var csvHeader = []string{"cluster", "size", "representative", "record_id", "uri", "date", "warc", "path", "entry", "offset", "digest",
	"relation", "resemblance", "containment", "verified_against", "revisit_of", "title", "byline", "main_unsure", "estimated_by"}

func (c *csvWriter) begin() error {
	if c.header {
		return nil
	}
	c.header = true
	if c.chosen {
		return c.w.Write(slices.Concat(csvHeader, chosenHeader))
	}
	return c.w.Write(csvHeader)
}

func (c *csvWriter) Write(cl Cluster) error {
	if err := c.begin(); err != nil {
		return err
	}
	for _, m := range cl.Members {
		line := append(c.line[:0], cl.ID, strconv.Itoa(cl.Size), cl.Representative, m.RecordID, m.URI, m.Date, m.WARC, m.Path, m.Entry,
			strconv.FormatInt(m.Offset, 10), m.Digest, string(m.Relation), m.Resemblance.String(), m.Containment.String(), m.VerifiedAgainst, m.RevisitOf,
			m.Title, m.Byline, trueOrEmpty(m.Unsure), cl.estimatedBy(m))
		if c.chosen {
			line = append(line, m.Chosen.columns()...)
		}
		for i := range line {
			line[i] = inert(line[i])
		}
		if err := c.w.Write(line); err != nil {
			return err
		}
		c.line = line
	}
	c.w.Flush() // whoever counts what a cluster takes gets all of it
	return c.w.Error()
}

func (c *csvWriter) Close() error {
	if err := c.begin(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

// inert returns a crawled value in a form that spreadsheets do not take for a
// formula.
func inert(s string) string {
	if s != "" {
		switch s[0] {
		case '=', '+', '-', '@', '\t':
			return "'" + s
		}
	}
	return s
}

// trueOrEmpty returns "true" or "".
func trueOrEmpty(b bool) string {
	if b {
		return "true"
	}
	return ""
}
