package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"neardup/extract/pdf/pdftest"
)

// engine is one for all tests; it keeps its machine code where the program does.
var engine = sync.OnceValue(func() *Engine {
	dir, err := os.UserCacheDir()
	if err != nil {
		return &Engine{}
	}
	return &Engine{CacheDir: filepath.Join(dir, "neardup", "pdfium")}
})

const maxText = 4 << 20

var limits = Limits{MaxPages: 100, MaxMemory: 64 << 20, MaxSteps: 2_000_000_000}

func read(t testing.TB, b []byte) (Document, Outcome) {
	t.Helper()
	d, outcome, err := engine().Read(b, limits, maxText)
	if err != nil {
		t.Fatal(err)
	}
	return d, outcome
}

// prose returns n paragraphs of words that do not repeat.
func prose(n int) (out []string) {
	words := strings.Fields(`harbour seals come ashore at low water and lie there until the tide turns again while
		the wardens count them from the dunes with telescopes because nobody may walk further than the second row of posts
		between spring and the middle of autumn when the young ones learn how to catch flatfish in shallow channels`)
	for i := range n {
		var b strings.Builder
		for s := range 4 {
			b.WriteString("Paragraph")
			for w := range 17 {
				b.WriteString(" " + words[(i*31+s*11+w*(i%5+1))%len(words)])
			}
			b.WriteString(". ")
		}
		out = append(out, strings.TrimSpace(b.String()))
	}
	return out
}

// TestTypesetText: paragraphs come out as they were set, however they were set.
func TestTypesetText(t *testing.T) {
	want := prose(30)
	for name, k := range map[string]pdftest.Book{
		"gaps":        {Columns: 80, Lines: 50},
		"indented":    {Columns: 80, Lines: 50, Indented: true},
		"hyphens":     {Columns: 60, Lines: 40, Hyphens: true},
		"numbers":     {Columns: 80, Lines: 31, Foot: "%"},
		"head":        {Columns: 80, Lines: 30, Head: "Of Seals and Men", Foot: "- % -", Indented: true},
		"in one line": {Columns: 80, Lines: 31, Head: "Chapter 3. Of Seals      %"},
		"two columns": {Columns: 38, Lines: 45, TwoColumn: true, Hyphens: true, Indented: true, Foot: "Page %"},
	} {
		t.Run(name, func(t *testing.T) {
			d, outcome := read(t, k.Typeset(want...).Bytes())
			if outcome != Read {
				t.Fatalf("outcome %d", outcome)
			}
			got := strings.Split(d.Text, "\n")
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("paragraph %d:\n%s\nwant\n%s", i, got[i], want[i])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d paragraphs, want %d", len(got), len(want))
			}
		})
	}
}

// page is lines below each other, 12 points apart, of 10 points.
func page(lines ...string) (p pdftest.Page) {
	for i, s := range lines {
		indent := len(s) - len(strings.TrimLeft(s, " "))
		if s = strings.TrimSpace(s); s != "" {
			p.Lines = append(p.Lines, pdftest.Line{X: 50 + 6*float64(indent), Y: 700 - 12*float64(i), Size: 10, Text: s})
		}
	}
	return p
}

