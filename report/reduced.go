package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"neardup/uris"
)

// LeftOut is a record that a reduced archive lacks. A record that belongs to a
// redundant page has that page's reason.
type LeftOut struct {
	Archive     string `json:"archive"` // file name in the reduced archive
	Path        string `json:"path"`    // file from which it was read
	Entry       string `json:"entry,omitempty"`
	Offset      int64  `json:"offset"` // offset in that file
	Bytes       int64  `json:"bytes"`
	Type        string `json:"type"`
	RecordID    string `json:"record_id"`
	URI         string `json:"uri"`
	Date        string `json:"date"`
	Withdrawn   bool   `json:"-"`                    // it is of a withdrawn address; then only its place and its type are told
	BelongsTo   string `json:"belongs_to,omitempty"` // record ID of the redundant page
	Cluster     string `json:"cluster"`
	Kept        string `json:"kept"`
	KeptURI     string `json:"kept_uri"`
	Resemblance Score  `json:"resemblance"`
	Lost        int    `json:"lost"`
}

// JSON returns the record as a line.
func (l LeftOut) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	var line any = l
	if l.Withdrawn {
		line = struct {
			Archive   string `json:"archive"`
			Path      string `json:"path"`
			Entry     string `json:"entry,omitempty"`
			Offset    int64  `json:"offset"`
			Bytes     int64  `json:"bytes"`
			Type      string `json:"type"`
			Withdrawn bool   `json:"withdrawn"`
		}{l.Archive, l.Path, l.Entry, l.Offset, l.Bytes, l.Type, true}
	}
	err := e.Encode(line)
	return b.Bytes(), err
}

// Reduced is the manifest of a reduced archive.
type Reduced struct {
	Program string        `json:"program"`
	Assumed string        `json:"assumed"`               // the rules by which pages count as redundant
	From    []Preference  `json:"preferences,omitempty"` // lists that decided which pages are preferred
	Files   []ReducedFile `json:"files"`
	Sum     ReducedCounts `json:"sum"`
}

// ReducedFile is a file of a reduced archive.
type ReducedFile struct {
	Archive string `json:"archive"`
	Path    string `json:"path"`
	Entry   string `json:"entry,omitempty"`
	SHA256  string `json:"sha256"` // of the reduced file
	ReducedCounts
}

// ReducedCounts counts records and bytes of files. ReadBack counts the records of
// the reduced files, each compared with the one that was read.
type ReducedCounts struct {
	Records     int64 `json:"records"`
	LeftOut     int64 `json:"left_out"`    // redundant pages
	Belonging   int64 `json:"belonging"`   // records that belong to them and are left out, too
	Inseparable int64 `json:"inseparable"` // redundant pages that stay because they share a compressed member with other records
	Withdrawn   int64 `json:"withdrawn"`   // records of withdrawn addresses, and those that belong to them; they are left out

	// WithdrawnStay counts records of withdrawn addresses that stay because they share a
	// compressed member with other records.
	WithdrawnStay int64 `json:"withdrawn_inseparable"`

	Damaged     int64 `json:"damaged"` // damaged places, which are copied as they are
	ReadBack    int64 `json:"read_back"`
	DigestRight int64 `json:"digest_right"` // of these, WARC-Block-Digest is that of the block
	DigestWrong int64 `json:"digest_wrong"` // it is not, and is not in the input
	BytesBefore int64 `json:"bytes_before"`
	Bytes       int64 `json:"bytes"`
}

// Add adds counts.
func (c *ReducedCounts) Add(o ReducedCounts) {
	c.Records += o.Records
	c.LeftOut += o.LeftOut
	c.Belonging += o.Belonging
	c.Inseparable += o.Inseparable
	c.Withdrawn += o.Withdrawn
	c.WithdrawnStay += o.WithdrawnStay
	c.Damaged += o.Damaged
	c.ReadBack += o.ReadBack
	c.DigestRight += o.DigestRight
	c.DigestWrong += o.DigestWrong
	c.BytesBefore += o.BytesBefore
	c.Bytes += o.Bytes
}

func (c ReducedCounts) String() string {
	s := fmt.Sprintf("%d of %d records left out: %d redundant pages and %d records that belong to them; %.1f of %.1f MB written, %d records read back, %d digests checked",
		c.LeftOut+c.Belonging+c.Withdrawn, c.Records, c.LeftOut, c.Belonging, float64(c.Bytes)/1e6, float64(c.BytesBefore)/1e6, c.ReadBack, c.DigestRight+c.DigestWrong)
	if c.DigestWrong > 0 {
		s += fmt.Sprintf(", of which %d are wrong, as they are in the input", c.DigestWrong)
	}
	if c.Withdrawn > 0 {
		s += fmt.Sprintf("; %d records of withdrawn addresses are left out, too", c.Withdrawn)
	}
	if c.WithdrawnStay > 0 {
		s += fmt.Sprintf("; %d records of withdrawn addresses STAY, because they share a compressed member with other records", c.WithdrawnStay)
	}
	if c.Inseparable > 0 {
		s += fmt.Sprintf("; %d redundant pages stay, because they share a compressed member with other records", c.Inseparable)
	}
	return s
}

// WriteJSON writes the manifest as indented JSON.
func (r Reduced) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// CaptureLine returns a line, with its line end, of an index of all captures that
// replay tools read. The lines must be sorted by their bytes.
func CaptureLine(uri, date, media, digest string, status int, length, offset int64, file string, revisit bool) ([]byte, error) {
	fields := struct {
		URL      string `json:"url"`
		Mime     string `json:"mime"`
		Status   string `json:"status"`
		Digest   string `json:"digest"`
		Length   string `json:"length"`
		Offset   string `json:"offset"`
		Filename string `json:"filename"`
	}{uri, media, known(int64(status)), digest, known(length), decimal(offset), file}
	if revisit {
		fields.Mime = revisitMime
	}
	var b strings.Builder
	b.WriteString(uris.SURT(uri) + " " + indexed(date) + " ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(fields)
	return []byte(b.String()), err
}
