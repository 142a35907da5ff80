package report

import (
	"fmt"
	"io"

	"neardup/screen"
)

// Answer is what an archive has of a page that was looked up.
type Answer struct {
	Page    AskedPage    `json:"page"`
	Verdict string       `json:"verdict"` // one of the Verdict constants
	Reason  string       `json:"reason,omitempty"`
	Cluster string       `json:"cluster,omitempty"` // cluster of the best match that the page would share a cluster with
	Matches []Match      `json:"matches"`           // the best first
	Work    LookupWork   `json:"work"`
	Archive ArchiveState `json:"archive"`
}

// Verdicts of an Answer.
const (
	VerdictIdentical = "identical" // the archive has a page with the same text
	VerdictNear      = "near"      // the archive has a near page
	VerdictContained = "contained" // the archive has only a page that contains the page's text
	VerdictContains  = "contains"  // the archive has only a page whose text the page contains
	VerdictNew       = "new"       // the archive has none of these
	VerdictLeftOut   = "left-out"  // the settings leave out such a page
	VerdictNoPage    = "no-page"   // there is no text to look up; Reason says why
)

// AskedPage is the page that was looked up.
type AskedPage struct {
	URI        string `json:"uri,omitempty"`
	RecordID   string `json:"record_id,omitempty"` // of a record in an archive file
	Date       string `json:"date,omitempty"`
	Title      string `json:"title,omitempty"`
	TextID     string `json:"text_id,omitempty"`
	Characters int    `json:"characters"`
	Signatures int    `json:"signatures"`
	Unsure     bool   `json:"main_unsure,omitempty"`
}

// Match is a text of the archive with the pages that have it.
type Match struct {
	Relation    Relation `json:"relation"` // relation of the page to the match: identical, near, alike, contained (in it) or contains (it)
	Resemblance Score    `json:"resemblance"`
	Containment Score    `json:"containment"`
	Shared      int      `json:"shared_signatures"` // in lists that count
	TextID      string   `json:"text_id"`
	Cluster     string   `json:"cluster,omitempty"`
	Pages       int      `json:"pages"`             // number of pages that have the text
	More        bool     `json:"more,omitempty"`    // there are more pages than were counted
	Partial     bool     `json:"partial,omitempty"` // earliest, latest and the named page are of only some of the pages
	RecordID    string   `json:"record_id"`         // of one of these pages: one of the same URI, otherwise the latest
	URI         string   `json:"uri"`
	Date        string   `json:"date"`
	Title       string   `json:"title,omitempty"`
	Earliest    string   `json:"earliest"` // date of the earliest capture
	Latest      string   `json:"latest"`
}

// LookupWork counts what a lookup did.
type LookupWork struct {
	Lists      int `json:"lists"`         // lists of the page's signatures that the archive has and that count
	Deleted    int `json:"lists_deleted"` // lists that are too long, as in a run
	Unread     int `json:"lists_unread"`  // lists over the bound of a lookup
	Candidates int `json:"candidates"`    // texts in these lists
	Compared   int `json:"compared"`
	OverBudget int `json:"over_budget"` // candidates that were not compared
}

// ArchiveState identifies the state of the archive that an answer is about.
type ArchiveState struct {
	Generation string `json:"generation"` // identifies the clusters; after a change answers may differ
	AsOf       string `json:"as_of"`      // when the workspace was last written, RFC 3339 in UTC
	Documents  int64  `json:"documents"`
	Texts      int64  `json:"texts"`
}

// WriteText writes the answer as text: a line for the page and one for each match.
func (a Answer) WriteText(out io.Writer) error {
	name := orDash(a.Page.URI)
	if a.Page.Date != "" {
		name = a.Page.Date + "  " + name
	}
	verdict := a.Verdict
	if a.Reason != "" {
		verdict += " (" + a.Reason + ")"
	}
	if _, err := fmt.Fprintf(out, "%s  %s\n", verdict, screen.Columns(name, 200)); err != nil {
		return err
	}
	for _, m := range a.Matches {
		pages := fmt.Sprintf("%d pages", m.Pages)
		switch {
		case m.More:
			pages = fmt.Sprintf("over %d pages", m.Pages)
		case m.Pages == 1:
			pages = "1 page"
		}
		cluster := "no cluster"
		if m.Cluster != "" {
			cluster = "cluster " + m.Cluster[:min(8, len(m.Cluster))]
		}
		_, err := fmt.Fprintf(out, "  %-9s  resemblance %s  containment %s  %d of %d signatures  %s, the latest %s  %s\n             %s  %s\n",
			m.Relation, m.Resemblance, m.Containment, m.Shared, a.Page.Signatures, pages, screen.Printable(orDash(m.Latest)), cluster, screen.Columns(orDash(m.Date), 40), screen.Columns(m.URI, 200))
		if err != nil {
			return err
		}
	}
	if a.Work.OverBudget+a.Work.Unread > 0 {
		_, err := fmt.Fprintf(out, "  not compared: %d texts, and %d signature lists\n", a.Work.OverBudget, a.Work.Unread)
		return err
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
