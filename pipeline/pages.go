package pipeline

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
	"neardup/report"
)

// pageFinder looks up single pages.
type pageFinder struct{ occurrences, documents *seeker }

func (s *store) pageFinder() (*pageFinder, error) {
	occurrences, err := s.seeker(tableOccurrence)
	if err != nil {
		return nil, err
	}
	documents, err := s.seeker(tableDocument)
	if err != nil {
		return nil, errors.Join(err, occurrences.Close())
	}
	return &pageFinder{occurrences, documents}, nil
}

func (f *pageFinder) close() {
	_ = f.occurrences.Close() // what it met was said by the lookups
	_ = f.documents.Close()
}

// pageDocument is what an export shows of a storedDocument. Reading only that
// takes half the time.
type pageDocument struct {
	RecordID    string          `json:"record_id"`
	TargetURI   string          `json:"uri"`
	Date        string          `json:"date"`
	Digest      string          `json:"digest"`
	Site        string          `json:"site"`
	Bytes       int64           `json:"bytes"`
	RevisitOf   string          `json:"revisit_of"`
	Status      int             `json:"status"`
	RecordBytes int64           `json:"record_bytes"`
	MediaType   string          `json:"type"`
	Charset     string          `json:"charset"`
	Choices     extract.Choices `json:"choices"`
	TextBytes   int64           `json:"text_bytes"`
	TextID      string          `json:"text_id"`
}

// member is the document as a member of a cluster.
func (d pageDocument) member(id extract.ID, file string, offset int64) report.Member {
	return report.Member{RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, WARC: file, Offset: offset,
		Digest: d.Digest, Bytes: d.Bytes, RevisitOf: d.RevisitOf,
		Capture: report.Capture{Document: id.String(), Status: d.Status, RecordBytes: d.RecordBytes, MediaType: d.MediaType,
			TypeSniffed: d.Choices&extract.ChoiceTypeSniffed != 0, Charset: d.Charset, TextBytes: d.TextBytes, Site: d.Site, Text: d.TextID}}
}

// page reads a document as a member of a cluster.
func (f *pageFinder) page(id extract.ID) (report.Member, error) {
	var d pageDocument
	file, offset, err := readDocument(f.documents, id, &d)
	return d.member(id, file, offset), err
}

// pages are the pages that have a text, as in textPages.
func (f *pageFinder) pages(t textID) (pages []report.Member, err error) {
	for r, err := range f.occurrences.rows(join(tableOccurrence, t[:])) {
		if err != nil {
			return nil, err
		}
		_, d, err := parseOccurrenceKey(r.key())
		if err != nil {
			return nil, err
		}
		m, err := f.page(d)
		if err != nil {
			return nil, err
		}
		pages = append(pages, m)
	}
	slices.SortFunc(pages, comparePagesOfText)
	return pages, nil
}

