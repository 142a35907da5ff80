package review

import (
	"net/http"
	"slices"

	"neardup/audit"
	"neardup/explain"
)

// pairView shows a pair of pages. A judge of a sample sees the same with the
// method's results folded.
type pairView struct {
	Pair
	Names    [2]string // record IDs
	Sides    sides
	Curves   []curve
	Meters   []meter
	Steps    []step
	Keys     []key
	MoreKeys int
	Blind    bool
}

// step is a filter with the pair's result.
type step struct {
	Name  string
	State string // passed, ended, or empty: not reached
	What  string
}

// key is a common signature with the sentences of page a that made it.
type key struct {
	explain.SharedKey
	Sentences []string
}

const keysShown = 12

func viewOf(p Pair, blind bool) pairView {
	e := p.Explanation
	v := pairView{Pair: p, Blind: blind, Sides: beside(e.Diff, p.Texts, blind), Curves: curvesOf(e), Meters: metersOf(e), Steps: stepsOf(e)}
	for i, t := range e.Texts {
		if t.Page != nil {
			v.Names[i] = t.Page.RecordID
		}
	}
	words := map[int]string{}
	for _, s := range e.Signatures.Spelled {
		if s.Text == 0 {
			words[s.Place] = s.Words
		}
	}
	for _, k := range e.Signatures.Keys[:min(keysShown, len(e.Signatures.Keys))] {
		one := key{SharedKey: k}
		if k.Origins != nil {
			for _, place := range k.Origins[0].Sentences {
				if w := words[place]; w != "" {
					one.Sentences = append(one.Sentences, w)
				}
			}
		}
		v.Keys = append(v.Keys, one)
	}
	v.MoreKeys = e.Signatures.Shared - len(v.Keys)
	return v
}

// comparedPart says which part of a text is compared, if not all of it is.
func comparedPart(t explain.Text) string {
	frame := "without the frame of its site"
	if t.Regained {
		frame += ", except for what the other page has outside of its own"
	}
	switch {
	case t.Unframed && t.Cut:
		return frame + ", and up to text.max_columns"
	case t.Unframed:
		return frame
	}
	return "up to text.max_columns"
}

// filters are the filters of two texts, in order.
var filters = []struct {
	filter explain.Filter
	name   string
}{
	{explain.ByLength, "length"},
	{explain.BySketch, "sketch"},
	{explain.ByDistance, "edit distance"},
	{explain.ByScore, "scores"},
	{explain.ByRarity, "rarity"},
	{explain.ByTitle, "title"},
}

// stepsOf returns for each filter whether the pair passed it. The sentences of alike
// pages stand for the filters of the measure, which may have rejected the pair.
func stepsOf(e explain.Explanation) (out []step) {
	add := func(name string, passed bool, by explain.Filter) {
		if passed {
			out = append(out, step{name, "passed", ""})
		} else {
			out = append(out, step{name, "ended", e.Reason(by)})
		}
	}
	if e.Signatures.Least > 0 {
		add("signatures", e.Signatures.Enough, explain.BySignatures)
	}
	run := e.Run != nil && e.Run.Stale == "" && !e.Run.SameText
	if run {
		by := e.Outcome.EndedBy
		if !slices.Contains([]explain.Filter{explain.ByPages, explain.ByLists, explain.BySets, explain.ByLeaders}, by) {
			by = explain.ByCandidates
		}
		add("candidates", e.Run.Candidate && by != explain.ByLeaders, by)
	}
	if e.Decision.Known {
		ended := false
		for _, f := range filters {
			switch {
			case f.filter == explain.ByTitle && !e.Decision.AsksTitles(), f.filter == explain.ByRarity && e.Rarity == nil,
				f.filter != explain.ByTitle && f.filter != explain.ByRarity && f.filter != explain.ByScore && (e.TLCS == nil || e.Decision.Alike()):
			case f.filter == explain.ByScore && e.Decision.Alike():
				add("sentences", true, "")
			case ended:
				out = append(out, step{Name: f.name})
			case e.Decision.EndedBy == f.filter:
				ended = true
				add(f.name, false, f.filter)
			default:
				add(f.name, true, "")
			}
		}
	}
	if run && (e.Outcome.Joined || e.Outcome.EndedBy == explain.ByClosing) {
		add("closing rule", e.Outcome.Joined, explain.ByClosing)
	}
	return out
}

