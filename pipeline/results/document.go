package results

import (
	"fmt"
	"iter"

	"neardup/extract"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// Stored is a document's row, decoded as a D, with the parts of its key.
type Stored[D rows.Document | groups.DocumentView] struct {
	ID     extract.ID
	Source string // ID of the inputs.Source
	Offset int64
	Row    D
}

func parseDocument[D rows.Document | groups.DocumentView](r layout.Row) (s Stored[D], err error) {
	if s.ID, s.Source, s.Offset, err = layout.ParseDocumentKey(r.Key()); err != nil {
		return s, err
	}
	view, ok := any(&s.Row).(*groups.DocumentView)
	if !ok {
		return s, r.JSON(&s.Row)
	}
	*view, err = View(r)
	return s, err
}

// View decodes the value of a row of TableDocument.
func View(r layout.Row) (groups.DocumentView, error) {
	v, err := r.Value()
	if err != nil {
		return groups.DocumentView{}, err
	}
	d, err := groups.ParseView(v)
	if err != nil {
		err = fmt.Errorf("%w (%w)", layout.Corrupt(r.Key()), err)
	}
	return d, err
}

// DocumentRows iterates over all rows of documents by ID, then by file. A document
// that several files hold has a row for each file.
func DocumentRows[D rows.Document | groups.DocumentView](w *workspace.Workspace) iter.Seq2[Stored[D], error] {
	return func(yield func(Stored[D], error) bool) {
		for r, err := range w.DB.Table(layout.TableDocument) {
			var s Stored[D]
			if err == nil {
				s, err = parseDocument[D](r)
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Documents iterates over the documents by ID. If several files hold a document,
// the first by name counts.
func Documents[D rows.Document | groups.DocumentView](w *workspace.Workspace) iter.Seq2[Stored[D], error] {
	return func(yield func(Stored[D], error) bool) {
		var last extract.ID
		first := true
		for r, err := range w.DB.Table(layout.TableDocument) {
			var s Stored[D]
			if err == nil {
				s.ID, _, _, err = layout.ParseDocumentKey(r.Key())
			}
			if err == nil && !first && s.ID == last {
				continue
			}
			if err == nil {
				s, err = parseDocument[D](r)
			}
			if !yield(s, err) || err != nil {
				return
			}
			last, first = s.ID, false
		}
	}
}

// ReadDocument reads a document. If several files hold it, the first by name
// counts.
func ReadDocument[D rows.Document | groups.DocumentView](documents *store.Seeker, id extract.ID) (Stored[D], error) {
	s, ok, err := LookUpDocument[D](documents, id)
	if err == nil && !ok {
		err = fmt.Errorf("no document: %w", layout.Corrupt(id[:]))
	}
	return s, err
}

// LookUpDocument is ReadDocument for a document that may be missing.
func LookUpDocument[D rows.Document | groups.DocumentView](documents *store.Seeker, id extract.ID) (s Stored[D], ok bool, err error) {
	for r, err := range documents.Rows(layout.DocumentsOf(id)) {
		if err != nil {
			return s, false, err
		}
		s, err := parseDocument[D](r)
		return s, true, err
	}
	return s, false, nil
}

// RevisitRow is a row of TableRevisit.
type RevisitRow struct {
	Key layout.RevisitPlace
	Row rows.Revisit
}

// RevisitRows yields the rows of all revisits.
func RevisitRows(w *workspace.Workspace) iter.Seq2[RevisitRow, error] {
	return revisitRows(w.DB.Table(layout.TableRevisit))
}

// RevisitsOf yields the rows of the revisits with an ID.
func RevisitsOf(w *workspace.Workspace, id extract.ID) iter.Seq2[RevisitRow, error] {
	return revisitRows(w.DB.Rows(layout.PrefixBounds(layout.RevisitsOf(id))))
}

func revisit(r layout.Row) (v rows.Revisit, err error) {
	row, err := r.Value()
	if err != nil {
		return v, err
	}
	if v, err = rows.ParseRevisit(row); err != nil {
		err = fmt.Errorf("%w (%w)", layout.Corrupt(r.Key()), err)
	}
	return v, err
}

func revisitRows(all iter.Seq2[layout.Row, error]) iter.Seq2[RevisitRow, error] {
	return func(yield func(RevisitRow, error) bool) {
		for r, err := range all {
			var v RevisitRow
			if err == nil {
				v.Key, err = r.RevisitPlace()
			}
			if err == nil {
				v.Row, err = revisit(r)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}
