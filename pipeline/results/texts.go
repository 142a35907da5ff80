package results

import (
	"encoding/hex"
	"fmt"
	"iter"

	"neardup/configs"
	"neardup/explain"
	"neardup/extract"
	"neardup/extract/text"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/verify/pair"
)

// TextOf returns a text as it is stored.
func TextOf(w *workspace.Workspace, t rows.TextID) (string, error) {
	value, ok, err := w.DB.Get(layout.TextKey(t))
	if err == nil && !ok {
		err = layout.Corrupt(layout.TextKey(t))
	}
	return string(value), err
}

// VisibleOf returns the whole visible text of a page. stored is the page's text;
// what is around its main content is added. A revisit has nothing around the text
// that it takes from a capture.
func VisibleOf(w *workspace.Workspace, m report.Member, stored string) (string, error) {
	id, err := hex.DecodeString(m.Document)
	if err != nil || len(id) != len(extract.ID{}) {
		return "", fmt.Errorf("%w: document id %q", layout.ErrCorrupt, m.Document)
	}
	k := layout.AroundKey(extract.ID(id), m.Source, m.Offset)
	value, ok, err := w.DB.Get(k)
	if err != nil || !ok {
		return stored, err
	}
	marks, around, ok := layout.ParseAround(value)
	if !ok {
		return "", layout.Corrupt(k)
	}
	visible, ok := marks.Whole(stored, around)
	if !ok {
		return "", layout.Corrupt(k)
	}
	return visible, nil
}

