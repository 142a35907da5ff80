// Package inflight notes the pages that are being read. A single page can end the
// process: it needs more memory than there is, or it hits a library's error that recover
// cannot catch. The next run would end at the same page. So each worker notes the page
// that it reads in a file that outlives the process. The next run tries the noted pages,
// each in a process of its own, and skips those that end that process.
package inflight

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"

	"neardup/extract/container"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// fileName is the file of notes in the workspace. It exists while pages are
// read, and after a run that ended while it read them.
const fileName = "in-flight"

const slotSize = 64 // bytes of one worker's note

// Notes are the notes of all workers. Their file is mapped into memory, since
// two system calls a page would be a thirtieth of extraction.
type Notes struct {
	file  *os.File
	slots []byte // the file; nil if it is not mapped
}

// Open opens the file of notes, without notes. The caller closes it.
func Open(w *workspace.Workspace) (*Notes, error) {
	f, err := os.Create(w.Path(fileName))
	if err != nil {
		return nil, err
	}
	slots := make([]byte, max(1, w.Options.Workers)*slotSize)
	if _, err := f.Write(slots); err != nil { // so that the file has its space
		return nil, errors.Join(err, f.Close())
	}
	return &Notes{f, mapped(f, len(slots))}, nil
}

// Begin notes that a worker reads the record behind a position in a source.
func (f *Notes) Begin(worker int, path string, at container.Position) error {
	return f.put(worker, slot{rows.Hash(path), at, 0})
}

// End notes that the worker reads no record.
func (f *Notes) End(worker int) error { return f.write(worker, new([slotSize]byte)) }

// Close removes the notes, since no page ended the run.
func (f *Notes) Close() error {
	var err error
	if f.slots != nil {
		err = unmap(f.slots)
	}
	return errors.Join(err, f.file.Close(), os.Remove(f.file.Name()))
}

func (f *Notes) put(worker int, s slot) error {
	var b [slotSize]byte
	s.append(b[:0])
	return f.write(worker, &b)
}

func (f *Notes) write(worker int, b *[slotSize]byte) error {
	if at := worker * slotSize; at+slotSize <= len(f.slots) && stored(f.slots[at:at+slotSize], b) {
		return nil
	}
	_, err := f.file.WriteAt(b[:], int64(worker)*slotSize)
	return err
}

// stored copies b to mapped memory. It reports false if the file system has no space
// for it, which writing the file tells as an error.
func stored(to []byte, b *[slotSize]byte) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { ok = recover() == nil }()
	copy(to, b[:])
	return true
}

// slot is one worker's note.
type slot struct {
	source uint64 // rows.Hash of the path
	at     container.Position
	tries  int // times that the record was tried alone
}

func (s slot) append(b []byte) []byte {
	for _, v := range []uint64{s.source, uint64(s.at.Offset), uint64(s.at.Skip), uint64(s.at.Reread), uint64(s.tries)} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return append(b, make([]byte, slotSize-len(b))...)
}

// parseSlot parses a note. ok is false if the slot is empty.
func parseSlot(b []byte) (s slot, ok bool) {
	const n = 5 * 8
	if len(b) < slotSize || crc32.ChecksumIEEE(b[:n]) != binary.BigEndian.Uint32(b[n:]) {
		return s, false
	}
	v := func(i int) uint64 { return binary.BigEndian.Uint64(b[i*8:]) }
	return slot{v(0), container.Position{Offset: int64(v(1)), Skip: int(v(2)), Reread: int64(v(3))}, int(v(4))}, true
}

// TryEnded tries the records that were being read when a run ended. It notes in
// their sources which of them to skip.
func TryEnded(ctx context.Context, w *workspace.Workspace) error {
	path := w.Path(fileName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || w.Options.Try == nil {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	notes := &Notes{file: f}
	defer func() { _ = f.Close() }()
	known, err := w.Sources()
	if err != nil {
		return err
	}
	for i := 0; (i+1)*slotSize <= len(b); i++ {
		sl, ok := parseSlot(b[i*slotSize:])
		at := slices.IndexFunc(known, func(s inputs.Source) bool { return s.State == inputs.Pending && rows.Hash(s.Path) == sl.source })
		if !ok || at < 0 {
			continue
		}
		if err := tryEnded(ctx, w, &known[at], sl, func(s slot) error { return notes.put(i, s) }); err != nil {
			return err
		}
		if err := notes.End(i); err != nil {
			return err
		}
	}
	return nil
}

// tryEnded tries one record. note stores the number of tries beforehand, since a
// try may end this process, too.
func tryEnded(ctx context.Context, w *workspace.Workspace, s *inputs.Source, sl slot, note func(slot) error) error {
	i := slices.IndexFunc(s.Ended, func(e inputs.EndedRun) bool { return e.Position == sl.at })
	if i < 0 {
		s.Ended = append(s.Ended, inputs.EndedRun{Position: sl.at})
		i = len(s.Ended) - 1
	}
	commit := func() error {
		b := w.DB.Batch()
		return errors.Join(b.SetJSON(layout.SourceKey(s.Path), *s), b.Commit())
	}
	e := &s.Ended[i]
	e.Deaths++
	if sl.tries++; sl.tries >= inputs.MaxDeaths {
		e.Error = fmt.Sprintf("%d runs ended while it was read or tried alone", e.Deaths)
	} else if err := errors.Join(commit(), note(sl)); err != nil { // the try may end this process
		return err
	} else {
		alone := *s
		alone.Position = sl.at
		uri, err := w.Options.Try(ctx, alone, w.Config)
		if ctx.Err() != nil { // whoever interrupted the try ended it, not the record
			sl.tries--
			e.Deaths--
			return errors.Join(ctx.Err(), note(sl), commit())
		}
		withdrawn, werr := w.Withdrawn()
		if werr != nil {
			return werr
		}
		if !withdrawn.Patterns().Has(uri) { // nothing in the workspace names it
			e.URI = uri
		}
		if err != nil {
			e.Error = err.Error()
		} else if e.Deaths >= inputs.MaxDeaths {
			e.Error = fmt.Sprintf("%d runs ended while it was read", e.Deaths)
		}
	}
	if e.Error != "" {
		w.Options.Progress.Warn("page that ended a run is skipped", "file", s.Shown(), "offset", e.Position.Offset, "uri", e.URI, "error", e.Error)
	}
	return commit()
}
