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
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/signature"
)

const (
	listsShown = 32  // of signatures in common, whose texts are counted
	stepsShown = 100 // of a chain
)

// explained is two pages, and what is looked up of them.
type explained struct {
	*workspace.Workspace
	ctx    context.Context
	pages  [2]results.Found
	texts  [2]rows.TextID
	sides  [2]explain.Side
	keys   [2]cluster.Key
	finder *results.PageFinder
	first  map[rows.TextID]explain.Page // see firstPage
}

// run says what became of the pair. It reads the rows of the two texts, and
// where there are perhaps-similar sets the keys of all of these once: which sets
// a text is in has no index, and this takes about a second for millions.
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
	if v := r.Verdict; ended == explain.ByClosing && v.Relation != "near" && p.Config.Verify.Contained != configs.ContainedLinks {
		e.Outcome.Why = "near by containment only, which joins a text to one cluster and unites nothing (verify.contained: leaf)"
	}
	return nil
}

// aboutText says what the text is in clustering.
func (p *explained) aboutText(i int, t rows.TextID, r *explain.RunText, signed *bool) error {
	var err error
	if r.Pages, err = p.finder.Count(t); err != nil {
		return err
	}
	n := 0
	for row, err := range p.DB.Rows(store.PrefixBounds(store.SignedKey(t))) {
		if err != nil {
			return err
		}
		s, err := row.Signed()
		if err != nil {
			return err
		}
		n = int(s.Signatures)
		weight := dataflow.Weight(p.Config, p.sides[i].Signed[0], n)
		if p.Config.Cluster.Quality != "" {
			pages, err := p.finder.Pages(t)
			if err != nil {
				return err
			}
			if weight, err = p.qualityOf(pages); err != nil {
				return err
			}
		}
		p.keys[i], r.Weight = cluster.NewKey(weight, t), float64(weight)
		return nil
	}
	r.Navigation, *signed = true, false
	return nil
}

// qualityOf returns the best of the pages' qualities.
func (p *explained) qualityOf(pages []report.Member) (best float32, err error) {
	q, err := results.ReadQualities(p.Config.Cluster.Quality)
	for _, m := range pages {
		of, _ := q.Of(m.URI)
		best = max(best, of)
	}
	return best, err
}

