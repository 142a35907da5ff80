package results

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"neardup/extract"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/report"
)

// PageFinder looks up single pages.
type PageFinder struct{ Occurrences, documents *store.Seeker }

// NewPageFinder returns a finder. The caller closes it.
func NewPageFinder(s *store.DB) (*PageFinder, error) {
	occurrences, err := s.Seeker(layout.TableOccurrence)
	if err != nil {
		return nil, err
	}
	documents, err := s.Seeker(layout.TableDocument)
	if err != nil {
		return nil, errors.Join(err, occurrences.Close())
	}
	return &PageFinder{occurrences, documents}, nil
}

func (f *PageFinder) Close() {
	_ = f.Occurrences.Close() // the lookups have reported its errors
	_ = f.documents.Close()
}

// Page reads a document as a member of a cluster.
func (f *PageFinder) Page(id extract.ID) (report.Member, error) {
	d, err := ReadDocument[DocumentView](f.documents, id)
	return d.Row.Member(d.ID, d.Source, d.Offset), err
}

// Pages returns the pages that have a text, in the order of TextPages.
func (f *PageFinder) Pages(t rows.TextID) (pages []report.Member, err error) {
	for r, err := range f.Occurrences.Rows(layout.OccurrencesOf(t)) {
		if err != nil {
			return nil, err
		}
		_, d, err := layout.ParseOccurrenceKey(r.Key())
		if err != nil {
			return nil, err
		}
		m, err := f.Page(d)
		if err != nil {
			return nil, err
		}
		pages = append(pages, m)
	}
	slices.SortFunc(pages, comparePagesOfText)
	return pages, nil
}

// Count returns the number of pages that have a text.
func (f *PageFinder) Count(t rows.TextID) (n int, err error) {
	for _, err := range f.Occurrences.Rows(layout.OccurrencesOf(t)) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// comparePagesOfText orders captures before revisits, and each by date.
func comparePagesOfText(a, b report.Member) int {
	return cmp.Or(report.FalseFirst(a.RevisitOf != "", b.RevisitOf != ""), ComparePages(a, b))
}

// WantedText is a text whose pages are wanted, with its group.
type WantedText struct{ Group, Text rows.TextID }

// TextPages are the pages that have a text: captures before revisits, each by date.
type TextPages struct {
	WantedText
	Pages []report.Member
}

// Gather finds the pages of texts and sorts them by group and text, for PagesOf.
// The texts must come sorted; each may come in several groups and several times.
// Texts and documents are named by hashes, so each lookup would read another place
// on disk, and looking up every page would take far longer once the tables exceed
// memory. Gather reads both tables once and sorts in between.
func Gather(ctx context.Context, s *store.DB, wanted iter.Seq2[WantedText, error]) (*extsort.Sorter, error) {
	byDocument, byText := extsort.New(s.Tmp), extsort.New(s.Tmp)
	err := gatherOccurrences(ctx, s, wanted, byDocument)
	if err == nil {
		err = gatherDocuments(ctx, s, byDocument, byText)
	}
	if err := errors.Join(err, byDocument.Close()); err != nil {
		return nil, errors.Join(err, byText.Close())
	}
	return byText, nil
}

// gatherOccurrences writes rows: docID → group and text.
func gatherOccurrences(ctx context.Context, s *store.DB, wanted iter.Seq2[WantedText, error], to *extsort.Sorter) error {
	next, stop := iter.Pull2(wanted)
	defer stop()
	w, err, more := next()
	if err != nil || !more {
		return err
	}
	var text rows.TextID
	var groups []rows.TextID // groups of the present text
	n := 0
	for r, err := range s.Table(layout.TableOccurrence) {
		if n++; n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		t, d, err := layout.ParseOccurrenceKey(r.Key())
		if t != text {
			text, groups = t, groups[:0]
		}
		for err == nil && more && rows.CompareTexts(w.Text, t) <= 0 {
			if w.Text == t && !slices.Contains(groups, w.Group) {
				groups = append(groups, w.Group)
			}
			w, err, more = next()
		}
		for _, group := range groups {
			err = errors.Join(err, to.Add(d[:], slices.Concat(group[:], t[:])))
		}
		if err != nil || !more && len(groups) == 0 {
			return err
		}
	}
	return nil
}

// gatherDocuments writes rows: group, text and docID → the document's place and
// row.
func gatherDocuments(ctx context.Context, s *store.DB, byDocument, to *extsort.Sorter) error {
	next, stop := iter.Pull2(byDocument.Sorted())
	defer stop()
	w, err, more := next()
	if err != nil || !more {
		return err
	}
	n := 0
	for r, err := range s.Table(layout.TableDocument) {
		if n++; n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		id, _, _, err := layout.ParseDocumentKey(r.Key())
		if err != nil {
			return err
		}
		switch c := bytes.Compare(w.Key, id[:]); {
		case c > 0: // an unwanted document, or another file with the previous document
			continue
		case c < 0:
			return fmt.Errorf("no document: %w", layout.Corrupt(w.Key))
		}
		v, err := r.Value()
		if err == nil {
			place := r.Place()
			head := append([]byte{byte(len(place) >> 8), byte(len(place))}, place...)
			head = append(head, v...)
			for err == nil && more && bytes.Equal(w.Key, id[:]) {
				if err = to.Add(append(bytes.Clone(w.Value), id[:]...), head); err == nil {
					w, err, more = next()
				}
			}
		}
		if err != nil || !more {
			return err
		}
	}
	return fmt.Errorf("no document: %w", layout.Corrupt(w.Key))
}

// PagesOf yields the pages that Gather found, text by text.
func PagesOf(ctx context.Context, gathered *extsort.Sorter) iter.Seq2[TextPages, error] {
	return func(yield func(TextPages, error) bool) {
		var current TextPages
		flush := func() bool {
			slices.SortFunc(current.Pages, comparePagesOfText)
			return yield(current, ctx.Err())
		}
		for e, err := range gathered.Sorted() {
			var m report.Member
			if err == nil {
				m, err = parseGathered(e)
			}
			if err != nil {
				yield(TextPages{}, err)
				return
			}
			of := WantedText{rows.TextID(e.Key[:16]), rows.TextID(e.Key[16:32])}
			if len(current.Pages) > 0 && of != current.WantedText {
				if !flush() {
					return
				}
				current.Pages = nil
			}
			current.WantedText = of
			current.Pages = append(current.Pages, m)
		}
		if len(current.Pages) > 0 {
			flush()
		}
	}
}

func parseGathered(e extsort.Entry) (m report.Member, err error) {
	if len(e.Key) != 3*16 || len(e.Value) < 2 {
		return m, layout.Corrupt(e.Key)
	}
	n := int(e.Value[0])<<8 | int(e.Value[1])
	if len(e.Value) < 2+n {
		return m, layout.Corrupt(e.Key)
	}
	file, offset, err := layout.ParsePlace(e.Value[2 : 2+n])
	if err != nil {
		return m, err
	}
	id := extract.ID(e.Key[32:])
	var d DocumentView
	if err := json.Unmarshal(e.Value[2+n:], &d); err != nil {
		return m, fmt.Errorf("%w: document %s (%w)", layout.ErrCorrupt, id, err)
	}
	return d.Member(id, file, offset), nil
}
