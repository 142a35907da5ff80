package stages

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/cluster/partition"
	"neardup/configs"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/tlcs"
)

// partJob is some components on their way through the workers.
type partJob struct {
	components []linked
	texts      int64
	large      bool // one that all workers share

	checked []rows.Link // pairs that were verified, near or not
	parts   []rows.Link // representative and member
	counts  rows.VerifyCounts
	err     error
	done    chan struct{}
}

// Finished implements queue.Job.
func (j *partJob) Finished() <-chan struct{} { return j.done }

// linked is a component with its links.
type linked struct {
	keys   []cluster.Key
	links  []partition.Link
	scores []rows.Score // of the links, the member of smaller key seen from the other
}

// part partitions the components of near pairs, in parallel, and commits them in
// order with the place to go on from.
func part(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor) error {
	docs, err := NewDocuments(w)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(sr.Ctx)
	jobs, work := make(chan *partJob, 4*w.Options.Workers), make(chan *partJob)
	g.Go(func() error {
		defer close(work)
		for j, err := range partJobs(w, at.Parted) {
			if err != nil {
				return err
			}
			if err := queue.Send(ctx, j, jobs, work); err != nil {
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
				comparers := one
				if j.large {
					comparers = docs.Judge.Comparers(w.Options.Workers)
				}
				for _, c := range j.components {
					if j.err = j.partition(ctx, c, docs, comparers); j.err != nil {
						break
					}
				}
				close(j.done)
			}
			return nil
		})
	}
	g.Go(func() error { return commitParts(ctx, w, sr, at, jobs) })
	return g.Wait()
}

// partJobs gives the components behind the one of the key after, in batches.
func partJobs(w *workspace.Workspace, after []byte) iter.Seq2[*partJob, error] {
	return func(yield func(*partJob, error) bool) {
		j := &partJob{done: make(chan struct{})}
		for c, err := range linkedTexts(w) {
			if err != nil {
				yield(nil, err)
				return
			}
			if after != nil && slices.Compare(c.keys[0][:], after) <= 0 {
				continue
			}
			large := len(c.keys) > w.Config.Verify.Partition.Whole
			if len(j.components) > 0 && (large || j.texts >= verifyBatch) {
				if !yield(j, nil) {
					return
				}
				j = &partJob{done: make(chan struct{})}
			}
			j.components, j.texts, j.large = append(j.components, c), j.texts+int64(len(c.keys)), large
			if large {
				if !yield(j, nil) {
					return
				}
				j = &partJob{done: make(chan struct{})}
			}
		}
		if len(j.components) > 0 {
			yield(j, nil)
		}
	}
}

// linkedTexts gives the components of the near pairs that link texts.
func linkedTexts(w *workspace.Workspace) iter.Seq2[linked, error] {
	return func(yield func(linked, error) bool) {
		verdicts, err := w.DB.Seeker(store.TableVerdict)
		if err != nil {
			yield(linked{}, err)
			return
		}
		defer func() { _ = verdicts.Close() }()
		for c, err := range cluster.Components(links(w, nil)) {
			if err != nil {
				yield(linked{}, err)
				return
			}
			l := linked{keys: c.Keys}
			for _, p := range c.Pairs {
				// Links of a leader stand together, and components come by their
				// largest keys, so that rows are read in about their order.
				s, ok, err := storedScore(verdicts, c.Keys[p[0]], c.Keys[p[1]])
				if err == nil && !ok {
					err = store.Corrupt(store.PairKey(store.TableVerdict, c.Keys[p[0]], c.Keys[p[1]]))
				}
				if err != nil {
					yield(linked{}, err)
					return
				}
				l.links = append(l.links, partition.Link{Pair: partition.Pair{A: p[0], B: p[1]}, Resemblance: s.Resemblance})
				l.scores = append(l.scores, s)
			}
			if !yield(l, nil) {
				return
			}
		}
	}
}

// storedScore is the score of a pair, if it was near.
func storedScore(s *store.Seeker, leader, member cluster.Key) (v rows.Score, ok bool, err error) {
	for r, err := range s.Rows(store.PairKey(store.TableVerdict, leader, member)) {
		if err != nil {
			return v, false, err
		}
		value, err := r.Value()
		if err == nil {
			v, err = store.ParseScore(value)
		}
		return v, true, err
	}
	return v, false, nil
}

func commitParts(ctx context.Context, w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor, jobs <-chan *partJob) error {
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
		for table, links := range map[byte][]rows.Link{store.TableChecked: j.checked, store.TablePart: j.parts} {
			for _, l := range links {
				if table == store.TableChecked && l.Score.Relation != "" {
					// A pair that links nothing may have its verdict from a set.
					if _, ok, err := results.VerdictOn(w, l.Leader, l.Member); err != nil || ok {
						if err != nil {
							return err
						}
						continue
					}
				}
				if err := b.Set(store.PairKey(table, l.Leader, l.Member), store.AppendScore(nil, l.Score)); err != nil {
					return err
				}
			}
		}
		last := j.components[len(j.components)-1].keys[0]
		at.Parted = last[:]
		at.Counts.Add(j.counts)
		at.Counts.Partition.Add(j.counts.Partition)
		if b.Count() >= commitLinks || time.Since(saved) > commitEvery {
			if err := commit(); err != nil {
				return err
			}
		}
	}
	at.Parted, at.Closing = nil, true
	return commit()
}

