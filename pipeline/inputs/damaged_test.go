package inputs

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"neardup/extract/container"
)

// A file of a directory or a WACZ file that has the name of an archive is read though its
// beginning is damaged, or is reported as unreadable. Files beside archives are neither.
func TestArchivesWithADamagedBeginning(t *testing.T) {
	record := "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
	member := func() string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(record)); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		return b.String()
	}()
	files := map[string]string{
		"whole.warc": record, "plain.warc": "X" + record[1:] + record, "gzip.warc.gz": "\x1e" + member[1:] + member,
		"empty.warc.gz": "", "text.warc": "Dear reader\n", "lines.warc": "1\ta\n2\tb\n",
		"plain.warc.cdx": "com,example)/ 20080430204825 {}\n", "plain.warc.md5": "d41d8\n", "index.cdxj": "a\tb\n", "notes.txt": record[1:] + record,
	}
	read := map[string]bool{"whole.warc": true, "plain.warc": true, "gzip.warc.gz": true}
	unreadable := map[string]bool{"empty.warc.gz": true, "text.warc": true, "lines.warc": true}
	limits := container.Limits{MaxRecordBytes: 1 << 20, MaxHeaderBytes: 1 << 12, MaxMembers: 100, MaxInflation: 1000}

	dir, packed := t.TempDir(), filepath.Join(t.TempDir(), "crawl.wacz")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		w, err := z.Create("archive/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(packed, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{dir, packed} {
		sources, ignored, err := Find(t.Context(), t.TempDir(), []string{in}, nil, limits)
		if err != nil {
			t.Fatal(err)
		}
		if in == dir && ignored != len(files)-len(read)-len(unreadable) {
			t.Errorf("%d files passed over", ignored)
		}
		for _, s := range sources {
			if s.State == Unreadable && !unreadable[s.Name] || s.State != Unreadable && !read[s.Name] || s.State == Unreadable && !strings.Contains(s.Error, "neither a web archive") {
				t.Errorf("%s: %s %s", s.Path, s.State, s.Error)
			}
		}
		if len(sources) != len(read)+len(unreadable) {
			t.Errorf("%s: %d sources", in, len(sources))
		}
	}
}
