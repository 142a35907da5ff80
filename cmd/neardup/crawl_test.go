package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"neardup/configs"
	"neardup/extract"
)

// bigSettings make many signatures of short texts, so that every stage has
// work for a while, and commits more than once in it.
var bigSettings = []string{"--set", "sign.smallest=1", "--set", "sign.modulus=23", "--set", "text.max_columns=700"}

// bigCrawl writes a crawl of variants of the example's pages: cuttings of
// their text with some words exchanged. The first file is gzip a record, the
// second is not compressed. Both are the same every time.
func bigCrawl(t *testing.T, variants int) (files []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	zipped, plain := &bytes.Buffer{}, &bytes.Buffer{}
	z, err := gzip.NewWriterLevel(zipped, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	captured := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for p, text := range exampleTexts(t) {
		words := strings.Fields(text)
		for v := range variants {
			captured = captured.Add(time.Second)
			record := bigRecord(p, v, captured, edited(random, words))
			if v%2 == 0 {
				plain.Write(record)
				continue
			}
			z.Reset(zipped)
			if _, err := z.Write(record); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := t.TempDir()
	for name, b := range map[string]*bytes.Buffer{"big-0.warc.gz": zipped, "big-1.warc": plain} {
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return []string{filepath.Join(dir, "big-0.warc.gz"), filepath.Join(dir, "big-1.warc")}
}

// exampleTexts returns the distinct longer texts of the example crawl.
func exampleTexts(t *testing.T) (texts []string) {
	t.Helper()
	config, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	x := extract.NewExtractor(config.Extract)
	seen := map[string]bool{}
	for _, raw := range records(t, generated(t)) {
		if d, reason := x.Document(raw); reason == extract.ReasonNone && len(d.Text) > 2000 && !seen[d.Text] {
			seen[d.Text] = true
			texts = append(texts, d.Text)
		}
	}
	return texts
}

// edited returns a cutting of the words with a few of them exchanged.
func edited(random *rand.Rand, words []string) string {
	begin := random.IntN(3)
	out := append([]string(nil), words[begin:min(begin+150, len(words))]...)
	for range 1 + random.IntN(3) {
		i, j := random.IntN(len(out)), random.IntN(len(out))
		out[i], out[j] = out[j], out[i]
	}
	return strings.Join(out, " ")
}

func bigRecord(page, variant int, captured time.Time, text string) []byte {
	body := "<!DOCTYPE html><title>" + fmt.Sprint(page) + "</title><main><p>" + text + "</p></main>"
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
	return fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%06d%06d>\r\n"+
		"WARC-Target-URI: http://site-%d.example/page-%d/%d.html\r\nWARC-Date: %s\r\n"+
		"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		page, variant, variant%7, page, variant, captured.Format(time.RFC3339), len(block), block)
}
