package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Kept holds the sums of a keep list. Bytes and characters are those of the
// redundant pages.
type Kept struct {
	Keep         int64 `json:"keep"`
	Redundant    int64 `json:"redundant"`
	Lossless     int64 `json:"lossless"` // redundant pages all of whose text the kept page has
	Review       int64 `json:"review"`
	PayloadBytes int64 `json:"saved_payload_bytes"`
	RecordBytes  int64 `json:"saved_record_bytes"` // bytes in the files, as far as known
	Characters   int64 `json:"characters"`         // code points
	Lost         int64 `json:"lost_characters"`    // code points of these that the page kept in their place lacks
}

// Preference is a list of scores or hosts from outside, by which pages are preferred.
type Preference struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	SHA256 string `json:"sha256"` // of the file
	Digest string `json:"digest"` // of its entries
}

// Add counts a page.
func (k *Kept) Add(c Choice, m Member) {
	switch c.Action {
	case ActionKeep:
		k.Keep++
	case ActionReview:
		k.Review++
	case ActionRedundant:
		k.Redundant++
		if c.Lost == 0 {
			k.Lossless++
		}
		k.PayloadBytes += m.Bytes
		k.RecordBytes += m.RecordBytes
		k.Characters += int64(c.Characters)
		k.Lost += int64(c.Lost)
	}
}

func (k Kept) String() string {
	return fmt.Sprintf("%d pages to keep, %d to review, %d redundant, of which %d lose nothing and the others %d of all %d characters; %.1f MB of payload saved, %.1f MB in the files",
		k.Keep, k.Review, k.Redundant, k.Lossless, k.Lost, k.Characters, float64(k.PayloadBytes)/1e6, float64(k.RecordBytes)/1e6)
}

// KeepWriter writes clusters with the choices for their members. Close ends the
// output, but does not close the underlying writer.
type KeepWriter interface {
	Write(Cluster, []Choice) error
	Close() error
}

// NewKeepCSV returns a writer of one line for each page, with its action.
func NewKeepCSV(w io.Writer) KeepWriter {
	out := csv.NewWriter(w)
	return &keepCSV{w: out, err: out.Write(keepHeader)}
}

type keepCSV struct {
	w   *csv.Writer
	err error // of the header
}

var keepHeader = []string{"cluster", "action", "reason", "kept", "kept_uri", "resemblance", "characters", "lost", "lost_share",
	"record_id", "uri", "date", "warc", "path", "entry", "offset", "record_bytes", "payload_bytes", "digest", "relation", "revisit_of"}

func (k *keepCSV) Write(c Cluster, choices []Choice) error {
	for i, m := range c.Members {
		choice := choices[i]
		with := c.Members[choice.With]
		line := []string{c.ID, string(choice.Action), string(choice.Why), with.RecordID, with.URI, "", strconv.Itoa(choice.Characters), "", "",
			m.RecordID, m.URI, m.Date, m.WARC, m.Path, m.Entry, decimal(m.Offset), unknownEmpty(m.RecordBytes), decimal(m.Bytes), m.Digest, string(m.Relation), m.RevisitOf}
		if choice.Compared {
			line[5], line[7], line[8] = choice.Resemblance.String(), strconv.Itoa(choice.Lost), choice.LostShare().String()
		}
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
	Keep      []keepPage `json:"keep"`
	Redundant []keepPage `json:"redundant"`
	Review    []keepPage `json:"review,omitempty"`
	Sum       Kept       `json:"sum"`
}

type keepPage struct {
	Reason       Why      `json:"reason"`
	Kept         string   `json:"kept,omitempty"` // empty for a kept page, as are the next five
	KeptURI      string   `json:"kept_uri,omitempty"`
	Resemblance  *Score   `json:"resemblance,omitempty"`
	Lost         *int     `json:"lost,omitempty"`
	LostShare    *Score   `json:"lost_share,omitempty"`
	Characters   int      `json:"characters"`
	RecordID     string   `json:"record_id"`
	URI          string   `json:"uri"`
	Date         string   `json:"date"`
	WARC         string   `json:"warc"`
	Path         string   `json:"path"`
	Entry        string   `json:"entry,omitempty"`
	Offset       int64    `json:"offset"`
	RecordBytes  int64    `json:"record_bytes,omitempty"`
	PayloadBytes int64    `json:"payload_bytes"`
	Digest       string   `json:"digest"`
	Relation     Relation `json:"relation"`
	RevisitOf    string   `json:"revisit_of,omitempty"`
}

// NewKeepJSONL returns a writer of one line for each cluster, with the actions
// for its pages.
func NewKeepJSONL(w io.Writer) KeepWriter {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return &keepJSONL{e}
}

type keepJSONL struct{ e *json.Encoder }

func (k *keepJSONL) Write(c Cluster, choices []Choice) error {
	line := keepLine{Cluster: c.ID, Keep: []keepPage{}, Redundant: []keepPage{}}
	for i, m := range c.Members {
		choice := choices[i]
		page := keepPage{Reason: choice.Why, Characters: choice.Characters, RecordID: m.RecordID, URI: m.URI, Date: m.Date, WARC: m.WARC, Path: m.Path, Entry: m.Entry, Offset: m.Offset,
			RecordBytes: m.RecordBytes, PayloadBytes: m.Bytes, Digest: m.Digest, Relation: m.Relation, RevisitOf: m.RevisitOf}
		if choice.Action != ActionKeep {
			with := c.Members[choice.With]
			page.Kept, page.KeptURI = with.RecordID, with.URI
			if choice.Compared {
				share := choice.LostShare()
				page.Resemblance, page.Lost, page.LostShare = &choice.Resemblance, &choice.Lost, &share
			}
		}
		list := map[Action]*[]keepPage{ActionKeep: &line.Keep, ActionRedundant: &line.Redundant, ActionReview: &line.Review}[choice.Action]
		*list = append(*list, page)
		line.Sum.Add(choice, m)
	}
	return k.e.Encode(line)
}

func (k *keepJSONL) Close() error { return nil }
