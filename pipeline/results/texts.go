package results

import (
	"neardup/configs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify/pair"
)

// TextOf returns a text as stored.
func TextOf(w *workspace.Workspace, t rows.TextID) (string, error) {
	value, ok, err := w.DB.Get(store.TextKey(t))
	if err == nil && !ok {
		err = store.Corrupt(store.TextKey(t))
	}
	return string(value), err
}

// LeftOut reports whether the text is not compared because only navigation pages
// have it.
func LeftOut(w *workspace.Workspace, t rows.TextID) (bool, error) {
	if w.Config.Text.Pages != configs.PagesTopic {
		return false, nil
	}
	for r, err := range w.DB.Rows(store.PrefixBounds(store.Key(store.TableOccurrence, t[:]))) {
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

// Reader reads texts as they are compared. Goroutines can share it.
type Reader struct {
	w              *workspace.Workspace
	frames, common *Common
}

// OpenReader looks up one by one how common sentences are, for few texts.
func OpenReader(w *workspace.Workspace) *Reader {
	return &Reader{w, OpenCommon(w, store.TableFrame), OpenCommon(w, store.TableCommon)}
}

// LoadReader looks up in memory how common sentences are, if that is not too much.
func LoadReader(w *workspace.Workspace) (*Reader, error) {
	frames, err := LoadCommon(w, store.TableFrame)
	if err != nil {
		return nil, err
	}
	common, err := LoadCommon(w, store.TableCommon)
	return &Reader{w, frames, common}, err
}

// Frames tells how common sentences are that are of a frame.
func (r *Reader) Frames(sentence uint64) (int, error) { return r.frames.PagesOf(sentence) }

// Text is a text, which is stored as given, with its sites.
func (r *Reader) Text(id rows.TextID, stored string) (t dataflow.Text, err error) {
	t = dataflow.Text{ID: id, Text: stored}
	t.Sites, err = sitesOf(r.w, id)
	return t, err
}

// Readings returns the ways in which a text is compared.
func (r *Reader) Readings(id rows.TextID, stored string) (dataflow.Readings, error) {
	t, err := r.Text(id, stored)
	if err != nil {
		return dataflow.Readings{}, err
	}
	return dataflow.Read(r.w.Config, t, r.frames.PagesOf)
}

// WithoutFrames returns a text without the frames of its sites.
func (r *Reader) WithoutFrames(id rows.TextID, stored string) (string, error) {
	t, err := r.Text(id, stored)
	if err != nil {
		return "", err
	}
	return dataflow.WithoutFrames(r.w.Config, t, r.frames.PagesOf)
}

// Pages gives the pages of the common sentences of a text, by their units.
func (r *Reader) Pages(id rows.TextID, compared string) (map[uint64]int, error) {
	return r.common.Pages(id, compared)
}

// Prepare makes a text ready for comparison.
func (r *Reader) Prepare(j pair.Judge, id rows.TextID) (*pair.Text, error) {
	stored, err := TextOf(r.w, id)
	if err != nil {
		return nil, err
	}
	t, err := r.Text(id, stored)
	if err != nil {
		return nil, err
	}
	return dataflow.Prepare(r.w.Config, j, t, r.frames.PagesOf, r.common.PagesOf)
}

// Compared is two texts by the readings that decide about them.
type Compared struct {
	Texts   [2]string
	Weighed bool // what the two share is weighed by its rarity
}

// Compare returns two texts by the readings that decide about them. Where the search
// finds what is near, these are the texts without frames.
func (r *Reader) Compare(a, b rows.TextID) (c Compared, err error) {
	j := dataflow.Judge(r.w.Config)
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
	return Compared{[2]string{d.Texts[0].Compared(), d.Texts[1].Compared()}, d.Weighed}, nil
}
