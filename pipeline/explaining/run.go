package explaining

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"neardup/cluster"
	"neardup/configs"
	"neardup/explain"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/preferences"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

const (
	listsShown = 32  // signatures in common whose lists are counted
	stepsShown = 100 // steps of a chain
)

// explained is a pair of pages, with what was looked up about them.
type explained struct {
	*workspace.Workspace
	ctx    context.Context
	pages  [2]results.Found
	texts  [2]rows.TextID
	sides  [2]explain.Side
	keys   [2]cluster.Key
	places groups.Places
	finder *results.PageFinder
	scores *preferences.Scores          // nil: the weights are not from outside
	first  map[rows.TextID]explain.Page // cache of firstPage
}

// run adds what happened to the pair in the run. It reads the rows of the two
// texts. If there are perhaps-similar sets, it also reads the keys of all of them
// once, because no index tells the sets of a text. That takes about a second for
// millions of keys.
func (p *explained) run(e *explain.Explanation) (err error) {
	r := &explain.Run{SameText: p.texts[0] == p.texts[1]}
	e.Run = r
	if err := p.CurrentExcept(workspace.StageVerify, workspace.Judgements); errors.Is(err, workspace.ErrUsage) {
		r.Stale = err.Error()[len(workspace.ErrUsage.Error())+2:] + "; what follows is by the texts alone"
		return nil
	} else if err != nil {
		return err
	}
	if p.finder, err = results.NewPageFinder(p.DB); err != nil {
		return err
	}
	defer p.finder.Close()
	if p.scores, err = preferences.ScoresOf(p.Workspace); err != nil {
		return err
	}
	signed := true
	for i, t := range p.texts {
		if err := p.aboutText(i, t, &r.Texts[i], &signed); err != nil {
			return err
		}
		if r.Clusters[i], err = p.place(i); err != nil {
			return err
		}
	}
	if err := p.judgedBy(r); err != nil {
		return err
	}
	joined := r.Clusters[0] != nil && r.Clusters[1] != nil && r.Clusters[0].ID == r.Clusters[1].ID
	ended := explain.Filter("")
	if !r.SameText && signed {
		if ended, err = p.search(e); err != nil {
			return err
		}
	}
	switch {
	case joined:
		return p.joined(e)
	case r.ByJudged != "":
		ended = explain.ByJudgement
	case !signed || r.SameText:
		ended = explain.ByPages
	}
	e.Outcome = explain.Outcome{EndedBy: ended, Why: e.Reason(ended)}
	if v := r.Verdict; ended == explain.ByClosing && explain.OnlyContained(v.Relation) {
		switch p.Config.Verify.Contained {
		case configs.ContainedApart:
			e.Outcome.Why = explain.Relations[v.Relation] + ", and in no cluster with it by that (verify.contained: apart)"
		case configs.ContainedLeaf:
			e.Outcome.Why = "near by containment only, which joins a text to one cluster and unites nothing (verify.contained: leaf)"
		}
	}
	return nil
}

// aboutText adds what clustering knows about a text.
func (p *explained) aboutText(i int, t rows.TextID, r *explain.RunText, signed *bool) error {
	var err error
	if r.Pages, err = p.finder.Count(t); err != nil {
		return err
	}
	n := 0
	for row, err := range p.DB.Rows(layout.PrefixBounds(layout.SignedKey(t))) {
		if err != nil {
			return err
		}
		s, err := row.Signed()
		if err != nil {
			return err
		}
		n = int(s.Signatures)
		weight := dataflow.Weight(p.Config, p.sides[i].Signed[0], n)
		if p.scores != nil {
			pages, err := p.finder.Pages(t)
			if err != nil {
				return err
			}
			weight = 0
			for _, m := range pages {
				score, _, err := p.scores.Of(m.URI)
				if err != nil {
					return err
				}
				weight = max(weight, score)
			}
		}
		p.keys[i], r.Weight = cluster.NewKey(weight, t), float64(weight)
		return nil
	}
	r.Navigation, *signed = true, false
	return nil
}

