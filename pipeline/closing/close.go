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
	"neardup/pipeline/extsort"
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

// Close makes clusters from verdicts and from texts that several pages share. It sorts in
// files of the directory dir.
func Close(v Verdicts, c configs.Verify, dir string, to Clusters) error {
	x := closer{v, c, dir, to}
	if err := errors.Join(x.joinLinks(), to.Flush()); err != nil {
		return err
	}
	if c.Contained == configs.ContainedLeaf {
		if err := errors.Join(x.joinLeaves(), to.Flush()); err != nil {
			return err
		}
	}
	return errors.Join(x.joinShared(), to.Flush())
}

type closer struct {
	Verdicts
	config configs.Verify
	dir    string
	to     Clusters
}

// begun returns the place of a representative in its own new cluster.
func begun(representative rows.TextID) rows.Cluster {
	return rows.Cluster{Cluster: representative, Member: representative, Against: representative,
		Score: rows.Score{Relation: report.Near, Resemblance: 1, Containment: 1}}
}

// joinLinks makes clusters from the near pairs that link texts, by the closing rule.
func (x *closer) joinLinks() error {
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
	links := Linking(x.Links(), x.config)
	switch x.config.Closing {
	case configs.ClosingTransitive, configs.ClosingLeaders:
		return x.eachComponent(links, func(links iter.Seq2[cluster.Link, error]) error { return cluster.CloseTransitive(links, emit) })
	case configs.ClosingRepresentative:
		return cluster.CloseRepresentative(keysOf(links), extsort.Messages(x.dir), emit)
	}
	for l, err := range x.Parts() {
		if err == nil {
			err = join(l.Leader, l.Member, l.Leader, l.Score)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachComponent calls what with the links of each connected component.
func (x *closer) eachComponent(links iter.Seq2[rows.Link, error], what func(iter.Seq2[cluster.Link, error]) error) error {
	next, stop := iter.Pull2(ByComponent(x.dir, links))
	defer stop()
	l, err, more := next()
	for more {
		component := l.Component
		if whatErr := what(func(yield func(cluster.Link, error) bool) {
			for ; more && (err != nil || l.Component == component); l, err, more = next() {
				if !yield(cluster.Link{Leader: l.Leader, Member: l.Member}, err) || err != nil {
					return
				}
			}
		}); whatErr != nil {
			return whatErr
		}
	}
	return nil
}

// Linking yields the near pairs that link texts, of the others not those in which one text
// only contains the other.
func Linking(near iter.Seq2[rows.Link, error], c configs.Verify) iter.Seq2[rows.Link, error] {
	return func(yield func(rows.Link, error) bool) {
		for l, err := range near {
			if err == nil && !c.Links(l.Score.Relation.Resembles()) {
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

// joinLeaves puts each leaf, a text that another contains and that contains none, into the
// cluster of its best host. It makes that cluster if the host is in none. Containment says
// less than resemblance: a short notice on a thousand pages must not unite these pages (the
// TLCS paper's second source of false positives). So a leaf joins one text that contains
// it, and unites nothing.
func (x *closer) joinLeaves() (err error) {
	found := newHosts(x.dir)
	defer func() { err = errors.Join(err, found.close()) }()
	for l, err := range x.Links() {
		if err == nil && !x.config.Links(l.Score.Relation.Resembles()) {
			err = found.add(l)
		}
		if err != nil {
			return err
		}
	}
	var host, representative rows.TextID
	for leaf, err := range found.best(true) {
		if err != nil {
			return err
		}
		contained := leaf.text.ID()
		if _, assigned, err := x.to.Of(contained); err != nil || assigned {
			if err != nil {
				return err
			}
			continue
		}
		if leaf.host.ID() != host {
			host = leaf.host.ID()
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
		s, err := x.verdict(leaf.host, leaf.text)
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

// verdict returns the score of member against the other text, whichever of them
// leads.
func (x *closer) verdict(against, member cluster.Key) (rows.Score, error) {
	if member.Compare(against) < 0 {
		s, err := x.Score(member, against)
		return s.Inverse(), err
	}
	return x.Score(against, member)
}
