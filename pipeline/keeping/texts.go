package keeping

import (
	"context"
	"unicode/utf8"

	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/verify/pair"
	"neardup/verify/rarity"
	"neardup/verify/tlcs"
)

const (
	// window is the width of the sketches' window, in code points. It is that of
	// the TLCS paper, whatever the settings of the run, so that a list means the
	// same for every method.
	window = 16

	preparedBytes = 64 << 20 // bytes of texts that a worker holds
	heldNames     = 1 << 11  // names of texts that it holds, of up to 5 kB each

	// scored limits the product of the lengths of two texts that are compared only
	// to show a score: that of two texts of text.max_columns. Larger ones take
	// seconds.
	scored = 200_000 * 200_000
)

// texts compares stored texts: whole, with templates, not only the columns that the
// run compared. Only one goroutine may use it.
type texts struct {
	ctx      context.Context
	w        *workspace.Workspace
	comparer *tlcs.Comparer
	lengths  map[string]int
	names    map[string]pair.Names
	prepared map[string]*tlcs.Document
	order    []string // keys of prepared, the oldest first
	bytes    int
}

func newTexts(ctx context.Context, w *workspace.Workspace) *texts {
	o := tlcs.Options{Window: window, Blocks: 1, Resemblance: 1, Containment: 1, Rounds: 1} // only the window matters
	return &texts{ctx: ctx, w: w, comparer: tlcs.NewComparer(o), lengths: map[string]int{}, names: map[string]pair.Names{}, prepared: map[string]*tlcs.Document{}}
}

func (t *texts) stored(text string) (string, error) {
	id, err := layout.ParseTextID(text)
	if err != nil {
		return "", err
	}
	return results.TextOf(t.w, id)
}

// Length implements keep.Texts.
func (t *texts) Length(text string) (int, error) {
	if n, ok := t.lengths[text]; ok {
		return n, nil
	}
	if len(t.lengths) > 1<<16 {
		clear(t.lengths)
	}
	s, err := t.stored(text)
	t.lengths[text] = utf8.RuneCountInString(s)
	return t.lengths[text], err
}

// document returns a text ready for comparison.
func (t *texts) document(text string) (*tlcs.Document, error) {
	if d, ok := t.prepared[text]; ok {
		return d, nil
	}
	s, err := t.stored(text)
	if err != nil {
		return nil, err
	}
	d := tlcs.Prepare(s, window)
	t.prepared[text], t.order, t.bytes = d, append(t.order, text), t.bytes+d.Bytes()
	for t.bytes > preparedBytes && len(t.order) > 1 {
		oldest := t.order[0]
		t.bytes -= t.prepared[oldest].Bytes()
		t.order = t.order[1:]
		delete(t.prepared, oldest)
	}
	return d, nil
}

// Common implements keep.Texts.
func (t *texts) Common(a, b string, need int) (int, error) {
	if t.ctx.Err() != nil {
		return 0, t.ctx.Err()
	}
	x, err := t.document(a)
	if err != nil {
		return 0, err
	}
	y, err := t.document(b)
	if err != nil {
		return 0, err
	}
	n, _ := t.comparer.InOrder(x, y, need)
	return n, nil
}

// DifferentSubjects implements keep.Texts.
func (t *texts) DifferentSubjects(a, b string) (bool, error) {
	x, err := t.named(a)
	if err != nil {
		return false, err
	}
	y, err := t.named(b)
	if err != nil {
		return false, err
	}
	return pair.DifferentSubjects(x, y), nil
}

// named returns a text with the names of its pages.
func (t *texts) named(text string) (*pair.Text, error) {
	id, err := layout.ParseTextID(text)
	if err != nil {
		return nil, err
	}
	names, ok := t.names[text]
	if !ok {
		if names, err = results.NamesOf(t.w, id); err != nil {
			return nil, err
		}
		if len(t.names) == heldNames {
			clear(t.names)
		}
		t.names[text] = names
	}
	stored, err := results.TextOf(t.w, id)
	if err != nil {
		return nil, err
	}
	return pair.Judge{}.Text(stored, rarity.Text{}).Named(names), nil
}

// Score implements keep.Texts.
func (t *texts) Score(a, b string) (common int, ok bool, err error) {
	n, err := t.Length(a)
	if err != nil {
		return 0, false, err
	}
	m, err := t.Length(b)
	if err != nil || int64(n)*int64(m) > scored {
		return 0, false, err
	}
	common, err = t.Common(a, b, 0)
	return common, true, err
}