// search adds how far the pair came. If the two are in no common cluster, it
// returns the filter that ended it.
func (p *explained) search(e *explain.Explanation) (explain.Filter, error) {
	larger, smaller := 0, 1
	if p.keys[0].Compare(p.keys[1]) > 0 {
		larger, smaller = 1, 0
	}
	if err := p.verdictOf(e.Run, larger, smaller); err != nil {
		return "", err
	}
	shared := explain.Shared(explain.TwoOf(p.Config, p.sides[0], p.sides[1]))
	alive := false
	if e.Signatures.Lists {
		var err error
		if alive, err = p.lists(e, shared); err != nil {
			return "", err
		}
	}
	if p.Config.Pairs() {
		for r, err := range p.DB.Rows(layout.PrefixBounds(layout.PairKey(layout.TableSet, p.keys[larger], p.keys[smaller]))) {
			if err != nil {
				return "", err
			}
			_, _, score, err := layout.ParseSetKey(r.Key())
			if err != nil {
				return "", err
			}
			e.Run.Candidate, e.Run.Compared = true, 1
			if p.Config.NewMeasure() == nil {
				e.Score.Known, e.Score.Resemblance, e.Score.Containment = true, report.Score(score), report.Score(score)
				e.Decision = explain.Decision{Known: true, Near: true, Relation: string(report.Near)}
			}
		}
	} else {
		common, err := p.sets(e.Run)
		if err != nil {
			return "", err
		}
		for _, set := range common {
			met, err := p.metIn(set, e.Run, larger, smaller)
			if err != nil {
				return "", err
			}
			if met {
				e.Run.Compared++
			}
		}
	}
	if _, ok, err := p.DB.Get(layout.PairKey(layout.TableChecked, p.keys[larger], p.keys[smaller])); err != nil {
		return "", err
	} else if ok {
		e.Run.Compared++
	}
	switch s := e.Signatures; {
	case e.Run.Verdict != nil:
		return explain.ByClosing, nil
	case e.Run.Candidate && e.Run.Compared == 0:
		return explain.ByLeaders, nil
	case e.Run.Candidate || e.Run.Compared > 0:
		return cmp.Or(e.Decision.EndedBy, explain.ByLeaders), nil
	case p.Config.Signs() && (s.Of[0] == 0 || s.Of[1] == 0 || !s.Enough):
		return explain.BySignatures, nil
	case s.Lists && !alive:
		return explain.ByLists, nil
	case !p.Config.Pairs():
		return explain.BySets, nil
	case s.Exact && e.Decision.Known && !e.Decision.Near:
		return explain.ByScore, nil
	}
	return explain.ByCandidates, nil
}

// verdictOf reads the verdict of a near pair.
func (p *explained) verdictOf(r *explain.Run, larger, smaller int) error {
	s, ok, err := results.VerdictOn(p.Workspace, p.keys[larger], p.keys[smaller])
	if err != nil || !ok {
		return err
	}
	if smaller == 0 { // b is seen from a
		s = s.Inverse()
	}
	r.Verdict = &explain.Verdict{Relation: explain.RelationOf(s.Relation), Resemblance: report.Score(s.Resemblance), Containment: report.Score(s.Containment)}
	return nil
}

// firstPage returns the page that stands for a text. Finding it reads all pages of
// the text, so it is cached.
func (p *explained) firstPage(t rows.TextID) (explain.Page, error) {
	if page, ok := p.first[t]; ok {
		return page, nil
	}
	pages, err := p.finder.Pages(t)
	if err == nil && len(pages) == 0 {
		err = fmt.Errorf("a text without pages: %w", layout.Corrupt(t[:]))
	}
	if err != nil {
		return explain.Page{}, err
	}
	m := pages[0]
	page := explain.Page{RecordID: m.RecordID, URI: m.URI, Date: m.Date, WARC: m.WARC, Offset: m.Offset, TextID: hex.EncodeToString(t[:])}
	page.Path, page.Entry = p.places.Of(m.Source)
	p.first[t] = page
	return page, nil
}

