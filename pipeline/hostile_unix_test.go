//go:build unix

package pipeline_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// within fails a test that waits for what never comes.
func within(t *testing.T, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("hangs")
	}
}

// A pipe that nobody writes to, and devices, are refused without a look into
// them.
func TestWhatIsNoFileIsRefused(t *testing.T) {
	root := t.TempDir()
	pipe, link := filepath.Join(root, "x.warc.gz"), filepath.Join(t.TempDir(), "link.warc")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, "other"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	// A socket's path is short, so it is made where the test is.
	t.Chdir(root)
	socket, err := net.Listen("unix", "s.warc")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	for _, x := range []struct {
		arg     string
		says    []string // of each source
		ignored int
	}{
		{pipe, []string{"a pipe"}, 0},
		{link, []string{"a pipe"}, 0},
		{filepath.Join(root, "*.gz"), []string{"a pipe"}, 0},
		{filepath.Join(root, "s.warc"), []string{"a socket"}, 0},
		{root, []string{"a socket", "a pipe"}, 1},
		{"/dev/zero", []string{"a device"}, 0},
		{"/dev/null", []string{"a device"}, 0},
	} {
		within(t, func() {
			sources, ignored, err := inputs.Find(t.Context(), t.TempDir(), []string{x.arg}, nil, pipetest.Limits)
			if err != nil || len(sources) != len(x.says) || ignored != x.ignored {
				t.Errorf("%s: %+v, %d passed over, %v", x.arg, sources, ignored, err)
				return
			}
			for i, s := range sources {
				if s.State != inputs.Unreadable || !strings.HasPrefix(s.Error, x.says[i]) {
					t.Errorf("%s: %s %q", x.arg, s.State, s.Error)
				}
			}
		})
	}
	within(t, func() {
		dir := filepath.Join(t.TempDir(), "ws")
		if _, err := extractOnly(t, dir, pipetest.MustLoad(t), pipe); !errors.Is(err, workspace.ErrInputFailure) || !strings.Contains(err.Error(), "a pipe") {
			t.Error(err)
		}
	})
}

// A file that has become a pipe since it was found is not waited for.
func TestFileThatBecameAPipe(t *testing.T) {
	file := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "x.warc"), []byte(good("x")))
	dir := filepath.Join(t.TempDir(), "ws")
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	sources, _, err := inputs.Find(t.Context(), dir, []string{file}, nil, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o666)); err != nil {
		t.Fatal(err)
	}
	within(t, func() {
		if err := w.Run(context.Background(), "extract", "extract", sources); err == nil || !strings.Contains(err.Error(), file+": a pipe") {
			t.Error(err)
		}
	})
}

// A link is followed where it is named, and passed over below a directory.
func TestSymbolicLinks(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	file := pipetest.WriteFile(t, filepath.Join(elsewhere, "x.warc"), []byte(good("x")))
	inside := pipetest.WriteFile(t, filepath.Join(root, "y.warc"), []byte(good("y")))
	for name, target := range map[string]string{
		"outside.warc": file, "self.warc": "self.warc", "nowhere.warc": "nothing", "up": "..", "loop": root, "dir": elsewhere, "same.warc": inside,
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	find := func(args ...string) (paths []string, ignored int) {
		sources, ignored, err := inputs.Find(t.Context(), t.TempDir(), args, nil, pipetest.Limits)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sources {
			if s.State == inputs.Unreadable {
				s.Path = "unreadable " + filepath.Base(s.Path)
			}
			paths = append(paths, s.Path)
		}
		return paths, ignored
	}
	file, inside = resolved(t, file), resolved(t, inside)
	link := func(name string) string { return filepath.Join(root, name) }
	for _, x := range []struct {
		name    string
		args    []string
		want    []string
		ignored int
	}{
		{"a directory of links", []string{root}, []string{inside}, 7},
		{"a link to a file", []string{link("outside.warc")}, []string{file}, 0},
		{"a link and its file", []string{link("same.warc"), inside, root}, []string{inside}, 7},
		{"a link to a directory", []string{link("dir")}, []string{file}, 0},
		{"a link to itself", []string{link("self.warc")}, []string{"unreadable self.warc"}, 0},
		{"a link to nothing", []string{link("nowhere.warc")}, []string{"unreadable nowhere.warc"}, 0},
		{"a pattern", []string{link("*side.warc")}, []string{file}, 0},
	} {
		got, ignored := find(x.args...)
		if !slices.Equal(got, x.want) || ignored != x.ignored {
			t.Errorf("%s: %q, %d passed over; want %q, %d", x.name, got, ignored, x.want, x.ignored)
		}
	}
}

func resolved(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}
