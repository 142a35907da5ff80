package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// served is a workspace that is served by a process of its own.
type served struct {
	*testing.T
	cmd      *exec.Cmd
	url      string // without a slash at the end
	stderr   strings.Builder
	watchdog *time.Timer
}

var servedAt = regexp.MustCompile(`http://[0-9.]+:[0-9]+/|http://\[::1\]:[0-9]+/`)

// serve serves the workspace ws at an address until it is stopped, or the test
// ends.
func serve(t *testing.T, ws, listen string) *served {
	t.Helper()
	s := &served{T: t, cmd: exec.Command("neardup", "serve", "--workspace", ws, "--listen", listen, "--progress", "none")}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err := errors.Join(err, s.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	s.watchdog = time.AfterFunc(hangs, func() { _ = s.cmd.Process.Kill() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	if s.url = strings.TrimSuffix(servedAt.FindString(line), "/"); s.url == "" {
		_ = s.cmd.Wait()
		t.Fatalf("%s: it says %q; %s", listen, line, s.stderr.String())
	}
	return s
}

// stop interrupts it, and gives what it has said on standard error.
func (s *served) stop() string {
	s.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		s.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.Errorf("interrupted: %v, %s", err, s.stderr.String())
	}
	s.watchdog.Stop()
	return s.stderr.String()
}

// exampleWorkspace returns a workspace of the example crawl.
func exampleWorkspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	crawl, ws := filepath.Join(dir, "crawl.warc.gz"), filepath.Join(dir, "ws")
	if err := os.WriteFile(crawl, generated(t), 0o644); err != nil {
		t.Fatal(err)
	}
	runIn(t, ws, crawl)
	return ws
}

// A server that reads beside another process ends when captures are withdrawn, so that
// nobody sees their texts any more.
func TestServeEndsWhenCapturesAreWithdrawn(t *testing.T) {
	ws := exampleWorkspace(t)
	holder := serve(t, ws, "127.0.0.1:0")
	reader := serve(t, ws, "127.0.0.1:0")
	holder.stop()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("neardup", append(args, "--workspace", ws)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v, %s", args, err, out)
		}
	}
	run("export", "--output", filepath.Join(t.TempDir(), "clusters.jsonl"))
	if resp, err := http.Get(reader.url + "/"); err != nil || resp.StatusCode != http.StatusOK || resp.Body.Close() != nil {
		t.Fatal(resp, err)
	}
	run("remove", "http://recipes.example/*")
	err := reader.cmd.Wait()
	reader.watchdog.Stop()
	if reader.cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(reader.stderr.String(), "captures were withdrawn") {
		t.Errorf("%v, %s", err, reader.stderr.String())
	}
}

// TestServe serves the example crawl, asks for it by its own name and by another
// site's, and interrupts it.
func TestServe(t *testing.T) {
	ws := exampleWorkspace(t)
	for _, listen := range []string{"127.0.0.1:0", "localhost:0", "0.0.0.0:0"} {
		s := serve(t, ws, listen)
		for _, asked := range []struct {
			path, host string
			want       int
		}{
			{"/", "", http.StatusOK},
			{"/clusters", "", http.StatusOK},
			{"/nothing", "", http.StatusNotFound},
			{"/", "evil.example", http.StatusMisdirectedRequest},
		} {
			r, err := http.NewRequest(http.MethodGet, s.url+asked.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = asked.host
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != asked.want || answer.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s: status %d for %+v", listen, answer.StatusCode, asked)
			}
		}
		second := serve(t, ws, "127.0.0.1:0") // reads beside the first
		for url, readOnly := range map[string]bool{s.url: false, second.url: true} {
			answer, err := http.Get(url + "/clusters")
			if err != nil {
				t.Fatal(err)
			}
			page, err := io.ReadAll(answer.Body)
			if err := errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK || bytes.Contains(page, []byte("Nothing can be judged here")) != readOnly {
				t.Errorf("read only %v: status %d, %v", readOnly, answer.StatusCode, err)
			}
		}
		second.stop()
		errs := s.stop()
		if warned := strings.Contains(errs, "no password"); warned != strings.HasPrefix(listen, "0.") {
			t.Errorf("%s: %s", listen, errs)
		}
	}
	if _, err := workspace.ReadStatus(t.Context(), ws, stages.All, nil); err != nil {
		t.Error(err)
	}
	// A port that is taken.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	p := start(t, []string{"serve", "--workspace", ws, "--listen", l.Addr().String(), "--progress", "none"})
	if code := p.wait(); code != exitUsage || !strings.Contains(p.errors(), "--listen: ") || !strings.Contains(p.errors(), "port 0 takes a free one") {
		t.Errorf("a port that is taken: %d, %s", code, p.errors())
	}
}
