package filters

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/blocks"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extractors"
	"neardup/pipeline/extsort"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/revisits"
	"neardup/pipeline/rows"
)

// extract reads archives by name. An archive that cannot be read, or not to its end,
// is a source with an error; what was read of it counts, as in a workspace.
func (t *task) extract() error {
	x := extractors.New(t.Config.Extract)
	for e, err := range t.rows(blocks.Names) {
		if err != nil {
			return err
		}
		sources, _, err := inputs.Find(t.ctx, t.Temp, []string{string(e.Key)}, nil, t.Config.Extract.Limits)
		if err != nil {
			return err
		}
		inputs.ShareFiles(sources, t.Config.Extract.Limits, 1)
		for i := range sources {
			s := &sources[i]
			if s.State != inputs.Unreadable {
				err := t.extractSource(x, s)
				if t.ctx.Err() != nil {
					return cmp.Or(t.ctx.Err(), err)
				}
				var output outputError
				if errors.As(err, &output) {
					return err
				}
				s.State, s.Digested = inputs.Done, nil
				if err != nil {
					s.State, s.Error = inputs.Unreadable, err.Error()
				}
			}
			if s.Error != "" {
				t.Warn(fmt.Sprintf("cannot read %s further: %s", s.Shown(), s.Error))
			}
			row, err := json.Marshal(s)
			if err := errors.Join(err, t.out.Put(blocks.Sources, layout.SourceKey(s.Path)[1:], row)); err != nil {
				return err
			}
		}
	}
	return nil
}

// outputError is an error of what the filter writes, not of what it reads.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// Attempts knows what earlier attempts of a task left.
type Attempts interface {
	// Open returns a note of what the task reads of a source, and the records that
	// ended an attempt, which it must skip.
	Open(context.Context, inputs.Source) (Note, []inputs.EndedRun, error)
}

// Note says which record is being read. It outlives the process.
type Note interface {
	Begin(at container.Position) error // the record behind a position
	End() error
	Close() error
}

type noNote struct{}

func (noNote) Begin(container.Position) error { return nil }
func (noNote) End() error                     { return nil }
func (noNote) Close() error                   { return nil }

// extractSource writes the rows of an archive. It returns its read error.
func (t *task) extractSource(x *extract.Extractor, s *inputs.Source) error {
	limits := t.Config.Extract.Limits
	var note Note = noNote{}
	if t.Attempts != nil {
		var err error
		if note, s.Ended, err = t.Attempts.Open(t.ctx, *s); err != nil {
			return outputError{err}
		}
	}
	defer func() { _ = note.Close() }()
	r, digester, closer, err := s.Reader(t.ctx, limits)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	account := extract.NewAccount(0)
	for {
		before := s.Position
		raw, err := r.Next()
		if err == io.EOF {
			s.Position = r.Position()
			return s.Finish(t.ctx, digester, limits)
		}
		var damage *container.Damage
		if err != nil && !errors.As(err, &damage) {
			return err
		}
		s.Position = r.Position()
		if damage != nil {
			s.Counts.Damaged++
			continue
		}
		if s.Skips(before) {
			s.Counts.Record(extract.Document{}, extract.ReasonEndedRun)
			continue
		}
		if err := note.Begin(before); err != nil {
			return outputError{err}
		}
		raw.Room = account.Room(raw)
		e := dataflow.Extract(x, raw, func(rows.TextID) bool { return false }) // other tasks may have the text, too
		if err := note.End(); err != nil {
			return outputError{err}
		}
		e.Reason = account.Take(raw, e.Reason)
		s.Decoded = account.Spent()
		s.Counts.Record(e.Document.Document, e.Reason)
		if e.Reason != extract.ReasonNone {
			continue
		}
		if err := errors.Join(t.page(s, raw.Offset, e), t.ctx.Err()); err != nil {
			return outputError{err}
		}
	}
}

// page writes the rows of a record.
func (t *task) page(s *inputs.Source, offset int64, e dataflow.Extracted) error {
	d := e.Document.Document
	if e.IsRevisit() {
		row, err := json.Marshal(rows.Revisit{Document: d})
		return errors.Join(err, t.out.Put(blocks.Revisits, layout.RevisitKey(d.ID, s.Path, s.ID(), offset)[1:], row))
	}
	row, err := json.Marshal(e.Document)
	if err == nil && d.Marks != "" {
		err = t.out.Put(blocks.Around, layout.AroundKey(d.ID, s.ID(), offset)[1:], layout.AroundValue(d.Marks, e.Around))
	}
	if a := e.AroundUnits; err == nil && len(a.Exact) > 0 {
		err = t.out.Put(blocks.Round, layout.UnitsRoundKey(d.ID, s.ID(), offset)[1:], layout.UnitsRoundValue(a.Page.Site, a.Page.Address, a.Exact))
	}
	return errors.Join(err,
		t.out.Put(blocks.Texts, e.Text[:], []byte(d.Text)),
		t.out.Put(blocks.Units, e.Text[:], layout.UnitsValue(e.Units)),
		t.out.Put(blocks.Documents, layout.DocumentKey(d.ID, s.ID(), offset)[1:], row),
		t.occurrence(e.Text, d.ID, d))
}

