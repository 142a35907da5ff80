package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"

	"neardup/configs"
	"neardup/report"
	"neardup/sweep"
	"neardup/truth"
)

// measureVersion counts the changes of what a sweep measures of the same
// clusters; results of another version are measured again.
//
//	1: first
const measureVersion = 1

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
	*Workspace
	SweepOptions
	costs map[string]sweep.Cost // by stage, of the state that the workspace has
	rates rateMeter
}

// Sweep runs the plan's variants over the inputs, or over what the workspace
// holds. The workspace keeps the config that it had, a new one the base,
// whatever happens meanwhile; its stages are those of the last variant. Results
// are kept in it too, so that an interrupted sweep goes on with the variant that
// it was at.
// Like Run it returns an error that wraps ErrInputFailure, with all results,
// when some input could not be read.
func (w *Workspace) Sweep(ctx context.Context, inputs []Source, o SweepOptions) (sweep.Sweep, error) {
	base := o.Plan.Variants[0].Config
	out := sweep.Sweep{Base: base, Varies: o.Plan.Varies, Grid: o.Plan.Grid, Sample: o.Sample, Repeat: o.Repeat,
		Results: make([]sweep.Result, len(o.Plan.Variants))}
	m, err := ReadManifest(w.dir)
	if err != nil {
		return out, err
	}
	w.keeps = cmp.Or(m.Config, &base)
	defer func() { w.config, w.keeps = base, nil }()
	if err := w.admit(inputs); err != nil {
		return out, w.explain(err)
	}
	order, err := w.sweepOrder(o.Plan.Variants)
	if err != nil {
		return out, err
	}
	s := &sweeper{Workspace: w, SweepOptions: o, costs: map[string]sweep.Cost{}}
	var failure error
	for place, i := range order {
		v := o.Plan.Variants[i]
		o.Begin(v.Name(), place+1, len(order))
		r, err := s.variant(ctx, v)
		if err != nil && !errors.Is(err, ErrInputFailure) {
			return out, w.explain(err)
		}
		failure = cmp.Or(failure, err)
		r.Settings = v.Settings
		out.Results[i] = r.Result
		if i == 0 && o.Truth != nil {
			out.Truth = &sweep.TruthUse{Pages: o.Truth.Len(), Missing: r.Missing}
		}
	}
	return out, failure
}

// sweepOrder is the order in which the variants redo the fewest stages.
func (w *Workspace) sweepOrder(variants []sweep.Variant) ([]int, error) {
	known, err := w.sources()
	if err != nil {
		return nil, err
	}
	input := sourcesGeneration(known)
	var present []string
	for _, st := range stages {
		s, ok, err := w.state(st.name)
		if err != nil {
			return nil, err
		}
		if !ok || s.Version != st.version || s.Input != input {
			break
		}
		present = append(present, string(compact(s.Options)))
		input = s.generation()
	}
	chains := make([][]string, len(variants))
	for i, v := range variants {
		for _, st := range stages {
			options, err := json.Marshal(st.options(v.Config))
			if err != nil {
				return nil, err
			}
			chains[i] = append(chains[i], string(options))
		}
	}
	return sweep.Order(chains, present), nil
}

// storedResult is a variant's result as the workspace keeps it.
type storedResult struct {
	sweep.Result
	Missing int `json:"missing"` // judged pages that are no document
}

// variant runs one variant and measures it, or finds that done.
func (s *sweeper) variant(ctx context.Context, v sweep.Variant) (r storedResult, err error) {
	s.config = v.Config
	key, err := s.resultKey()
	if err != nil {
		return r, err
	}
	if done, err := s.store.getJSON(key, &r); done || err != nil {
		s.o.Progress.Skip("all")
		return r, errors.Join(err, s.unread())
	}
	failure := s.runForCost(ctx)
	if failure != nil && !errors.Is(failure, ErrInputFailure) {
		return r, failure
	}
	if err := s.measure(ctx, &r); err != nil {
		return r, err
	}
	// What was measured must be found again under what the inputs are now: a
	// file that turned out unreadable changes them.
	if key, err = s.resultKey(); err != nil {
		return r, err
	}
	b := s.store.batch()
	return r, errors.Join(b.setJSON(key, r), b.commit(), failure)
}

