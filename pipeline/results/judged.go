package results

import (
	"neardup/audit"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// States of a judged pair, besides those of package judged.
const (
	PairFollowed     = "followed"
	PairPending      = "pending" // the clusters are older than the judgement
	PairDisagreed    = "judges-disagree"
	PairMissing      = "missing"      // the workspace has no page with such a record ID
	PairAmbiguous    = "ambiguous"    // the pages with a record ID have more than MaxNamedTexts texts
	PairLeftOut      = "left-out"     // text.pages leaves out one of the pages
	PairSameText     = "same-text"    // both pages have the same text, so they cannot be separated
	PairContradicted = "contradicted" // other pairs separate what this pair joins
)

// JudgedOutcome is the closing's stored result for an enforced pair.
type JudgedOutcome struct {
	Verdict audit.Verdict `json:"verdict"`
	State   string        `json:"state"`
}

// StateOf returns the state of an enforced pair: PairFollowed, PairPending, or why
// the clusters do not follow it.
func StateOf(w *workspace.Workspace, e workspace.EnforcedPair) (string, error) {
	var o JudgedOutcome
	ok, err := w.DB.GetJSON(workspace.OutcomeKey(e.Pair), &o)
	if err == nil && (!ok || o.Verdict != e.Verdict) && e.Verdict != audit.Unknown {
		return PairPending, nil
	}
	if e.Verdict == audit.Unknown {
		return PairDisagreed, err
	}
	return o.State, err
}

// Former returns the representative of the cluster that a text would be in without
// judged pairs. ok is false if it would be in none.
func Former(w *workspace.Workspace, t rows.TextID) (representative rows.TextID, ok bool, err error) {
	v, moved, err := w.DB.Get(layout.FormerKey(t))
	switch {
	case err != nil:
		return t, false, err
	case !moved:
		return ClusterOf(w, t)
	case len(v) == 0:
		return t, false, nil
	case len(v) != len(t):
		return t, false, layout.Corrupt(layout.FormerKey(t))
	}
	return rows.TextID(v), true, nil
}