// Around yields, by document, the units of the visible text around the main content of
// the pages that have a site and such text. Each is valid until the next step.
func Around(w *workspace.Workspace) iter.Seq2[dataflow.AroundUnits, error] {
	return func(yield func(dataflow.AroundUnits, error) bool) {
		var a dataflow.AroundUnits
		for r, err := range w.DB.Table(layout.TableUnitsRound) {
			if err == nil {
				a.Page.Site, a.Page.Address, a.Exact, err = r.UnitsRound(a.Exact)
			}
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}

// LeftOut reports whether the text is not compared because only navigation pages
// have it.
func LeftOut(w *workspace.Workspace, t rows.TextID) (bool, error) {
	if w.Config.Text.Pages != configs.PagesTopic {
		return false, nil
	}
	for r, err := range w.DB.Rows(layout.PrefixBounds(layout.OccurrencesOf(t))) {
		if err != nil {
			return false, err
		}
		o, err := r.Occurrence()
		if err != nil || !o.Navigation {
			return false, err
		}
	}
	return true, nil
}

// Reader reads texts in the form in which they are compared. Goroutines can share
// it.
type Reader struct {
	w              *workspace.Workspace
	frames, common *Common
}

// OpenReader returns a reader that looks up common sentences on disk. It is for few
// texts.
func OpenReader(w *workspace.Workspace) *Reader {
	return &Reader{w, OpenCommon(w, layout.TableFrame), OpenCommon(w, layout.TableCommon)}
}

// LoadReader returns a reader that holds the common sentences in memory if they are
// not too many.
func LoadReader(w *workspace.Workspace) (*Reader, error) {
	r, err := LoadFrames(w)
	if err != nil {
		return nil, err
	}
	r.common, err = LoadCommon(w, layout.TableCommon)
	return r, err
}

// LoadFrames is LoadReader for callers that weigh nothing by rarity.
func LoadFrames(w *workspace.Workspace) (*Reader, error) {
	frames, err := LoadCommon(w, layout.TableFrame)
	return &Reader{w, frames, OpenCommon(w, layout.TableCommon)}, err
}

// Frames returns the number of pages that have a sentence of a frame.
func (r *Reader) Frames(sentence uint64) (int, error) { return r.frames.PagesOf(sentence) }

// Text returns a stored text with its sites, if a reading needs them.
func (r *Reader) Text(id rows.TextID, stored string) (t dataflow.Text, err error) {
	t = dataflow.Text{ID: id, Text: stored}
	if r.w.Config.Text.Frames > 0 || r.w.Config.Verify.RarePages > 0 {
		t.Sites, t.Names, err = placesOf(r.w, id)
	}
	return t, err
}

// Readings returns the readings of a text.
func (r *Reader) Readings(id rows.TextID, stored string) (dataflow.Readings, error) {
	t, err := r.Text(id, stored)
	if err != nil {
		return dataflow.Readings{}, err
	}
	return dataflow.Read(r.w.Config, t, r.frames.PagesOf)
}

// Clean returns a text without the frames of its sites, or as it is stored if too little
// would be left. framed reports whether it has a frame.
func (r *Reader) Clean(id rows.TextID, stored string) (own string, framed bool, err error) {
	t, err := r.Text(id, stored)
	if err != nil {
		return "", false, err
	}
	return dataflow.Clean(r.w.Config, t, r.frames.PagesOf)
}

// Pages returns the number of pages of each common sentence of a text, by unit.
func (r *Reader) Pages(id rows.TextID, compared string) (map[uint64]int, error) {
	return r.common.Pages(id, compared)
}

// Prepare returns a stored text, ready for comparison.
func (r *Reader) Prepare(j pair.Judge, id rows.TextID) (*pair.Text, error) {
	stored, err := TextOf(r.w, id)
	if err != nil {
		return nil, err
	}
	t, err := r.Text(id, stored)
	if err != nil {
		return nil, err
	}
	return r.PrepareText(j, t)
}

// PrepareText returns a text that need not be stored, ready for comparison.
func (r *Reader) PrepareText(j pair.Judge, t dataflow.Text) (*pair.Text, error) {
	return dataflow.Prepare(r.w.Config, j, t, r.frames.PagesOf, r.common.PagesOf)
}

// Compared holds two texts by the readings that decide about them.
type Compared struct {
	Texts [2]string
	explain.Between
}

// Compare returns two texts by the readings that decide about them. If the method
// has no measure, these are the texts without frames.
func (r *Reader) Compare(a, b rows.TextID) (c Compared, err error) {
	config, err := r.w.Method()
	if err != nil {
		return c, err
	}
	j := dataflow.Judge(config)
	if j.Measure == nil {
		for i, id := range [2]rows.TextID{a, b} {
			stored, err := TextOf(r.w, id)
			if err != nil {
				return c, err
			}
			readings, err := r.Readings(id, stored)
			if err != nil {
				return c, err
			}
			c.Texts[i] = readings.Own
		}
		return c, nil
	}
	x, err := r.Prepare(j, a)
	if err != nil {
		return c, err
	}
	y, err := r.Prepare(j, b)
	if err != nil {
		return c, err
	}
	d := j.Decide(j.Measure.Comparer(), x, y)
	between := explain.Between{Weighed: d.Weighed, OtherPages: j.OtherPages(x, y), OtherSubjects: j.OtherSubjects(x, y), OtherNumbers: j.OtherNumbers(x, y, d.Texts)}
	if d.ComparedAgain() {
		again := &explain.Again{Decides: d.Regained}
		var texts [2]*pair.Text
		texts, again.Rare = j.Regained(x, y)
		for i, own := range [2]*pair.Text{x.Own(), y.Own()} {
			again.Texts[i], again.Regains[i] = texts[i].Compared(), texts[i] != own
		}
		between.Again = again
	}
	return Compared{[2]string{d.Texts[0].Compared(), d.Texts[1].Compared()}, between}, nil
}

// ComparedTexts yields the texts that are compared, each whole and cut at
// text.max_columns.
func ComparedTexts(w *workspace.Workspace) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for r, err := range w.DB.Table(layout.TableText) {
			var t string
			left := false
			if err == nil {
				t, left, err = comparedText(w, r)
			}
			if !left && !yield(t, err) || err != nil {
				return
			}
		}
	}
}

func comparedText(w *workspace.Workspace, r layout.Row) (t string, left bool, err error) {
	id, err := r.TextID()
	if err != nil {
		return "", false, err
	}
	if left, err = LeftOut(w, id); err != nil || left {
		return "", left, err
	}
	value, err := r.Value()
	return text.Cut(string(value), w.Config.Text.MaxColumns), false, err
}
