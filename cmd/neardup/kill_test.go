package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// raced says that the race detector is on, which makes a run many times as
// long.
var raced bool

// killRounds are the workspaces that TestStopped kills, most of them more than once:
// one for each of the moments. Each call kills at other times; more of them at once:
//
//	go test ./cmd/neardup -run TestStopped -kill-rounds 200
var killRounds = flag.Int("kill-rounds", len(moments), "workspaces that are killed")

// bigVariants is the size of the crawl.
func bigVariants() int {
	if raced {
		return 15
	}
	return 40
}

// bigRun is what an uninterrupted run of the big crawl makes.
type bigRun struct {
	files    []string
	settings []string
	exports  map[string]string
	took     map[string]time.Duration // of each stage, and of the exports
}

// checked are the exports that must not depend on interruptions.
var checked = []string{"clusters.jsonl", "clusters.csv", "summary.json"}

// moments are the parts of a run at which it is stopped.
var moments = append(stages.Names(), "exports", "opening")

func bigReference(t *testing.T, variants int, settings ...string) bigRun {
	t.Helper()
	big := bigRun{files: bigCrawl(t, variants), settings: append(settings, bigSettings...), exports: map[string]string{}, took: map[string]time.Duration{"opening": 20 * time.Millisecond}}
	dir := filepath.Join(t.TempDir(), "workspace")
	began := time.Now()
	if p := start(t, big.arguments(dir)); p.wait() != exitOK {
		t.Fatalf("reference run: %s", p.errors())
	}
	left := time.Since(began)
	var summary struct {
		Stages []struct {
			Stage   string
			Seconds float64
		}
	}
	if err := json.Unmarshal([]byte(exported(t, dir, "summary.json")), &summary); err != nil {
		t.Fatal(err)
	}
	for _, s := range summary.Stages {
		big.took[s.Stage] = time.Duration(s.Seconds * float64(time.Second))
		left -= big.took[s.Stage]
	}
	big.took["exports"] = left
	for _, name := range checked {
		big.exports[name] = exported(t, dir, name)
	}
	big.exports["summary.json"] = withoutTimes(t, big.exports["summary.json"])
	t.Logf("reference run: %v, %d clusters", big.took, strings.Count(big.exports["clusters.jsonl"], "\n"))
	return big
}

func (b bigRun) arguments(dir string) []string {
	return append(append([]string{"run", "--workspace", dir, "--progress", "json", "--show", "0"}, b.settings...), b.files...)
}

func (b bigRun) check(t *testing.T, dir string) {
	t.Helper()
	for _, name := range checked {
		got := exported(t, dir, name)
		if name == "summary.json" {
			got = withoutTimes(t, got)
		}
		same(t, name, got, b.exports[name])
	}
}

// hangs is how long a run may take before it counts as hanging; on the
// slowest machine it takes a small part of this.
const hangs = 5 * time.Minute

// program is the program at work in a process of its own.
type program struct {
	cmd    *exec.Cmd
	events chan event // closed at the end
	mu     sync.Mutex
	stderr bytes.Buffer
	done   chan struct{}
}

// event is a line of its log.
type event struct{ Msg, Stage string }

