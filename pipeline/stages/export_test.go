package stages

import (
	"context"
	"neardup/extract/container"

	"neardup/cluster"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// What the tests of package stages_test use.

// Enforcing returns the keys and the scores that judged pairs are given.
func Enforcing(ctx context.Context, w *workspace.Workspace) (key func(rows.TextID) (cluster.Key, error), measured func(a, b rows.TextID) (rows.Score, error)) {
	e := newEnforced(ctx, w)
	return e.Key, e.Score
}

// Position returns the position behind the job's event.
func (j *Job) Position() container.Position { return j.position }
