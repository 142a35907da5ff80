package results

import (
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"github.com/cespare/xxhash/v2"

	"neardup/extract"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify/pair"
)

// TextPages are the pages that have a text: on each of its sites the one with the
// smallest address.
type TextPages struct {
	ID rows.TextID
	rows.Counted
}

// TextsWithPages yields all texts that pages have, in order. Each is valid until the
// next step.
func TextsWithPages(w *workspace.Workspace) iter.Seq2[*TextPages, error] {
	return func(yield func(*TextPages, error) bool) {
		for t, err := range occurring(w.DB.Table(layout.TableOccurrence), false) {
			if !yield(&t.TextPages, err) || err != nil {
				return
			}
		}
	}
}

// NamedText has what names the pages of a text, too.
type NamedText struct {
	TextPages
	Names pair.Names
}

// NamedTexts yields the same as TextsWithPages, with names.
func NamedTexts(w *workspace.Workspace) iter.Seq2[*NamedText, error] {
	return occurring(w.DB.Table(layout.TableOccurrence), true)
}

// TextUnits are the units and the pages of a text.
type TextUnits struct {
	TextPages
	Units rows.Units
}

// occurring yields the texts of rows of TableOccurrence, with names if these are wanted.
func occurring(pages iter.Seq2[layout.Row, error], named bool) iter.Seq2[*NamedText, error] {
	return func(yield func(*NamedText, error) bool) {
		t, begun := &NamedText{}, false
		send := func() bool {
			t.keepSmallest()
			slices.Sort(t.Documents)
			return yield(t, nil)
		}
		for r, err := range pages {
			var of rows.TextID
			var d extract.ID
			var page rows.SitePage
			var o rows.Occurrence
			if err == nil {
				of, d, err = layout.ParseOccurrenceKey(r.Key())
			}
			if err == nil {
				page, err = r.SitePage()
			}
			if err == nil && named {
				o, err = r.Occurrence()
			}
			if err != nil {
				yield(t, err)
				return
			}
			if begun && of != t.ID {
				if !send() {
					return
				}
			}
			if !begun || of != t.ID {
				begun = true
				t.ID, t.Documents, t.Pages, t.Names = of, t.Documents[:0], t.Pages[:0], pair.Names{}
			}
			t.Documents = append(t.Documents, CountedDocument(d, page))
			if named {
				t.Names.Add(page.Address, o.Title)
			}
			if page.Site != rows.NoSite {
				t.Pages = append(t.Pages, page)
			}
		}
		if begun {
			send()
		}
	}
}

// CountedDocument returns the hash of a document and its page in rows.Counted.
func CountedDocument(d extract.ID, p rows.SitePage) uint64 {
	b := append(make([]byte, 0, len(d)+8+8), d[:]...)
	b = binary.BigEndian.AppendUint64(b, p.Site)
	return xxhash.Sum64(binary.BigEndian.AppendUint64(b, p.Address))
}

// TextsWithUnits yields all texts, in order. Each is valid until the next step.
func TextsWithUnits(w *workspace.Workspace) iter.Seq2[*TextUnits, error] {
	return func(yield func(*TextUnits, error) bool) {
		next, stop := iter.Pull2(TextsWithPages(w))
		defer stop()
		t, err, more := next()
		of, none := &TextUnits{}, TextPages{}
		for r, uerr := range w.DB.Table(layout.TableUnits) {
			var id rows.TextID
			if uerr == nil {
				id, uerr = r.TextID()
			}
			for uerr == nil && more && err == nil && rows.CompareTexts(t.ID, id) < 0 {
				t, err, more = next()
			}
			if err := errors.Join(uerr, err); err != nil {
				yield(nil, err)
				return
			}
			if of.TextPages = none; more && t.ID == id {
				of.TextPages = *t
			}
			of.ID = id // also if no page has it
			if err := r.Units(&of.Units); !yield(of, err) || err != nil {
				return
			}
		}
	}
}

// UnitsFinder looks up single texts with their units and pages.
type UnitsFinder struct{ units, occurrences *store.Seeker }

// NewUnitsFinder returns a finder. The caller closes it.
func NewUnitsFinder(s *store.DB) (*UnitsFinder, error) {
	units, err := s.Seeker(layout.TableUnits)
	if err != nil {
		return nil, err
	}
	occurrences, err := s.Seeker(layout.TableOccurrence)
	if err != nil {
		return nil, errors.Join(err, units.Close())
	}
	return &UnitsFinder{units, occurrences}, nil
}

func (f *UnitsFinder) Close() {
	_ = f.units.Close() // the lookups have reported its errors
	_ = f.occurrences.Close()
}

// Text returns a text.
func (f *UnitsFinder) Text(id rows.TextID) (*TextUnits, error) {
	t := &TextUnits{TextPages: TextPages{ID: id}}
	r, ok, err := f.units.Get(layout.UnitsKey(id))
	if err == nil && !ok {
		err = layout.Corrupt(layout.UnitsKey(id))
	}
	if err == nil {
		err = r.Units(&t.Units)
	}
	if err != nil {
		return nil, err
	}
	for of, err := range occurring(f.occurrences.FewRows(layout.OccurrencesOf(id)), false) {
		if err != nil {
			return nil, err
		}
		t.TextPages = of.TextPages
	}
	return t, nil
}

// keepSmallest leaves the page with the smallest address on each site.
func (t *TextPages) keepSmallest() {
	slices.SortFunc(t.Pages, func(a, b rows.SitePage) int {
		return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Address, b.Address))
	})
	t.Pages = slices.CompactFunc(t.Pages, func(a, b rows.SitePage) bool { return a.Site == b.Site })
}

// Sites returns the sites that have the text, sorted.
func (t *TextPages) Sites() (sites []uint64) {
	for _, p := range t.Pages {
		sites = append(sites, p.Site)
	}
	return sites
}

// SignedText is a row of TableSigned.
type SignedText struct {
	ID rows.TextID
	rows.Signed
}

// SignedTexts yields the signed texts, in order.
func SignedTexts(w *workspace.Workspace) iter.Seq2[SignedText, error] {
	return func(yield func(SignedText, error) bool) {
		for r, err := range w.DB.Table(layout.TableSigned) {
			var t SignedText
			if err == nil {
				t.ID, err = r.TextID()
			}
			if err == nil {
				t.Signed, err = r.Signed()
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}
