package groups

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"neardup/extract"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/report"
)

// ComparePagesOfText orders captures before revisits, and each by date.
func ComparePagesOfText(a, b report.Member) int {
	return cmp.Or(report.FalseFirst(a.RevisitOf != "", b.RevisitOf != ""), ComparePages(a, b))
}

// Wanted is a text whose pages are wanted, with its group.
type Wanted struct{ Group, Text rows.TextID }

// TextPages are the pages that have a text: captures before revisits, each by date. Those
// of a text of many pages may come in parts, one after another.
type TextPages struct {
	Wanted
	Pages []report.Member
	From  int  // pages of the parts before
	More  bool // another part follows
}

// Merge merges two sequences that are sorted by text.
func Merge(a, b iter.Seq2[Wanted, error]) iter.Seq2[Wanted, error] {
	return func(yield func(Wanted, error) bool) {
		next, stop := iter.Pull2(b)
		defer stop()
		y, yErr, more := next()
		upTo := func(t *rows.TextID) bool { // yields those of b before t; nil: all
			for more && (yErr != nil || t == nil || rows.CompareTexts(y.Text, *t) < 0) {
				if !yield(y, yErr) || yErr != nil {
					return false
				}
				y, yErr, more = next()
			}
			return true
		}
		for x, err := range a {
			if err == nil && !upTo(&x.Text) || !yield(x, err) || err != nil {
				return
			}
		}
		upTo(nil)
	}
}

// Occurrences emits the documents that have the wanted texts, by the rows of
// TableOccurrence, each with the group and the text. Rows and texts come sorted; a
// text may come in several groups and several times.
func Occurrences(ctx context.Context, occurrences iter.Seq2[layout.Row, error], wanted iter.Seq2[Wanted, error], to func(key, value []byte) error) error {
	next, stop := iter.Pull2(wanted)
	defer stop()
	w, err, more := next()
	if err != nil || !more {
		return err
	}
	var text rows.TextID
	var groups []rows.TextID // groups of the present text
	n := 0
	for r, err := range occurrences {
		if n++; n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		t, d, err := layout.ParseOccurrenceKey(r.Key())
		if t != text {
			text, groups = t, groups[:0]
		}
		for err == nil && more && rows.CompareTexts(w.Text, t) <= 0 {
			if w.Text == t && !slices.Contains(groups, w.Group) {
				groups = append(groups, w.Group)
			}
			w, err, more = next()
		}
		for _, group := range groups {
			err = errors.Join(err, to(slices.Concat(d[:], group[:], t[:]), nil))
		}
		if err != nil || !more && len(groups) == 0 {
			return err
		}
	}
	return nil
}

// Documents emits the pages that are wanted, by the rows of TableDocument: group, text
// and docID → the document's place and row. wanted has what Occurrences emitted,
// sorted. If several files hold a document, the first by name counts.
func Documents(ctx context.Context, documents iter.Seq2[layout.Row, error], wanted iter.Seq2[extsort.Entry, error], to func(key, value []byte) error) error {
	next, stop := iter.Pull2(wanted)
	defer stop()
	w, err, more := next()
	if err != nil || !more {
		return err
	}
	n := 0
	var key, head []byte // what is emitted, which to copies
	for r, err := range documents {
		if n++; n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		id, _, _, err := layout.ParseDocumentKey(r.Key())
		if err != nil {
			return err
		}
		switch c := bytes.Compare(w.Key[:len(id)], id[:]); {
		case c > 0: // an unwanted document, or another file with the previous document
			continue
		case c < 0:
			return fmt.Errorf("no document: %w", layout.Corrupt(w.Key))
		}
		head, err = appendDocument(head[:0], r)
		if err == nil {
			for err == nil && more && bytes.HasPrefix(w.Key, id[:]) {
				key = append(append(key[:0], w.Key[len(id):]...), id[:]...)
				if err = to(key, head); err == nil {
					w, err, more = next()
				}
			}
		}
		if err != nil || !more {
			return err
		}
	}
	return fmt.Errorf("no document: %w", layout.Corrupt(w.Key))
}

