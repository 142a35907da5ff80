package exports

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// exportsVersion is raised where the same tables give other exports. 2: only identical
// members have the same text.
const exportsVersion = 2

// Groups that changed are looked up page by page if they have few pages, or at most one
// of so many that are in clusters.
const (
	fewPages = 4000
	partOf   = 4
)

// errUnknown means that the groups that changed since the last run are not known, too
// many, or that an export is not as that run left it.
var errUnknown = errors.New("the exports have to be written as a whole")

// noted is what a workspace notes of the exports that a run wrote.
type noted struct {
	Program string       `json:"program"`
	Places  []uint64     `json:"places"` // groups.Places.Digests
	Groups  int64        `json:"groups"`
	Pages   int64        `json:"pages"` // in clusters
	Files   [3]notedFile `json:"files"`
}

type notedFile struct {
	Bytes int64  `json:"bytes"`
	Sum   uint64 `json:"sum"` // xxHash
}

// program identifies the code and the setting that the exports depend on.
func (r *run) program() string {
	return fmt.Sprintf("%d %s %s", exportsVersion, workspace.Version(), r.w.Config.EstimatedBy())
}

func (r *run) note() error {
	places, err := results.Places(r.w)
	if err != nil {
		return err
	}
	n := noted{Program: r.program(), Places: places.Digests(), Groups: r.groups, Pages: r.summary.Clusters.Pages}
	for i, f := range r.files {
		n.Files[i] = notedFile{f.written, f.sum.Sum64()}
	}
	return r.w.NoteExported(n)
}

// update writes the groups that changed, copies the others from the exports that are
// there, and brings TableExported up to date.
func (r *run) update(ctx context.Context) (err error) {
	var before noted
	changed, ok, err := r.w.Exported(&before)
	if err != nil {
		return err
	}
	if !ok || before.Program != r.program() {
		return errUnknown
	}
	places, err := results.Places(r.w)
	if err != nil {
		return err
	}
	if !includes(places.Digests(), before.Places) {
		return errUnknown
	}
	of, pages, err := changedGroups(r.w, changed)
	if err != nil {
		return err
	}
	m := &merging{run: r, most: max(fewPages, before.Pages/partOf)}
	if pages > m.most {
		return errUnknown
	}
	for i := range m.from {
		if m.from[i], err = openFormer(filepath.Join(r.dir, Files[i]), before.Files[i]); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.from[i].f.Close()) }()
	}
	b := r.w.DB.Batch()
	defer func() { err = errors.Join(err, b.Close()) }()
	r.keep = func(e rows.Exported) error { return b.Set(layout.ExportedKey(e.Group), layout.ExportedValue(&e)) }
	drop := func(e rows.Exported) error { return b.Delete(layout.ExportedKey(e.Group)) }
	if err := r.write(func() error { return m.merge(ctx, of, drop) }); err != nil {
		return err
	}
	return errors.Join(b.Commit(), r.note())
}

// CheckNoted returns an error that wraps layout.ErrCorrupt if the rows of TableExported
// are not those of the exports that the workspace notes.
func CheckNoted(w *workspace.Workspace) error {
	var n noted
	if _, ok, err := w.Exported(&n); err != nil || !ok {
		return err
	}
	of := [3]int64{1: int64(len(csvHeader()))}
	groups := int64(0)
	for row, err := range w.DB.Table(layout.TableExported) {
		var e rows.Exported
		if err == nil {
			e, err = row.Exported()
		}
		if err != nil {
			return err
		}
		groups++
		for i, bytes := range e.Bytes {
			of[i] += bytes
		}
	}
	for i, f := range n.Files {
		if of[i] != f.Bytes || groups != n.Groups {
			return fmt.Errorf("%w: %d groups with %d bytes of %s, where a run wrote %d with %d", layout.ErrCorrupt, groups, of[i], Files[i], n.Groups, f.Bytes)
		}
	}
	return nil
}

// csvHeader returns the first line of clusters.csv.
func csvHeader() []byte {
	var b bytes.Buffer
	_ = report.NewCSV(&b).Close() // a buffer takes all
	return b.Bytes()
}

// includes reports whether all has each of some. Both are sorted.
func includes(all, some []uint64) bool {
	for _, x := range some {
		if _, ok := slices.BinarySearch(all, x); !ok {
			return false
		}
	}
	return true
}

