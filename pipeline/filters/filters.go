// Package filters has the stages as filters: programs that read frames of rows and
// write frames of rows (package blocks). An engine that shuffles frames by their
// targets runs the pipeline with them on many machines (Plan). A filter needs no
// workspace and no database. It reads its whole input, in any order, and sorts it in
// files, so its memory does not follow its input; what it writes depends on the rows
// alone, so a task that failed can be repeated anywhere.
//
// The computations are those of package dataflow.
package filters

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"neardup/configs"
	"neardup/pipeline/blocks"
	"neardup/pipeline/extsort"
)

// Filter is a stage as a filter.
type Filter struct {
	Name, Help string
	run        func(*task) error
}

// All lists the filters in the order of the help. To add a filter, add an entry and a
// step of the plan.
var All = []Filter{
	{"extract", "archives, by name, to pages, texts and revisits", (*task).extract},
	{"revisit-keys", "revisits to the keys by which they refer to captures", (*task).revisitKeys},
	{"captures", "documents to those that a revisit may refer to", (*task).captures},
	{"resolve", "revisits and these documents to pages", (*task).resolve},
	{"frame-sightings", "texts to where their sentences stand, to learn frames", (*task).frameSightings},
	{"frames", "sightings to sentences of frames, and to answers for texts", (*task).frames},
	{"sign", "texts to signatures", (*task).sign},
	{"lists", "signatures to edges", (*task).lists},
	{"sets", "edges to perhaps-similar sets, or to candidate pairs", (*task).sets},
	{"tokens", "texts to the tokens that a join compares, or to bands", (*task).tokens},
	{"shared-tokens", "tokens to those that several texts have, for each text", (*task).sharedTokens},
	{"prefixes", "these to records, and to their rarest tokens", (*task).prefixes},
	{"meet", "records under one token or band to candidates", (*task).meet},
	{"gather-join", "records to the partitions that join them", (*task).gatherJoin},
	{"join", "candidates with their records to similar pairs", (*task).join},
	{"rarity-sightings", "texts to where their sentences stand, for the check of rarity", (*task).raritySightings},
	{"rarity", "sightings to common sentences, and to answers for texts", (*task).rarity},
	{"gather", "texts to the partitions that compare them", (*task).gather},
	{"verify", "sets or pairs with their texts to verdicts", (*task).verify},
	{"components", "verdicts to components of linked texts", (*task).components},
	{"part", "components with their texts to parts", (*task).part},
	{"checked", "verdicts of parts to those that no set gave", (*task).checked},
	{"close", "verdicts and parts to clusters", (*task).close},
	{"group-pages", "texts of clusters, and those around them, to their pages", (*task).groupPages},
	{"group-documents", "these pages to their documents", (*task).groupDocuments},
	{"export", "clusters with their pages to files", (*task).export},
	{"sort", "rows of any datasets to sorted rows, each once", (*task).sort},
}

// Find returns the filter with a name.
func Find(name string) (f Filter, ok bool) {
	for _, f := range All {
		if f.Name == name {
			return f, true
		}
	}
	return f, false
}

// Options are the options of a task.
type Options struct {
	Config     configs.Config
	Partitions int    // of the datasets
	Task       int    // number of the task among those of its step
	Temp       string // directory for temporary files
	Workers    int
	Warn       func(message string) // may be nil
	Attempts   Attempts             // for extract; may be nil
	Exports    []string             // for export: the formats
	File       File                 // for export
}

// File publishes what write writes as the file of a name, completely or not at all.
type File func(name string, write func(io.Writer) error) error

// Run runs a filter.
func (f Filter) Run(ctx context.Context, in io.Reader, out io.Writer, o Options) (err error) {
	t := &task{Options: o, ctx: ctx, name: f.Name, in: map[byte]*extsort.Sorter{}, out: blocks.NewWriter(out, o.Partitions)}
	if t.Warn == nil {
		t.Warn = func(string) {}
	}
	defer func() {
		for _, s := range t.in {
			err = errors.Join(err, s.Close())
		}
		for _, close := range t.closers {
			err = errors.Join(err, close())
		}
	}()
	if err := t.read(in); err != nil {
		return err
	}
	if err := f.run(t); err != nil {
		return err
	}
	return t.out.Close()
}

// task is a filter at work.
type task struct {
	Options
	ctx     context.Context
	name    string
	in      map[byte]*extsort.Sorter // rows of the input, by the letters of their datasets
	out     *blocks.Writer
	closers []func() error
	steps   int
}

// read reads the input.
func (t *task) read(in io.Reader) error {
	r := blocks.NewReader(in)
	for {
		f, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		s := t.in[f.Layout.Letter]
		if s == nil {
			s = extsort.New(t.Temp)
			t.in[f.Layout.Letter] = s
		}
		for e, err := range f.Rows() {
			if err == nil {
				err = s.Add(e.Key, e.Value)
			}
			if err := errors.Join(err, t.alive()); err != nil {
				return err
			}
		}
	}
}

// alive returns the context's error from time to time.
func (t *task) alive() error {
	if t.steps++; t.steps&0xfff == 0 {
		return context.Cause(t.ctx)
	}
	return nil
}

// rows yields the rows of a dataset of the input by key. Of rows with one key it
// yields the first.
func (t *task) rows(l blocks.Layout) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		s := t.in[l.Letter]
		if s == nil {
			return
		}
		var last []byte
		for e, err := range s.Sorted() {
			if err == nil {
				err = t.alive()
			}
			if err == nil && last != nil && bytes.Equal(e.Key, last) {
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
			last = append(last[:0], e.Key...)
		}
	}
}

// table returns rows for lookups. It is closed when the filter ends.
func (t *task) table(entries iter.Seq2[extsort.Entry, error]) (*extsort.Table, error) {
	table, err := extsort.NewTable(t.Temp, entries)
	if err == nil {
		t.closers = append(t.closers, table.Close)
	}
	return table, err
}

// count writes what the task counted.
func (t *task) count(counts any) error {
	value, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	return t.out.PutTo(blocks.Counts, 0, binary.BigEndian.AppendUint32([]byte(t.name+"\x00"), uint32(t.Task)), value)
}

// sort writes the rows of the input.
func (t *task) sort() error {
	for _, l := range blocks.All {
		for e, err := range t.rows(l) {
			if err == nil {
				err = t.out.PutTo(l, uint32(t.Task), e.Key, e.Value)
			}
			if err != nil {
				return err
			}
		}
		if err := t.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// cursor reads sorted rows beside others.
type cursor struct {
	next func() (extsort.Entry, error, bool)
	stop func()
	at   extsort.Entry
	err  error
	more bool
}

func newCursor(rows iter.Seq2[extsort.Entry, error]) *cursor {
	c := &cursor{}
	c.next, c.stop = iter.Pull2(rows)
	c.at, c.err, c.more = c.next()
	return c
}

// of calls each with the rows whose keys begin with a prefix. Prefixes ascend from
// call to call. A row is valid until the call returns.
func (c *cursor) of(prefix []byte, each func(extsort.Entry) error) error {
	for c.err == nil && c.more && bytes.Compare(c.at.Key, prefix) < 0 {
		c.at, c.err, c.more = c.next()
	}
	for c.err == nil && c.more && bytes.HasPrefix(c.at.Key, prefix) {
		if err := each(c.at); err != nil {
			return err
		}
		c.at, c.err, c.more = c.next()
	}
	return c.err
}

// damaged returns the error of a row that no filter wrote.
func damaged(l blocks.Layout, e extsort.Entry) error {
	return fmt.Errorf("a damaged row of %s: %.40x", l.Name, e.Key)
}