// count is the number of pages that have a text.
func (f *pageFinder) count(t textID) (n int, err error) {
	for _, err := range f.occurrences.rows(join(tableOccurrence, t[:])) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// comparePagesOfText sorts captures before revisits, the earliest first.
func comparePagesOfText(a, b report.Member) int {
	return cmp.Or(report.FalseFirst(a.RevisitOf != "", b.RevisitOf != ""), comparePages(a, b))
}

// readDocument reads a document into d, and where it is. Of several files that
// hold it the first by name counts.
func readDocument(documents *seeker, id extract.ID, d any) (file string, offset int64, err error) {
	file, offset, ok, err := lookUpDocument(documents, id, d)
	if err == nil && !ok {
		err = fmt.Errorf("no document: %w", corrupt(id[:]))
	}
	return file, offset, err
}

// lookUpDocument is readDocument of a document that may not be there.
func lookUpDocument(documents *seeker, id extract.ID, d any) (file string, offset int64, ok bool, err error) {
	for r, err := range documents.rows(join(tableDocument, id[:])) {
		if err != nil {
			return "", 0, false, err
		}
		if err := r.json(d); err != nil {
			return "", 0, false, err
		}
		_, file, offset, err := parseDocumentKey(r.key())
		return file, offset, true, err
	}
	return "", 0, false, nil
}

// wantedText is a text whose pages are asked for, and the group of texts that it
// is of.
type wantedText struct{ group, text textID }

// textPages are the pages that have a text: captures before revisits, the
// earliest first.
type textPages struct {
	wantedText
	pages []report.Member
}

// gather finds the pages of texts that come sorted by text, each in one group
// but as often as may be, and gives them by group and text, as pagesOf reads
// them. Looking up every page takes far longer
// once the tables do not fit into memory: texts and documents are named by
// hashes, so every lookup is somewhere else. This goes through both tables once
// and sorts in between.
func (s *store) gather(ctx context.Context, wanted iter.Seq2[wantedText, error]) (*sorter, error) {
	byDocument, byText := s.sorter(), s.sorter()
	err := s.gatherOccurrences(ctx, wanted, byDocument)
	if err == nil {
		err = s.gatherDocuments(ctx, byDocument, byText)
	}
	if err := errors.Join(err, byDocument.close()); err != nil {
		return nil, errors.Join(err, byText.close())
	}
	return byText, nil
}

// gatherOccurrences writes docID to group and text.
func (s *store) gatherOccurrences(ctx context.Context, wanted iter.Seq2[wantedText, error], to *sorter) error {
	next, stop := iter.Pull2(wanted)
	defer stop()
	w, err, more := next()
	if err != nil || !more {
		return err
	}
	n := 0
	for r, err := range s.table(tableOccurrence) {
		if n++; n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		t, d, err := parseOccurrenceKey(r.key())
		for err == nil && more && compareTexts(w.text, t) < 0 {
			w, err, more = next()
		}
		if err != nil || !more {
			return err
		}
		if w.text == t {
			if err := to.add(d[:], slices.Concat(w.group[:], w.text[:])); err != nil {
				return err
			}
		}
	}
	return nil
}

// gatherDocuments writes group, text and docID to where the document is and its
// row.
func (s *store) gatherDocuments(ctx context.Context, byDocument, to *sorter) error {
	next, stop := iter.Pull2(byDocument.sorted())
	defer stop()
	w, err, more := next()
	if err != nil || !more {
		return err
	}
	n := 0
	for r, err := range s.table(tableDocument) {
		if n++; n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		id, _, _, err := parseDocumentKey(r.key())
		if err != nil {
			return err
		}
		switch c := bytes.Compare(w.key, id[:]); {
		case c > 0: // one that nobody wants, or another file that holds the one before
			continue
		case c < 0:
			return fmt.Errorf("no document: %w", corrupt(w.key))
		}
		v, err := r.value()
		if err == nil {
			place := r.key()[1+len(id):]
			head := append([]byte{byte(len(place) >> 8), byte(len(place))}, place...)
			err = to.add(append(bytes.Clone(w.value), id[:]...), append(head, v...))
		}
		if err == nil {
			w, err, more = next()
		}
		if err != nil || !more {
			return err
		}
	}
	return fmt.Errorf("no document: %w", corrupt(w.key))
}

// pagesOf reads what gather has found.
func pagesOf(ctx context.Context, gathered *sorter) iter.Seq2[textPages, error] {
	return func(yield func(textPages, error) bool) {
		var current textPages
		flush := func() bool {
			slices.SortFunc(current.pages, comparePagesOfText)
			return yield(current, ctx.Err())
		}
		for e, err := range gathered.sorted() {
			var m report.Member
			if err == nil {
				m, err = parseGathered(e)
			}
			if err != nil {
				yield(textPages{}, err)
				return
			}
			of := wantedText{textID(e.key[:16]), textID(e.key[16:32])}
			if len(current.pages) > 0 && of != current.wantedText {
				if !flush() {
					return
				}
				current.pages = nil
			}
			current.wantedText = of
			current.pages = append(current.pages, m)
		}
		if len(current.pages) > 0 {
			flush()
		}
	}
}

func parseGathered(e entry) (m report.Member, err error) {
	if len(e.key) != 3*16 || len(e.value) < 2 {
		return m, corrupt(e.key)
	}
	n := int(e.value[0])<<8 | int(e.value[1])
	if len(e.value) < 2+n {
		return m, corrupt(e.key)
	}
	file, offset, err := parsePlace(e.value[2 : 2+n])
	if err != nil {
		return m, err
	}
	id := extract.ID(e.key[32:])
	var d pageDocument
	if err := json.Unmarshal(e.value[2+n:], &d); err != nil {
		return m, fmt.Errorf("%w: document %s (%w)", errCorrupt, id, err)
	}
	return d.member(id, file, offset), nil
}
