package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"neardup/uris"
	"strconv"
	"strings"
)

// KeepPolicy says which page of a cluster to keep.
type KeepPolicy string

// The policies. If a policy leaves several pages, captures go before revisits,
// then earlier pages, then the order of the cluster.
const (
	KeepEarliest KeepPolicy = "earliest" // by date
	KeepLatest   KeepPolicy = "latest"
	KeepLongest  KeepPolicy = "longest" // the most bytes of visible text
	KeepQuality  KeepPolicy = "quality" // the best by the quality file
)

// KeepPolicies are all policies.
var KeepPolicies = []KeepPolicy{KeepEarliest, KeepLatest, KeepLongest, KeepQuality}

// Keep chooses the pages to keep.
type Keep struct {
	Policy KeepPolicy
	// Hosts go before the policy: pages of the first host or its subdomains
	// first, then those of the second, and so on; pages of other hosts last.
	Hosts   []string
	Quality func(uri string) float64 // for KeepQuality
}

// Action is the action of a keep list for a page.
type Action string

// The actions. Pages to review are those that contain the representative and so
// have more than what is kept, and those that were not verified against it,
// even if people judged them to belong to the cluster.
const (
	ActionKeep      Action = "keep"
	ActionRedundant Action = "redundant"
	ActionReview    Action = "review"
)

// choose returns the index of the member to keep. Only a member whose text is
// that of the representative, or near it, can stand for the cluster: keeping
// one that is only contained in it would lose the rest. A revisit has no
// payload, so a capture always goes before it.
func (k Keep) choose(c Cluster) int {
	best := 0
	for i := 1; i < len(c.Members); i++ {
		switch c.Members[i].Relation {
		case Representative, Identical, Near:
			if k.compare(c.Members[i], c.Members[best]) < 0 {
				best = i
			}
		}
	}
	return best
}

// compare orders members, the one to keep first.
func (k Keep) compare(a, b Member) int {
	return cmp.Or(
		FalseFirst(a.RevisitOf != "", b.RevisitOf != ""),
		cmp.Compare(k.host(a), k.host(b)),
		k.byPolicy(a, b),
		cmp.Compare(timestamp(a.Date), timestamp(b.Date)),
		cmp.Compare(a.Date, b.Date), cmp.Compare(a.RecordID, b.RecordID), cmp.Compare(a.Document, b.Document))
}

func (k Keep) byPolicy(a, b Member) int {
	switch k.Policy {
	case KeepLatest:
		return cmp.Or(cmp.Compare(timestamp(b.Date), timestamp(a.Date)), cmp.Compare(b.Date, a.Date))
	case KeepLongest:
		return cmp.Compare(b.TextBytes, a.TextBytes)
	case KeepQuality:
		return cmp.Compare(k.Quality(b.URI), k.Quality(a.URI))
	}
	return 0
}

// host returns the index of a member's host among the preferred ones.
func (k Keep) host(m Member) int {
	if len(k.Hosts) == 0 {
		return 0
	}
	host := uris.Host(m.URI)
	for i, h := range k.Hosts {
		if h = uris.CanonicalHost(h); host == h || strings.HasSuffix(host, "."+h) {
			return i
		}
	}
	return len(k.Hosts)
}

// FalseFirst compares booleans, false before true.
func FalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// action returns the action for a member that is not kept.
func action(m Member) Action {
	switch m.Relation {
	case Contains, Linked, Judged:
		return ActionReview
	}
	return ActionRedundant
}

// Kept has the sums of a keep list. Bytes are those of the redundant pages.
type Kept struct {
	Keep         int64 `json:"keep"`
	Redundant    int64 `json:"redundant"`
	Review       int64 `json:"review"`
	PayloadBytes int64 `json:"saved_payload_bytes"`
	RecordBytes  int64 `json:"saved_record_bytes"` // in the files, as far as known
}

func (k *Kept) add(a Action, m Member) {
	switch a {
	case ActionKeep:
		k.Keep++
	case ActionReview:
		k.Review++
	case ActionRedundant:
		k.Redundant++
		k.PayloadBytes += m.Bytes
		k.RecordBytes += m.RecordBytes
	}
}

