package trials

import (
	"context"
	"iter"

	"neardup/configs"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/sweep"
	"neardup/truth"
)

// SweepOptions are what a sweep is told.
type SweepOptions struct {
	Plan        sweep.Plan
	Truth       *truth.Truth                     // nil: none
	TruthDigest string                           // tells truths apart
	Sample      int                              // documents that the rates are measured on; 0: no rates
	Repeat      int                              // runs of each variant for its cost, the least of which counts
	Begin       func(name string, place, of int) // called before the place-th variant of the order is run
}

// sweeper is a sweep at work.
type sweeper struct {
	*variants
	SweepOptions
	rates rateMeter
}

// Sweep runs the plan's variants over the inputs, or over what the workspace
// holds. The workspace keeps its config; its stages are those of the last
// variant. Results are kept in it too, so that an interrupted sweep goes on with
// the variant that it was at.
// Like Run it returns an error that wraps ErrInputFailure, with all results,
// when some input could not be read.
func Sweep(ctx context.Context, w *workspace.Workspace, inputs []workspace.Source, o SweepOptions) (sweep.Sweep, error) {
	base := o.Plan.Variants[0].Config
	out := sweep.Sweep{Base: base, Varies: o.Plan.Varies, Grid: o.Plan.Grid, Sample: o.Sample, Repeat: o.Repeat,
		Results: make([]sweep.Result, len(o.Plan.Variants))}
	var all []configs.Config
	for _, v := range o.Plan.Variants {
		all = append(all, v.Config)
	}
	s := &sweeper{variants: newVariants(w, o.Repeat), SweepOptions: o}
	if err := s.begin(base, inputs); err != nil {
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

// storedResult is a variant's result as the workspace keeps it.
type storedResult struct {
	sweep.Result
	Missing int `json:"missing"` // judged pages that are no document
}

// measure fills in what the variant's clusters are worth.
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

// recordIDs returns the clusters as the record ids of their pages.
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

// evenly takes at most n of s, at even distances.
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
