// Package review shows the clusters of a workspace in a browser, and takes
// judgements of them. It does not know workspaces: an Archive gives it what it
// shows.
//
// Everything from an Archive was crawled. It is shown as text, never as markup.
package review

import (
	"context"
	"errors"

	"neardup/audit"
	"neardup/explain"
	"neardup/report"
)

// Errors that are shown as such. Any other error is a failure.
var (
	ErrNotFound = errors.New("not found") // there is no such cluster, page or audit
	ErrRefused  = errors.New("refused")   // the request cannot be done; the wrapping error says why
)

// Archive is a workspace whose run is done. Several goroutines call its methods.
// Lists come in parts: After is the Next of the previous part, or empty for the
// first.
type Archive interface {
	Overview(ctx context.Context) (Overview, error)
	Clusters(ctx context.Context, q ClusterQuery) (ClusterList, error)
	Pages(ctx context.Context, q PageQuery) (PageList, error)
	Contained(ctx context.Context, after string, limit int) (ContainedList, error)
	Cluster(ctx context.Context, id, after string, limit int) (Cluster, error)
	Pair(ctx context.Context, a, b string) (Pair, error) // documents are in hexadecimal
	Page(ctx context.Context, document string) (Page, error)
	Auditor
}

// Auditor draws samples and keeps judgements.
type Auditor interface {
	Audits(ctx context.Context) ([]audit.Audit, error)
	Draw(ctx context.Context, name string, d audit.Design) (audit.Audit, error)
	Audit(ctx context.Context, name string) (audit.Audit, error)
	Item(ctx context.Context, name string, i int) (audit.Item, error)            // from 0
	Judge(ctx context.Context, j audit.Judgement) error                          // replaces the judge's earlier one
	Withdraw(ctx context.Context, p audit.Pair, judge string) error              // takes a judgement back
	Judgements(ctx context.Context, p audit.Pair) ([]audit.Judgement, error)     // of all judges, by name
	Progress(ctx context.Context, name, judge string) (audit.Progress, error)    // of one judge
	Labels(ctx context.Context, name string) (audit.Labels, error)               // of all judges
	Result(ctx context.Context, name string) (audit.Result, error)               // of all judges
	Truth(ctx context.Context, name string) (pages, pairs []byte, err error)     // as package truth reads them
	Enforced(ctx context.Context, after string, limit int) (EnforcedList, error) // and whether the clusters follow them
}

// Overview is the content of the start page.
type Overview struct {
	Summary    report.Summary
	Method     string // name of the config's method, or of its parts
	First      string // earliest date of a page in a cluster
	Last       string
	Generation string // identifies the clustering
}

// ClusterQuery selects clusters, which come from the largest down. Zero values
// select all.
type ClusterQuery struct {
	MinSize, MaxSize int
	After            string
	Limit            int
}

// ClusterList is a part of the clusters.
type ClusterList struct {
	Clusters []ClusterRow
	Next     string // empty: there are no more
}

// ClusterRow is a cluster in a list.
type ClusterRow struct {
	ID          string
	Size        int
	Document    string // of the representative, as are the next four
	RecordID    string
	URI         string
	Date        string
	Title       string
	First, Last string       // dates
	Hosts       int          // number of distinct hosts
	Identical   int          // members with the representative's text
	Lowest      report.Score // smallest resemblance of a member
}

// PageQuery selects pages. With a URI prefix or a host they come by SURT and date,
// otherwise by date. Zero values select all.
type PageQuery struct {
	URI              string // prefix, with or without scheme
	Host             string // with its subdomains
	From, To         string // dates or their beginnings; To is inclusive
	MinSize, MaxSize int    // size of the cluster; MinSize 0 also selects pages in no cluster
	After            string
	Limit            int
}

// PageList is a part of the pages.
type PageList struct {
	Pages []PageRow
	Next  string // empty: there are no more
	// Partial means that the list ends early, because too many pages did not match.
	// Next continues it.
	Partial bool
}

// PageRow is a page in a list.
type PageRow struct {
	Document string
	RecordID string
	URI      string
	Date     string
	Title    string
	Cluster  string // empty: it is in none
	Size     int    // of the cluster
}

// ContainedList is a part of the pages that are contained in others.
type ContainedList struct {
	Pages []report.ContainedPage
	Next  string // empty: there are no more
}

// Cluster is a cluster with a part of its members: the representative first, then
// by date and record ID.
type Cluster struct {
	ClusterRow
	Timeline []Bucket // members by month, or by year if there are many; without gaps
	HostList []Bucket // the hosts with most members, at most 20
	Members  []report.Member
	Next     string
}

// Bucket counts pages.
type Bucket struct {
	Label string
	Pages int
}

// Pair is a pair of pages.
type Pair struct {
	Explanation explain.Explanation
	Documents   [2]string
	Texts       [2]string // the compared texts; positions in the explanation's diff refer to them, in code points
}

// Page is a page of the archive.
type Page struct {
	PageRow
	Fields []Field // its metadata, by the names of docs/format.md
	Text   string  // visible text
}

// Field is a name with its value.
type Field struct{ Name, Value string }

// EnforcedList is a part of the judged pairs that clusters have to follow.
type EnforcedList struct {
	Pairs []EnforcedPair
	Next  string
}

// EnforcedPair is a judged pair that clusters have to follow.
type EnforcedPair struct {
	audit.Pair
	Verdict   audit.Verdict // true: they must be joined; false: they must not
	Judges    []string
	Documents [2]string // empty: not in the workspace
	URIs      [2]string
	// State is "followed", "pending" (the clusters are older; run again), or why
	// the pair cannot be followed.
	State string
}
