package results

import (
	"cmp"
	"errors"
	"iter"
	"slices"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/verify/pair"
)

// TextUnits are the units of a text, and on each of its sites the page with the
// smallest address.
type TextUnits struct {
	ID    rows.TextID
	Units rows.Units
	Pages []dataflow.SitePage // by site
	Names pair.Names
}

// TextsWithUnits yields all texts, in order. Each is valid until the next step.
func TextsWithUnits(w *workspace.Workspace) iter.Seq2[*TextUnits, error] {
	return func(yield func(*TextUnits, error) bool) {
		next, stop := iter.Pull2(w.DB.Table(layout.TableOccurrence))
		defer stop()
		o, err, more := next()
		t := &TextUnits{}
		for r, uerr := range w.DB.Table(layout.TableUnits) {
			if uerr == nil {
				t.ID, uerr = r.TextID()
			}
			if err := errors.Join(uerr, err); err != nil {
				yield(nil, err)
				return
			}
			t.Pages, t.Names = t.Pages[:0], pair.Names{}
			for more && err == nil {
				var of rows.TextID
				if of, _, err = layout.ParseOccurrenceKey(o.Key()); err != nil {
					break
				}
				order := rows.CompareTexts(of, t.ID)
				if order > 0 {
					break
				}
				if order == 0 {
					var page rows.Occurrence
					page, err = o.Occurrence()
					t.Names.Add(page.Address, page.Title)
					if page.Site != rows.NoSite {
						t.Pages = append(t.Pages, dataflow.SitePage{Site: page.Site, Address: page.Address})
					}
				}
				if err == nil {
					o, err, more = next()
				}
			}
			t.keepSmallest()
			if err = errors.Join(err, r.Units(&t.Units)); !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// keepSmallest leaves the page with the smallest address on each site.
func (t *TextUnits) keepSmallest() {
	slices.SortFunc(t.Pages, func(a, b dataflow.SitePage) int {
		return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Address, b.Address))
	})
	t.Pages = slices.CompactFunc(t.Pages, func(a, b dataflow.SitePage) bool { return a.Site == b.Site })
}

// Sites returns the sites that have the text, sorted.
func (t *TextUnits) Sites() (sites []uint64) {
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
