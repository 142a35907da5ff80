package stages

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/results"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify"
	"neardup/verify/subject"
	"neardup/verify/tlcs"
)

// chunkSize is the number of members that meet the leaders together. It bounds
// what is in memory, and is fixed because the closing rule "transitive" sees
// clusters as they were when a chunk began.
const chunkSize = 64

const (
	manyLeaders  = 16      // from so many on, leaders are indexed
	indexWindows = 8 << 20 // windows of leaders indexed at most, 16 bytes each
)

// setVerifier verifies one perhaps-similar set. Its members come from the
// largest key down. Each is compared with the leaders, the members that were
// near no one before them, from the largest down: with the closing rule
// "representative" until it is near one; with "transitive" with all whose
// clusters it is not in yet, and it joins those that it is near. A member that
// joins none is a leader: also one that is near others by containment only,
// unless the setting contained says that this links.
//
// The paper compares within sets and takes similarity as transitive (section
// 4), without saying which pairs; comparing with leaders only is our reading.
// The outcome does not depend on the number of comparers.
type setVerifier struct {
	judge
	docs    func(store.TextID) (*Document, error)
	workers []verify.Comparer

	leaders []cluster.Key
	lengths []int       // of the leaders, in code points
	index   *tlcs.Index // of the first leaders, once they are many; of TLCS only
	parent  []int       // of each leader in the forest of united clusters
	links   []results.Link
	counts  results.VerifyCounts
}

// Document is a text ready for comparison.
type Document struct {
	compared, whole string // what is scored, and what tells the subject; as a rule the same
	length          int    // of what is scored, in code points
	page            *subject.Page

	measure verify.Measure
	once    sync.Once
	scored  verify.Document
}

// judge makes documents and decides whether two are near, by a measure and by
// their subjects.
type judge struct {
	Config  configs.Verify
	Measure verify.Measure
}

func NewJudge(c *configs.Config) judge { return judge{c.Verify, c.NewMeasure()} }

// Document makes a document whose subject is that of the whole text, and whose
// scores are of the part of it that is compared.
func (j judge) Document(compared, whole string) *Document {
	return &Document{compared: compared, whole: whole, length: utf8.RuneCountInString(compared), measure: j.Measure,
		page: subject.Read(whole, j.Config.Subject.Lines)}
}

// Prepared is the text prepared for scores. It is made when first asked for:
// many texts differ from all others by their subjects.
func (d *Document) Prepared() verify.Document {
	d.once.Do(func() { d.scored = d.measure.Prepare(d.compared) })
	return d.scored
}

// bytes is about the memory that d holds: of TLCS once it was asked for
// everything, and of other measures, which are asked for at once, what they say.
func (d *Document) bytes() int {
	n := len(d.whole)
	if len(d.compared) != len(d.whole) {
		n += len(d.compared)
	}
	if m, ok := d.measure.(interface{ BytesOf(codePoints int) int }); ok {
		return n + m.BytesOf(d.length)
	}
	return n + d.Prepared().Bytes()
}

// Decide tells whether two documents are near. Those about different subjects
// are not, whatever they measure; the verdict is then empty. Evidence from one
// side is not held against containment: a page that holds another may well be
// about more.
func (j judge) Decide(c verify.Comparer, a, b *Document) (v verify.Verdict, bySubject bool) {
	evidence := j.Config.Subject.Compare(a.page, b.page)
	if evidence == subject.Both {
		return v, true
	}
	v = c.Compare(a.Prepared(), b.Prepared())
	if v.Near && evidence == subject.OneSided && !v.Contained && v.Resemblance < j.Config.Subject.OneSided {
		return verify.Verdict{}, true
	}
	return v, false
}

func (j judge) Comparers(n int) []verify.Comparer {
	var out []verify.Comparer
	for range n {
		out = append(out, j.Measure.Comparer())
	}
	return out
}

// score says what the member is to its leader.
func (j judge) score(v verify.Verdict, leader, m *Document) store.Score {
	s := store.Score{Relation: store.Near, Resemblance: v.Resemblance, Containment: v.Containment}
	if v.Contained {
		switch {
		case m.length < leader.length:
			s.Relation = store.Contained
		case m.length > leader.length:
			s.Relation = store.Contains
		}
	}
	return s
}

// member is one of a chunk on its way.
type member struct {
	key    cluster.Key
	doc    *Document
	bounds tlcs.Bounds
	links  []results.Link
	joined []int // leaders that it is near
	counts results.VerifyCounts
}