func start(t *testing.T, args []string) *program {
	t.Helper()
	p := &program{cmd: exec.Command("neardup", args...), events: make(chan event, 100), done: make(chan struct{})}
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(hangs, func() {
		t.Errorf("neardup %q hangs", args)
		_ = p.cmd.Process.Kill()
	})
	go func() {
		defer close(p.done)
		defer close(p.events)
		defer watchdog.Stop()
		for sc := bufio.NewScanner(pipe); sc.Scan(); {
			p.mu.Lock()
			p.stderr.WriteString(sc.Text() + "\n")
			p.mu.Unlock()
			var e event
			if json.Unmarshal(sc.Bytes(), &e) == nil {
				select {
				case p.events <- e:
				default: // nobody listens any more
				}
			}
		}
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// reach waits for a moment of the run in dir; false when the run ended
// before.
func (p *program) reach(dir, moment string) bool {
	if moment == "opening" {
		for {
			if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
				return true
			}
			select {
			case <-p.done:
				return false
			case <-time.After(time.Millisecond):
			}
		}
	}
	for e := range p.events {
		switch {
		case moment == "exports" && e.Stage == "verify" && e.Msg != "started":
			return true
		case moment == e.Stage && (e.Msg == "started" || e.Msg == "up to date"):
			return true
		}
	}
	return false
}

// wait returns the exit code, -1 after a signal.
func (p *program) wait() int {
	<-p.done
	_ = p.cmd.Wait() // the exit code says it
	return p.cmd.ProcessState.ExitCode()
}

func (p *program) errors() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// stop starts the run in dir and sends the signal some time after the moment, within so
// much of what follows it, as a share.
// It returns the exit code and what was on standard error.
func (b bigRun) stop(t *testing.T, random *rand.Rand, dir, moment string, signal os.Signal, within float64) (code int, stderr string) {
	t.Helper()
	delay := time.Duration(random.Float64() * within * float64(b.took[moment]))
	p := start(t, b.arguments(dir))
	if p.reach(dir, moment) {
		select {
		case <-time.After(delay):
		case <-p.done:
		}
	}
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	code = p.wait()
	t.Logf("%v %v after %s began: exit code %d, at work: %s", signal, delay.Round(time.Millisecond), moment, code, atWork(t, dir))
	return code, p.errors()
}

// atWork returns the stage that was at work when a run ended.
func atWork(t *testing.T, dir string) string {
	t.Helper()
	m, err := workspace.ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "opening"
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Stages {
		if !s.Done {
			return s.Name
		}
	}
	if n := len(m.Stages); n > 0 && n < len(stages.Names()) {
		return "after " + m.Stages[n-1].Name
	} else if n == 0 {
		return "opening"
	}
	return "exports"
}

func newSeed(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// TestStopped stops runs at all moments and lets them finish: the exports are
// those of a run that was never stopped.
func TestStopped(t *testing.T) {
	big := bigReference(t, bigVariants())
	t.Run("killed", func(t *testing.T) {
		if raced {
			t.Skip("a killed process reports no race")
		}
		testKilled(t, big, *killRounds, moments)
	})
	t.Run("interrupted", func(t *testing.T) { testInterrupted(t, big) })
}

// TestStoppedWhileLearning stops runs with text.frames, most of them in the
// stage that learns.
func TestStoppedWhileLearning(t *testing.T) {
	if raced {
		t.Skip("runs of processes, one after another")
	}
	big := bigReference(t, bigVariants(), "--set", "text.frames=3")
	if !strings.Contains(big.exports["summary.json"], `"frames"`) {
		t.Fatal("no frames in the summary")
	}
	testKilled(t, big, (*killRounds+1)/2, []string{"sign", "verify"})
}

// testKilled kills runs at these moments, often more than once.
func testKilled(t *testing.T, big bigRun, rounds int, moments []string) {
	random := newSeed(t)
	hit := map[string]int{}
	for round := range rounds {
		dir := filepath.Join(t.TempDir(), "workspace")
		moment := moments[round%len(moments)]
		for again := true; again; again = random.IntN(3) == 0 {
			if code, stderr := big.stop(t, random, dir, moment, os.Kill, 1); code > 0 {
				t.Fatalf("exit code %d before the kill: %s", code, stderr)
			} else if code < 0 {
				hit[atWork(t, dir)]++
			}
			neardup(t, exitOK, "status", "--workspace", dir)
			moment = moments[random.IntN(len(moments))]
		}
		if p := start(t, big.arguments(dir)); p.wait() != exitOK {
			t.Fatalf("after the kill: %s", p.errors())
		}
		big.check(t, dir)
	}
	t.Logf("killed at work: %v", hit)
	if total := slices.Collect(maps.Values(hit)); len(total) == 0 {
		t.Error("every run ended before it was killed")
	}
}

// testInterrupted sends signals that the program answers.
func testInterrupted(t *testing.T, big bigRun) {
	random := newSeed(t)
	dir := filepath.Join(t.TempDir(), "workspace")
	interrupted := 0
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as by nohup
		signals = append(signals, syscall.SIGHUP)
	}
	for i, moment := range moments[:len(moments)-1] { // while it opens it may not listen yet
		code, stderr := big.stop(t, random, dir, moment, signals[i%len(signals)], 1)
		for within := 0.5; code == exitOK && within > 0.02; within /= 2 { // it was faster: once more, and sooner
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			code, stderr = big.stop(t, random, dir, moment, signals[i%len(signals)], within)
		}
		switch {
		case code == exitInterrupted:
			interrupted++
			if want := "neardup: interrupted; everything committed is kept. Run the same command again to go on."; !strings.Contains(stderr, want) {
				t.Errorf("standard error is %q, want %q in it", stderr, want)
			}
		case code == exitOK: // it was faster
		case code < 0 && moment == "exports": // it had ended, and listened no more
		default:
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	if interrupted == 0 {
		t.Error("every run ended before it was interrupted")
	}
	if p := start(t, big.arguments(dir)); p.wait() != exitOK {
		t.Fatalf("after the interruption: %s", p.errors())
	}
	big.check(t, dir)
}
