package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/pipeline/inputs"
	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

// A removal that was interrupted while the stages went on is continued by the same command.
func TestRemoveAgain(t *testing.T) {
	ws := exampleWorkspace(t)
	const pattern = "http://recipes.example/pages/t*"
	m, err := workspace.ReadManifest(ws)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(ws, stages.All, *m.Config, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := withdrawals.Withdraw(t.Context(), w, withdrawn.Withdrawal{URI: pattern})
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Run(ctx, workspace.StageExtract, workspace.StageVerify, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if s, begun, err := w.State(workspace.StageExtract); !begun || s.Done || err != nil {
		t.Fatal("the extraction is not interrupted", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	remove := func(pattern string) (int, string) {
		var out, errs bytes.Buffer
		code := run([]string{"remove", "--progress", "none", "--workspace", ws, pattern}, bytes.NewReader(nil), &out, &errs)
		return code, out.String() + errs.String()
	}
	if code, said := remove("http://recipes.example/pages/s*"); code != exitUsage || !strings.Contains(said, "was interrupted") {
		t.Errorf("another removal: exit code %d: %s", code, said)
	}
	if code, said := remove(pattern); code != exitOK || !strings.Contains(said, "Captures that are withdrawn: "+string(rune('0'+n))+".") {
		t.Errorf("the same again, of %d captures: exit code %d: %s", n, code, said)
	}
	if code, said := remove("http://recipes.example/pages/s*"); code != exitOK {
		t.Errorf("another removal then: exit code %d: %s", code, said)
	}
}

// The name of a file may be the escaped name of another one.
func TestRemoveNames(t *testing.T) {
	dir, err := inputs.RealPath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	source := func(given string) inputs.Source {
		return inputs.Source{Path: filepath.Join(dir, given), Given: inputs.ShowName(given), Size: 1, Sample: "s", State: inputs.Done}
	}
	raw, text, plain := source("coll/a\xc3.warc"), source(`coll/a\xc3.warc`), source("coll/b.warc")
	elsewhere, object := source("c.warc"), inputs.Source{Path: "https://a.example/d.warc", Given: "https://a.example/d.warc", State: inputs.Done}
	elsewhere.Path = "/elsewhere/c.warc"
	for _, x := range []struct {
		arg   string
		known []inputs.Source
		there bool // as a file
		want  []inputs.Source
	}{
		{`coll/a\xc3.warc`, []inputs.Source{raw, text}, true, []inputs.Source{text}},
		{`coll/a\xc3.warc`, []inputs.Source{raw, text}, false, []inputs.Source{text}}, // the file is gone
		{"coll/a\xc3.warc", []inputs.Source{raw, text}, false, []inputs.Source{raw}},
		{`coll/a\xc3.warc`, []inputs.Source{raw}, true, nil},
		{`coll/a\xc3.warc`, []inputs.Source{raw, plain}, false, []inputs.Source{raw}}, // as status shows it
		{filepath.Join(dir, `coll/a\xc3.warc`), []inputs.Source{raw, plain}, false, []inputs.Source{raw}},
		{filepath.Join(dir, `coll/a\xc3.warc`), []inputs.Source{raw, text}, false, []inputs.Source{text}},
		{`coll/a\x5cxc3.warc`, []inputs.Source{raw, text}, false, []inputs.Source{text}},
		{"coll", []inputs.Source{raw, text, plain, elsewhere}, false, []inputs.Source{raw, text, plain}},
		{"c.warc", []inputs.Source{plain, elsewhere}, false, []inputs.Source{elsewhere}},
		{"c.warc", []inputs.Source{plain, elsewhere}, true, nil},
		{"https://a.example/d.warc", []inputs.Source{plain, object}, false, []inputs.Source{object}},
	} {
		if err := os.RemoveAll("coll"); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove("c.warc")
		if x.there {
			if err := errors.Join(os.MkdirAll("coll", 0o755), os.WriteFile(x.arg, nil, 0o644)); err != nil {
				t.Skipf("the file system does not take the name: %v", err)
			}
		}
		got := named(x.arg, x.known)
		if !slices.EqualFunc(got, x.want, func(a, b inputs.Source) bool { return a.Path == b.Path }) {
			t.Errorf("%q, there: %v: %v, want %v", x.arg, x.there, got, x.want)
		}
	}
}
