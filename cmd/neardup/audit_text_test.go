package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A pair of documents of which two have one record ID is shown as it was drawn.
func TestItemOfOneRecordID(t *testing.T) {
	dir := t.TempDir()
	var archive bytes.Buffer
	for i := range 3 {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + steeringPage(i)
		fmt.Fprintf(&archive, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:%s>\r\nWARC-Target-URI: http://kite%d.example/\r\nWARC-Date: 2024-03-0%dT00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", [...]string{"dup", "dup", "other"}[i], i, i+1, len(block), block)
	}
	file, ws := filepath.Join(dir, "a.warc"), filepath.Join(dir, "ws")
	if err := os.WriteFile(file, archive.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "--progress", "none", file}, {"audit", "draw", "d"}, {"audit", "item", "d", "1"}} {
		var out, errs bytes.Buffer
		if code := run(append(args, "--workspace", ws), bytes.NewReader(nil), &out, &errs); code != exitOK {
			t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
		}
		if args[1] == "item" && (strings.Contains(out.String(), "not to be shown") || !strings.Contains(out.String(), "resemblance")) {
			t.Errorf("%s", out.String())
		}
	}
}
