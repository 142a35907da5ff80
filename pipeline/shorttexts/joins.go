// Package shorttexts repeats the experiments of the papers on short texts: the
// tables of the TODS paper about similarity joins in memory, and the figures of the
// SimFinder paper.
package shorttexts

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"neardup/cluster/ppjoin"
	"neardup/cluster/search"
	"neardup/paper"
	"neardup/pipeline/costs"
	"neardup/signature/minhash"
)

// minSeconds is how long a join is repeated, so that its time means something.
const minSeconds = 0.2

// Settings of section 8.1 of the TODS paper.
var thresholds = []float64{0.95, 0.90, 0.85, 0.80}

const (
	depth      = 2  // MAXDEPTH of table I
	depthExact = 3  // of qp in table VII
	sketchSize = 32 // shingles of a record
	maxDepth   = 7  // of table IV
	lastT      = 0.80
)

// joins makes the tables of the TODS paper.
type joins struct {
	ctx   context.Context
	join  search.Join // by Jaccard, without weights
	texts []string    // with different tokens, and with any
}

// Joins returns the tables of section 8.1 of the TODS paper for texts. The join says
// what a token is.
func Joins(ctx context.Context, name string, join search.Join, texts []string, begin func(what string, place, of int)) (out paper.TODS, err error) {
	join.Measure, join.Weights, join.Algorithm, join.Sketch, join.Extra, join.Bitmaps = search.JoinJaccard, search.JoinUnweighted, search.JoinPPJoinPlus, 0, 0, false
	join.MaxDepth, join.Rows, join.Recall = depth, minhash.RowsWords, minhash.Recall
	j := &joins{ctx: ctx, join: join}
	if err := j.distinct(texts); err != nil {
		return out, err
	}
	out.Name, out.Texts = name, len(j.texts)
	out.Tokens = fmt.Sprintf("%s, %d in a token", join.Tokens, join.Size)
	for i, table := range []struct {
		name string
		make func(*paper.TODS) error
	}{{"table I", j.table1}, {"table III", j.table3}, {"table IV", j.table4}, {"table VII", j.table7}} {
		begin(table.name, i+1, 4)
		if err := table.make(&out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// distinct keeps the first of the texts with the same set of tokens: "Exact
// duplicates in the datasets are removed after tokenizing" (section 8.1.1).
func (j *joins) distinct(texts []string) error {
	cs, _, err := j.join.Records(j.ctx, 1, [][]string{texts})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	var key []byte
	for i, text := range texts {
		record := slices.Compact(slices.Sorted(slices.Values(cs[0].Record(i))))
		key = key[:0]
		for _, t := range record {
			key = binary.LittleEndian.AppendUint32(key, t)
		}
		if len(record) > 0 && !seen[string(key)] {
			seen[string(key)] = true
			j.texts = append(j.texts, text)
		}
	}
	return nil
}

// pair is a pair of texts, the first of the lesser index.
type pair struct{ a, b int }

func compare(x, y pair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) }

// timed repeats do, and returns the mean of its processor time in milliseconds.
func timed(do func() error) (ms float64, err error) {
	begun := costs.CPUSeconds()
	for n := 1; ; n++ {
		if err := do(); err != nil {
			return 0, err
		}
		if spent := costs.CPUSeconds() - begun; spent >= minSeconds || n >= 100 {
			return 1000 * spent / float64(n), nil
		}
	}
}

// exact runs a join of records. It returns its cost, the number of similar records,
// and its pairs in order.
func (j *joins) exact(c ppjoin.Collection, o ppjoin.Options) (cost paper.Cost, similar int64, pairs []pair, err error) {
	var counts search.JoinCounts
	cost.Milliseconds, err = timed(func() (err error) {
		pairs = pairs[:0]
		counts, err = ppjoin.Self(j.ctx, c, o, func(p ppjoin.Pair) error {
			pairs = append(pairs, pair{p.A, p.B})
			return nil
		})
		return err
	})
	slices.SortFunc(pairs, compare)
	cost.Candidates = counts.Candidates
	return cost, counts.Similar, pairs, err
}

// run runs an exact join of all tokens of the texts.
func (j *joins) run(change func(*search.Join)) (paper.Cost, int64, []pair, error) {
	join := j.join
	change(&join)
	cs, o, err := join.Records(j.ctx, 1, [][]string{j.texts})
	if err != nil {
		return paper.Cost{}, 0, nil, err
	}
	return j.exact(cs[0], o)
}

func (j *joins) table1(out *paper.TODS) (err error) {
	for _, t := range thresholds {
		row := paper.Candidates{Threshold: t}
		for algorithm, cost := range map[string]*paper.Cost{"allpairs": &row.AllPairs, "ppjoin": &row.PPJoin, search.JoinPPJoinPlus: &row.PPJoinPlus} {
			if *cost, row.Similar, _, err = j.run(func(s *search.Join) { s.Threshold, s.Algorithm = t, algorithm }); err != nil {
				return err
			}
		}
		out.Table1 = append(out.Table1, row)
	}
	return nil
}

// bands runs a join by bands of min-hashes, which makes its tokens itself. Its time
// is without these.
func (j *joins) bands(join search.Join) (cost paper.Cost, pairs []pair, err error) {
	join.Algorithm = search.JoinLSH
	tokens, err := timed(func() error {
		_, _, err := join.Records(j.ctx, 1, [][]string{j.texts})
		return err
	})
	if err != nil {
		return cost, nil, err
	}
	var counts search.JoinCounts
	cost.Milliseconds, err = timed(func() (err error) {
		pairs = pairs[:0]
		counts, err = join.Similar(j.ctx, 1, [][]string{j.texts}, func(a, b int, _, _ float64) error {
			pairs = append(pairs, pair{a, b})
			return nil
		})
		return err
	})
	slices.SortFunc(pairs, compare)
	cost.Candidates = counts.Candidates
	cost.Milliseconds = max(0, cost.Milliseconds-tokens)
	return cost, pairs, err
}

// share returns the share of pairs that are among others, which are in order. It is
// nil if there are no pairs.
func share(pairs, others []pair) *float64 {
	if len(pairs) == 0 {
		return nil
	}
	both := 0
	for _, p := range pairs {
		if _, ok := slices.BinarySearchFunc(others, p, compare); ok {
			both++
		}
	}
	s := float64(both) / float64(len(pairs))
	return &s
}

func (j *joins) table3(out *paper.TODS) error {
	for _, m := range []struct{ name, measure, weights string }{
		{"Jaccard", search.JoinJaccard, search.JoinUnweighted},
		{"cosine", search.JoinCosine, search.JoinUnweighted},
		{"weighted cosine", search.JoinCosine, search.JoinIDF},
	} {
		set := func(s *search.Join) { s.Threshold, s.Measure, s.Weights = lastT, m.measure, m.weights }
		_, _, all, err := j.run(set)
		if err != nil {
			return err
		}
		fastest := len(out.Table3)
		for rows := 2; rows <= 7; rows++ {
			join := j.join
			set(&join)
			join.Rows = rows
			t := lastT
			if m.measure == search.JoinCosine {
				t *= t
			}
			row := paper.Bands{Measure: m.name, Rows: rows, Bands: minhash.Bands(t, minhash.Recall, rows)}
			var pairs []pair
			if row.Cost, pairs, err = j.bands(join); err != nil {
				return err
			}
			row.Recall = share(all, pairs)
			out.Table3 = append(out.Table3, row)
			if row.Milliseconds < out.Table3[fastest].Milliseconds {
				fastest = len(out.Table3) - 1
			}
		}
		out.Table3[fastest].Fastest = true
	}
	return nil
}

func (j *joins) table4(out *paper.TODS) (err error) {
	for depth := range maxDepth + 1 {
		row := paper.Depth{Depth: depth}
		if row.Cost, row.Similar, _, err = j.run(func(s *search.Join) { s.Threshold, s.MaxDepth = lastT, depth }); err != nil {
			return err
		}
		out.Table4 = append(out.Table4, row)
	}
	return nil
}

func (j *joins) table7(out *paper.TODS) error {
	for _, t := range thresholds {
		row := paper.Samples{Threshold: t}
		qa, _, _, err := j.run(func(s *search.Join) { s.Threshold, s.Algorithm = t, "allpairs" })
		if err != nil {
			return err
		}
		qp, _, truth, err := j.run(func(s *search.Join) { s.Threshold, s.MaxDepth = t, depthExact })
		if err != nil {
			return err
		}
		sketched := j.join
		sketched.Threshold, sketched.Sketch = t, sketchSize
		var cs []ppjoin.Collection
		var o ppjoin.Options
		if row.Sketching, err = timed(func() (err error) {
			cs, o, err = sketched.Records(j.ctx, 1, [][]string{j.texts})
			return err
		}); err != nil {
			return err
		}
		sp, _, found, err := j.exact(cs[0], o)
		if err != nil {
			return err
		}
		banded := j.join
		banded.Threshold = t
		ql, byBands, err := j.bands(banded)
		if err != nil {
			return err
		}
		row.Similar, row.Precision, row.Recall, row.RecallQL = int64(len(truth)), share(found, truth), share(truth, found), share(truth, byBands)
		row.QA, row.QP, row.SP, row.QL = qa.Milliseconds, qp.Milliseconds, sp.Milliseconds, ql.Milliseconds
		out.Table7 = append(out.Table7, row)
	}
	return nil
}
