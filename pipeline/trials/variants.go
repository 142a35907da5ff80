// Package trials runs a workspace's stages with one config after another: the
// variants of a sweep, or the methods of a comparison.
package trials

import (
	"cmp"
	"context"
	"errors"

	"neardup/configs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/sweep"
)

// measureVersion is the version of the measurements of clusters. Stored results of
// another version are measured again.
//
//	1: first
//	2: memory of the stages
const measureVersion = 2

// variants runs a workspace's stages with one config after another.
type variants struct {
	*workspace.Workspace
	repeat int                   // runs of each variant to measure its cost; the smallest counts
	costs  map[string]sweep.Cost // by stage, for the present state of the workspace
}

func newVariants(w *workspace.Workspace, repeat int) *variants {
	return &variants{Workspace: w, repeat: repeat, costs: map[string]sweep.Cost{}}
}

// begin admits the inputs. The workspace keeps the config that it had, or gets the
// base if it is new, whichever configs run from now on.
func (v *variants) begin(base configs.Config, sources []inputs.Source) error {
	m, err := workspace.ReadManifest(v.Dir)
	if err != nil {
		return err
	}
	v.Workspace = v.With(base).Trial(*cmp.Or(m.Config, &base))
	return v.ExplainError(v.Admit(context.Background(), sources))
}

// each sets each config in turn and calls one, in the order that redoes the fewest
// stages. Afterwards the stages are those of the last config. Like Run it continues
// if some input could not be read, and returns that error at the end.
func (v *variants) each(all []configs.Config, one func(place, i int) error) error {
	order, err := v.order(all)
	if err != nil {
		return err
	}
	var failure error
	for place, i := range order {
		v.Workspace = v.With(all[i])
		err := one(place, i)
		if err != nil && !errors.Is(err, workspace.ErrInputFailure) {
			return v.ExplainError(err)
		}
		failure = cmp.Or(failure, err)
	}
	return failure
}

// order returns the order of the configs that redoes the fewest stages.
func (v *variants) order(all []configs.Config) ([]int, error) {
	known, err := v.Sources()
	if err != nil {
		return nil, err
	}
	input := workspace.SourcesGeneration(known)
	var present []string
	for _, st := range v.Stages {
		s, ok, err := v.State(st.Name)
		if err != nil {
			return nil, err
		}
		if !ok || s.Version != st.Version || s.Input != input {
			break
		}
		present = append(present, string(workspace.Compact(s.Options)))
		input = s.Generation()
	}
	chains := make([][]string, len(all))
	for i, c := range all {
		for _, st := range v.Stages {
			options, err := st.Options(c)
			if err != nil {
				return nil, err
			}
			chains[i] = append(chains[i], string(options))
		}
	}
	return sweep.Order(chains, present), nil
}

// outcome returns an identifier of the stages' results for the inputs and the
// workspace's config. It also depends on parts.
func (v *variants) outcome(parts ...any) (string, error) {
	known, err := v.Sources()
	if err != nil {
		return "", err
	}
	input := workspace.SourcesGeneration(known)
	for _, st := range v.Stages {
		options, err := st.Options(v.Config)
		if err != nil {
			return "", err
		}
		input = workspace.StageState{Version: st.Version, Options: options, Input: input}.Generation()
	}
	return workspace.Digest(append([]any{measureVersion, input}, parts...)...), nil
}

// scoresVersion is the version of the stored scores; others are computed again. 2:
// announced pages; 3: precision and recall in sets.
const scoresVersion = 3

// remembered returns a stored result, or runs all stages with the workspace's
// config and measures their results. Results are stored in the workspace under
// their kind and their outcome, which depends on parts.
func remembered[T any](ctx context.Context, v *variants, kind string, parts []any, measure func(outcome string, r *T) error) (r T, outcome string, err error) {
	if outcome, err = v.outcome(parts...); err != nil {
		return r, outcome, err
	}
	if done, err := v.DB.GetJSON(layout.MetaKey(kind+"/"+outcome), &r); done || err != nil {
		v.Options.Progress.Skip("all")
		return r, outcome, errors.Join(err, v.Unread())
	}
	failure := v.runForCost(ctx)
	if failure != nil && !errors.Is(failure, workspace.ErrInputFailure) {
		return r, outcome, failure
	}
	// The result must be found again for the inputs as they are now: a file that
	// turned out to be unreadable changes them.
	if outcome, err = v.outcome(parts...); err != nil {
		return r, outcome, err
	}
	if err := measure(outcome, &r); err != nil {
		return r, outcome, err
	}
	b := v.DB.Batch()
	return r, outcome, errors.Join(b.SetJSON(layout.MetaKey(kind+"/"+outcome), r), b.Commit(), failure)
}

// runForCost brings all stages up to date. It repeats those that were not, and
// records the smallest cost of each stage, because other work on the machine only
// adds to it.
func (v *variants) runForCost(ctx context.Context) error {
	names := stages.Names()
	first, err := v.firstStale()
	if err != nil {
		return err
	}
	var failure error
	for i := range v.repeat {
		if i > 0 {
			if err := v.forget(names[first:]); err != nil {
				return err
			}
		}
		failure = v.Run(ctx, names[0], names[len(names)-1], nil)
		if failure != nil && !errors.Is(failure, workspace.ErrInputFailure) {
			return failure
		}
		for at, name := range names {
			state, _, err := v.State(name)
			if err != nil {
				return err
			}
			c := sweep.Cost{Stage: name, Wall: state.Seconds, CPU: state.CPU, Peak: state.Peak}
			if old, ok := v.costs[name]; ok && (at < first || i > 0) {
				c.Wall, c.CPU, c.Peak = min(c.Wall, old.Wall), min(c.CPU, old.CPU), min(c.Peak, old.Peak)
			}
			v.costs[name] = c
		}
		if first == len(names) {
			break // nothing to repeat
		}
	}
	return failure
}

// stageCosts returns the present costs of all stages.
func (v *variants) stageCosts() (out []sweep.Cost) {
	for _, name := range stages.Names() {
		out = append(out, v.costs[name])
	}
	return out
}

// firstStale returns the index of the first stage that is not up to date.
func (v *variants) firstStale() (int, error) {
	for i, name := range stages.Names() {
		if err := v.Current(name); errors.Is(err, workspace.ErrUsage) {
			return i, nil
		} else if err != nil {
			return 0, err
		}
	}
	return len(v.Stages), nil
}

// forget marks stages as never done.
func (v *variants) forget(names []string) error {
	b := v.DB.Batch()
	for _, name := range names {
		if err := b.Delete(layout.MetaKey("stage/" + name)); err != nil {
			return err
		}
	}
	return b.Commit()
}
