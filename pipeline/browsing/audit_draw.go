package browsing

import (
	"context"
	"errors"
	"fmt"

	"neardup/audit"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Draw draws a sample of pairs from the clusters, in one pass over them, and stores
// it under a new name.
func (r *Review) Draw(ctx context.Context, name string, d audit.Design) (a audit.Audit, err error) {
	if err := errors.Join(audit.CheckName(name), d.Check()); err != nil {
		return a, refused(err)
	}
	if err := newAudit(r.w, name); err != nil {
		return a, err
	}
	if err := r.w.CurrentExcept(workspace.StageVerify, workspace.Judgements); err != nil {
		return a, err
	}
	generation, err := clusterGeneration(r.w)
	if err != nil {
		return a, err
	}
	s := audit.NewSampler(d)
	for c, err := range results.Clusters(ctx, r.w) {
		var members []audit.Member
		if err == nil {
			members, err = sampledMembers(c)
		}
		if err != nil {
			return a, r.w.ExplainError(err)
		}
		s.Add(c.ID, members)
	}
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	a = audit.Audit{Name: name, Design: d, Generation: generation, Current: true, Drawn: now()}
	var items []audit.Item
	if a.Strata, items = s.Sample(); len(items) == 0 {
		return a, refused(errors.New("there is no pair to draw"))
	}
	a.Size = len(items)
	return a, r.write(func(b store.Batch) error {
		return errors.Join(newAudit(r.w, name), putAudit(b, a, items))
	})
}

// newAudit returns an error if there is an audit of that name.
func newAudit(w *workspace.Workspace, name string) error {
	if _, ok, err := w.DB.Get(layout.AuditKey(name)); err != nil || !ok {
		return err
	}
	return refused(fmt.Errorf("there is an audit %s; choose another name", name))
}

func putAudit(b store.Batch, a audit.Audit, items []audit.Item) error {
	if err := b.SetJSON(layout.AuditKey(a.Name), a); err != nil {
		return err
	}
	for i, it := range items {
		if err := b.SetJSON(layout.AuditItemKey(a.Name, i), it); err != nil {
			return err
		}
	}
	return nil
}

// sampledMembers converts the members of a cluster for a sampler.
func sampledMembers(c report.Cluster) ([]audit.Member, error) {
	at := make(map[string]int, len(c.Members))
	for i, m := range c.Members {
		at[m.Document] = i
	}
	members := make([]audit.Member, len(c.Members))
	for i, m := range c.Members {
		against, ok := at[m.AgainstDocument]
		if !ok {
			return nil, fmt.Errorf("verified against a page that is not in the cluster: %w", layout.Corrupt([]byte(m.AgainstDocument)))
		}
		members[i] = audit.Member{Document: m.Document, RecordID: m.RecordID, URI: m.URI, Date: m.Date, Site: m.Site, Text: m.Text,
			Against: against, Judged: m.Relation == report.Judged, Resemblance: float64(m.Resemblance), Containment: float64(m.Containment)}
	}
	return members, nil
}