// search says how far the pair came: the filter that ended it if it is in no
// cluster together.
func (p *explained) search(e *explain.Explanation) (explain.Filter, error) {
	larger, smaller := 0, 1
	if p.keys[0].Compare(p.keys[1]) > 0 {
		larger, smaller = 1, 0
	}
	if err := p.verdictOf(e.Run, larger, smaller); err != nil {
		return "", err
	}
	shared, _ := explain.Shared(p.Config, p.sides[0], p.sides[1])
	byKeys := p.Config.Cluster.Search == configs.SearchKeys
	alive := false
	if byKeys {
		var err error
		if alive, err = p.lists(e, shared); err != nil {
			return "", err
		}
	}
	if p.Config.Cluster.Pairs() {
		for r, err := range p.DB.Rows(store.PrefixBounds(store.PairKey(store.TableSet, p.keys[larger], p.keys[smaller]))) {
			if err != nil {
				return "", err
			}
			_, _, score, err := store.ParseSetKey(r.Key())
			if err != nil {
				return "", err
			}
			e.Run.Candidate, e.Run.Compared = true, 1
			if p.Config.Verify.Measure == configs.MeasureSearch {
				e.Score.Known, e.Score.Resemblance, e.Score.Containment = true, report.Score(score), report.Score(score)
				e.Decision = explain.Decision{Known: true, Near: true, Relation: "near"}
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
	if _, ok, err := p.DB.Get(store.PairKey(store.TableChecked, p.keys[larger], p.keys[smaller])); err != nil {
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
	case byKeys && !alive:
		return explain.ByLists, nil
	case !p.Config.Cluster.Pairs():
		return explain.BySets, nil
	case p.Config.Cluster.Search == configs.SearchJoin && e.Decision.Known && !e.Decision.Near:
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
	r.Verdict = &explain.Verdict{Relation: "near", Resemblance: report.Score(s.Resemblance), Containment: report.Score(s.Containment)}
	if s.Relation != report.Near {
		r.Verdict.Relation = "a-in-b"
		if (s.Relation == report.Contained) == (smaller == 1) {
			r.Verdict.Relation = "b-in-a"
		}
	}
	return nil
}

// lists looks at the lists of the signatures in common. alive tells whether one
// of them was not deleted.
func (p *explained) lists(e *explain.Explanation, shared []signature.Signature) (alive bool, err error) {
	for i, s := range shared {
		if i >= listsShown && alive {
			break
		}
		l := explain.ListOfKey{}
		var keys []cluster.Key
		for r, err := range p.DB.Rows(store.PrefixBounds(store.Key(store.TablePosting, s[:]))) {
			if err != nil {
				return false, err
			}
			posting, err := store.ParsePostingKey(r.Key())
			if err != nil {
				return false, err
			}
			keys = append(keys, posting.Key)
			if l.Texts++; l.Texts > p.Config.Cluster.MaxList {
				l.Deleted = "max_list"
				break
			}
		}
		if site := p.Config.Cluster.SiteList; l.Deleted == "" && site > 0 && l.Texts > site {
			concentrated, err := stages.Concentrated(p.Workspace, keys)
			if err != nil {
				return false, err
			}
			if concentrated {
				l.Deleted = "site_list"
			}
		}
		alive = alive || l.Deleted == ""
		if i < min(listsShown, len(e.Signatures.Keys)) {
			e.Signatures.Keys[i].List = &l
		}
		if p.ctx.Err() != nil {
			return false, p.ctx.Err()
		}
	}
	return alive, nil
}

// sets finds the sets of both texts, in one pass over the keys of all, and gives
// those that both are in.
func (p *explained) sets(r *explain.Run) (common []cluster.Key, err error) {
	var of [2][]cluster.Key
	n := 0
	for row, err := range p.DB.Table(store.TableSet) {
		if err != nil {
			return nil, err
		}
		set, member, _, err := store.ParseSetKey(row.Key())
		if err != nil {
			return nil, err
		}
		for i, k := range p.keys {
			if member == k {
				of[i] = append(of[i], set)
			}
		}
		if n++; n&0xffff == 0 && p.ctx.Err() != nil {
			return nil, p.ctx.Err()
		}
	}
	all := slices.Concat(of[0], of[1])
	slices.SortFunc(all, cluster.Key.Compare)
	for _, set := range slices.Compact(all) {
		id := set.ID()
		s := explain.Set{ID: hex.EncodeToString(id[:]), Has: [2]bool{slices.Contains(of[0], set), slices.Contains(of[1], set)}}
		for _, err := range p.DB.Rows(store.PrefixBounds(store.Key(store.TableSet, set[:]))) {
			if err != nil {
				return nil, err
			}
			s.Members++
		}
		if r.Sets = append(r.Sets, s); s.Has == [2]bool{true, true} {
			r.Candidate = true
			common = append(common, set)
		}
	}
	return common, nil
}

// metIn reports whether the two were compared in a set, by what setVerifier does:
// members meet leaders only, and with the closing rule "representative" no more
// of them once they are near one. If they were not, r says whom they were near.
func (p *explained) metIn(set cluster.Key, r *explain.Run, larger, smaller int) (bool, error) {
	members := map[cluster.Key]bool{}
	var order []cluster.Key
	for row, err := range p.DB.Rows(store.PrefixBounds(store.Key(store.TableSet, set[:]))) {
		if err != nil {
			return false, err
		}
		_, member, _, err := store.ParseSetKey(row.Key())
		if err != nil {
			return false, err
		}
		members[member] = true
		order = append(order, member)
		if member == p.keys[larger] {
			break // from here on none leads both
		}
	}
	joined := map[cluster.Key]cluster.Key{} // the first leader that each was near
	members[p.keys[smaller]] = true
	verdicts, err := p.DB.Seeker(store.TableVerdict)
	if err != nil {
		return false, err
	}
	defer func() { _ = verdicts.Close() }()
	for _, leader := range order {
		if leader == p.keys[larger] {
			break
		}
		if _, ok := joined[leader]; ok {
			continue
		}
		for row, err := range verdicts.Rows(store.Key(store.TableVerdict, leader[:])) {
			if err != nil {
				return false, err
			}
			l, err := results.ParseLink(row)
			if err != nil {
				return false, err
			}
			_, already := joined[l.Member]
			if links := p.Config.Verify.Links(l.Score.Relation == report.Near); links && !already && members[l.Member] {
				joined[l.Member] = leader
			}
		}
		if p.ctx.Err() != nil {
			return false, p.ctx.Err()
		}
	}
	for _, side := range [2]int{larger, smaller} {
		leader, ok := joined[p.keys[side]]
		if !ok || side == smaller && p.Config.Verify.Closing != configs.ClosingRepresentative {
			continue
		}
		page, err := p.firstPage(leader.ID())
		r.Leaders = append(r.Leaders, explain.RunNear{Of: [2]string{"a", "b"}[side], Near: page})
		return false, err
	}
	return true, nil
}

// firstPage returns the page that stands for a text. Which one it is, all that have
// the text tell, so it is kept.
func (p *explained) firstPage(t rows.TextID) (explain.Page, error) {
	if page, ok := p.first[t]; ok {
		return page, nil
	}
	pages, err := p.finder.Pages(t)
	if err == nil && len(pages) == 0 {
		err = fmt.Errorf("a text without pages: %w", store.Corrupt(t[:]))
	}
	if err != nil {
		return explain.Page{}, err
	}
	m := pages[0]
	page := explain.Page{RecordID: m.RecordID, URI: m.URI, Date: m.Date, WARC: m.WARC, Offset: m.Offset, TextID: hex.EncodeToString(t[:])}
	p.first[t] = page
	return page, nil
}

// place returns where a page is in the clusters, nil if nowhere.
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
	return &explain.InRun{ID: hex.EncodeToString(representative[:]), Representative: first, Relation: results.RelationOf(row, representative, at)}, nil
}

func (p *explained) clusterRow(representative, member rows.TextID) (c rows.Cluster, err error) {
	for r, err := range p.DB.Rows(store.PrefixBounds(store.ClusterKey(representative, member))) {
		if err != nil {
			return c, err
		}
		return results.ParseClusterRow(r)
	}
	return c, fmt.Errorf("a text that is not in its cluster: %w", store.Corrupt(member[:]))
}

// joined says how the two are in one cluster.
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
				return fmt.Errorf("a chain that leads nowhere: %w", store.Corrupt(t[:]))
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
