package browsing

import (
	"context"
	"encoding/hex"
	"fmt"

	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/review"
)

// Enforced returns the pairs that clusters have to follow, ordered by the digests
// of their record IDs, with their states. Next is such a digest.
func (r *Review) Enforced(ctx context.Context, after string, limit int) (out review.EnforcedList, err error) {
	var from []byte
	if after != "" {
		if from, err = hex.DecodeString(after); err != nil || len(from) != workspace.PairSize {
			return out, fmt.Errorf("%w: %.40q is not a position in the list", review.ErrNotFound, after)
		}
	}
	limit = max(1, limit)
	for of, err := range r.w.JudgedPairs(from) {
		if err != nil {
			return out, err
		}
		e, ok := workspace.EnforcedBy(of)
		if !ok {
			continue
		}
		if len(out.Pairs) == limit {
			out.Next = hex.EncodeToString(workspace.PairDigest(out.Pairs[limit-1].Pair))
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

// enforced returns the data of a pair.
func (r *Review) enforced(ctx context.Context, e workspace.EnforcedPair) (p review.EnforcedPair, err error) {
	p = review.EnforcedPair{Pair: e.Pair, Verdict: e.Verdict, Judges: e.Judges}
	if p.State, err = results.StateOf(r.w, e); err != nil {
		return p, err
	}
	if err := results.IndexNames(ctx, r.w); err != nil {
		return p, err
	}
	for i, name := range []string{e.A, e.B} {
		pages, _, err := results.Named(r.w, results.ByRecordID, name, "", func(d results.Found) bool { return d.RecordID == name })
		if err != nil {
			return p, err
		}
		if len(pages) > 0 { // the earliest page
			p.Documents[i], p.URIs[i] = pages[0].Id.String(), pages[0].TargetURI
		}
	}
	return p, nil
}