func TestParagraphs(t *testing.T) {
	for _, c := range []struct {
		name  string
		pages []pdftest.Page
		want  []string
	}{
		{"hyphens", []pdftest.Page{page("The words well-known and transaction are in the text, and near-dupli-",
			"cates, too. These are well-", "known to all who have ever read of a trans-", "action. The year 1990-", "1995 was long, and Mary-", "Ann was there.")},
			[]string{"The words well-known and transaction are in the text, and near-duplicates, too. These are well-known to all who have ever read of a transaction. The year 1990-1995 was long, and Mary-Ann was there."}},
		{"list", []pdftest.Page{page("The following is sold here:", "\x95 apples of the old kinds, which nobody else has had", "  for many a year now", "\x95 pears",
			"1. the first thing that we do is to look at them", "2. then we buy")},
			[]string{"The following is sold here:", "• apples of the old kinds, which nobody else has had for many a year now", "• pears", "1. the first thing that we do is to look at them", "2. then we buy"}},
		{"soft hyphens", []pdftest.Page{page("one hyphen in\xad", "side of words")}, []string{"one hyphen inside of words"}},
		{"short lines", []pdftest.Page{page("Contents", "One", "Two", "A line that is much longer than those above it is, and ends here.")},
			[]string{"Contents", "One", "Two", "A line that is much longer than those above it is, and ends here."}},
		{"sizes", []pdftest.Page{{Lines: []pdftest.Line{{X: 50, Y: 700, Size: 20, Text: "Heading"}, {X: 50, Y: 688, Size: 10, Text: "text of another size"}}}},
			[]string{"Heading", "text of another size"}},
		{"across pages", []pdftest.Page{page("the end of this page is not that of the"), page("sentence. But the next"), page("One starts here")},
			[]string{"the end of this page is not that of the sentence. But the next", "One starts here"}},
		{"all recurs", []pdftest.Page{page("Name of the child"), page("Name of the child"), page("Name of the child")}, []string{"Name of the child", "Name of the child", "Name of the child"}},
		{"turned", []pdftest.Page{{Extra: "/Rotate 90", Content: "BT /F 10 Tf 0 1 -1 0 100 50 Tm (a line that goes up the page) Tj 0 1 -1 0 112 50 Tm (and one below it) Tj ET"}},
			[]string{"a line that goes up the page and one below it"}},
		{"scaled", []pdftest.Page{{Content: "BT /F 1 Tf 10 0 0 10 50 700 Tm (type of one point that) Tj 10 0 0 10 50 688 Tm (is made ten times as large) Tj ET"}},
			[]string{"type of one point that is made ten times as large"}},
	} {
		d, outcome := read(t, pdftest.Document{Pages: c.pages}.Bytes())
		if got := strings.Split(d.Text, "\n"); outcome != Read || strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: %d\n%q\nwant\n%q", c.name, outcome, got, c.want)
		}
	}
}

// TestTurnedText: paragraphs are the same whichever way the text is turned, and the page is
// shown.
func TestTurnedText(t *testing.T) {
	want := []string{"These words of the first paragraph are set in lines of one width,", "and the last is short.",
		"   The second paragraph begins with an indent, and it is as long", "as the first."}
	joined := "These words of the first paragraph are set in lines of one width, and the last is short.\n" +
		"The second paragraph begins with an indent, and it is as long as the first."
	for _, degrees := range []int{0, 10, 30, 45, 60, 75, 90, 105, 120, 180, 255, 270, 280, -20, -60} {
		for quarters := range 4 {
			sin, cos := math.Sincos(float64(degrees) * math.Pi / 180)
			var c strings.Builder
			for i, l := range want {
				x, y := 306+12*float64(i)*sin-200*cos, 396-12*float64(i)*cos-200*sin
				fmt.Fprintf(&c, "BT /F 10 Tf %f %f %f %f %f %f Tm (%s) Tj ET\n", cos, sin, -sin, cos, x, y, l)
			}
			p := pdftest.Page{Extra: fmt.Sprintf("/Rotate %d", 90*quarters), Content: c.String()}
			if d, outcome := read(t, pdftest.Document{Pages: []pdftest.Page{p}}.Bytes()); outcome != Read || d.Text != joined {
				t.Errorf("text turned by %d degrees, the page by %d: %d, %q", degrees, 90*quarters, outcome, d.Text)
			}
		}
	}
}

