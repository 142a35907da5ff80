package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"neardup/configs"
	"neardup/example"
	"neardup/pipeline/inputs"
	"neardup/pipeline/remote/remotetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// update rewrites the golden exports and the output in transcripts:
//
//	go test ./cmd/neardup -run 'TestGolden|TestScripts' -update
//
// Review the difference: a changed score or cluster is a changed result.
var update = flag.Bool("update", false, "rewrite testdata")

// TestMain makes the test binary the program when it is called neardup, as
// scripts and the tests that kill it do.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"neardup": faultyMain})
}

// TestScripts runs the transcripts in testdata. In each, crawl.warc.gz is the
// example crawl as its generator writes it, crawl.pages.tsv and crawl.truth.tsv
// its labels. Beside the commands of testscript there are
//
//	exits CODE PROGRAM ARG...  the program ends with CODE
//	hold DIR, release          open the workspace in DIR as a run would, and close it
//	halt DIR STAGE FILE, go-on  run with FILE as input beside the script, which waits when STAGE begins
//	interrupt DIR STAGE FILE   run with FILE as input, interrupted when STAGE begins
//	damage FILE                overwrite 16 bytes in the middle of FILE
//	break PATTERN              change one bit of each file that matches
//	typeset FILE DIR           a text as HTML and PDF, and captures of them, see scriptTypeset
//	samepages FILE1 FILE2      two clusters.jsonl are the same apart from the hints at files
//	objects                    start an object store and a web server, see remote_test.go
//	put FILE KEY               put a file into the store, and give it to the web server
//	faults KIND                spoil answers from now on
//	replace FILE OLD NEW       replace text in FILE; OLD must occur
func TestScripts(t *testing.T) {
	crawl := generated(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			if dir, err := os.UserCacheDir(); err == nil {
				e.Setenv("XDG_CACHE_HOME", dir) // so that PDFium is translated once for all scripts
			}
			var pages, truth bytes.Buffer
			return errors.Join(example.WritePages(&pages), example.WriteTruth(&truth),
				os.WriteFile(filepath.Join(e.WorkDir, "crawl.warc.gz"), crawl, 0o644),
				os.WriteFile(filepath.Join(e.WorkDir, "crawl.pages.tsv"), pages.Bytes(), 0o644),
				os.WriteFile(filepath.Join(e.WorkDir, "crawl.truth.tsv"), truth.Bytes(), 0o644))
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "store":
				return os.Getenv(remotetest.ServerVariable) != "", nil
			case "root":
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("no condition %q", name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     scriptExits,
			"hold":      scriptHold,
			"release":   scriptRelease,
			"halt":      scriptHalt,
			"go-on":     scriptGoOn,
			"interrupt": scriptInterrupt,
			"damage":    scriptDamage,
			"break":     scriptBreak,
			"replace":   scriptReplace,
			"samepages": scriptSamePages,
			"objects":   scriptObjects,
			"put":       scriptPut,
			"faults":    scriptFaults,
			"typeset":   scriptTypeset,
		},
	})
}

var generate = sync.OnceValues(func() ([]byte, error) {
	var b bytes.Buffer
	err := example.Write(&b)
	return b.Bytes(), err
})

// generated returns the example crawl. Another version of Go may compress it
// otherwise than the committed file.
func generated(t *testing.T) []byte {
	t.Helper()
	b, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func usage(ts *testscript.TestScript, neg bool, args []string, least int, want string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", want)
	}
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "exits CODE PROGRAM ARG...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func openWorkspace(dir string, progress workspace.Progress) (*workspace.Workspace, error) {
	config, err := configs.Load("default", nil)
	if err != nil {
		return nil, err
	}
	return workspace.Open(dir, stages.All, config, true, workspace.Options{Progress: progress})
}

// held are the workspaces that scripts hold.
var held sync.Map // of *testscript.TestScript to *pipeline.Workspace

func scriptHold(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 1, "hold DIR")
	w, err := openWorkspace(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	held.Store(ts, w)
	ts.Defer(func() { _ = release(ts) })
}

func scriptRelease(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 0, "release")
	ts.Check(release(ts))
}

func release(ts *testscript.TestScript) error {
	w, ok := held.LoadAndDelete(ts)
	if !ok {
		return nil
	}
	return w.(*workspace.Workspace).Close()
}

// stopAt calls stop when a stage of a run begins.
type stopAt struct {
	workspace.Progress
	stage string
	stop  func()
}

func (s *stopAt) Start(stage, reason, why string) {
	if stage == s.stage {
		s.stop()
	}
	s.Progress.Start(stage, reason, why)
}

func scriptInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 3, "interrupt DIR STAGE FILE")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := runAt(ctx, ts, args[0], args[1], args[2], stop); !errors.Is(err, context.Canceled) {
		ts.Fatalf("not interrupted: %v", err)
	}
}

// runAt runs a workspace with one more file, and calls at when a stage begins.
func runAt(ctx context.Context, ts *testscript.TestScript, dir, stage, file string, at func()) error {
	quiet, err := newProgress("none", "text", io.Discard)
	ts.Check(err)
	dir = ts.MkAbs(dir)
	w, err := openWorkspace(dir, &stopAt{quiet, stage, at})
	ts.Check(err)
	sources, _, err := inputs.Find(ctx, dir, []string{ts.MkAbs(file)}, nil, w.Config.Extract.Limits)
	ts.Check(err)
	names := stages.Names()
	err = w.Run(ctx, names[0], names[len(names)-1], sources)
	ts.Check(w.Close())
	return err
}