func (t *task) occurrence(text rows.TextID, id extract.ID, d extract.Document) error {
	return t.out.Put(blocks.Occurrences, layout.OccurrenceKey(text, id)[1:], layout.OccurrenceValue(rows.OccurrenceOf(d)))
}

// revisit parses a row of revisits.
func revisit(e extsort.Entry) (v revisits.Revisit, err error) {
	var row rows.Revisit
	if err := json.Unmarshal(e.Value, &row); err != nil || len(e.Key) < 16 || row.Repeats == nil {
		return v, damaged(blocks.Revisits, e)
	}
	v = revisits.Revisit{Place: slices.Clone(e.Key), Document: row.Document}
	v.Document.ID = extract.ID(e.Key[:16])
	return v, nil
}

func (t *task) revisits() iter.Seq2[revisits.Revisit, error] {
	return func(yield func(revisits.Revisit, error) bool) {
		for e, err := range t.rows(blocks.Revisits) {
			var v revisits.Revisit
			if err == nil {
				v, err = revisit(e)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (t *task) revisitKeys() error {
	for v, err := range t.revisits() {
		if err != nil {
			return err
		}
		for _, k := range v.Document.Repeats.Keys(v.Document.TargetURI) {
			if err := t.out.PutTo(blocks.Wanted, 0, k[:], nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// captures keeps the documents that a revisit may refer to, with all rows of each.
func (t *task) captures() error {
	wanted, err := t.table(t.rows(blocks.Wanted))
	if err != nil {
		return err
	}
	var same []extsort.Entry // rows of the present document
	asked := false
	flush := func() error {
		for _, e := range same {
			if !asked {
				break
			}
			if err := t.out.PutTo(blocks.Documents, 0, e.Key, e.Value); err != nil {
				return err
			}
		}
		same, asked = same[:0], false
		return nil
	}
	for e, err := range t.rows(blocks.Documents) {
		if err != nil {
			return err
		}
		d, err := document(e)
		if err != nil {
			return err
		}
		if len(same) > 0 && string(same[0].Key[:16]) != string(e.Key[:16]) {
			if err := flush(); err != nil {
				return err
			}
		}
		same = append(same, extsort.Entry{Key: slices.Clone(e.Key), Value: slices.Clone(e.Value)})
		for _, k := range d.Keys() {
			_, found, err := wanted.Get(k[:])
			if err != nil {
				return err
			}
			asked = asked || found
		}
	}
	return flush()
}

func document(e extsort.Entry) (d rows.Document, err error) {
	if err := json.Unmarshal(e.Value, &d); err != nil || len(e.Key) < 16 {
		return d, damaged(blocks.Documents, e)
	}
	return d, nil
}

// resolve writes each revisit of a capture as a page, and all revisits with what was
// found for them.
func (t *task) resolve() error {
	captures := func(yield func(revisits.Capture, error) bool) {
		for e, err := range t.rows(blocks.Documents) {
			if err == nil && len(e.Key) < 16 {
				err = damaged(blocks.Documents, e)
			}
			var c revisits.Capture
			if err == nil {
				row := func() (rows.Document, error) { return document(e) }
				c = revisits.Capture{ID: extract.ID(e.Key[:16]), Row: row, Brief: row}
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
	resolved := extsort.New(t.Temp) // place → text
	t.closers = append(t.closers, resolved.Close)
	sorter := func() *extsort.Sorter { return extsort.New(t.Temp) }
	err := revisits.Resolve(t.ctx, t.revisits(), captures, sorter, func(r revisits.Revisit, text rows.TextID, page rows.Document) error {
		at, err := layout.ParseRevisitPlace(r.Place)
		if err != nil {
			return err
		}
		row, err := json.Marshal(page)
		return errors.Join(err, resolved.Add(r.Place, text[:]), t.out.Put(blocks.Documents, at.Document()[1:], row),
			t.occurrence(text, at.ID, page.Document))
	})
	if err != nil {
		return err
	}
	found := newCursor(resolved.Sorted())
	defer found.stop()
	for v, err := range t.revisits() {
		if err != nil {
			return err
		}
		row := rows.Revisit{Document: v.Document}
		err = found.of(v.Place, func(e extsort.Entry) error {
			row.Resolved = hex.EncodeToString(e.Value)
			return nil
		})
		b, jsonErr := json.Marshal(row)
		if err := errors.Join(err, jsonErr, t.out.Put(blocks.Revisits, v.Place, b)); err != nil {
			return err
		}
	}
	return nil
}