// TestRunning: what recurs at the edges of pages is left out, and nothing else.
func TestRunning(t *testing.T) {
	type lines = []string
	set := func(pages ...lines) (out [][]line) {
		for i, p := range pages {
			var l []line
			for at, s := range p {
				if s == "" {
					continue
				}
				l = append(l, line{text: s, base: 700 - 12*float64(at), size: 10, right: 500, page: i})
			}
			out = append(out, l)
		}
		return out
	}
	roman := []string{"", "i", "ii", "iii", "iv", "v"}
	var front, titles [][]line
	for i := 1; i <= 5; i++ {
		front = append(front, set(lines{roman[i], "some words of page " + roman[i], "and more of " + roman[i]})...)
		for at := range front[i-1] {
			front[i-1][at].page = i - 1
		}
		titles = append(titles, []line{{text: fmt.Sprintf("Section of %c", 'A'+i), base: 760, size: 10, page: i - 1},
			{text: fmt.Sprintf("text of the page %c", 'A'+i), base: 700, size: 10, page: i - 1}, {text: fmt.Sprintf("more of %c", 'A'+i), base: 688, size: 10, page: i - 1}})
	}
	for _, c := range []struct {
		name  string
		pages [][]line
		want  string
	}{
		{"one page", set(lines{"1", "text"}), "1,text"},
		{"two pages", set(lines{"1", "a"}, lines{"2", "b"}), "a;b"},
		{"two pages with a head", set(lines{"Head", "", "", "a", "c"}, lines{"Head", "", "", "b", "d"}), "a,c;b,d"},
		{"two years", set(lines{"1998 was good", "a"}, lines{"1999 was bad", "b"}), "1998 was good,a;1999 was bad,b"},
		{"a recurring line", set(lines{"Head", "a"}, lines{"Head", "b"}, lines{"Head", "c"}), "a;b;c"},
		{"on two pages of four", set(lines{"Head", "a"}, lines{"Head", "b"}, lines{"One", "c"}, lines{"Two", "d"}), "Head,a;Head,b;One,c;Two,d"},
		{"Roman numbers", front, "some words of page i,and more of i;some words of page ii,and more of ii;some words of page iii,and more of iii;some words of page iv,and more of iv;some words of page v,and more of v"},
		{"numbers that do not step", set(lines{"5 apples", "a"}, lines{"3 pears", "b"}, lines{"9 plums", "c"}), "5 apples,a;3 pears,b;9 plums,c"},
		{"heads that change", titles, "text of the page B,more of B;text of the page C,more of C;text of the page D,more of D;text of the page E,more of E;text of the page F,more of F"},
	} {
		var got []string
		for _, p := range withoutRunning(c.pages) {
			var s []string
			for _, l := range p {
				s = append(s, l.text)
			}
			got = append(got, strings.Join(s, ","))
		}
		if strings.Join(got, ";") != c.want {
			t.Errorf("%s: %s, want %s", c.name, strings.Join(got, ";"), c.want)
		}
	}
}

func TestTitles(t *testing.T) {
	for _, c := range []struct{ title, size, want string }{
		{"A Title", "10", "A Title"},
		{"", "20", "Large words"},
		{"", "10", ""},
		{"untitled", "20", "Large words"},
		{"letter.tex", "20", "Large words"},
		{"Microsoft Word - report.doc", "20", "Large words"},
		{"Microsoft Word - On Seals", "20", "On Seals"},
	} {
		p := page("", "", "", "words of the text, of which there are many more", "than of the others")
		p.Content = "BT /F " + c.size + " Tf 1 0 0 1 50 740 Tm (Large words) Tj ET"
		if d, _ := read(t, pdftest.Document{Title: c.title, Pages: []pdftest.Page{p}}.Bytes()); d.Title != c.want {
			t.Errorf("%q, %s points: %q, want %q", c.title, c.size, d.Title, c.want)
		}
	}
}

// stream returns a document with one page of a deflated content stream.
func stream(content []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	d := pdftest.Document{Pages: []pdftest.Page{page("words")}}.Bytes()
	object := fmt.Sprintf("6 0 obj\n<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n", b.Len(), b.String())
	at := bytes.Index(d, []byte("6 0 obj"))
	return append(d[:at:at], object+"trailer\n<< /Root 1 0 R >>\n"...) // without its cross references, which are found again
}

