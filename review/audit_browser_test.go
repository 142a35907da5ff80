package review_test

import (
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"neardup/audit"
	"neardup/review"
	"neardup/review/browser"
)

// open starts a server of an archive, and a browser for it.
func open(t *testing.T, a review.Archive) *browser.Tab {
	t.Helper()
	browser.Need(t)
	server := httptest.NewServer(review.New(a, review.Options{Name: "site.ws", Version: "test", Failed: func(err error) { t.Error(err) }}))
	t.Cleanup(server.Close)
	return browser.Open(t, server.URL)
}

// Without script all is done by forms and links.
func TestBrowserWithoutScript(t *testing.T) {
	f := small(t)
	kinds(t, f)
	b := open(t, f)
	b.Script(false)
	b.At("/audit/kinds/2?judge=Noor")
	b.TabTo("button verdict unknown")
	b.Keys(kb.Enter)
	b.Arrived("/audit/kinds/3")
	given, _ := f.Judgements(b.Context(), f.audits["kinds"].items[1].Pair)
	if len(given) != 1 || given[0].Verdict != audit.Unknown || given[0].Judge != "Noor" {
		t.Errorf("judged %+v", given)
	}
	b.Keys("t") // keys are script
	b.TabTo("a  /audit/kinds/4")
	b.Keys(kb.Enter)
	b.Arrived("/audit/kinds/4")
}