func (k Kept) String() string {
	return fmt.Sprintf("%d pages to keep, %d redundant, %d to review; %.1f MB of payload saved, %.1f MB in the files",
		k.Keep, k.Redundant, k.Review, float64(k.PayloadBytes)/1e6, float64(k.RecordBytes)/1e6)
}

// NewKeepCSV returns a writer of one line for each page, with its action. It
// adds up the sums in sum.
func NewKeepCSV(w io.Writer, k Keep, sum *Kept) Writer {
	out := csv.NewWriter(w)
	return &keepCSV{keep: k, sum: sum, w: out, err: out.Write(keepHeader)}
}

type keepCSV struct {
	keep Keep
	sum  *Kept
	w    *csv.Writer
	err  error // of the header
}

var keepHeader = []string{"cluster", "action", "kept", "record_id", "uri", "date", "warc", "offset", "record_bytes", "payload_bytes", "digest",
	"relation", "resemblance", "containment", "revisit_of"}

func (k *keepCSV) Write(c Cluster) error {
	kept := k.keep.choose(c)
	for i, m := range c.Members {
		a := ActionKeep
		if i != kept {
			a = action(m)
		}
		k.sum.add(a, m)
		line := []string{c.ID, string(a), c.Members[kept].RecordID, m.RecordID, m.URI, m.Date, m.WARC, decimal(m.Offset), unknownEmpty(m.RecordBytes),
			decimal(m.Bytes), m.Digest, string(m.Relation), m.Resemblance.String(), m.Containment.String(), m.RevisitOf}
		for i := range line {
			line[i] = inert(line[i])
		}
		if err := k.w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func (k *keepCSV) Close() error {
	k.w.Flush()
	return errors.Join(k.err, k.w.Error())
}

func unknownEmpty(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// keepLine is a cluster in a keep list.
type keepLine struct {
	Cluster   string     `json:"cluster"`
	Keep      keepPage   `json:"keep"`
	Redundant []keepPage `json:"redundant"`
	Review    []keepPage `json:"review,omitempty"`
	Sum       Kept       `json:"sum"`
}

type keepPage struct {
	RecordID     string   `json:"record_id"`
	URI          string   `json:"uri"`
	Date         string   `json:"date"`
	WARC         string   `json:"warc"`
	Offset       int64    `json:"offset"`
	RecordBytes  int64    `json:"record_bytes,omitempty"`
	PayloadBytes int64    `json:"payload_bytes"`
	Digest       string   `json:"digest"`
	Relation     Relation `json:"relation"`
	Resemblance  Score    `json:"resemblance"`
	Containment  Score    `json:"containment"`
	RevisitOf    string   `json:"revisit_of,omitempty"`
}

// NewKeepJSONL returns a writer of one line for each cluster, with the actions
// for its pages. It adds up the sums in sum.
func NewKeepJSONL(w io.Writer, k Keep, sum *Kept) Writer {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return &keepJSONL{k, sum, e}
}

type keepJSONL struct {
	keep Keep
	sum  *Kept
	e    *json.Encoder
}

func (k *keepJSONL) Write(c Cluster) error {
	kept := k.keep.choose(c)
	line := keepLine{Cluster: c.ID, Redundant: []keepPage{}}
	for i, m := range c.Members {
		page := keepPage{RecordID: m.RecordID, URI: m.URI, Date: m.Date, WARC: m.WARC, Offset: m.Offset, RecordBytes: m.RecordBytes,
			PayloadBytes: m.Bytes, Digest: m.Digest, Relation: m.Relation, Resemblance: m.Resemblance, Containment: m.Containment, RevisitOf: m.RevisitOf}
		a := action(m)
		switch {
		case i == kept:
			a, line.Keep = ActionKeep, page
		case a == ActionReview:
			line.Review = append(line.Review, page)
		default:
			line.Redundant = append(line.Redundant, page)
		}
		line.Sum.add(a, m)
		k.sum.add(a, m)
	}
	return k.e.Encode(line)
}

func (k *keepJSONL) Close() error { return nil }