// Pages yields what Documents emitted, sorted, text by text. A text of more than PartPages
// pages comes in parts, which are sorted in files in dir.
func Pages(ctx context.Context, sorted iter.Seq2[extsort.Entry, error], dir string) iter.Seq2[TextPages, error] {
	return func(yield func(TextPages, error) bool) {
		if err := eachText(ctx, sorted, dir, func(t TextPages) bool { return yield(t, nil) }); err != nil && !errors.Is(err, errEnough) {
			yield(TextPages{}, err)
		}
	}
}

func eachText(ctx context.Context, sorted iter.Seq2[extsort.Entry, error], dir string, yield func(TextPages) bool) error {
	var present TextPages
	pages := pile{dir: dir} // of the present text
	defer pages.clear()
	flush := func() error {
		if pages.empty() {
			return ctx.Err()
		}
		defer pages.clear()
		if pages.large != nil {
			return errors.Join(pages.large.pages(present, yield), ctx.Err())
		}
		present.Pages = make([]report.Member, len(pages.held)) // yield may keep them
		for i, p := range pages.held {
			present.Pages[i] = p.Member
		}
		slices.SortFunc(present.Pages, ComparePagesOfText)
		return errors.Join(end(yield(present)), ctx.Err())
	}
	for e, err := range sorted {
		var p gathered
		if err == nil {
			p, err = parseGathered(e)
		}
		if err == nil && p.Wanted != present.Wanted {
			err = flush()
		}
		if present = (TextPages{Wanted: p.Wanted}); err == nil {
			err = pages.add(p)
		}
		if err != nil {
			return err
		}
	}
	return flush()
}

// appendDocument appends a row of TableDocument: its place with its length[2], and the
// document.
func appendDocument(b []byte, r layout.Row) ([]byte, error) {
	v, err := r.Value()
	if err != nil {
		return nil, err
	}
	place := r.Place()
	b = append(append(b, byte(len(place)>>8), byte(len(place))), place...)
	return append(b, v...), nil
}

// Gathered returns what Documents emits for a page of a wanted text, by its row of
// TableDocument.
func Gathered(w Wanted, r layout.Row) (e extsort.Entry, err error) {
	id, _, _, err := layout.ParseDocumentKey(r.Key())
	if err != nil {
		return e, err
	}
	e.Key = slices.Concat(w.Group[:], w.Text[:], id[:])
	e.Value, err = appendDocument(nil, r)
	return e, err
}

// gathered is a page that Documents emitted.
type gathered struct {
	Wanted
	id       extract.ID
	document string // of appendDocument
	report.Member
}

func parseGathered(e extsort.Entry) (g gathered, err error) {
	if len(e.Key) != 3*16 {
		return g, layout.Corrupt(e.Key)
	}
	g.Group, g.Wanted.Text, g.id, g.document = rows.TextID(e.Key), rows.TextID(e.Key[16:]), extract.ID(e.Key[32:]), string(e.Value)
	g.Member, err = parseMember(g.id, g.document)
	return g, err
}

// parseMember parses what appendDocument made.
func parseMember(id extract.ID, document string) (m report.Member, err error) {
	if len(document) < 2 {
		return m, layout.Corrupt(id[:])
	}
	n := int(document[0])<<8 | int(document[1])
	if len(document) < 2+n {
		return m, layout.Corrupt(id[:])
	}
	file, offset, err := layout.ParsePlace([]byte(document[2 : 2+n]))
	if err != nil {
		return m, err
	}
	d, err := parseView(document[2+n:])
	if err != nil {
		return m, fmt.Errorf("%w: document %s (%w)", layout.ErrCorrupt, id, err)
	}
	return d.Member(id, file, offset), nil
}