// resultKey names the result of the config for the inputs.
func (s *sweeper) resultKey() ([]byte, error) {
	known, err := s.sources()
	if err != nil {
		return nil, err
	}
	input := sourcesGeneration(known)
	for _, st := range stages {
		options, err := json.Marshal(st.options(s.config))
		if err != nil {
			return nil, err
		}
		input = stageState{Version: st.version, Options: options, Input: input}.generation()
	}
	return metaKey("sweep/" + digest(measureVersion, input, s.TruthDigest, s.Sample, s.Repeat)), nil
}

// runForCost brings all stages up to date, as often as asked for those that
// are not, and takes the least cost of each stage: other work on the machine
// only adds to it.
func (s *sweeper) runForCost(ctx context.Context) error {
	names := StageNames()
	first, err := s.firstStale()
	if err != nil {
		return err
	}
	var failure error
	for i := range s.Repeat {
		if i > 0 {
			if err := s.forget(names[first:]); err != nil {
				return err
			}
		}
		failure = s.Run(ctx, names[0], names[len(names)-1], nil)
		if failure != nil && !errors.Is(failure, ErrInputFailure) {
			return failure
		}
		for at, name := range names {
			state, _, err := s.state(name)
			if err != nil {
				return err
			}
			c := sweep.Cost{Stage: name, Wall: state.Seconds, CPU: state.CPU}
			if old, ok := s.costs[name]; ok && (at < first || i > 0) {
				c.Wall, c.CPU = min(c.Wall, old.Wall), min(c.CPU, old.CPU)
			}
			s.costs[name] = c
		}
		if first == len(names) {
			break // there is nothing to repeat
		}
	}
	return failure
}

// firstStale is the place of the first stage that is not up to date.
func (s *sweeper) firstStale() (int, error) {
	for i, name := range StageNames() {
		if err := s.current(name); errors.Is(err, ErrUsage) {
			return i, nil
		} else if err != nil {
			return 0, err
		}
	}
	return len(stages), nil
}

// forget makes stages count as never done.
func (s *sweeper) forget(names []string) error {
	b := s.store.batch()
	for _, name := range names {
		if err := b.Delete(metaKey("stage/"+name), nil); err != nil {
			return err
		}
	}
	return b.commit()
}

// measure fills in what the variant's clusters are worth.
func (s *sweeper) measure(ctx context.Context, r *storedResult) error {
	summary, err := s.Summary(ctx)
	if err != nil {
		return err
	}
	r.Counts = sweepCounts(summary)
	for _, name := range StageNames() {
		r.Stages = append(r.Stages, s.costs[name])
	}
	if s.Truth != nil {
		scores, err := s.Truth.Score(s.recordIDs(ctx))
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
		Pairs: s.Pairs.Compared, ByLength: s.Pairs.ByLength, BySketch: s.Pairs.BySketch, ByDistance: s.Pairs.ByDistance,
		ByScore: s.Pairs.ByScore, BySubject: s.Pairs.BySubject, Near: s.Pairs.Near,
		Clusters: s.Clusters.Clusters, Pages: s.Clusters.Pages, Largest: int64(s.Clusters.Largest)}
}

// recordIDs gives the clusters as the record ids of their pages.
func (s *sweeper) recordIDs(ctx context.Context) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for c, err := range s.Clusters(ctx) {
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

// keptConfig is the config that the manifest names.
func (w *Workspace) keptConfig() *configs.Config {
	if w.keeps != nil {
		return w.keeps
	}
	return &w.config
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
