package trials

import (
	"context"
	"errors"
	"slices"

	"neardup/compare"
	"neardup/configs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/sweep"
	"neardup/truth"
)

// CompareOptions are the options of a comparison.
type CompareOptions struct {
	Plan        compare.Plan
	Truth       *truth.Truth                     // nil: none; curves need one
	TruthDigest string                           // identifies the truth
	Baseline    string                           // method that recall ratios are relative to; empty: none. It needs a truth
	Disputed    int                              // disputed pairs to show for each two methods, in each direction
	Begin       func(name string, place, of int) // called before each run with its number, and once more before the measurements

	clustered func(*clusterings) error // called with the clusters of all methods; nil: not at all
}

// comparison is a running comparison.
type comparison struct {
	*variants
	CompareOptions
	outcomes []string // of each method, the outcome under which its clusters are kept
	clusterings
}

// storedMethod is the result of a method as the workspace stores it.
type storedMethod struct {
	Input  string       `json:"input"` // generation of the sources
	Counts sweep.Counts `json:"counts"`
	Stages []sweep.Cost `json:"stages"`
}

// Compare runs the plan's methods, and the variants of their curves, over the
// inputs or over what the workspace holds. The extraction runs once; of the other
// stages, those that differ run again. The workspace keeps its own config. It also
// stores results and clusters. So an interrupted comparison resumes with the run
// that it was at, and new labels need no runs except those of the curves. Like Run,
// Compare returns an error that wraps ErrInputFailure, together with all results,
// if some input could not be read.
func Compare(ctx context.Context, w *workspace.Workspace, sources []inputs.Source, o CompareOptions) (out compare.Comparison, err error) {
	c := &comparison{variants: newVariants(w, 1), CompareOptions: o, outcomes: make([]string, len(o.Plan.Methods))}
	if err := c.begin(o.Plan.Base, sources); err != nil {
		return out, err
	}
	failure := c.runAll(ctx, &out)
	if failure != nil && !errors.Is(failure, workspace.ErrInputFailure) {
		return out, failure
	}
	steps := c.steps()
	c.Begin("agreement", steps, steps)
	w.Options.Progress.Start("measure", string(workspace.Missing), "agreement")
	err = c.measure(ctx, &out)
	w.Options.Progress.Stop(err)
	if err != nil {
		return out, w.ExplainError(err)
	}
	return out, failure
}

// runAll does all runs.
func (c *comparison) runAll(ctx context.Context, out *compare.Comparison) error {
	var all []configs.Config
	var names []string
	var runs []func() error
	add := func(name string, config configs.Config, run func() error) {
		names, all, runs = append(names, name), append(all, config), append(runs, run)
	}
	for i, m := range c.Plan.Methods {
		out.Methods = append(out.Methods, compare.Method{Name: m.Name, Config: m.Config, EstimatedBy: m.Config.EstimatedBy()})
		add(m.Name, m.Config, func() error { return c.runMethod(ctx, i, &out.Methods[i]) })
	}
	for _, m := range c.Plan.Methods {
		if m.Key == "" {
			continue
		}
		at := len(out.Curves)
		out.Curves = append(out.Curves, compare.Curve{Method: m.Name, Key: m.Key, Points: make([]compare.Point, len(m.Curve))})
		for i, v := range m.Curve {
			out.Curves[at].Points[i] = compare.Point{Value: v.Value, Own: v.Own}
			if v.Own {
				continue // the method's own run
			}
			add(m.Name+" "+m.Key+"="+v.Value, v.Config, func() error { return c.runPoint(ctx, &out.Curves[at].Points[i]) })
		}
	}
	return c.each(all, func(place, i int) error {
		c.Begin(names[i], place+1, c.steps())
		return runs[i]()
	})
}

// steps returns the number of runs and measurements.
func (c *comparison) steps() int {
	n := len(c.Plan.Methods) + 1
	for _, m := range c.Plan.Methods {
		n += max(0, len(m.Curve)-1) // the method's own value is no run of its own
	}
	return n
}

func (c *comparison) runMethod(ctx context.Context, i int, m *compare.Method) error {
	r, outcome, err := remembered(ctx, c.variants, "compare", nil, func(outcome string, r *storedMethod) error {
		summary, err := results.Summary(ctx, c.variants.Workspace)
		if err != nil {
			return err
		}
		known, err := c.Sources()
		if err != nil {
			return err
		}
		*r = storedMethod{Input: workspace.SourcesGeneration(known), Counts: sweepCounts(summary), Stages: c.stageCosts()}
		return keep(ctx, c.variants.Workspace, outcome)
	})
	c.outcomes[i], m.Counts, m.Stages = outcome, r.Counts, r.Stages
	return err
}

func (c *comparison) runPoint(ctx context.Context, p *compare.Point) error {
	scores, _, err := remembered(ctx, c.variants, "curve", []any{scoresVersion, c.TruthDigest}, func(_ string, s *truth.Scores) (err error) {
		*s, err = c.Truth.Score(recordIDs(ctx, c.variants.Workspace))
		return err
	})
	p.Announced, p.Page, p.Pair = scores.Announced, scores.Page, scores.Pair
	return err
}

// againstBaseline fills in table 1 of the TLCS paper.
func (c *comparison) againstBaseline(out *compare.Comparison) error {
	base := slices.IndexFunc(out.Methods, func(m compare.Method) bool { return m.Name == c.Baseline })
	if c.Truth == nil || base < 0 {
		return nil
	}
	out.Baseline = c.Baseline
	judged := make([]truth.Judged, len(out.Methods))
	for i := range out.Methods {
		var err error
		if judged[i], err = c.Truth.Judge(c.judgedClusters(c.of[i], c.Truth)); err != nil {
			return err
		}
	}
	for i := range out.Methods {
		out.Methods[i].Table1 = compare.NewTable1(judged[i], judged[base])
	}
	return nil
}

// measure fills in the scores of the methods' clusters, and how they differ.
func (c *comparison) measure(ctx context.Context, out *compare.Comparison) error {
	if err := c.load(c.Workspace, c.outcomes, c.Truth); err != nil {
		return err
	}
	if c.Truth != nil {
		out.Truth = &sweep.TruthUse{Pages: c.Truth.Len(), Missing: c.missing}
	}
	for i := range out.Methods {
		m := &out.Methods[i]
		m.Joined = c.of[i].Joined(c.pages)
		if c.Truth != nil {
			scores, err := c.Truth.Score(c.judgedClusters(c.of[i], c.Truth))
			if err != nil {
				return err
			}
			m.Scores = &scores
		}
	}
	if err := c.againstBaseline(out); err != nil {
		return err
	}
	for _, curve := range out.Curves {
		for _, m := range out.Methods {
			for i := range curve.Points {
				if p := &curve.Points[i]; m.Name == curve.Method && p.Own {
					p.Announced, p.Page, p.Pair = m.Scores.Announced, m.Scores.Page, m.Scores.Pair
				}
			}
		}
	}
	for a := range out.Methods {
		for b := a + 1; b < len(out.Methods); b++ {
			x, y := out.Methods[a], out.Methods[b]
			out.Agreement = append(out.Agreement,
				compare.NewAgreement(x.Name, y.Name, x.Joined, y.Joined, compare.JoinedByBoth(c.of[a], c.of[b], c.pages)))
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	if err := c.dispute(ctx, out); err != nil {
		return err
	}
	if c.clustered != nil {
		if err := c.clustered(&c.clusterings); err != nil {
			return err
		}
	}
	return dropKept(c.variants.Workspace)
}
