// Package pipetest has what the tests of several packages below pipeline share:
// generated crawls and texts, runs, and progress that counts or interrupts.
package pipetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"neardup/configs"
	"neardup/example"
	"neardup/extract/container"
	"neardup/pipeline/exports"
	"neardup/pipeline/extsort"
	"neardup/pipeline/inputs"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/truth"
)

// OpenWith opens a workspace of the preset default with settings, for as long as the
// test runs.
func OpenWith(t *testing.T, dir string, settings ...string) *workspace.Workspace {
	t.Helper()
	return Open(t, dir, MustLoad(t, settings...))
}

// Open opens a workspace for as long as the test runs.
func Open(t *testing.T, dir string, c configs.Config) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// Spill makes sorters write files even for few rows.
func Spill(t *testing.T) {
	old := extsort.Bytes
	extsort.Bytes = 300
	t.Cleanup(func() { extsort.Bytes = old })
}

// Countdown is a context that is cancelled after it was asked a number of times, by
// any goroutines.
type Countdown struct {
	context.Context
	Left int
	mu   sync.Mutex
}

func (c *Countdown) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Left--; c.Left < 0 {
		return context.Canceled
	}
	return nil
}

var ErrNoRoom = errors.New("no room")

// Limits are the limits of the preset default.
var Limits = func() container.Limits {
	c, err := configs.Load("default", nil)
	if err != nil {
		panic(err)
	}
	return c.Extract.Limits
}()

// Tree returns the files below a directory.
func Tree(t *testing.T, root string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		out = append(out, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func MustLoadPreset(t *testing.T, name string, settings ...string) configs.Config {
	t.Helper()
	c, err := configs.Load(name, settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Crawl writes the example crawl into a file.
func Crawl(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := example.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "crawl.warc.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// RunAll brings the workspace in dir up to date and returns its clusters.
func RunAll(t *testing.T, dir string, config configs.Config, o workspace.Options, paths ...string) []byte {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, config, true, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	sources, _, err := inputs.Find(t.Context(), dir, paths, nil, Limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(context.Background(), "extract", "verify", sources); err != nil {
		t.Fatal(err)
	}
	return WriteAll(t, w)
}

// WriteAll writes the exports of a run, checks that they are what the tables give, and
// returns the clusters.
func WriteAll(t *testing.T, w *workspace.Workspace) (clusters []byte) {
	t.Helper()
	whole, largest := t.TempDir(), []report.Cluster(nil)
	want, err := exports.WriteAllTo(context.Background(), w, whole, func(c report.Cluster) {
		if c.From > 0 { // a later part
			if largest[0].ID == c.ID {
				largest[0].Contained = c.Contained
			}
			return
		}
		if len(largest) == 0 || c.Size > largest[0].Size {
			largest = []report.Cluster{c}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	got, shown, err := exports.WriteAll(context.Background(), w, 1)
	if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(shown, largest) && len(shown)+len(largest) > 0 {
		t.Errorf("exports: summary %+v, want %+v; largest %+v, want %+v (%v)", got, want, shown, largest, err)
	}
	for _, name := range exports.Files {
		b, err := os.ReadFile(w.Path("exports", name))
		if fresh, freshErr := os.ReadFile(filepath.Join(whole, name)); !bytes.Equal(b, fresh) || err != nil || freshErr != nil {
			t.Errorf("%s is not what the tables give (%v)", name, errors.Join(err, freshErr))
		}
		if name == "clusters.jsonl" {
			clusters = b
		}
	}
	return clusters
}

// Interrupter cancels a run after a number of reports of progress.
type Interrupter struct {
	workspace.Silent
	Left   atomic.Int64
	Cancel context.CancelFunc
}

func (i *Interrupter) step() {
	if i.Left.Add(-1) == 0 {
		i.Cancel()
	}
}

func (i *Interrupter) Add(int64) { i.step() }

func (i *Interrupter) Start(string, string, string) { i.step() }

func (i *Interrupter) Total(int64, string) { i.step() }

func Staleness(t *testing.T, dir string, config configs.Config, stage string) workspace.Reason {
	t.Helper()
	s, err := workspace.ReadStatus(t.Context(), dir, stages.All, &config)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range s.Stages {
		if st.Name == stage {
			return st.Stale
		}
	}
	t.Fatalf("no stage %s", stage)
	return ""
}

func MustLoad(t testing.TB, settings ...string) configs.Config {
	t.Helper()
	c, err := configs.Load("default", settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func OpenTest(t *testing.T) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(t.TempDir()+"/ws", stages.All, MustLoad(t), true, workspace.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func ExampleTruth(t *testing.T) *truth.Truth {
	t.Helper()
	var pages, pairs bytes.Buffer
	if err := errors.Join(example.WritePages(&pages), example.WriteTruth(&pairs)); err != nil {
		t.Fatal(err)
	}
	tr, err := truth.Read(&pages, &pairs)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func PresetDefault(t *testing.T) configs.Config {
	t.Helper()
	c, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// StageLog counts the stages that begin, and can stop the run at one of them.
type StageLog struct {
	workspace.Silent
	Begun []string
	End   func(begun []string)
}

func (l *StageLog) Start(stage, reason, why string) {
	l.Begun = append(l.Begun, stage)
	if l.End != nil {
		l.End(l.Begun)
	}
}

func (l *StageLog) Count(stage string) (n int) {
	for _, s := range l.Begun {
		if s == stage {
			n++
		}
	}
	return n
}

// RunInterrupted runs the stages up to verify and interrupts them after left steps.
func RunInterrupted(t *testing.T, dir string, c configs.Config, left int64, o workspace.Options, paths ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	i := &Interrupter{Cancel: cancel}
	i.Left.Store(left)
	o.Progress = i
	w, err := workspace.Open(dir, stages.All, c, true, o)
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := inputs.Find(t.Context(), dir, paths, nil, Limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(ctx, "extract", "verify", sources); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// RowsOf returns all rows of tables, a line each.
func RowsOf(t *testing.T, w *workspace.Workspace, tables ...byte) string {
	t.Helper()
	var b strings.Builder
	for _, table := range tables {
		for r, err := range w.DB.Table(table) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := r.Value()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%x %x\n", r.Key(), v)
		}
	}
	return b.String()
}
