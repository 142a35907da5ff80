package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"neardup/pipeline/workspace"
)

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v", url, answer.StatusCode, err)
	}
	return string(b)
}

// hasLines checks that a text has the lines.
func hasLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestMetricsOfStages(t *testing.T) {
	m, err := serveMeters(t.Context(), "127.0.0.1:0", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProgress("none", "text", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	p.meters = m
	p.Skip("extract")
	p.Disk("sign", workspace.Estimate{Need: workspace.Need{Workspace: 70, Temporary: 7}})
	p.Start("sign", "missing", "")
	p.Total(12, "texts")
	p.Add(2)
	p.Add(3)
	p.Warn("a warning")
	hasLines(t, get(t, m.url()), `neardup_stages_total{result="up-to-date",stage="extract"} 1`, `neardup_stage_disk_needs_bytes{stage="sign"} 77`,
		`neardup_stage_running{stage="sign"} 1`, `neardup_stage_work{stage="sign",unit="texts"} 12`, `neardup_stage_work_done{stage="sign",unit="texts"} 5`, `neardup_warnings_total 1`)
	p.Stop(nil)
	p.Start("verify", "missing", "")
	p.Stop(errors.New("broken"))
	page := get(t, m.url())
	hasLines(t, page, `neardup_stage_running{stage="sign"} 0`, `neardup_stages_total{result="done",stage="sign"} 1`, `neardup_stages_total{result="failed",stage="verify"} 1`)
	for _, name := range []string{"neardup_disk_free_bytes", "go_goroutines", "neardup_build_info{version="} {
		if !regexp.MustCompile(`(?m)^` + name + `.* [1-9]`).MatchString(page) {
			t.Errorf("no %s in\n%s", name, page)
		}
	}
	if err := m.close(); err != nil {
		t.Error(err)
	}
	if answer, err := http.Get(m.url()); err == nil {
		_ = answer.Body.Close()
		t.Error("it still answers")
	}
}

// TestMetricsForOthers checks that a command says at which address it is read, and warns
// if that is another one than the loopback.
func TestMetricsForOthers(t *testing.T) {
	ws := exampleWorkspace(t)
	for listen, url := range map[string]string{"127.0.0.1:0": `127\.0\.0\.1`, "0.0.0.0:0": `(0\.0\.0\.0|\[::\])`} { // all addresses, with IPv6 or without
		p := start(t, []string{"run", "--workspace", ws, "--show", "0", "--progress", "plain", "--metrics", listen})
		code, errs := p.wait(), p.errors()
		if code != exitOK || !regexp.MustCompile("url=\"?http://"+url+`:[1-9]\d+/metrics`).MatchString(errs) {
			t.Errorf("%s: exit code %d, no %s in %s", listen, code, url, errs)
		}
		if warned := strings.Contains(errs, "warning: other machines reach "); warned != strings.HasPrefix(listen, "0.") {
			t.Errorf("%s: warned %v: %s", listen, warned, errs)
		}
	}
}

func TestMetricsOfServe(t *testing.T) {
	ws := exampleWorkspace(t)
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = said.Close() }()
	c := exec.Command("neardup", "serve", "--workspace", ws, "--listen", "127.0.0.1:0", "--progress", "plain", "--metrics", "127.0.0.1:0")
	c.Stderr = said
	out, err := c.StdoutPipe()
	if err := errors.Join(err, c.Start()); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(hangs, func() { _ = c.Process.Kill() })
	defer watchdog.Stop()
	defer func() { _ = c.Wait() }()
	defer func() { _ = c.Process.Kill() }()
	line, _ := bufio.NewReader(out).ReadString('\n')
	url := servedAt.FindString(line)
	b, err := os.ReadFile(said.Name())
	if err != nil {
		t.Fatal(err)
	}
	metrics := regexp.MustCompile(`msg=metrics url=(\S+)`).FindSubmatch(b)
	if url == "" || metrics == nil {
		t.Fatalf("it says %q and %q", line, b)
	}
	get(t, url+"clusters")
	get(t, url+"clusters")
	answer, err := http.Post(url+"lookup", "text/html", strings.NewReader("<p>The kite is red."))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer, err = http.Get(url + "nothing"); err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound { // also where answers are counted
		t.Errorf("a page that is not there: %s", answer.Status)
	}
	hasLines(t, get(t, string(metrics[1])), `neardup_http_request_seconds_count{code="200",what="page"} 2`,
		`neardup_http_request_seconds_count{code="200",what="lookup"} 1`, `neardup_http_request_seconds_count{code="404",what="page"} 1`)
}
