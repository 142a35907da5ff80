package stages

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

const (
	verifyBatch = 64   // members of small sets that a worker verifies at a time
	largeSet    = 256  // sets of more members are shared out among all workers
	commitLinks = 4096 // verdicts that are committed together
)

// verifyCursor is where the verification goes on: behind the set After (of
// candidates that are pairs: behind the row), or after all sets with the
// closing, which starts over.
type verifyCursor struct {
	After   []byte            `json:"after,omitempty"`
	Learned bool              `json:"learned,omitempty"` // it is known how common sentences are
	Parting bool              `json:"parting,omitempty"` // all sets are done, and components up to the one of the key Parted are parted
	Parted  []byte            `json:"parted,omitempty"`
	Closing bool              `json:"closing,omitempty"`
	Counts  rows.VerifyCounts `json:"counts"`
}

// verifyJob is some sets on their way through the workers.
type verifyJob struct {
	sets    [][]cluster.Key
	members int64

	links  []rows.Link
	counts rows.VerifyCounts
	err    error
	done   chan struct{}
}

func (j *verifyJob) Finished() <-chan struct{} { return j.done }

func runVerify(w *workspace.Workspace, sr *workspace.StageRun) error {
	var at verifyCursor
	if _, err := sr.Cursor(&at); err != nil {
		return err
	}
	if !at.Closing && !at.Parting {
		if err := learnCommon(w, sr, &at); err != nil {
			return err
		}
		compare := compareSets
		if w.Config.Cluster.Pairs() {
			compare = comparePairs
		}
		if err := compare(w, sr, &at); err != nil {
			return err
		}
	}
	if at.Parting && !at.Closing {
		if err := part(w, sr, &at); err != nil {
			return err
		}
	}
	if err := closeClusters(w, sr, &at.Counts); err != nil {
		return err
	}
	return sr.SetCounts(at.Counts)
}

// compareSets verifies the pairs of each perhaps-similar set. Sets are worked on
// in parallel and committed in order, with the place to go on from.
func compareSets(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor) error {
	var clustered rows.ClusterCounts
	if err := w.Counts(workspace.StageCluster, &clustered); err != nil {
		return err
	}
	w.Options.Progress.Total(clustered.Members, "texts")

	docs, err := NewDocuments(w)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(sr.Ctx)
	jobs, work := make(chan *verifyJob, 4*w.Options.Workers), make(chan *verifyJob)
	g.Go(func() error {
		defer close(work)
		send := func(j *verifyJob) error {
			return queue.Send(ctx, j, jobs, work)
		}
		j := &verifyJob{done: make(chan struct{})}
		for set, err := range results.Sets(w, at.After) {
			if err != nil {
				return err
			}
			j.sets = append(j.sets, set)
			if j.members += int64(len(set)); j.members >= verifyBatch {
				if err := send(j); err != nil {
					return err
				}
				j = &verifyJob{done: make(chan struct{})}
			}
		}
		if len(j.sets) > 0 {
			if err := send(j); err != nil {
				return err
			}
		}
		close(jobs)
		return nil
	})
	for range w.Options.Workers {
		g.Go(func() error {
			one := docs.Judge.Comparers(1)
			for j := range work {
				for _, set := range j.sets {
					comparers := one
					if len(set) > largeSet {
						comparers = docs.Judge.Comparers(w.Options.Workers)
					}
					v := setVerifier{Judge: docs.Judge, config: &w.Config.Verify, docs: docs.Get, workers: comparers}
					if j.err = v.verify(ctx, set); j.err != nil {
						break
					}
					j.links = append(j.links, v.links...)
					j.counts.Add(v.counts)
				}
				close(j.done)
			}
			return nil
		})
	}
	g.Go(func() error { return commitVerdicts(ctx, w, sr, at, jobs) })
	return g.Wait()
}

func commitVerdicts(ctx context.Context, w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor, jobs <-chan *verifyJob) error {
	b := w.DB.Batch()
	saved := time.Now()
	commit := func() error {
		if err := errors.Join(sr.SetCursor(b, at), b.Commit()); err != nil {
			return err
		}
		b, saved = w.DB.Batch(), time.Now()
		return nil
	}
	for {
		j, more, err := queue.Next(ctx, jobs)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if j.err != nil {
			return j.err
		}
		for _, l := range j.links {
			if err := b.Set(store.PairKey(store.TableVerdict, l.Leader, l.Member), store.AppendScore(nil, l.Score)); err != nil {
				return err
			}
		}
		last := j.sets[len(j.sets)-1][0]
		at.After = last[:]
		at.Counts.Add(j.counts)
		w.Options.Progress.Add(j.members)
		if b.Count() >= commitLinks || time.Since(saved) > commitEvery {
			if err := commit(); err != nil {
				return err
			}
		}
	}
	at.compared(w.Config.Verify.Closing)
	return commit()
}

// compared says that all candidates are done with.
func (c *verifyCursor) compared(closing string) {
	c.Parting, c.Closing = closing == configs.ClosingPartition, closing != configs.ClosingPartition
}
