package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"neardup/cluster"
	"neardup/cluster/ppjoin"
	"neardup/signature/minhash"
	"neardup/signature/tokens"
)

// JoinCounts counts what a join does.
type JoinCounts = ppjoin.Counts

// Join holds the settings of a similarity join (TODS 2011). It is exact (package
// ppjoin), unless it joins sketches or finds candidates by bands of min-hashes.
type Join struct {
	Tokens    string  `yaml:"tokens" json:"tokens"`
	Size      int     `yaml:"size" json:"size"`
	Repeats   bool    `yaml:"repeats" json:"repeats"`
	Measure   string  `yaml:"measure" json:"measure"`
	Threshold float64 `yaml:"threshold" json:"threshold"`
	Distance  int     `yaml:"distance" json:"distance"` // with JoinEdit in edits, with JoinHamming in tokens; it replaces Threshold
	Weights   string  `yaml:"weights" json:"weights"`
	Algorithm string  `yaml:"algorithm" json:"algorithm"`
	MaxDepth  int     `yaml:"max_depth" json:"max_depth"`
	Extra     int     `yaml:"extra" json:"extra"`
	Bitmaps   bool    `yaml:"bitmaps" json:"bitmaps"`
	Sketch    int     `yaml:"sketch" json:"sketch"`       // size of the sketches that are joined; 0: the tokens themselves
	Rows      int     `yaml:"rows" json:"rows"`           // with JoinLSH: min-hashes of a band
	Recall    float64 `yaml:"recall" json:"recall"`       // with JoinLSH: share of the pairs at the threshold that are found
	MaxBytes  int64   `yaml:"max_bytes" json:"max_bytes"` // limit of the texts, which are held in memory

	Given []TokenWeight `yaml:"-" json:"-"` // with JoinGiven: weights of tokens; others weigh 1
}

// TokenWeight is the weight of a token, which is given as a text of which it is the
// only token.
type TokenWeight struct {
	Token  string
	Weight float64
}

// Values of the settings of a join, in the order of the packages' own constants.
var (
	JoinTokens     = []string{tokens.Words: "words", tokens.Letters: "letters", tokens.Characters: JoinCharacters}
	JoinMeasures   = []string{ppjoin.Jaccard: JoinJaccard, ppjoin.Cosine: JoinCosine, ppjoin.Overlap: JoinOverlap, ppjoin.Hamming: JoinHamming, 4: JoinEdit}
	JoinWeights    = []string{JoinUnweighted, JoinIDF}
	JoinAlgorithms = []string{ppjoin.PPJoin: "ppjoin", ppjoin.PPJoinPlus: JoinPPJoinPlus, ppjoin.AllPairs: "allpairs", 3: JoinLSH}
)

// Values that the code refers to: the measures, edit distance among them; tokens of
// characters; weights by inverse document frequency.
const (
	JoinJaccard    = "jaccard"
	JoinCosine     = "cosine"
	JoinOverlap    = "overlap"
	JoinHamming    = "hamming"
	JoinEdit       = "edit"
	JoinCharacters = "characters"
	JoinIDF        = "idf"
	JoinUnweighted = "none"
	JoinGiven      = "given" // not among JoinWeights: a config has no place for Join.Given
	JoinPPJoinPlus = "ppjoinplus"
	JoinLSH        = "lsh"
)

const (
	maxJoinSize     = 100     // units of a token; a shorter text is padded to as many
	maxJoinDistance = 1 << 20 // edits or tokens
)

