package pipetest

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// Web is a made web that changes from week to week: pages change, vanish and come,
// sites repeat stories of each other and are designed anew. Equal seeds make equal
// webs.
type Web struct {
	rng     *rand.Rand
	sites   []webSite
	live    []*webPage
	stories [][]string // those that sites repeat
	week    int
	records int
}

// webSite is a site with the sentences of its frame.
type webSite struct {
	host      string
	menu, end []string
	form      []string // text that some of its pages fill in
	head      string   // further scripts, styles and elements of each page
}

type webPage struct {
	site  int
	path  string
	title string
	text  []string
	last  string // record of the last capture with a payload
	sent  string // body of that capture
}

// NewWeb returns a web of so many sites, without pages.
func NewWeb(seed uint64, sites int) *Web {
	w := &Web{rng: rand.New(rand.NewPCG(seed, 20))}
	for i := range sites {
		w.sites = append(w.sites, webSite{host: fmt.Sprintf("site%d.example", i), menu: w.text(4), end: w.text(3), form: w.text(8)})
	}
	return w
}

// Heavier gives each page so many bytes more: half of them a style and a script, half
// elements without text. They differ from site to site.
func (w *Web) Heavier(bytes int) {
	for i := range w.sites {
		rng := rand.New(rand.NewPCG(uint64(i), 21))
		part := func(format string, size int) string {
			var b strings.Builder
			for b.Len() < size {
				fmt.Fprintf(&b, format, rng.Uint32(), rng.Uint32(), rng.Uint32())
			}
			return b.String()
		}
		w.sites[i].head = "<style>" + part(".a%x>.b%x{color:#%.6x;padding:4px}\n", bytes/5) + "</style>\n<script>" +
			part("function f%x(a){return a.g%x('%x')}\n", 3*bytes/10) + "</script>\n" +
			part("<div class='a%x'><span class='icon b%x'></span><img src='/i/%x.svg' alt=''></div>\n", bytes/2)
	}
}

// sentence returns a sentence of random words, some with a number.
func (w *Web) sentence() string {
	var b strings.Builder
	for i := range 5 + w.rng.IntN(10) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w.rng.IntN(25) == 0 {
			fmt.Fprint(&b, w.rng.IntN(1000))
			continue
		}
		for range 2 + w.rng.IntN(7) {
			b.WriteByte(byte('a' + w.rng.IntN(26)))
		}
	}
	return b.String() + "."
}

func (w *Web) text(n int) (out []string) {
	for range n {
		out = append(out, w.sentence())
	}
	return out
}

// edited returns a text with a sentence or two replaced.
func (w *Web) edited(text []string) []string {
	text = slices.Clone(text)
	for range 1 + w.rng.IntN(2) {
		text[w.rng.IntN(len(text))] = w.sentence()
	}
	return text
}

// page makes a page: with a story of its own, or with one that other sites have, too.
func (w *Web) page() *webPage {
	p := &webPage{site: w.rng.IntN(len(w.sites)), path: fmt.Sprintf("/%d/%d.html", w.week, w.records), title: w.sentence()}
	switch {
	case w.rng.IntN(6) == 0: // alike as long as few pages are
		p.text = append(slices.Clone(w.sites[p.site].form), w.text(2+w.rng.IntN(2))...)
	case len(w.stories) > 0 && w.rng.IntN(4) == 0:
		p.text = w.edited(w.stories[w.rng.IntN(len(w.stories))])
	default:
		p.text = w.text(6 + w.rng.IntN(12))
		if w.rng.IntN(5) == 0 {
			w.stories = append(w.stories, p.text)
		}
	}
	return p
}

func (w *Web) body(p *webPage) string {
	s := w.sites[p.site]
	return fmt.Sprintf("<html><head><title>%s</title></head><body>%s<ul><li>%s</ul><h1>%s</h1>\n<p>%s</p>\n<div>%s</div></body></html>",
		p.title, s.head, strings.Join(s.menu, "<li>"), p.title, strings.Join(p.text, " "), strings.Join(s.end, " "))
}

// Crawl writes a week's crawl of n captures to a file, compressed record by record if its
// name ends in .gz.
func (w *Web) Crawl(file string, n int) error {
	w.week++
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	write := func(record []byte) { b.Write(record) }
	if strings.HasSuffix(file, ".gz") {
		z := gzip.NewWriter(b)
		write = func(record []byte) {
			z.Reset(b)
			z.Write(record)
			z.Close() // its errors are those of b, which Flush returns
		}
	}
	if s := &w.sites[w.rng.IntN(len(w.sites))]; w.week%8 == 0 { // a new design
		s.menu, s.end = append(w.edited(s.menu), w.sentence()), w.edited(s.end)
	}
	pages := slices.Clone(w.live)
	w.rng.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	again := min(len(pages), n*7/10)
	for _, p := range pages[:again] {
		if w.rng.IntN(20) == 0 {
			write(w.record(p, "response", "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<p>gone"))
			w.live = slices.DeleteFunc(w.live, func(o *webPage) bool { return o == p })
			continue
		}
		switch w.rng.IntN(9) {
		case 0, 1, 2:
			p.text = w.edited(p.text)
		case 3: // the page has moved to this address
			p.text = pages[w.rng.IntN(len(pages))].text
		}
		w.capture(write, p)
	}
	for range n - again {
		p := w.page()
		w.live = append(w.live, p)
		w.capture(write, p)
	}
	return errors.Join(b.Flush(), f.Close())
}

// capture writes a page, or a revisit of it if it is as it was.
func (w *Web) capture(write func(record []byte), p *webPage) {
	body := w.body(p)
	if p.sent == body && w.rng.IntN(2) == 0 {
		write(w.record(p, "revisit", "HTTP/1.1 304 Not Modified\r\n\r\n", "WARC-Refers-To: <urn:test:"+p.last+">",
			"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified"))
		return
	}
	write(w.record(p, "response", OkHTML+body))
	p.last, p.sent = fmt.Sprint(w.records), body
}

func (w *Web) record(p *webPage, kind, block string, fields ...string) []byte {
	w.records++
	return Archived(kind, fmt.Sprint(w.records), "http://"+w.sites[p.site].host+p.path, 1+w.week%28, block, fields...)
}
