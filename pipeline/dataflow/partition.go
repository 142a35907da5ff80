package dataflow

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/cluster/partition"
	"neardup/configs"
	"neardup/pipeline/queue"
	"neardup/pipeline/rows"
	"neardup/verify"
	"neardup/verify/pair"
)

// Parted is the result of some components.
type Parted struct {
	Last       cluster.Key // largest key of the last component
	Components []PartResult
}

// PartResult is the result of one component, or what is known of it before it is
// partitioned.
type PartResult struct {
	Name    cluster.Key  // largest key of the component
	States  []rows.State // as in SetResult, also the next four
	Known   bool
	Stored  bool
	Counts  rows.VerifyCounts
	Decided []rows.Decided
	Of      [16]byte    // digest of the component, see Component.Digest; for a later run
	Parts   []rows.Link // representative and member
	Keys    []cluster.Key
}

// Checked returns the pairs that were verified for the partition, near or not.
func (r *PartResult) Checked() (links []rows.Link) {
	for _, d := range r.Decided {
		if !d.Bounded {
			links = append(links, rows.Link{Leader: r.Keys[d.A], Member: r.Keys[d.B], Score: d.Score()})
		}
	}
	return links
}

// boundDecided gives up the note of the result for a later run if it has too many
// decisions. Pairs that were verified stay.
func (r *PartResult) boundDecided() {
	if len(r.Decided) > MostDecided {
		r.States = nil
		r.Decided = slices.DeleteFunc(r.Decided, func(d rows.Decided) bool { return d.Bounded })
	}
}

// manyLinks is the number of links from which components are partitioned one at a time,
// since a search takes about 800 bytes for each pair that it knows. All workers share such a
// component.
const manyLinks = 1 << 13

// KnownParts is KnownSets for a component of more than two texts.
type KnownParts func(Component) (PartResult, *Recall, error)

// Part partitions components by package partition. known may be nil.
func Part(ctx context.Context, components iter.Seq2[Component, error], texts *Texts, c configs.Verify, workers int, known KnownParts, emit func(Parted) error) error {
	var many sync.Mutex
	room := &room{}
	worker := func(ctx context.Context) func(*partJob) error {
		one := texts.Judge.Comparers(1)
		return func(j *partJob) error {
			comparers := one
			if j.large {
				if len(j.components[0].Links) > manyLinks {
					many.Lock()
					defer many.Unlock()
				}
				comparers = texts.Judge.Comparers(workers)
			}
			for _, part := range j.components {
				var r PartResult
				var recall *Recall
				if known != nil && len(part.Keys) > 2 { // two texts have nothing to verify
					var err error
					if r, recall, err = known(part); err != nil {
						return err
					}
				}
				if r.Name, r.Keys = part.Keys[0], part.Keys; !r.Known {
					if err := r.partition(ctx, part, texts, recall, &c, comparers, room); err != nil {
						return err
					}
				}
				j.Components = append(j.Components, r)
			}
			return nil
		}
	}
	return queue.Ordered(ctx, workers, partJobs(components, c.Partition.Whole), worker, func(j *partJob) error { return emit(j.Parted) })
}

// partJob is a batch of components for the workers.
type partJob struct {
	components []Component
	texts      int
	large      bool // a component that all workers share
	Parted
}

// partJobs yields components in batches. A component of more than whole texts, or of many
// links, is a batch of its own.
func partJobs(components iter.Seq2[Component, error], whole int) iter.Seq2[*partJob, error] {
	return func(yield func(*partJob, error) bool) {
		j := &partJob{}
		send := func() bool {
			full := j
			j = &partJob{}
			return yield(full, nil)
		}
		for c, err := range components {
			if err != nil {
				yield(nil, err)
				return
			}
			large := len(c.Keys) > whole || len(c.Links) > manyLinks
			if len(j.components) > 0 && (large || j.texts >= batchTexts) && !send() {
				return
			}
			j.components, j.texts, j.large, j.Last = append(j.components, c), j.texts+len(c.Keys), large, c.Keys[0]
			if large && !send() {
				return
			}
		}
		if len(j.components) > 0 {
			send()
		}
	}
}

// partition partitions one component.
func (r *PartResult) partition(ctx context.Context, c Component, docs *Texts, recall *Recall, config *configs.Verify, comparers []verify.Comparer, room *room) error {
	s := &partSource{ctx: ctx, memory: &memory{room: room}, keys: c.Keys, docs: docs, recall: recall, config: config, comparers: comparers, scores: map[partition.Pair]rows.Score{}, result: r}
	budget := 0
	if len(c.Keys) > 2 {
		for _, k := range c.Keys {
			length, ok := recall.Length(k.ID())
			if !ok {
				doc, err := docs.Get(k.ID())
				if err != nil {
					return err
				}
				length = doc.Len()
			}
			budget += partShare(length)
		}
	}
	out, err := partition.Component(len(c.Keys), c.Links, s, config.Partition, budget)
	if err != nil {
		return err
	}
	counts := rows.PartitionCounts{Components: 1, Largest: int64(len(c.Keys)), Pairs: int64(out.Verified)}
	for i, l := range c.Links {
		s.scores[l.Pair] = c.Scores[i]
	}
	for x, centre := range out.Centre {
		if centre == int32(x) {
			continue
		}
		v := s.scores[partition.NewPair(int32(x), centre)]
		if centre > int32(x) {
			v = v.Inverse()
		}
		r.Parts = append(r.Parts, rows.Link{Leader: c.Keys[centre], Member: c.Keys[x], Score: v})
	}
	if slices.ContainsFunc(out.Centre, func(centre int32) bool { return centre != out.Centre[0] }) {
		counts.Parted = 1
	}
	r.Counts.Partition.Add(counts)
	return nil
}

