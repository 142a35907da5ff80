//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A named pipe without a writer keeps no command from being interrupted.
func TestPipesWithoutWriter(t *testing.T) {
	ws, pipe := exampleWorkspace(t), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	texts := filepath.Join(t.TempDir(), "texts.tsv")
	if err := os.WriteFile(texts, []byte("a\tone two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "--source-file-list", pipe, "-w", ws},
		{"run", "--config", pipe, "-w", ws},
		{"export", "--format", "keep", "--exempt-list", pipe, "-w", ws},
		{"prefer", "scores", pipe, "-w", ws},
		{"prefer", "hosts", pipe, "-w", ws},
		{"audit", "import", pipe, "-w", ws},
		{"join", "--weights", pipe, "--threshold", ".5", texts},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		c := rootCommand()
		c.SetArgs(args)
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		ended := make(chan error, 1)
		go func() { ended <- c.ExecuteContext(ctx) }()
		select {
		case err := <-ended:
			t.Errorf("%v: %v, before anything is written", args, err)
			cancel()
			continue
		case <-time.After(100 * time.Millisecond):
		}
		cancel()
		select {
		case err := <-ended:
			if exitCode(ctx, err) != exitInterrupted {
				t.Errorf("%v: %v, want interrupted", args, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%v does not end", args)
			f, err := os.OpenFile(pipe, os.O_RDWR, 0) // lets it go on
			if err := errors.Join(err, f.Close(), <-ended); err == nil {
				t.Errorf("%v: an empty pipe is no error", args)
			}
		}
	}
}

// Pipes are read once, and to their end.
func TestPipes(t *testing.T) {
	ws, pipe := exampleWorkspace(t), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, x := range []struct {
		written string
		args    []string
		want    string
	}{
		{filepath.Join(filepath.Dir(ws), "crawl.warc.gz") + "\n", []string{"run", "--show", "0", "--progress", "none", "--source-file-list", pipe}, "All clusters:"},
		{"verify:\n  slope: 0.2\n", []string{"run", "--show", "0", "--progress", "none", "--config", pipe}, "All clusters:"},
		{"recipes.example\n", []string{"export", "--format", "keep", "--exempt-list", pipe}, ",exempt,"},
		{"http://recipes.example/\t1\n", []string{"prefer", "scores", pipe}, "1 scores"},
		{"recipes.example\n", []string{"prefer", "hosts", "--name", "hosts", pipe}, "1 hosts"},
	} {
		wrote := make(chan error, 1)
		go func() { wrote <- os.WriteFile(pipe, []byte(x.written), 0) }()
		var out, errs bytes.Buffer
		ended := make(chan int, 1)
		go func() { ended <- run(append(x.args, "-w", ws), bytes.NewReader(nil), &out, &errs) }()
		select {
		case code := <-ended:
			if said := out.String() + errs.String(); code != exitOK || !strings.Contains(said, x.want) {
				t.Errorf("%v: exit code %d, want %q in\n%s", x.args, code, x.want, said)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%v does not end", x.args)
		}
		if err := <-wrote; err != nil {
			t.Error(err)
		}
	}
}
