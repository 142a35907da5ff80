package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// steering is text that would clear a terminal, reverse a line and begin another.
const steering = "\x1b[2J\u202e\u009b31m"

// The reader of archives drops control characters from headers.
var (
	readSteering  = strings.NewReplacer("\x1b", "", "\u009b", "").Replace(steering)
	shownSteering = `[2J\u202e31m`
)

// TestNamesThatSteerTerminals runs the commands on files, pages and a workspace whose
// names steer terminals. What they print for people is escaped, and exports for
// programs have the names as they are.
func TestNamesThatSteerTerminals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no file has such a name")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "red"+steering+"\nneardup: fine\xff.warc")
	broken := filepath.Join(dir, "broken"+steering+"\nneardup: fine.warc")
	page := filepath.Join(dir, "page"+steering+".html")
	texts := filepath.Join(dir, "texts"+steering+".tsv")
	ws := filepath.Join(dir, "ws"+steering)
	var uris, ids []string
	var archive bytes.Buffer
	for i := range 2 {
		uris = append(uris, fmt.Sprintf("http://kite%d.example/%s", i, readSteering))
		ids = append(ids, fmt.Sprintf("<urn:%d%s>", i, readSteering))
		body := steeringPage(i)
		block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n%s", body)
		fmt.Fprintf(&archive, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: 2024-03-0%dT00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			strings.ReplaceAll(ids[i], readSteering, steering), strings.ReplaceAll(uris[i], readSteering, steering), i+1, len(block), block)
	}
	for name, content := range map[string]string{file: archive.String(), broken: "no archive", page: steeringPage(3),
		texts: "a\tone two \u202e three\nb\u202ex\tone two \u202e three\n"} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Skipf("the file system does not take the name: %v", err)
		}
	}
	in := func(args ...string) []string { return append(args, "--workspace", ws) }
	for _, c := range []struct {
		code int
		args []string
		want string // a part of what is printed
	}{
		{exitInput, in("run", file, broken), "http://kite0.example/" + shownSteering},
		{exitInput, in("run", "--progress", "none", file, broken), `All clusters:`},
		{exitInput, in("run", "--progress", "bar", file, broken), `\u000aneardup: fine.warc`},
		{exitOK, in("status"), `\u000aneardup: fine.warc: unreadable`},
		{exitOK, in("check"), "checked"},
		{exitOK, in("export", "--format", "text"), "http://kite1.example/" + shownSteering},
		{exitOK, in("export", "--format", "csv"), uris[1]},
		{exitOK, in("lookup", page), "http://kite1.example/" + shownSteering},
		{exitOK, in("lookup", file), `identical`},
		{exitOK, in("explain", uris[0], uris[1]), "http://kite1.example/" + shownSteering},
		{exitOK, in("explain", "--plain", ids[0], ids[1]), "<urn:0" + shownSteering},
		{exitOK, []string{"join", texts, "--threshold", "1", "--format", "text"}, "1.000000  a  b\\u202ex\n  one two \\u202e three\n"},
		{exitOK, []string{"explain", page, page}, `page\u001b[2J\u202e\u009b31m.html`},
		{exitOK, in("report", "--output", filepath.Join(dir, "report"+steering)), `report\u001b[2J`},
		{exitUsage, in("explain", "http://no.example/"+steering, uris[1]), `\u001b[2J`},
		{exitUsage, in("run", "no"+steering), `no\u001b[2J`},
		{exitUsage, in("run", "--set", "x"+steering+"=1"), `\u001b[2J`},
		{exitUsage, []string{"wrong" + steering}, ``},
		{exitWorkspace, []string{"status", "--workspace", "none" + steering}, `none\u001b[2J`},
		{exitUsage, in("report", "--output", page), `page\u001b[2J`},
		{exitInput, in("remove", uris[1]), "Captures that are withdrawn: 1."},
		{exitOK, in("remove", "--undo", uris[1]), shownSteering},
	} {
		var out, errs bytes.Buffer
		code := run(c.args, bytes.NewReader(nil), &out, &errs)
		printed := out.String() + errs.String()
		if code != c.code || !strings.Contains(printed, c.want) {
			t.Errorf("%q: exit code %d, want %d, and %q in\n%s", c.args, code, c.code, c.want, printed)
		}
		if c.args[0] == "export" && c.args[2] == "csv" {
			continue // for programs
		}
		if strings.Contains(printed, "cannot be kept") {
			t.Errorf("%q: %s", c.args, printed)
		}
		if c.args[0] == "run" && c.args[2] == "bar" { // what the bar itself draws
			printed = strings.NewReplacer("\r", "", "\x1b[K", "", "\x1b[2K", "").Replace(printed)
		}
		for at, r := range printed {
			if r != '\n' && !strconv.IsGraphic(r) || r == utf8.RuneError {
				t.Errorf("%q: %q in %q", c.args, r, printed[max(0, at-60):min(len(printed), at+40)])
				break
			}
		}
		for line := range strings.Lines(printed) {
			if strings.HasPrefix(line, "neardup: fine") {
				t.Errorf("%q: a name writes a line", c.args)
			}
		}
	}
}

// steeringPage returns a page that is near the others of its kind.
func steeringPage(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><head><title>Kites %s</title></head><body>", steering)
	for i := range 12 {
		fmt.Fprintf(&b, "<p>Kite number %d flies over the hill on a line of %d metres, and lands %s in the field behind it.</p>", i, 20+7*i, steering)
	}
	fmt.Fprintf(&b, "<p>Visitor %d of the day has seen this page.</p></body></html>", n)
	return b.String()
}
