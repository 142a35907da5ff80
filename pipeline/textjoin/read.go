package textjoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"neardup/extract"
	"neardup/pipeline/inputs"
	"neardup/pipeline/reading"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
)

// Text is the text of a document, in memory.
type Text struct {
	ID   string // ID of a line of a text collection, otherwise the WARC-Record-ID
	Text string
}

// ErrTooMuchText reports more text than may be held in memory.
var ErrTooMuchText = errors.New("too much text to hold in memory")

// Read reads the texts of sources without a workspace, ordered by ID, then by text.
// Records with the same ID and text count once, and otherwise as duplicates. A
// revisit record is skipped: it has no text of its own, and without a workspace its
// capture cannot be looked up. The texts of a source are those of the extract
// stage.
//
// Read holds at most max bytes of IDs and texts; if there are more, it returns
// ErrTooMuchText. If some source cannot be read, or not to its end, the error wraps
// ErrInputFailure, and the texts of the other sources are returned.
func Read(ctx context.Context, sources []inputs.Source, config extract.Options, max int64, workers int, p workspace.Progress) ([]Text, results.ExtractCounts, error) {
	var texts []Text
	held := int64(0)
	o := reading.Options{Extract: config, Workers: workers, Progress: p, LineIDs: true}
	counts, err := reading.Each(ctx, sources, o, func(d extract.Document) error {
		t := Text{ID: d.RecordID, Text: d.Text}
		if held += int64(len(t.ID) + len(t.Text)); held > max {
			return fmt.Errorf("%w: over %d bytes", ErrTooMuchText, max)
		}
		texts = append(texts, t)
		return nil
	})
	if err != nil && !errors.Is(err, workspace.ErrInputFailure) {
		return nil, counts, err
	}
	slices.SortFunc(texts, func(a, b Text) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Text, b.Text)) })
	texts = slices.Compact(texts)
	counts.Documents = int64(len(texts))
	counts.Duplicates = counts.Captures - counts.Documents
	return texts, counts, err
}