func (v *setVerifier) verify(ctx context.Context, set []cluster.Key) error {
	v.counts.Sets = 1
	for keys := range slices.Chunk(set, chunkSize) {
		chunk := make([]member, len(keys))
		known := len(v.leaders)
		// Against the leaders that are known, in parallel.
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
					if v.index != nil {
						v.index.Bound(m.doc.Prepared().(*tlcs.Document), &m.bounds)
					}
					if err := v.meet(gctx, c, m, 0, known); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		// Against those that the chunk itself brought, one after another.
		for i := range chunk {
			m := &chunk[i]
			if v.index.Len() > known {
				v.index.Bound(m.doc.Prepared().(*tlcs.Document), &m.bounds)
			}
			if err := v.meet(ctx, v.workers[0], m, known, len(v.leaders)); err != nil {
				return err
			}
			v.links = append(v.links, m.links...)
			v.counts.Add(m.counts)
			if len(m.joined) == 0 {
				v.parent = append(v.parent, len(v.leaders))
				v.leaders, v.lengths = append(v.leaders, m.key), append(v.lengths, m.doc.length)
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
func (v *setVerifier) addToIndex(newest *Document) error {
	switch {
	case v.index != nil:
		v.index.Add(newest.Prepared().(*tlcs.Document))
	case len(v.leaders) == manyLeaders && v.Config.Measure == configs.MeasureTLCS:
		v.index = tlcs.NewIndex(indexWindows)
		for _, l := range v.leaders {
			doc, err := v.docs(l.ID())
			if err != nil {
				return err
			}
			v.index.Add(doc.Prepared().(*tlcs.Document))
		}
	}
	return nil
}

// meet compares m with the leaders from up to to.
func (v *setVerifier) meet(ctx context.Context, c verify.Comparer, m *member, from, to int) error {
	for l := from; l < to; l++ {
		if v.Config.Closing == configs.ClosingRepresentative && len(m.joined) > 0 {
			return nil
		}
		if slices.ContainsFunc(m.joined, func(j int) bool { return v.root(j) == v.root(l) }) {
			continue
		}
		if m.counts.Pairs%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if l < v.index.Len() {
			if stage := m.bounds.Rejects(&v.Config.Options, l, m.doc.length, v.lengths[l]); stage != verify.None {
				m.counts.AddVerdict(verify.Verdict{Rejected: stage})
				continue
			}
		}
		leader, err := v.docs(v.leaders[l].ID())
		if err != nil {
			return err
		}
		verdict, bySubject := v.Decide(c, leader, m.doc)
		if bySubject {
			m.counts.AddBySubject()
			continue
		}
		m.counts.AddVerdict(verdict)
		if verdict.Near {
			s := v.score(verdict, leader, m.doc)
			if v.Config.Contained == configs.ContainedLinks || s.Relation == store.Near {
				m.joined = append(m.joined, l)
			}
			m.links = append(m.links, results.Link{Leader: v.leaders[l], Member: m.key, Score: s})
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

// Documents gives documents, and keeps the ones used last.
type Documents struct {
	w     *workspace.Workspace
	Judge judge
	mu    sync.Mutex
	order list.List // of preparedText, the one used last in front
	byID  map[store.TextID]*list.Element
	bytes int
}

const preparedBytes = 64 << 20

type preparedText struct {
	id   store.TextID
	doc  *Document
	size int
}

func NewDocuments(w *workspace.Workspace) *Documents {
	return &Documents{w: w, Judge: NewJudge(&w.Config), byID: map[store.TextID]*list.Element{}}
}

func (p *Documents) Get(id store.TextID) (*Document, error) {
	p.mu.Lock()
	if e, ok := p.byID[id]; ok {
		p.order.MoveToFront(e)
		p.mu.Unlock()
		return e.Value.(preparedText).doc, nil
	}
	p.mu.Unlock()
	value, ok, err := p.w.DB.Get(store.TextKey(id))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("no text: %w", store.Corrupt(store.TextKey(id)))
	}
	compared, whole, err := results.ComparedText(p.w, id, string(value))
	if err != nil {
		return nil, err
	}
	doc := p.Judge.Document(compared, whole)
	size := doc.bytes()
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.byID[id]; ok { // another worker was faster
		return doc, nil
	}
	p.byID[id] = p.order.PushFront(preparedText{id, doc, size})
	p.bytes += size
	for p.bytes > preparedBytes && p.order.Len() > 1 {
		e := p.order.Back()
		old := p.order.Remove(e).(preparedText)
		delete(p.byID, old.id)
		p.bytes -= old.size
	}
	return doc, nil
}
