package explain

import "fmt"

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
	w.printf("  verified through others, in %d steps:\n", r.Steps)
	w.printf("    %s\n", w.page(r.Chain[0].From, 4))
	for i, s := range r.Chain {
		if i == stepsShown {
			w.printf("    and %d more\n", r.Steps-i)
			break
		}
		w.printf("    %s %.4f %.4f  %s\n", w.s.pick("└", "-"), float64(s.Resemblance), float64(s.Containment), w.page(s.To, 21))
	}
}

func (w *writer) page(p Page, after int) string {
	return fmt.Sprintf("%s  %s", w.shown(p.Date, 22), w.clip(p.URI, after+22))
}