// halted are the runs that wait: of each script what lets its run go on, and returns how
// it ended.
var halted sync.Map // of *testscript.TestScript to func() error

func scriptHalt(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 3, "halt DIR STAGE FILE")
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- runAt(context.Background(), ts, args[0], args[1], args[2], func() {
			close(begun)
			<-goOn
		})
	}()
	finish := sync.OnceValue(func() error {
		close(goOn)
		return <-ended
	})
	select {
	case <-begun:
	case err := <-ended:
		ts.Fatalf("%s did not begin: %v", args[1], err)
	}
	halted.Store(ts, finish)
	ts.Defer(func() { _ = finish() })
}

func scriptGoOn(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 0, "go-on")
	finish, ok := halted.LoadAndDelete(ts)
	if !ok {
		ts.Fatalf("nothing was halted")
	}
	ts.Check(finish.(func() error)())
}

func scriptDamage(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 1, "damage FILE")
	b := []byte(ts.ReadFile(args[0]))
	copy(b[len(b)/2:], bytes.Repeat([]byte{0xff}, 16))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}

func scriptBreak(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 1, "break PATTERN")
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	if err != nil || len(files) == 0 {
		ts.Fatalf("%s matches %q (%v)", args[0], files, err)
	}
	for _, file := range files {
		b := []byte(ts.ReadFile(file))
		b[len(b)/2] ^= 4
		ts.Check(os.WriteFile(file, b, 0o644))
	}
}

func scriptReplace(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 3, "replace FILE OLD NEW")
	b := []byte(ts.ReadFile(args[0]))
	if !bytes.Contains(b, []byte(args[1])) {
		ts.Fatalf("no %q in %s", args[1], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.ReplaceAll(b, []byte(args[1]), []byte(args[2])), 0o644))
}

var hints = regexp.MustCompile(`"warc":"[^"]*","path":"[^"]*",("entry":"[^"]*",)?"offset":\d+,`)

func scriptSamePages(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "samepages FILE1 FILE2")
	a, b := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if !hints.MatchString(a) || hints.ReplaceAllString(a, "") != hints.ReplaceAllString(b, "") {
		ts.Fatalf("%s and %s differ in more than files and offsets", args[0], args[1])
	}
}

// neardup runs the program in this process and gives what it prints.
func neardup(t *testing.T, code int, args ...string) (stdout string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(args, bytes.NewReader(nil), &out, &errs); got != code {
		t.Fatalf("neardup %q: exit code %d, want %d\n%s", args, got, code, errs.String())
	}
	return out.String()
}

// runIn runs all stages in the workspace dir.
func runIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	neardup(t, exitOK, append([]string{"run", "--progress", "none", "--show", "0", "--workspace", dir}, args...)...)
}

// exported reads a file of the workspace's exports.
func exported(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "exports", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Files that begin and end alike, have one name, and differ between are told apart by nobody.
func TestFilesThatLookAlike(t *testing.T) {
	line := func(i int, text string) string {
		return fmt.Sprintf("page-%04d\t%s %s\n", i, text, strings.Repeat("and so on ", 100))
	}
	var ends [2]string
	for i := range 160 {
		ends[i/80] += line(i, "This is said on this page of the archive,")
	}
	dir := t.TempDir()
	write := func(at, middle string) string {
		t.Helper()
		path := filepath.Join(dir, at, "crawl.tsv")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(ends[0]+middle+ends[1]), 0o644)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole, redacted := write("whole", line(9999, "This is a secret,")), write("redacted", "")
	ws := filepath.Join(dir, "ws")
	neardup(t, exitUsage, "run", "--workspace", ws, whole, redacted)
	runIn(t, ws, whole)
	neardup(t, exitUsage, "run", "--workspace", ws, redacted)
	altered, copied := write("altered", line(9999, "This is a SECRET,")), write("copied", line(9999, "This is a secret,"))
	neardup(t, exitUsage, "run", "--workspace", filepath.Join(dir, "new"), copied, altered) // of one size
	neardup(t, exitUsage, "run", "--workspace", ws, altered)
	runIn(t, ws, whole, copied)
	neardup(t, exitOK, "check", "--workspace", ws)
	other := filepath.Join(filepath.Dir(redacted), "redacted.tsv")
	if err := os.Rename(redacted, other); err != nil {
		t.Fatal(err)
	}
	runIn(t, ws, other)
	neardup(t, exitUsage, "remove", "--workspace", ws, "--progress", "none", whole)
	neardup(t, exitOK, "remove", "--workspace", ws, "--progress", "none", whole, copied)
	neardup(t, exitOK, "check", "--workspace", ws)
	if corpus := neardup(t, exitOK, "export", "--workspace", ws, "--format", "corpus"); strings.Contains(corpus, "secret") || strings.Count(corpus, "page-") == 0 {
		t.Error("the page that only the whole archive has is still there, or no page is")
	}
}
