package spark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"neardup/configs"
	"neardup/extract/container"
	"neardup/pipeline/disk"
	"neardup/pipeline/filters"
	"neardup/pipeline/inputs"
	"neardup/pipeline/rows"
)

// Attempts has what the attempts of tasks that read archives leave for the next one,
// in a directory that all machines share. A single page can end the process, as package
// workspace says. So an attempt notes the page that it reads. The next one tries that
// page in a process of its own, and skips it if it ends that process.
type Attempts struct {
	Dir    string
	Config configs.Config
	Try    func(context.Context, inputs.Source, configs.Config) (uri string, died error) // as workspace.Options.Try
	Warn   func(message string)
}

// noteSize is the size of a note, which is replaced as a whole.
const noteSize = 64

// note is the position before the record that is being read.
type note struct{ file *os.File }

// Open implements filters.Attempts.
func (a Attempts) Open(ctx context.Context, s inputs.Source) (filters.Note, []inputs.EndedRun, error) {
	path := filepath.Join(a.Dir, fmt.Sprintf("%016x", rows.Hash(s.Path)))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, nil, err
	}
	n := &note{f}
	skip, err := a.ended(ctx, s, n, path+".json")
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return n, skip, nil
}

// ended returns the records of a source to skip. If an attempt ended in the middle of
// a record, that record is tried.
func (a Attempts) ended(ctx context.Context, s inputs.Source, n *note, path string) (skip []inputs.EndedRun, err error) {
	var all []inputs.EndedRun
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if at, ok := n.position(); ok {
		if all, err = a.try(ctx, s, all, at, path); err != nil {
			return nil, err
		}
	}
	for _, e := range all {
		if e.Error != "" { // the others do not change what the task writes
			skip = append(skip, e)
		}
	}
	return skip, nil
}

// try tries the record at which an attempt ended.
func (a Attempts) try(ctx context.Context, s inputs.Source, all []inputs.EndedRun, at container.Position, path string) ([]inputs.EndedRun, error) {
	write := func() error {
		return disk.WriteFile(path, func(f *os.File) error { return json.NewEncoder(f).Encode(all) })
	}
	i := slices.IndexFunc(all, func(e inputs.EndedRun) bool { return e.Position == at })
	if i < 0 {
		i, all = len(all), append(all, inputs.EndedRun{Position: at})
	}
	e := &all[i]
	if e.Deaths++; e.Deaths >= inputs.MaxDeaths {
		e.Error = fmt.Sprintf("%d attempts ended while it was read", e.Deaths)
	} else {
		if err := write(); err != nil { // trying may end this process, too
			return nil, err
		}
		s.Position = at
		uri, died := a.Try(ctx, s, a.Config)
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if e.URI = uri; died != nil {
			e.Error = died.Error()
		}
	}
	if e.Error != "" {
		a.Warn(fmt.Sprintf("a page that ended an attempt is skipped: %s, offset %d, %s: %s", s.Shown(), at.Offset, e.URI, e.Error))
	}
	return all, write()
}

// position returns the position that is noted.
func (n *note) position() (at container.Position, ok bool) {
	b := make([]byte, noteSize)
	if _, err := n.file.ReadAt(b, 0); err != nil {
		return at, false
	}
	_, err := fmt.Sscanf(string(b), "%d %d %d", &at.Offset, &at.Skip, &at.Reread)
	return at, err == nil
}

// Begin implements filters.Note.
func (n *note) Begin(at container.Position) error {
	return n.put(fmt.Sprintf("%d %d %d", at.Offset, at.Skip, at.Reread))
}

// End implements filters.Note.
func (n *note) End() error { return n.put("") }

// Close implements filters.Note.
func (n *note) Close() error { return n.file.Close() }

func (n *note) put(text string) error {
	_, err := n.file.WriteAt(fmt.Appendf(nil, "%-*s\n", noteSize-1, text), 0)
	return err
}
