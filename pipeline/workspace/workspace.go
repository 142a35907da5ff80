// Package workspace keeps the results of runs in a directory, and brings the stages
// that it is opened with up to date. Only this package handles the workspace's lock and
// progress, and its files but in-flight.
//
// A workspace is one directory:
//
//	manifest.json  versions, settings, inputs, stages, counts
//	db/            the database, see package store and docs/workspace.md
//	finished/      the last finished state, while a run changes it, see keepFinished
//	exports/       exports of the last run: clusters.jsonl, clusters.csv, summary.json, summary.txt
//	spool/         copies of what was read from standard input
//	tmp/           files on their way into the database, and sorted runs
//	run.json       what the last run cost, see package costs
//	in-flight      the pages that extract is reading, see package inflight
//	temporary      names the directory of sorted runs, if that is another
//
// The database is the truth. The manifest repeats parts of it, so that status can
// be read while a run holds the database.
package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"neardup/configs"
	"neardup/pipeline/costs"
	"neardup/pipeline/disk"
	"neardup/pipeline/inputs"
	"neardup/pipeline/store"
	"neardup/signature/terms"
)

// Format is the version of the workspace's layout. A program reads the formats
// listed here and rejects others. A stage whose own version changed is recomputed.
//
//	1: first
//	2: a seal beside the database, contents of tables, a checksum in the manifest; format 1 is read and upgraded
const Format = 2

// Errors that callers tell apart.
var (
	ErrNoWorkspace  = errors.New("no workspace")
	ErrInUse        = errors.New("workspace in use")
	ErrOtherFormat  = errors.New("workspace of another version")
	ErrUsage        = errors.New("usage")
	ErrInputFailure = errors.New("some input could not be read")
	errManifest     = errors.New("the workspace's manifest is damaged")
)

// CommitBytes is the size of a batch, in bytes of text and metadata. One batch is
// committed while the next is filled, so an interruption loses at most twice as
// much.
const CommitBytes = 4 << 20

// Options are a caller's choices besides the config. None of them changes a result.
type Options struct {
	Workers  int      // number of working goroutines; 0: one per processor
	Progress Progress // nil: silent

	Temp      string     // directory for sorted runs and spilled queues; empty: tmp/ of the workspace
	LeaveFree int64      // bytes of a disk that a stage must leave free by its estimate; NoLimit: stages begin whatever is free
	Costs     *costs.Run // takes what the run cost; nil: none

	// Try reads the record behind the source's position in a process of its own,
	// and returns the record's URI. The error tells how that process ended if the
	// record ended it. If Try is nil, records that ended a run are not tried.
	Try func(context.Context, inputs.Source, configs.Config) (uri string, died error)

	// For tests; 0 means the default.
	RunRows      int                             // rows of a sorted run; default about a million
	CommitBytes  int                             // size of a batch of extract
	PublishEvery time.Duration                   // how often a running stage updates the manifest
	Free         func(dir string) (int64, error) // free bytes of a disk

	// Read opens the workspace for reading. If it cannot be locked, because another
	// process holds it or it cannot be written, a copy is read. With Finished, so is
	// what the last finished run left, if the run after it has not ended.
	Read, Finished bool

	// Fatal is called when the database cannot continue. It must not return.
	// Everything that was committed is safe. If Fatal is nil, the database panics.
	Fatal func(error)
}

// Workspace is an open workspace with the config of its next run. Only one process
// at a time can hold it.
type Workspace struct {
	*opened
	Config configs.Config
	trial  *trial
}

// opened is the part of a workspace that does not depend on the config.
type opened struct {
	Dir           string
	Options       Options
	lock          *store.Lock
	copied        func() error    // closes the copy that is read; nil: the workspace itself is open
	why           error           // why a copy is read
	read          *configs.Config // config of the run that left what is read; nil: the workspace itself is open
	finished      bool            // what is read is the kept state, not the present one
	DB            *store.DB
	Stages        []Stage
	diskFull      atomic.Bool
	cancel        atomic.Pointer[context.CancelCauseFunc]
	judging       sync.Mutex // held while judgements are written, until the manifest has them
	identity      identityRow
	sources       inputs.Rows
	exported      json.RawMessage // what NoteExported noted; nil: unknown
	elsewhere     string          // directory for temporary files in Options.Temp; empty: none
	elsewhereLock *store.Lock
	Indexing      sync.Mutex // held while names are indexed
	counting      sync.Mutex
	counted       *terms.Frequencies // of Method; nil: not read
}

// trial marks a workspace whose runs are compared with each other. keeps is the
// config for the manifest.
type trial struct{ keeps configs.Config }

// With returns the workspace with another config.
func (w *Workspace) With(c configs.Config) *Workspace { return &Workspace{w.opened, c, w.trial} }

// Trial returns the workspace for runs that are compared with each other. They
// return memory to the system before each stage, and their clusters follow no
// judged pairs. The manifest names the config keeps, not theirs.
func (w *Workspace) Trial(keeps configs.Config) *Workspace {
	return &Workspace{w.opened, w.Config, &trial{keeps}}
}

