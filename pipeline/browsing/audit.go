package browsing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"neardup/audit"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/review"
)

// Auditor returns the audits of the workspace, without the index for browsing.
func Auditor(w *workspace.Workspace) *Review {
	return &Review{w: w, pairs: make(chan struct{}, maxPairs)}
}

// maxTruthPages limits the pages that Truth holds in memory, which then takes about
// 200 MB.
const maxTruthPages = 2_000

// refusal is an error of a wrong request, from the commands and the review pages
// alike.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

func (r refusal) Is(target error) bool {
	return target == workspace.ErrUsage || target == review.ErrRefused
}

func refused(err error) error {
	if err == nil {
		return nil
	}
	return refusal{err}
}

// unwritable is a refusal that is no wrong use.
type unwritable struct{ error }

func (u unwritable) Unwrap() error { return u.error }

func (unwritable) Is(target error) bool { return target == review.ErrRefused }

// write is Workspace.WriteJudgements. It refuses where nothing can be written.
func (r *Review) write(put func(b store.Batch) error, pairs ...audit.Pair) error {
	err := r.w.WriteJudgements(put, pairs...)
	if errors.Is(err, workspace.ErrInUse) { // its advice is to wait, but the copy of a server stays a copy
		err = fmt.Errorf("%w; then start neardup serve again, if this is one", err)
	}
	if r.w.ReadOnly() || errors.Is(err, store.ErrReplaced) {
		return unwritable{err}
	}
	return err
}

// clusterGeneration returns the generation of the clusters. It is empty if they are
// not up to date.
func clusterGeneration(w *workspace.Workspace) (string, error) {
	switch err := w.CurrentExcept(workspace.StageVerify, workspace.Judgements); {
	case errors.Is(err, workspace.ErrUsage):
		return "", nil
	case err != nil:
		return "", err
	}
	s, _, err := w.State(workspace.StageVerify)
	return s.Generation(), err
}

// Audits returns the audits, ordered by name.
func (r *Review) Audits(ctx context.Context) (out []audit.Audit, err error) {
	generation, err := clusterGeneration(r.w)
	if err != nil {
		return nil, err
	}
	for row, err := range r.w.DB.Rows(layout.PrefixBounds(layout.AuditKey(""))) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		var a audit.Audit
		if err := row.JSON(&a); err != nil {
			return nil, err
		}
		a.Current = a.Generation == generation
		out = append(out, a)
	}
	return out, nil
}

// Audit returns an audit by its name.
func (r *Review) Audit(_ context.Context, name string) (a audit.Audit, err error) {
	if a, err = readAudit(r.w, name); err != nil {
		return a, err
	}
	generation, err := clusterGeneration(r.w)
	a.Current = a.Generation == generation
	return a, err
}

// readAudit reads an audit. It does not set Current, which would need all
// judgements.
func readAudit(w *workspace.Workspace, name string) (a audit.Audit, err error) {
	ok, err := w.DB.GetJSON(layout.AuditKey(name), &a)
	if err == nil && !ok {
		err = fmt.Errorf("%w: there is no audit %s", review.ErrNotFound, results.OneLine(name))
	}
	return a, err
}

// Item returns the item of an audit with an index, as it was drawn.
func (r *Review) Item(_ context.Context, name string, i int) (it audit.Item, err error) {
	a, err := readAudit(r.w, name)
	if err != nil {
		return it, err
	}
	if i < 0 || i >= a.Size {
		return it, fmt.Errorf("%w: audit %s has %d pairs", review.ErrNotFound, name, a.Size)
	}
	ok, err := r.w.DB.GetJSON(layout.AuditItemKey(name, i), &it)
	if err == nil && !ok {
		err = fmt.Errorf("no item: %w", layout.Corrupt(layout.AuditItemKey(name, i)))
	}
	return it, err
}

