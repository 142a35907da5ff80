// Package scores compares texts outside of a run: all similar pairs of texts in
// memory, and the scores of two texts by the method of a config.
package scores

import (
	"context"
	"math"
	"unicode/utf8"

	"neardup/configs"
	"neardup/explain"
	"neardup/signature/simhash"
	"neardup/verify"
)

// Texts returns the scores of two texts that differ. ok is false where only
// others tell: the weights of a join, and an edit distance of long texts, which
// takes the product of their lengths.
func Texts(config configs.Config, a, b string) (resemblance, containment float64, ok bool, err error) {
	if m := config.NewMeasure(); m != nil {
		c := m.Comparer()
		compare := c.Compare
		if s, ok := c.(verify.Scorer); ok {
			compare = s.Score
		}
		v := compare(m.Prepare(a), m.Prepare(b))
		return v.Resemblance, v.Containment, true, nil
	}
	if config.Cluster.Search == configs.SearchHamming {
		scheme := config.NewScheme()
		x, y := scheme.Sign(nil, a), scheme.Sign(nil, b)
		if len(x) == 0 || len(y) == 0 {
			return 0, 0, false, nil
		}
		r := 1 - float64(simhash.Differ(x[0].Bits(), y[0].Bits()))/simhash.Bits
		return r, r, true, nil
	}
	j := config.Cluster.Join
	longer := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	if j.Weights == configs.JoinIDF || j.Measure == configs.JoinEdit && longer > editScored {
		return 0, 0, false, nil
	}
	j.Threshold, j.Distance = math.SmallestNonzeroFloat64, longer
	_, err = FindSimilar(context.Background(), j, 1, [][]string{{a, b}}, func(_, _ int, _, share float64) error {
		resemblance = share
		return nil
	})
	return resemblance, resemblance, err == nil, err
}

const editScored = 10_000 // code points

// BySearch scores two texts by a search that scores pairs itself.
func BySearch(config configs.Config) explain.Search {
	return func(a, b string) (s explain.SearchScore, err error) {
		s.Similarity, _, s.Scored, err = Texts(config, a, b)
		if err != nil {
			return s, err
		}
		j := config.Cluster.Join
		switch {
		case config.Cluster.Search == configs.SearchHamming:
			differ := math.Round((1 - s.Similarity) * simhash.Bits)
			s.Known, s.Near = true, s.Scored && int(differ) <= config.Cluster.Hamming.Distance
			return s, nil
		case j.Weights == configs.JoinIDF:
			return s, nil
		}
		s.Known = true
		_, err = FindSimilar(context.Background(), j, 1, [][]string{{a, b}}, func(_, _ int, _, _ float64) error {
			s.Near = true
			return nil
		})
		return s, err
	}
}
