package explaining

import (
	"neardup/audit"
	"neardup/explain"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// judgedBy adds the judgements of the two pages that clusters have to follow, and
// the effect of judged pairs on their texts.
func (p *explained) judgedBy(r *explain.Run) error {
	pair, err := p.EnforcedPair(audit.NewPair(p.pages[0].RecordID, p.pages[1].RecordID))
	if err != nil {
		return err
	}
	if len(pair.Judges) > 0 {
		state, err := results.StateOf(p.Workspace, pair)
		if err != nil {
			return err
		}
		r.Judged = &explain.Judged{Verdict: string(pair.Verdict), Judges: pair.Judges, State: state}
	}
	if r.SameText {
		return nil
	}
	together := func(cluster func(*workspace.Workspace, rows.TextID) (rows.TextID, bool, error)) (bool, error) {
		a, in, err := cluster(p.Workspace, p.texts[0])
		if err != nil || !in {
			return false, err
		}
		b, in, err := cluster(p.Workspace, p.texts[1])
		return in && a == b, err
	}
	now, err := together(results.ClusterOf)
	if err != nil {
		return err
	}
	before, err := together(results.Former)
	switch {
	case now && !before:
		r.ByJudged = "joined"
	case before && !now:
		r.ByJudged = "parted"
	}
	return err
}
