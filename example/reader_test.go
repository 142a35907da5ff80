package example

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// record is what the reader below sees.
type record struct {
	header map[string]string
	block  []byte
	raw    []byte
}

// readWARC is a strict reader that knows nothing of the writer: every gzip
// member holds one record of exact length.
func readWARC(data []byte) ([]record, error) {
	var out []record
	in := bufio.NewReader(bytes.NewReader(data))
	z := new(gzip.Reader)
	for {
		if _, err := in.Peek(1); err == io.EOF {
			return out, nil
		}
		if err := z.Reset(in); err != nil {
			return out, fmt.Errorf("record %d: %w", len(out), err)
		}
		z.Multistream(false)
		if !z.ModTime.IsZero() || z.Name != "" || z.Comment != "" || z.OS != 255 {
			return out, fmt.Errorf("record %d: gzip header %+v", len(out), z.Header)
		}
		raw, err := io.ReadAll(z)
		if err != nil {
			return out, fmt.Errorf("record %d: %w", len(out), err)
		}
		r, err := parseRecord(raw)
		if err != nil {
			return out, fmt.Errorf("record %d: %w", len(out), err)
		}
		out = append(out, r)
	}
}

func parseRecord(raw []byte) (record, error) {
	head, rest, ok := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !ok {
		return record{}, fmt.Errorf("no end of header")
	}
	lines := strings.Split(string(head), "\r\n")
	if lines[0] != "WARC/1.1" {
		return record{}, fmt.Errorf("version %q", lines[0])
	}
	r := record{header: map[string]string{}, raw: raw}
	for _, l := range lines[1:] {
		name, value, ok := strings.Cut(l, ": ")
		if _, twice := r.header[name]; !ok || twice || strings.ContainsAny(l, "\r\n") {
			return record{}, fmt.Errorf("header line %q", l)
		}
		r.header[name] = value
	}
	n, err := strconv.Atoi(r.header["Content-Length"])
	if err != nil || n+4 != len(rest) || string(rest[n:]) != "\r\n\r\n" {
		return record{}, fmt.Errorf("Content-Length %q, %d bytes follow the header", r.header["Content-Length"], len(rest))
	}
	r.block = rest[:n]
	for _, name := range []string{"WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Type"} {
		if r.header[name] == "" {
			return record{}, fmt.Errorf("no %s", name)
		}
	}
	return r, nil
}

// entity is the decoded body of a response.
func entity(t *testing.T, block []byte) []byte {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(block))
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body io.Reader = resp.Body
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	}
	b, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Peek(1); err != io.EOF {
		t.Errorf("bytes after the message")
	}
	return b
}

func TestWellFormed(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 400_000 {
		t.Errorf("%d bytes are too many for an example", b.Len())
	}
	records, err := readWARC(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	docs := crawl()
	byID := map[string]record{}
	types := map[string]int{}
	for _, r := range records {
		id := r.header["WARC-Record-ID"]
		if _, twice := byID[id]; twice {
			t.Errorf("record id %s twice", id)
		}
		byID[id] = r
		types[r.header["WARC-Type"]]++
	}
	if records[0].header["WARC-Type"] != "warcinfo" || types["warcinfo"] != 1 || types["request"] < 20 {
		t.Errorf("records by type: %v", types)
	}
	chunked, zipped := 0, 0
	for _, d := range docs {
		r, ok := byID[d.RecordID]
		uri := r.header["WARC-Target-URI"]
		if d.wget {
			uri = strings.TrimSuffix(strings.TrimPrefix(uri, "<"), ">")
			if len(uri)+2 != len(r.header["WARC-Target-URI"]) {
				t.Errorf("%s: no angle brackets", d.URI)
			}
		}
		if !ok || uri != d.URI || r.header["WARC-Date"] != d.Date || r.header["WARC-Type"] != d.Type {
			t.Errorf("record of %s: %v", d.URI, r.header)
			continue
		}
		if to, ok := r.header["WARC-Refers-To"]; ok && byID[to].block == nil {
			t.Errorf("%s refers to nothing", d.URI)
		}
		if d.Type != "response" || strings.HasPrefix(d.URI, "dns:") {
			continue
		}
		if got := entity(t, r.block); !bytes.Equal(got, d.body) {
			t.Errorf("%s: body of %d bytes, want %d", d.URI, len(got), len(d.body))
		}
		head, body, _ := bytes.Cut(r.block, []byte("\r\n\r\n"))
		isChunked := bytes.Contains(head, []byte("chunked"))
		if isChunked {
			chunked++
		}
		if bytes.Contains(head, []byte("Content-Encoding: gzip")) {
			zipped++
		}
		if want, ok := r.header["WARC-Payload-Digest"]; ok == isChunked || ok && digest(body) != want {
			t.Errorf("%s: payload digest %q", d.URI, want)
		}
	}
	if chunked < 6 || zipped < 6 {
		t.Errorf("%d chunked and %d gzipped responses", chunked, zipped)
	}
}

// TestCommitted: the files beside this one are what the generator writes. The
// WARC is compared record by record after decompression, for another version
// of compress/flate may compress it otherwise.
func TestCommitted(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b); err != nil {
		t.Fatal(err)
	}
	want, err := readWARC(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := readWARC(readFile(t, "crawl.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		same = bytes.Equal(got[i].raw, want[i].raw)
	}
	if !same {
		t.Error("crawl.warc.gz is stale: run go run ./example/gen")
	}
	for name, write := range map[string]func(io.Writer) error{"crawl.pages.tsv": WritePages, "crawl.truth.tsv": WriteTruth} {
		b.Reset()
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), readFile(t, name)) {
			t.Errorf("%s is stale: run go run ./example/gen", name)
		}
	}
}
