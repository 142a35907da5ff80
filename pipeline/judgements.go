package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"

	"neardup/audit"
)

// Judgements are kept by pair of record ids and judge, not by audit and not by
// stage: whatever is done again, they stay, and another sample that has the pair
// shows it judged.

// judgementKey is the key of a judge's judgement of a pair; of no judge, what
// the keys of all of them start with.
func judgementKey(p audit.Pair, judge string) []byte {
	sum := sha256.Sum256([]byte(p.A + "\x00" + p.B))
	return join(tableJudgement, sum[:16], []byte(judge))
}

// judgements are those of a pair, by the judge's name.
func (w *Workspace) judgements(p audit.Pair) (out []audit.Judgement, err error) {
	for r, err := range w.store.rows(prefixBounds(judgementKey(p, ""))) {
		if err != nil {
			return nil, err
		}
		var j audit.Judgement
		if err := r.json(&j); err != nil {
			return nil, err
		}
		out = append(out, j)
	}
	return out, nil
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

// write writes audits or judgements. What is given is durable when it returns.
func (w *Workspace) write(put func(b batch) error) error {
	w.judging.Lock()
	defer w.judging.Unlock()
	b := w.store.batch()
	if err := put(b); err != nil {
		return errors.Join(err, b.Close())
	}
	return w.explain(b.commit())
}