// place returns the page's place in the clusters, or nil if it has none.
func (p *explained) place(i int) (*explain.InRun, error) {
	representative, ok, err := results.ClusterOf(p.Workspace, p.texts[i])
	if err != nil || !ok {
		return nil, err
	}
	row, err := p.clusterRow(representative, p.texts[i])
	if err != nil {
		return nil, err
	}
	first, err := p.firstPage(representative)
	if err != nil {
		return nil, err
	}
	at := 1
	if p.texts[i] == representative && first.RecordID == p.pages[i].RecordID && first.Date == p.pages[i].Date {
		at = 0
	}
	return &explain.InRun{ID: hex.EncodeToString(representative[:]), Representative: first, Relation: groups.RelationOf(row, representative, at)}, nil
}

func (p *explained) clusterRow(representative, member rows.TextID) (c rows.Cluster, err error) {
	for r, err := range p.DB.Rows(layout.PrefixBounds(layout.ClusterKey(representative, member))) {
		if err != nil {
			return c, err
		}
		return r.Cluster()
	}
	return c, fmt.Errorf("a text that is not in its cluster: %w", layout.Corrupt(member[:]))
}

// joined adds how the two came into one cluster.
func (p *explained) joined(e *explain.Explanation) error {
	r := e.Run
	e.Outcome = explain.Outcome{Joined: true}
	switch {
	case r.SameText:
		e.Outcome.Why = "both have the same text"
		return nil
	case r.Verdict != nil:
		e.Outcome.Why = "verified against each other: " + explain.Relations[r.Verdict.Relation]
		return nil
	}
	var ways [2][]rows.Cluster // from each of the two up to the representative
	for i, t := range p.texts {
		representative, err := hex.DecodeString(r.Clusters[i].ID)
		if err != nil {
			return err
		}
		for seen := map[rows.TextID]bool{}; t != rows.TextID(representative); {
			row, err := p.clusterRow(rows.TextID(representative), t)
			if err != nil {
				return err
			}
			if seen[t] {
				return fmt.Errorf("a chain of verdicts that is a circle: %w", layout.Corrupt(t[:]))
			}
			seen[t] = true
			ways[i] = append(ways[i], row)
			t = row.Against
		}
	}
	for len(ways[0]) > 0 && len(ways[1]) > 0 && ways[0][len(ways[0])-1].Member == ways[1][len(ways[1])-1].Member {
		ways[0], ways[1] = ways[0][:len(ways[0])-1], ways[1][:len(ways[1])-1]
	}
	slices.Reverse(ways[1])
	r.Steps = len(ways[0]) + len(ways[1])
	for i, row := range slices.Concat(ways[0], ways[1]) {
		if i == stepsShown {
			break
		}
		from, to := row.Member, row.Against
		if i >= len(ways[0]) {
			from, to = to, from
		}
		s := explain.Step{Resemblance: report.Score(row.Score.Resemblance), Containment: report.Score(row.Score.Containment),
			Judged: row.Score.Relation == report.Judged}
		var err error
		if s.From, err = p.firstPage(from); err != nil {
			return err
		}
		if s.To, err = p.firstPage(to); err != nil {
			return err
		}
		r.Chain = append(r.Chain, s)
	}
	e.Outcome.Why = fmt.Sprintf("through others, in %d steps, not verified against each other", r.Steps)
	switch {
	case r.Steps == 1 && r.Chain[0].Judged:
		e.Outcome.Why = "people judged that they belong together"
	case r.ByJudged != "":
		e.Outcome.Why = fmt.Sprintf("by judged pairs, in %d steps, not verified against each other", r.Steps)
	}
	return nil
}
