package terms_test

import (
	scheme "neardup/signature/terms"
	"neardup/verify/terms"
)

// The settings that docs/benchmarks/short-texts.md measures: preset is recommended, and
// paper has what the paper states, equation 1 as it is written and parts of
// speech in the order that section 3.1 gives them. The intervals are ours in
// both.
var (
	preset = scheme.Options{
		Weighing: scheme.Weighing{
			Intervals: scheme.Intervals{
				Noun: scheme.Interval{0.5, 1}, Verb: scheme.Interval{0.4, 0.8},
				Adjective: scheme.Interval{0.4, 0.8}, Other: scheme.Interval{0.4, 0.8},
				Adverb: scheme.Interval{0.1, 0.2}, Connective: scheme.Interval{0.05, 0.1},
				Pronoun: scheme.Interval{0.05, 0.1}, Numeral: scheme.Interval{0.5, 1},
			},
			Heaviest: scheme.Rare, Scale: scheme.Log, Long: true, Frequencies: scheme.OfDictionary, MaxTerms: 10000,
		},
		Threshold: 0.65, Gram: 3, Extra: 6, MaxFeatures: 256, Order: scheme.ByWeight,
	}
	paper = scheme.Options{
		Weighing: scheme.Weighing{
			Intervals: scheme.Intervals{
				Noun: scheme.Interval{0.8, 1}, Verb: scheme.Interval{0.6, 0.8},
				Adjective: scheme.Interval{0.6, 0.8}, Other: scheme.Interval{0.6, 0.8},
				Adverb: scheme.Interval{0.2, 0.3}, Connective: scheme.Interval{0.1, 0.2},
				Pronoun: scheme.Interval{0.1, 0.2}, Numeral: scheme.Interval{0.2, 0.3},
			},
			Heaviest: scheme.Frequent, Scale: scheme.Linear, Frequencies: scheme.OfDictionary, MaxTerms: 10000,
		},
		Threshold: 0.65, Gram: 3, Extra: 3, Order: scheme.ByText,
	}
)

// measured returns the measure that goes with a scheme.
func measured(o scheme.Options) terms.Options {
	return terms.Options{Weighing: o.Weighing, Similarity: terms.Weighted, Threshold: o.Threshold, Containment: 2}
}
