// Package checking checks a workspace: the checksums of all blocks of its files,
// the recorded contents of its tables, the references between the tables, and the
// exports.
package checking

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"neardup/extract"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/exports"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// maxNamed limits the problems that are named.
const maxNamed = 100

// Result is the result of a check.
type Result struct {
	Files    int      // files of the database, each sound or among the problems
	Rows     int64    // rows that were compared with others
	Exports  int      // files that were compared with the database
	Problems []string // the first problems
	More     int64    // further problems that are not named
	Notes    []string // what was not checked, and why
}

// checker collects problems.
type checker struct {
	Result
	ctx context.Context
	w   *workspace.Workspace
}

// Check checks the workspace in dir. open opens it, and is called only when the
// files of its database are sound, since an open database ends the process when it
// meets damage. Check changes nothing. The result has the damage; the error is one
// of the check itself, or says why the workspace is refused. Opening the workspace
// checks the manifest and the files that Pebble trusts.
func Check(ctx context.Context, dir string, open func() (*workspace.Workspace, error)) (Result, error) {
	c := &checker{ctx: ctx}
	if err := c.files(filepath.Join(dir, "db")); err != nil || len(c.Problems) > 0 {
		return c.Result, err
	}
	w, err := open()
	if err != nil {
		return c.Result, err
	}
	c.w = w
	return c.Result, errors.Join(c.tables(), w.Close())
}

// files checks the files of the database.
func (c *checker) files(dir string) error {
	lock, err := store.LockDirectory(dir)
	if err != nil { // opening reports the reason, or that there is no database
		return nil
	}
	files, wrong, err := store.CheckFiles(c.ctx, dir)
	c.Files = files
	for _, err := range wrong {
		c.problem("%v", err)
	}
	if len(wrong) > 0 { // the rest cannot be read, or would be reported twice
		c.note("tables and exports, because files of the database are damaged")
	}
	return errors.Join(err, lock.Close())
}

// tables checks the references between the tables, and the exports.
func (c *checker) tables() error {
	for _, step := range []func() error{c.contents, c.sources, c.texts, c.documents, c.signatures, c.pairs, c.clusters, c.exports} {
		if err := step(); err != nil {
			if c.ctx.Err() != nil || !errors.Is(err, layout.ErrCorrupt) {
				return err
			}
			c.problem("%v", err) // a row that cannot be parsed
		}
	}
	return nil
}

