package exports

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"sort"

	"neardup/extract"
	"neardup/keep"
	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/pipeline/inputs"
	"neardup/pipeline/keeping"
	"neardup/pipeline/results"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// reducer writes archives without the records that a keep list drops.
type reducer struct {
	ctx   context.Context
	w     *workspace.Workspace
	x     *extract.Extractor
	make  create
	names map[string]bool // names of archives in use

	withdrawn             *withdrawn.Patterns
	index, pages, leftOut *extsort.Sorter
	manifest              report.Reduced
}

// place is where a page of a file was read.
type place struct {
	offset   int64
	document extract.ID
}

// reduceTo writes all archives that the workspace has read without redundant pages,
// withdrawn captures and the records that belong to them, an index of captures, and the
// list of what was left out.
func reduceTo(ctx context.Context, w *workspace.Workspace, o Options, make create) (_ *reducer, err error) {
	sources, err := w.Sources()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(sources, func(s inputs.Source) bool { return !s.IsCollection() }) {
		return nil, fmt.Errorf("%w: --format %s writes archives, and the workspace has read text collections only; --format corpus writes texts", workspace.ErrUsage, o.Format)
	}
	rules, err := o.rules(w)
	if err != nil {
		return nil, err
	}
	r := &reducer{ctx: ctx, w: w, x: extract.NewExtractor(w.Config.Extract), make: make, names: map[string]bool{},
		index: extsort.New(w.DB.Tmp), pages: extsort.New(w.DB.Tmp), leftOut: extsort.New(w.DB.Tmp)}
	r.manifest.Program, r.manifest.Assumed, r.manifest.From = workspace.Version(), rules.String(), rules.From
	gone, err := w.Withdrawn()
	if err != nil {
		return r, err
	}
	r.withdrawn = gone.Patterns()
	byPlace := extsort.New(w.DB.Tmp)
	defer func() { err = errors.Join(err, byPlace.Close()) }()
	if err := r.findDrops(o, rules, byPlace); err != nil {
		return r, err
	}
	return r, r.archives(byPlace)
}

func (r *reducer) close() error {
	return errors.Join(r.index.Close(), r.pages.Close(), r.leftOut.Close())
}

// findDrops writes a row for each place of a redundant page, with the reason to drop it, and
// of a page that may be kept in place of others, with null: the source's ID, 0, the offset
// and the docID. A page in several files is dropped from all of them.
func (r *reducer) findDrops(o Options, rules keep.Rules, byPlace *extsort.Sorter) (err error) {
	byDocument := extsort.New(r.w.DB.Tmp)
	defer func() { err = errors.Join(err, byDocument.Close()) }()
	for c, err := range keeping.Archived(r.ctx, r.w, rules) {
		if err != nil {
			return err
		}
		for i, m := range c.Members {
			choice := c.Choices[i]
			if o.Kept != nil {
				o.Kept.Add(choice, m)
			}
			var why *report.LeftOut
			switch {
			case choice.Action == report.ActionRedundant:
				why = &report.LeftOut{RecordID: m.RecordID, URI: m.URI, Date: m.Date, Cluster: c.ID, Kept: choice.Kept, KeptURI: choice.KeptURI,
					Resemblance: choice.Resemblance, Lost: choice.Lost}
			case choice.Action != report.ActionKeep || m.RevisitOf != "" || m.Clipped:
				continue // it is kept in place of no other
			}
			b, err := json.Marshal(why)
			if err := errors.Join(err, byDocument.Add([]byte(m.Document), b)); err != nil {
				return err
			}
		}
	}
	next, stop := iter.Pull2(byDocument.Sorted())
	defer stop()
	at, err, more := next()
	for d, rowErr := range results.DocumentRows[groups.DocumentView](r.w) {
		if err := errors.Join(err, rowErr, r.ctx.Err()); err != nil || !more {
			return err
		}
		id := d.ID.String()
		for err == nil && more && string(at.Key) < id {
			at, err, more = next()
		}
		if err == nil && more && string(at.Key) == id {
			err = byPlace.Add(append(placeKey(d.Source, d.Offset), d.ID[:]...), at.Value)
		}
		if err != nil {
			return err
		}
	}
	return err
}

func placeKey(source string, offset int64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(source), 0), uint64(offset))
}

// manyMembers is the number of archives in one WACZ file from which the file is opened once
// for all. It stays open until its last one is written, and they are not written one after
// another.
const manyMembers = 64

