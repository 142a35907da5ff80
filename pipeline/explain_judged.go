package pipeline

import (
	"neardup/audit"
	"neardup/explain"
)

// judgedBy says what people said of the two pages, if clusters are to follow it,
// and what judged pairs did to their texts.
func (p *explained) judgedBy(r *explain.Run) error {
	pair, err := p.enforcedPair(audit.NewPair(p.pages[0].RecordID, p.pages[1].RecordID))
	if err != nil {
		return err
	}
	if len(pair.Judges) > 0 {
		state, err := p.stateOf(pair)
		if err != nil {
			return err
		}
		r.Judged = &explain.Judged{Verdict: string(pair.Verdict), Judges: pair.Judges, State: state}
	}
	if r.SameText {
		return nil
	}
	together := func(cluster func(textID) (textID, bool, error)) (bool, error) {
		a, in, err := cluster(p.texts[0])
		if err != nil || !in {
			return false, err
		}
		b, in, err := cluster(p.texts[1])
		return in && a == b, err
	}
	now, err := together(p.clusterOf)
	if err != nil {
		return err
	}
	before, err := together(p.former)
	switch {
	case now && !before:
		r.ByJudged = "joined"
	case before && !now:
		r.ByJudged = "parted"
	}
	return err
}
