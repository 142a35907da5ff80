package dataflow_test

import (
	"encoding/json"
	"errors"
	"io"
	"slices"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extractors"
	"neardup/pipeline/extsort"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/revisits"
	"neardup/pipeline/rows"
)

// extract makes the files texts, around, occurrences and documents of an archive, or of
// lines of texts.
func (p plain) extract(input string) {
	p.t.Helper()
	limits := p.config.Extract.Limits
	sources, _, err := inputs.Find(p.t.Context(), p.dir, []string{input}, nil, limits)
	if err != nil {
		p.t.Fatal(err)
	}
	x := extractors.New(p.config.Extract)
	files := map[string]*extsort.Sorter{}
	for _, name := range []string{"texts", "around", "occurrences", "documents", "revisits"} {
		files[name] = extsort.New(p.dir)
		defer func() { _ = files[name].Close() }()
	}
	add := func(name string, key []byte, row any) {
		value, err := json.Marshal(row)
		if err := errors.Join(err, files[name].Add(key, value)); err != nil {
			p.t.Fatal(err)
		}
	}
	for _, s := range sources {
		r, _, closer, err := s.Reader(p.t.Context(), limits)
		if err != nil {
			p.t.Fatal(err)
		}
		for raw, err := r.Next(); err != io.EOF; raw, err = r.Next() {
			if damage := (*container.Damage)(nil); errors.As(err, &damage) {
				continue
			}
			if err != nil {
				p.t.Fatal(err)
			}
			e := dataflow.Extract(x, raw, func(rows.TextID) bool { return false })
			d := e.Document.Document
			switch place := layout.DocumentKey(d.ID, s.ID(), raw.Offset)[1:]; {
			case e.Reason != extract.ReasonNone:
			case e.IsRevisit():
				add("revisits", layout.RevisitKey(d.ID, s.Path, s.ID(), raw.Offset)[1:], d)
			default:
				if err := files["texts"].Add(e.Text[:], []byte(d.Text)); err != nil {
					p.t.Fatal(err)
				}
				add("documents", place, e.Document)
				o := rows.OccurrenceOf(d)
				add("occurrences", slices.Concat(e.Text[:], d.ID[:]), o)
				if len(e.AroundUnits.Exact) > 0 {
					add("around", d.ID[:], e.AroundUnits)
				}
			}
		}
		if err := closer.Close(); err != nil {
			p.t.Fatal(err)
		}
	}
	for name, rows := range files {
		p.writeSorted(name, rows)
	}

	// Revisits and documents to more documents.
	captures := read(p, "documents", func(k, v []byte) (revisits.Capture, error) {
		row := func() (d rows.Document, err error) { return d, json.Unmarshal(v, &d) }
		return revisits.Capture{ID: extract.ID(k[:16]), Row: row, Brief: row}, nil
	})
	resolved := read(p, "revisits", func(k, v []byte) (r revisits.Revisit, err error) {
		err = json.Unmarshal(v, &r.Document)
		r.Place, r.Document.ID = k, extract.ID(k[:16])
		return r, err
	})
	sorter := func() *extsort.Sorter { return extsort.New(p.dir) }
	err = revisits.Resolve(p.t.Context(), resolved, captures, sorter, func(r revisits.Revisit, t rows.TextID, page rows.Document) error {
		at, err := layout.ParseRevisitPlace(r.Place)
		add("documents", at.Document()[1:], page)
		add("occurrences", slices.Concat(t[:], page.ID[:]), rows.OccurrenceOf(page.Document))
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range []string{"documents", "occurrences"} {
		p.writeSorted(name, files[name])
	}
}
