package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// faultRuns is how many runs TestFaults makes. Run n has the seed faultSeed + n.
//
//	go test ./cmd/neardup -run TestFaults -faults 500 -fault-seed 1
var (
	faultRuns = flag.Int("faults", 21, "runs with faults")
	faultSeed = flag.Uint64("fault-seed", 1, "seed of the first; 0: of the time")
)

// faults are the kinds of faults, each with what it does to a workspace. A fault
// may leave a workspace that is refused from then on: it says so.
var faults = []struct {
	name string
	do   func(f *faulty) (mayRefuse bool)
}{
	{"killed at a change of a file", func(f *faulty) bool { return f.changed("kill") }},
	{"error at a change of a file", func(f *faulty) bool { return f.changed("error") }},
	{"short write", func(f *faulty) bool { return f.changed("short") }},
	{"disk full from a change on", func(f *faulty) bool { return f.changed("full") }},
	{"killed at a time", func(f *faulty) bool {
		f.stop(syscall.SIGKILL)
		return false
	}},
	{"signals", func(f *faulty) bool {
		f.stop([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[f.random.IntN(2)], []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[f.random.IntN(2)])
		return false
	}},
	{"file of the workspace damaged", func(f *faulty) bool {
		if f.random.IntN(2) == 0 {
			f.stop(syscall.SIGKILL)
		} else {
			f.whole()
		}
		f.damage()
		return true
	}},
	{"input changes", (*faulty).changeInput},
	{"two processes", (*faulty).twice},
	{"few descriptors", func(f *faulty) bool {
		f.run("", fmt.Sprintf("ulimit -n %d; ", 5+f.random.IntN(60)))
		return false
	}},
	{"little memory", func(f *faulty) bool {
		f.run("", fmt.Sprintf("ulimit -v %d; ", (700+f.random.IntN(2500))<<10))
		return false
	}},
	{"read-only place", (*faulty).readOnly},
	{"a read fails", (*faulty).unread},
	{"clock jumps", (*faulty).clockJumps},
	{"export with a fault", (*faulty).export},
}

// noMemory are words of the Go runtime and of cgo when they get no memory or
// thread, which ends any Go program; some before its first line.
var noMemory = []string{"runtime: ", "runtime/cgo: ", "out of memory", "fatal error: failed to reserve"}

// faulty is a run with a fault.
type faulty struct {
	t      *testing.T
	random *rand.Rand
	dir    string
	inputs []string
	took   time.Duration // by a run without faults
	log    []string
}

func (f *faulty) note(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *faulty) arguments() []string {
	return append([]string{"run", "--workspace", f.dir, "--progress", "none", "--show", "0", "--workers", "2"}, f.inputs...)
}

// command is a run with a fault of the file system, and a limit of the shell
// before it.
func (f *faulty) command(fault, limit string) *exec.Cmd {
	return shell(fault, limit, f.arguments())
}

func shell(fault, limit string, arguments []string) *exec.Cmd {
	c := exec.Command("sh", append([]string{"-c", limit + `exec neardup "$@"`, "sh"}, arguments...)...)
	c.Env = append(os.Environ(), faultVariable+"="+fault)
	return c
}

// run runs it to its end, and checks how it ends.
func (f *faulty) run(fault, limit string) (code int) {
	f.t.Helper()
	var stderr bytes.Buffer
	c := f.command(fault, limit)
	c.Stderr = &stderr
	watchdog := time.AfterFunc(hangs, func() { _ = c.Process.Kill(); f.t.Error("hangs") })
	defer watchdog.Stop()
	err := c.Run()
	code = c.ProcessState.ExitCode()
	first, _, _ := strings.Cut(stderr.String(), "\n")
	f.note("%s%s: exit code %d: %.300s", limit, fault, code, first)
	killed := code < 0 && (strings.HasPrefix(fault, "kill") || strings.Contains(limit, "-v"))
	starved := limit != "" && slices.ContainsFunc(noMemory, func(words string) bool { return strings.Contains(stderr.String(), words) })
	if err != nil && !killed && !starved && (!strings.Contains(stderr.String(), "neardup: ") && !strings.Contains(first, "sh: ") || strings.Contains(stderr.String(), "\ngoroutine ")) {
		f.t.Errorf("no plain message: %.2000s", stderr.String())
	}
	if code == exitUsage && !starved {
		f.t.Errorf("the exit code of wrong use: %.2000s", stderr.String())
	}
	return code
}

// whole is a run without faults.
func (f *faulty) whole() {
	f.t.Helper()
	if code := f.run("", ""); code != exitOK {
		f.t.Errorf("without a fault: exit code %d", code)
	}
}

// changed has a fault at one of the first changes of files.
func (f *faulty) changed(kind string) bool {
	f.run(fmt.Sprintf("%s:%d", kind, 1+f.random.IntN(220)), "")
	return false
}

// stop sends signals at random times.
func (f *faulty) stop(signals ...syscall.Signal) {
	c := f.command("", "")
	if err := c.Start(); err != nil {
		f.t.Fatal(err)
	}
	for _, s := range signals {
		wait := time.Duration(f.random.Float64() * float64(f.took))
		time.Sleep(wait)
		_ = c.Process.Signal(s)
		f.note("%v after %v", s, wait)
	}
	_ = c.Wait()
	f.note("exit code %d", c.ProcessState.ExitCode())
}

// damage damages a file of the workspace, not those of exports, which each run
// writes anew.
func (f *faulty) damage() {
	if _, err := os.Stat(f.dir); err != nil {
		f.note("it does not exist yet")
		return
	}
	var files []string
	err := filepath.WalkDir(f.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && filepath.Base(filepath.Dir(path)) != "exports" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if len(files) == 0 {
		return
	}
	path := files[f.random.IntN(len(files))]
	b, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	how := f.random.IntN(4)
	if len(b) == 0 {
		how = 3
	}
	switch how {
	case 0:
		b[f.random.IntN(len(b))] ^= 1 << f.random.IntN(8)
	case 1:
		b = b[:f.random.IntN(len(b))]
	case 2:
		at := f.random.IntN(len(b))
		for i := at; i < min(len(b), at+64); i++ {
			b[i] = byte(f.random.Uint32())
		}
	}
	if how == 3 {
		err = os.Remove(path)
	} else {
		err = os.WriteFile(path, b, 0o666)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.note("%s: %s", []string{"a bit", "cut off", "garbage", "removed"}[how], strings.TrimPrefix(path, f.dir))
}

// changeInput changes an input, or takes it away, and puts it back.
func (f *faulty) changeInput() bool {
	if f.random.IntN(3) > 0 {
		f.stop(syscall.SIGKILL)
	}
	path := f.inputs[f.random.IntN(len(f.inputs))]
	b, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	c := f.command("", "")
	during := f.random.IntN(2) == 0
	if during {
		if err := c.Start(); err != nil {
			f.t.Fatal(err)
		}
		time.Sleep(time.Duration(f.random.Float64() * float64(f.took)))
	}
	switch f.random.IntN(3) {
	case 0:
		err = os.Remove(path)
	case 1:
		err = os.WriteFile(path, b[:f.random.IntN(len(b))], 0o666)
	default:
		other := bytes.Clone(b)
		for range 1 + f.random.IntN(50) {
			other[f.random.IntN(len(b))]++
		}
		err = os.WriteFile(path, other, 0o666)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	if during {
		_ = c.Wait()
	} else {
		f.run("", "")
	}
	later := time.Now().Add(time.Duration(f.random.IntN(3)-1) * time.Hour) // the clock may jump
	if err := errors.Join(os.WriteFile(path, b, 0o666), os.Chtimes(path, later, later)); err != nil {
		f.t.Fatal(err)
	}
	f.note("%s, during a run: %v", filepath.Base(path), during)
	return false
}

// twice runs two processes in one workspace. The second is refused, or comes
// when the first is done.
func (f *faulty) twice() bool {
	c := f.command("", "")
	if err := c.Start(); err != nil {
		f.t.Fatal(err)
	}
	time.Sleep(time.Duration(f.random.Float64() * float64(f.took)))
	if code := f.run("", ""); code != exitOK && code != exitInUse {
		f.t.Errorf("the second process: exit code %d", code)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitOK && code != exitInUse {
		f.t.Errorf("the first process: exit code %d", code)
	}
	return false
}

// unread adds an archive in a run in which the database cannot read once.
func (f *faulty) unread() bool {
	all := f.inputs
	f.inputs = all[:1]
	f.whole()
	f.inputs = all
	f.run(fmt.Sprintf("unread:%d", 1+f.random.IntN(560)), "")
	return false
}

// readOnly begins a run, and goes on where nothing can be written.
func (f *faulty) readOnly() bool {
	if f.random.IntN(2) == 0 {
		f.stop(syscall.SIGKILL)
	}
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		f.t.Fatal(err)
	}
	if err := bindReadOnly(f.dir); err != nil {
		f.note("cannot be made read-only: %v", err)
		return false
	}
	if code := f.run("", ""); code != exitFailure {
		f.t.Errorf("in a read-only place: exit code %d", code)
	}
	if err := syscall.Unmount(f.dir, 0); err != nil {
		f.t.Fatal(err)
	}
	return false
}

// clockJumps stops a run, and gives the files of the workspace, and sometimes an
// input, times of years before or after.
func (f *faulty) clockJumps() bool {
	f.stop(syscall.SIGKILL)
	jump := time.Duration(f.random.IntN(20)-10) * 365 * 24 * time.Hour
	err := filepath.WalkDir(filepath.Dir(f.dir), func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, time.Now().Add(jump), time.Now().Add(jump)))
	})
	if f.random.IntN(2) == 0 {
		err = errors.Join(err, os.Chtimes(f.inputs[0], time.Time{}, time.Now().Add(jump)))
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.note("files are %v off", jump)
	return false
}

// export writes clusters.jsonl elsewhere with a fault, and then without: the same
// as the run wrote, and nothing is left beside it that a later export would not
// remove.
func (f *faulty) export() bool {
	f.whole()
	output := filepath.Join(filepath.Dir(f.dir), "out", "clusters.jsonl")
	if err := os.Mkdir(filepath.Dir(output), 0o777); err != nil {
		f.t.Fatal(err)
	}
	arguments := []string{"export", "--workspace", f.dir, "--format", "jsonl", "--output", output}
	fault := ""
	if f.random.IntN(2) == 0 {
		fault = fmt.Sprintf("%s:%d", []string{"kill", "error", "full"}[f.random.IntN(3)], 1+f.random.IntN(12))
	}
	c := shell(fault, "", arguments)
	if err := c.Start(); err != nil {
		f.t.Fatal(err)
	}
	if fault == "" {
		time.Sleep(time.Duration(f.random.Float64() * float64(f.took) / 4))
		_ = c.Process.Kill()
	}
	_ = c.Wait()
	if b, err := os.ReadFile(output); err == nil && string(b) != exported(f.t, f.dir, "clusters.jsonl") {
		f.t.Errorf("half a file: %d bytes", len(b))
	}
	f.note("%s: exit code %d", fault, c.ProcessState.ExitCode())
	long := time.Now().Add(-time.Hour)
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(output), ".*")); err == nil {
		for _, path := range left {
			_ = os.Chtimes(path, long, long)
		}
	}
	c = shell("", "", arguments)
	if out, err := c.CombinedOutput(); err != nil {
		f.t.Errorf("%v: %s", err, out)
	}
	if b, err := os.ReadFile(output); err != nil || string(b) != exported(f.t, f.dir, "clusters.jsonl") {
		f.t.Errorf("the export has %d bytes, %v", len(b), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(output)); err != nil || len(entries) != 1 {
		f.t.Errorf("beside the export: %v, %v", entries, err)
	}
	return false
}

// TestFaults runs with faults, and lets each run go on: it ends with the exports of
// a run without any, or is refused in a plain sentence.
func TestFaults(t *testing.T) {
	if raced {
		t.Skip("runs of processes, one after another")
	}
	crawl := generated(t)
	dir := t.TempDir()
	directory := func() []string { // always the same, since exports have the path
		half := bytes.LastIndex(crawl[:len(crawl)/2], []byte{0x1f, 0x8b, 8}) // each record is a member
		files := []string{filepath.Join(dir, "one.warc.gz"), filepath.Join(dir, "two.warc.gz")}
		if err := errors.Join(os.WriteFile(files[0], crawl[:half], 0o666), os.WriteFile(files[1], crawl[half:], 0o666)); err != nil {
			t.Fatal(err)
		}
		return files
	}
	seed := *faultSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	reference := &faulty{t: t, dir: filepath.Join(t.TempDir(), "ws"), inputs: directory()}
	began := time.Now()
	reference.whole()
	want, took := exported(t, reference.dir, "clusters.jsonl"), time.Since(began)
	if strings.Count(want, "\n") < 20 {
		t.Fatal("no clusters")
	}
	outcomes := map[string]int{}
	for n := range *faultRuns {
		fault := faults[n%len(faults)]
		f := &faulty{t: t, random: rand.New(rand.NewPCG(seed+uint64(n), 0)), dir: filepath.Join(t.TempDir(), "ws"), inputs: directory(), took: took}
		mayRefuse := fault.do(f)
		code := f.run("", "")
		if code == exitInput { // what could not be read before is tried again
			code = f.run("", "")
		}
		outcome := "the same bytes"
		switch {
		case code == exitOK:
			if got := exported(t, f.dir, "clusters.jsonl"); got != want {
				outcome = "other bytes"
				t.Errorf("other clusters: %d bytes, want %d", len(got), len(want))
			}
		case mayRefuse && (code == exitFailure || code == exitWorkspace):
			outcome = "refused"
		default:
			outcome = "failed"
			t.Errorf("exit code %d", code)
		}
		outcomes[fault.name+": "+outcome]++
		if t.Failed() {
			t.Fatalf("-faults %d -fault-seed %d: %s\n%s", n+1, seed, fault.name, strings.Join(f.log, "\n"))
		}
		_ = os.RemoveAll(filepath.Dir(f.dir))
	}
	t.Logf("seed %d: %v", seed, outcomes)
}

// bindReadOnly makes a directory read-only, which takes root.
func bindReadOnly(dir string) error {
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		return errors.Join(err, syscall.Unmount(dir, 0))
	}
	return nil
}
