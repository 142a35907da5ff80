package filters

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"neardup/pipeline/blocks"
	"neardup/pipeline/groups"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/report"
)

// format is a format of exports. Partitions are ranges of clusters, so the files of
// all partitions, one behind the other, are the file of one machine, except for
// formats that have an end of their own.
type format struct {
	name, file string // file: a pattern of the partition
	clusters   func(out io.Writer, first bool) report.Writer
	contained  func(out io.Writer) report.ContainedWriter
}

var formats = []format{
	{"jsonl", "clusters-%05d.jsonl", func(out io.Writer, _ bool) report.Writer { return report.NewJSONL(out) }, nil},
	{"csv", "clusters-%05d.csv", func(out io.Writer, first bool) report.Writer {
		if first {
			return report.NewCSV(out)
		}
		return report.NewHeadlessCSV(out)
	}, nil},
	{"parquet", "clusters-%05d.parquet", func(out io.Writer, _ bool) report.Writer { return report.NewParquet(out) }, nil},
	{"contained", "contained-%05d.jsonl", nil, report.NewContainedJSONL},
}

// Exports returns formats of exports in the order of the list, each once.
func Exports(names []string) (out []string, err error) {
	var all []string
	for _, f := range formats {
		if all = append(all, f.name); slices.Contains(names, f.name) {
			out = append(out, f.name)
		}
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("a cluster does not export %q; it exports %s", name, strings.Join(all, ", "))
		}
	}
	return out, nil
}

// tableRows yields a dataset as rows of a table.
func (t *task) tableRows(l blocks.Layout) iter.Seq2[layout.Row, error] {
	return func(yield func(layout.Row, error) bool) {
		for e, err := range t.rows(l) {
			if !yield(layout.RowOfEntry(l.Letter, e), err) || err != nil {
				return
			}
		}
	}
}

// wanted yields the texts in rows of a dataset with their groups.
func (t *task) wanted(l blocks.Layout, parse func(layout.Row) (groups.Wanted, error)) iter.Seq2[groups.Wanted, error] {
	return func(yield func(groups.Wanted, error) bool) {
		for r, err := range t.tableRows(l) {
			var w groups.Wanted
			if err == nil {
				w, err = parse(r)
			}
			if !yield(w, err) || err != nil {
				return
			}
		}
	}
}

func (t *task) groupPages() error {
	clustered := t.wanted(blocks.Assigned, func(r layout.Row) (w groups.Wanted, err error) {
		w.Text, w.Group, err = r.Representative()
		return w, err
	})
	contained := t.wanted(blocks.Hosts, func(r layout.Row) (groups.Wanted, error) {
		c, err := r.HostOf()
		return groups.Wanted{Group: c.Group, Text: c.Text}, err
	})
	lone := t.wanted(blocks.LoneHosts, func(r layout.Row) (groups.Wanted, error) {
		text, err := r.TextID()
		return groups.Wanted{Group: text, Text: text}, err
	})
	return groups.Occurrences(t.ctx, t.tableRows(blocks.Occurrences), groups.Merge(clustered, groups.Merge(lone, contained)),
		func(key, value []byte) error { return t.out.Put(blocks.WantedPages, key, value) })
}

func (t *task) groupDocuments() error {
	return groups.Documents(t.ctx, t.tableRows(blocks.Documents), t.rows(blocks.WantedPages),
		func(key, value []byte) error { return t.out.Put(blocks.GroupPages, key, value) })
}

// export writes the files of a partition, and no rows.
func (t *task) export() error {
	if t.File == nil || len(t.Exports) == 0 {
		return errors.New("the plan has no exports, or there is no directory for them")
	}
	places := groups.Places{}
	var sources []inputs.Source
	for e, err := range t.rows(blocks.Sources) {
		var s inputs.Source
		if err == nil {
			err = json.Unmarshal(e.Value, &s)
		}
		if err != nil {
			return err
		}
		places.Add(s)
		sources = append(sources, s)
	}
	if err := inputs.Twins(sources); err != nil {
		return err
	}
	tables := groups.Tables{Clusters: t.tableRows(blocks.Clusters), Contained: t.tableRows(blocks.Contained),
		Pages: t.rows(blocks.GroupPages), Places: places, EstimatedBy: t.Config.EstimatedBy(), Dir: t.Temp}
	contained := func(report.ContainedPage) error { return nil }
	return t.exportTo(tables, t.Exports, contained, nil)
}

// exportTo opens the files of the formats that are left, and writes groups to all.
func (t *task) exportTo(tables groups.Tables, left []string, contained report.ContainedWriter, clusters []report.Writer) error {
	if len(left) == 0 {
		return groups.Write(t.ctx, tables.Parts(t.ctx), contained, clusters...)
	}
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == left[0] })
	if i < 0 {
		return fmt.Errorf("no format %q", left[0])
	}
	f := formats[i]
	return t.File(fmt.Sprintf(f.file, t.Task), func(out io.Writer) error {
		if f.contained != nil {
			contained = f.contained(out)
		} else {
			clusters = append(clusters, f.clusters(out, t.Task == 0))
		}
		return t.exportTo(tables, left[1:], contained, clusters)
	})
}
