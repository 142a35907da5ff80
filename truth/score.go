package truth

import "iter"

// Scores are the scores of a clustering against a truth. Pages without labels, and
// pairs whose label is Unjudged, do not count. A ratio of nothing is 1; a harmonic
// mean of nothing is 0.
type Scores struct {
	// Announced and Page are averages over pages, so that one large cluster cannot
	// hide the others. The precision of Announced is the paper's (TLCS, section 4):
	// it averages over the pages for which the clusters announce a judged
	// near-duplicate. Page also counts all other pages, as right. Both have the
	// same recall.
	Announced   F       `json:"announced"`
	Page        F       `json:"page"`
	Pair        F       `json:"pair"`                // over all pairs
	SameSite    float64 `json:"same_site_precision"` // precision over pairs of one site only, where templates mislead
	True        int     `json:"true_pairs"`          // near-duplicates in one cluster
	False       int     `json:"false_pairs"`         // pairs in one cluster that are not near-duplicates
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

// ratio returns a/all, or 1 if all is 0.
func ratio(a, all float64) float64 {
	if all == 0 {
		return 1
	}
	return a / all
}

// Score scores clusters, each given by the record IDs of its pages. A page may be
// in several clusters; then it shares a cluster with the pages of all of them.
func (t *Truth) Score(clusters iter.Seq2[[]string, error]) (Scores, error) {
	judged, err := t.Judge(clusters)
	if err != nil {
		return Scores{}, err
	}
	var s Scores
	var all counts
	var sumPrecision, sumRecall float64 // sumPrecision is over announced pages
	positives, withNear, announced := 0, 0, 0
	for p, one := range judged {
		if !one.clustered {
			s.Unclustered++
		}
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
	// Every pair was counted once from each of its pages.
	s.True, s.False, s.Unjudged, s.Missed = all.near/2, all.not/2, all.unjudged/2, (positives-all.near)/2
	return s, nil
}

// Judged holds, for each page of a truth in order, its pairs with the pages of its
// clusters.
type Judged []counts

// Judge counts the pairs of clusters, which are given as to Score.
func (t *Truth) Judge(clusters iter.Seq2[[]string, error]) (Judged, error) {
	members := map[int][]int{} // by cluster
	in := make([][]int, len(t.pages))
	n := 0
	for ids, err := range clusters {
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if p, ok := t.Index(id); ok {
				members[n] = append(members[n], p)
				in[p] = append(in[p], n)
			}
		}
		n++
	}
	out := make(Judged, len(t.pages))
	mates := map[int]bool{}
	for p := range t.pages {
		clear(mates)
		for _, c := range in[p] {
			for _, q := range members[c] {
				mates[q] = true
			}
		}
		delete(mates, p)
		out[p] = t.count(p, mates)
		out[p].clustered = len(in[p]) > 0
	}
	return out, nil
}

// Average is a mean over pages.
type Average struct {
	Value float64 `json:"value"`
	Pages int     `json:"pages"` // number of pages averaged over; if it is 0, Value is 0
}

func average(values []float64) (a Average) {
	for _, v := range values {
		a.Value += v
	}
	if a.Pages = len(values); a.Pages > 0 {
		a.Value /= float64(a.Pages)
	}
	return a
}

// of returns the numbers of near-duplicates and of other judged pairs of a page.
func (c *counts) of(sameSite bool) (near, not int) {
	if sameSite {
		return c.siteNear, c.siteNot
	}
	return c.near, c.not
}

// Precision is that of the TLCS paper, section 4: for each page, the share of its
// announced near-duplicates with a known label that are true, averaged over the
// pages that have any. With sameSite only pairs of one site count.
func (j Judged) Precision(sameSite bool) Average {
	var shares []float64
	for i := range j {
		if near, not := j[i].of(sameSite); near+not > 0 {
			shares = append(shares, float64(near)/float64(near+not))
		}
	}
	return average(shares)
}

// RecallRatio is the recall of table 1 of the TLCS paper: "For each sampled
// document we compute the ratio between the true-positives detected by our
// algorithm and that detected by simhash algorithm, and the recall of our algorithm
// is denoted by the average ratio". Pages for which the baseline finds no
// near-duplicate have no ratio and are left out; the paper does not mention them.
func (j Judged) RecallRatio(baseline Judged, sameSite bool) Average {
	var ratios []float64
	for i := range j {
		found, _ := j[i].of(sameSite)
		if base, _ := baseline[i].of(sameSite); base > 0 {
			ratios = append(ratios, float64(found)/float64(base))
		}
	}
	return average(ratios)
}

// TotalRatio returns the ratio of the numbers of true positives over all pages.
func (j Judged) TotalRatio(baseline Judged, sameSite bool) Average {
	var found, base, pages int
	for i := range j {
		f, _ := j[i].of(sameSite)
		b, _ := baseline[i].of(sameSite)
		found, base = found+f, base+b
		if f+b > 0 {
			pages++
		}
	}
	if base == 0 {
		return Average{}
	}
	return Average{float64(found) / float64(base), pages}
}

// counts are numbers of pairs by label.
type counts struct {
	clustered           bool // the page is in a cluster
	near, not, unjudged int
	siteNear, siteNot   int // of pairs of one site
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
