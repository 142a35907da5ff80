package explain

import (
	"fmt"
	"slices"
	"strings"
)

func (w *writer) run() {
	r := w.e.Run
	w.head("in the workspace")
	if r.Stale != "" {
		w.printf("  %s\n", w.clip(r.Stale, 2))
		return
	}
	if r.SameText {
		w.printf("  both pages have the same text, which %d pages have\n", r.Texts[0].Pages)
	} else {
		w.printf("  weight %v (a) and %v (b); %d and %d pages have the texts\n", r.Texts[0].Weight, r.Texts[1].Weight, r.Texts[0].Pages, r.Texts[1].Pages)
	}
	for i, s := range r.Sets {
		if i == setsShown {
			w.printf("  and %d more sets\n", len(r.Sets)-setsShown)
			break
		}
		has := map[[2]bool]string{{true, true}: "both", {true, false}: "a", {false, true}: "b"}[s.Has]
		w.printf("  perhaps-similar set %.8s, %d texts: %s\n", s.ID, s.Members, has)
	}
	switch v := r.Verdict; {
	case v != nil:
		w.printf("  found %s: resemblance %.4f, containment %.4f\n", v.Relation, float64(v.Resemblance), float64(v.Containment))
	case r.SameText:
	case r.Candidate:
		w.printf("  candidates, not found near\n")
	default:
		w.printf("  never candidates\n")
	}
	for _, l := range r.Leaders {
		w.printf("  %s was near another leader: %s\n", l.Of, w.page(l.Near, 28))
	}
	if j := r.Judged; j != nil {
		w.printf("  judged %s by %s: %s\n", j.Verdict, w.clip(strings.Join(j.Judges, ", "), 30), j.State)
	}
	if r.ByJudged != "" {
		w.printf("  %s by judged pairs: without them they would be %s\n", r.ByJudged,
			map[string]string{"joined": "in different clusters, or none", "parted": "in one cluster"}[r.ByJudged])
	}
	for i, c := range r.Clusters {
		name := [2]string{"a", "b"}[i]
		if c == nil {
			w.printf("  %s is in no cluster\n", name)
			continue
		}
		w.printf("  %s is %s in cluster %.8s of %s\n", name, c.Relation, c.ID, w.page(c.Representative, 40))
	}
	if len(r.Chain) == 0 {
		return
	}
	how := "verified"
	if slices.ContainsFunc(r.Chain, func(s Step) bool { return s.Judged }) {
		how = "joined"
	}
	w.printf("  %s through others, in %d steps:\n", how, r.Steps)
	w.printf("    %s\n", w.page(r.Chain[0].From, 4))
	for i, s := range r.Chain {
		if i == stepsShown {
			w.printf("    and %d more\n", r.Steps-i)
			break
		}
		judged := ""
		if s.Judged {
			judged = "judged  "
		}
		w.printf("    %s %.4f %.4f  %s%s\n", w.s.pick("└", "-"), float64(s.Resemblance), float64(s.Containment), judged, w.page(s.To, 21+len(judged)))
	}
}

func (w *writer) page(p Page, after int) string {
	return fmt.Sprintf("%s  %s", w.shown(p.Date, 22), w.clip(p.URI, after+22))
}
