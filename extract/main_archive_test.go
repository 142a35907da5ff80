package extract

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMainTextOnArchive holds mainText against what it promises on the pages of
// the archives (see archives), and logs what it keeps of them: figures of
// docs/benchmarks/main-content.md.
func TestMainTextOnArchive(t *testing.T) {
	paths, example := archives()
	m := mainTexts{t: t, seen: map[[16]byte]bool{}, kinds: map[Kind]int{}}
	for _, path := range paths {
		if err := m.read(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	t.Logf("%d pages, %d different texts: %d topic, %d navigation", m.pages, len(m.seen), m.kinds[KindTopic], m.kinds[KindNavigation])
	n := len(m.cleaned)
	if n == 0 {
		if example {
			t.Error("no page of the example is cleaned")
		}
		return
	}
	slices.SortFunc(m.cleaned, func(a, b cleanedPage) int { return cmp.Or(cmp.Compare(a.kept(), b.kept()), cmp.Compare(a.uri, b.uri)) })
	main, all, paragraphs, lost := 0, 0, 0, 0
	for _, p := range m.cleaned {
		main, all, paragraphs, lost = main+p.main, all+p.all, paragraphs+p.paragraphs, lost+p.lost
	}
	least := m.cleaned[0]
	t.Logf("%d texts cleaned, %.1f%% of them kept; of one, median %.1f%%, 5th percentile %.1f%%, least %.1f%%: %s",
		n, 100*float64(main)/float64(all), 100*m.cleaned[n/2].kept(), 100*m.cleaned[n/20].kept(), 100*least.kept(), least.uri)
	t.Logf("%d paragraphs outside nav and footer, %d of them lost", paragraphs, lost)
}

// mainTexts are the main texts of pages, each different text once.
type mainTexts struct {
	t       *testing.T
	pages   int
	seen    map[[16]byte]bool
	kinds   map[Kind]int
	cleaned []cleanedPage
}

// cleanedPage is one whose main text is certain.
type cleanedPage struct {
	main, all        int // bytes of text
	paragraphs, lost int // outside nav and footer
	uri              string
}

func (p cleanedPage) kept() float64 { return float64(p.main) / float64(p.all) }

// read reads the pages of an archive. A file that is none, or holds some, has
// no pages of its own.
func (m *mainTexts) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if format, err := Detect(f, true, archiveOptions.Limits); err != nil || format != FormatRecords {
		return nil
	}
	pages := &shownReader{htmlReader: newHTMLReader(archiveOptions)}
	x := NewExtractor(archiveOptions)
	x.Readers["text/html"], x.Readers["application/xhtml+xml"] = pages, pages
	r, err := NewReader(f, Position{}, archiveOptions.Limits)
	if err != nil {
		return err
	}
	for {
		raw, err := r.Next()
		var damage *Damage
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &damage):
			continue
		case err != nil:
			return err
		}
		pages.last = shown{}
		if doc, reason := x.Document(raw); reason == ReasonNone && pages.last.text != "" {
			m.page(doc, pages.last)
		}
	}
}

func (m *mainTexts) page(doc Document, s shown) {
	m.pages++
	id := TextID(s.text)
	if m.seen[id] {
		return
	}
	m.seen[id] = true
	m.kinds[doc.Kind]++
	main, sure := checkMain(m.t, s)
	if !sure {
		return
	}
	if main == "" {
		m.t.Errorf("%s: sure, and nothing is kept", doc.TargetURI)
	}
	p := cleanedPage{main: len(main), all: len(s.text), uri: doc.TargetURI}
	kept, measures := strings.Split(main, "\n"), measures(s)
	for i, line := range strings.Split(s.text, "\n") {
		paragraph := measures[i].paragraph() && measures[i].in&(inNav|inFooter) == 0
		if paragraph {
			p.paragraphs++
		}
		if len(kept) > 0 && line == kept[0] {
			kept = kept[1:]
		} else if paragraph {
			p.lost++
		}
	}
	if len(kept) > 0 {
		m.t.Errorf("%s: %q is kept and no line of the text in its order", doc.TargetURI, kept[0])
	}
	m.cleaned = append(m.cleaned, p)
}

// shownReader keeps what the last page shows.
type shownReader struct {
	htmlReader
	last shown
}

func (r *shownReader) ReadText(b Body) Text {
	page, t := decodeCharset(b)
	r.last, _ = r.show(page, b)
	t.Title, t.Text, t.Kind = r.last.title, r.last.text, kindOf(measures(r.last))
	return t
}
