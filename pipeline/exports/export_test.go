package exports

import (
	"context"
	"errors"

	"neardup/pipeline/workspace"
)

// Update is WriteAll without its second try. ok is false if that was needed.
func Update(ctx context.Context, w *workspace.Workspace, largest int) (ok bool, err error) {
	err = (&run{w: w, dir: w.Path("exports"), largest: largestGroups{max: largest}}).update(ctx)
	if errors.Is(err, errUnknown) {
		return false, nil
	}
	return err == nil, err
}
