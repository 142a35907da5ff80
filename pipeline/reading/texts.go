package reading

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"neardup/extract"
	"neardup/extract/page"
	"neardup/pipeline/inputs"
	"neardup/pipeline/results"
)

// TextOptions choose what is written of a page.
type TextOptions struct {
	Clean string   // main: the main content; none: all visible text
	Parts []string // parts that are also written by name
}

// TextParts are the names of the parts.
var TextParts = []string{"title", "byline", "main", "comments", "frame"}

// Validate returns an error if an option is wrong.
func (o TextOptions) Validate() error {
	if o.Clean != string(page.CleanMain) && o.Clean != string(page.CleanNone) {
		return fmt.Errorf("clean: %q is neither none nor main", o.Clean)
	}
	for _, p := range o.Parts {
		if !slices.Contains(TextParts, p) {
			return fmt.Errorf("parts: there is no %q; there are %s", p, strings.Join(TextParts, ", "))
		}
	}
	return nil
}

// WritesAll reports whether all visible text is written, so that no line is unsure.
func (o TextOptions) WritesAll() bool { return o.Clean == string(page.CleanNone) }

// text is the JSON line of a page.
type text struct {
	RecordID string            `json:"record_id"`
	URI      string            `json:"uri"`
	Date     string            `json:"date"`
	Title    string            `json:"title"`
	Byline   string            `json:"byline,omitempty"`
	Text     string            `json:"text"`
	Unsure   bool              `json:"unsure,omitempty"` // the main content could not be told; text is all visible text
	Parts    map[string]string `json:"parts,omitempty"`
}

// WriteTexts writes one line of JSON for each document that Each gives. The options
// must be valid. If the error wraps workspace.ErrInputFailure, everything readable
// was written.
func WriteTexts(ctx context.Context, w io.Writer, sources []inputs.Source, o Options, t TextOptions) (results.ExtractCounts, error) {
	o.Extract.Clean = page.CleanMain // it marks the parts, and all visible text is still there
	b := bufio.NewWriterSize(w, 256<<10)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	counts, err := Each(ctx, sources, o, func(d extract.Document) error { return enc.Encode(t.of(d)) })
	return counts, errors.Join(err, b.Flush())
}

func (o TextOptions) of(d extract.Document) text {
	t := text{RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, Title: d.Title, Byline: d.Byline, Text: d.Text}
	t.Unsure = d.Choices&extract.ChoiceMainUnsure != 0
	if o.WritesAll() {
		t.Text, t.Unsure = d.Visible, false
	}
	for _, name := range o.Parts {
		part, _ := page.ParsePart(name)
		s := d.Marks.Select(d.Visible, page.PartsOf(part))
		if s == "" {
			continue
		}
		if t.Parts == nil {
			t.Parts = map[string]string{}
		}
		t.Parts[name] = s
	}
	return t
}
