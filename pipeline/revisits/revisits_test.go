package revisits

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/extract"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
)

// plainly is Resolve, in memory and in rounds over all that are left. It returns the record
// IDs of captures by the places of revisits.
func plainly(captures []rows.Document, revisits []Revisit) map[string]string {
	type offer struct {
		chain byte
		date  string
		of    rows.Document
	}
	out := map[string]string{}
	for _, derived := range []bool{false, true} {
		offers := map[extract.Key][]offer{}
		put := func(keys []extract.Key, o offer) {
			for _, k := range keys {
				offers[k] = append(offers[k], o)
			}
		}
		for _, c := range captures {
			if c.Derived == derived {
				put(c.Keys(), offer{0, c.Date, c})
			}
		}
		for chain := range byte(maxChain) {
			linked := map[*Revisit]offer{}
			for i, v := range revisits {
				if out[string(v.Place)] != "" {
					continue
				}
				for _, k := range v.Document.Repeats.Keys(v.Document.TargetURI) {
					if len(offers[k]) > 0 {
						linked[&revisits[i]] = slices.MinFunc(offers[k], func(a, b offer) int {
							return cmp.Or(cmp.Compare(a.chain, b.chain), cmp.Compare(extract.DateOrder(a.date), extract.DateOrder(b.date)), bytes.Compare(a.of.ID[:], b.of.ID[:]))
						})
						break
					}
				}
			}
			if len(linked) == 0 {
				break
			}
			for v, o := range linked {
				out[string(v.Place)] = o.of.RecordID
				put(v.Document.Keys(), offer{chain + 1, v.Document.Date, o.of})
			}
		}
	}
	return out
}

// Revisits refer to captures, to each other, in circles and to nothing, by record IDs, dates
// and digests.
func TestResolvePlainly(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 99))
	some := func(format string, n int) string { return fmt.Sprintf(format, random.IntN(n)) }
	const uri, date, digest = "http://a.example/%d", "2020-01-0%dT00:00:00Z", "sha1:%032d"
	chained := 0
	for round := range 400 {
		captures := make([]rows.Document, 1+random.IntN(8))
		for i := range captures {
			d := &captures[i]
			d.ID, d.TextID, d.RecordID, d.TargetURI, d.Date, d.Derived = extract.ID{byte(i + 1)}, fmt.Sprintf("%032x", i+1), fmt.Sprintf("<urn:%d>", i), some(uri, 4), some(date, 5), random.IntN(3) == 0
			if random.IntN(2) == 0 {
				d.Digest = some(digest, 5)
			}
		}
		var revisits []Revisit
		for i := range random.IntN(60) {
			v := Revisit{Place: []byte{byte(i)}}
			v.Document.ID, v.Document.RecordID, v.Document.TargetURI, v.Document.Date = extract.ID{0xf0, byte(i)}, fmt.Sprintf("<urn:%d>", 100+i), some(uri, 4), some(date, 5)
			v.Document.Repeats = &extract.Reference{}
			kind := random.IntN(6)
			if round%10 == 0 { // one chain, longer than what is followed
				kind = 5 * min(i, 1)
			}
			switch r := v.Document.Repeats; kind {
			case 0:
				r.RecordID = some("urn:%d", 10)
			case 1:
				r.RecordID = fmt.Sprintf("urn:%d", 100+random.IntN(60))
			case 2:
				r.URI, r.Date = some(uri, 4), some(date, 5)
			case 3:
				r.Digest = some(digest, 7)
			default:
				r.RecordID = fmt.Sprintf("urn:%d", 99+i) // the one before
			}
			revisits = append(revisits, v)
		}
		want := plainly(captures, revisits)
		got := map[string]string{}
		dir := t.TempDir()
		asCaptures := iter.Seq2[Capture, error](func(yield func(Capture, error) bool) {
			for _, c := range captures {
				row := func() (rows.Document, error) { return c, nil }
				if !yield(Capture{ID: c.ID, Row: row, Brief: row}, nil) {
					return
				}
			}
		})
		asRevisits := iter.Seq2[Revisit, error](func(yield func(Revisit, error) bool) {
			for _, v := range revisits {
				if !yield(v, nil) {
					return
				}
			}
		})
		err := Resolve(t.Context(), asRevisits, asCaptures, func() *extsort.Sorter { return extsort.New(dir) }, func(v Revisit, text rows.TextID, page rows.Document) error {
			got[string(v.Place)] = page.RevisitOf
			if id, err := rows.ParseTextID(page.TextID); err != nil || id != text {
				t.Errorf("round %d: text %x of %+v", round, text, page)
			}
			return nil
		})
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("round %d: %q, %v, want %q", round, got, err, want)
		}
		for _, v := range revisits {
			if r := v.Document.Repeats.RecordID; len(r) == len("urn:100") && want[string(v.Place)] != "" {
				chained++
			}
		}
	}
	if chained < 1000 {
		t.Errorf("only %d revisits of revisits", chained)
	}
}
