package dataflow

import (
	"cmp"
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// chunkSize is the number of members that are compared with the leaders together.
// It bounds the memory. It is fixed because the closing rules "leaders" and
// "partition" use the clusters as they were when a chunk began.
const chunkSize = 64

// MostDecided limits the decisions of a set that are noted for a later run, at 96 bytes
// each, what its screen leaves, at 24 bytes each, and its texts and links that are in memory
// at a time. Where every pair is compared, those of a large set would take more memory than
// the set. It is a variable for tests.
var MostDecided = 1 << 18

// manyLeaders is the number of leaders from which they have a screen or an index.
const manyLeaders = 16

// setVerifier verifies one perhaps-similar set. Its members come from the largest
// key down.
//
// With the closing rule "transitive" each member is compared with all members
// before it: the TLCS paper compares within sets and takes similarity as transitive
// (section 4). Small sets are compared so with "partition", too, since a text that
// is near a member of a leader's cluster need not be near the leader.
//
// Otherwise less is compared, which departs from the paper. A leader is a member
// that was near no earlier leader. Each member is compared with the leaders from the
// largest key down. With the closing rule "representative" it stops at the first
// leader that it is near. With "leaders" and "partition" it is compared with all
// leaders whose clusters it is not in yet, and joins those that it is near. A member
// that joins none becomes a leader, also one that is near others by containment
// only, unless the setting is contained: links.
//
// The result does not depend on the number of comparers.
type setVerifier struct {
	pair.Judge
	config  *configs.Verify
	recall  *Recall // decisions of an earlier run; may be nil
	noted   bool    // decisions are noted for a later run, unless they are too many
	docs    func(rows.TextID) (*pair.Text, error)
	workers []verify.Comparer
	all     func() []verify.Comparer // comparers of all workers, for a set that keeps others waiting; may be nil
	memory  *memory
	put     func([]rows.Link) error // takes links of a set that has many; nil: all are kept
	windows int                     // for tests: size of the screen or index; 0: the default
	most    int                     // likewise: decisions that are noted
	size    int                     // texts of the set

	leaders []cluster.Key
	places  []int   // of the leaders, in the set
	screen  *screen // of the leaders, once they are many; only with TLCS
	index   *index  // in place of it where rarity decides nothing
	parent  []int   // of each leader, in the forest of united clusters
	links   []rows.Link
	decided []rows.Decided // only if noted
	said    rows.Screening // by the screen, without its leaders; From is -1 if it is not noted
	counts  rows.VerifyCounts
}

// ScoreOf returns the score of a near pair, the member as seen from its leader.
func ScoreOf(d pair.Decision) rows.Score {
	return rows.Score{Relation: report.RelationOf(d.Verdict, d.Lengths[0], d.Lengths[1]),
		Resemblance: d.Resemblance, Containment: d.Containment}
}

// everyPair reports whether every member is compared with all before it. Then each is a
// leader and joins none.
func (v *setVerifier) everyPair() bool { return v.config.EveryPair(v.size) }

// member is a member of the present chunk.
type member struct {
	key      cluster.Key
	place    int        // in the set
	doc      *pair.Text // nil: not read yet
	sighting sighting   // only with a screen
	bounds   bounds     // only with an index
	links    []rows.Link
	decided  []rows.Decided
	common   uint64
	left     []rows.Left
	joined   []int // leaders that it is near, unless all are compared
	byKept   bool  // it is compared with leaders in the order of what they have in common
	counts   rows.VerifyCounts
}

// text returns the text of the member.
func (m *member) text(v *setVerifier) (_ *pair.Text, err error) {
	if m.doc == nil {
		if m.doc, err = v.docs(m.key.ID()); err == nil {
			v.memory.take(m.doc.Bytes())
		}
	}
	return m.doc, err
}

// length returns the length of the text, in code points.
func (m *member) length(v *setVerifier) (int, error) {
	if n, ok := v.recall.Length(m.key.ID()); ok {
		return n, nil
	}
	t, err := m.text(v)
	if err != nil {
		return 0, err
	}
	return t.Len(), nil
}

// bound sets the bounds of the member against the screen or the index, if there is one.
func (m *member) bound(v *setVerifier) error {
	if v.screen != nil {
		s, err := v.sentencesOf(m.key)
		if err == nil {
			v.screen.bound(m.key.ID(), s, &m.sighting)
		}
		return err
	}
	if v.index == nil {
		return nil
	}
	t, err := m.text(v)
	if err == nil {
		v.index.bound(t, &m.bounds)
	}
	return err
}

func (v *setVerifier) verify(ctx context.Context, set []cluster.Key) error {
	defer v.memory.end()
	v.counts.Sets = 1
	v.size = len(set)
	for first := 0; first < len(set); first += chunkSize {
		keys := set[first:min(first+chunkSize, len(set))]
		chunk := make([]member, len(keys))
		known := len(v.leaders)
		if v.screen != nil && v.said.From == 0 {
			v.said.From = first
		}
		// First, all members are compared in parallel with the leaders known before
		// the chunk.
		var next atomic.Int64
		g, gctx := errgroup.WithContext(ctx)
		for _, c := range v.workers {
			g.Go(func() error {
				for i := int(next.Add(1) - 1); i < len(chunk); i = int(next.Add(1) - 1) {
					m := &chunk[i]
					m.key, m.place = keys[i], first+i
					if err := m.bound(v); err != nil {
						return err
					}
					if err := v.compareLeaders(gctx, []verify.Comparer{c}, m, 0, known); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		// Then, one after another, the members are compared with the leaders of the
		// chunk itself.
		for i := range chunk {
			m := &chunk[i]
			if max(v.index.added(), v.screen.added()) > known {
				if err := m.bound(v); err != nil {
					return err
				}
			}
			if err := v.compareLeaders(ctx, v.workers, m, known, len(v.leaders)); err != nil {
				return err
			}
			v.links, v.decided = append(v.links, m.links...), append(v.decided, m.decided...)
			if m.decided = nil; len(v.decided) > cmp.Or(v.most, MostDecided) {
				v.noted, v.decided = false, nil
			}
			v.note(m)
			if !v.noted && v.put != nil && len(v.links) > cmp.Or(v.most, MostDecided) {
				if err := v.put(v.links); err != nil {
					return err
				}
				v.links = v.links[:0]
			}
			v.counts.Add(m.counts)
			if len(m.joined) == 0 {
				v.parent = append(v.parent, len(v.leaders))
				v.leaders, v.places = append(v.leaders, m.key), append(v.places, m.place)
				if err := v.addToIndex(); err != nil {
					return err
				}
				continue
			}
			for _, l := range m.joined[1:] {
				v.parent[v.root(l)] = v.root(m.joined[0])
			}
		}
		for _, m := range chunk {
			if m.doc != nil {
				v.memory.give(m.doc.Bytes())
			}
		}
		if v.memory.large && v.all != nil {
			v.workers, v.all = v.all(), nil
		}
	}
	return nil
}

// note notes what the screen said of a member, unless that is too much, or holds for this
// run only.
func (v *setVerifier) note(m *member) {
	if v.said.From <= 0 {
		return
	}
	v.said.Common, v.said.Left = append(v.said.Common, m.common), append(v.said.Left, m.left...)
	if !v.noted || len(v.said.Left) > cmp.Or(v.most, MostDecided) || !v.screen.looksAtAll() {
		v.said = rows.Screening{From: -1}
	}
}

// screening returns what the screen said, for a later run.
func (v *setVerifier) screening() (s rows.Screening) {
	if v.said.From > 0 && v.screen.looksAtAll() {
		s = v.said
		s.Leaders = v.places
	}
	return s
}

// addToIndex adds the newest leader to the screen or index. It makes these once the
// leaders are many enough to pay for them.
func (v *setVerifier) addToIndex() error {
	added := v.leaders[len(v.leaders)-1:]
	if v.screen == nil && v.index == nil {
		if len(v.leaders) != manyLeaders || v.config.Measure != configs.MeasureTLCS {
			return nil
		}
		if added = v.leaders; v.Rarity.RarePages > 0 {
			v.screen = newScreen(v.Judge, cmp.Or(v.windows, screenSentences), v.recall.earlierScreen())
		} else {
			v.index = newIndex(v.Judge, &v.config.Options, cmp.Or(v.windows, indexWindows), v.memory, func(number int) (*pair.Text, error) { return v.docs(v.leaders[number].ID()) })
		}
	}
	for _, l := range added {
		if v.screen != nil {
			s, err := v.sentencesOf(l)
			if err != nil {
				return err
			}
			v.memory.take(rarity.SentenceBytes * (s.Whole.Len() + s.Own.Len()))
			v.screen.add(l.ID(), s)
			continue
		}
		doc, err := v.docs(l.ID())
		if err == nil {
			err = v.index.add(doc)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// root returns the leader that stands for the united clusters of l. It changes
// nothing, so comparers can share the forest.
func (v *setVerifier) root(l int) int {
	for v.parent[l] != l {
		l = v.parent[l]
	}
	return l
}
