package workspace

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"neardup/audit"
	"neardup/pipeline/layout"
	"neardup/pipeline/store"
)

// TableJudgement holds people's judgements of pairs of pages, keyed by the pages'
// record IDs. It belongs to no stage, so no run clears it.

// PairSize is the length of a pair's digest, in bytes.
const PairSize = 16

// PairDigest returns the digest that identifies a pair of pages.
func PairDigest(p audit.Pair) []byte {
	sum := sha256.Sum256([]byte(p.A + "\x00" + p.B))
	return sum[:PairSize]
}

// JudgementKey returns the key of a judge's judgement of a pair.
func JudgementKey(p audit.Pair, judge string) []byte {
	return layout.JudgementKey(PairDigest(p), judge)
}

// OutcomeKey returns the key of the outcome of a judged pair.
func OutcomeKey(p audit.Pair) []byte { return layout.OutcomeKey(PairDigest(p)) }

func parseJudgement(r layout.Row) (j audit.Judgement, err error) {
	if err := r.JSON(&j); err != nil {
		return j, err
	}
	if !bytes.Equal(r.Key(), JudgementKey(j.Pair, j.Judge)) {
		return j, layout.Corrupt(r.Key())
	}
	return j, nil
}

// Judgements returns the judgements of a pair, ordered by judge.
func (w *Workspace) Judgements(p audit.Pair) (out []audit.Judgement, err error) {
	for r, err := range w.DB.Rows(layout.PrefixBounds(JudgementKey(p, ""))) {
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

// JudgedPairs yields the judgements of each judged pair, ordered by judge. Pairs
// come in the order of their digests, beginning behind the digest after.
func (w *Workspace) JudgedPairs(after []byte) iter.Seq2[[]audit.Judgement, error] {
	return func(yield func([]audit.Judgement, error) bool) {
		lower, upper := layout.BehindJudgement(after)
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

// AllJudgements returns the judgements of each item, in the order of the items.
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

// PutJudgement adds a valid judgement to a batch. It replaces an earlier judgement
// by the same judge.
func PutJudgement(b store.Batch, j audit.Judgement) error {
	return b.SetJSON(JudgementKey(j.Pair, j.Judge), j)
}

// WriteJudgements writes audits and judgements of pairs. They are durable when it
// returns. If the pairs that clusters have to follow changed, it updates the
// manifest, so that status shows it.
func (w *Workspace) WriteJudgements(put func(b store.Batch) error, pairs ...audit.Pair) error {
	if w.ReadOnly() {
		return fmt.Errorf("nothing can be written: %w", w.why)
	}
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
	return w.ExplainError(w.Publish())
}

// enforcedVerdicts returns the verdict that clusters have to follow for each pair,
// empty if none.
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

// EnforcedPair returns the pair with the verdict that clusters have to follow. It
// has no judges if none enforces one.
func (w *Workspace) EnforcedPair(p audit.Pair) (EnforcedPair, error) {
	of, err := w.Judgements(p)
	if err != nil {
		return EnforcedPair{}, err
	}
	e, _ := EnforcedBy(of)
	return e, nil
}

// EnforcedPair is a pair whose verdict clusters have to follow.
type EnforcedPair struct {
	audit.Pair
	Verdict audit.Verdict // unknown if its judges disagree; then clusters do not follow it
	Judges  []string      // judges who enforce a verdict
}

// EnforcedBy returns what clusters have to do about a pair with these judgements.
// Only judgements that say true or false and have enforce set count. ok is false if
// none does.
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

// EnforcedPairs returns the pairs that clusters have to follow, sorted.
func (w *Workspace) EnforcedPairs() (out []EnforcedPair, err error) {
	for of, err := range w.JudgedPairs(nil) {
		if err != nil {
			return nil, err
		}
		if e, ok := EnforcedBy(of); ok {
			out = append(out, e)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) < 0
	})
	return out, nil
}

// Followed returns the pairs that a run with this workspace follows. A trial
// follows none.
func (w *Workspace) Followed() ([]EnforcedPair, error) {
	if w.trial != nil {
		return nil, nil
	}
	return w.EnforcedPairs()
}

// JudgedSet identifies a set of enforced pairs and their verdicts, whoever judged
// them.
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
