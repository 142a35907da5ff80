package extsort

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"os"

	"neardup/cluster"
)

// fileSpill keeps runs of messages in files of a directory.
type fileSpill struct{ dir string }

// queueMessages is the number of messages that a merge keeps in memory, at 44 bytes
// each.
const queueMessages = 1 << 20

// Messages returns the memory of the message queue of a merge. More messages spill
// into files in the directory dir.
func Messages(dir string) cluster.Memory {
	return cluster.Memory{Messages: queueMessages, Spill: fileSpill{dir}}
}

// Write implements cluster.Spill.
func (s fileSpill) Write(run iter.Seq[cluster.Message]) (cluster.Run, error) {
	f, err := os.CreateTemp(s.dir, "messages-*")
	if err != nil {
		return nil, err
	}
	r := &fileRun{f: f}
	b := bufio.NewWriterSize(f, 256<<10)
	for m := range run {
		_, _ = b.Write(m.To[:]) // Flush reports a failed write
		_, _ = b.Write(m.Value[:])
	}
	if err := b.Flush(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.r = bufio.NewReaderSize(f, 64<<10)
	return r, nil
}

type fileRun struct {
	f *os.File
	r *bufio.Reader
}

// Next implements cluster.Run.
func (r *fileRun) Next() (m cluster.Message, ok bool, err error) {
	var b [2 * cluster.KeySize]byte
	switch _, err := io.ReadFull(r.r, b[:]); err {
	case nil:
		return cluster.Message{To: cluster.Key(b[:cluster.KeySize]), Value: cluster.Key(b[cluster.KeySize:])}, true, nil
	case io.EOF:
		return m, false, nil
	default:
		return m, false, err
	}
}

// Close implements cluster.Run.
func (r *fileRun) Close() error { return errors.Join(r.f.Close(), os.Remove(r.f.Name())) }
