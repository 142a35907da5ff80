package exports

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"neardup/pipeline/extsort"
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
// each cluster.
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
	for c, err := range results.Groups(ctx, r.w) {
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

// group writes a group.
func (r *run) group(c report.Cluster) (err error) {
	e := rows.Exported{Counts: c.Counts()}
	if e.Group, err = rows.ParseTextID(c.ID); err != nil {
		return err
	}
	for i, f := range r.files {
		e.Bytes[i] = -f.written
	}
	for _, p := range c.Contained {
		if err := r.contained(p); err != nil {
			return err
		}
	}
	if c.Size > 0 {
		if err := errors.Join(r.jsonl.Write(c), r.csv.Write(c)); err != nil {
			return err
		}
	}
	for i, f := range r.files {
		e.Bytes[i] += f.written
	}
	r.count(e)
	return r.keep(e)
}

func (r *run) count(e rows.Exported) {
	r.groups++
	r.summary.AddCounts(e.Counts)
	r.largest.add(e)
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
	groups []rows.Exported
}

func (l *largestGroups) add(e rows.Exported) {
	if l.max == 0 || e.Counts.Size == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(l.groups, e, func(a, b rows.Exported) int {
		return cmp.Or(cmp.Compare(b.Counts.Size, a.Counts.Size), rows.CompareTexts(a.Group, b.Group))
	})
	if i < l.max {
		l.groups = slices.Insert(l.groups, i, e)
		l.groups = l.groups[:min(len(l.groups), l.max)]
	}
}

// clusters reads the clusters.
func (l *largestGroups) clusters(ctx context.Context, w *workspace.Workspace) ([]report.Cluster, error) {
	var ids []rows.TextID
	rank := map[string]int{}
	for i, g := range l.groups {
		ids, rank[hex.EncodeToString(g.Group[:])] = append(ids, g.Group), i
	}
	slices.SortFunc(ids, rows.CompareTexts)
	out := make([]report.Cluster, len(ids))
	for c, err := range results.GroupsOf(ctx, w, ids) {
		if err != nil {
			return nil, err
		}
		out[rank[c.ID]] = c
	}
	return out, nil
}
