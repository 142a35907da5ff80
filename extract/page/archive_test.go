package page_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"neardup/extract"
	"neardup/extract/charset"
	"neardup/extract/container"
	"neardup/extract/internal/testkit"
	"neardup/extract/page"
)

var archiveOptions = extract.Options{
	Statuses: []int{200},
	Limits: container.Limits{
		MaxRecordBytes: 16 << 20, MaxTextBytes: 4 << 20, MaxHeaderBytes: 64 << 10, MaxCodings: 5,
		MaxWindowBytes: 128 << 20, MaxInflation: 200, MaxDecodedBytes: 1 << 30, MaxMembers: 10_000, MaxReplaced: 0.01,
	},
	Options: page.Options{Clean: page.CleanNone, Overlays: page.OverlaysDrop},
}

// readFunc reads a decoded page.
type readFunc func(markup, host string, max int) page.Text

// pageReader is a readFunc as a TextReader, which counts what it is given.
type pageReader struct {
	read         readFunc
	pages, bytes int64
}

func (r *pageReader) ReadText(b extract.Body) extract.Text {
	r.pages++
	r.bytes += int64(len(b.Bytes))
	markup, d := charset.Decode(charset.Body{Bytes: b.Bytes, MediaType: b.MediaType, ContentType: b.ContentType})
	t := r.read(markup, b.Host, b.MaxText)
	return extract.Text{Title: t.Title, Text: t.Text, Kind: t.Kind, Parsed: t.Parsed, Charset: d.Name, CharsetFrom: d.From}
}

// readArchive makes documents of the records of an archive, its pages read by
// what is given.
func readArchive(t testing.TB, f io.ReaderAt, pages extract.TextReader) {
	t.Helper()
	x := extract.NewExtractor(archiveOptions)
	x.Readers["text/html"], x.Readers["application/xhtml+xml"] = pages, pages
	r, err := container.NewReader(f, container.Position{}, archiveOptions.Limits)
	if err != nil {
		t.Fatal(err)
	}
	for {
		raw, err := r.Next()
		var damage *container.Damage
		switch {
		case err == io.EOF:
			return
		case errors.As(err, &damage):
			continue
		case err != nil:
			t.Fatal(err)
		}
		if _, reason := x.Document(raw); reason == extract.ReasonPanic {
			t.Errorf("panic on the record at offset %d", raw.Offset)
		}
	}
}

func TestScanOnArchive(t *testing.T) {
	paths, example := testkit.Archives("../..")
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		scanned := int64(0)
		pages := pageReader{read: func(markup, host string, max int) page.Text {
			if page.CheckScan(t, markup, max) {
				scanned++
			}
			return page.Text{Text: markup}
		}}
		readArchive(t, f, &pages)
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		share := float64(scanned) / float64(max(pages.pages, 1))
		t.Logf("%s: %d pages, %d of them scanned (%.2f%%), %d bytes of HTML", filepath.Base(path), pages.pages, scanned, share*100, pages.bytes)
		if pages.pages == 0 || example && share < 0.99 {
			t.Errorf("%s: %d of %d pages scanned", filepath.Base(path), scanned, pages.pages)
		}
	}
}

// TestMainTextOnArchive holds main content against what it promises on the
// pages of the archives (see testkit.Archives), and logs what is kept of them:
// figures of docs/benchmarks/main-content.md. A file that is
// no archive, or holds some, has no pages of its own.
func TestMainTextOnArchive(t *testing.T) {
	paths, example := testkit.Archives("../..")
	m, reader := page.NewMainTexts(t), page.NewReader(archiveOptions.Options)
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if format, err := container.Detect(f, container.All, archiveOptions.Limits); err == nil && format == container.FormatRecords {
			readArchive(t, f, &pageReader{read: func(markup, host string, max int) page.Text { return m.Add(reader, markup, host, max) }})
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	m.Log(example)
}

// BenchmarkArchive measures the way from a compressed archive in memory to
// documents, on one goroutine.
func BenchmarkArchive(b *testing.B) {
	var files [][]byte
	paths, _ := testkit.Archives("../..")
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		files = append(files, file)
	}
	for _, of := range []struct {
		name string
		read readFunc
	}{
		{"scan", page.NewReader(archiveOptions.Options).Read},
		{"tree", func(markup, _ string, max int) page.Text { return page.TreeReader(markup, max) }},
	} {
		b.Run(of.name, func(b *testing.B) {
			pages := pageReader{read: of.read}
			for b.Loop() {
				for _, file := range files {
					readArchive(b, bytes.NewReader(file), &pages)
				}
			}
			seconds := b.Elapsed().Seconds()
			b.ReportMetric(float64(pages.bytes)/1e6/seconds, "MB/s")
			b.ReportMetric(float64(pages.pages)/seconds, "pages/s")
		})
	}
}
