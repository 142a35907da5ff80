package stages

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/extsort"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// closer writes clusters.
type closer struct {
	w        *workspace.Workspace
	ctx      context.Context
	b        store.Batch
	clusters int64
}

// assign puts a text into the cluster of a representative.
func (c *closer) assign(representative, member, against rows.TextID, s rows.Score) error {
	err := errors.Join(
		c.b.Set(store.AssignedKey(member), representative[:]),
		c.b.Set(store.ClusterKey(representative, member), results.ClusterValue(against, s)))
	if err == nil && c.b.Len() >= workspace.CommitBytes {
		err = c.flush()
	}
	return err
}

// begin makes a cluster.
func (c *closer) begin(representative rows.TextID) error {
	c.clusters++
	return c.assign(representative, representative, representative, rows.Score{Relation: report.Near, Resemblance: 1, Containment: 1})
}

func (c *closer) flush() error {
	if err := errors.Join(c.b.Commit(), context.Cause(c.ctx)); err != nil {
		return err
	}
	c.b = c.w.DB.Batch()
	return nil
}

// tablesOfClosing are what closeClusters writes.
var tablesOfClosing = []byte{store.TableAssigned, store.TableCluster, store.TableFormer, store.TableOutcome}

// closeClusters makes clusters of the near pairs, and of texts that several
// pages share; judged pairs have the last word.
func closeClusters(w *workspace.Workspace, sr *workspace.StageRun, counts *rows.VerifyCounts) error {
	c := &closer{w: w, ctx: sr.Ctx, b: w.DB.Batch()}
	if err := errors.Join(c.b.Clear(tablesOfClosing...), c.flush()); err != nil {
		return err
	}
	var leaves cluster.Leaves
	if err := errors.Join(c.joinLinks(&leaves), c.flush()); err != nil {
		return err
	}
	if err := errors.Join(c.joinLeaves(leaves.All()), c.flush()); err != nil {
		return err
	}
	if err := errors.Join(c.joinShared(), c.flush()); err != nil {
		return err
	}
	judged, err := c.enforce(sr.Judged)
	if err != nil {
		return err
	}
	counts.Clusters, counts.Judged = c.clusters, judged
	return nil
}

// joinLinks makes clusters of the near pairs by the closing rule, and takes
// pairs that are near by containment only for leaves, if they are no links.
func (c *closer) joinLinks(leaves *cluster.Leaves) error {
	config := c.w.Config.Verify
	var current cluster.Key
	join := func(representative, member, against cluster.Key, s rows.Score) error {
		if representative != current {
			current = representative
			if err := c.begin(current.ID()); err != nil {
				return err
			}
		}
		return c.assign(representative.ID(), member.ID(), against.ID(), s)
	}
	emit := func(a cluster.Assignment) error {
		s, err := verdict(c.w, a.Against, a.Member)
		if err != nil {
			return err
		}
		return join(a.Cluster, a.Member, a.Against, s)
	}
	if config.Contained != configs.ContainedLeaf {
		leaves = nil
	}
	switch config.Closing {
	case configs.ClosingTransitive:
		return cluster.CloseTransitive(links(c.w, leaves), emit)
	case configs.ClosingRepresentative:
		return cluster.CloseRepresentative(links(c.w, leaves), extsort.Messages(c.w.DB.Tmp), emit)
	}
	for l, err := range parts(c.w) {
		if err == nil {
			err = join(l.Leader, l.Member, l.Leader, l.Score)
		}
		if err != nil {
			return err
		}
	}
	if leaves != nil {
		for _, err := range links(c.w, leaves) {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// links gives the near pairs that link texts. Those that do not, since one of
// them only contains the other, are added to leaves if that is not nil.
func links(w *workspace.Workspace, leaves *cluster.Leaves) iter.Seq2[cluster.Link, error] {
	return func(yield func(cluster.Link, error) bool) {
		for l, err := range results.NearPairs(w) {
			if err == nil && !w.Config.Verify.Links(l.Score.Relation == report.Near) {
				if leaves != nil {
					leaves.Add(leaf(l))
				}
				continue
			}
			if !yield(cluster.Link{Leader: l.Leader, Member: l.Member}, err) || err != nil {
				return
			}
		}
	}
}

// parts gives the clusters of the closing rule "partition": each representative
// with each of its members.
func parts(w *workspace.Workspace) iter.Seq2[rows.Link, error] {
	return results.ScoredPairs(w, store.TablePart)
}

// joinLeaves puts each leaf into the cluster of its host, which it makes where
// there is none. Leaves come by host.
func (c *closer) joinLeaves(leaves []cluster.Leaf) error {
	var host, representative rows.TextID
	for _, leaf := range leaves {
		contained := leaf.Contained.ID()
		if _, assigned, err := results.ClusterOf(c.w, contained); err != nil || assigned {
			if err != nil {
				return err
			}
			continue
		}
		if leaf.Host.ID() != host {
			host = leaf.Host.ID()
			r, ok, err := results.ClusterOf(c.w, host)
			if err != nil {
				return err
			}
			if representative = r; !ok {
				representative = host
				if err := c.begin(host); err != nil {
					return err
				}
			}
		}
		if c.w.Config.Verify.Closing != configs.ClosingTransitive && representative != host {
			continue // it was not verified against the representative
		}
		s, err := verdict(c.w, leaf.Host, leaf.Contained)
		if err != nil {
			return err
		}
		if err := c.assign(representative, contained, host, s); err != nil {
			return err
		}
	}
	return nil
}

// joinShared makes clusters of texts that several pages have and that are near
// no other.
func (c *closer) joinShared() error {
	for t, err := range sharedTexts(c.w) {
		if err != nil {
			return err
		}
		_, assigned, err := results.ClusterOf(c.w, t)
		if err != nil {
			return err
		}
		out, err := results.LeftOut(c.w, t)
		if err != nil {
			return err
		}
		if assigned || out {
			continue
		}
		if err := c.begin(t); err != nil {
			return err
		}
	}
	return nil
}

// leaf is the pair as what contains and what is contained.
func leaf(l rows.Link) cluster.Leaf {
	if l.Score.Relation == report.Contains {
		return cluster.Leaf{Contained: l.Leader, Host: l.Member, Share: l.Score.Containment}
	}
	return cluster.Leaf{Contained: l.Member, Host: l.Leader, Share: l.Score.Containment}
}

// verdict is the score of member against the other, whichever of them leads.
func verdict(w *workspace.Workspace, against, member cluster.Key) (rows.Score, error) {
	leader, follower := against, member
	if member.Compare(against) < 0 {
		leader, follower = member, against
	}
	s, ok, err := results.VerdictOn(w, leader, follower)
	if err == nil && !ok {
		err = fmt.Errorf("no verdict: %w", store.Corrupt(store.PairKey(store.TableVerdict, leader, follower)))
	}
	if leader == member {
		s = s.Inverse()
	}
	return s, err
}

// sharedTexts gives the texts that more than one document has.
func sharedTexts(w *workspace.Workspace) func(yield func(rows.TextID, error) bool) {
	return func(yield func(rows.TextID, error) bool) {
		var last rows.TextID
		n := 0
		for r, err := range w.DB.Table(store.TableOccurrence) {
			var t rows.TextID
			if err == nil {
				t, _, err = store.ParseOccurrenceKey(r.Key())
			}
			if err != nil {
				yield(t, err)
				return
			}
			if n == 0 || t != last {
				last, n = t, 0
			}
			if n++; n == 2 && !yield(t, nil) {
				return
			}
		}
	}
}
