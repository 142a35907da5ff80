package configs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"neardup/cluster/ppjoin"
	"neardup/signature/tokens"
)

// Join are the settings of a similarity join (package ppjoin).
type Join struct {
	Tokens    string  `yaml:"tokens" json:"tokens"`
	Size      int     `yaml:"size" json:"size"`
	Repeats   bool    `yaml:"repeats" json:"repeats"`
	Measure   string  `yaml:"measure" json:"measure"`
	Threshold float64 `yaml:"threshold" json:"threshold"`
	Distance  int     `yaml:"distance" json:"distance"` // with JoinEdit, in place of Threshold
	Weights   string  `yaml:"weights" json:"weights"`
	Algorithm string  `yaml:"algorithm" json:"algorithm"`
	MaxDepth  int     `yaml:"max_depth" json:"max_depth"`
	Extra     int     `yaml:"extra" json:"extra"`
	Bitmaps   bool    `yaml:"bitmaps" json:"bitmaps"`
	MaxBytes  int64   `yaml:"max_bytes" json:"max_bytes"` // of the texts, which are held in memory
}

// The values of the settings of a join, in the order of the packages' own.
var (
	JoinTokens     = []string{tokens.Words: "words", tokens.Letters: "letters", tokens.Characters: JoinCharacters}
	JoinMeasures   = []string{ppjoin.Jaccard: JoinJaccard, ppjoin.Cosine: JoinCosine, ppjoin.Overlap: JoinOverlap, 3: JoinEdit}
	JoinWeights    = []string{"none", JoinIDF}
	JoinAlgorithms = []string{ppjoin.PPJoin: "ppjoin", ppjoin.PPJoinPlus: "ppjoinplus", ppjoin.AllPairs: "allpairs"}
)

// Some of the values: the measures, edit distance among them; tokens of
// characters; weights by inverse document frequency.
const (
	JoinJaccard    = "jaccard"
	JoinCosine     = "cosine"
	JoinOverlap    = "overlap"
	JoinEdit       = "edit"
	JoinCharacters = "characters"
	JoinIDF        = "idf"
)

const (
	maxJoinSize     = 100     // units of a token: a shorter text is filled up to as many
	maxJoinDistance = 1 << 20 // edits
)

// Validate names the first setting that makes no sense.
func (j Join) Validate() error {
	for _, f := range []struct {
		key, value string
		of         []string
	}{
		{"measure", j.Measure, JoinMeasures}, {"weights", j.Weights, JoinWeights},
		{"tokens", j.Tokens, JoinTokens}, {"algorithm", j.Algorithm, JoinAlgorithms},
	} {
		if !slices.Contains(f.of, f.value) {
			return fmt.Errorf("%s: there is no %q; there are %s", f.key, f.value, strings.Join(f.of, ", "))
		}
	}
	edit, weighted := j.Measure == JoinEdit, j.Weights == JoinIDF
	switch {
	case edit && (j.Distance < 0 || j.Distance > maxJoinDistance):
		return fmt.Errorf("distance: %d is not a number of edits from 0 to %d", j.Distance, maxJoinDistance)
	case edit && weighted:
		return fmt.Errorf("weights: %s is for %s, %s and %s", j.Weights, JoinJaccard, JoinCosine, JoinOverlap)
	case edit && j.Tokens != JoinCharacters:
		return fmt.Errorf("tokens: %s is about %s, not %s", JoinEdit, JoinCharacters, j.Tokens)
	case edit && j.Extra > 0:
		return fmt.Errorf("extra: longer prefixes are for %s, %s and %s", JoinJaccard, JoinCosine, JoinOverlap)
	case !edit && !(j.Threshold > 0 && j.Threshold <= math.MaxFloat64):
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

// TokenOptions say how texts are cut.
func (j Join) TokenOptions(workers int) tokens.Options {
	return tokens.Options{Unit: tokens.Unit(slices.Index(JoinTokens, j.Tokens)), Size: j.Size, Repeats: j.Repeats,
		Alone: !j.Repeats && j.Weights != JoinIDF, Workers: workers}
}

// Options say how records are joined, but for their weights. Edit distance has
// EditOptions.
func (j Join) Options(workers int) ppjoin.Options {
	return ppjoin.Options{Measure: ppjoin.Measure(slices.Index(JoinMeasures, j.Measure)), Threshold: j.Threshold,
		Algorithm: j.algorithm(), MaxDepth: j.MaxDepth, Extra: j.Extra, Bitmaps: j.Bitmaps, Workers: workers}
}

// EditOptions say how texts are joined by their edit distance.
func (j Join) EditOptions(workers int) ppjoin.EditOptions {
	return ppjoin.EditOptions{Distance: j.Distance, Q: j.Size, Algorithm: j.algorithm(), MaxDepth: j.MaxDepth,
		Bitmaps: j.Bitmaps, Workers: workers}
}

func (j Join) algorithm() ppjoin.Algorithm {
	return ppjoin.Algorithm(slices.Index(JoinAlgorithms, j.Algorithm))
}