// hostile are documents that cannot be read, and why.
func hostile() map[string]struct {
	b    []byte
	want Outcome
} {
	whole := pdftest.Book{Columns: 80, Lines: 30}.Typeset(prose(10)...).Bytes()
	form := "1000 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /A 1000 0 R >> >> /Length 14 >>\nstream\n/A Do /A Do   \nendstream\nendobj\n"
	loop := bytes.Replace(whole, []byte("/Kids [5 0 R"), []byte("/Kids [2 0 R"), 1)
	return map[string]struct {
		b    []byte
		want Outcome
	}{
		"empty":           {nil, Broken},
		"mark only":       {[]byte("%PDF-1.7\n"), Broken},
		"HTML":            {[]byte("<html><body>Not found</body></html>"), Broken},
		"noise":           {append([]byte("%PDF-1.4\n"), bytes.Repeat([]byte("\x00\xff<<[("), 10_000)...), Broken},
		"no pages":        {pdftest.Document{}.Bytes(), Broken},
		"encrypted":       {pdftest.Document{Encrypted: true, Pages: []pdftest.Page{page("secret")}}.Bytes(), Encrypted},
		"scan":            {pdftest.Document{Pages: []pdftest.Page{{Content: "q 500 0 0 700 50 50 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q"}}}.Bytes(), NoText},
		"blank":           {pdftest.Document{Pages: []pdftest.Page{{}, {}}}.Bytes(), NoText},
		"cut off":         {whole[:len(whole)*2/3], Broken},
		"own parent":      {loop, Read},
		"deep arrays":     {stream(bytes.Repeat([]byte("["), 1<<20)), NoText},
		"inflates":        {stream(make([]byte, 100<<20)), Memory},
		"forms in a form": {pdftest.Document{Raw: form, Pages: []pdftest.Page{{Content: "/A Do", Extra: "/Resources << /XObject << /A 1000 0 R >> >>"}}}.Bytes(), NoText},
	}
}

