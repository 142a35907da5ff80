package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"slices"

	"neardup/audit"
)

// What people judged of pairs of pages is in tableJudgement, by the record ids of
// the pages. It belongs to no stage: no run clears it.

// pairSize is the size of a judged pair's digest.
const pairSize = 16

// pairDigest names a pair.
func pairDigest(p audit.Pair) []byte {
	sum := sha256.Sum256([]byte(p.A + "\x00" + p.B))
	return sum[:pairSize]
}

func judgementKey(p audit.Pair, judge string) []byte {
	return join(tableJudgement, pairDigest(p), []byte(judge))
}

func outcomeKey(p audit.Pair) []byte { return join(tableOutcome, pairDigest(p)) }

func parseJudgement(r row) (j audit.Judgement, err error) {
	if err := r.json(&j); err != nil {
		return j, err
	}
	if !bytes.Equal(r.key(), judgementKey(j.Pair, j.Judge)) {
		return j, corrupt(r.key())
	}
	return j, nil
}

// judgements are those of a pair, by judge.
func (w *Workspace) judgements(p audit.Pair) (out []audit.Judgement, err error) {
	for r, err := range w.store.rows(prefixBounds(judgementKey(p, ""))) {
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

// judgedPairs gives the judgements of each pair, by judge; pairs by their
// digests, from the one behind after on.
func (w *Workspace) judgedPairs(after []byte) iter.Seq2[[]audit.Judgement, error] {
	return func(yield func([]audit.Judgement, error) bool) {
		lower, upper := tableBounds(tableJudgement)
		if after != nil {
			_, lower = prefixBounds(join(tableJudgement, after))
		}
		var of []audit.Judgement
		for r, err := range w.store.rows(lower, upper) {
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

// allJudgements are the judgements of each item.
func (w *Workspace) allJudgements(ctx context.Context, items []audit.Item) (out [][]audit.Judgement, err error) {
	out = make([][]audit.Judgement, len(items))
	for i, it := range items {
		if out[i], err = w.judgements(it.Pair); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return out, nil
}

// putJudgement puts a judgement that was checked into a batch, in place of the
// judge's own of before.
func putJudgement(b batch, j audit.Judgement) error {
	return b.setJSON(judgementKey(j.Pair, j.Judge), j)
}

// write writes audits, and judgements of pairs. What is given is durable when it
// returns; the manifest is told if clusters have to follow, so that status knows.
func (w *Workspace) write(put func(b batch) error, pairs ...audit.Pair) error {
	w.judging.Lock()
	defer w.judging.Unlock()
	before, err := w.enforcedVerdicts(pairs)
	if err != nil {
		return err
	}
	b := w.store.batch()
	if err := put(b); err != nil {
		return errors.Join(err, b.Close())
	}
	if err := b.commit(); err != nil {
		return w.explain(err)
	}
	after, err := w.enforcedVerdicts(pairs)
	if err != nil || slices.Equal(before, after) {
		return err
	}
	return w.explain(w.publish())
}

// enforcedVerdicts are what clusters have to follow of each pair; empty: nothing.
func (w *Workspace) enforcedVerdicts(pairs []audit.Pair) (out []audit.Verdict, err error) {
	for _, p := range pairs {
		e, err := w.enforcedPair(p)
		if err != nil {
			return nil, err
		}
		out = append(out, e.Verdict)
	}
	return out, nil
}

// enforcedPair is what clusters have to follow of a pair; without judges: nothing.
func (w *Workspace) enforcedPair(p audit.Pair) (enforcedPair, error) {
	of, err := w.judgements(p)
	if err != nil {
		return enforcedPair{}, err
	}
	e, _ := enforcedBy(of)
	return e, nil
}

// enforcedPair is a pair that clusters are to follow.
type enforcedPair struct {
	audit.Pair
	Verdict audit.Verdict // unknown: its judges differ, so it is not followed
	Judges  []string      // those who have it enforced
}

// enforcedBy gives what the judgements of a pair have clusters do. Only those
// that say true or false, and are to be enforced, count.
func enforcedBy(of []audit.Judgement) (e enforcedPair, ok bool) {
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

// enforcedPairs are the pairs that clusters are to follow, sorted.
func (w *Workspace) enforcedPairs() (out []enforcedPair, err error) {
	for of, err := range w.judgedPairs(nil) {
		if err != nil {
			return nil, err
		}
		if e, ok := enforcedBy(of); ok {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b enforcedPair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return out, nil
}

// followed are the pairs that a run follows now: none while methods are compared.
func (w *Workspace) followed() ([]enforcedPair, error) {
	if w.unjudged {
		return nil, nil
	}
	return w.enforcedPairs()
}

// judgedSet names a set of enforced pairs with their verdicts, whoever gave them.
type judgedSet struct {
	Pairs  int    `json:"pairs"`
	Digest string `json:"digest"`
}

func newJudgedSet(pairs []enforcedPair) judgedSet {
	if len(pairs) == 0 {
		return judgedSet{}
	}
	var parts []any
	for _, p := range pairs {
		parts = append(parts, p.A, p.B, p.Verdict)
	}
	return judgedSet{len(pairs), digest(parts...)}
}
