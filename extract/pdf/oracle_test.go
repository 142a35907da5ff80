package pdf

import (
	"strings"
	"testing"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"

	"neardup/extract/pdf/pdftest"
)

// letters returns a text without white space and hyphens.
func letters(s string) string {
	return strings.NewReplacer(" ", "", "\n", "", "\r", "", "\x02", "", "-", "", "\ufffe", "").Replace(s)
}

// TestTextIsThatOfGoPdfium: with the countdown in its loops, and our calls,
// PDFium reads what it reads through go-pdfium.
func TestTextIsThatOfGoPdfium(t *testing.T) {
	pool, err := webassembly.Init(webassembly.Config{MaxTotal: 1, MaxIdle: 1, MinIdle: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	var peer pdfium.Pdfium
	if peer, err = pool.GetInstance(time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, k := range []pdftest.Book{{Columns: 60, Lines: 40, Hyphens: true}, {Columns: 38, Lines: 45, TwoColumn: true, Indented: true}} {
		b := k.Typeset(prose(12)...).Bytes()
		doc, err := peer.OpenDocument(&requests.OpenDocument{File: &b})
		if err != nil {
			t.Fatal(err)
		}
		r, outcome, err := engine().read(&memory{e: engine(), limit: uint64(limits.MaxMemory)}, b, limits, maxText)
		if err != nil || outcome != Read {
			t.Fatal(outcome, err)
		}
		for i, p := range r.pages {
			want, err := peer.GetPageText(&requests.GetPageText{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: doc.Document, Index: i}}})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, l := range p {
				got.WriteString(l.text)
			}
			if letters(got.String()) != letters(want.Text) || got.Len() < 500 {
				t.Errorf("page %d: %q, want %q", i, got.String(), want.Text)
			}
		}
	}
}
