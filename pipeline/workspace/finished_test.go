package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"neardup/configs"
	"neardup/pipeline/disk"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// entries returns the names in a workspace that tell of a finished state.
func entries(t *testing.T, dir string) (out []string) {
	t.Helper()
	for _, pattern := range []string{"finished", ".neardup-*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			out = append(out, filepath.Base(name))
		}
	}
	return out
}

// TestFinishedFaults ends a run at each change that keeping and dropping the last
// finished state makes. The next run ends with the clusters of a run that nothing
// happened to, and leaves nothing behind.
func TestFinishedFaults(t *testing.T) {
	crawl := pipetest.Crawl(t)
	before, after := pipetest.MustLoad(t), pipetest.MustLoad(t, "verify.resemblance=0.9")
	want := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), after, workspace.Options{}, crawl)
	t.Cleanup(func() { disk.Fault.Store(nil) })
	for _, at := range [][2]string{{"link", ""}, {"sync", "manifest.json"}, {"publish", "manifest.json"}, {"publish", "finished"}, {"remove", "finished"}} {
		dir := filepath.Join(t.TempDir(), "ws")
		pipetest.RunAll(t, dir, before, workspace.Options{}, crawl)
		w, err := workspace.Open(dir, stages.All, after, true, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ended := errors.New("ended")
		var done atomic.Bool
		disk.Fault.Store(new(disk.Injector(func(operation, file string, n int) (int, error) {
			if operation != at[0] || at[1] != "" && file != at[1] || done.Swap(true) {
				return n, nil
			}
			return 0, ended
		})))
		err = w.Run(t.Context(), "extract", "verify", nil)
		disk.Fault.Store(nil)
		if !done.Load() {
			t.Fatalf("%v: there was no such change", at)
		}
		if err != nil && !errors.Is(err, ended) {
			t.Errorf("%v: %v", at, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if got := pipetest.RunAll(t, dir, after, workspace.Options{}); string(got) != string(want) {
			t.Errorf("%v: other clusters", at)
		}
		if left := entries(t, dir); len(left) > 0 {
			t.Errorf("%v: left %v", at, left)
		}
	}
}

// TestFinishedLeftovers opens a workspace in which a process was killed while it kept the
// last finished state, and after its run was done.
func TestFinishedLeftovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	want := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	for _, name := range []string{"finished", ".neardup-finished"} {
		if err := os.CopyFS(filepath.Join(dir, name, "db"), os.DirFS(filepath.Join(dir, "db"))); err != nil {
			t.Fatal(err)
		}
	}
	if got := entries(t, dir); !slices.Equal(got, []string{"finished", ".neardup-finished"}) {
		t.Fatal(got)
	}
	got := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{})
	if left := entries(t, dir); len(left) > 0 || string(got) != string(want) {
		t.Errorf("left %v, same clusters: %v", left, string(got) == string(want))
	}
}

// TestReadingARunThatBegins reads a workspace beside a run that has admitted an input, and
// begun nothing else; and after that run with the config of the run before it.
func TestReadingARunThatBegins(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	before, after := pipetest.MustLoad(t), pipetest.MustLoad(t, "verify.resemblance=0.6")
	pipetest.RunAll(t, dir, before, workspace.Options{}, pipetest.Crawl(t))
	w, err := workspace.Open(dir, stages.All, after, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	read := func(finished bool, c configs.Config) {
		t.Helper()
		r, err := workspace.Open(dir, stages.All, before, false, workspace.Options{Read: true})
		if err != nil {
			t.Fatal(err)
		}
		of, kept := r.ReadConfig()
		if of == nil || !reflect.DeepEqual(*of, c) || kept != finished {
			t.Fatalf("finished %v, config %+v", kept, of)
		}
		if err := errors.Join(r.With(*of).Current(workspace.StageVerify), r.Close()); err != nil {
			t.Error(err)
		}
	}
	sources, _, err := inputs.Find(t.Context(), dir, []string{pipetest.WriteTexts(t, 0, pipetest.Copies())}, nil, pipetest.Limits)
	if err := errors.Join(err, w.Admit(t.Context(), sources)); err != nil {
		t.Fatal(err)
	}
	read(true, before)
	if err := w.Run(t.Context(), workspace.StageExtract, workspace.StageVerify, nil); err != nil {
		t.Fatal(err)
	}
	read(false, after)
}