// Validate returns an error that names the first invalid setting.
func (j Join) Validate() error {
	for _, f := range []struct {
		key, value string
		of         []string
	}{
		{"measure", j.Measure, JoinMeasures}, {"weights", j.Weights, JoinWeights},
		{"tokens", j.Tokens, JoinTokens}, {"algorithm", j.Algorithm, JoinAlgorithms},
	} {
		if !slices.Contains(f.of, f.value) && !(f.value == JoinGiven && j.Given != nil) {
			return fmt.Errorf("%s: there is no %q; there are %s", f.key, f.value, strings.Join(f.of, ", "))
		}
	}
	edit, hamming, weighted := j.Measure == JoinEdit, j.Measure == JoinHamming, j.Weights != JoinUnweighted
	if j.Algorithm == JoinLSH || j.Sketch != 0 {
		if err := j.validateSampled(); err != nil {
			return err
		}
	}
	switch {
	case edit && (j.Distance < 0 || j.Distance > maxJoinDistance):
		return fmt.Errorf("distance: %d is not a number of edits from 0 to %d", j.Distance, maxJoinDistance)
	case hamming && (j.Distance < 0 || j.Distance > maxJoinDistance):
		return fmt.Errorf("distance: %d is not a number of tokens from 0 to %d", j.Distance, maxJoinDistance)
	case (edit || hamming) && weighted:
		return fmt.Errorf("weights: %s is for %s, %s and %s", j.Weights, JoinJaccard, JoinCosine, JoinOverlap)
	case edit && j.Tokens != JoinCharacters:
		return fmt.Errorf("tokens: %s is about %s, not %s", JoinEdit, JoinCharacters, j.Tokens)
	case edit && j.Extra > 0:
		return fmt.Errorf("extra: longer prefixes are for %s, %s and %s", JoinJaccard, JoinCosine, JoinOverlap)
	case !edit && !hamming && !(j.Threshold > 0 && j.Threshold <= math.MaxFloat64):
		return fmt.Errorf("threshold: %v is not a number above 0", j.Threshold)
	case j.Threshold > 1 && (j.Measure == JoinJaccard || j.Measure == JoinCosine):
		return fmt.Errorf("threshold: %v is above 1, the greatest %s there is", j.Threshold, j.Measure)
	case j.Size < 1 || j.Size > maxJoinSize:
		return fmt.Errorf("size: %d is not from 1 to %d", j.Size, maxJoinSize)
	case j.MaxDepth < 0:
		return fmt.Errorf("max_depth: %d is negative", j.MaxDepth)
	case j.Extra < 0:
		return fmt.Errorf("extra: %d is negative", j.Extra)
	case j.Extra > 0 && weighted:
		return fmt.Errorf("extra: longer prefixes are for tokens without weights")
	case j.MaxBytes < 1:
		return fmt.Errorf("max_bytes: %d is under 1", j.MaxBytes)
	}
	return nil
}

// validateSampled returns an error that names the first setting that does not fit a
// join of samples.
func (j Join) validateSampled() error {
	what := "algorithm: " + JoinLSH
	if j.Sketch != 0 {
		what = fmt.Sprintf("sketch: %d", j.Sketch)
	}
	switch {
	case j.Sketch != 0 && j.Algorithm == JoinLSH:
		return fmt.Errorf("%s is for an exact algorithm, not %s", what, JoinLSH)
	case j.Sketch < 0 || j.Sketch > minhash.MaxComponents:
		return fmt.Errorf("%s is not from 0 to %d", what, minhash.MaxComponents)
	case j.Sketch != 0 && j.Measure != JoinJaccard:
		return fmt.Errorf("%s is for %s", what, JoinJaccard)
	case j.Measure != JoinJaccard && j.Measure != JoinCosine:
		return fmt.Errorf("%s is for %s and %s", what, JoinJaccard, JoinCosine)
	case j.Sketch != 0 && j.Weights != JoinUnweighted:
		return fmt.Errorf("%s is for tokens without weights", what)
	case j.Sketch != 0:
		return nil
	case !(j.Threshold > 0 && j.Threshold <= 1):
		return fmt.Errorf("threshold: %v is not above 0 and at most 1", j.Threshold)
	case !(j.Recall > 0 && j.Recall < 1):
		return fmt.Errorf("recall: %v is not between 0 and 1", j.Recall)
	case j.Rows < 1:
		return fmt.Errorf("rows: %d is under 1", j.Rows)
	case j.bands().Validate() != nil: // the number of bands is no setting of a join, so its error does not fit
		return fmt.Errorf("rows: %d at threshold %v and recall %v take more than %d min-hashes a text; take fewer rows, a higher threshold or a lower recall",
			j.Rows, j.Threshold, j.Recall, minhash.MaxComponents)
	}
	return nil
}

// tokenOptions returns the options for splitting texts into tokens. alone allows
// tokens that only one text has to be counted instead of listed.
func (j Join) tokenOptions(workers int, alone bool) tokens.Options {
	return tokens.Options{Unit: tokens.Unit(slices.Index(JoinTokens, j.Tokens)), Size: j.Size, Repeats: j.Repeats,
		Alone: alone && !j.Repeats && j.Weights == JoinUnweighted, Workers: workers}
}