func TestHostile(t *testing.T) {
	for name, c := range hostile() {
		if _, outcome := read(t, c.b); outcome != c.want {
			t.Errorf("%s: outcome %d, want %d", name, outcome, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	book := pdftest.Book{Columns: 80, Lines: 31}.Typeset(prose(40)...)
	book.Raw = strings.Repeat("% what PDFium does not read\n", 700_000)
	for _, c := range []struct {
		name   string
		limits Limits
		want   Outcome
		unread int
	}{
		{"none reached", limits, Read, 0},
		{"pages", Limits{MaxPages: 3, MaxMemory: limits.MaxMemory, MaxSteps: limits.MaxSteps}, Read, len(book.Pages) - 3},
		{"memory", Limits{MaxPages: 100, MaxMemory: 20 << 20, MaxSteps: limits.MaxSteps}, Memory, 0},
		{"steps", Limits{MaxPages: 100, MaxMemory: limits.MaxMemory, MaxSteps: 10_000}, Steps, 0},
	} {
		d, outcome, err := engine().Read(book.Bytes(), c.limits, maxText)
		if err != nil || outcome != c.want || d.Unread != c.unread || outcome == Read && d.Pages != len(book.Pages) {
			t.Errorf("%s: %d pages, %d unread, outcome %d, %v", c.name, d.Pages, d.Unread, outcome, err)
		}
	}
	for _, l := range []Limits{{MaxPages: -1, MaxMemory: 1 << 30, MaxSteps: 1 << 30}, {MaxMemory: 1 << 20, MaxSteps: 1 << 30}, {MaxMemory: 1 << 40, MaxSteps: 1 << 30}, {MaxMemory: 1 << 30}} {
		if l.Validate() == nil {
			t.Errorf("%+v is valid", l)
		}
	}
	if err := limits.Validate(); err != nil {
		t.Error(err)
	}
}

// Pages that share one stream of lines make any number of them from few bytes.
func TestManyLinesAreCut(t *testing.T) {
	stream := func(lines int, text string) string {
		return "BT /F 1 Tf 1 0 0 1 10 14000 Tm 2.5 TL " + strings.Repeat("("+text+") Tj T* ", lines) + "ET"
	}
	pages := func(n int, content string) (p []pdftest.Page) {
		for range n {
			p = append(p, pdftest.Page{Extra: "/MediaBox [0 0 14400 14400]", Content: content})
		}
		return p
	}
	small := pages(10, stream(1000, "a"))
	for _, c := range []struct {
		name    string
		pages   []pdftest.Page
		maxText int
		cut     bool
		lines   int // at most
	}{
		{"all", small, 20_000, false, 10_000},
		{"text", small, 2_000, true, 4_001},
		{"lines of one page", pages(1, stream(4000, "a")), 1_000, true, 2_001},
		{"lines", pages(130, stream(5000, "a")), maxText, true, maxLines},
	} {
		l := Limits{MaxPages: 1000, MaxMemory: 128 << 20, MaxSteps: 1 << 40}
		e := &Engine{CacheDir: engine().CacheDir}
		m := &memory{e: e, limit: uint64(l.MaxMemory)}
		doc, outcome, err := e.read(m, pdftest.Document{Pages: c.pages}.Bytes(), l, c.maxText)
		n := 0
		for _, p := range doc.pages {
			n += len(p)
		}
		if err != nil || outcome != Read || doc.cut != c.cut || n > c.lines || n < c.lines*9/10 {
			t.Errorf("%s: %d lines, cut %v, %d, %v", c.name, n, doc.cut, outcome, err)
		}
		if m.large != (n > manyLines) {
			t.Errorf("%s: %d lines; read alone: %v", c.name, n, m.large)
		}
		m.end()
	}
}

// TestDocumentsAreReadAlone: what comes of a document depends on it alone, not on
// what was read before it or is read beside it, however broken.
func TestDocumentsAreReadAlone(t *testing.T) {
	documents := [][]byte{pdftest.Book{Columns: 60, Lines: 40, Hyphens: true, Head: "Head %"}.Typeset(prose(20)...).Bytes()}
	for _, name := range slices.Sorted(maps.Keys(hostile())) {
		documents = append(documents, hostile()[name].b)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 { // each with some bytes changed
		b := bytes.Clone(documents[0])
		for range 1 + rng.IntN(60) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		documents = append(documents, b)
	}
	result := func(b []byte) string {
		d, outcome, err := engine().Read(b, limits, maxText)
		return fmt.Sprintf("%d %v %+v", outcome, err, d)
	}
	var want []string
	outcomes := map[string]bool{}
	for _, b := range documents {
		want = append(want, result(b))
		outcomes[want[len(want)-1][:1]] = true
	}
	if len(outcomes) < 4 {
		t.Errorf("only outcomes %v", outcomes)
	}
	var g sync.WaitGroup
	for worker := range 4 {
		g.Go(func() {
			for i := range documents {
				at := (i*(2*worker+1) + worker*7) % len(documents)
				if got := result(documents[at]); got != want[at] {
					t.Errorf("document %d: %.200s, before %.200s", at, got, want[at])
				}
			}
		})
	}
	g.Wait()
}

// TestCache: the machine code is kept, damaged code is thrown away, and where it
// cannot be kept the text comes all the same.
func TestCache(t *testing.T) {
	book := pdftest.Book{Columns: 80, Lines: 31}.Typeset(prose(3)...).Bytes()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	discarded := 0
	try := func(dir string) {
		t.Helper()
		e := Engine{CacheDir: dir, Discard: func() { discarded++ }}
		if d, outcome, err := e.Read(book, limits, maxText); err != nil || outcome != Read || !strings.HasPrefix(d.Text, "Paragraph") {
			t.Errorf("%s: %d, %v, %.50s", dir, outcome, err, d.Text)
		}
		_ = e.runtime.Close(t.Context())
	}
	try(filepath.Join(file, "no directory"))
	dir := t.TempDir()
	try(dir)
	kept, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v, %v", kept, err)
	}
	code, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	try(dir)
	if discarded != 0 {
		t.Error("good code was discarded")
	}
	code[len(code)/2] ^= 1
	if err := os.WriteFile(kept[0], code, 0o666); err != nil {
		t.Fatal(err)
	}
	try(dir)
	if discarded != 1 {
		t.Error("damaged code was not discarded")
	}
}

// Some letters take more bytes in lower case.
func TestWordsOfOtherLength(t *testing.T) {
	got := paragraphs([][]line{{{text: "\u023a\u023a", hyphen: true, base: 700, size: 10, right: 100}, {text: "words", base: 688, size: 10, right: 100}}})
	if len(got) != 1 || got[0] != "\u023a\u023awords" {
		t.Errorf("%q", got)
	}
}
