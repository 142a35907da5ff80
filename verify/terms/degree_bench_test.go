package terms_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	scheme "neardup/signature/terms"
	"neardup/verify/terms"
)

// BenchmarkDegree is figures 1 and 2 of the paper: the precision of pairs by
// their duplicate degree, under equations 3 and 4 and the ways to weigh. The
// paper's authors looked at pairs; here the lines of NEARDUP_TEXTS begin with
// days, and a pair is right if its texts are from at most two days apart. News
// that say the same are; headlines that a template fills (closing prices,
// earthquakes, quarterly figures) hardly ever.
func BenchmarkDegree(b *testing.B) {
	all := readTexts(b)
	texts := make([]string, len(all))
	for i, t := range all {
		texts[i] = t.text
	}
	// All pairs that any of the measures could take for near have two continuous
	// words in common and are not far under the plain measure.
	plain := measured(preset)
	plain.Similarity = terms.Plain
	c := newCollection(plain, texts)
	type pair struct {
		i, j  int
		right bool
	}
	var pairs []pair
	candidates(wordPairs(preset.Weighing, texts), func(i, j int) {
		if c.c.Compare(c.docs[i], c.docs[j]).Resemblance >= 0.3 {
			right := slices.ContainsFunc(all[i].days, func(x int) bool {
				return slices.ContainsFunc(all[j].days, func(y int) bool { return max(x-y, y-x) <= 2 })
			})
			pairs = append(pairs, pair{i, j, right})
		}
	})
	if !slices.ContainsFunc(pairs, func(p pair) bool { return p.right }) {
		b.Skip("the lines of NEARDUP_TEXTS begin with no days, or no two texts are alike")
	}

	run := func(name string, o terms.Options) {
		b.Run(name, func(b *testing.B) {
			c := newCollection(o, texts)
			type scored struct {
				degree float64
				right  bool
			}
			found := make([]scored, len(pairs))
			for i, p := range pairs {
				found[i] = scored{c.c.Compare(c.docs[p.i], c.docs[p.j]).Resemblance, p.right}
			}
			slices.SortFunc(found, func(x, y scored) int { return cmp.Compare(y.degree, x.degree) })
			right, near, nearRight, average := 0, 0, 0, 0.0
			var of, ofRight [10]int // degrees 0.50 to 0.55, ..., 0.95 to 1
			for i, f := range found {
				if f.degree >= o.Threshold {
					near++
				}
				if f.degree >= 0.5 {
					of[min(int((f.degree-0.5)*20+1e-9), 9)]++
				}
				if !f.right {
					continue
				}
				right++
				average += float64(right) / float64(i+1)
				if f.degree >= o.Threshold {
					nearRight++
				}
				if f.degree >= 0.5 {
					ofRight[min(int((f.degree-0.5)*20+1e-9), 9)]++
				}
				if i < 1000 {
					b.ReportMetric(float64(right)/1000, "precision-of-1000")
				}
			}
			for i := range of {
				b.ReportMetric(float64(ofRight[i])/float64(max(1, of[i])), fmt.Sprintf("p%02d", 55+5*i))
			}
			b.ReportMetric(float64(near), "near")
			b.ReportMetric(float64(nearRight)/float64(max(1, near)), "precision")
			b.ReportMetric(float64(nearRight), "right")
			b.ReportMetric(average/float64(right), "average-precision")
			b.ReportMetric(0, "ns/op")
		})
	}
	run("equation-3", plain)
	for _, w := range []struct {
		name string
		o    scheme.Options
	}{{"preset", preset}, {"paper", paper}} {
		for _, numerals := range []string{"", "numerals-as-nouns/", "numerals-light/", "numerals-heavy/"} {
			o := measured(w.o)
			switch numerals {
			case "numerals-as-nouns/":
				o.Intervals.Numeral = o.Intervals.Noun
			case "numerals-light/":
				o.Intervals.Numeral = o.Intervals.Adverb
			case "numerals-heavy/":
				o.Intervals.Numeral = scheme.Interval{2 * o.Intervals.Noun[0], 2 * o.Intervals.Noun[1]}
			}
			if numerals != "" && o.Intervals == w.o.Intervals {
				continue
			}
			for _, o.Heaviest = range []string{scheme.Rare, scheme.Frequent} {
				for _, o.Scale = range []string{scheme.Linear, scheme.Log} {
					for _, o.Long = range []bool{false, true} {
						equation := 1
						if o.Long {
							equation = 2
						}
						run(fmt.Sprintf("intervals-of-%s/%s%s/%s/equation-%d", w.name, numerals, o.Heaviest, o.Scale, equation), o)
					}
				}
			}
		}
	}
}
