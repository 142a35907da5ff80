package pipeline

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/report"
	"neardup/verify"
)

const (
	verifyBatch = 64   // members of small sets that a worker verifies at a time
	largeSet    = 1024 // sets of more members are shared out among all workers
	commitLinks = 4096 // verdicts that are committed together
)

// VerifyCounts sums up the verification: every pair that was compared was
// rejected by one filter, or is near.
type VerifyCounts struct {
	Sets       int64 `json:"sets"`
	Pairs      int64 `json:"pairs"`
	ByLength   int64 `json:"rejected_by_length"`
	BySketch   int64 `json:"rejected_by_sketch"`
	ByDistance int64 `json:"rejected_by_distance"`
	ByScore    int64 `json:"rejected_by_score"`
	BySubject  int64 `json:"rejected_by_subject"`
	Near       int64 `json:"near"`
	Clusters   int64 `json:"clusters"`

	Judged *report.JudgedPairs `json:"judged,omitempty"`
}

func (c *VerifyCounts) add(o VerifyCounts) {
	c.Sets += o.Sets
	c.Pairs += o.Pairs
	c.ByLength += o.ByLength
	c.BySketch += o.BySketch
	c.ByDistance += o.ByDistance
	c.ByScore += o.ByScore
	c.BySubject += o.BySubject
	c.Near += o.Near
}

func (c *VerifyCounts) verdict(v verify.Verdict) {
	c.Pairs++
	if v.Near {
		c.Near++
		return
	}
	switch v.Rejected {
	case verify.ByLength:
		c.ByLength++
	case verify.BySketch:
		c.BySketch++
	case verify.ByDistance:
		c.ByDistance++
	default:
		c.ByScore++
	}
}

func (c *VerifyCounts) bySubject() {
	c.Pairs++
	c.BySubject++
}

// verifyCursor is where the verification goes on: behind the set After (of
// candidates that are pairs: behind the row), or after all sets with the
// closing, which starts over.
type verifyCursor struct {
	After   []byte       `json:"after,omitempty"`
	Closing bool         `json:"closing,omitempty"`
	Counts  VerifyCounts `json:"counts"`
}

// verifyJob is some sets on their way through the workers.
type verifyJob struct {
	sets    [][]cluster.Key
	members int64

	links  []link
	counts VerifyCounts
	err    error
	done   chan struct{}
}

func (j *verifyJob) finished() <-chan struct{} { return j.done }

// link is a near pair with its score, the member seen from the leader.
type link struct {
	leader, member cluster.Key
	score          score
}

func (w *Workspace) verify(sr *stageRun) error {
	var at verifyCursor
	if _, err := sr.cursor(&at); err != nil {
		return err
	}
	if !at.Closing {
		compare := w.compareSets
		if w.config.Cluster.Pairs() {
			compare = w.comparePairs
		}
		if err := compare(sr, &at); err != nil {
			return err
		}
	}
	if err := w.closeClusters(sr, &at.Counts); err != nil {
		return err
	}
	return sr.setCounts(at.Counts)
}

// compareSets verifies the pairs of each perhaps-similar set. Sets are worked on
// in parallel and committed in order, with the place to go on from.
func (w *Workspace) compareSets(sr *stageRun, at *verifyCursor) error {
	var clustered ClusterCounts
	if err := w.counts(StageCluster, &clustered); err != nil {
		return err
	}
	w.o.Progress.Total(clustered.Members, "texts")

	docs := newPrepared(w)
	g, ctx := errgroup.WithContext(sr.ctx)
	queue, work := make(chan *verifyJob, 4*w.o.Workers), make(chan *verifyJob)
	g.Go(func() error {
		defer close(work)
		send := func(j *verifyJob) error {
			for _, to := range []chan<- *verifyJob{queue, work} {
				select {
				case to <- j:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		}
		j := &verifyJob{done: make(chan struct{})}
		for set, err := range w.sets(at.After) {
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
		close(queue)
		return nil
	})
	for range w.o.Workers {
		g.Go(func() error {
			one := docs.judge.comparers(1)
			for j := range work {
				for _, set := range j.sets {
					comparers := one
					if len(set) > largeSet {
						comparers = docs.judge.comparers(w.o.Workers)
					}
					v := setVerifier{judge: docs.judge, docs: docs.get, workers: comparers}
					if j.err = v.verify(ctx, set); j.err != nil {
						break
					}
					j.links = append(j.links, v.links...)
					j.counts.add(v.counts)
				}
				close(j.done)
			}
			return nil
		})
	}
	g.Go(func() error { return w.commitVerdicts(ctx, sr, at, queue) })
	return g.Wait()
}

func (w *Workspace) commitVerdicts(ctx context.Context, sr *stageRun, at *verifyCursor, queue <-chan *verifyJob) error {
	b := w.store.batch()
	saved := time.Now()
	commit := func() error {
		if err := errors.Join(sr.setCursor(b, at), b.commit()); err != nil {
			return err
		}
		b, saved = w.store.batch(), time.Now()
		return nil
	}
	for {
		j, more, err := next(ctx, queue)
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
			if err := b.set(pairKey(tableVerdict, l.leader, l.member), l.score.append(nil)); err != nil {
				return err
			}
		}
		last := j.sets[len(j.sets)-1][0]
		at.After = last[:]
		at.Counts.add(j.counts)
		w.o.Progress.Add(j.members)
		if b.Count() >= commitLinks || time.Since(saved) > commitEvery {
			if err := commit(); err != nil {
				return err
			}
		}
	}
	at.Closing = true
	return commit()
}
