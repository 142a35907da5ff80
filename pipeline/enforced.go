package pipeline

import (
	"context"
	"encoding/hex"
	"fmt"

	"neardup/audit"
	"neardup/review"
)

// Enforced gives pairs that clusters are to follow, by the digests of their
// record ids, and what the clusters make of each. Its Next is such a digest.
func (r *Review) Enforced(ctx context.Context, after string, limit int) (out review.EnforcedList, err error) {
	var from []byte
	if after != "" {
		if from, err = hex.DecodeString(after); err != nil || len(from) != pairSize {
			return out, fmt.Errorf("%w: there is no list behind %.40q", review.ErrNotFound, after)
		}
	}
	limit = max(1, limit)
	for of, err := range r.w.judgedPairs(from) {
		if err != nil {
			return out, err
		}
		e, ok := enforcedBy(of)
		if !ok {
			continue
		}
		if len(out.Pairs) == limit {
			out.Next = hex.EncodeToString(pairDigest(out.Pairs[limit-1].Pair))
			break
		}
		p, err := r.enforced(ctx, e)
		if err != nil {
			return out, err
		}
		out.Pairs = append(out.Pairs, p)
	}
	return out, ctx.Err()
}

// enforced says what there is of a pair.
func (r *Review) enforced(ctx context.Context, e enforcedPair) (p review.EnforcedPair, err error) {
	p = review.EnforcedPair{Pair: e.Pair, Verdict: e.Verdict, Judges: e.Judges}
	if p.State, err = r.w.stateOf(e); err != nil {
		return p, err
	}
	if err := r.w.indexNames(ctx); err != nil {
		return p, err
	}
	for i, name := range []string{e.A, e.B} {
		pages, _, err := r.w.named(byRecordID, name, "", func(d found) bool { return d.RecordID == name })
		if err != nil {
			return p, err
		}
		if len(pages) > 0 { // the earliest
			p.Documents[i], p.URIs[i] = pages[0].id.String(), pages[0].TargetURI
		}
	}
	return p, nil
}

// stateOf is what the clusters make of an enforced pair: pairFollowed,
// pairPending, or why it is not followed.
func (w *Workspace) stateOf(e enforcedPair) (string, error) {
	var o judgedOutcome
	ok, err := w.store.getJSON(outcomeKey(e.Pair), &o)
	if err == nil && (!ok || o.Verdict != e.Verdict) && e.Verdict != audit.Unknown {
		return pairPending, nil
	}
	if e.Verdict == audit.Unknown {
		return pairDisagreed, err
	}
	return o.State, err
}

// former is the representative of the cluster that a text would be in if no
// judged pairs were followed; ok is false where it would be in none.
func (w *Workspace) former(t textID) (representative textID, ok bool, err error) {
	v, moved, err := w.store.get(formerKey(t))
	switch {
	case err != nil:
		return t, false, err
	case !moved:
		return w.clusterOf(t)
	case len(v) == 0:
		return t, false, nil
	case len(v) != len(t):
		return t, false, corrupt(formerKey(t))
	}
	return textID(v), true, nil
}
