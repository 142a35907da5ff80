package groups

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"testing"

	"neardup/report"
)

// Keys sort as pages do, whatever their strings have.
func TestPageKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		return []string{"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00", "a\x00b", "ab", "\xff", "\xff\x00"}[rng.IntN(12)]
	}
	page := func() (m report.Member) {
		for _, s := range []*string{&m.Date, &m.RecordID, &m.URI, &m.Digest, &m.WARC, &m.Document, &m.RevisitOf} {
			if rng.IntN(3) == 0 {
				*s = text()
			}
		}
		m.Offset = []int64{0, 1, 255, 256, 1 << 40, -1}[rng.IntN(6)]
		return m
	}
	equal := 0
	for range 200_000 {
		a, b := page(), page()
		if rng.IntN(4) == 0 {
			b = a
			b.Document = text()
		}
		if got, want := bytes.Compare(appendPageKey(nil, &a), appendPageKey(nil, &b)), ComparePages(a, b); got != want {
			t.Fatalf("%d, want %d: %+v and %+v", got, want, a, b)
		}
		got, want := bytes.Compare(appendPageOfTextKey(nil, &a), appendPageOfTextKey(nil, &b)), ComparePagesOfText(a, b)
		if got != cmp.Compare(want, 0) {
			t.Fatalf("of a text: %d, want %d: %+v and %+v", got, want, a, b)
		}
		if want == 0 {
			equal++
		}
	}
	if equal < 100 {
		t.Errorf("only %d pages were equal", equal)
	}
}
