package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// All files are synced, and an error of one is an error of all.
func TestSyncFiles(t *testing.T) {
	dir := t.TempDir()
	var files, want []string
	for _, name := range []string{"a", "b", "c"} {
		files, want = append(files, filepath.Join(dir, name)), append(want, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var synced []string
	broken := errors.New("broken disk")
	inject := Injector(func(operation, file string, n int) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if synced = append(synced, file); len(synced) == 4 {
			return 0, broken
		}
		return n, nil
	})
	Fault.Store(&inject)
	t.Cleanup(func() { Fault.Store(nil) })
	if err := SyncFiles(files); err != nil {
		t.Error(err)
	}
	if slices.Sort(synced); !slices.Equal(synced, want) {
		t.Errorf("synced %v, want %v", synced, want)
	}
	if err := SyncFiles(files[:1]); !errors.Is(err, broken) {
		t.Errorf("a file that is not synced: %v", err)
	}
	if err := SyncFiles([]string{filepath.Join(dir, "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A name that is published is on the disk, too: its directory is synced after it, and an
// error of that is reported.
func TestPublishedNamesAreSynced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "place")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var done []string
	broken := errors.New("broken disk")
	fails := ""
	inject := Injector(func(operation, file string, n int) (int, error) {
		if done = append(done, operation+" "+file); done[len(done)-1] == fails {
			return 0, broken
		}
		return n, nil
	})
	Fault.Store(&inject)
	t.Cleanup(func() { Fault.Store(nil) })
	write := func() error {
		return WriteFile(filepath.Join(dir, "a"), func(f *os.File) error { return nil })
	}
	export := func() error {
		return ExportDirectory(filepath.Join(dir, "b"), func(create func(string) (io.WriteCloser, error)) error {
			f, err := create("c/d/e")
			if err != nil {
				return err
			}
			return f.Close()
		})
	}
	if err := write(); err != nil || !slices.Equal(done, []string{"sync a", "publish a", "sync place"}) {
		t.Errorf("%v, %q", err, done)
	}
	done = nil
	if err := export(); err != nil || done[len(done)-1] != "sync place" || !slices.Contains(done, "sync c") || !slices.Contains(done, "sync d") || len(done) != 5 {
		t.Errorf("%v, %q", err, done)
	}
	fails = "sync place"
	for _, publish := range []func() error{write, export} {
		if err := publish(); !errors.Is(err, broken) {
			t.Errorf("a directory that is not synced: %v", err)
		}
	}
}