// choosePair redirects from two chosen members to their pair.
func (s *server) choosePair(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	a, b := q.Get("a"), q.Get("b")
	switch {
	case !documents.MatchString(a) || !documents.MatchString(b):
		return bad("Choose two pages to compare: one in column A, one in column B.")
	case a == b:
		return bad("These are one page. Choose another one in column A or column B.")
	}
	http.Redirect(w, r, "/pair/"+a+"/"+b, http.StatusSeeOther)
	return nil
}

// pairOf returns the pair in the path, and its name for judgements.
func (s *server) pairOf(r *http.Request) (p Pair, name audit.Pair, err error) {
	a, err := document(r, "a")
	if err != nil {
		return p, name, err
	}
	b, err := document(r, "b")
	if err != nil {
		return p, name, err
	}
	if p, err = s.archive.Pair(r.Context(), a, b); err != nil {
		return p, name, err
	}
	for _, t := range p.Explanation.Texts {
		if t.Page == nil {
			return p, name, nil // not of a workspace: nothing to judge
		}
	}
	return p, audit.NewPair(p.Explanation.Texts[0].Page.RecordID, p.Explanation.Texts[1].Page.RecordID), nil
}

func (s *server) pair(w http.ResponseWriter, r *http.Request) error {
	who, err := judge(r)
	if err != nil {
		return err
	}
	p, name, err := s.pairOf(r)
	if err != nil {
		return err
	}
	var given []audit.Judgement
	if name != (audit.Pair{}) {
		if given, err = s.archive.Judgements(r.Context(), name); err != nil {
			return err
		}
	}
	own := ownOf(given, who)
	return s.show(w, r, http.StatusOK, "pair", view{Title: "Two pages", Nav: "/clusters", Inside: true, Wide: true, Judge: who, Said: said(r), Body: struct {
		pairView
		Judgements []audit.Judgement
		Own        audit.Judgement
		Action     string
	}{viewOf(p, false), given, own, "/pair/" + p.Documents[0] + "/" + p.Documents[1]}})
}

// ownOf returns the judge's own earlier judgement.
func ownOf(given []audit.Judgement, judge string) audit.Judgement {
	for _, j := range given {
		if j.Judge == judge && judge != "" {
			return j
		}
	}
	return audit.Judgement{}
}

// said returns the result of the previous request, which is one of a few fixed
// words.
func said(r *http.Request) string {
	return map[string]string{
		"true":     "Kept as true.",
		"false":    "Kept as false.",
		"unknown":  "Kept as unknown.",
		"withdraw": "Taken back.",
		"drawn":    "The sample is drawn.",
	}[r.URL.Query().Get("said")]
}

func (s *server) judgePair(w http.ResponseWriter, r *http.Request) error {
	form, err := posted(r)
	if err != nil {
		return err
	}
	_, name, err := s.pairOf(r)
	if err != nil {
		return err
	}
	j := form.judgement(name)
	if form.err != nil {
		return form.err
	}
	if err := s.keep(r, j); err != nil {
		return err
	}
	remember(w, j.Judge)
	http.Redirect(w, r, r.URL.EscapedPath()+query("judge", j.Judge, "said", string(j.Verdict))+"#judgements", http.StatusSeeOther)
	return nil
}

// keep stores a judgement, or takes it back.
func (s *server) keep(r *http.Request, j audit.Judgement) error {
	if j.Verdict == withdrawn {
		return s.archive.Withdraw(r.Context(), j.Pair, j.Judge)
	}
	return s.archive.Judge(r.Context(), j)
}
