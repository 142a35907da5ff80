package textjoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"neardup/extract"
	"neardup/pipeline/reading"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
)

// Text is a document's text in memory.
type Text struct {
	ID   string // of a line of a text collection as it stands there, else the WARC-Record-ID
	Text string
}

// ErrTooMuchText is the error of texts that are more than may be held.
var ErrTooMuchText = errors.New("too much text to hold in memory")

// Read reads sources without a workspace: the texts of their documents by
// id, and of one id by text. Records of one id with one text count once, the
// others as duplicates. A revisit record has no text of its own, and no
// workspace to look for it in: it is skipped. Source by source its texts are
// those of the extract stage.
//
// It holds at most max bytes of ids and texts, else the error is
// ErrTooMuchText. Where some source cannot be read, or not to its end, the
// error wraps ErrInputFailure, and the texts are those of the others.
func Read(ctx context.Context, sources []workspace.Source, config extract.Options, max int64, workers int, p workspace.Progress) ([]Text, results.ExtractCounts, error) {
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
