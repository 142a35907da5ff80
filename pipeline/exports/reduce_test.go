package exports_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/extract/container"
	"neardup/keep"
	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// rawRecords returns the records of an archive, by what they are.
func rawRecords(t *testing.T, b []byte) (all []string) {
	t.Helper()
	r, err := container.NewReader(bytes.NewReader(b), container.Position{}, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	for raw, err := r.Next(); err != io.EOF; raw, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(raw.Header)+string(raw.Block))
	}
	return all
}

func idOf(record string) string {
	_, rest, _ := strings.Cut(record, "WARC-Record-ID: ")
	id, _, _ := strings.Cut(rest, "\r\n")
	return id
}

// A reduced archive has all records but the redundant pages and their requests, each
// byte for byte, whatever the archive is compressed with; and the index leads to them.
func TestReducedArchives(t *testing.T) {
	compressed, err := os.ReadFile(pipetest.Crawl(t))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	rules := keep.Default()
	rules.Resemblance, rules.MaxLost = 0.5, -1
	for _, x := range []struct {
		name    string
		content []byte
	}{{"data.warc.gz", compressed}, {"data.warc", plain}} {
		dir := t.TempDir()
		file := pipetest.WriteFile(t, filepath.Join(dir, x.name), x.content)
		pipetest.RunAll(t, filepath.Join(dir, "ws"), pipetest.MustLoad(t), workspace.Options{}, file)
		w := pipetest.OpenWith(t, filepath.Join(dir, "ws"))
		list, err := csv.NewReader(bytes.NewReader(pipetest.ExportOf(t, w, exports.Options{Format: "keep", Keep: &rules}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		redundant := map[string]bool{}
		for _, row := range list[1:] {
			if row[1] == "redundant" {
				redundant[row[9]] = true
			}
		}
		var want []string
		requests := 0
		for _, record := range rawRecords(t, x.content) {
			gone := redundant[idOf(record)]
			if _, rest, ok := strings.Cut(record, "WARC-Concurrent-To: "); ok {
				id, _, _ := strings.Cut(rest, "\r\n")
				if redundant[id] && strings.Contains(record, "WARC-Type: request") {
					gone = true
					requests++
				}
			}
			if !gone {
				want = append(want, record)
			}
		}
		if len(redundant) < 10 || requests == 0 {
			t.Fatalf("%d redundant pages, %d requests", len(redundant), requests)
		}
		check := func(name string, reduced, index []byte, leftOut []byte) {
			t.Helper()
			if got := rawRecords(t, reduced); !slices.Equal(got, want) {
				t.Errorf("%s: %d records, want %d", name, len(got), len(want))
			}
			lines := 0
			for line := range strings.Lines(string(index)) {
				var fields struct{ URL, Offset, Length string }
				if err := json.Unmarshal([]byte(line[strings.IndexByte(line, '{'):]), &fields); err != nil {
					t.Fatal(err)
				}
				var at, n int
				_, _ = fmt.Sscan(fields.Offset, &at)
				_, _ = fmt.Sscan(fields.Length, &n)
				if got := rawRecords(t, reduced[at:at+n]); len(got) != 1 || !strings.Contains(strings.ReplaceAll(got[0], "<http", "http"), "WARC-Target-URI: "+fields.URL) {
					t.Errorf("%s: %s", name, line)
				}
				lines++
			}
			if lines < len(want)/2 {
				t.Errorf("%s: %d lines of index for %d records", name, lines, len(want))
			}
			var listed []report.LeftOut
			for d := json.NewDecoder(bytes.NewReader(leftOut)); d.More(); {
				var l report.LeftOut
				if err := d.Decode(&l); err != nil {
					t.Fatal(err)
				}
				if l.Path != file || l.Kept == "" || redundant[l.Kept] || l.BelongsTo == "" && !redundant[l.RecordID] || l.BelongsTo != "" && !redundant[l.BelongsTo] {
					t.Errorf("%s: %+v", name, l)
				}
				listed = append(listed, l)
			}
			if len(listed) != len(redundant)+requests {
				t.Errorf("%s: %d records listed as left out, want %d", name, len(listed), len(redundant)+requests)
			}
		}

		out := filepath.Join(dir, "out")
		var sum report.Reduced
		if err := exports.WriteDirectory(context.Background(), w, exports.Options{Format: "warc", Keep: &rules, Reduced: &sum}, out); err != nil {
			t.Fatal(err)
		}
		read := func(name string) []byte {
			b, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		check(x.name, read("archive/"+x.name), read("indexes/index.cdxj"), read("left-out.jsonl"))
		if s := sum.Sum; int(s.LeftOut) != len(redundant) || int(s.Belonging) != requests || int(s.ReadBack) != len(want) || s.Bytes != int64(len(read("archive/"+x.name))) {
			t.Errorf("%+v", s)
		}
		if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, x.content) {
			t.Errorf("the input changed (%v)", err)
		}

		b := pipetest.ExportOf(t, w, exports.Options{Format: "wacz", Keep: &rules})
		zr, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		entry := func(name string) []byte {
			f, err := zr.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(f)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		check("wacz "+x.name, entry("archive/"+x.name), entry("indexes/index.cdx"), entry("neardup/left-out.jsonl"))
		if !bytes.HasPrefix(entry("pages/pages.jsonl"), []byte(`{"format":"json-pages-1.0"`)) || !bytes.Contains(entry("datapackage.json"), []byte(`"path": "archive/`+x.name+`"`)) {
			t.Errorf("%s: no pages or no list", x.name)
		}

		// A file that is no longer what was read is not reduced.
		cut := offsets(t, x.content)
		moved := append(slices.Clone(x.content[:cut[1]]), x.content[cut[2]:]...)
		pipetest.WriteFile(t, file, moved)
		if err := exports.WriteDirectory(context.Background(), w, exports.Options{Format: "warc", Keep: &rules}, filepath.Join(dir, "never")); err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("%s: a changed file: %v", x.name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "never")); err == nil {
			t.Error("a changed file left a directory")
		}
	}
}

// Records that share a compressed member stay: it is copied whole or not at all. Files
// of one name become files of two.
func TestReducedArchivesOfOneMember(t *testing.T) {
	b, err := os.ReadFile(pipetest.Crawl(t))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	out := gzip.NewWriter(&whole)
	if _, err := io.Copy(out, z); err != nil || out.Close() != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := writeNamesakes(t, dir, whole.Bytes(), b)
	pipetest.RunAll(t, filepath.Join(dir, "ws"), pipetest.MustLoad(t), workspace.Options{}, files...)
	w := pipetest.OpenWith(t, filepath.Join(dir, "ws"))
	rules := keep.Default()
	rules.Resemblance, rules.MaxLost = 0.5, -1
	var sum report.Reduced
	reduced := filepath.Join(dir, "out")
	if err := exports.WriteDirectory(context.Background(), w, exports.Options{Format: "warc", Keep: &rules, Reduced: &sum}, reduced); err != nil {
		t.Fatal(err)
	}
	if len(sum.Files) != 2 || sum.Files[0].Archive == sum.Files[1].Archive {
		t.Fatalf("%+v", sum.Files)
	}
	for _, f := range sum.Files {
		got, err := os.ReadFile(filepath.Join(reduced, "archive", f.Archive))
		if err != nil {
			t.Fatal(err)
		}
		switch f.Path {
		case files[0]:
			if !bytes.Equal(got, whole.Bytes()) || f.Inseparable == 0 || f.LeftOut != 0 {
				t.Errorf("one member: %+v", f)
			}
		case files[1]:
			if f.LeftOut == 0 || f.Inseparable != 0 || len(got) >= len(b) {
				t.Errorf("a member for each record: %+v", f)
			}
		}
	}
}
