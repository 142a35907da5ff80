package example

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"
)

// Sizes of a page's text. The template's sentences are on every page of the site,
// those of the body on one page.
const (
	templateSentences = 24
	bodySentences     = 36
)

// WriteTemplate writes a crawl of n pages of one site: the same heavy template
// around distinct bodies. No two pages are near-duplicates.
func WriteTemplate(w io.Writer, n int) error {
	random := rand.New(rand.NewPCG(7, 8))
	words := inventWords(random, 6000)
	sentence := func() string {
		s := make([]string, 8+random.IntN(10))
		for i := range s {
			s[i] = words[random.IntN(len(words))]
		}
		return strings.ToUpper(s[0][:1]) + s[0][1:] + " " + strings.Join(s[1:], " ") + "."
	}
	var template [templateSentences]string
	for i := range template {
		template[i] = sentence()
	}
	captured := time.Date(2024, 3, 4, 6, 0, 0, 0, time.UTC)
	for i := range n {
		var b bytes.Buffer
		fmt.Fprintf(&b, "<!doctype html><title>Item %d</title><body><div>", i)
		for _, s := range template[:templateSentences/2] {
			fmt.Fprintf(&b, "<p>%s</p>\n", s)
		}
		fmt.Fprintf(&b, "</div><h1>Item %d</h1>\n", i)
		for range bodySentences / 3 {
			fmt.Fprintf(&b, "<p>%s %s %s</p>\n", sentence(), sentence(), sentence())
		}
		b.WriteString("<div>")
		for _, s := range template[templateSentences/2:] {
			fmt.Fprintf(&b, "<p>%s</p>\n", s)
		}
		b.WriteString("</div>")
		uri := (&url.URL{Scheme: "http", Host: "template.example", Path: fmt.Sprintf("/items/%d", i)}).String()
		date := captured.Add(time.Duration(i) * time.Second).Format(time.RFC3339)
		block := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s", b.Len(), &b)
		err := writeRecord(w, []string{"WARC-Type: response", "WARC-Record-ID: " + recordID("template", uri, date),
			"WARC-Target-URI: " + uri, "WARC-Date: " + date, "Content-Type: application/http; msgtype=response"}, block)
		if err != nil {
			return err
		}
	}
	return nil
}

// inventWords returns n words of two to four syllables.
func inventWords(random *rand.Rand, n int) []string {
	const consonants, vowels = "bcdfghklmnprstvz", "aeiou"
	words := make([]string, n)
	for i := range words {
		var b strings.Builder
		for range 2 + random.IntN(3) {
			b.WriteByte(consonants[random.IntN(len(consonants))])
			b.WriteByte(vowels[random.IntN(len(vowels))])
		}
		words[i] = b.String()
	}
	return words
}
