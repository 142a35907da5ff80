// Package review shows the clusters of a workspace in a browser, and takes
// judgements of them. It knows no workspace: what it shows, an Archive gives.
//
// All that an Archive gives was crawled, and is shown as text, never as markup.
package review

import (
	"context"
	"errors"

	"neardup/audit"
	"neardup/explain"
	"neardup/report"
)

// Errors that are shown as what they are; any other is a failure.
var (
	ErrNotFound = errors.New("not found") // there is no such cluster, page or audit
	ErrRefused  = errors.New("refused")   // what was asked for cannot be done; the error that wraps it says why
)

// Archive is what is shown: a workspace whose run is done. Its methods are called
// by several goroutines at once. Lists come a part at a time: After is where the
// part before ended (its Next), empty for the first.
type Archive interface {
	Overview(ctx context.Context) (Overview, error)
	Clusters(ctx context.Context, q ClusterQuery) (ClusterList, error)
	Pages(ctx context.Context, q PageQuery) (PageList, error)
	Cluster(ctx context.Context, id, after string, limit int) (Cluster, error)
	Pair(ctx context.Context, a, b string) (Pair, error) // documents, in hexadecimal
	Page(ctx context.Context, document string) (Page, error)
	Auditor
}

// Auditor draws samples and keeps judgements.
type Auditor interface {
	Audits(ctx context.Context) ([]audit.Audit, error)
	Draw(ctx context.Context, name string, d audit.Design) (audit.Audit, error)
	Audit(ctx context.Context, name string) (audit.Audit, error)
	Item(ctx context.Context, name string, i int) (audit.Item, error)            // from 0
	Judge(ctx context.Context, j audit.Judgement) error                          // in place of the judge's own of before
	Withdraw(ctx context.Context, p audit.Pair, judge string) error              // takes a judgement back
	Judgements(ctx context.Context, p audit.Pair) ([]audit.Judgement, error)     // of all judges, by name
	Progress(ctx context.Context, name, judge string) (audit.Progress, error)    // of one judge
	Labels(ctx context.Context, name string) (audit.Labels, error)               // of all judges
	Result(ctx context.Context, name string) (audit.Result, error)               // of all judges
	Truth(ctx context.Context, name string) (pages, pairs []byte, err error)     // as package truth reads them
	Enforced(ctx context.Context, after string, limit int) (EnforcedList, error) // and whether the clusters follow them
}

// Overview is the first page.
type Overview struct {
	Summary    report.Summary
	Method     string // name of the config's method, or its parts
	First      string // earliest date of a page in a cluster
	Last       string
	Generation string // names the clustering
}

// ClusterQuery asks for clusters, the largest first. Zero values ask for all.
type ClusterQuery struct {
	MinSize, MaxSize int
	After            string
	Limit            int
}

// ClusterList is a part of them.
type ClusterList struct {
	Clusters []ClusterRow
	Next     string // empty: there are no more
}

// ClusterRow is a cluster in a list.
type ClusterRow struct {
	ID          string
	Size        int
	Document    string // the representative, as the next four
	RecordID    string
	URI         string
	Date        string
	Title       string
	First, Last string       // dates
	Hosts       int          // different hosts
	Identical   int          // members with the representative's text
	Lowest      report.Score // least resemblance of a member
}

// PageQuery asks for pages. With a URI prefix or a host they come by SURT and
// date, else by date. Zero values ask for all.
type PageQuery struct {
	URI              string // prefix, with or without scheme
	Host             string // with its subdomains
	From, To         string // dates or their beginnings; To is inclusive
	MinSize, MaxSize int    // of the cluster; MinSize 0 also gives pages that are in none
	After            string
	Limit            int
}

// PageList is a part of them.
type PageList struct {
	Pages []PageRow
	Next  string // empty: there are no more
	// Partial says that so many pages were passed over that the list ends early;
	// Next goes on.
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

// Cluster is a cluster with a part of its members, the representative first,
// then by date and record id.
type Cluster struct {
	ClusterRow
	Timeline []Bucket // members by month, or by year where there are many; without gaps
	HostList []Bucket // the hosts with most members, at most 20
	Members  []Member
	Next     string
}

// Bucket counts pages.
type Bucket struct {
	Label string
	Pages int
}

// Member is a page of a cluster.
type Member struct {
	report.Member
	Title string
}

// Pair is two pages beside each other.
type Pair struct {
	Explanation explain.Explanation
	Documents   [2]string
	Texts       [2]string // what is compared; the explanation's diff has positions in it, in code points
}

// Page is a page of the archive.
type Page struct {
	PageRow
	Fields []Field // what is known of it, by the names of docs/format.md
	Text   string  // visible text
}

// Field is a name and what it has.
type Field struct{ Name, Value string }

// EnforcedList is a part of the judged pairs that the clustering follows.
type EnforcedList struct {
	Pairs []EnforcedPair
	Next  string
}

// EnforcedPair is a judged pair that is enforced.
type EnforcedPair struct {
	audit.Pair
	Verdict   audit.Verdict // true: must join; false: must not
	Judges    []string
	Documents [2]string // empty: not in the workspace
	URIs      [2]string
	// State is what the clusters make of it: "followed", "pending" (they are from
	// before it; run again), or why it cannot be followed.
	State string
}
