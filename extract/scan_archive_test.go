package extract

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// archives are the files on which the scanner is checked and measured: those
// that NEARDUP_ARCHIVE lists, as PATH lists folders, or the example crawl.
func archives() (paths []string, example bool) {
	if list := os.Getenv("NEARDUP_ARCHIVE"); list != "" {
		return filepath.SplitList(list), false
	}
	return []string{filepath.Join("..", "example", "crawl.warc.gz")}, true
}

var archiveOptions = Options{Statuses: []int{200}, Limits: limitsOf(16<<20, 4<<20), Clean: CleanNone, Overlays: OverlaysDrop}

// readArchive makes documents of the records of an archive, its pages read by
// what is given.
func readArchive(t testing.TB, f io.ReaderAt, pages TextReader) (documents int) {
	t.Helper()
	x := NewExtractor(archiveOptions)
	x.Readers["text/html"], x.Readers["application/xhtml+xml"] = pages, pages
	r, err := NewReader(f, Position{}, archiveOptions.Limits)
	if err != nil {
		t.Fatal(err)
	}
	for {
		raw, err := r.Next()
		var damage *Damage
		switch {
		case err == io.EOF:
			return documents
		case errors.As(err, &damage):
			continue
		case err != nil:
			t.Fatal(err)
		}
		switch _, reason := x.Document(raw); reason {
		case ReasonNone:
			documents++
		case ReasonPanic:
			t.Errorf("panic on the record at offset %d", raw.Offset)
		}
	}
}

// countingReader counts the bodies that it is given.
type countingReader struct {
	TextReader
	pages, bytes int64
}

func (r *countingReader) ReadText(b Body) Text {
	r.pages++
	r.bytes += int64(len(b.Bytes))
	return r.TextReader.ReadText(b)
}

// checkingReader holds the scanner against the tree.
type checkingReader struct {
	t       *testing.T
	scanned int64
}

func (r *checkingReader) ReadText(b Body) Text {
	page, t := decodeCharset(b)
	if checkScan(r.t, page, b.MaxText) {
		r.scanned++
	}
	t.Text = page
	return t
}

// treeReader reads every page by way of a tree.
type treeReader struct{}

func (treeReader) ReadText(b Body) Text {
	page, t := decodeCharset(b)
	s := treeText(page, b.MaxText, true)
	t.Title, t.Text, t.Kind = s.title, s.text, kindOf(measures(s))
	return t
}

func TestScanOnArchive(t *testing.T) {
	paths, example := archives()
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		check := &checkingReader{t: t}
		count := countingReader{TextReader: check}
		readArchive(t, f, &count)
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		share := float64(check.scanned) / float64(max(count.pages, 1))
		t.Logf("%s: %d pages, %d of them scanned (%.2f%%), %d bytes of HTML", filepath.Base(path), count.pages, check.scanned, share*100, count.bytes)
		if count.pages == 0 || example && share < 0.99 {
			t.Errorf("%s: %d of %d pages scanned", filepath.Base(path), check.scanned, count.pages)
		}
	}
}

// BenchmarkArchive measures the way from a compressed archive in memory to
// documents, on one goroutine.
func BenchmarkArchive(b *testing.B) {
	var files [][]byte
	paths, _ := archives()
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		files = append(files, file)
	}
	for _, of := range []struct {
		name  string
		pages TextReader
	}{{"scan", newHTMLReader(archiveOptions)}, {"tree", treeReader{}}} {
		b.Run(of.name, func(b *testing.B) {
			count := countingReader{TextReader: of.pages}
			for b.Loop() {
				for _, file := range files {
					readArchive(b, bytes.NewReader(file), &count)
				}
			}
			seconds := b.Elapsed().Seconds()
			b.ReportMetric(float64(count.bytes)/1e6/seconds, "MB/s")
			b.ReportMetric(float64(count.pages)/seconds, "pages/s")
		})
	}
}
