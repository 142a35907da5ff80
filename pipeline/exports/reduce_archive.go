package exports

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"path"
	"strings"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/inputs"
	"neardup/reduce"
	"neardup/report"
)

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
	if errors.Is(err, errChanged) {
		return fmt.Errorf("%w; %s", err, r.whenChanged(s))
	}
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

var errChanged = errors.New("the file has changed")

// whenChanged returns what to do about a file that has changed. A run compares its size
// and a sample only, so what changed between may escape it.
func (r *reducer) whenChanged(s inputs.Source) string {
	for _, now := range s.FindAgain(r.ctx, r.w.Config.Extract.Limits) {
		if now.Path == s.Path && now.State != inputs.Unreadable && (now.Size != s.Size || now.Sample != s.Sample) {
			return "neardup run reads it again if you name it"
		}
	}
	return "start a new workspace"
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
		return nil, nil, fmt.Errorf("%d of %d pages that are redundant, or may be kept in place of others, are no longer where they were read: %w", lost, len(pages), errChanged)
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