func (c *checker) problem(format string, args ...any) {
	if len(c.Problems) == maxNamed {
		c.More++
		return
	}
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

func (c *checker) note(what string) { c.Notes = append(c.Notes, what) }

// contents compares the tables with their recorded contents.
func (c *checker) contents() error {
	err := c.w.CheckContents()
	if errors.Is(err, layout.ErrCorrupt) {
		c.problem("%v", err)
		return nil
	}
	return err
}

// sources checks that every record is accounted for.
func (c *checker) sources() error {
	known, err := c.w.Sources()
	if err != nil {
		return err
	}
	var sum results.ExtractCounts
	for _, s := range known {
		n := s.Counts.Captures + s.Counts.Revisits
		for _, skipped := range s.Counts.Skipped {
			n += skipped
		}
		if n != s.Counts.Records {
			c.problem("input %s has %d records, but %d are accounted for", s.Path, s.Counts.Records, n)
		}
		sum.RecordCounts.Add(s.Counts)
	}
	s, ok, err := c.w.State(workspace.StageExtract)
	if err != nil || !ok || !s.Done || s.Tables == nil {
		if err == nil {
			c.note("counts of the extraction, which is not done")
		}
		return err
	}
	var counts results.ExtractCounts
	if err := c.w.Counts(workspace.StageExtract, &counts); err != nil {
		return err
	}
	if sum.Records != counts.Records || counts.Captures != counts.Documents+counts.Duplicates || counts.Files != len(known) {
		c.problem("the extraction counts %d records in %d files; the inputs have %d in %d", counts.Records, counts.Files, sum.Records, len(known))
	}
	return nil
}

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
		table byte
		name  string
	}{{layout.TableOccurrence, "a page"}, {layout.TableUnits, "a row of units"}, {layout.TableSigned, "a signed text"}, {layout.TableAssigned, "a text in a cluster"}, {layout.TableHost, "a contained text"}}
	var all []*byText
	for _, t := range tables {
		b, stop := c.byText(t.table)
		defer stop()
		all = append(all, b)
	}
	missing := func(i int) func(rows.TextID) {
		return func(t rows.TextID) { c.problem("%s has the text %x, which is missing", tables[i].name, t) }
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
			if i == 0 && n == 0 {
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

// documents checks, in both tables, that each page has its text.
func (c *checker) documents() error {
	n, seen := int64(0), extract.ID{}
	for d, err := range results.DocumentRows[rows.Document](c.w) {
		if err := errors.Join(err, c.ctx.Err()); err != nil {
			return err
		}
		c.Rows++
		t, err := results.ParseTextID(d.Row.TextID)
		if err != nil {
			return err
		}
		o, ok, err := c.w.DB.Get(layout.OccurrenceKey(t, d.ID))
		if err != nil {
			return err
		}
		if !ok || !bytes.Equal(o, layout.OccurrenceValue(rows.OccurrenceOf(d.Row.Document))) {
			c.problem("page %s (%s) is not listed under its text", d.ID, d.Row.TargetURI)
		}
		if d.ID != seen {
			n, seen = n+1, d.ID
		}
	}
	occurrences, err := c.w.DB.Count(layout.TableOccurrence)
	if err == nil && occurrences != n {
		c.problem("%d pages are listed under texts, but there are %d", occurrences, n)
	}
	round, last := int64(0), extract.ID{} // pages with units around their text
	for r, aerr := range c.w.DB.Table(layout.TableAround) {
		if err := errors.Join(aerr, c.ctx.Err()); err != nil {
			return err
		}
		c.Rows++
		var d rows.Document
		ok, err := c.w.DB.GetJSON(r.DocumentKey(), &d)
		if err != nil {
			return err
		}
		v, err := r.Value()
		if err != nil {
			return err
		}
		_, around, parsed := layout.ParseAround(v)
		if !ok || !parsed {
			c.problem("what is around the text of a page belongs to no page, or is damaged: row %.40x", r.Key())
			continue
		}
		id, _, _, err := layout.ParseDocumentKey(r.Key())
		if err != nil {
			return err
		}
		units, has, err := c.w.DB.Get(layout.UnitsRoundKey(id))
		if err != nil {
			return err
		}
		var want []byte
		if o, exact := rows.OccurrenceOf(d.Document), dataflow.ExactUnits(around); o.Site != rows.NoSite && len(exact) > 0 {
			want = layout.UnitsRoundValue(o.Site, o.Address, exact)
		}
		if !bytes.Equal(units, want) {
			c.problem("page %s has the units of what is around another page, or none", id)
		}
		if has && id != last {
			round++
		}
		last = id
	}
	if n, nerr := c.w.DB.Count(layout.TableUnitsRound); nerr != nil || n != round {
		if nerr != nil {
			return nerr
		}
		c.problem("%d pages have units around their texts, but there are %d", n, round)
	}
	return err
}

// signatures checks that the number of postings is the number of signatures of the
// texts.
func (c *checker) signatures() error {
	var signatures, postings int64
	for r, err := range c.w.DB.Table(layout.TableSigned) {
		if err != nil {
			return err
		}
		s, err := r.Signed()
		if err != nil {
			return err
		}
		c.Rows++
		signatures += int64(s.Signatures)
	}
	for r, err := range c.w.DB.Table(layout.TablePosting) {
		if err == nil {
			_, err = layout.ParsePostingKey(r.Key())
		}
		if err != nil {
			return err
		}
		if postings++; postings&0xffff == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
	}
	c.Rows += postings
	if s, ok, err := c.w.State(workspace.StageSign); err != nil || !ok || !s.Done {
		if err == nil {
			c.note("numbers of signatures, because signing is not done")
		}
		return err
	}
	if signatures != postings {
		c.problem("there are %d signatures, but texts were signed with %d", postings, signatures)
	}
	return nil
}

// pairs checks that verdicts and sets can be parsed and refer to existing texts.
func (c *checker) pairs() error {
	signed := func(k rows.TextID) error {
		_, ok, err := c.w.DB.Get(layout.SignedKey(k))
		if err == nil && !ok {
			c.problem("a verdict names the text %x, which is not signed", k)
		}
		return err
	}
	if s, ok, err := c.w.State(workspace.StageVerify); err != nil || !ok || !s.Done {
		if err == nil {
			c.note("verdicts, because verifying is not done")
		}
		return err
	}
	for _, table := range []byte{layout.TableVerdict, layout.TableChecked, layout.TablePart} {
		for l, err := range results.ScoredPairs(c.w, table) {
			if err := errors.Join(err, c.ctx.Err()); err != nil {
				return err
			}
			c.Rows++
			if err := errors.Join(signed(l.Leader.ID()), signed(l.Member.ID())); err != nil {
				return err
			}
			if l.Score.Resemblance < 0 || l.Score.Resemblance > 1 || l.Score.Containment < 0 || l.Score.Containment > 1 {
				c.problem("the verdict on %x and %x has impossible scores", l.Leader, l.Member)
			}
		}
	}
	return nil
}

// clusters checks that each clustered text is in exactly one cluster, with its
// representative, and is verified against a member of it.
func (c *checker) clusters() error {
	n := int64(0)
	for r, err := range c.w.DB.Table(layout.TableCluster) {
		if err := errors.Join(err, c.ctx.Err()); err != nil {
			return err
		}
		row, err := r.Cluster()
		if err != nil {
			return err
		}
		c.Rows++
		n++
		for _, t := range []rows.TextID{row.Member, row.Against, row.Cluster} {
			in, ok, err := results.ClusterOf(c.w, t)
			if err != nil {
				return err
			}
			if !ok || in != row.Cluster {
				c.problem("the text %x of the cluster %x is not recorded in that cluster", t, row.Cluster)
			}
		}
	}
	assigned, err := c.w.DB.Count(layout.TableAssigned)
	if err == nil && assigned != n {
		c.problem("%d texts are in clusters, but clusters have %d", assigned, n)
	}
	if err != nil {
		return err
	}
	contained, hosts := int64(0), int64(0)
	for r, err := range c.w.DB.Table(layout.TableContained) {
		if err != nil {
			return err
		}
		row, err := r.Contained()
		if err != nil {
			return err
		}
		c.Rows++
		contained++
		v, ok, err := c.w.DB.Get(layout.HostKey(row.Text))
		if err != nil {
			return err
		}
		if !ok || !bytes.Equal(v, layout.HostValue(row)) {
			c.problem("the text %x is contained in another text than is recorded", row.Text)
		}
	}
	if hosts, err = c.w.DB.Count(layout.TableHost); err == nil && hosts != contained {
		c.problem("%d texts have a host, but hosts have %d", hosts, contained)
	}
	return err
}

// exports compares the exports with those that the database gives now.
func (c *checker) exports() (err error) {
	there := false
	for _, name := range exports.Files {
		_, err := os.Stat(c.w.Path("exports", name))
		there = there || err == nil
	}
	if !there {
		c.note("exports, because there are none")
		return nil
	}
	if err := c.w.Current(workspace.StageVerify); err != nil {
		c.note("exports, because the run is not up to date")
		return nil
	}
	dir, err := os.MkdirTemp("", "neardup-check-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if _, err := exports.WriteAllTo(c.ctx, c.w, dir, func(report.Cluster) {}); err != nil {
		return err
	}
	for _, name := range exports.Files {
		same, err := equalFiles(filepath.Join(dir, name), c.w.Path("exports", name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.problem("exports/%s is missing; neardup run writes it again", name)
		case err != nil:
			return err
		case !same:
			c.problem("exports/%s differs from what the database gives; neardup run writes it again", name)
		}
		c.Exports++
	}
	return nil
}

// equalFiles compares two files.
func equalFiles(a, b string) (bool, error) {
	f, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	g, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer func() { _ = g.Close() }()
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(f, x)
		m, err2 := io.ReadFull(g, y)
		if !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		if err != nil || err2 != nil {
			if ended := func(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }; ended(err) && ended(err2) {
				return true, nil
			}
			return false, errors.Join(err, err2)
		}
	}
}
