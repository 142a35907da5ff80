package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"neardup/extract/pdf"
	"neardup/extract/pdf/pdftest"
)

func TestPDFBecomesDocument(t *testing.T) {
	e := &pdf.Engine{}
	if dir, err := os.UserCacheDir(); err == nil {
		e.CacheDir = filepath.Join(dir, "neardup", "pdfium")
	}
	book := pdftest.Book{Title: "Seals", Columns: 60, Lines: 10}
	pages := func(n int) string {
		var text []string
		for i := range 5 * n {
			text = append(text, "seals "+strings.Repeat(string(rune('a'+i%26)), 1+i/26))
		}
		return string(book.Typeset(text...).Bytes())
	}
	scan := pdftest.Document{Pages: []pdftest.Page{{}}}
	for outcome := pdf.Broken; outcome <= pdf.Crashed; outcome++ {
		if pdfReasons[outcome] == "" {
			t.Errorf("no reason for outcome %d", outcome)
		}
	}
	for _, c := range []struct {
		name, body string
		limits     pdf.Limits
		max        int // bytes of text
		want       Reason
		choices    Choices
	}{
		{"read", pages(1), options.PDF, 1 << 20, ReasonNone, 0},
		{"pages", pages(20), options.PDF, 1 << 20, ReasonNone, ChoicePagesLost},
		{"text", pages(5), options.PDF, 100, ReasonNone, ChoiceTextCut},
		{"off", pages(1), pdf.Limits{MaxMemory: 64 << 20, MaxSteps: 1 << 30}, 1 << 20, ReasonMediaType, 0},
		{"broken", "%PDF-1.4\n", options.PDF, 1 << 20, ReasonPDFBroken, 0},
		{"scan", string(scan.Bytes()), options.PDF, 1 << 20, ReasonPDFImages, 0},
		{"encrypted", string(pdftest.Document{Encrypted: true, Pages: scan.Pages}.Bytes()), options.PDF, 1 << 20, ReasonPDFSecret, 0},
		{"steps", pages(10), pdf.Limits{MaxPages: 10, MaxMemory: 64 << 20, MaxSteps: 100}, 1 << 20, ReasonPDFSteps, 0},
	} {
		o := options
		o.PDF, o.MaxTextBytes = c.limits, c.max
		x := NewExtractor(o)
		x.ReadPDF(e)
		doc, reason := x.Document(httpRecord(c.body, "Content-Type: application/pdf"))
		if reason != c.want || reason == ReasonNone && doc.Choices != c.choices || doc.MediaType != typePDF {
			t.Errorf("%s: %q, %v, %s", c.name, reason, doc.Choices.Names(), doc.MediaType)
		}
		if reason == ReasonNone && (doc.Title != "Seals" || !strings.HasPrefix(doc.Text, "seals") || doc.Text != doc.Visible || doc.Charset != "utf-8") {
			t.Errorf("%s: %+v", c.name, doc)
		}
	}
}

// Documents that take many steps count for what their file may be decoded to.
func TestStepsOfPDFCount(t *testing.T) {
	x := NewExtractor(options)
	x.ReadPDF(&pdf.Engine{})
	body := string(pdftest.Book{Title: "Seals", Columns: 60, Lines: 10}.Typeset("seals", "ice", "sand").Bytes())
	read := func(a *Account) (cost int64, reason Reason) {
		raw := httpRecord(body, "Content-Type: application/pdf")
		raw.Allowed = 40_000
		raw.Room = a.Room(raw)
		_, reason = x.Document(raw)
		return raw.Decoded, a.Take(raw, reason)
	}
	a := NewAccount(0)
	cost, reason := read(a)
	t.Logf("%d steps for each byte of a document of three words", cost*stepsPerByte/int64(len(body)))
	if reason != ReasonNone || cost < 100 || a.Spent() != cost {
		t.Fatalf("%q, %d bytes, %d spent", reason, cost, a.Spent())
	}
	for a.Spent()+cost <= 40_000 {
		if again, reason := read(a); reason != ReasonNone || again != cost {
			t.Fatalf("%q, %d bytes again", reason, again)
		}
	}
	left := 40_000 - a.Spent()
	if less, reason := read(a); reason != ReasonInflated || less != left+1 {
		t.Errorf("%q, %d bytes where %d are left", reason, less, left)
	}
}
