package inputs

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"neardup/extract/container"
)

// The sources of a WACZ file look at it once when they are compared with it: those
// behind the first see what it saw. They open it once: those behind the first are
// read even if it is gone by then. The last to be closed closes it.
func TestSourcesShareAFile(t *testing.T) {
	limits := container.Limits{MaxRecordBytes: 1 << 20, MaxHeaderBytes: 1 << 12, MaxMembers: 100, MaxInflation: 1000}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range 20 {
		w, err := z.Create(fmt.Sprintf("archive/%d.warc", i))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:x:%d>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n", i)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "crawl.wacz")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	sources, _, err := Find(t.Context(), t.TempDir(), []string{path}, nil, limits)
	if err != nil || len(sources) != 20 {
		t.Fatal(len(sources), err)
	}
	write := func(content []byte, mtime time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, content, 0o666), os.Chtimes(path, mtime, mtime)); err != nil {
			t.Fatal(err)
		}
	}
	alone := sources[3]
	broken := sources[4] // of which some was read, and which is read again for a reduced archive
	broken.State = Unreadable
	if _, c, err := broken.Open(t.Context(), limits); err != nil || c.Close() != nil {
		t.Errorf("a source that could not be read to its end: %v", err)
	}
	looked := NewComparer(limits)
	for _, mtime := range []time.Time{time.Unix(0, sources[0].ModTime), time.Now().Add(time.Hour)} {
		if err := os.Chtimes(path, mtime, mtime); err != nil {
			t.Fatal(err)
		}
		for i, s := range sources {
			if same, err := looked.Unchanged(t.Context(), s); !same || err != nil {
				t.Errorf("%s: the same %v, %v", s.Path, same, err)
			}
			if i == 0 {
				write(bytes.Repeat([]byte("x"), b.Len()), mtime)
			}
		}
		write(b.Bytes(), mtime)
	}
	sources[19].State = Unreadable // nobody opens it
	ShareFiles(sources, limits, 20)
	if sources[0].shared != nil {
		t.Error("a file of fewer sources is shared")
	}
	ShareFiles(sources, limits, 19)
	sources = sources[:19]
	shared := sources[0].shared
	var closers []interface{ Close() error }
	for i, s := range sources {
		r, c, err := s.Open(t.Context(), limits)
		if err != nil {
			t.Fatalf("source %d: %v", i, err)
		}
		head := make([]byte, 8)
		if _, err := r.ReadAt(head, 0); err != nil || string(head) != "WARC/1.1" {
			t.Errorf("source %d: %q %v", i, head, err)
		}
		closers = append(closers, c)
		if i == 0 {
			if err := os.Remove(path); err != nil {
				t.Skip(err)
			}
		}
	}
	for _, c := range closers {
		if _, err := shared.file.(*os.File).Stat(); err != nil {
			t.Error("closed before the last:", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := shared.file.(*os.File).Stat(); err == nil {
		t.Error("still open")
	}
	if _, _, err := alone.Open(t.Context(), limits); err == nil {
		t.Error("a file that is gone is opened")
	}
	if same, err := looked.Unchanged(t.Context(), alone); same || err == nil {
		t.Errorf("a file that is gone: the same %v, %v", same, err)
	}
}
