package trials

import (
	"context"
	"errors"

	"neardup/compare"
	"neardup/configs"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/sweep"
	"neardup/truth"
)

// CompareOptions are what a comparison is told.
type CompareOptions struct {
	Plan        compare.Plan
	Truth       *truth.Truth                     // nil: none; curves need one
	TruthDigest string                           // tells truths apart
	Disputed    int                              // disputed pairs to show of each two methods, each way
	Begin       func(name string, place, of int) // called before the place-th run, and once more before what is measured of all
}

// comparison is a comparison at work.
type comparison struct {
	*variants
	CompareOptions
	outcomes []string // of each method, what its clusters are kept under
	clusterings
}

// storedMethod is what a method gave, as the workspace keeps it.
type storedMethod struct {
	Input  string       `json:"input"` // generation of the sources
	Counts sweep.Counts `json:"counts"`
	Stages []sweep.Cost `json:"stages"`
}

// Compare runs the plan's methods, and the variants of their curves, over the
// inputs or over what the workspace holds: the extraction once, and of the other
// stages those that differ. The workspace keeps its config. Results and clusters
// are kept in it too, so that an interrupted comparison goes on with the run that
// it was at, and other labels need no runs but those of the curves.
// Like Run it returns an error that wraps ErrInputFailure, with all results,
// when some input could not be read.
func Compare(ctx context.Context, w *workspace.Workspace, inputs []workspace.Source, o CompareOptions) (out compare.Comparison, err error) {
	c := &comparison{variants: newVariants(w, 1), CompareOptions: o, outcomes: make([]string, len(o.Plan.Methods))}
	if err := c.begin(o.Plan.Base, inputs); err != nil {
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

// RunAll does all runs.
func (c *comparison) runAll(ctx context.Context, out *compare.Comparison) error {
	var all []configs.Config
	var names []string
	var runs []func() error
	add := func(name string, config configs.Config, run func() error) {
		names, all, runs = append(names, name), append(all, config), append(runs, run)
	}
	for i, m := range c.Plan.Methods {
		out.Methods = append(out.Methods, compare.Method{Name: m.Name, Config: m.Config})
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

// steps are the runs, and what is measured after them.
func (c *comparison) steps() int {
	n := len(c.Plan.Methods) + 1
	for _, m := range c.Plan.Methods {
		n += max(0, len(m.Curve)-1) // its own is no run
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

// measure fills in what the methods' clusters are worth, and how they differ.
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
	return dropKept(c.variants.Workspace)
}
