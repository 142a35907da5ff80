package workspace

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"slices"

	"neardup/audit"
	"neardup/pipeline/store"
)

// TableJudgement has people's judgements of pairs of pages, by the record ids
// of the pages. It belongs to no stage, so no run clears it.

// PairSize is the size of a judged pair's digest.
const PairSize = 16

// PairDigest names a pair.
func PairDigest(p audit.Pair) []byte {
	sum := sha256.Sum256([]byte(p.A + "\x00" + p.B))
	return sum[:PairSize]
}

func JudgementKey(p audit.Pair, judge string) []byte {
	return store.Key(store.TableJudgement, PairDigest(p), []byte(judge))
}

func OutcomeKey(p audit.Pair) []byte { return store.Key(store.TableOutcome, PairDigest(p)) }

func parseJudgement(r store.Row) (j audit.Judgement, err error) {
	if err := r.JSON(&j); err != nil {
		return j, err
	}
	if !bytes.Equal(r.Key(), JudgementKey(j.Pair, j.Judge)) {
		return j, store.Corrupt(r.Key())
	}
	return j, nil
}

// Judgements returns the judgements of a pair, by judge.
func (w *Workspace) Judgements(p audit.Pair) (out []audit.Judgement, err error) {
	for r, err := range w.DB.Rows(store.PrefixBounds(JudgementKey(p, ""))) {
		if err != nil {
			return nil, err
		}
		j, err := parseJudgement(r)
		if err != nil {
			return nil, err
		}
		out = append(out, j)
	}
	return out, nil
}

// JudgedPairs returns the judgements of each pair, by judge; pairs by their
// digests, from the one behind after on.
func (w *Workspace) JudgedPairs(after []byte) iter.Seq2[[]audit.Judgement, error] {
	return func(yield func([]audit.Judgement, error) bool) {
		lower, upper := store.TableBounds(store.TableJudgement)
		if after != nil {
			_, lower = store.PrefixBounds(store.Key(store.TableJudgement, after))
		}
		var of []audit.Judgement
		for r, err := range w.DB.Rows(lower, upper) {
			var j audit.Judgement
			if err == nil {
				j, err = parseJudgement(r)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(of) > 0 && of[0].Pair != j.Pair {
				if !yield(of, nil) {
					return
				}
				of = nil
			}
			of = append(of, j)
		}
		if len(of) > 0 {
			yield(of, nil)
		}
	}
}

// AllJudgements returns the judgements of each item.
func (w *Workspace) AllJudgements(ctx context.Context, items []audit.Item) (out [][]audit.Judgement, err error) {
	out = make([][]audit.Judgement, len(items))
	for i, it := range items {
		if out[i], err = w.Judgements(it.Pair); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return out, nil
}

// PutJudgement puts a valid judgement into a batch. It replaces the judge's
// former one.
func PutJudgement(b store.Batch, j audit.Judgement) error {
	return b.SetJSON(JudgementKey(j.Pair, j.Judge), j)
}

// WriteJudgements writes audits, and judgements of pairs. They are durable when
// it returns. It updates the manifest if clusters have to follow, so that
// status shows it.
func (w *Workspace) WriteJudgements(put func(b store.Batch) error, pairs ...audit.Pair) error {
	w.judging.Lock()
	defer w.judging.Unlock()
	before, err := w.enforcedVerdicts(pairs)
	if err != nil {
		return err
	}
	b := w.DB.Batch()
	if err := put(b); err != nil {
		return errors.Join(err, b.Close())
	}
	if err := b.Commit(); err != nil {
		return w.ExplainError(err)
	}
	after, err := w.enforcedVerdicts(pairs)
	if err != nil || slices.Equal(before, after) {
		return err
	}
	return w.ExplainError(w.publish())
}

// enforcedVerdicts returns what clusters have to follow of each pair; empty:
// nothing.
func (w *Workspace) enforcedVerdicts(pairs []audit.Pair) (out []audit.Verdict, err error) {
	for _, p := range pairs {
		e, err := w.EnforcedPair(p)
		if err != nil {
			return nil, err
		}
		out = append(out, e.Verdict)
	}
	return out, nil
}

// EnforcedPair returns what clusters have to follow of a pair; without judges:
// nothing.
func (w *Workspace) EnforcedPair(p audit.Pair) (EnforcedPair, error) {
	of, err := w.Judgements(p)
	if err != nil {
		return EnforcedPair{}, err
	}
	e, _ := EnforcedBy(of)
	return e, nil
}

// EnforcedPair is a pair that clusters must follow.
type EnforcedPair struct {
	audit.Pair
	Verdict audit.Verdict // unknown if its judges differ; then it is not followed
	Judges  []string      // judges who enforce it
}

// EnforcedBy returns what clusters must do by the judgements of a pair. Only
// those that say true or false and have enforce count.
func EnforcedBy(of []audit.Judgement) (e EnforcedPair, ok bool) {
	for _, j := range of {
		if !j.Enforce || j.Verdict != audit.True && j.Verdict != audit.False {
			continue
		}
		if len(e.Judges) > 0 && j.Verdict != e.Verdict {
			j.Verdict = audit.Unknown
		}
		e.Pair, e.Verdict, e.Judges = j.Pair, j.Verdict, append(e.Judges, j.Judge)
	}
	return e, len(e.Judges) > 0
}

// EnforcedPairs returns the pairs that clusters must follow, sorted.
func (w *Workspace) EnforcedPairs() (out []EnforcedPair, err error) {
	for of, err := range w.JudgedPairs(nil) {
		if err != nil {
			return nil, err
		}
		if e, ok := EnforcedBy(of); ok {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b EnforcedPair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return out, nil
}

// Followed returns the pairs that a run follows now: none in a trial.
func (w *Workspace) Followed() ([]EnforcedPair, error) {
	if w.trial != nil {
		return nil, nil
	}
	return w.EnforcedPairs()
}

// JudgedSet identifies a set of enforced pairs with their verdicts, whoever
// gave them.
type JudgedSet struct {
	Pairs  int    `json:"pairs"`
	Digest string `json:"digest"`
}

func newJudgedSet(pairs []EnforcedPair) JudgedSet {
	if len(pairs) == 0 {
		return JudgedSet{}
	}
	var parts []any
	for _, p := range pairs {
		parts = append(parts, p.A, p.B, p.Verdict)
	}
	return JudgedSet{len(pairs), Digest(parts...)}
}