// partSource verifies pairs of a component. It implements partition.Source.
type partSource struct {
	ctx       context.Context
	keys      []cluster.Key
	docs      *Texts
	recall    *Recall
	config    *configs.Verify
	comparers []verify.Comparer
	memory    *memory
	scores    map[partition.Pair]rows.Score
	result    *PartResult
}

// Verify implements partition.Source.
func (s *partSource) Verify(pairs []partition.Pair) ([]partition.Verdict, error) {
	out := make([]partition.Verdict, len(pairs))
	decided := make([]rows.Decided, len(pairs))
	counts := make([]rows.VerifyCounts, len(s.comparers))
	order := partition.Neighbouring(pairs)
	var next atomic.Int64
	g, ctx := errgroup.WithContext(s.ctx)
	for n, c := range s.comparers {
		g.Go(func() error {
			for at := int(next.Add(1) - 1); at < len(pairs); at = int(next.Add(1) - 1) {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				i := order[at]
				d, err := s.decide(c, pairs[i])
				if err != nil {
					return err
				}
				decided[i] = d
				counts[n].AddDecision(pair.Decision{Verdict: d.Verdict})
				out[i] = partition.Verdict{Near: d.Verdict.Near && s.config.Links(d.Relation.Resembles()), Resemblance: d.Verdict.Resemblance}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, c := range counts {
		s.result.Counts.Add(c)
	}
	for i, p := range pairs {
		s.scores[p] = decided[i].Score()
	}
	s.result.Decided = append(s.result.Decided, decided...)
	return out, nil
}

// decide decides about a pair, unless an earlier run did.
func (s *partSource) decide(c verify.Comparer, p partition.Pair) (d rows.Decided, err error) {
	x, y := s.keys[p.A].ID(), s.keys[p.B].ID()
	d, ok, err := s.recall.Of(x, y)
	if ok || err != nil {
		d.A, d.B = int(p.A), int(p.B)
		return d, err
	}
	a, err := s.docs.Get(x)
	if err != nil {
		return d, err
	}
	b, err := s.docs.Get(y)
	if err != nil {
		return d, err
	}
	v := s.docs.Judge.DecideAgain(c, a, b, s.recall.Whole(x, y))
	d = rows.Decided{A: int(p.A), B: int(p.B), Weighing: v.Weighing, Verdict: v.Verdict, Whole: v.Whole}
	if v.Near {
		d.Relation = ScoreOf(v).Relation
	}
	return d, nil
}

// Closest implements partition.Source. By the index of leaders it returns the
// centres whose windows make up most of the text.
func (s *partSource) Closest(centres []int32, k int) ([][]int32, error) {
	out := make([][]int32, len(s.keys))
	if s.config.Measure != configs.MeasureTLCS {
		for x := range out {
			out[x] = centres[:min(k, len(centres))]
		}
		return out, nil
	}
	index := newIndex(s.docs.Judge, &s.config.Options, indexWindows, s.memory, func(number int) (*pair.Text, error) { return s.docs.Get(s.keys[centres[number]].ID()) })
	defer s.memory.end()
	for _, c := range centres {
		doc, err := s.docs.Get(s.keys[c].ID())
		if err == nil {
			err = index.add(doc)
		}
		if err != nil {
			return nil, err
		}
	}
	var bounds bounds
	for x, key := range s.keys {
		if x&63 == 0 && s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		doc, err := s.docs.Get(key.ID())
		if err != nil {
			return nil, err
		}
		index.bound(doc, &bounds)
		type near struct {
			centre int32
			kept   int
		}
		var all []near
		for i, c := range centres {
			if i >= index.len() {
				all = append(all, near{c, -1})
				continue
			}
			if int(c) == x {
				continue
			}
			stage, w := index.rejects(&bounds, i)
			switch {
			case stage == verify.None:
				all = append(all, near{c, index.kept(&bounds, i)})
			case w != (pair.Weighing{}) && s.result.States != nil:
				s.result.Decided = append(s.result.Decided, rows.Decided{A: min(x, int(c)), B: max(x, int(c)), Weighing: w, Bounded: true})
				s.result.boundDecided()
			}
		}
		slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(b.kept, a.kept) })
		for _, n := range all[:min(k, len(all))] {
			out[x] = append(out[x], n.centre)
		}
	}
	return out, nil
}
