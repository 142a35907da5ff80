package results

import (
	"encoding/binary"

	"neardup/configs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
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

// TemplatesIn returns the numbers of those of the text's sentences that are left
// out, sorted.
func TemplatesIn(w *workspace.Workspace, t rows.TextID) ([]uint32, error) {
	if w.Config.Text.Templates == 0 {
		return nil, nil
	}
	s, err := w.DB.Seeker(store.TableTemplate)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	return SeekTemplates(s, t)
}

// SeekTemplates does what TemplatesIn does with a seeker of store.TableTemplate.
func SeekTemplates(s *store.Seeker, t rows.TextID) (numbers []uint32, err error) {
	prefix := store.Key(store.TableTemplate, t[:])
	for r, err := range s.Rows(prefix) {
		if err != nil {
			return nil, err
		}
		if len(r.Key()) != store.TemplateSize {
			return nil, store.Corrupt(r.Key())
		}
		numbers = append(numbers, binary.BigEndian.Uint32(r.Key()[len(prefix):]))
	}
	return numbers, nil
}

// ComparedText returns the part of a stored text that is compared.
func ComparedText(w *workspace.Workspace, t rows.TextID, stored string) (string, error) {
	numbers, err := TemplatesIn(w, t)
	return dataflow.Compared(w.Config, dataflow.Text{ID: t, Text: stored, Templates: numbers}), err
}