// Open opens the workspace in dir, to run the stages with config. It creates the
// workspace if create is set.
func Open(dir string, stages []Stage, config configs.Config, create bool, o Options) (_ *Workspace, err error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	o.RunRows = cmp.Or(o.RunRows, 1<<20)
	o.CommitBytes = cmp.Or(o.CommitBytes, CommitBytes)
	o.PublishEvery = cmp.Or(o.PublishEvery, 10*time.Second)
	if o.Progress == nil {
		o.Progress = Silent{}
	}
	w := &Workspace{opened: &opened{Dir: dir, Stages: stages, Options: o}, Config: config}
	if err := w.prepare(create); err != nil {
		return nil, err
	}
	if w.lock, err = store.LockDirectory(w.Path("db")); err != nil {
		err = locked(dir, err)
		if !o.Read {
			return nil, err
		}
		if err := w.openCopy(err); err != nil {
			return nil, err
		}
		return w, nil
	}
	if o.Finished && w.openFinished() {
		return w, nil
	}
	w.noteHolder()
	if err := w.sweep(); err != nil {
		return nil, errors.Join(err, w.lock.Close())
	}
	if err := w.makeElsewhere(); err != nil {
		return nil, errors.Join(w.ExplainError(err), w.lock.Close())
	}
	if err := w.openDatabase(); err != nil {
		return nil, errors.Join(err, w.dropElsewhere(), w.lock.Close())
	}
	if err := w.dropFinished(); err != nil {
		return nil, errors.Join(w.ExplainError(err), w.Close())
	}
	return w, nil
}

// locked returns the error of a workspace that cannot be locked.
func locked(dir string, err error) error {
	if disk.IsRefused(err) {
		return fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	return fmt.Errorf("%w: %s works in %s; wait for it to end, or choose another --workspace (%v)", ErrInUse, holder(dir), dir, err)
}

// openDatabase opens the database and checks that it is the one that the manifest
// describes.
func (w *Workspace) openDatabase() (err error) {
	if err := w.missesDatabase(); err != nil {
		return err
	}
	w.DB, err = store.Open(w.Path("db"), w.lock, logger{w}, w.onDiskFull)
	switch {
	case err == nil:
	case w.diskFull.Load() || disk.IsNoSpace(err):
		return fmt.Errorf("%w: %s (%w)", disk.ErrFull, w.Dir, err)
	default:
		return damaged(w.Path("db"), err)
	}
	if w.elsewhere != "" {
		w.DB.Tmp = w.elsewhere
	}
	if err := errors.Join(w.migrate(), w.watchExports()); err != nil {
		return errors.Join(w.ExplainError(err), w.DB.Close())
	}
	return nil
}

// prepare checks the contents of the directory, or creates them.
func (w *Workspace) prepare(create bool) error {
	if info, err := os.Stat(w.Dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%w in %s: it is not a directory", ErrNoWorkspace, w.Dir)
	}
	if restored, err := Restore(w.Dir, w.Stages); err != nil {
		return err
	} else if restored {
		w.Options.Progress.Warn(Restored, "workspace", w.Dir)
	}
	_, err := Existing(w.Dir, false)
	switch {
	case err == nil:
	case !errors.Is(err, ErrNoWorkspace) || !create:
		return err
	default:
		entries, err := os.ReadDir(w.Dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(slices.DeleteFunc(entries, disk.IsTemporary)) > 0 {
			if _, err := ReadManifest(w.Dir); err == nil { // another process has created the workspace since
				return w.prepare(create)
			}
			return fmt.Errorf("%w in %s, and the directory is not empty; choose an empty or a new one", ErrNoWorkspace, w.Dir)
		}
		if err := os.MkdirAll(w.Dir, 0o777); err != nil {
			return err
		}
		if err := createManifest(w.Dir, Manifest{Format: Format, Program: Version()}); err != nil {
			return w.ExplainError(err)
		}
	}
	if err := os.MkdirAll(w.Path("db"), 0o777); err != nil && !w.Options.Read {
		return err
	}
	return nil
}

// sweep removes the temporary files of a run that was killed.
func (w *Workspace) sweep() error {
	for _, dir := range []string{w.Dir, w.Path("exports"), w.Path("spool")} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if disk.IsTemporary(e) {
				if e.IsDir() && e.Name() != halfName { // an unfinished report
					continue
				}
				if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Close closes the workspace. Everything that was committed stays.
func (w *Workspace) Close() error {
	if w.copied != nil {
		return errors.Join(w.DB.Close(), w.lock.Close(), w.copied())
	}
	if w.DB.There() == nil {
		_ = os.Remove(w.Path(holderName))
	}
	return errors.Join(w.DB.Close(), w.dropElsewhere(), w.lock.Close())
}

// Path returns a path below the workspace's directory.
func (w *Workspace) Path(elem ...string) string {
	return filepath.Join(append([]string{w.Dir}, elem...)...)
}

func (w *Workspace) onDiskFull() {
	w.diskFull.Store(true)
	if cancel := w.cancel.Load(); cancel != nil {
		(*cancel)(disk.ErrFull)
	}
}

// IsFull reports whether a write to the database found no space left.
func (w *Workspace) IsFull() bool { return w.diskFull.Load() }

// ExplainError adds advice to an error of the disk.
func (w *Workspace) ExplainError(err error) error {
	if err == nil || errors.Is(err, disk.ErrFull) || !w.diskFull.Load() && !disk.IsNoSpace(err) {
		return err
	}
	return disk.Full(w.Dir, err)
}

// logger drops the database's messages except fatal ones.
type logger struct{ w *Workspace }

func (logger) Infof(string, ...any) {}

func (logger) Errorf(string, ...any) {}

func (l logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf("database: "+format, args...)
	for _, arg := range args {
		if cause, ok := arg.(error); ok { // most messages show their cause and do not wrap it
			err = fatalError{err, cause}
		}
	}
	err = l.w.ExplainError(err)
	if l.w.Options.Fatal == nil {
		panic(err)
	}
	l.w.Options.Fatal(err)
}

// fatalError is a message of the database with its cause.
type fatalError struct {
	error
	cause error
}

func (e fatalError) Unwrap() error { return e.cause }

func marshalIndent(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}
