package workspace

import (
	"fmt"

	"neardup/pipeline/layout"
	"neardup/pipeline/store"
)

// Preference is a list of page scores or of preferred hosts that people added to the
// workspace: where it came from, and what it has. TablePreferred holds its content.
// Lists belong to no stage, so no run clears them.
type Preference struct {
	Name    string         `json:"name"`
	Kind    PreferenceKind `json:"kind"`
	Path    string         `json:"path"` // as given
	Size    int64          `json:"size"`
	SHA256  string         `json:"sha256"`
	Lines   int64          `json:"lines"`
	Entries int64          `json:"entries"` // different URIs or hosts
	Digest  string         `json:"digest"`  // of the entries
	Added   string         `json:"added"`
	Why     string         `json:"why,omitempty"`
	Number  uint32         `json:"number"` // its place among the lists
}

// PreferenceKind says what a list has.
type PreferenceKind string

// The kinds of lists.
const (
	KindScores PreferenceKind = "scores"
	KindHosts  PreferenceKind = "hosts"
)

// Preferences returns the lists in their order.
func (w *Workspace) Preferences() (out []Preference, err error) {
	for r, err := range w.DB.Table(layout.TablePreference) {
		if err != nil {
			return nil, err
		}
		var p Preference
		if err := r.JSON(&p); err != nil {
			return nil, err
		}
		if n, err := r.PreferenceNumber(); err != nil || n != p.Number {
			return nil, layout.Corrupt(r.Key())
		}
		out = append(out, p)
	}
	return out, nil
}

// ScoreLists returns the lists of scores that a run with this workspace follows. A
// trial follows none.
func (w *Workspace) ScoreLists() ([]Preference, error) {
	if w.trial != nil {
		return nil, nil
	}
	all, err := w.Preferences()
	return OfKind(all, KindScores), err
}

// OfKind returns the lists of one kind.
func OfKind(all []Preference, kind PreferenceKind) (out []Preference) {
	for _, p := range all {
		if p.Kind == kind {
			out = append(out, p)
		}
	}
	return out
}

// ScoreSet identifies the scores of all lists, whatever the names of the lists.
type ScoreSet struct {
	Lists  int    `json:"lists"`
	Digest string `json:"digest"`
}

func newScoreSet(lists []Preference) ScoreSet {
	if len(lists) == 0 {
		return ScoreSet{}
	}
	var digests []any
	for _, p := range lists {
		digests = append(digests, p.Digest)
	}
	return ScoreSet{len(lists), Digest(digests...)}
}

// checkScores returns an error if there are scores from two places.
func (w *Workspace) checkScores(lists []Preference) error {
	if len(lists) == 0 || w.Config.Cluster.Quality == "" {
		return nil
	}
	return fmt.Errorf("%w: cluster.quality names a file, and the workspace has scores, too (%s); leave one of them out: --set cluster.quality= or neardup prefer drop %[2]s",
		ErrUsage, lists[0].Name)
}

// WritePreferences calls write, which changes lists in the database, all or nothing. The
// manifest has them when it returns.
func (w *Workspace) WritePreferences(write func(db *store.DB) error) error {
	if w.ReadOnly() {
		return fmt.Errorf("nothing can be written: %w", w.why)
	}
	if err := write(w.DB); err != nil {
		return w.ExplainError(err)
	}
	return w.ExplainError(w.Publish())
}
