package report

import (
	"encoding/json"
	"neardup/uris"
	"strings"
)

// cdxjFields is the JSON block of a CDXJ line. The specification (CDXJ 0.1.0)
// requires the first seven fields. Numbers in it are strings, as cdxj-indexer and
// pywb write them.
type cdxjFields struct {
	URL      string `json:"url"`
	Mime     string `json:"mime"`
	Status   string `json:"status"`
	Digest   string `json:"digest"`
	Length   string `json:"length"`
	Offset   string `json:"offset"`
	Filename string `json:"filename"`

	Path            string   `json:"path"`
	Entry           string   `json:"entry,omitempty"`
	RecordID        string   `json:"record_id"`
	Cluster         string   `json:"cluster"`
	Size            int      `json:"cluster_size"`
	Relation        Relation `json:"relation"`
	Resemblance     Score    `json:"resemblance"`
	Containment     Score    `json:"containment"`
	EstimatedBy     string   `json:"estimated_by,omitempty"`
	VerifiedAgainst string   `json:"verified_against"`
	RevisitOf       string   `json:"revisit_of,omitempty"`
}

// revisitMime is the media type of revisit records in indexes. It makes replay
// tools look for the capture that the revisit refers to.
const revisitMime = "warc/revisit"

// CDXJ returns a member's line in an index of captures, with its line end. The
// lines of an index must be sorted by their bytes.
func CDXJ(c Cluster, m Member) ([]byte, error) {
	fields := cdxjFields{
		URL: m.URI, Mime: m.MediaType, Status: known(int64(m.Status)), Digest: m.Digest,
		Length: known(m.RecordBytes), Offset: decimal(m.Offset), Filename: m.WARC,
		Path: m.Path, Entry: m.Entry, RecordID: m.RecordID, Cluster: c.ID, Size: c.Size, Relation: m.Relation, Resemblance: m.Resemblance, Containment: m.Containment,
		EstimatedBy: c.estimatedBy(m), VerifiedAgainst: m.VerifiedAgainst, RevisitOf: m.RevisitOf,
	}
	if m.RevisitOf != "" {
		fields.Mime = revisitMime
	}
	var b strings.Builder
	b.WriteString(uris.SURT(m.URI) + " " + indexed(m.Date) + " ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(fields)
	return []byte(b.String()), err
}

// known returns a number as text, or - if it is unknown.
func known(n int64) string {
	if n == 0 {
		return "-"
	}
	return decimal(n)
}
