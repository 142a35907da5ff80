package keep

import (
	"cmp"
	"slices"

	"neardup/report"
)

// choices returns the choice for each member.
func (x *chooser) choices() ([]report.Choice, error) {
	out := make([]report.Choice, len(x.members))
	stands := make([]bool, len(x.classes)) // some page is redundant because of it
	for n, c := range x.classes {
		length := x.nodes[c.node].length
		for i, p := range c.pages {
			if x.stays(c, i) {
				continue
			}
			by, common := x.covering(n)
			stands[by] = true
			with := x.classes[by].pages[0]
			out[p] = report.Choice{Action: report.ActionRedundant, Why: report.WhyCovered, With: with, Compared: true, Characters: length, Lost: length - common,
				Resemblance: report.Score(Resemblance(x.nodes[x.classes[by].node].length, length, common))}
		}
	}
	for n, c := range x.classes {
		length := x.nodes[c.node].length
		for i, p := range c.pages {
			if !x.stays(c, i) {
				continue
			}
			why := x.why(n, i, stands[n])
			out[p] = report.Choice{Action: report.ActionKeep, Why: why, With: p, Compared: true, Resemblance: 1, Characters: length}
			if why != report.WhyScore && why != report.WhyClipped && why != report.WhyLittle {
				continue
			}
			f := x.classes[x.first[c.group]]
			review := report.Choice{Action: report.ActionReview, Why: why, With: f.pages[0], Characters: length}
			common, ok, err := x.score(c, f)
			if err != nil {
				return nil, err
			}
			if review.Compared = ok; ok {
				review.Resemblance, review.Lost = report.Score(Resemblance(x.nodes[f.node].length, length, common)), length-common
			}
			out[p] = review
		}
	}
	for i := range out {
		with := x.members[out[i].With]
		out[i].Kept, out[i].KeptURI = with.RecordID, with.URI
	}
	return out, nil
}

// score compares a class that needs review with the first one of its group.
func (x *chooser) score(c, first *class) (common int, ok bool, err error) {
	if c.text == first.text {
		return x.nodes[c.node].length, true, nil
	}
	return x.texts.Score(first.text, c.text)
}

// stays reports whether the i-th page of a class stays.
func (x *chooser) stays(c *class, i int) bool {
	return c.survives && (i == 0 || c.fixed() || c.also[c.pages[i]])
}

// covering returns the class that is kept in place of the redundant pages of a
// class, and how many code points their texts have in common. It is the class with
// the highest resemblance; among equals, the one that the policy prefers.
func (x *chooser) covering(n int) (by, common int) {
	c := x.classes[n]
	o := x.nodes[c.node]
	switch {
	case c.survives && c.stands():
		return n, o.length
	case o.kept >= 0:
		return o.kept, o.length
	case c.survives: // a revisit whose capture stays
		return n, o.length
	}
	best := -1
	var score float64
	for _, e := range o.from {
		from := x.nodes[e.node]
		if from.kept < 0 {
			continue
		}
		r := Resemblance(from.length, o.length, e.common)
		if best < 0 || cmp.Or(cmp.Compare(r, score), cmp.Compare(best, from.kept)) > 0 {
			best, score, common = from.kept, r, e.common
		}
	}
	return best, common
}

// why returns why the i-th page of a class stays.
func (x *chooser) why(n, i int, stands bool) report.Why {
	c := x.classes[n]
	switch {
	case i > 0 && c.exempt:
		return report.WhyExempt
	case i > 0 && c.judged:
		return report.WhyJudged
	case i > 0 && c.shared:
		return report.WhyShared
	case i > 0 && c.clipped:
		return report.WhyClipped
	case i > 0:
		return report.WhyRevisited
	case c.why == report.WhyPolicy, c.why == report.WhyRevisited, c.fixed():
		return c.why
	case stands:
		return report.WhyCovers
	}
	// If another page covers it, it stays for its URI.
	o := x.nodes[c.node]
	if o.kept >= 0 && o.kept != n || slices.ContainsFunc(o.from, func(e edge) bool { return x.nodes[e.node].kept >= 0 }) {
		return report.WhyURI
	}
	switch {
	case o.payload == "":
		return report.WhyScore
	case c.uri >= 0 && !slices.ContainsFunc(x.uris[c.uri], func(other int) bool { return other != n && x.classes[other].survives }):
		return report.WhyURI
	}
	return report.WhyLittle
}
