package trials

import (
	"context"
	"iter"

	"neardup/configs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/sweep"
	"neardup/truth"
)

// SweepOptions are the options of a sweep.
type SweepOptions struct {
	Plan        sweep.Plan
	Truth       *truth.Truth                     // nil: none
	TruthDigest string                           // identifies the truth
	Sample      int                              // documents for which the rates are measured; 0: no rates
	Repeat      int                              // runs of each variant to measure its cost; the smallest counts
	Begin       func(name string, place, of int) // called before each variant is run, with its number in the order of running
}

// sweeper is a running sweep.
type sweeper struct {
	*variants
	SweepOptions
	rates rateMeter
}

// Sweep runs the plan's variants over the inputs, or over what the workspace holds.
// The workspace keeps its own config; its stages are those of the last variant. It
// also stores results, so an interrupted sweep resumes with the variant that it was
// at. Like Run, Sweep returns an error that wraps ErrInputFailure, together with
// all results, if some input could not be read.
func Sweep(ctx context.Context, w *workspace.Workspace, sources []inputs.Source, o SweepOptions) (sweep.Sweep, error) {
	base := o.Plan.Variants[0].Config
	out := sweep.Sweep{Base: base, Varies: o.Plan.Varies, Grid: o.Plan.Grid, Sample: o.Sample, Repeat: o.Repeat,
		Results: make([]sweep.Result, len(o.Plan.Variants))}
	var all []configs.Config
	for _, v := range o.Plan.Variants {
		all = append(all, v.Config)
	}
	s := &sweeper{variants: newVariants(w, o.Repeat), SweepOptions: o}
	if err := s.begin(base, sources); err != nil {
		return out, err
	}
	err := s.each(all, func(place, i int) error {
		v := o.Plan.Variants[i]
		o.Begin(v.Name(), place+1, len(all))
		r, _, err := remembered(ctx, s.variants, "sweep", []any{scoresVersion, s.TruthDigest, s.Sample, s.Repeat}, func(_ string, r *storedResult) error {
			return s.measure(ctx, r)
		})
		r.Settings = v.Settings
		out.Results[i] = r.Result
		if i == 0 && o.Truth != nil {
			out.Truth = &sweep.TruthUse{Pages: o.Truth.Len(), Missing: r.Missing}
		}
		return err
	})
	return out, err
}

// storedResult is a variant's result as the workspace stores it.
type storedResult struct {
	sweep.Result
	Missing int `json:"missing"` // judged pages that are no document
}

// measure fills in the scores of the variant's clusters.
func (s *sweeper) measure(ctx context.Context, r *storedResult) error {
	summary, err := results.Summary(ctx, s.variants.Workspace)
	if err != nil {
		return err
	}
	r.Counts = sweepCounts(summary)
	r.Stages = s.stageCosts()
	if s.Truth != nil {
		scores, err := s.Truth.Score(recordIDs(ctx, s.variants.Workspace))
		if err != nil {
			return err
		}
		r.Scores = &scores
	}
	r.Missing, r.Rates, err = s.measureRates(ctx)
	return err
}

func sweepCounts(s report.Summary) sweep.Counts {
	return sweep.Counts{Signatures: s.Signatures, Sets: s.Sets.Sets, LargestSet: s.Sets.Largest,
		Pairs: s.Pairs.Compared, Outcomes: s.Pairs.Outcomes,
		Clusters: s.Clusters.Clusters, Pages: s.Clusters.Pages, Largest: int64(s.Clusters.Largest)}
}

// recordIDs yields the clusters as the record IDs of their pages.
func recordIDs(ctx context.Context, w *workspace.Workspace) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for c, err := range results.Clusters(ctx, w) {
			var ids []string
			for _, m := range c.Members {
				ids = append(ids, m.RecordID)
			}
			if !yield(ids, err) || err != nil {
				return
			}
		}
	}
}

// evenly returns at most n elements of s, at even distances.
func evenly[T any](s []T, n int) []T {
	if len(s) <= n {
		return s
	}
	out := make([]T, n)
	for i := range out {
		out[i] = s[i*len(s)/n]
	}
	return out
}
