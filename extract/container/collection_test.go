package container

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func openTSV(f io.ReaderAt, start Position, maxBlock int64) (*Reader, error) {
	return NewCollectionReader(f, FormatTSV, start, limitsOf(maxBlock, 1<<20))
}

func TestReaderReadsLines(t *testing.T) {
	for _, x := range []struct{ name, file, want string }{
		{"lines", "1\ta\n2\tb\n", "1\ta|2\tb"},
		{"no line end at the end", "1\ta\n2\tb", "1\ta|2\tb"},
		{"CRLF, empty lines and a BOM", "\xef\xbb\xbf\r\n1\ta\r\n\r\n\n2\tb\r\n", "1\ta|2\tb"},
		{"line over the limit", "1\t" + strings.Repeat("x", 1000) + "\n2\tb\n", "1\t" + strings.Repeat("x", 98) + "+|2\tb"},
		{"gzip whole", members("1\ta\n2\tb\n"), "1\ta|2\tb"},
		{"gzip, members end anywhere", members("1\t", "a\n2", "\tb\n3\tc\n", "4\td"), "1\ta|2\tb|3\tc|4\td"},
		{"zstd", frames("1\ta\n", "2\tb\n"), "1\ta|2\tb"},
		{"gzip clipped", members("1\ta\n")[:20] + members("2\tb\n"), "1\ta|!|2\tb"},
		{"garbage between", members("1\ta\n") + "garbage" + members("2\tb\n"), "1\ta|!|2\tb"},
		{"empty", "", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := strings.Join(summaries(checkReplayWith(t, openTSV, x.file, 100)), "|"); got != x.want {
				t.Errorf("got  %q\nwant %q", got, x.want)
			}
		})
	}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		line := func(s string) string { return fmt.Sprintf("%d\t%s\n", rng.IntN(100), s) }
		checkReplayWith(t, openTSV, randomArchive(rng, line, func(s string) string { return member(s, 6) }), 1000)
		checkReplayWith(t, openTSV, randomArchive(rng, line, frame), 1000)
	}
}

