package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"neardup/extract/container"
	"neardup/extract/internal/header"
	"neardup/extract/internal/testkit"
	"neardup/extract/page"
)

// TestListing makes a listing of the example crawl, or prints that of the files
// that NEARDUP_ARCHIVE lists (see testkit.Archives): a line of JSON for each record and each damaged place,
// with the digest of the payload as stored whatever the record declares and its
// HTTP status is. docs/peers/robust.py compares it with what warcio makes of
// them.
func TestListing(t *testing.T) {
	names, example := testkit.Archives("..")
	o := Options{Limits: limitsOf(16<<20, 4<<20), Options: page.Options{Clean: page.CleanNone, Overlays: page.OverlaysKeep}}
	for status := range 1000 {
		o.Statuses = append(o.Statuses, status)
	}
	var out bytes.Buffer
	for _, name := range names {
		if err := list(&out, name, NewExtractor(o)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !example {
		fmt.Print(&out)
		return
	}
	records, declared := 0, 0 // of the example crawl, whose digests are true
	for line := range bytes.Lines(out.Bytes()) {
		var l listed
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		records++
		if l.Type != "response" || l.Declared == "" || l.Digest == "" {
			continue
		}
		if declared++; l.Digest != l.Declared || l.Damage != "" {
			t.Errorf("%s", line)
		}
	}
	if records != 135 || declared != 86 {
		t.Errorf("%d records, %d responses with a digest", records, declared)
	}
}

// listed is a line of the listing.
type listed struct {
	File     string `json:"file"`
	Offset   int64  `json:"offset"`
	Damage   string `json:"damage,omitempty"`
	Type     string `json:"type,omitempty"` // of the record, as written
	ID       string `json:"id,omitempty"`
	Reason   Reason `json:"reason,omitempty"`
	Declared string `json:"declared,omitempty"` // payload digest
	Digest   string `json:"digest,omitempty"`   // of the payload as stored
	Bytes    int64  `json:"bytes"`              // of the payload as stored; without a digest, of the block
	Clipped  bool   `json:"clipped,omitempty"`
}

// list lists a file, or the files in a WACZ file.
func list(w io.Writer, name string, x *Extractor) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	switch format, err := container.Detect(f, container.All, x.o.Limits); {
	case err != nil: // no archive
		return printLine(w, listed{File: name, Damage: err.Error()})
	case format != container.FormatWACZ:
		return listRecords(w, name, f, x)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	members, err := container.Members(f, info.Size(), x.o.Limits)
	for _, m := range members {
		inside, err := m.Open()
		if err != nil {
			return err
		}
		if err := listRecords(w, name, inside, x); err != nil {
			return err
		}
	}
	return err
}

func listRecords(w io.Writer, name string, f io.ReaderAt, x *Extractor) error {
	r, err := container.NewReader(f, container.Position{}, x.o.Limits)
	if err != nil {
		return err
	}
	for {
		raw, err := r.Next()
		line := listed{File: name}
		var damage *container.Damage
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &damage):
			line.Offset, line.Damage = damage.Offset, damage.Err.Error()
		case err != nil:
			return err
		default:
			line.of(raw, x)
		}
		if err := printLine(w, line); err != nil {
			return err
		}
	}
}

func printLine(w io.Writer, line listed) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}

func (l *listed) of(raw *container.Raw, x *Extractor) {
	l.Offset, l.Bytes, l.Clipped, l.Type = raw.Offset, raw.Length, raw.Clipped, string(raw.Format)
	undeclared := []byte("WARC/1.0\r\n")
	for name, value := range header.Fields(raw.Header) {
		switch strings.ToLower(name) {
		case "warc-payload-digest":
			l.Declared = value
			continue // so that the payload's own is computed
		case "warc-record-id":
			l.ID = value
		case "warc-type":
			l.Type = value
		}
		undeclared = fmt.Appendf(undeclared, "%s: %s\r\n", name, value)
	}
	if raw.Format == container.FormatRecords {
		raw.Header = append(undeclared, "\r\n"...)
	}
	doc, reason := x.Document(raw)
	if l.Reason = reason; doc.Digest != "" {
		l.Digest, l.Bytes = doc.Digest, doc.Bytes
	}
}
