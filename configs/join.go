package configs

import (
	"fmt"
	"slices"

	"neardup/cluster/join"
	"neardup/signature/tokens"
)

// Join are the settings of a similarity join (package join).
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
	MaxBytes  int64   `yaml:"max_bytes" json:"max_bytes"` // of the texts, which are held in memory
}

// The values of the settings of a join.
var (
	joinTokens     = []string{tokens.Words: "words", tokens.Letters: "letters", tokens.Characters: "characters"}
	joinMeasures   = []string{join.Jaccard: "jaccard", join.Cosine: "cosine", join.Overlap: "overlap", 3: JoinEdit}
	joinWeights    = []string{"none", JoinIDF}
	joinAlgorithms = []string{join.PPJoin: "ppjoin", join.PPJoinPlus: "ppjoinplus", join.AllPairs: "allpairs"}
)

// JoinEdit is the measure of edit distance, JoinIDF the weights by inverse
// document frequency.
const (
	JoinEdit = "edit"
	JoinIDF  = "idf"
)

// Validate names the first setting that makes no sense.
func (j Join) Validate() error {
	for _, f := range []struct {
		key, value string
		of         []string
	}{
		{"tokens", j.Tokens, joinTokens}, {"measure", j.Measure, joinMeasures},
		{"weights", j.Weights, joinWeights}, {"algorithm", j.Algorithm, joinAlgorithms},
	} {
		if !slices.Contains(f.of, f.value) {
			return fmt.Errorf("%s: %q is none of %q", f.key, f.value, f.of)
		}
	}
	weighted := j.Weights == JoinIDF
	switch {
	case j.Size < 1:
		return fmt.Errorf("size: %d is under 1", j.Size)
	case j.Measure == JoinEdit && j.Distance < 0:
		return fmt.Errorf("distance: %d is negative", j.Distance)
	case j.Measure == JoinEdit && weighted:
		return fmt.Errorf("weights: %s is not for measure: %s", j.Weights, j.Measure)
	case j.Measure != JoinEdit && !(j.Threshold > 0):
		return fmt.Errorf("threshold: %v is not above 0", j.Threshold)
	case (j.Measure == "jaccard" || j.Measure == "cosine") && j.Threshold > 1:
		return fmt.Errorf("threshold: %v is above 1", j.Threshold)
	case j.MaxDepth < 0:
		return fmt.Errorf("max_depth: %d is negative", j.MaxDepth)
	case j.Extra < 0:
		return fmt.Errorf("extra: %d is negative", j.Extra)
	case j.Extra > 0 && weighted:
		return fmt.Errorf("extra: longer prefixes are not for weights")
	case j.MaxBytes < 1:
		return fmt.Errorf("max_bytes: %d is under 1", j.MaxBytes)
	}
	return nil
}

// TokenOptions say how texts are cut.
func (j Join) TokenOptions(workers int) tokens.Options {
	return tokens.Options{Unit: tokens.Unit(slices.Index(joinTokens, j.Tokens)), Size: j.Size, Repeats: j.Repeats,
		Alone: !j.Repeats && j.Weights != JoinIDF, Workers: workers}
}

// Options say how records are joined, but for their weights. Edit distance has
// EditOptions.
func (j Join) Options(workers int) join.Options {
	return join.Options{Measure: join.Measure(slices.Index(joinMeasures, j.Measure)), Threshold: j.Threshold,
		Algorithm: j.algorithm(), MaxDepth: j.MaxDepth, Extra: j.Extra, Workers: workers}
}

// EditOptions say how texts are joined by their edit distance.
func (j Join) EditOptions(workers int) join.EditOptions {
	return join.EditOptions{Distance: j.Distance, Q: j.Size, Algorithm: j.algorithm(), MaxDepth: j.MaxDepth, Workers: workers}
}

func (j Join) algorithm() join.Algorithm {
	return join.Algorithm(slices.Index(joinAlgorithms, j.Algorithm))
}
