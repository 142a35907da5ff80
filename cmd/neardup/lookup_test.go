package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// While a page comes from a web server, others may write to the workspace. The answers
// come in the order of the arguments, and a page that the server does not have keeps no
// other from being looked up.
func TestLookupWhileOthersWrite(t *testing.T) {
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	page := func(i int) string {
		return strings.Repeat("The kite flies over the hill on a long line. It lands in the field behind it. ", 6) + fmt.Sprintf("Visitor %d has seen this page.", i)
	}
	write := func(name, content string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	first, second := write("first.tsv", "1\t"+page(1)+"\n"), write("second.tsv", "2\t"+page(2)+"\n")
	try := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(append(args, "--workspace", ws), bytes.NewReader(nil), &out, &errs); code != want {
			t.Fatalf("%q: exit code %d, want %d: %s", args, code, want, errs.String())
		}
		return out.String()
	}
	try(exitOK, "run", "--progress", "none", first)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			http.NotFound(w, r)
			return
		}
		try(exitOK, "run", "--progress", "none", second)
		fmt.Fprint(w, page(2))
	}))
	defer server.Close()
	out := try(exitInput, "lookup", "--json", server.URL+"/none", server.URL+"/page", write("third.txt", page(3)))
	lines := strings.SplitAfter(out, "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], `"verdict":"identical"`) || !strings.Contains(lines[0], "/page\"") || !strings.Contains(lines[1], `"verdict":"near"`) {
		t.Errorf("answers: %s", out)
	}
}
