package scores

import (
	"cmp"
	"context"
	"math"
	"unicode/utf8"

	"neardup/cluster/ppjoin"
	"neardup/configs"
	"neardup/signature/tokens"
)

// FindSimilar emits the similar pairs of a collection of texts, or of a text of
// the first and one of the second, by their places, in any order: with the
// similarity that was asked for (of edit distance the distance), and as a share
// from 0 to 1: of an overlap that of the union, of a distance that of the longer
// text that is left. It ends with ctx.
func FindSimilar(ctx context.Context, j configs.Join, workers int, texts [][]string, emit func(a, b int, similarity, share float64) error) (ppjoin.Counts, error) {
	last := len(texts) - 1
	if j.Measure == configs.JoinEdit {
		each := func(p ppjoin.EditPair) error {
			longer := max(utf8.RuneCountInString(texts[0][p.A]), utf8.RuneCountInString(texts[last][p.B]), 1)
			return emit(p.A, p.B, float64(p.Distance), 1-float64(p.Distance)/float64(longer))
		}
		if last == 0 {
			return ppjoin.SelfEdit(ctx, texts[0], j.EditOptions(workers), each)
		}
		return ppjoin.BetweenEdit(ctx, texts[0], texts[1], j.EditOptions(workers), each)
	}
	records, err := tokens.Make(j.TokenOptions(workers), texts...)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return ppjoin.Counts{}, err
	}
	var cs []ppjoin.Collection
	for _, r := range records {
		cs = append(cs, ppjoin.Collection(r))
	}
	if j.Repeats {
		cs = ppjoin.Multiset(cs...)
	}
	o := j.Options(workers)
	if j.Weights == configs.JoinIDF {
		o.Weights = ppjoin.IDF(cs...)
	}
	each := func(p ppjoin.Pair) error {
		share := p.Similarity
		if o.Measure == ppjoin.Overlap {
			share /= weight(cs[0], p.A, o.Weights) + weight(cs[last], p.B, o.Weights) - share
		}
		return emit(p.A, p.B, p.Similarity, share)
	}
	if last == 0 {
		return ppjoin.Self(ctx, cs[0], o, each)
	}
	return ppjoin.Between(ctx, cs[0], cs[1], o, each)
}

// weight returns the weight of a record's tokens: without weights their number.
func weight(c ppjoin.Collection, i int, weights []float64) (sum float64) {
	for _, t := range c.Record(i) {
		if weights == nil {
			sum++
		} else {
			sum += math.Round(weights[t]*(1<<20)) / (1 << 20) // as the join takes them
		}
	}
	if c.Alone != nil {
		sum += float64(c.Alone[i])
	}
	return sum
}
