package stages

import (
	"context"
	"neardup/extract/container"
	"sync"

	"neardup/cluster"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// What the tests of package stages_test use.

var PutOccurrence = putOccurrence

// Enforcing returns the keys and the scores that judged pairs are given.
func Enforcing(ctx context.Context, w *workspace.Workspace) (key func(rows.TextID) (cluster.Key, error), measured func(a, b rows.TextID) (rows.Score, error)) {
	e := &enforcer{closer: &closer{w: w, ctx: ctx}, keyOf: sync.OnceValues(func() (func(cluster.Key) cluster.Key, error) { return keyOf(w) })}
	return e.Key, e.measured
}

// CountCommon counts how common sentences are, from the start.
func CountCommon(w *workspace.Workspace, sr *workspace.StageRun) error {
	return learnCommon(w, sr, &verifyCursor{})
}

// Position returns the position behind the job's event.
func (j *Job) Position() container.Position { return j.position }
