package dataflow

import (
	"context"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
)

// chunkSize is the number of members that meet the leaders together. It bounds
// what is in memory, and is fixed because all closing rules but "representative" see
// clusters as they were when a chunk began.
const chunkSize = 64

// manyLeaders is how many leaders are indexed.
const manyLeaders = 16

// setVerifier verifies one perhaps-similar set. Its members come from the
// largest key down. Each is compared with the leaders, the members that were
// near no one before them, from the largest down: with the closing rule
// "representative" until it is near one; with the others with all whose
// clusters it is not in yet, and it joins those that it is near. A member that
// joins none is a leader: also one that is near others by containment only,
// unless the setting contained says that this links.
//
// The paper compares within sets and takes similarity as transitive (section
// 4), without saying which pairs; comparing with leaders only is our reading.
// The outcome does not depend on the number of comparers.
type setVerifier struct {
	pair.Judge
	config  *configs.Verify
	docs    func(rows.TextID) (*pair.Text, error)
	workers []verify.Comparer

	leaders []cluster.Key
	index   *index // of the first leaders, once they are many; of TLCS only
	parent  []int  // of each leader in the forest of united clusters
	links   []rows.Link
	counts  rows.VerifyCounts
}

// scoreOf returns the score of a near pair, the member seen from its leader.
func scoreOf(d pair.Decision) rows.Score {
	s := rows.Score{Relation: report.Near, Resemblance: d.Resemblance, Containment: d.Containment}
	switch d.Relation() {
	case pair.Contained:
		s.Relation = report.Contained
	case pair.Contains:
		s.Relation = report.Contains
	}
	return s
}

// member is one of a chunk on its way.
type member struct {
	key    cluster.Key
	doc    *pair.Text
	bounds bounds
	links  []rows.Link
	joined []int // leaders that it is near
	counts rows.VerifyCounts
}

func (v *setVerifier) verify(ctx context.Context, set []cluster.Key) error {
	v.counts.Sets = 1
	for keys := range slices.Chunk(set, chunkSize) {
		chunk := make([]member, len(keys))
		known := len(v.leaders)
		// Against the leaders that are known, the members in parallel.
		var next atomic.Int64
		g, gctx := errgroup.WithContext(ctx)
		for _, c := range v.workers {
			g.Go(func() (err error) {
				for i := int(next.Add(1) - 1); i < len(chunk); i = int(next.Add(1) - 1) {
					m := &chunk[i]
					m.key = keys[i]
					if m.doc, err = v.docs(m.key.ID()); err != nil {
						return err
					}
					v.index.bound(m.doc, &m.bounds)
					if err := v.meet(gctx, []verify.Comparer{c}, m, 0, known); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		// Against those that the chunk itself brought, one member after another.
		for i := range chunk {
			m := &chunk[i]
			if v.index.len() > known {
				v.index.bound(m.doc, &m.bounds)
			}
			if err := v.meet(ctx, v.workers, m, known, len(v.leaders)); err != nil {
				return err
			}
			v.links = append(v.links, m.links...)
			v.counts.Add(m.counts)
			if len(m.joined) == 0 {
				v.parent = append(v.parent, len(v.leaders))
				v.leaders = append(v.leaders, m.key)
				if err := v.addToIndex(m.doc); err != nil {
					return err
				}
				continue
			}
			for _, l := range m.joined[1:] {
				v.parent[v.root(l)] = v.root(m.joined[0])
			}
		}
	}
	return nil
}

// addToIndex adds the newest leader to the index, which it makes once there are
// so many that it pays.
func (v *setVerifier) addToIndex(newest *pair.Text) error {
	switch {
	case v.index != nil:
		return v.index.add(newest)
	case len(v.leaders) == manyLeaders && v.config.Measure == configs.MeasureTLCS:
		v.index = newIndex(func(number int) (*pair.Text, error) { return v.docs(v.leaders[number].ID()) })
		for _, l := range v.leaders {
			doc, err := v.docs(l.ID())
			if err == nil {
				err = v.index.add(doc)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// root is the leader that stands for the united clusters of l. It changes
// nothing, so that comparers can share it.
func (v *setVerifier) root(l int) int {
	for v.parent[l] != l {
		l = v.parent[l]
	}
	return l
}