// options returns the options of the join without weights. For the edit distance,
// editOptions replaces it.
func (j Join) options(workers int) ppjoin.Options {
	threshold := j.Threshold
	if j.Measure == JoinHamming {
		threshold = float64(j.Distance)
	}
	return ppjoin.Options{Measure: ppjoin.Measure(slices.Index(JoinMeasures, j.Measure)), Threshold: threshold,
		Algorithm: j.algorithm(), MaxDepth: j.MaxDepth, Extra: j.Extra, Bitmaps: j.Bitmaps, Workers: workers}
}

// editOptions returns the options of a join by edit distance.
func (j Join) editOptions(workers int) ppjoin.EditOptions {
	return ppjoin.EditOptions{Distance: j.Distance, Q: j.Size, Algorithm: j.algorithm(), MaxDepth: j.MaxDepth,
		Bitmaps: j.Bitmaps, Workers: workers}
}

func (j Join) algorithm() ppjoin.Algorithm {
	if j.Algorithm == JoinLSH {
		return ppjoin.PPJoin // which has no part in it
	}
	return ppjoin.Algorithm(slices.Index(JoinAlgorithms, j.Algorithm))
}

// Similar emits the similar pairs of one collection of texts, or the pairs of a
// text of the first and one of the second, by their indexes, in any order.
// similarity is the value of the measure; for a distance it is the distance. share is
// from 0 to 1: for an overlap, its share of the union; for the Hamming distance, the
// share of the tokens of both that they have in common; for the edit distance, the
// share of the longer text that is unchanged. Similar ends with ctx.
func (j Join) Similar(ctx context.Context, workers int, texts [][]string, emit func(a, b int, similarity, share float64) error) (JoinCounts, error) {
	last := len(texts) - 1
	if j.Measure == JoinEdit {
		each := func(p ppjoin.EditPair) error {
			longer := max(utf8.RuneCountInString(texts[0][p.A]), utf8.RuneCountInString(texts[last][p.B]), 1)
			return emit(p.A, p.B, float64(p.Distance), 1-float64(p.Distance)/float64(longer))
		}
		if last == 0 {
			return ppjoin.SelfEdit(ctx, texts[0], j.editOptions(workers), each)
		}
		return ppjoin.BetweenEdit(ctx, texts[0], texts[1], j.editOptions(workers), each)
	}
	cs, o, err := j.records(ctx, workers, j.Algorithm != JoinLSH, texts)
	if err != nil {
		return JoinCounts{}, err
	}
	each := func(p ppjoin.Pair) error {
		share := p.Similarity
		switch o.Measure {
		case ppjoin.Hamming:
			share = 1 - share/(weight(cs[0], p.A, nil)+weight(cs[last], p.B, nil))
		case ppjoin.Overlap:
			share /= weight(cs[0], p.A, o.Weights) + weight(cs[last], p.B, o.Weights) - share
			share = min(share, 1) // the sums are rounded
		}
		return emit(p.A, p.B, p.Similarity, share)
	}
	if j.Algorithm == JoinLSH {
		return j.byBands(ctx, workers, texts, cs, o, each)
	}
	if last == 0 {
		return ppjoin.Self(ctx, cs[0], o, each)
	}
	return ppjoin.Between(ctx, cs[0], cs[1], o, each)
}

// Records returns the records of collections of texts and the options of their
// join, for a join that is done elsewhere. It is not for the edit distance.
func (j Join) Records(ctx context.Context, workers int, texts [][]string) ([]ppjoin.Collection, ppjoin.Options, error) {
	return j.records(ctx, workers, false, texts)
}

func (j Join) records(ctx context.Context, workers int, alone bool, texts [][]string) ([]ppjoin.Collection, ppjoin.Options, error) {
	o := j.options(workers)
	if j.Sketch > 0 {
		return j.sketches(workers, texts), o, ctx.Err()
	}
	sides := len(texts)
	if j.Weights == JoinGiven {
		texts = append(slices.Clone(texts), j.givenTokens())
	}
	records, err := tokens.Make(j.tokenOptions(workers, alone), texts...)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, ppjoin.Options{}, err
	}
	var cs []ppjoin.Collection
	for _, r := range records {
		cs = append(cs, ppjoin.Collection(r))
	}
	single := cs
	if j.Repeats {
		cs = ppjoin.Multiset(cs...)
	}
	switch j.Weights {
	case JoinIDF:
		o.Weights = ppjoin.IDF(cs...)
	case JoinGiven:
		o.Weights = j.givenWeights(single, cs)
	}
	return cs[:sides], o, nil
}

