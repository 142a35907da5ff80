// Package workspace keeps what was done in a directory, and brings the stages up
// to date that it is opened with. It alone knows files, the lock and progress.
//
// A workspace is one directory:
//
//	manifest.json  what was done: versions, settings, inputs, stages, counts
//	db/            the database, see package store and docs/format.md
//	exports/       what run leaves: clusters.jsonl, clusters.csv, summary.json, summary.txt
//	spool/         copies of what was read from standard input
//	tmp/           files on their way into the database
//
// The database is the truth; the manifest mirrors it, so that status can be
// read while a run holds the database.
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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"neardup/configs"
	"neardup/pipeline/store"
)

// Format is the version of the workspace's layout. A workspace of another
// format cannot be read; a stage whose own version changed is recomputed.
//
//	1: first
//	2: a seal beside the database, what tables hold, a checksum in the manifest; 1 is read, and becomes 2
const Format = 2

// Errors that a caller may want to tell apart.
var (
	ErrNoWorkspace  = errors.New("no workspace")
	ErrInUse        = errors.New("workspace in use")
	ErrOtherFormat  = errors.New("workspace of another version")
	ErrDiskFull     = errors.New("no space left on the disk")
	ErrUsage        = errors.New("usage")
	ErrInputFailure = errors.New("some input could not be read")
	errManifest     = errors.New("the workspace's manifest is damaged")
)

// CommitBytes is how much text and metadata a batch holds. One batch commits while
// another is filled, so an interruption loses at most twice as much.
const CommitBytes = 4 << 20

// Options are what a caller chooses besides the config; none of it changes a
// result.
type Options struct {
	Workers  int      // goroutines that work; 0: one a processor
	Progress Progress // nil: silent

	// Try reads the record behind the position of a source in a process of its
	// own, and returns its URI. The error says how that process ended, if it did
	// not survive the record. nil: records that ended a run are not tried.
	Try func(context.Context, Source, configs.Config) (uri string, died error)

	// For tests; 0 is the usual.
	RunRows      int           // rows of a sorted run: about a million
	CommitBytes  int           // of an extraction's batch
	PublishEvery time.Duration // how often a running stage updates the manifest

	// Fatal is called when the database cannot go on at all. It must not
	// return. What was committed is safe. nil panics.
	Fatal func(error)
}

// Workspace is an open workspace, to be run with a config. One process at a time
// has it.
type Workspace struct {
	*opened
	Config configs.Config
	trial  *trial
}

// opened is what a workspace has whatever the config.
type opened struct {
	Dir      string
	Options  Options
	lock     *store.Lock
	DB       *store.DB
	Stages   []Stage
	diskFull atomic.Bool
	cancel   atomic.Pointer[context.CancelCauseFunc]
	judging  sync.Mutex // held while audits and judgements are written, and until the manifest tells of them
	identity identityRow
	Indexing sync.Mutex // held while names are indexed
}

// trial is of runs that are compared with each other.
type trial struct{ keeps configs.Config }

// With returns the workspace with another config.
func (w *Workspace) With(c configs.Config) *Workspace { return &Workspace{w.opened, c, w.trial} }

// Trial returns the workspace for runs that are compared with each other. They give
// memory back before each stage, and their clusters follow no judged pairs. The
// manifest names the config keeps, not theirs.
func (w *Workspace) Trial(keeps configs.Config) *Workspace {
	return &Workspace{w.opened, w.Config, &trial{keeps}}
}

// Open opens the workspace in dir for runs of the stages with config. It makes
// the workspace if create is set.
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
		return nil, locked(dir, err)
	}
	if err := w.sweep(); err != nil {
		return nil, errors.Join(err, w.lock.Close())
	}
	if err := w.openDatabase(); err != nil {
		return nil, errors.Join(err, w.lock.Close())
	}
	return w, nil
}

// locked says why a workspace cannot be locked.
func locked(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		return fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	return fmt.Errorf("%w: another neardup works in %s; wait for it to end, or choose another --workspace (%v)", ErrInUse, dir, err)
}

