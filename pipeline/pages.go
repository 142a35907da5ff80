package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"neardup/extract"
	"neardup/report"
)

// pageFinder looks up the pages that have a text, many texts one after another.
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

// pages gives the pages that have the text: captures before revisits, the
// earliest first.
func (f *pageFinder) pages(t textID) ([]report.Member, error) {
	var out []report.Member
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
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b report.Member) int {
		return cmp.Or(compareBool(a.RevisitOf != "", b.RevisitOf != ""), comparePages(a, b))
	})
	return out, nil
}

// pageDocument is what an export shows of a storedDocument. Reading only that
// takes half the time.
type pageDocument struct {
	RecordID  string `json:"record_id"`
	TargetURI string `json:"uri"`
	Date      string `json:"date"`
	Digest    string `json:"digest"`
	Bytes     int64  `json:"bytes"`
	RevisitOf string `json:"revisit_of"`
}

// page reads a document as a member of a cluster.
func (f *pageFinder) page(id extract.ID) (report.Member, error) {
	var d pageDocument
	file, offset, err := readDocument(f.documents, id, &d)
	return report.Member{RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, WARC: file, Offset: offset,
		Digest: d.Digest, Bytes: d.Bytes, RevisitOf: d.RevisitOf}, err
}

// readDocument reads a document into d, and where it is. Of several files that
// hold it the first by name counts.
func readDocument(documents *seeker, id extract.ID, d any) (file string, offset int64, err error) {
	for r, err := range documents.rows(join(tableDocument, id[:])) {
		if err != nil {
			return "", 0, err
		}
		if err := r.json(d); err != nil {
			return "", 0, err
		}
		_, file, offset, err := parseDocumentKey(r.key())
		return file, offset, err
	}
	return "", 0, fmt.Errorf("no document: %w", corrupt(id[:]))
}
