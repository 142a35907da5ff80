package pipeline

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"neardup/audit"
)

// Draw draws a sample of pairs from the clusters, in one pass over them, and
// keeps it under a name that no audit has.
func (r *Review) Draw(ctx context.Context, name string, d audit.Design) (a audit.Audit, err error) {
	if err := errors.Join(audit.CheckName(name), d.Check()); err != nil {
		return a, refused(err)
	}
	if err := r.w.newAudit(name); err != nil {
		return a, err
	}
	if err := r.w.current("verify"); err != nil {
		return a, err
	}
	generation, err := r.w.clusterGeneration()
	if err != nil {
		return a, err
	}
	s := audit.NewSampler(d)
	if err := r.w.sampledClusters(ctx, s.Add); err != nil {
		return a, r.w.explain(err)
	}
	a = audit.Audit{Name: name, Design: d, Generation: generation, Current: true, Drawn: now()}
	var items []audit.Item
	if a.Strata, items = s.Sample(); len(items) == 0 {
		return a, refused(errors.New("there is no pair to draw"))
	}
	a.Size = len(items)
	return a, r.w.write(func(b batch) error {
		return errors.Join(r.w.newAudit(name), putAudit(b, a, items))
	})
}

// newAudit says that there is an audit of the name, if there is.
func (w *Workspace) newAudit(name string) error {
	if _, ok, err := w.store.get(auditKey(name)); err != nil || !ok {
		return err
	}
	return refused(fmt.Errorf("there is an audit %s; choose another name", name))
}

func putAudit(b batch, a audit.Audit, items []audit.Item) error {
	if err := b.setJSON(auditKey(a.Name), a); err != nil {
		return err
	}
	for i, it := range items {
		if err := b.setJSON(itemKey(a.Name, i), it); err != nil {
			return err
		}
	}
	return nil
}

// sampledClusters gives the clusters to a sampler. One at a time is in memory.
func (w *Workspace) sampledClusters(ctx context.Context, add func(cluster string, members []audit.Member)) error {
	gathered, err := w.store.gather(ctx, w.clusteredTexts())
	if err != nil {
		return err
	}
	err = w.addClusters(ctx, gathered, add)
	return errors.Join(err, gathered.close())
}

func (w *Workspace) addClusters(ctx context.Context, gathered *sorter, add func(string, []audit.Member)) error {
	next, stop := iter.Pull2(pagesOf(ctx, gathered))
	defer stop()
	var c sampledCluster
	for r, err := range w.store.table(tableCluster) {
		if err != nil {
			return err
		}
		row, err := parseClusterRow(r)
		if err != nil {
			return err
		}
		if len(c.rows) > 0 && c.rows[0].cluster != row.cluster {
			if err := c.flush(add); err != nil {
				return err
			}
		}
		t, err, ok := next()
		if err != nil {
			return err
		}
		if !ok || t.wantedText != (wantedText{row.cluster, row.member}) {
			return fmt.Errorf("a text without pages: %w", corrupt(row.member[:]))
		}
		c.add(row, t)
	}
	if len(c.rows) == 0 {
		return ctx.Err()
	}
	return errors.Join(c.flush(add), ctx.Err())
}

// sampledCluster is a cluster on its way to a sampler.
type sampledCluster struct {
	rows    []clusterRow
	members []audit.Member
	of      []int          // of each member its row
	first   map[textID]int // of each text the member that stands for it
}

func (c *sampledCluster) add(row clusterRow, t textPages) {
	if len(c.rows) == 0 {
		c.first = map[textID]int{}
	}
	c.first[row.member] = len(c.members)
	text := hex.EncodeToString(row.member[:])
	for _, p := range t.pages {
		c.members = append(c.members, audit.Member{Document: p.Document, RecordID: p.RecordID, URI: p.URI, Date: p.Date, Site: p.Site,
			Text: text, Resemblance: row.score.Resemblance, Containment: row.score.Containment})
		c.of = append(c.of, len(c.rows))
	}
	c.rows = append(c.rows, row)
}

// flush gives the cluster on. Its pages were verified against the page that
// stands for the other text, as exports say it.
func (c *sampledCluster) flush(add func(string, []audit.Member)) error {
	id := c.rows[0].cluster
	for i := range c.members {
		row := c.rows[c.of[i]]
		var ok bool
		if c.members[i].Against, ok = c.first[row.against]; !ok {
			return fmt.Errorf("verified against a text that is not in the cluster: %w", corrupt(row.against[:]))
		}
	}
	add(hex.EncodeToString(id[:]), c.members)
	*c = sampledCluster{}
	return nil
}
