package main

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"neardup/pipeline"
)

// TestServe serves the example crawl, asks for it by its own name and by another
// site's, and interrupts it.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	crawl, ws := filepath.Join(dir, "crawl.warc.gz"), filepath.Join(dir, "ws")
	if err := os.WriteFile(crawl, generated(t), 0o644); err != nil {
		t.Fatal(err)
	}
	if p := start(t, []string{"run", "--workspace", ws, "--progress", "none", "--show", "0", crawl}); p.wait() != exitOK {
		t.Fatal(p.errors())
	}
	for _, listen := range []string{"127.0.0.1:0", "localhost:0", "0.0.0.0:0"} {
		c := exec.Command("neardup", "serve", "--workspace", ws, "--listen", listen, "--progress", "none")
		var errs strings.Builder
		c.Stderr = &errs
		out, err := c.StdoutPipe()
		if err := errors.Join(err, c.Start()); err != nil {
			t.Fatal(err)
		}
		watchdog := time.AfterFunc(hangs, func() { _ = c.Process.Kill() })
		line, _ := bufio.NewReader(out).ReadString('\n')
		url := regexp.MustCompile(`http://[0-9.]+:[0-9]+/|http://\[::1\]:[0-9]+/`).FindString(line)
		if url == "" {
			t.Fatalf("%s: it says %q; %s", listen, line, errs.String())
		}
		for _, asked := range []struct {
			path, host string
			want       int
		}{
			{"", "", http.StatusOK},
			{"clusters", "", http.StatusOK},
			{"nothing", "", http.StatusNotFound},
			{"", "evil.example", http.StatusMisdirectedRequest},
		} {
			r, err := http.NewRequest(http.MethodGet, url+asked.path, nil)
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
		if p := start(t, []string{"serve", "--workspace", ws, "--listen", "127.0.0.1:0"}); p.wait() != exitInUse {
			t.Errorf("a second one: %s", p.errors())
		}
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%s: interrupted: %v, %s", listen, err, errs.String())
		}
		watchdog.Stop()
		if warned := strings.Contains(errs.String(), "no password"); warned != strings.HasPrefix(listen, "0.") {
			t.Errorf("%s: %s", listen, errs.String())
		}
	}
	if _, err := pipeline.ReadStatus(ws, nil); err != nil {
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