// partition parts one component.
func (j *partJob) partition(ctx context.Context, c linked, docs *Documents, comparers []verify.Comparer) error {
	s := &partSource{ctx: ctx, keys: c.keys, docs: docs, comparers: comparers, scores: map[partition.Pair]rows.Score{}, job: j}
	budget := 0
	if len(c.keys) > 2 {
		for _, k := range c.keys {
			doc, err := docs.Get(k.ID())
			if err != nil {
				return err
			}
			budget += share(partPairs, 1, doc.Len())
		}
	}
	out, err := partition.Component(len(c.keys), c.links, s, docs.w.Config.Verify.Partition, budget)
	if err != nil {
		return err
	}
	counts := rows.PartitionCounts{Components: 1, Largest: int64(len(c.keys)), Pairs: int64(out.Verified)}
	for i, l := range c.links {
		s.scores[l.Pair] = c.scores[i]
	}
	for x, centre := range out.Centre {
		if centre == int32(x) {
			continue
		}
		v := s.scores[partition.NewPair(int32(x), centre)]
		if centre > int32(x) {
			v = v.Inverse()
		}
		j.parts = append(j.parts, rows.Link{Leader: c.keys[centre], Member: c.keys[x], Score: v})
	}
	if slices.ContainsFunc(out.Centre, func(centre int32) bool { return centre != out.Centre[0] }) {
		counts.Parted = 1
	}
	j.counts.Partition.Add(counts)
	return nil
}

// partSource verifies pairs of a component.
type partSource struct {
	ctx       context.Context
	keys      []cluster.Key
	docs      *Documents
	comparers []verify.Comparer
	scores    map[partition.Pair]rows.Score
	job       *partJob
}

// Verify implements partition.Source.
func (s *partSource) Verify(pairs []partition.Pair) ([]partition.Verdict, error) {
	judge := s.docs.Judge
	out := make([]partition.Verdict, len(pairs))
	scores := make([]rows.Score, len(pairs))
	counts := make([]rows.VerifyCounts, len(s.comparers))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(s.ctx)
	for n, c := range s.comparers {
		g.Go(func() error {
			for i := int(next.Add(1) - 1); i < len(pairs); i = int(next.Add(1) - 1) {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				a, err := s.docs.Get(s.keys[pairs[i].A].ID())
				if err != nil {
					return err
				}
				b, err := s.docs.Get(s.keys[pairs[i].B].ID())
				if err != nil {
					return err
				}
				v := judge.Decide(c, a, b)
				counts[n].AddDecision(v)
				scores[i] = rows.Score{Resemblance: v.Resemblance, Containment: v.Containment}
				if v.Near {
					scores[i] = scoreOf(v, a, b)
					out[i].Near = s.docs.w.Config.Verify.Links(scores[i].Relation == report.Near)
				}
				out[i].Resemblance = v.Resemblance
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, c := range counts {
		s.job.counts.Add(c)
	}
	for i, p := range pairs {
		s.scores[p] = scores[i]
		s.job.checked = append(s.job.checked, rows.Link{Leader: s.keys[p.A], Member: s.keys[p.B], Score: scores[i]})
	}
	return out, nil
}

// Closest implements partition.Source: those of the centres whose windows make
// up most of the text, by the index of leaders.
func (s *partSource) Closest(centres []int32, k int) ([][]int32, error) {
	out := make([][]int32, len(s.keys))
	if s.docs.w.Config.Verify.Measure != configs.MeasureTLCS {
		for x := range out {
			out[x] = centres[:min(k, len(centres))]
		}
		return out, nil
	}
	index := tlcs.NewIndex(indexWindows)
	lengths := make([]int, len(centres))
	for i, c := range centres {
		doc, err := s.docs.Get(s.keys[c].ID())
		if err != nil {
			return nil, err
		}
		index.Add(doc.Scored().(*tlcs.Document))
		lengths[i] = doc.Len()
	}
	var bounds tlcs.Bounds
	for x, key := range s.keys {
		if x&63 == 0 && s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		doc, err := s.docs.Get(key.ID())
		if err != nil {
			return nil, err
		}
		index.Bound(doc.Scored().(*tlcs.Document), &bounds)
		type near struct {
			centre int32
			kept   int
		}
		var all []near
		for i, c := range centres {
			if i >= index.Len() {
				all = append(all, near{c, -1})
			} else if int(c) != x && bounds.Rejects(&s.docs.w.Config.Verify.Options, i, doc.Len(), lengths[i]) == verify.None {
				all = append(all, near{c, bounds.Kept(i)})
			}
		}
		slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(b.kept, a.kept) })
		for _, n := range all[:min(k, len(all))] {
			out[x] = append(out[x], n.centre)
		}
	}
	return out, nil
}
