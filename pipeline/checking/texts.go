package checking

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"neardup/extract"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// byText goes through a table by the texts that its keys begin with.
type byText struct {
	next func() (layout.Row, error, bool)
	row  layout.Row
	err  error
	more bool
}

func (c *checker) byText(table byte) (*byText, func()) {
	next, stop := iter.Pull2(c.w.DB.Table(table))
	b := &byText{next: next}
	b.row, b.err, b.more = next()
	return b, stop
}

// of counts the rows of a text. It calls before with each earlier text that has
// rows.
func (b *byText) of(t rows.TextID, before func(rows.TextID)) (n int) {
	for b.more && b.err == nil {
		at, err := b.row.LeadingText()
		if err != nil {
			b.err = err
			return n
		}
		switch order := rows.CompareTexts(at, t); {
		case order > 0:
			return n
		case order < 0:
			before(at)
		default:
			n++
		}
		b.row, b.err, b.more = b.next()
	}
	return n
}

// texts checks that each text has the right ID and is on a page, and that every row
// about a text refers to an existing one.
func (c *checker) texts() error {
	tables := []struct {
		table       byte
		name, stage string
	}{{layout.TableOccurrence, "a page", workspace.StageExtract}, {layout.TableUnits, "a row of units", workspace.StageExtract}, {layout.TableSigned, "a signed text", workspace.StageSign},
		{layout.TableAssigned, "a text in a cluster", workspace.StageVerify}, {layout.TableHost, "a contained text", workspace.StageVerify}}
	var all []*byText
	done := map[string]bool{}
	for _, t := range tables {
		b, stop := c.byText(t.table)
		defer stop()
		all = append(all, b)
		if _, ok := done[t.stage]; ok {
			continue
		}
		is, err := c.done(t.stage)
		if err != nil {
			return err
		}
		if done[t.stage] = is; !is && b.more {
			c.note(fmt.Sprintf("whether %s has a text that is missing, because %s is not done", t.name, t.stage))
		}
	}
	missing := func(i int) func(rows.TextID) {
		return func(t rows.TextID) {
			if done[tables[i].stage] {
				c.problem("%s has the text %x, which is missing", tables[i].name, t)
			}
		}
	}
	for r, err := range c.w.DB.Table(layout.TableText) {
		if err := errors.Join(err, c.ctx.Err()); err != nil {
			return err
		}
		c.Rows++
		id, err := r.TextID()
		if err != nil {
			return err
		}
		value, err := r.Value()
		if err != nil {
			return err
		}
		if extract.TextID(string(value)) != id {
			c.problem("text %x is not the text that was stored", id)
		}
		units, _, err := c.w.DB.Get(layout.UnitsKey(id))
		if err != nil {
			return err
		}
		if !bytes.Equal(units, layout.UnitsValue(dataflow.UnitsOf(string(value)))) {
			c.problem("text %x has the units of another text, or none", id)
		}
		for i, b := range all {
			n := b.of(id, missing(i))
			if i == 0 && n == 0 && done[workspace.StageExtract] {
				c.problem("text %x is on no page", id)
			}
		}
	}
	last := rows.TextID(bytes.Repeat([]byte{0xff}, 16))
	for i, b := range all {
		b.of(last, missing(i))
		if b.err != nil {
			return b.err
		}
	}
	return nil
}

// documents checks, in both tables, that each page has its text, and that the inputs have
// their captures. Captures and revisits can have one ID; then one of those with a text is
// what is listed under it.
func (c *checker) documents() error {
	n := int64(0)
	captures := map[string]int64{}   // of each source's ID
	listed := map[rows.TextID]bool{} // whether a page of the present ID is what is listed under the text
	var present extract.ID
	var uri string // of all pages with this ID
	flush := func() {
		for _, ok := range listed {
			if n++; !ok {
				c.problem("page %s (%s) is not listed under its text", present, uri)
			}
		}
		clear(listed)
	}
	for d, err := range results.DocumentRows[rows.Document](c.w) {
		if err := errors.Join(err, c.ctx.Err()); err != nil {
			return err
		}
		c.Rows++
		t, err := layout.ParseTextID(d.Row.TextID)
		if err != nil {
			return err
		}
		if d.ID != present {
			flush()
			present, uri = d.ID, d.Row.TargetURI
		}
		if d.Row.Repeats == nil {
			captures[d.Source]++
		}
		o, ok, err := c.w.DB.Get(layout.OccurrenceKey(t, d.ID))
		if err != nil {
			return err
		}
		listed[t] = listed[t] || ok && bytes.Equal(o, layout.OccurrenceValue(rows.OccurrenceOf(d.Row.Document)))
	}
	flush()
	occurrences, err := c.w.DB.Count(layout.TableOccurrence)
	if err == nil && occurrences != n {
		c.problem("%d pages are listed under texts, but there are %d", occurrences, n)
	}
	return errors.Join(err, c.captures(captures))
}

// captures checks that captures of each source are there if any were read of it, and no more.
// Records of one compressed member that have one ID have one row. Equal files share their
// rows, and one of them may have been read further.
func (c *checker) captures(there map[string]int64) error {
	known, err := c.w.Sources()
	read := map[string]int64{}
	for _, s := range known {
		read[s.ID()] = max(read[s.ID()], s.Counts.Captures)
	}
	for _, s := range known {
		if n := read[s.ID()]; there[s.ID()] > n || there[s.ID()] == 0 && n > 0 {
			c.problem("%d captures were read of input %s, but there are %d", n, s.Path, there[s.ID()])
		}
	}
	return err
}

// around checks that what is around a page's text belongs to a page, and that the
// page has its units.
func (c *checker) around() error {
	n := int64(0) // pages with units around their text
	for r, err := range c.w.DB.Table(layout.TableAround) {
		if err := errors.Join(err, c.ctx.Err()); err != nil {
			return err
		}
		c.Rows++
		has, err := c.unitsAround(r)
		if err != nil {
			return err
		}
		if has {
			n++
		}
	}
	units, err := c.w.DB.Count(layout.TableUnitsRound)
	if err == nil && units != n {
		c.problem("%d pages have units around their texts, but there are %d", n, units)
	}
	return err
}

// unitsAround compares the units of a page with a row of TableAround. has reports
// whether the page has any.
func (c *checker) unitsAround(r layout.Row) (has bool, err error) {
	var d rows.Document
	ok, err := c.w.DB.GetJSON(r.DocumentKey(), &d)
	if err != nil {
		return false, err
	}
	v, err := r.Value()
	if err != nil {
		return false, err
	}
	id, file, offset, err := layout.ParseDocumentKey(r.Key())
	if err != nil {
		return false, err
	}
	_, around, parsed := layout.ParseAround(v)
	if !ok || !parsed {
		c.problem("what is around the text of a page belongs to no page, or is damaged: row %.40x", r.Key())
		return false, nil
	}
	units, has, err := c.w.DB.Get(layout.UnitsRoundKey(id, file, offset))
	if err != nil {
		return false, err
	}
	var want []byte
	if o, exact := rows.OccurrenceOf(d.Document), dataflow.ExactUnits(around); o.Site != rows.NoSite && len(exact) > 0 {
		want = layout.UnitsRoundValue(o.Site, o.Address, exact)
	}
	if !bytes.Equal(units, want) {
		c.problem("page %s has the units of what is around another page, or none", id)
	}
	return has, nil
}
