package dataflow

import (
	"context"
	"iter"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/queue"
	"neardup/pipeline/rows"
	"neardup/verify"
)

const (
	batchTexts = 64  // members of small sets, or texts of small components, that a worker takes at a time
	largeSet   = 256 // all workers share a set of more members
)

// VerifiedSets is the result of some sets.
type VerifiedSets struct {
	Last    cluster.Key // first member of the last set
	Members int64       // members of all these sets
	Sets    []SetResult
}

// SetResult is the result of one set, or what is known of it before it is verified.
type SetResult struct {
	Name    cluster.Key  // first member
	States  []rows.State // of the texts; nil: a later run cannot use the result
	Known   bool         // the result is of an earlier run
	Stored  bool         // and is stored with these states
	Links   []rows.Link
	Counts  rows.VerifyCounts
	Decided []rows.Decided

	Screening rows.Screening // only of a set that is not known
}

// KnownSets returns the states of the texts of a set and, if an earlier run has verified
// it, its result; otherwise decisions of an earlier run on some of the texts. Workers
// call it at the same time.
type KnownSets func(set []cluster.Key) (SetResult, *Recall, error)

// Watch is called when a worker begins a set, and what it returns when the worker
// has done it. Workers call it at the same time.
type Watch func(set []cluster.Key) (done func(rows.VerifyCounts))

// VerifySets verifies the pairs of perhaps-similar sets. A set has its members from
// the largest key down; the first one names the set. known, watch and put may be nil. put
// takes links of a set that has many, before the result of the set; workers call it at the
// same time.
func VerifySets(ctx context.Context, sets iter.Seq2[[]cluster.Key, error], texts *Texts, c configs.Verify, workers int, known KnownSets, watch Watch, put func([]rows.Link) error, emit func(VerifiedSets) error) error {
	if watch == nil {
		watch = func([]cluster.Key) func(rows.VerifyCounts) { return func(rows.VerifyCounts) {} }
	}
	if known == nil {
		known = func([]cluster.Key) (SetResult, *Recall, error) { return SetResult{}, nil, nil }
	}
	jobs := func(yield func(*setsJob, error) bool) {
		j := &setsJob{}
		for set, err := range sets {
			if err != nil {
				yield(nil, err)
				return
			}
			j.sets, j.Last = append(j.sets, set), set[0]
			if j.Members += int64(len(set)); j.Members >= batchTexts {
				if !yield(j, nil) {
					return
				}
				j = &setsJob{}
			}
		}
		if len(j.sets) > 0 {
			yield(j, nil)
		}
	}
	room := &room{}
	all := func() []verify.Comparer { return texts.Judge.Comparers(workers) }
	worker := func(ctx context.Context) func(*setsJob) error {
		one := texts.Judge.Comparers(1)
		return func(j *setsJob) error {
			for _, set := range j.sets {
				r, recall, err := known(set)
				if err != nil {
					return err
				}
				if r.Name = set[0]; r.Known {
					j.Sets = append(j.Sets, r)
					continue
				}
				v := setVerifier{Judge: texts.Judge, recall: recall, noted: r.States != nil, config: &c, docs: texts.Get, workers: one, all: all, memory: &memory{room: room}, put: put}
				if len(set) > largeSet {
					v.workers, v.all = all(), nil
				}
				done := watch(set)
				if err := v.verify(ctx, set); err != nil {
					return err
				}
				done(v.counts)
				r.Links, r.Counts, r.Decided, r.Screening = v.links, v.counts, v.decided, v.screening()
				if !v.noted {
					r.States = nil
				}
				j.Sets = append(j.Sets, r)
			}
			return nil
		}
	}
	return queue.Ordered(ctx, workers, jobs, worker, func(j *setsJob) error { return emit(j.VerifiedSets) })
}

// setsJob is a batch of sets for the workers.
type setsJob struct {
	sets [][]cluster.Key
	VerifiedSets
}
