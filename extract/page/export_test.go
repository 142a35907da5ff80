package page

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
)

// What the tests on archives, which read them by way of package extract, need
// of the insides.
var CheckScan = checkScan

// TreeReader reads every page by way of a tree.
func TreeReader(page string, max int) Text {
	s := treeText(page, max, true)
	return Text{Title: s.title, Text: s.text, Kind: kindOf(measures(s)), Parsed: true}
}

// MainTexts are the main texts of pages, each different text once.
type MainTexts struct {
	t       *testing.T
	pages   int
	seen    map[[sha256.Size]byte]bool
	kinds   map[Kind]int
	cleaned []cleanedPage
}

// NewMainTexts makes MainTexts of none.
func NewMainTexts(t *testing.T) *MainTexts {
	return &MainTexts{t: t, seen: map[[sha256.Size]byte]bool{}, kinds: map[Kind]int{}}
}

// cleanedPage is one whose main text is certain.
type cleanedPage struct {
	main, all        int // bytes of text
	paragraphs, lost int // outside nav and footer
	uri              string
}

func (p cleanedPage) kept() float64 { return float64(p.main) / float64(p.all) }

// Add adds a page that r reads.
func (m *MainTexts) Add(r *Reader, page, host string, max int) Text {
	s, t := r.show(page, host, max)
	if s.text != "" {
		t.Kind = kindOf(measures(s))
		m.add(host, s, t.Kind)
	}
	return t
}

func (m *MainTexts) add(uri string, s shown, kind Kind) {
	m.pages++
	id := sha256.Sum256([]byte(s.text))
	if m.seen[id] {
		return
	}
	m.seen[id] = true
	m.kinds[kind]++
	main, sure := checkMain(m.t, s)
	if !sure {
		return
	}
	if main == "" {
		m.t.Errorf("%s: sure, and nothing is kept", uri)
	}
	p := cleanedPage{main: len(main), all: len(s.text), uri: uri}
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
		m.t.Errorf("%s: %q is kept and no line of the text in its order", uri, kept[0])
	}
	m.cleaned = append(m.cleaned, p)
}

// Log logs what is kept of the pages. Some must be cleaned where that is
// expected.
func (m *MainTexts) Log(expected bool) {
	t := m.t
	t.Logf("%d pages, %d different texts: %d topic, %d navigation", m.pages, len(m.seen), m.kinds[KindTopic], m.kinds[KindNavigation])
	n := len(m.cleaned)
	if n == 0 {
		if expected {
			t.Error("no page is cleaned")
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

// mainText returns what is kept of s under CleanMain.
func mainText(s shown, all []measure) (main string, sure bool) {
	c := contentOf(s, all)
	return c.main, c.sure
}
