// Package report writes clusters in the formats of docs/format.md. It is pure:
// it writes to the writers that it is given.
package report

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
)

// Cluster is a group of near-duplicate pages.
type Cluster struct {
	ID             string   `json:"cluster"` // id of the representative's text, in hexadecimal
	Size           int      `json:"size"`
	Representative string   `json:"representative"` // its record id
	Members        []Member `json:"members"`        // the representative first, then by date and record id
}

// Relation says how a member belongs to its cluster.
type Relation string

// The relations of a member to the page that it was verified against.
const (
	Representative Relation = "representative"
	Identical      Relation = "identical" // the same visible text
	Near           Relation = "near"      // resemblance reaches its threshold
	Contained      Relation = "contained" // the member is contained in the other
	Contains       Relation = "contains"  // the member contains the other
	Linked         Relation = "linked"    // verified against another member, not the representative
	Judged         Relation = "judged"    // people judged that it belongs to the other; the scores are those of the two all the same
)

// Member is a page of a cluster, with its evidence.
type Member struct {
	RecordID        string   `json:"record_id"`
	URI             string   `json:"uri"`
	Date            string   `json:"date"`
	WARC            string   `json:"warc"`            // name of the file
	Path            string   `json:"path"`            // of the file, as it was given
	Entry           string   `json:"entry,omitempty"` // of the file, if that is a WACZ file
	Offset          int64    `json:"offset"`          // of the record, or of the gzip member that it starts in
	Digest          string   `json:"digest"`
	Relation        Relation `json:"relation"`
	Resemblance     Score    `json:"resemblance"`
	Containment     Score    `json:"containment"` // of the shorter in the longer
	VerifiedAgainst string   `json:"verified_against"`
	RevisitOf       string   `json:"revisit_of,omitempty"` // record id of the capture that a revisit repeats
	Chosen          *Chosen  `json:"chosen,omitempty"`     // what a keep list says of the page, where that was asked for
	Bytes           int64    `json:"-"`                    // of the payload
	AgainstDocument string   `json:"-"`                    // docID of the page that it was verified against
	Source          string   `json:"-"`                    // the workspace's name of the file
	Capture         `json:"-"`
}

// Capture has the fields of a page that only some formats show.
type Capture struct {
	Document    string // its docID, in hexadecimal
	Title       string
	Status      int    // of the HTTP answer; 0: not known
	RecordBytes int64  // of the record in its file; 0 if unknown, or not alone in a compressed member
	MediaType   string // type as which the page was read
	TypeSniffed bool   // the media type is that of the content, not the declared one
	Charset     string
	TextBytes   int64  // of the visible text
	Site        string // registrable domain or host; empty if it has none
	Text        string // textID, in hexadecimal
	Clipped     bool   // not all of the page, or of its text, is known
}

// Score is a similarity from 0 to 1, written with four decimals.
type Score float64

// rounded returns the score with four decimals. It is 1 only if all is the same.
func (s Score) rounded() float64 {
	r := math.Round(float64(s)*1e4) / 1e4
	if s < 1 {
		return min(r, 0.9999)
	}
	return r
}

func (s Score) String() string { return strconv.FormatFloat(s.rounded(), 'f', -1, 64) }

// Short returns the score with two decimals. It is 1.00 only if all is the same.
func (s Score) Short() string {
	r := math.Round(float64(s)*100) / 100
	if s < 1 {
		r = min(r, 0.99)
	}
	return strconv.FormatFloat(r, 'f', 2, 64)
}

// MarshalJSON implements json.Marshaler.
func (s Score) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// Writer writes clusters one after another. Close ends the output, but does not
// close the underlying writer.
type Writer interface {
	Write(Cluster) error
	Close() error
}

// NewJSONL returns a writer of one line of JSON for each cluster.
func NewJSONL(w io.Writer) Writer {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return jsonl{e}
}

type jsonl struct{ e *json.Encoder }

func (j jsonl) Write(c Cluster) error { return j.e.Encode(c) }
func (j jsonl) Close() error          { return nil }

// NewCSV returns a writer of one line of CSV for each member.
func NewCSV(w io.Writer) Writer { return &csvWriter{w: csv.NewWriter(w)} }

// NewChosenCSV returns a writer that also writes what was chosen for each member.
func NewChosenCSV(w io.Writer) Writer { return &csvWriter{w: csv.NewWriter(w), chosen: true} }

type csvWriter struct {
	w              *csv.Writer
	header, chosen bool
}

var csvHeader = []string{"cluster", "size", "representative", "record_id", "uri", "date", "warc", "path", "entry", "offset", "digest",
	"relation", "resemblance", "containment", "verified_against", "revisit_of"}

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
		line := []string{cl.ID, strconv.Itoa(cl.Size), cl.Representative, m.RecordID, m.URI, m.Date, m.WARC, m.Path, m.Entry,
			strconv.FormatInt(m.Offset, 10), m.Digest, string(m.Relation), m.Resemblance.String(), m.Containment.String(), m.VerifiedAgainst, m.RevisitOf}
		if c.chosen {
			line = append(line, m.Chosen.columns()...)
		}
		for i := range line {
			line[i] = inert(line[i])
		}
		if err := c.w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func (c *csvWriter) Close() error {
	if err := c.begin(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

// inert returns a crawled value such that spreadsheets do not take it for a
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
