package report

import (
	"bytes"
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
	return fmt.Sprintf("%d pages to keep, %d to review, %d redundant; %d of these lose no text, and all together %d of %d characters; %.1f MB of payload saved, %.1f MB in the files",
		k.Keep, k.Review, k.Redundant, k.Lossless, k.Lost, k.Characters, float64(k.PayloadBytes)/1e6, float64(k.RecordBytes)/1e6)
}

// KeepWriter writes clusters, or parts of clusters, with the choices for their members.
// Close ends the output, but does not close the underlying writer.
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
		line := []string{c.ID, string(choice.Action), string(choice.Why), choice.Kept, choice.KeptURI, "", strconv.Itoa(choice.Characters), "", "",
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
// for its pages. The parts of a cluster must come by action, in the order of Actions.
func NewKeepJSONL(w io.Writer) KeepWriter { return &keepJSONL{w: w} }

type keepJSONL struct {
	w    io.Writer
	line bytes.Buffer
	list int  // in Actions, of the list that is written
	sum  Kept // of the present cluster
}

func (k *keepJSONL) Write(c Cluster, choices []Choice) error {
	k.line.Reset()
	e := json.NewEncoder(&k.line)
	e.SetEscapeHTML(false)
	var err error
	value := func(before string, v any) {
		k.line.WriteString(before)
		err = errors.Join(err, e.Encode(v))
		k.line.Truncate(k.line.Len() - 1) // its line end
	}
	if c.From == 0 {
		value(`{"cluster":`, c.ID)
		k.line.WriteString(`,"keep":[`)
		k.list, k.sum = 0, Kept{}
	}
	first := c.From == 0 // of the list
	for list, action := range Actions {
		for i, m := range c.Members {
			if choices[i].Action != action {
				continue
			}
			for ; k.list < list; first = true {
				k.next()
			}
			if !first {
				k.line.WriteByte(',')
			}
			first = false
			value("", keepPageOf(m, choices[i]))
			k.sum.Add(choices[i], m)
		}
	}
	if !c.More {
		if k.list == 0 {
			k.next() // a line has the list of redundant pages also if there are none
		}
		value(`],"sum":`, k.sum)
		k.line.WriteString("}\n")
	}
	if err == nil {
		_, err = k.w.Write(k.line.Bytes())
	}
	return err
}

// next ends a list and begins the next one.
func (k *keepJSONL) next() {
	k.list++
	fmt.Fprintf(&k.line, `],"%s":[`, Actions[k.list])
}

func keepPageOf(m Member, choice Choice) keepPage {
	page := keepPage{Reason: choice.Why, Characters: choice.Characters, RecordID: m.RecordID, URI: m.URI, Date: m.Date, WARC: m.WARC, Path: m.Path, Entry: m.Entry, Offset: m.Offset,
		RecordBytes: m.RecordBytes, PayloadBytes: m.Bytes, Digest: m.Digest, Relation: m.Relation, RevisitOf: m.RevisitOf}
	if choice.Action == ActionKeep {
		return page
	}
	page.Kept, page.KeptURI = choice.Kept, choice.KeptURI
	if choice.Compared {
		share := choice.LostShare()
		page.Resemblance, page.Lost, page.LostShare = &choice.Resemblance, &choice.Lost, &share
	}
	return page
}

func (k *keepJSONL) Close() error { return nil }
