// Package closing makes clusters of what verify found: near pairs, parts, and texts that
// several pages share. It makes clusters follow judged pairs, and finds the texts that a
// text of another cluster contains. Like those of package dataflow, its functions know
// neither the database nor the workspace.
package closing

import (
	"errors"
	"iter"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/report"
)

// Verdicts is the input of Close.
type Verdicts interface {
	// Links yields the near pairs of sets or candidates, by leader, then member.
	Links() iter.Seq2[rows.Link, error]
	// Score returns the score of a link.
	Score(leader, member cluster.Key) (rows.Score, error)
	// Parts yields the parts that Part made from links, by representative, then
	// member.
	Parts() iter.Seq2[rows.Link, error]
	// Shared yields the compared texts that several pages have.
	Shared() iter.Seq2[rows.TextID, error]
}

// Clusters is the output of Close.
type Clusters interface {
	Assign(rows.Cluster) error
	// Flush makes what was assigned visible to Of.
	Flush() error
	// Of returns the representative of the text's cluster. ok is false if the text
	// is in none.
	Of(rows.TextID) (representative rows.TextID, ok bool, err error)
}

// Close makes clusters from verdicts and from texts that several pages share.
func Close(v Verdicts, c configs.Verify, memory cluster.Memory, to Clusters) error {
	x := closer{v, c, memory, to}
	var leaves cluster.Leaves
	if err := errors.Join(x.joinLinks(&leaves), to.Flush()); err != nil {
		return err
	}
	if err := errors.Join(x.joinLeaves(leaves.All()), to.Flush()); err != nil {
		return err
	}
	return errors.Join(x.joinShared(), to.Flush())
}

type closer struct {
	Verdicts
	config configs.Verify
	memory cluster.Memory
	to     Clusters
}

// begun returns the place of a representative in its own new cluster.
func begun(representative rows.TextID) rows.Cluster {
	return rows.Cluster{Cluster: representative, Member: representative, Against: representative,
		Score: rows.Score{Relation: report.Near, Resemblance: 1, Containment: 1}}
}

// joinLinks makes clusters from the near pairs by the closing rule. Pairs that are
// near by containment only and are no links become leaves.
func (x *closer) joinLinks(leaves *cluster.Leaves) error {
	var current cluster.Key
	join := func(representative, member, against cluster.Key, s rows.Score) error {
		if representative != current {
			current = representative
			if err := x.to.Assign(begun(current.ID())); err != nil {
				return err
			}
		}
		return x.to.Assign(rows.Cluster{Cluster: representative.ID(), Member: member.ID(), Against: against.ID(), Score: s})
	}
	emit := func(a cluster.Assignment) error {
		s, err := x.verdict(a.Against, a.Member)
		if err != nil {
			return err
		}
		return join(a.Cluster, a.Member, a.Against, s)
	}
	if x.config.Contained != configs.ContainedLeaf {
		leaves = nil
	}
	links := Linking(x.Links(), x.config, leaves)
	switch x.config.Closing {
	case configs.ClosingTransitive, configs.ClosingLeaders:
		return cluster.CloseTransitive(keysOf(links), emit)
	case configs.ClosingRepresentative:
		return cluster.CloseRepresentative(keysOf(links), x.memory, emit)
	}
	for l, err := range x.Parts() {
		if err == nil {
			err = join(l.Leader, l.Member, l.Leader, l.Score)
		}
		if err != nil {
			return err
		}
	}
	if leaves != nil {
		for _, err := range links {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Linking yields the near pairs that link texts. The others, in which one text only
// contains the other, are added to leaves if that is not nil.
func Linking(near iter.Seq2[rows.Link, error], c configs.Verify, leaves *cluster.Leaves) iter.Seq2[rows.Link, error] {
	return func(yield func(rows.Link, error) bool) {
		for l, err := range near {
			if err == nil && !c.Links(l.Score.Relation.Resembles()) {
				if leaves != nil {
					leaves.Add(leaf(l))
				}
				continue
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// keysOf yields links without their scores.
func keysOf(links iter.Seq2[rows.Link, error]) iter.Seq2[cluster.Link, error] {
	return func(yield func(cluster.Link, error) bool) {
		for l, err := range links {
			if !yield(cluster.Link{Leader: l.Leader, Member: l.Member}, err) || err != nil {
				return
			}
		}
	}
}

// joinLeaves puts each leaf into the cluster of its host. It makes that cluster if
// the host is in none. Leaves come by host.
func (x *closer) joinLeaves(leaves []cluster.Leaf) error {
	var host, representative rows.TextID
	for _, leaf := range leaves {
		contained := leaf.Contained.ID()
		if _, assigned, err := x.to.Of(contained); err != nil || assigned {
			if err != nil {
				return err
			}
			continue
		}
		if leaf.Host.ID() != host {
			host = leaf.Host.ID()
			r, ok, err := x.to.Of(host)
			if err != nil {
				return err
			}
			if representative = r; !ok {
				representative = host
				if err := x.to.Assign(begun(host)); err != nil {
					return err
				}
			}
		}
		if !x.config.Chains() && representative != host {
			continue // the leaf was not verified against the representative
		}
		s, err := x.verdict(leaf.Host, leaf.Contained)
		if err != nil {
			return err
		}
		if err := x.to.Assign(rows.Cluster{Cluster: representative, Member: contained, Against: host, Score: s}); err != nil {
			return err
		}
	}
	return nil
}

// joinShared makes a cluster of each text that several pages have and that is near
// no other.
func (x *closer) joinShared() error {
	for t, err := range x.Shared() {
		if err != nil {
			return err
		}
		_, assigned, err := x.to.Of(t)
		if err != nil {
			return err
		}
		if assigned {
			continue
		}
		if err := x.to.Assign(begun(t)); err != nil {
			return err
		}
	}
	return nil
}

// leaf returns the pair as host and contained text.
func leaf(l rows.Link) cluster.Leaf {
	if l.Score.Relation == report.Contains {
		return cluster.Leaf{Contained: l.Leader, Host: l.Member, Share: l.Score.Containment, Resemblance: l.Score.Resemblance}
	}
	return cluster.Leaf{Contained: l.Member, Host: l.Leader, Share: l.Score.Containment, Resemblance: l.Score.Resemblance}
}

// verdict returns the score of member against the other text, whichever of them
// leads.
func (x *closer) verdict(against, member cluster.Key) (rows.Score, error) {
	if member.Compare(against) < 0 {
		s, err := x.Score(member, against)
		return s.Inverse(), err
	}
	return x.Score(against, member)
}