// archives writes the archives, ordered by the IDs of their sources.
func (r *reducer) archives(byPlace *extsort.Sorter) error {
	sources, err := r.w.Sources()
	if err != nil {
		return err
	}
	sort.SliceStable(sources, func(i, j int) bool {
		a, b := sources[i], sources[j]
		return cmp.Or(cmp.Compare(a.ID(), b.ID()), cmp.Compare(a.Path, b.Path)) < 0
	})
	next, stop := iter.Pull2(byPlace.Sorted())
	defer stop()
	at, err, more := next()
	twins := map[string][]inputs.Source{} // by checksum
	for _, s := range sources {
		twins[s.SHA256] = append(twins[s.SHA256], s)
	}
	inputs.ShareFiles(sources, r.w.Config.Extract.Limits, manyMembers) // none of a file that is there is passed over
	pages, of := map[place]*report.LeftOut{}, ""
	for _, s := range sources {
		if s.ID() != of {
			clear(pages)
			of = s.ID()
			for ; err == nil && more; at, err, more = next() {
				prefix := append([]byte(of), 0)
				if !bytes.HasPrefix(at.Key, prefix) || len(at.Key) != len(prefix)+8+len(extract.ID{}) {
					break
				}
				var why *report.LeftOut
				if err := json.Unmarshal(at.Value, &why); err != nil {
					return err
				}
				rest := at.Key[len(prefix):]
				pages[place{int64(binary.BigEndian.Uint64(rest)), extract.ID(rest[8:])}] = why
			}
			if err != nil {
				return err
			}
		}
		if s.IsCollection() || isEmpty(s) || isMoved(r.ctx, s, twins[s.SHA256]) {
			continue // text collections, files without a byte, and files that are read elsewhere
		}
		if err := r.archive(s, pages); err != nil {
			return fmt.Errorf("%s: %w", s.Shown(), err)
		}
	}
	if err == nil && more {
		err = fmt.Errorf("pages of %q, which is no file of the workspace", at.Key)
	}
	return err
}

// isEmpty reports whether a source of which nothing was read is a file without a byte.
func isEmpty(s inputs.Source) bool {
	info, err := os.Stat(s.FilePath())
	return s.State == inputs.Unreadable && s.Counts.Records == 0 && err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// isMoved reports whether a file is gone of which another source has all bytes. twins are the
// sources with its checksum.
func isMoved(ctx context.Context, s inputs.Source, twins []inputs.Source) bool {
	return s.SHA256 != "" && slices.ContainsFunc(twins, func(o inputs.Source) bool {
		return o.Path != s.Path && o.Size == s.Size && !o.IsGone(ctx)
	}) && s.IsGone(ctx)
}

// write writes sorted rows to a file.
func (r *reducer) write(name string, from *extsort.Sorter, row func(extsort.Entry) ([]byte, error)) error {
	f, err := r.make(name)
	if err != nil {
		return err
	}
	for e, err := range from.Sorted() {
		if err == nil {
			var b []byte
			if b, err = row(e); err == nil {
				_, err = f.Write(b)
			}
		}
		if err := errors.Join(err, r.ctx.Err()); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// finish writes the index and the list of what was left out. A WACZ file has no
// list without lines: py-wacz takes an empty file for a broken one.
func (r *reducer) finish(index, folder string) error {
	if err := r.write(index, r.index, func(e extsort.Entry) ([]byte, error) { return e.Key, nil }); err != nil {
		return err
	}
	if sum := r.manifest.Sum; folder == "" || sum.LeftOut+sum.Belonging+sum.Withdrawn > 0 {
		if err := r.write(folder+"left-out.jsonl", r.leftOut, func(e extsort.Entry) ([]byte, error) { return e.Value, nil }); err != nil {
			return err
		}
	}
	manifest, err := r.make(folder + "manifest.json")
	if err != nil {
		return err
	}
	return errors.Join(r.manifest.WriteJSON(manifest), manifest.Close())
}

// writeWARC writes a reduced archive as a directory.
func writeWARC(ctx context.Context, w *workspace.Workspace, o Options, make create) (err error) {
	r, err := reduceTo(ctx, w, o, make)
	if r == nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err == nil {
		err = r.finish("indexes/index.cdxj", "")
	}
	if err == nil && o.Reduced != nil {
		*o.Reduced = r.manifest
	}
	return err
}