// changedGroups returns the groups with other rows or pages than before, and all that
// contain pages. They have about so many pages. changed are rows of clusters and of
// occurrences; those of a document are written with its occurrence, or go with a file.
func changedGroups(w *workspace.Workspace, changed map[layout.RowID]struct{}) (of map[rows.TextID]struct{}, pages int64, err error) {
	of, pages = map[rows.TextID]struct{}{}, int64(len(changed))
	var texts []rows.TextID
	for id := range changed {
		switch about := rows.TextID(id[1:]); id[0] {
		case layout.TableCluster:
			of[about] = struct{}{}
		case layout.TableOccurrence:
			texts = append(texts, about)
		}
	}
	slices.SortFunc(texts, rows.CompareTexts)
	assigned, err := w.DB.Seeker(layout.TableAssigned)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = assigned.Close() }() // the lookups have reported its errors
	for _, t := range texts {
		r, ok, err := assigned.Get(layout.AssignedKey(t))
		var representative rows.TextID
		if ok {
			_, representative, err = r.Representative()
		}
		if err != nil {
			return nil, 0, err
		}
		if ok {
			of[representative] = struct{}{}
		}
	}
	for r, err := range w.DB.Table(layout.TableContained) {
		var c rows.Contained
		if err == nil {
			c, err = r.Contained()
		}
		if err != nil {
			return nil, 0, err
		}
		of[c.Group] = struct{}{}
	}
	for r, err := range w.DB.Table(layout.TableExported) {
		var e rows.Exported
		if err == nil {
			e, err = r.Exported()
		}
		if err != nil {
			return nil, 0, err
		}
		if e.Bytes[2] > 0 {
			of[e.Group] = struct{}{}
		}
		if _, ok := of[e.Group]; ok {
			pages += e.Counts.Size
		}
	}
	return of, pages, nil
}

// merging writes groups between those of the run before.
type merging struct {
	*run
	from [3]*former
	stay [3]int64 // bytes of the groups that come next in from and stay
	most int64    // pages that may be looked up to show the largest clusters
}

// merge writes the groups that changed between the others, which it copies. It calls
// drop with the row of a group that changed, before it keeps a new one.
func (m *merging) merge(ctx context.Context, of map[rows.TextID]struct{}, drop func(rows.Exported) error) error {
	if err := m.from[1].pass(int64(len(csvHeader())), io.Discard); err != nil {
		return err
	}
	next, stop := iter.Pull2(results.PartsOf(ctx, m.w, slices.SortedFunc(maps.Keys(of), rows.CompareTexts)))
	defer stop()
	c, err, more := next()
	upTo := func(last rows.TextID) error { // writes the groups that changed
		for id := hex.EncodeToString(last[:]); more && c.ID <= id; c, err, more = next() {
			if err != nil {
				return err
			}
			if err := m.add(c); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	for row, err := range m.w.DB.Table(layout.TableExported) {
		var e rows.Exported
		if err == nil {
			e, err = row.Exported()
		}
		if err != nil {
			return err
		}
		_, changed := of[e.Group]
		if changed {
			err = drop(e)
		}
		if err := errors.Join(err, upTo(e.Group)); err != nil {
			return err
		}
		if !changed {
			m.count(e, nil)
			for i, n := range e.Bytes {
				m.stay[i] += n
			}
			continue
		}
		if err := m.skip(e); err != nil {
			return err
		}
	}
	if err := errors.Join(upTo(rows.TextID(bytes.Repeat([]byte{0xff}, 16))), m.copyStaying()); err != nil {
		return err
	}
	for _, f := range m.from {
		if err := f.end(); err != nil {
			return err
		}
	}
	if m.largest.unread() > m.most {
		return errUnknown
	}
	return nil
}

func (m *merging) copyStaying() error {
	for i, f := range m.from {
		if err := f.pass(m.stay[i], m.files[i]); err != nil {
			return err
		}
	}
	m.stay = [3]int64{}
	return nil
}

// add writes a group, or a part of one, behind what stays.
func (m *merging) add(c report.Cluster) error {
	if err := m.copyStaying(); err != nil {
		return err
	}
	return m.group(c)
}

// skip leaves out what the run before wrote of a group.
func (m *merging) skip(e rows.Exported) error {
	if err := m.copyStaying(); err != nil {
		return err
	}
	for i, f := range m.from {
		if err := f.pass(e.Bytes[i], io.Discard); err != nil {
			return err
		}
	}
	return nil
}

// former is an export of the run before.
type former struct {
	f    *os.File
	r    *bufio.Reader
	left int64
	sum  *xxhash.Digest
	want uint64
}

// openFormer opens an export. It wraps errUnknown if that is not there as it was
// written.
func openFormer(path string, n notedFile) (*former, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != n.Bytes {
		return nil, errUnknown
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, errUnknown
	}
	return &former{f: f, r: bufio.NewReaderSize(f, 256<<10), left: n.Bytes, sum: xxhash.New(), want: n.Sum}, nil
}

// pass copies the next n bytes.
func (f *former) pass(n int64, to io.Writer) error {
	if f.left -= n; f.left < 0 {
		return errUnknown
	}
	for n > 0 {
		p, err := f.r.Peek(int(min(n, int64(f.r.Size()))))
		if err != nil {
			return errUnknown
		}
		_, _ = f.sum.Write(p)
		if _, err := to.Write(p); err != nil {
			return err
		}
		n -= int64(len(p))
		_, _ = f.r.Discard(len(p))
	}
	return nil
}

// end returns errUnknown if the export is not all passed as it was written.
func (f *former) end() error {
	if f.left != 0 || f.sum.Sum64() != f.want {
		return errUnknown
	}
	return nil
}