// weight returns the weight of a record's tokens, or their number if there are no
// weights.
func weight(c ppjoin.Collection, i int, weights *ppjoin.Weights) (sum float64) {
	for _, t := range c.Record(i) {
		if weights == nil {
			sum++
		} else {
			sum += weights.Of(t)
		}
	}
	if c.Alone != nil {
		sum += float64(c.Alone[i])
	}
	return sum
}

// Emits implements Search.
func (Join) Emits() Kind { return Scored }

// Find joins the texts. It holds the texts and then their tokens in memory.
func (j Join) Find(ctx context.Context, in Input, out Sink, c *Counts) error {
	var keys []cluster.Key
	var texts []string
	held := int64(0)
	for t, err := range in.Texts {
		if err != nil {
			return err
		}
		if held += int64(len(t.Text)); held > j.MaxBytes {
			return fmt.Errorf("a join holds all texts in memory, and these have more than %d bytes; "+
				"raise cluster.join.max_bytes, or choose a method that reads them from disk, such as minhash-lsh", j.MaxBytes)
		}
		keys, texts = append(keys, t.Key), append(texts, t.Text)
	}
	counts, err := j.Similar(ctx, in.Workers, [][]string{texts}, func(a, b int, _, share float64) error {
		return out.Pair(keys[a], keys[b], share)
	})
	c.Join = &counts
	return err
}

// Meet implements Search.
func (j Join) Meet(t Two) Meeting {
	if j.Algorithm == JoinLSH {
		return Meeting{Candidates: j.meets(t.Texts), Tokens: j.common(t.Texts)}
	}
	return Meeting{Candidates: true, Exact: true, Tokens: j.common(t.Texts)}
}

// common counts the tokens of two texts, as sets or multisets, and those in common.
func (j Join) common(texts [2]string) *Tokens {
	o := j.tokenOptions(1, false)
	if j.Measure == JoinEdit {
		o = tokens.Options{Unit: tokens.Characters, Size: j.Size, Repeats: true}
	}
	records, err := tokens.Make(o, texts[:])
	if err != nil {
		return nil // cannot fail: the config is valid
	}
	a, b := slices.Sorted(slices.Values(records[0].Record(0))), slices.Sorted(slices.Values(records[0].Record(1)))
	t := &Tokens{Of: [2]int{len(a), len(b)}}
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			t.Common++
			a, b = a[1:], b[1:]
		}
	}
	return t
}

// maxEditScored is the length, in code points, up to which the edit distance of any
// two texts is computed. It takes the product of their lengths.
const maxEditScored = 10_000

// Score implements Scorer. The weights of a join depend on all texts, so with
// weights two texts alone have no score.
func (j Join) Score(t Two) (s Score, err error) {
	s.Measure, s.Least = j.Measure+" of the tokens", j.Threshold
	switch j.Measure {
	case JoinEdit:
		s.Measure, s.Least = "edit distance over the longer text's length; the distance has the limit", math.Inf(1)
	case JoinOverlap:
		s.Measure, s.Least = "share of the union of tokens; their number has the threshold", math.Inf(1)
	case JoinHamming:
		s.Measure, s.Least = "share of the tokens that are in common; the Hamming distance has the limit", math.Inf(1)
	}
	if j.Sketch > 0 {
		s.Measure = j.Measure + " of sketches of the tokens"
	}
	if j.Weights == JoinIDF {
		return s, nil
	}
	texts := [][]string{t.Texts[:]}
	longer := max(utf8.RuneCountInString(t.Texts[0]), utf8.RuneCountInString(t.Texts[1]))
	if s.Scored = j.Measure != JoinEdit || longer <= maxEditScored; s.Scored {
		all := j
		all.Threshold, all.Distance = math.SmallestNonzeroFloat64, 2*longer
		if j.Algorithm == JoinLSH {
			all.Algorithm = JoinPPJoinPlus // the score is that of all tokens
		}
		if _, err = all.Similar(context.Background(), 1, texts, func(_, _ int, _, share float64) error {
			s.Similarity = share
			return nil
		}); err != nil {
			return s, err
		}
	}
	s.Known = true
	_, err = j.Similar(context.Background(), 1, texts, func(_, _ int, _, _ float64) error {
		s.Near = true
		return nil
	})
	return s, err
}
