//go:build unix

package exports_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"neardup/pipeline/disk"
	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
)

func writeText(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

// A pipe or a device is written into, and the file that a link leads to is
// written. None becomes a file.
func TestExportInto(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	mode := func(path string) fs.FileMode {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Type()
	}
	for _, name := range []string{pipe, filepath.Join(dir, "to-pipe")} {
		if name != pipe {
			if err := os.Symlink("pipe", name); err != nil {
				t.Fatal(err)
			}
		}
		before, read := mode(name), make(chan string, 1)
		go func() {
			b, err := os.ReadFile(pipe)
			read <- string(b)
			if err != nil {
				t.Error(err)
			}
		}()
		if err := exports.ExportFile(name, writeText("into "+name)); err != nil {
			t.Error(err)
		}
		if got := <-read; got != "into "+name || mode(name) != before || mode(pipe) != fs.ModeNamedPipe {
			t.Errorf("%s: read %q, is %v", name, got, mode(name))
		}
	}
	device := mode("/dev/null")
	if err := exports.ExportFile("/dev/null", writeText("x")); err != nil || mode("/dev/null") != device {
		t.Errorf("/dev/null is %v (%v)", mode("/dev/null"), err)
	}

	real := pipetest.WriteFile(t, filepath.Join(dir, "sub", "real"), []byte("before"))
	for link, to := range map[string]string{"absolute": real, "relative": "sub/real", "twice": "relative", "to nothing": "sub/new"} {
		path := filepath.Join(dir, link)
		if err := os.Symlink(to, path); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		if link == "twice" {
			_ = os.Symlink("sub/real", filepath.Join(dir, "relative"))
		}
		if err := exports.ExportFile(path, writeText(link)); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != link || mode(path) != fs.ModeSymlink {
			t.Errorf("%s: %q, %v (%v)", link, b, mode(path), err)
		}
	}
	if err := exports.ExportFile(filepath.Join(dir, "sub"), writeText("x")); err == nil || !mode(filepath.Join(dir, "sub")).IsDir() {
		t.Errorf("a directory: %v", err)
	}
	loop := filepath.Join(dir, "loop")
	if err := errors.Join(os.Symlink("loop", loop)); err != nil {
		t.Fatal(err)
	}
	if err := exports.ExportFile(loop, writeText("x")); err == nil {
		t.Error("a loop of links is written")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".neardup-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// What a killed export left beside its output goes with the next one; what
// another process holds, what is young, and what only looks like it stays.
func TestStaleFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	var held *os.File
	for _, name := range []string{".neardup-1234", ".neardup-5678", ".neardup-held", ".neardup-99", ".neardup-7/sub/a", ".neardup-8/former/a", "neardup-1"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		pipetest.WriteFile(t, path, []byte("half"))
		if name == ".neardup-99" {
			var err error
			if held, err = os.Open(path); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = held.Close() }()
			if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
				t.Skip(err)
			}
		}
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{".neardup-1234", ".neardup-held", ".neardup-99", ".neardup-7", ".neardup-8", "neardup-1"} {
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := exports.ExportFile(filepath.Join(dir, "out"), writeText("x")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{".neardup-5678", ".neardup-8", ".neardup-99", ".neardup-held", "neardup-1", "out"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
	// An export that is being written holds its file.
	err = exports.ExportFile(filepath.Join(dir, "out"), func(w io.Writer) error {
		made, err := filepath.Glob(filepath.Join(dir, ".neardup-*"))
		if err != nil || len(made) != 5 {
			t.Errorf("%q %v", made, err)
		}
		for _, name := range made {
			if filepath.Base(name) != ".neardup-8" {
				_ = os.Chtimes(name, old, old)
			}
		}
		if err := disk.RemoveStale(dir); err != nil {
			t.Error(err)
		}
		return writeText("whole")(w)
	})
	if b, readErr := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(b) != "whole" {
		t.Errorf("%q, %v, %v", b, err, readErr)
	}
}
