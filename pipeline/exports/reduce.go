package exports

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"sort"
	"strings"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/keep"
	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/pipeline/inputs"
	"neardup/pipeline/keeping"
	"neardup/pipeline/results"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
	"neardup/reduce"
	"neardup/report"
)

// reducer writes archives without the records that a keep list drops.
type reducer struct {
	ctx   context.Context
	w     *workspace.Workspace
	x     *extract.Extractor
	make  create
	names map[string]bool // names of archives in use

	withdrawn             withdrawn.List
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
	rules, err := o.rules(w)
	if err != nil {
		return nil, err
	}
	r := &reducer{ctx: ctx, w: w, x: extract.NewExtractor(w.Config.Extract), make: make, names: map[string]bool{},
		index: extsort.New(w.DB.Tmp), pages: extsort.New(w.DB.Tmp), leftOut: extsort.New(w.DB.Tmp)}
	r.manifest.Program, r.manifest.Assumed, r.manifest.From = workspace.Version(), rules.String(), rules.From
	if r.withdrawn, err = w.Withdrawn(); err != nil {
		return r, err
	}
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
		if s.IsCollection() || isEmpty(s) || isMoved(r.ctx, s, sources) {
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

// isMoved reports whether a file is gone of which another source has all bytes.
func isMoved(ctx context.Context, s inputs.Source, sources []inputs.Source) bool {
	return s.SHA256 != "" && s.IsGone(ctx) && slices.ContainsFunc(sources, func(o inputs.Source) bool {
		return o.Path != s.Path && o.Size == s.Size && o.SHA256 == s.SHA256 && !o.IsGone(ctx)
	})
}

// archive writes one archive without the dropped records.
func (r *reducer) archive(s inputs.Source, pages map[place]*report.LeftOut) error {
	if s.State == inputs.Unreadable && s.Counts.Records == 0 {
		return fmt.Errorf("it could not be read (%s), so nothing of it would be in the result; neardup run reads it again, neardup remove takes it out", s.Error)
	}
	f, closer, err := s.Open(r.ctx, r.w.Config.Extract.Limits)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; put it back, or withdraw it (neardup remove)", err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	if n, _ := f.ReadAt(make([]byte, 1), s.Size); n > 0 {
		return errors.New("it has grown since it was read; neardup run reads it again if you name it")
	}
	name := r.name(s.Name)
	out := report.ReducedFile{Archive: name}
	out.Path, out.Entry = s.Place()
	out.BytesBefore = s.Size

	records, sums, err := r.scan(f, &out.ReducedCounts)
	if err != nil {
		return fmt.Errorf("%w: what cannot be read to its end cannot be written again; withdraw the file (neardup remove), or mend it", err)
	}
	ranges, stay, err := r.leave(&out, records, pages)
	if err != nil {
		return err
	}
	left := reduce.NewWithout(f, s.Size, ranges)
	out.Bytes = left.Size()
	if err := r.check(left, &out, sums, stay); err != nil {
		return err
	}
	if out.SHA256, err = r.copy(left, name); err != nil {
		return err
	}
	r.manifest.Files = append(r.manifest.Files, out)
	r.manifest.Sum.Add(out.ReducedCounts)
	return nil
}

// copy writes what is left of an archive, and returns its checksum. It writes no archive
// without a byte, since nobody could tell what it is.
func (r *reducer) copy(left *reduce.Without, name string) (sum string, err error) {
	h := sha256.New()
	if left.Size() == 0 {
		return hex.EncodeToString(h.Sum(nil)), nil
	}
	entry, err := r.make("archive/" + name)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(contextWriter{r.ctx, io.MultiWriter(entry, h)}, io.NewSectionReader(left, 0, left.Size()))
	if err == nil && n != left.Size() {
		err = io.ErrUnexpectedEOF
	}
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, entry.Close())
}

// maxName is the longest name that file systems take, in bytes. Of it, what follows the
// first dot may take a part.
const (
	maxName   = 255
	maxEnding = 100
)

// name returns a name for an archive that no other archive has, and that is no
// path.
func (r *reducer) name(of string) string {
	of = strings.Map(func(c rune) rune {
		if c < ' ' || strings.ContainsRune(`/\:`, c) {
			return '_'
		}
		return c
	}, of)
	if strings.Trim(of, ".") == "" {
		of = "archive" + of
	}
	stem, ending, _ := strings.Cut(of, ".")
	ending = "." + ending[max(0, len(ending)-maxEnding):]
	named := func(end string) string {
		return strings.ToValidUTF8(stem[:max(1, min(len(stem), maxName-len(end)))]+end, "")
	}
	if len(of) > maxName {
		of = named(ending)
	}
	for n := 2; r.names[strings.ToLower(of)]; n++ {
		of = named(fmt.Sprintf("-%d%s", n, ending))
	}
	r.names[strings.ToLower(of)] = true
	return path.Base(of)
}

// scan reads the records of an archive, with a digest of each.
func (r *reducer) scan(f io.ReaderAt, counts *report.ReducedCounts) (records []reduce.Record, sums []uint64, err error) {
	err = r.read(f, func(raw *container.Raw, damage error) error {
		if damage != nil {
			counts.Damaged++
			return nil
		}
		counts.Records++
		d := r.x.Describe(raw)
		d.Digest, d.MediaType = "", "" // not needed here
		records = append(records, reduce.Record{Description: d, Offset: raw.Offset, Size: raw.Size})
		sums = append(sums, recordSum(raw))
		return nil
	})
	return records, sums, err
}

