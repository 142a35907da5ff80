package truth

import "iter"

// Scores compare a clustering with a truth. Pages that are not judged and
// pairs whose label is Unjudged count for nothing. A ratio of nothing is 1, of
// harmonic means 0.
type Scores struct {
	// Announced is averaged over pages, so that one big cluster cannot hide the
	// rest; its precision is the paper's (TLCS, section 4): over the pages for
	// which the clusters announce a near-duplicate that is judged. Page counts
	// the other pages, too, as right. Both have the same recall.
	Announced   F       `json:"announced"`
	Page        F       `json:"page"`
	Pair        F       `json:"pair"`                // over all pairs
	SameSite    float64 `json:"same_site_precision"` // over pairs of one site only, where templates mislead
	True        int     `json:"true_pairs"`          // near-duplicates in one cluster
	False       int     `json:"false_pairs"`         // pairs in one cluster that are none
	Unjudged    int     `json:"unjudged_pairs"`
	Missed      int     `json:"missed_pairs"` // near-duplicates in no common cluster
	Unclustered int     `json:"unclustered"`  // judged pages in no cluster
}

// F is a precision, a recall, and their harmonic mean.
type F struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

func newF(precision, recall float64) F {
	f := F{Precision: precision, Recall: recall}
	if precision+recall > 0 {
		f.F1 = 2 * precision * recall / (precision + recall)
	}
	return f
}

// ratio returns a of all, 1 if there is nothing.
func ratio(a, all float64) float64 {
	if all == 0 {
		return 1
	}
	return a / all
}

// Score scores clusters, each given by the record ids of its pages. A page may
// be in several clusters: then it is with all their pages.
func (t *Truth) Score(clusters iter.Seq2[[]string, error]) (Scores, error) {
	members := map[int][]int{} // by cluster
	in := make([][]int, len(t.pages))
	n := 0
	for ids, err := range clusters {
		if err != nil {
			return Scores{}, err
		}
		for _, id := range ids {
			if p, ok := t.Index(id); ok {
				members[n] = append(members[n], p)
				in[p] = append(in[p], n)
			}
		}
		n++
	}

	var s Scores
	var all counts
	var sumPrecision, sumRecall float64 // the first over announced pages
	positives, withNear, announced := 0, 0, 0
	mates := map[int]bool{}
	for p := range t.pages {
		clear(mates)
		for _, c := range in[p] {
			for _, q := range members[c] {
				mates[q] = true
			}
		}
		delete(mates, p)
		if len(in[p]) == 0 {
			s.Unclustered++
		}
		one := t.count(p, mates)
		all.add(one)
		if judged := one.near + one.not; judged > 0 {
			announced++
			sumPrecision += float64(one.near) / float64(judged)
		}
		if near := len(t.near[p]); near > 0 {
			withNear++
			positives += near
			sumRecall += float64(one.near) / float64(near)
		}
	}
	recall := ratio(sumRecall, float64(withNear))
	s.Announced = newF(ratio(sumPrecision, float64(announced)), recall)
	right := sumPrecision + float64(len(t.pages)-announced)
	s.Page = newF(ratio(right, float64(len(t.pages))), recall)
	s.Pair = newF(ratio(float64(all.near), float64(all.near+all.not)), ratio(float64(all.near), float64(positives)))
	s.SameSite = ratio(float64(all.siteNear), float64(all.siteNear+all.siteNot))
	// Every pair was counted from both of its pages.
	s.True, s.False, s.Unjudged, s.Missed = all.near/2, all.not/2, all.unjudged/2, (positives-all.near)/2
	return s, nil
}

// counts are pairs by their label.
type counts struct {
	near, not, unjudged int
	siteNear, siteNot   int // of one site
}

func (c *counts) add(o counts) {
	c.near += o.near
	c.not += o.not
	c.unjudged += o.unjudged
	c.siteNear += o.siteNear
	c.siteNot += o.siteNot
}

// count counts the pairs of p with its mates.
func (t *Truth) count(p int, mates map[int]bool) (c counts) {
	for q := range mates {
		same := t.pages[p].Site == t.pages[q].Site
		switch t.Label(p, q) {
		case Near:
			c.near++
			if same {
				c.siteNear++
			}
		case NotNear:
			c.not++
			if same {
				c.siteNot++
			}
		case Unjudged:
			c.unjudged++
		}
	}
	return c
}