func TestDetect(t *testing.T) {
	w, a := record("aaa"), arcFile(arcRecord("aaa"))
	big := strings.Repeat("x", 1<<17)
	for _, x := range []struct {
		name, file   string
		named, below Format
		err          error // below a directory
	}{
		{"WARC", w, FormatRecords, FormatRecords, nil},
		{"WARC behind line ends", "\r\n\n" + w, FormatRecords, FormatRecords, nil},
		{"WARC gzip", members(w), FormatRecords, FormatRecords, nil},
		{"WARC zstd", frames(w), FormatRecords, FormatRecords, nil},
		{"WARC zstd with dictionary", dictionaryFrame(true) + frameWithDictionary(w), FormatRecords, FormatRecords, nil},
		{"ARC", a, FormatRecords, FormatRecords, nil},
		{"ARC gzip", members(a), FormatRecords, FormatRecords, nil},
		{"WARC behind garbage", "garbage\n" + w, FormatRecords, "", ErrNotArchive},
		{"WARC behind a line with a tab", "2024-01-01\tcrawl started\r\n" + w, FormatRecords, "", ErrNotArchive},
		{"WARC behind JSON", `{"id":1,"text":"a"}` + "\n" + w, FormatRecords, "", ErrNotArchive},
		{"TSV about WARC/1.0", "1\tWARC/1.0\nWARC/1.0 is\ta format\n", FormatTSV, "", ErrNotArchive},
		{"WARC gzip behind damage", "\x1f\x8b\x08xxxx" + members(w), FormatRecords, "", ErrNotArchive},
		{"zip", zipFile(), FormatWACZ, FormatWACZ, nil},
		{"WARC lz4", lz4Frames(w), FormatRecords, FormatRecords, nil},
		{"lz4 of the old kind", "\x02\x21\x4c\x18xxxx", "", "", ErrLZ4},
		{"TSV", "1\ta\n", FormatTSV, "", ErrNotArchive},
		{"TSV gzip", members("1\ta\n"), FormatTSV, "", ErrNotArchive},
		{"TSV, a long line", "1\t" + big, FormatTSV, "", ErrNotArchive},
		{"TSV, control characters first", "1\ta\x07\x1b[31m\u0085b\n", FormatTSV, "", ErrNotArchive},
		{"TSV, NUL first", "1\ta\x00b\n", "", "", ErrNotArchive},
		{"TSV, a control character in the first id", "1\x07\ta\n", "", "", ErrNotArchive},
		{"TSV, not UTF-8 first", "1\ta\xffb\n", "", "", ErrNotArchive},
		{"HTML with a tab in its first line", "<!DOCTYPE html><html><head>\t<title>a</title>\n", "", "", ErrNotArchive},
		{"HTML with a URI and a tab in its first line", "  <a href='http://a.example/'>\ta\n", "", "", ErrNotArchive},
		{"TSV, a record ID first", "<urn:uuid:1>\ta\n", FormatTSV, "", ErrNotArchive},
		{"JSONL", `{"id":1,"text":"a"}` + "\n", FormatJSONL, "", ErrNotArchive},
		{"JSONL zstd", frames(`{"id":1,"text":"a"}`), FormatJSONL, "", ErrNotArchive},
		{"JSONL, a long line", `{"id":1,"text":"` + big, FormatJSONL, "", ErrNotArchive},
		{"JSONL, an empty text first", `{"id":1,"text":""}` + "\n" + `{"id":2,"text":"a"}`, FormatJSONL, "", ErrNotArchive},
		{"JSONL, no text first", `{"id":1,"text":null}` + "\n", FormatJSONL, "", ErrNotArchive},
		{"JSONL, an ID with a tab first", `{"id":"1\t2","text":"a"}` + "\n", FormatJSONL, "", ErrNotArchive},
		{"JSON of other texts", `{"id":1,"text":["a"]}` + "\n", "", "", ErrNotArchive},
		{"JSON of other IDs", `{"id":{},"text":"a"}` + "\n", "", "", ErrNotArchive},
		{"page list of a WACZ file", `{"format":"json-pages-1.0","id":"pages","title":"Pages","hasText":true}` + "\n" + `{"id":"1","url":"http://a.example/","text":"a"}`, "", "", ErrNotArchive},
		{"JSON without text", `{"id":1,"body":"a"}` + "\n", "", "", ErrNotArchive},
		{"JSON array", "[1]\n", "", "", ErrNotArchive},
		{"CDX", "com,example)/ 20080430204825 http://example.com/ text/html 200 ABC - - 7 8 x.warc.gz\n", "", "", ErrNotArchive},
		{"text", "Dear reader\n", "", "", ErrNotArchive},
		{"binary with a tab", "\x7fELF\x00\t\x01\x02\n", "", "", ErrNotArchive},
		{"empty", "", "", "", ErrNotArchive},
		{"gzip of nothing", members(""), "", "", ErrNotArchive},
	} {
		got, err := Detect(strings.NewReader(x.file), All, limits)
		if got != x.named || (err == nil) != (x.named != "" || x.below == x.named && x.err == nil || strings.Contains(x.name, "WARC")) {
			t.Errorf("%s, named: %q %v", x.name, got, err)
		}
		withName := x.named
		if withName == FormatTSV || withName == FormatJSONL {
			withName = ""
		}
		if got, _ := Detect(strings.NewReader(x.file), Garbage, limits); got != withName {
			t.Errorf("%s, with the name of an archive: %q", x.name, got)
		}
		if got, err := Detect(strings.NewReader(x.file), Records, limits); got != x.below || !errors.Is(err, x.err) {
			t.Errorf("%s, below a directory: %q %v", x.name, got, err)
		}
	}
}

func FuzzCollection(f *testing.F) {
	for _, s := range []string{
		"1\ta\n2\tb\n", `{"id":1,"text":"a"}` + "\n" + `{"id":"urn:x:1","text":"b","url":"http://x/"}`, members("1\ta\n", "2\tb\n"), frames("1\ta\n2", "\tb\n"),
		"\xef\xbb\xbf1\ta\r\n\r\n", "{", `{"id":`, "\x00\t\x00\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) >= 1<<13 {
			return
		}
		format, err := Detect(strings.NewReader(string(file)), All, limits)
		if err != nil || format != FormatTSV && format != FormatJSONL || isZstd(file) {
			return
		}
		open := func(f io.ReaderAt, start Position, maxBlock int64) (*Reader, error) {
			return NewCollectionReader(f, format, start, limitsOf(maxBlock, 1<<20))
		}
		checkReplayWith(t, open, string(file), 1000)
	})
}