// read reads an archive from its start.
func (r *reducer) read(f io.ReaderAt, see func(raw *container.Raw, damage error) error) error {
	reader, err := container.NewReader(f, container.Position{}, r.w.Config.Extract.Limits)
	if err != nil {
		return err
	}
	for {
		raw, err := reader.Next()
		var damage *container.Damage
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &damage):
			raw = nil
		case err != nil:
			return err
		}
		if err := errors.Join(see(raw, err), r.ctx.Err()); err != nil {
			return err
		}
	}
}

func recordSum(raw *container.Raw) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(raw.Header)
	_, _ = h.Write(raw.Block)
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(raw.Length)))
	return h.Sum64()
}

// leave returns the ranges to leave out, and which records stay.
func (r *reducer) leave(out *report.ReducedFile, records []reduce.Record, pages map[place]*report.LeftOut) (ranges []reduce.Range, stay []bool, err error) {
	why := make([]*report.LeftOut, len(records))
	found := make(map[place]bool, len(pages))
	for i, rec := range records {
		at := place{rec.Offset, rec.Document}
		d, ok := pages[at]
		switch {
		case rec.URI != "" && r.withdrawn.Has(rec.URI):
			if rec.Size == 0 {
				out.WithdrawnStay++
				continue
			}
			why[i] = &report.LeftOut{Withdrawn: true}
		case d == nil: // no page of these, or one that stays
		case rec.Size > 0:
			why[i] = d
			out.LeftOut++
		case !found[at]: // the member may have it twice
			out.Inseparable++
		}
		if ok {
			found[at] = true
		}
	}
	if lost := len(pages) - len(found); lost > 0 {
		return nil, nil, fmt.Errorf("%d of %d pages that are redundant, or may be kept in place of others, are no longer where they were read: the file has changed; start a new workspace", lost, len(pages))
	}
	stay = make([]bool, len(records))
	belongs := reduce.Companions(records, func(i int) bool { return why[i] != nil })
	for i, rec := range records {
		d := why[i]
		line := report.LeftOut{}
		if d == nil && belongs[i] >= 0 && rec.Size > 0 {
			if d = why[belongs[i]]; !d.Withdrawn {
				line.BelongsTo = d.RecordID
				out.Belonging++
			}
		}
		if stay[i] = d == nil; stay[i] {
			continue
		}
		if line.Withdrawn = d.Withdrawn; line.Withdrawn {
			out.Withdrawn++
		}
		line.Archive, line.Path, line.Entry, line.Offset, line.Bytes, line.Type = out.Archive, out.Path, out.Entry, rec.Offset, rec.Size, rec.Type
		line.URI, line.Date = rec.URI, rec.Date
		switch {
		case line.BelongsTo == "":
			line.RecordID = d.RecordID
		case rec.RecordID != "":
			line.RecordID = "<" + rec.RecordID + ">"
		}
		line.Cluster, line.Kept, line.KeptURI, line.Resemblance, line.Lost = d.Cluster, d.Kept, d.KeptURI, d.Resemblance, d.Lost
		b, err := line.JSON()
		if err := errors.Join(err, r.leftOut.Add(placeKey(out.Archive, rec.Offset), b)); err != nil {
			return nil, nil, err
		}
		ranges = append(ranges, reduce.Range{Start: rec.Offset, End: rec.Offset + rec.Size})
	}
	return ranges, stay, nil
}

// check reads what is left of an archive, and returns an error unless it has
// exactly the records that stay, unchanged. It also indexes the captures.
func (r *reducer) check(left io.ReaderAt, out *report.ReducedFile, sums []uint64, stay []bool) error {
	at := 0
	wrong := func() error {
		return fmt.Errorf("without what is left out, record %d would be read differently; nothing was written", at)
	}
	err := r.read(left, func(raw *container.Raw, damage error) error {
		if damage != nil {
			return nil
		}
		for at < len(stay) && !stay[at] {
			at++
		}
		if at == len(stay) || recordSum(raw) != sums[at] {
			return wrong()
		}
		at++
		out.ReadBack++
		d := r.x.Describe(raw)
		switch d.BlockDigest {
		case extract.Right:
			out.DigestRight++
		case extract.Wrong:
			out.DigestWrong++
		}
		return r.indexCapture(d, raw, out.Archive)
	})
	for at < len(stay) && !stay[at] {
		at++
	}
	if err == nil && at < len(stay) {
		err = wrong()
	}
	return err
}

func (r *reducer) indexCapture(d extract.Description, raw *container.Raw, archive string) error {
	if !d.Captures() || d.URI == "" || d.Type == "continuation" {
		return nil
	}
	line, err := report.CaptureLine(d.URI, d.Date, d.MediaType, d.Digest, d.Status, raw.Size, raw.Offset, archive, d.Type == "revisit")
	if err := errors.Join(err, r.index.Add(line, nil)); err != nil {
		return err
	}
	if d.Type != "response" || d.Status != 200 || d.MediaType != "text/html" && d.MediaType != "application/xhtml+xml" {
		return nil
	}
	return r.pages.Add([]byte(d.URI+"\x00"+d.Date), nil)
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
