package inputs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/workspace"
)

func TestShowName(t *testing.T) {
	for name, want := range map[string]string{
		"crawl.warc.gz": "crawl.warc.gz", "żółw.warc": "żółw.warc", "": "",
		"caf\xe9.warc": `caf\xe9.warc`, `caf\xe9.warc`: `caf\x5cxe9.warc`, "a\\\xff": `a\\xff`, `\\x`: `\\x5cx`,
		"\xc3": `\xc3`, "\x00\x07": "\x00\x07", `\xg`: `\x5cxg`, "�": "�",
	} {
		if got := inputs.ShowName(name); got != want || !utf8.ValidString(got) {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}

// FuzzName writes names as JSON and reads them again.
func FuzzName(f *testing.F) {
	for _, seed := range []string{"a", "\xff", `\x`, `\\x41`, "\\\xff", "é\xe9\\x5c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		b, err := json.Marshal(inputs.Source{Path: name, File: name + "x"})
		if err != nil {
			t.Fatal(err)
		}
		var s inputs.Source
		if err := json.Unmarshal(b, &s); err != nil || s.Path != name || s.File != name+"x" {
			t.Errorf("%q became %q (%v): %s", name, s.Path, err, b)
		}
	})
}

// A file whose name is not UTF-8 is read, known again, and shown with its bytes
// escaped.
func TestNamesThatAreNotUTF8(t *testing.T) {
	from := pipetest.Crawl(t)
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "caf\xe9.warc.gz")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Skip("there cannot be such a file here:", err)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	first := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, path)
	if !strings.Contains(string(first), `"warc":"caf\\xe9.warc.gz"`) || !utf8.Valid(first) {
		t.Errorf("exported as %.400s", first)
	}
	again := pipetest.RunAll(t, dir, pipetest.MustLoad(t, "extract.max_record_bytes=1000000"), workspace.Options{}) // everything is read again
	if string(again) != string(first) {
		t.Error("the second run made other clusters")
	}
	m, err := workspace.ReadManifest(dir)
	if err != nil || len(m.Inputs) != 1 || m.Inputs[0].Path != path || m.Inputs[0].State != inputs.Done {
		t.Errorf("%+v %v", m.Inputs, err)
	}
}
