package browsing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"neardup/audit"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// Labels returns an audit with its judgements.
func (r *Review) Labels(ctx context.Context, name string) (audit.Labels, error) {
	a, items, given, err := r.judged(ctx, name)
	return audit.NewLabels(a, items, given), err
}

// ImportOptions are the options of importing labels.
type ImportOptions struct {
	Name    string // name of the audit in this workspace; empty: as in the labels
	Enforce bool   // enforce the judgements that the labels enforce
}

// Imported counts the results of importing labels.
type Imported struct {
	Audit    string `json:"audit"` // empty: the labels have none
	New      bool   `json:"new"`   // the audit did not exist before
	Pairs    int    `json:"pairs"`
	Added    int    `json:"added"` // new judgements
	Replaced int    `json:"replaced"`
	Same     int    `json:"same"`
	Unknown  int    `json:"not_in_workspace"` // pairs of which the workspace lacks a page
}

// ImportLabels imports labels: the judgements, and the audit if it does not exist
// yet. It imports all of them or none.
func (r *Review) ImportLabels(ctx context.Context, in io.Reader, o ImportOptions) (n Imported, err error) {
	l, err := audit.ReadLabels(in)
	if err != nil {
		return n, refused(fmt.Errorf("labels: %w", err))
	}
	if o.Name != "" {
		if l.Audit == nil {
			return n, refused(errors.New("labels: there is no sample that could be named, only judgements"))
		}
		l.Audit.Name = o.Name
		if err := audit.CheckName(o.Name); err != nil {
			return n, refused(err)
		}
	}
	items, err := labelledItems(ctx, r.w, l, &n)
	if err != nil {
		return n, err
	}
	var pairs []audit.Pair
	for _, it := range items {
		pairs = append(pairs, it.Pair)
	}
	err = r.write(func(b store.Batch) error {
		if l.Audit != nil {
			n.Audit = l.Audit.Name
			if n.New, err = r.sameAudit(ctx, *l.Audit, items); err != nil {
				return err
			}
			if n.New {
				if err := putAudit(b, *l.Audit, items); err != nil {
					return err
				}
			}
		}
		for _, p := range l.Pairs {
			for _, j := range p.Given() {
				if err := importJudgement(r.w, b, j, o, &n); err != nil {
					return err
				}
			}
		}
		return nil
	}, pairs...)
	return n, err
}

// labelledItems looks up the pages of the pairs.
func labelledItems(ctx context.Context, w *workspace.Workspace, l audit.Labels, n *Imported) (items []audit.Item, err error) {
	if err := results.IndexNames(ctx, w); err != nil {
		return nil, err
	}
	for _, p := range l.Pairs {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		it := p.Item()
		here := true
		for side, id := range [2]string{it.A, it.B} {
			d, ok, err := documentOf(w, id)
			if err != nil {
				return nil, err
			}
			if !ok {
				here = false
				continue
			}
			it.Documents[side], it.URIs[side], it.Dates[side], it.Sites[side] = d.Id.String(), d.TargetURI, d.Date, d.Site
		}
		if n.Pairs++; !here {
			n.Unknown++
		}
		items = append(items, it)
	}
	return items, nil
}

// documentOf returns the document with a record ID. If there are several, it is the
// one with the smallest docID.
func documentOf(w *workspace.Workspace, id string) (d results.Found, ok bool, err error) {
	all, _, err := results.Named(w, results.ByRecordID, id, "", func(d results.Found) bool { return d.RecordID == id })
	for _, f := range all {
		if !ok || bytes.Compare(f.Id[:], d.Id[:]) < 0 {
			d, ok = f, true
		}
	}
	return d, ok, err
}

// sameAudit reports whether no audit has the name yet. It returns an error if
// another audit has it.
func (r *Review) sameAudit(ctx context.Context, a audit.Audit, items []audit.Item) (isNew bool, err error) {
	if _, ok, err := r.w.DB.Get(layout.AuditKey(a.Name)); err != nil || !ok {
		return err == nil, err
	}
	old, oldItems, err := r.items(ctx, a.Name)
	if err != nil {
		return false, err
	}
	same := old.Design == a.Design && len(oldItems) == len(items)
	for i := range items {
		same = same && oldItems[i].Pair == items[i].Pair
	}
	if !same {
		return false, refused(fmt.Errorf("there is another audit %s; import this one under another name with --name", a.Name))
	}
	return false, nil
}

// importJudgement adds a judgement to the batch. If the verdict is the present one,
// enforcing stays as it is, unless the options take it from the labels.
func importJudgement(w *workspace.Workspace, b store.Batch, j audit.Judgement, o ImportOptions, n *Imported) error {
	j, err := j.Checked()
	if err != nil {
		return refused(err)
	}
	var old audit.Judgement
	was, err := w.DB.GetJSON(workspace.JudgementKey(j.Pair, j.Judge), &old)
	if err != nil {
		return err
	}
	if j.Time == "" {
		if j.Time = now(); was && old.Verdict == j.Verdict && old.Note == j.Note && old.Cause == j.Cause {
			j.Time = old.Time
		}
	}
	if !o.Enforce {
		j.Enforce = was && old.Enforce && old.Verdict == j.Verdict
	}
	switch {
	case !was:
		n.Added++
	case old == j:
		n.Same++
		return nil
	default:
		n.Replaced++
	}
	return workspace.PutJudgement(b, j)
}