// items returns an audit with all its items.
func (r *Review) items(ctx context.Context, name string) (a audit.Audit, items []audit.Item, err error) {
	if a, err = r.Audit(ctx, name); err != nil {
		return a, nil, err
	}
	for row, err := range r.w.DB.Rows(layout.PrefixBounds(layout.AuditItems(name))) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return a, nil, err
		}
		var it audit.Item
		if err := row.JSON(&it); err != nil {
			return a, nil, err
		}
		if !bytes.Equal(row.Key(), layout.AuditItemKey(name, len(items))) || it.Stratum < 0 || it.Stratum >= len(a.Strata) {
			return a, nil, layout.Corrupt(row.Key())
		}
		items = append(items, it)
	}
	if len(items) != a.Size {
		return a, nil, fmt.Errorf("%d items of %d: %w", len(items), a.Size, layout.Corrupt(layout.AuditKey(name)))
	}
	return a, items, nil
}

// judged returns an audit with all its items and their judgements.
func (r *Review) judged(ctx context.Context, name string) (a audit.Audit, items []audit.Item, given [][]audit.Judgement, err error) {
	if a, items, err = r.items(ctx, name); err != nil {
		return a, nil, nil, err
	}
	given, err = r.w.AllJudgements(ctx, items)
	return a, items, given, err
}

// Judge stores a judgement. It replaces the judge's earlier one.
func (r *Review) Judge(_ context.Context, j audit.Judgement) error {
	j, err := j.Checked()
	if err != nil {
		return refused(err)
	}
	j.Time = now()
	return r.write(func(b store.Batch) error { return workspace.PutJudgement(b, j) }, j.Pair)
}

// Withdraw takes a judgement back. It is no error if there is none.
func (r *Review) Withdraw(_ context.Context, p audit.Pair, judge string) error {
	p = audit.NewPair(p.A, p.B)
	if err := errors.Join(p.Check(), audit.CheckJudge(judge)); err != nil {
		return refused(err)
	}
	return r.write(func(b store.Batch) error { return b.Delete(workspace.JudgementKey(p, judge)) }, p)
}

// Judgements returns the judgements of a pair, ordered by judge.
func (r *Review) Judgements(_ context.Context, p audit.Pair) ([]audit.Judgement, error) {
	return r.w.Judgements(audit.NewPair(p.A, p.B))
}

// Progress returns how far a judge is with an audit.
func (r *Review) Progress(ctx context.Context, name, judge string) (p audit.Progress, err error) {
	if err := audit.CheckJudge(judge); err != nil {
		return p, refused(err)
	}
	_, items, err := r.items(ctx, name)
	if err != nil {
		return p, err
	}
	p = audit.Progress{Size: len(items), Next: -1, Given: make([]audit.Verdict, len(items))}
	for i, it := range items {
		var j audit.Judgement
		ok, err := r.w.DB.GetJSON(workspace.JudgementKey(it.Pair, judge), &j)
		switch {
		case err != nil:
			return p, err
		case ok:
			p.Given[i] = j.Verdict
			p.Judged++
		case p.Next < 0:
			p.Next = i
		}
	}
	return p, nil
}

// Result returns the result of the judgements of all judges.
func (r *Review) Result(ctx context.Context, name string) (audit.Result, error) {
	a, items, given, err := r.judged(ctx, name)
	if err != nil {
		return audit.Result{}, err
	}
	return audit.Evaluate(a, items, given), nil
}

// Truth returns the judgements in the format of package truth. If they are too
// large for memory, it refuses; WriteTruth can write them.
func (r *Review) Truth(ctx context.Context, name string) (pages, pairs []byte, err error) {
	_, items, given, err := r.judged(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if n := audit.TruthPages(items, given); n > maxTruthPages {
		return nil, nil, refused(fmt.Errorf("a truth of %d pages lists %d pairs; neardup audit export --format truth writes it", n, n*(n-1)/2))
	}
	var p, t bytes.Buffer
	_, _, err = audit.WriteTruth(items, given, &p, &t)
	return p.Bytes(), t.Bytes(), err
}

// WriteTruth writes what Truth returns. It returns the numbers of pages and of
// decided pairs.
func (r *Review) WriteTruth(ctx context.Context, name string, pages, pairs io.Writer) (n, decided int, err error) {
	_, items, given, err := r.judged(ctx, name)
	if err != nil {
		return 0, 0, err
	}
	return audit.WriteTruth(items, given, pages, pairs)
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }
