package workspace

import (
	"context"
	"slices"

	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/withdrawn"
)

// TableWithdrawn lists what was withdrawn from the workspace and has to stay out.
// It belongs to no stage, so no run clears it.

// Withdrawn returns all withdrawals, in a fixed order.
func (w *Workspace) Withdrawn() (out withdrawn.List, err error) {
	for r, err := range w.DB.Table(layout.TableWithdrawn) {
		if err != nil {
			return nil, err
		}
		var d withdrawn.Withdrawal
		if err := r.JSON(&d); err != nil {
			return nil, err
		}
		out = append(out, d.Of(r.Key()))
	}
	return out, nil
}

// withoutWithdrawn returns the sources that are not withdrawn. It warns of each one
// that is.
func (w *Workspace) withoutWithdrawn(ctx context.Context, sources []inputs.Source) ([]inputs.Source, error) {
	list, err := w.Withdrawn()
	if err != nil || len(list) == 0 {
		return sources, err
	}
	return slices.DeleteFunc(slices.Clone(sources), func(s inputs.Source) bool {
		i := slices.IndexFunc(list, func(d withdrawn.Withdrawal) bool {
			return s.State != inputs.Unreadable && d.IsOf(ctx, s, w.Config.Extract.Limits)
		})
		if i >= 0 {
			w.Options.Progress.Warn("input is withdrawn and stays out; neardup remove --undo lets it in", "file", s.Shown(), "why", list[i].Why)
		}
		return i >= 0
	}), nil
}
