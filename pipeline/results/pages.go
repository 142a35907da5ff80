package results

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"neardup/extract"
	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
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
	d, err := ReadDocument[groups.DocumentView](f.documents, id)
	return d.Row.Member(d.ID, d.Source, d.Offset), err
}

// Pages returns the pages that have a text, in the order of groups.TextPages.
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
	slices.SortFunc(pages, groups.ComparePagesOfText)
	return pages, nil
}

// gathered yields the pages of a wanted text as groups.Documents emits them.
func (f *PageFinder) gathered(w groups.Wanted) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		for r, err := range f.Occurrences.Rows(layout.OccurrencesOf(w.Text)) {
			var e extsort.Entry
			var id extract.ID
			if err == nil {
				_, id, err = layout.ParseOccurrenceKey(r.Key())
			}
			if err == nil {
				e, err = f.gatheredPage(w, id)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (f *PageFinder) gatheredPage(w groups.Wanted, id extract.ID) (extsort.Entry, error) {
	for r, err := range f.documents.Rows(layout.DocumentsOf(id)) { // the first counts
		if err != nil {
			return extsort.Entry{}, err
		}
		return groups.Gathered(w, r)
	}
	return extsort.Entry{}, fmt.Errorf("no document: %w", layout.Corrupt(id[:]))
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

// Gather finds the pages of texts and sorts them by group and text, as groups.Tables and groups.Pages take them.
// The texts must come sorted; each may come in several groups and several times.
// Texts and documents are named by hashes, so each lookup would read another place
// on disk, and looking up every page would take far longer once the tables exceed
// memory. Gather reads both tables once and sorts in between.
func Gather(ctx context.Context, s *store.DB, wanted iter.Seq2[groups.Wanted, error]) (*extsort.Sorter, error) {
	byDocument, byText := extsort.New(s.Tmp), extsort.New(s.Tmp)
	err := groups.Occurrences(ctx, s.Table(layout.TableOccurrence), wanted, byDocument.Add)
	if err == nil {
		err = groups.Documents(ctx, s.Table(layout.TableDocument), byDocument.Sorted(), byText.Add)
	}
	if err := errors.Join(err, byDocument.Close()); err != nil {
		return nil, errors.Join(err, byText.Close())
	}
	return byText, nil
}
