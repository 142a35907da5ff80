package keeping

import (
	"errors"
	"iter"
	"testing"

	"neardup/extract"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
)

// key is a row that is only a key.
type key []byte

func (k key) Key() []byte                  { return k }
func (k key) ValueAndErr() ([]byte, error) { return nil, nil }

// then yields the items, and then the error if it is not nil.
func then[T any](items []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// The texts in no cluster are found, and an error of either table or a row that
// cannot be parsed ends the search with the error.
func TestUnassigned(t *testing.T) {
	broken := errors.New("broken")
	row := func(text, page byte) layout.Row {
		return layout.RowOf(key(layout.OccurrenceKey(rows.TextID{text}, extract.ID{page})))
	}
	occurrences := []layout.Row{row(1, 1), row(2, 2), row(2, 3), row(3, 4), row(4, 5), row(5, 6), row(5, 7)}
	clustered := []groups.Wanted{{Text: rows.TextID{1}}, {Text: rows.TextID{3}}}
	damaged := layout.RowOf(key{layout.TableOccurrence, 5})
	for name, tt := range map[string]struct {
		occurrences iter.Seq2[layout.Row, error]
		clustered   iter.Seq2[groups.Wanted, error]
		want        string
		err         error
	}{
		"both":                               {then(occurrences, nil), then(clustered, nil), "\x02\x04\x05", nil},
		"no cluster":                         {then(occurrences, nil), then[groups.Wanted](nil, nil), "\x01\x02\x03\x04\x05", nil},
		"pages that cannot be read":          {then(occurrences[:4], broken), then(clustered, nil), "\x02", broken},
		"a page that cannot be parsed":       {then(append(occurrences[:3:3], damaged, row(6, 8)), nil), then(clustered, nil), "\x02", layout.ErrCorrupt},
		"clusters that cannot be read":       {then(occurrences, nil), then[groups.Wanted](nil, broken), "", broken},
		"clusters that end with an error":    {then(occurrences, nil), then(clustered[:1], broken), "", broken},
		"no pages, and clusters not read":    {then[layout.Row](nil, nil), then[groups.Wanted](nil, broken), "", broken},
		"an error of both":                   {then[layout.Row](nil, layout.ErrCorrupt), then[groups.Wanted](nil, broken), "", broken},
		"an error of both, the pages' error": {then[layout.Row](nil, layout.ErrCorrupt), then[groups.Wanted](nil, broken), "", layout.ErrCorrupt},
	} {
		got, ended := "", false
		for w, err := range unassigned(tt.occurrences, tt.clustered) {
			switch {
			case ended:
				t.Errorf("%s: goes on after an error", name)
			case err != nil:
				if ended = true; !errors.Is(err, tt.err) {
					t.Errorf("%s: %v, want %v", name, err, tt.err)
				}
			case w.Group != w.Text:
				t.Errorf("%s: the text %x is in the group %x", name, w.Text, w.Group)
			default:
				got += string(w.Text[:1])
			}
		}
		if got != tt.want || ended != (tt.err != nil) {
			t.Errorf("%s: texts %x, want %x; an error: %v", name, got, tt.want, ended)
		}
	}
	for range unassigned(then(occurrences, nil), then(clustered, nil)) {
		break // the reader may stop
	}
}
