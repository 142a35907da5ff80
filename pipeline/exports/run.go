package exports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Files are the names of the files of WriteAll. The first three have the groups.
var Files = []string{"clusters.jsonl", "clusters.csv", "contained.jsonl", "summary.json", "summary.txt"}

// WriteAll writes the exports of a run into the workspace's exports directory, each
// file completely or not at all, and returns the summary and the largest clusters, at
// most so many. Where the workspace knows what changed since it wrote them, it takes
// the lines of all other groups from the files that are there.
func WriteAll(ctx context.Context, w *workspace.Workspace, largest int) (s report.Summary, clusters []report.Cluster, err error) {
	r := &run{w: w, dir: w.Path("exports"), largest: largestGroups{max: largest}}
	err = r.update(ctx)
	if errors.Is(err, errUnknown) {
		err = r.replace(ctx)
	}
	if err == nil {
		clusters, err = r.largest.clusters(ctx, w)
	}
	if err != nil {
		err = w.ExplainError(fmt.Errorf("export: %w", err))
	}
	return r.summary, clusters, err
}

// WriteAllTo writes the exports of a run into another directory. It calls see with
// each cluster, or its parts.
func WriteAllTo(ctx context.Context, w *workspace.Workspace, dir string, see func(report.Cluster)) (report.Summary, error) {
	r := &run{w: w, dir: dir, keep: func(rows.Exported) error { return nil }}
	err := r.write(func() error { return r.all(ctx, see) })
	return r.summary, err
}

// run writes the exports of a run group by group.
type run struct {
	w   *workspace.Workspace
	dir string

	files     [3]*counted
	jsonl     report.Writer
	csv       report.Writer
	contained report.ContainedWriter

	summary report.Summary
	first   report.Cluster // the first part of the present group
	present rows.Exported  // what its parts took
	groups  int64
	largest largestGroups
	keep    func(rows.Exported) error // takes each group that is written
}

// replace writes all groups, and all rows of TableExported.
func (r *run) replace(ctx context.Context) error {
	written := extsort.New(r.w.DB.Tmp)
	r.keep = func(e rows.Exported) error { return written.Add(layout.ExportedKey(e.Group), layout.ExportedValue(&e)) }
	err := r.write(func() error { return r.all(ctx, func(report.Cluster) {}) })
	if err == nil {
		_, err = r.w.DB.Replace(ctx, layout.TableExported, written.Sorted())
	}
	if err == nil {
		err = r.note()
	}
	return errors.Join(err, written.Close())
}

// write writes all files, those that have the groups with fill.
func (r *run) write(fill func() error) (err error) {
	if err := errors.Join(r.w.Current(workspace.StageVerify), os.MkdirAll(r.dir, 0o777)); err != nil {
		return err
	}
	if r.summary, err = results.StagesSummary(r.w); err != nil {
		return err
	}
	r.groups, r.largest.groups = 0, nil
	file := func(i int, write func() error) error {
		return exportFile(filepath.Join(r.dir, Files[i]), func(out io.Writer) error {
			r.files[i] = &counted{to: out, sum: xxhash.New()}
			return write()
		})
	}
	err = file(0, func() error {
		return file(1, func() error {
			return file(2, func() error {
				r.jsonl, r.csv, r.contained = report.NewJSONL(r.files[0]), report.NewHeadlessCSV(r.files[1]), report.NewContainedJSONL(r.files[2])
				if _, err := r.files[1].Write(csvHeader()); err != nil {
					return err
				}
				return fill()
			})
		})
	})
	if err != nil {
		return err
	}
	return errors.Join(exportFile(filepath.Join(r.dir, Files[3]), r.summary.WriteJSON), exportFile(filepath.Join(r.dir, Files[4]), r.summary.WriteText))
}

// all writes all groups.
func (r *run) all(ctx context.Context, see func(report.Cluster)) error {
	for c, err := range results.GroupParts(ctx, r.w) {
		if err == nil {
			err = r.group(c)
		}
		if err != nil {
			return err
		}
		if c.Size > 0 {
			see(c)
		}
	}
	return ctx.Err() // cancelled since the last group
}

// group writes a group, or a part of one.
func (r *run) group(c report.Cluster) (err error) {
	if c.From == 0 {
		r.first, r.present = c, rows.Exported{}
	}
	e := &r.present
	if e.Group, err = rows.ParseTextID(c.ID); err != nil {
		return err
	}
	e.Counts.Add(c.Counts())
	for i, f := range r.files {
		e.Bytes[i] -= f.written
	}
	if err := groups.WriteGroup(c, r.contained, r.jsonl, r.csv); err != nil {
		return err
	}
	for i, f := range r.files {
		e.Bytes[i] += f.written
	}
	if c.More {
		return nil
	}
	r.first.Contained = c.Contained
	r.count(*e, &r.first)
	return r.keep(*e)
}

// count counts a group, which c is, or nil if it was not read.
func (r *run) count(e rows.Exported, c *report.Cluster) {
	r.groups++
	r.summary.AddCounts(e.Counts)
	r.largest.add(e, c)
}

// counted counts and sums what is written.
type counted struct {
	to      io.Writer
	written int64
	sum     *xxhash.Digest
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.written += int64(n)
	_, _ = c.sum.Write(p[:n])
	return n, err
}

// largestGroups are the max largest clusters, the largest first.
type largestGroups struct {
	max    int
	groups []largeGroup
}

type largeGroup struct {
	id      rows.TextID
	size    int64
	cluster *report.Cluster // its first part; nil: not read yet
}

func (l *largestGroups) add(e rows.Exported, c *report.Cluster) {
	if e.Counts.Size == 0 {
		return
	}
	g := largeGroup{id: e.Group, size: e.Counts.Size}
	i, _ := slices.BinarySearchFunc(l.groups, g, func(a, b largeGroup) int {
		return cmp.Or(cmp.Compare(b.size, a.size), rows.CompareTexts(a.id, b.id))
	})
	if i < l.max {
		if c != nil {
			read := *c
			g.cluster = &read
		}
		l.groups = slices.Insert(l.groups, i, g)
		l.groups = l.groups[:min(len(l.groups), l.max)]
	}
}

// unread returns the number of pages of the clusters that were not read.
func (l *largestGroups) unread() (pages int64) {
	for _, g := range l.groups {
		if g.cluster == nil {
			pages += g.size
		}
	}
	return pages
}

// clusters returns the clusters, of those of many pages the first members. It reads those
// that were not read yet.
func (l *largestGroups) clusters(ctx context.Context, w *workspace.Workspace) (out []report.Cluster, err error) {
	for _, g := range l.groups {
		if g.cluster == nil {
			for c, err := range results.PartsOf(ctx, w, []rows.TextID{g.id}) {
				if err != nil {
					return nil, err
				}
				g.cluster = &c
				break // all groups that contain pages were written again, so they are read
			}
			if g.cluster == nil {
				return nil, layout.Corrupt(layout.ExportedKey(g.id))
			}
		}
		out = append(out, *g.cluster)
	}
	return out, nil
}
