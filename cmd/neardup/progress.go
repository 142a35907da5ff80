package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"neardup/pipeline/workspace"
	"neardup/report/look"
	"neardup/screen"
)

// progress shows the progress of a run on standard error: a bar on a terminal,
// otherwise log lines.
type progress struct {
	mu    sync.Mutex
	log   *slog.Logger
	quiet bool         // --progress none: only warnings
	plain *slog.Logger // log without the variant of a sweep
	out   io.Writer
	bars  bool
	bar   *progressbar.ProgressBar
	stage string
	began time.Time
	said  time.Time
	total int64
	done  int64
	unit  string

	meters *meters // nil without --metrics
}

// sayEvery is the time between two log lines about one stage.
const sayEvery = 5 * time.Second

// terminalOf returns the terminal that out is, if it is one.
func terminalOf(out io.Writer) (*os.File, bool) {
	f, ok := out.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// newProgress returns the progress of a mode. format is that of log lines, text or
// json.
func newProgress(mode, format string, out io.Writer) (*progress, error) {
	p := &progress{out: out}
	if format != "text" && format != "json" {
		return nil, fmt.Errorf("--log: %q is neither text nor json", format)
	}
	if mode == "bar" && format == "json" {
		return nil, errors.New("--progress bar cannot be used with --log json, which writes lines")
	}
	_, terminal := terminalOf(out)
	switch mode {
	case "json":
		p.log = slog.New(slog.NewJSONHandler(out, nil))
	case "auto", "bar", "plain", "none":
		p.quiet = mode == "none"
		p.bars = mode == "bar" || mode == "auto" && terminal && format == "text"
		p.log = slog.New(slog.NewTextHandler(out, nil))
		if format == "json" {
			p.log = slog.New(slog.NewJSONHandler(out, nil))
		}
	default:
		return nil, fmt.Errorf("--progress: %q is none of auto, bar, plain, json, none", mode)
	}
	return p, nil
}

func (p *progress) info(message string, args ...any) {
	if !p.quiet && !p.bars {
		p.log.Info(message, args...)
	}
}

func (p *progress) Skip(stage string) {
	p.meters.skip(stage)
	p.info("up to date", "stage", stage)
}

func (p *progress) Start(stage, reason, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meters.start(stage)
	p.stage, p.began, p.said, p.total, p.done = stage, time.Now(), time.Now(), 0, 0
	p.info("started", "stage", stage, "reason", reason, "why", why)
}

func (p *progress) Disk(stage string, e workspace.Estimate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meters.disk(stage, e)
	if p.bars {
		fmt.Fprintf(p.out, "%-8s needs about %s of disk; %s are free\n", stage, look.Bytes(e.Workspace+e.Temporary), look.Bytes(e.Free))
		return
	}
	p.info("disk", "stage", stage, "needs_bytes", e.Workspace, "free_bytes", e.Free,
		"needs_temporary_bytes", e.Temporary, "free_temporary_bytes", e.FreeTemporary)
}

func (p *progress) Total(n int64, unit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.unit, p.done = n, unit, 0
	p.meters.work(p.stage, unit, 0, n)
	if !p.bars {
		return
	}
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	rate := []progressbar.Option{progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit), progressbar.OptionShowCount()}
	if unit == "bytes" {
		rate = []progressbar.Option{progressbar.OptionShowBytes(true), progressbar.OptionShowTotalBytes(true)}
	}
	p.bar = progressbar.NewOptions64(n, append(rate,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetDescription(fmt.Sprintf("%-8s", p.stage)),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionFullWidth(),
	)...)
	if n > 0 {
		_ = p.bar.RenderBlank() // Clear does not clear a bar that is shown once only, as full
	}
}

func (p *progress) Add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.meters.work(p.stage, p.unit, p.done, p.total)
	if p.bar != nil {
		_ = p.bar.Set64(min(p.done, p.total))
		return
	}
	if time.Since(p.said) >= sayEvery {
		p.said = time.Now()
		elapsed := time.Since(p.began)
		left := time.Duration(float64(elapsed) * float64(p.total-p.done) / float64(max(p.done, 1)))
		p.info("working", "stage", p.stage, "done", p.done, "of", p.total, "unit", p.unit,
			"per_second", int64(float64(p.done)/elapsed.Seconds()), "left", max(left, 0).Round(time.Second).String())
	}
}

func (p *progress) Warn(message string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meters.warn()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	if !p.bars {
		p.log.Warn(message, args...)
		return
	}
	line := "warning: " + message + ":"
	for i := 1; i < len(args); i += 2 {
		line += fmt.Sprintf(" %v %v", args[i-1], args[i])
	}
	fmt.Fprintln(p.out, screen.Printable(line))
}

func (p *progress) Stop(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meters.stop(p.stage, err)
	took := time.Since(p.began).Round(time.Millisecond).String()
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
	switch {
	case err != nil:
		return // the command reports it
	case p.bars:
		fmt.Fprintf(p.out, "%-8s done in %s\n", p.stage, took)
	default:
		p.info("done", "stage", p.stage, "took", took)
	}
}
