package disk

import (
	"errors"
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
