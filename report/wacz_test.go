package report

import (
	"archive/zip"
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

const (
	manifest = `{"profile": "data-package", "custom": {"resources": [1]},
  "resources": [
    {"name": "data.warc.gz", "path": "archive/data.warc.gz", "hash": "sha256:00", "bytes": 9}
  ], "wacz_version": "1.1.1"}`
	signed = `{"path": "datapackage.json", "hash": "sha256:00", "signedData": {"signature": "x"}}`
)

// file is an entry of a zip file for tests.
type file struct {
	name, content string
	method        uint16
}

var waczFiles = []file{
	{"archive/data.warc.gz", "not really", zip.Store}, {"indexes/index.cdx.gz", "index", zip.Store},
	{"pages/pages.jsonl", strings.Repeat("{}\n", 100), zip.Deflate},
	{"datapackage.json", manifest, zip.Deflate}, {"datapackage-digest.json", signed, zip.Store},
}

func zipOf(t testing.TB, comment string, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		e, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: f.method, Modified: time.Date(2024, 3, 4, 5, 6, 8, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(e, f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetComment(comment); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func addTo(in []byte, files ...file) ([]byte, error) {
	var out bytes.Buffer
	w, err := NewWACZ(bytes.NewReader(in), int64(len(in)), &out)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		e, err := w.Create(f.name)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(e, f.content); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

func entries(t *testing.T, b []byte) map[string]*zip.File {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*zip.File{}
	for _, f := range r.File {
		if all[f.Name] != nil {
			t.Errorf("two entries %s", f.Name)
		}
		all[f.Name] = f
	}
	return all
}

func content(t *testing.T, f *zip.File) string {
	t.Helper()
	if f == nil {
		t.Fatal("no such entry")
	}
	b, err := readEntry(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// zipOfInfoZIP makes a zip file whose local headers have fields that the directory does
// not have, as zip(1) does. archive/zip's Copy would write other headers, and move the
// entries.
func zipOfInfoZIP(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	var headers []*zip.FileHeader
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Store, Modified: time.Unix(1_700_000_000, 0).UTC(), Extra: []byte("ux\x04\x00some")}
		e, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(e, f.content); err != nil {
			t.Fatal(err)
		}
		headers = append(headers, h)
	}
	for _, h := range headers { // of which the writer makes the directory
		h.Extra = nil
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWACZLeavesEntriesAlone(t *testing.T) {
	reordered := append([]file{waczFiles[3]}, append([]file{waczFiles[4]}, waczFiles[:3]...)...)
	many := append([]file{}, waczFiles...)
	for i := range math.MaxUint16 {
		many = append(many, file{name: fmt.Sprintf("more/%d", i)})
	}
	for name, in := range map[string][]byte{
		"as tools write it": zipOf(t, "", waczFiles...), "manifest first": zipOf(t, "a comment PK\x05\x06", reordered...),
		"no digest": zipOf(t, "", waczFiles[:4]...), "as Info-ZIP writes it": zipOfInfoZIP(t, waczFiles...), "more entries than 65535": zipOf(t, "", many...),
	} {
		out, err := addTo(in, file{name: "clusters.jsonl", content: "{}\n"}, file{name: "empty"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again, err := addTo(in, file{name: "clusters.jsonl", content: "{}\n"}, file{name: "empty"}); err != nil || !bytes.Equal(out, again) {
			t.Errorf("%s: other bytes the second time (%v)", name, err)
		}
		old, now := entries(t, in), entries(t, out)
		for path, f := range old {
			g := now[path]
			if path == dataPackage || path == packageDigest {
				continue
			}
			at, err := f.DataOffset()
			if err != nil || g == nil {
				t.Fatalf("%s: %s is gone (%v)", name, path, err)
			}
			to, err := g.DataOffset()
			end := at + int64(f.CompressedSize64)
			if err != nil || at != to || !bytes.Equal(in[at:end], out[at:end]) ||
				f.CRC32 != g.CRC32 || f.Method != g.Method || !f.Modified.Equal(g.Modified) {
				t.Errorf("%s: %s changed (%v)", name, path, err)
			}
		}
		if content(t, now["neardup/clusters.jsonl"]) != "{}\n" || content(t, now["neardup/empty"]) != "" {
			t.Errorf("%s: %d entries of %d", name, len(now), len(old))
		}
		for _, path := range []string{dataPackage, packageDigest, "neardup/clusters.jsonl"} {
			if f := now[path]; f == nil || !f.Modified.Equal(old[dataPackage].Modified) {
				t.Errorf("%s: %s has not the time of the manifest", name, path)
			}
		}
		if content(t, now["neardup/datapackage.before"]) != manifest {
			t.Errorf("%s: the manifest is not kept", name)
		}
		if f := now["neardup/datapackage-digest.before"]; (f != nil) != (old[packageDigest] != nil) || f != nil && content(t, f) != signed {
			t.Errorf("%s: the digest is not kept", name)
		}
		checkManifest(t, now)
		if !bytes.HasSuffix(out, []byte(strings.Repeat("a comment PK\x05\x06", strings.Count(name, "first")))) {
			t.Errorf("%s: the comment is gone", name)
		}
	}
}

// checkManifest checks what is listed against what is there.
func checkManifest(t *testing.T, now map[string]*zip.File) {
	t.Helper()
	text := content(t, now[dataPackage])
	var m struct {
		Resources []resource
		Custom    any
		Version   string `json:"wacz_version"`
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Version != "1.1.1" || m.Custom == nil {
		t.Fatalf("%v: %s", err, text)
	}
	listed := map[string]resource{}
	for _, r := range m.Resources {
		listed[r.Path] = r
	}
	for path, f := range now {
		if !strings.HasPrefix(path, waczFolder) {
			continue
		}
		sum := sha256.Sum256([]byte(content(t, f)))
		if r := listed[path]; r.Hash != "sha256:"+hex.EncodeToString(sum[:]) || r.Bytes != int64(f.UncompressedSize64) || r.Name == "" {
			t.Errorf("%s is listed as %+v", path, r)
		}
	}
	if listed["archive/data.warc.gz"].Bytes != 9 {
		t.Error("what was listed is gone")
	}
	sum := sha256.Sum256([]byte(text))
	if got := content(t, now[packageDigest]); !strings.Contains(got, "sha256:"+hex.EncodeToString(sum[:])) || strings.Contains(got, "signature") {
		t.Errorf("digest %s", got)
	}
}

func TestWACZHashesAsTheOthers(t *testing.T) {
	files := append([]file{}, waczFiles...)
	files[3].content = strings.Replace(manifest, "sha256:00", "md5:00", 1)
	out, err := addTo(zipOf(t, "", files...), file{name: "x", content: "y"})
	if err != nil {
		t.Fatal(err)
	}
	sum := md5.Sum([]byte("y"))
	if text := content(t, entries(t, out)[dataPackage]); !strings.Contains(text, "md5:"+hex.EncodeToString(sum[:])) {
		t.Error(text)
	}
}

func TestWACZRefuses(t *testing.T) {
	with := func(i int, f file) []byte {
		files := append([]file{}, waczFiles...)
		files[i] = f
		return zipOf(t, "", files...)
	}
	sound := zipOf(t, "", waczFiles...)
	for want, in := range map[string][]byte{
		"no zip file":              []byte("WARC/1.0\r\n"),
		"bytes in front":           append([]byte("#!/bin/sh\n"), sound...),
		"has no datapackage.json":  with(3, file{name: "x"}),
		"has neardup/x already":    with(2, file{name: "neardup/x"}),
		"two datapackage.json":     with(2, waczFiles[3]),
		"no JSON object":           with(3, file{name: dataPackage, content: "[]"}),
		"lists no resources":       with(3, file{name: dataPackage, content: `{"x": 1}`}),
		"resources must be one":    with(3, file{name: dataPackage, content: `{"resources": {}}`}),
		"must be one list":         with(3, file{name: dataPackage, content: `{"resources": [], "resources": []}`}),
		"directory is damaged":     bytes.Replace(sound, []byte("PK\x01\x02"), []byte("PK\x01\x03"), 1),
		"checksum error":           bytes.Replace(zipOf(t, "", file{dataPackage, manifest, zip.Store}), []byte("custom"), []byte("cursed"), 1),
		"datapackage.json: EOF":    with(3, file{name: dataPackage}),
		"datapackage.json: unexpe": with(3, file{name: dataPackage, content: `{"resources": [{"hash": "sha256:0"`}),
	} {
		if _, err := addTo(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// sparse is a large file of zeros that ends with tail.
type sparse struct {
	size int64
	tail []byte
}

func (s sparse) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	from := s.size - int64(len(s.tail))
	for i := range p {
		if j := at + int64(i) - from; j >= 0 && j < int64(len(s.tail)) {
			p[i] = s.tail[j]
		}
	}
	if at+int64(len(p)) > s.size {
		return int(s.size - at), io.EOF
	}
	return len(p), nil
}

// A directory behind 4 GiB has its offsets elsewhere.
func TestZipDirectoryOfALargeFile(t *testing.T) {
	const at = 5 << 30
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.SetOffset(at)
	for _, name := range []string{"archive/a", dataPackage} {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := sparse{at + int64(b.Len()), b.Bytes()}
	d, err := readZipDirectory(f, f.size)
	if err != nil || len(d.records) != 2 || d.records[0].local != at {
		t.Fatalf("%+v (%v)", d, err)
	}
	cut := d.without(dataPackage)
	if cut <= at || cut >= d.at || len(d.records) != 1 {
		t.Errorf("cut at %d, %d entries", cut, len(d.records))
	}
	f.tail = append(bytes.Clone(b.Bytes()[:cut-at]), d.end(cut, nil, 0)...)
	f.size = at + int64(len(f.tail))
	r, err := zip.NewReader(f, f.size)
	if err != nil || len(r.File) != 1 || r.File[0].Name != "archive/a" {
		t.Fatal(err)
	}
	if where, err := r.File[0].DataOffset(); err != nil || where <= at {
		t.Error(where, err)
	}
}

func FuzzWACZ(f *testing.F) {
	f.Add(zipOf(f, "", waczFiles...))
	f.Add(zipOf(f, "comment", waczFiles[3]))
	f.Add([]byte("PK\x06\x07" + strings.Repeat("\xff", 16) + "PK\x05\x06" + strings.Repeat("\xff", 16) + "\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := addTo(in, file{name: "x", content: "y"})
		if err != nil {
			return
		}
		d, err := readZipDirectory(bytes.NewReader(out), int64(len(out)))
		if err != nil || len(d.records) < 4 {
			t.Fatalf("what comes out is no zip file: %v", err)
		}
	})
}
