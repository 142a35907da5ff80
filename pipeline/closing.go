package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"neardup/cluster"
	"neardup/configs"
)

// closer writes clusters.
type closer struct {
	w        *Workspace
	ctx      context.Context
	b        batch
	clusters int64
}

// assign puts a text into the cluster of a representative.
func (c *closer) assign(representative, member, against textID, s score) error {
	err := errors.Join(
		c.b.set(assignedKey(member), representative[:]),
		c.b.set(clusterKey(representative, member), clusterValue(against, s)))
	if err == nil && c.b.Len() >= commitBytes {
		err = c.flush()
	}
	return err
}

// begin makes a cluster.
func (c *closer) begin(representative textID) error {
	c.clusters++
	return c.assign(representative, representative, representative, score{Near, 1, 1})
}

func (c *closer) flush() error {
	if err := errors.Join(c.b.commit(), context.Cause(c.ctx)); err != nil {
		return err
	}
	c.b = c.w.store.batch()
	return nil
}

// clusterOf returns the representative of the text's cluster; ok is false where
// the text is in none.
func (w *Workspace) clusterOf(t textID) (representative textID, ok bool, err error) {
	v, ok, err := w.store.get(assignedKey(t))
	if ok && len(v) != len(representative) {
		err = corrupt(assignedKey(t))
	}
	copy(representative[:], v)
	return representative, ok, err
}

// tablesOfClosing are what closeClusters writes.
var tablesOfClosing = []byte{tableAssigned, tableCluster, tableFormer, tableOutcome}

// closeClusters makes clusters of the near pairs, and of texts that several
// pages share; judged pairs have the last word.
func (w *Workspace) closeClusters(sr *stageRun, counts *VerifyCounts) error {
	c := &closer{w: w, ctx: sr.ctx, b: w.store.batch()}
	if err := errors.Join(c.b.clear(tablesOfClosing...), c.flush()); err != nil {
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
	judged, err := c.enforce(sr.judged)
	if err != nil {
		return err
	}
	counts.Clusters, counts.Judged = c.clusters, judged
	return nil
}

// joinLinks makes clusters of the near pairs by the closing rule, and takes
// pairs that are near by containment only for leaves, if they are no links.
func (c *closer) joinLinks(leaves *cluster.Leaves) error {
	config := c.w.config.Verify
	links := func(yield func(cluster.Link, error) bool) {
		for l, err := range c.w.nearPairs() {
			if err == nil && config.Contained == configs.ContainedLeaf && l.score.Relation != Near {
				leaves.Add(l.leaf())
				continue
			}
			if !yield(cluster.Link{Leader: l.leader, Member: l.member}, err) || err != nil {
				return
			}
		}
	}
	var current cluster.Key
	emit := func(a cluster.Assignment) error {
		if a.Cluster != current {
			current = a.Cluster
			if err := c.begin(current.ID()); err != nil {
				return err
			}
		}
		s, err := c.w.verdict(a.Against, a.Member)
		if err != nil {
			return err
		}
		return c.assign(a.Cluster.ID(), a.Member.ID(), a.Against.ID(), s)
	}
	if config.Closing == configs.ClosingTransitive {
		return cluster.CloseTransitive(links, emit)
	}
	return cluster.CloseRepresentative(links, c.w.queueMemory(), emit)
}

// joinLeaves puts each leaf into the cluster of its host, which it makes where
// there is none. Leaves come by host.
func (c *closer) joinLeaves(leaves []cluster.Leaf) error {
	var host, representative textID
	for _, leaf := range leaves {
		contained := leaf.Contained.ID()
		if _, assigned, err := c.w.clusterOf(contained); err != nil || assigned {
			if err != nil {
				return err
			}
			continue
		}
		if leaf.Host.ID() != host {
			host = leaf.Host.ID()
			r, ok, err := c.w.clusterOf(host)
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
		if c.w.config.Verify.Closing == configs.ClosingRepresentative && representative != host {
			continue // it was not verified against the representative
		}
		s, err := c.w.verdict(leaf.Host, leaf.Contained)
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
	for t, err := range c.w.sharedTexts() {
		if err != nil {
			return err
		}
		_, assigned, err := c.w.clusterOf(t)
		if err != nil {
			return err
		}
		out, err := c.w.leftOut(t)
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

// nearPairs gives the near pairs by leader, then member, from the largest key
// down.
func (w *Workspace) nearPairs() iter.Seq2[link, error] {
	return func(yield func(link, error) bool) {
		for r, err := range w.store.table(tableVerdict) {
			var l link
			if err == nil {
				l, err = parseLink(r)
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

func parseLink(r row) (l link, err error) {
	if l.leader, l.member, err = parsePairKey(r.key()); err != nil {
		return l, err
	}
	v, err := r.value()
	if err != nil {
		return l, err
	}
	l.score, err = parseScore(v)
	return l, err
}

// leaf is the pair as what contains and what is contained.
func (l link) leaf() cluster.Leaf {
	if l.score.Relation == Contains {
		return cluster.Leaf{Contained: l.leader, Host: l.member, Share: l.score.Containment}
	}
	return cluster.Leaf{Contained: l.member, Host: l.leader, Share: l.score.Containment}
}

// verdict is the score of member against the other, whichever of them leads.
func (w *Workspace) verdict(against, member cluster.Key) (score, error) {
	leader, follower := against, member
	if member.Compare(against) < 0 {
		leader, follower = member, against
	}
	key := pairKey(tableVerdict, leader, follower)
	v, ok, err := w.store.get(key)
	if err != nil {
		return score{}, err
	}
	if !ok {
		return score{}, fmt.Errorf("no verdict: %w", corrupt(key))
	}
	s, err := parseScore(v)
	if leader == member {
		s.Relation = s.Relation.inverse()
	}
	return s, err
}

// sharedTexts gives the texts that more than one document has.
func (w *Workspace) sharedTexts() func(yield func(textID, error) bool) {
	return func(yield func(textID, error) bool) {
		var last textID
		n := 0
		for r, err := range w.store.table(tableOccurrence) {
			var t textID
			if err == nil {
				t, _, err = parseOccurrenceKey(r.key())
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
