package inputs

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"neardup/extract/container"
	"neardup/pipeline/remote"
	"neardup/pipeline/remote/remotetest"
)

// theObjects are what the store has, by key. Credentials and endpoint are looked up
// once, so there is one store for all tests.
var theObjects map[string][]byte

func TestMain(m *testing.M) {
	remote.FirstPause = time.Millisecond
	var f remotetest.Faults
	f.Set(func(_ int, w http.ResponseWriter, r *http.Request, _ http.Handler) { serveObjects(w, r) })
	url, stop := f.Proxy("http://127.0.0.1:1")
	for _, v := range remotetest.Env(url) {
		name, value, _ := strings.Cut(v, "=")
		_ = os.Setenv(name, value)
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

// serveObjects answers GetObject and ListObjectsV2.
func serveObjects(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/xml")
	key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/"+remotetest.Bucket), "/")
	if prefix := r.URL.Query().Get("prefix"); key == "" {
		fmt.Fprint(w, "<ListBucketResult>")
		for _, key := range slices.Sorted(maps.Keys(theObjects)) {
			if strings.HasPrefix(key, prefix) {
				fmt.Fprint(w, "<Contents><Key>")
				_ = xml.EscapeText(w, []byte(key))
				fmt.Fprintf(w, "</Key><Size>%d</Size></Contents>", len(theObjects[key]))
			}
		}
		fmt.Fprint(w, "</ListBucketResult>")
		return
	}
	content, ok := theObjects[key]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
		return
	}
	w.Header().Set("ETag", `"1"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// A folder may have an object of its name, the marker that some programs make. It is
// listed all the same. An object with content whose key ends with a slash is looked at.
func TestFolders(t *testing.T) {
	record := []byte("WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
	theObjects = map[string][]byte{
		"crawls/": nil, "crawls/a.warc": record, "crawls/deep/": nil, "crawls/deep/b.warc": record, "crawls/notes.txt": []byte("notes"),
		"odd/": record, "odd/c.warc": record, "marker/": nil,
	}
	limits := container.Limits{MaxRecordBytes: 1 << 20, MaxHeaderBytes: 1 << 12, MaxMembers: 100, MaxInflation: 1000}
	for name, want := range map[string]string{
		"crawls/":      "[s3://crawls/crawls/a.warc s3://crawls/crawls/deep/b.warc] 1",
		"crawls":       "[s3://crawls/crawls/a.warc s3://crawls/crawls/deep/b.warc] 1",
		"crawls/deep/": "[s3://crawls/crawls/deep/b.warc] 0",
		"odd/":         "[s3://crawls/odd/ s3://crawls/odd/c.warc] 0",
		"marker/":      "[s3://crawls/marker/: neither a web archive nor a text collection] 0",
		"nothing/":     "[s3://crawls/nothing/: the object store says 404 Not Found: NoSuchKey] 0",
	} {
		sources, ignored, err := Find(t.Context(), t.TempDir(), []string{"s3://" + remotetest.Bucket + "/" + name}, nil, limits)
		var found []string
		for _, s := range sources {
			if s.Error != "" {
				s.Path += ": " + s.Error
			}
			found = append(found, s.Path)
		}
		if got := fmt.Sprint(found, ignored); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
}