// openDatabase opens the database, and checks that it is the one that the
// workspace had.
func (w *Workspace) openDatabase() (err error) {
	if err := w.missesDatabase(); err != nil {
		return err
	}
	w.DB, err = store.Open(w.Path("db"), w.lock, logger{w}, w.onDiskFull)
	switch {
	case err == nil:
	case w.diskFull.Load() || IsNoSpace(err):
		return fmt.Errorf("%w: %s (%w)", ErrDiskFull, w.Dir, err)
	default:
		return damaged(w.Path("db"), err)
	}
	if err := w.migrate(); err != nil {
		return errors.Join(w.ExplainError(err), w.DB.Close())
	}
	return nil
}

// prepare checks what is in the directory, or makes it.
func (w *Workspace) prepare(create bool) error {
	if info, err := os.Stat(w.Dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%w in %s: it is not a directory", ErrNoWorkspace, w.Dir)
	}
	if restored, err := Restore(w.Dir, w.Stages); err != nil {
		return err
	} else if restored {
		w.Options.Progress.Warn("manifest.json was missing or damaged; it is made again from the database", "workspace", w.Dir)
	}
	m, err := ReadManifest(w.Dir)
	switch {
	case err == nil && !m.Readable():
		return fmt.Errorf("%w: %s has format %d, this program reads formats up to %d; use the program that made it (neardup %s), or a new workspace",
			ErrOtherFormat, w.Dir, m.Format, Format, m.Program)
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case !create:
		return fmt.Errorf("%w in %s; neardup run or neardup extract makes one", ErrNoWorkspace, w.Dir)
	default:
		entries, err := os.ReadDir(w.Dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(slices.DeleteFunc(entries, isTemporary)) > 0 {
			return fmt.Errorf("%w in %s, and the directory is not empty; choose an empty or a new one", ErrNoWorkspace, w.Dir)
		}
		if err := os.MkdirAll(w.Dir, 0o777); err != nil {
			return err
		}
		if err := writeManifest(w.Dir, Manifest{Format: Format, Program: Version()}); err != nil {
			return w.ExplainError(err)
		}
	}
	return os.MkdirAll(w.Path("db"), 0o777)
}

// isTemporary tells the files that WriteFile and spool leave when they are
// killed.
func isTemporary(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), temporary) }

const temporary = ".neardup-"

// sweep removes the temporary files of a run that was killed.
func (w *Workspace) sweep() error {
	for _, dir := range []string{w.Dir, w.Path("exports"), w.Path("spool")} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if isTemporary(e) {
				if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Close ends the work. Everything committed stays.
func (w *Workspace) Close() error {
	return errors.Join(w.DB.Close(), w.lock.Close())
}

func (w *Workspace) Path(elem ...string) string {
	return filepath.Join(append([]string{w.Dir}, elem...)...)
}

func (w *Workspace) onDiskFull() {
	w.diskFull.Store(true)
	if cancel := w.cancel.Load(); cancel != nil {
		(*cancel)(ErrDiskFull)
	}
}

// IsFull reports whether a write to the database found no space left.
func (w *Workspace) IsFull() bool { return w.diskFull.Load() }

// ExplainError says what to do about an error of the disk.
func (w *Workspace) ExplainError(err error) error {
	if err == nil || errors.Is(err, ErrDiskFull) || !w.diskFull.Load() && !IsNoSpace(err) {
		return err
	}
	return DiskFull(w.Dir, err)
}

func DiskFull(dir string, err error) error {
	return fmt.Errorf("%w: %s; what was committed is safe: free some space and run the same command again (%w)", ErrDiskFull, dir, err)
}

// logger passes on only what the database cannot survive.
type logger struct{ w *Workspace }

func (logger) Infof(string, ...any) {}

func (logger) Errorf(string, ...any) {}

func (l logger) Fatalf(format string, args ...any) {
	err := l.w.ExplainError(fmt.Errorf("database: "+format, args...))
	if l.w.Options.Fatal == nil {
		panic(err)
	}
	l.w.Options.Fatal(err)
}

// WriteFile publishes a file whole: written beside its place, synced, renamed.
func WriteFile(path string, write func(f *os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), temporary+"*")
	if err != nil {
		return err
	}
	hold(f)
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := store.FaultAt("sync", path); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := store.FaultAt("publish", path); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func marshalIndent(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}
