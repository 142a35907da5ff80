package disk_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"neardup/pipeline/disk"
	"neardup/pipeline/internal/pipetest"
)

func ownsTest(name string) bool { return name == "mark" || strings.HasPrefix(name, "sub/") }

// writeTree writes files, and fails at the n-th if n is not 0.
func writeTree(n int, content string) func(func(string) (io.WriteCloser, error)) error {
	return func(create func(string) (io.WriteCloser, error)) error {
		for i, name := range []string{"mark", "sub/a", "sub/b"} {
			f, err := create(name)
			if err != nil {
				return err
			}
			_, err = io.WriteString(f, content)
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
			if i+1 == n {
				return pipetest.ErrNoRoom
			}
		}
		return nil
	}
}

// treeOf returns the files below a directory with what they hold.
func treeOf(t *testing.T, dir string) (out []string) {
	t.Helper()
	for _, path := range pipetest.Tree(t, dir) {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err == nil {
			out = append(out, name+"="+string(b))
		} else if strings.Contains(name, disk.Temporary) {
			out = append(out, name)
		}
	}
	return out
}

func TestExportDirectory(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "report")
	want := func(content string) []string {
		return []string{"report/mark=" + content, "report/sub/a=" + content, "report/sub/b=" + content}
	}
	check := func(what string, err, wantErr error, want []string) {
		t.Helper()
		if !errors.Is(err, wantErr) || wantErr == nil && err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got := treeOf(t, parent); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	for n := 1; n <= 3; n++ {
		check(fmt.Sprintf("failed at file %d", n), disk.ExportDirectory(path, writeTree(n, "x")), pipetest.ErrNoRoom, nil)
	}
	check("new", disk.ExportDirectory(path, writeTree(0, "one")), nil, want("one"))
	for n := 1; n <= 3; n++ {
		check(fmt.Sprintf("again, failed at file %d", n), disk.ExportDirectory(path, writeTree(n, "x")), pipetest.ErrNoRoom, want("one"))
	}
	if err := os.WriteFile(filepath.Join(path, "sub", "c"), []byte("of before"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("again", disk.ExportDirectory(path+"/", writeTree(0, "two")), nil, want("two"))
	if err := errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o777)); err != nil {
		t.Fatal(err)
	}
	check("empty", disk.ExportDirectory(path, writeTree(0, "three")), nil, want("three"))
	if err := disk.ExportDirectory(filepath.Join(parent, "missing", "report"), writeTree(0, "x")); err == nil {
		t.Error("the folder above is made")
	}
	check("no folder above", nil, nil, want("three"))

	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	check("by a link", disk.ExportDirectory(link, writeTree(0, "four")), nil, want("four"))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o555 != 0o555 {
		t.Errorf("the directory cannot be read by others: %v (%v)", info.Mode(), err)
	}
}

func TestCheckDirectory(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		ok    bool
	}{
		"empty": {nil, true}, "a former one": {[]string{"mark", "sub/a"}, true}, "only the mark": {[]string{"mark"}, true},
		"no mark": {[]string{"sub/a"}, false}, "other files": {[]string{"mark", "notes.txt"}, false}, "other folders": {[]string{"mark", "more/a"}, false},
	} {
		dir := t.TempDir()
		for _, file := range test.files {
			path := filepath.Join(dir, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if err := disk.CheckDirectory(dir, "mark", ownsTest); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	if err := disk.CheckDirectory(filepath.Join(dir, "new"), "mark", ownsTest); err != nil {
		t.Errorf("a new one: %v", err)
	}
	file := pipetest.WriteFile(t, filepath.Join(dir, "file"), nil)
	if err := disk.CheckDirectory(file, "mark", ownsTest); err == nil {
		t.Error("a file is taken for a directory")
	}
}

// All temporary files that nobody holds any more are removed, and nothing else.
func TestRemoveStale(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour * 24 * 365)
	for name, age := range map[string]time.Time{disk.Temporary + "1": old, disk.Temporary + "2": old, disk.Temporary + "3": time.Now(), "d": old} {
		path := pipetest.WriteFile(t, filepath.Join(dir, name), nil)
		if err := os.Chtimes(path, age, age); err != nil {
			t.Fatal(err)
		}
	}
	if err := disk.RemoveStale(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "d" }) || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == disk.Temporary+"3" }) {
		t.Errorf("left: %v (%v)", entries, err)
	}
}

// A file that is being written is held, however old it looks, so nobody removes it.
func TestFilesThatAreWrittenAreHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	err := disk.WriteFile(path, func(f *os.File) error {
		old := time.Now().Add(-time.Hour * 24 * 365)
		return errors.Join(os.Chtimes(f.Name(), old, old), disk.RemoveStale(filepath.Dir(path)))
	})
	if _, statErr := os.Stat(path); err != nil || statErr != nil {
		t.Errorf("%v, %v", err, statErr)
	}
}
