package stages

import (
	"context"
	"errors"

	"neardup/configs"
	"neardup/pipeline/closing"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// closer writes clusters into the workspace. It implements closing.Clusters and
// closing.Moved.
type closer struct {
	w        *workspace.Workspace
	sr       *workspace.StageRun
	b        store.Batch
	clusters int64

	// Assigned texts until the first flush, and members until all clusters are made. They
	// replace those of an earlier run; later ones are added in batches.
	assigned, members *extsort.Sorter

	contained report.ContainedCounts
	of        *store.Seeker // of TableAssigned since the last commit, if Of was called
}

// Assign puts a text into the cluster of its representative.
func (c *closer) Assign(row rows.Cluster) error {
	if row.Member == row.Cluster {
		c.clusters++
	}
	assign, member := c.b.Set, c.b.Set
	if c.assigned != nil {
		assign = c.assigned.Add
	} else {
		c.sr.Changed(layout.TableAssigned)
	}
	if c.members != nil {
		member = c.members.Add
	} else {
		c.sr.Changed(layout.TableCluster)
	}
	err := errors.Join(
		assign(layout.AssignedKey(row.Member), row.Cluster[:]),
		member(layout.ClusterKey(row.Cluster, row.Member), layout.ClusterValue(row)))
	if err == nil && c.b.Len() >= workspace.CommitBytes {
		err = c.commit()
	}
	return err
}

// contain writes a text with the host that contains it.
func (c *closer) contain(row rows.Contained) error {
	err := errors.Join(c.countContained(row),
		c.b.Set(layout.ContainedKey(row.Group, row.Host, row.Text), layout.ContainedValue(row)),
		c.b.Set(layout.HostKey(row.Text), layout.HostValue(row)))
	if err == nil && c.b.Len() >= workspace.CommitBytes {
		err = c.commit()
	}
	return err
}

// countContained counts a contained text.
func (c *closer) countContained(row rows.Contained) error {
	pages, err := c.pages(row.Text)
	if err != nil {
		return err
	}
	c.contained.Texts++
	c.contained.Pages += pages
	if row.Cluster != (rows.TextID{}) {
		c.contained.Clustered += pages
	}
	return nil
}

// pages returns the number of pages that have a text.
func (c *closer) pages(t rows.TextID) (n int64, err error) {
	for _, err := range c.w.DB.Rows(layout.PrefixBounds(layout.OccurrencesOf(t))) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// Flush makes visible what was assigned so far.
func (c *closer) Flush() error {
	if err := c.replace(layout.TableAssigned, &c.assigned); err != nil {
		return err
	}
	return c.commit()
}

// replace replaces a table by what a sorter collected, unless it has been.
func (c *closer) replace(table byte, collected **extsort.Sorter) error {
	s := *collected
	if s == nil {
		return nil
	}
	*collected = nil
	return errors.Join(c.sr.Replace(c.w.DB, table, s.Sorted()), s.Close())
}

// closeSorters drops what was collected and not written.
func (c *closer) closeSorters() (err error) {
	for _, s := range []*extsort.Sorter{c.assigned, c.members} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// commit commits the batch.
func (c *closer) commit() error {
	c.close()
	if err := errors.Join(c.b.Commit(), context.Cause(c.sr.Ctx)); err != nil {
		return err
	}
	c.b = c.w.DB.Batch()
	return nil
}

// changed tells that the tables are not what they were at the first flush.
func (c *closer) changed() {
	c.sr.Changed(layout.TableAssigned)
	c.sr.Changed(layout.TableCluster)
}

// Remove implements closing.Moved.
func (c *closer) Remove(row rows.Cluster) error {
	c.changed()
	if row.Cluster == row.Member {
		c.clusters--
	}
	return errors.Join(c.b.Delete(layout.ClusterKey(row.Cluster, row.Member)), c.b.Delete(layout.AssignedKey(row.Member)))
}

// Former implements closing.Moved.
func (c *closer) Former(t rows.TextID, cluster *rows.TextID) error {
	var former []byte
	if cluster != nil {
		former = cluster[:]
	}
	return c.b.Set(layout.FormerKey(t), former)
}

// Of returns the representative of the text's cluster, as of the last commit.
func (c *closer) Of(t rows.TextID) (representative rows.TextID, ok bool, err error) {
	if c.of == nil {
		if c.of, err = c.w.DB.Seeker(layout.TableAssigned); err != nil {
			return representative, false, err
		}
	}
	r, ok, err := c.of.Get(layout.AssignedKey(t))
	if ok {
		_, representative, err = r.Representative()
	}
	return representative, ok, err
}

// close ends the reading of Of.
func (c *closer) close() {
	if c.of != nil {
		_ = c.of.Close() // Of has reported its errors
		c.of = nil
	}
}

// tablesOfClosing are the tables that closeClusters writes.
var tablesOfClosing = []byte{layout.TableAssigned, layout.TableCluster, layout.TableFormer, layout.TableOutcome,
	layout.TableContained, layout.TableHost}

// closeClusters makes clusters from the near pairs and from texts that several
// pages share, and then makes them follow the judged pairs. With contained: apart
// it also writes the texts that are contained in a text of another cluster.
func closeClusters(w *workspace.Workspace, sr *workspace.StageRun, counts *rows.VerifyCounts) error {
	c := &closer{w: w, sr: sr, b: w.DB.Batch(), assigned: extsort.New(w.DB.Tmp), members: extsort.New(w.DB.Tmp)}
	defer func() { _ = c.closeSorters() }()
	defer c.close()
	if err := errors.Join(c.b.Clear(layout.TableFormer, layout.TableOutcome, layout.TableContained, layout.TableHost), c.commit()); err != nil {
		return err
	}
	if err := closing.Close(results.Verdicts{W: w}, w.Config.Verify, w.DB.Tmp, c); err != nil {
		return err
	}
	if err := c.replace(layout.TableCluster, &c.members); err != nil {
		return err
	}
	judged, err := c.enforce(sr.Judged)
	if err != nil {
		return err
	}
	if w.Config.Verify.Contained == configs.ContainedApart {
		if err := errors.Join(closing.Apart(w.DB.Tmp, results.VerifiedPairs(w), c.Of, c.contain), c.Flush()); err != nil {
			return err
		}
	}
	counts.Clusters, counts.Judged, counts.Contained = c.clusters, judged, c.contained
	return nil
}
