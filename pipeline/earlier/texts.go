package earlier

import (
	"encoding/binary"
	"errors"
	"iter"
	"sync/atomic"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// maxTexts limits the texts whose states are held in memory, at 45 bytes each. Those of
// others are looked up.
const maxTexts = 2 << 20

// texts has the states and lengths of texts. The first 8 bytes of a text's ID stand for
// it.
type texts struct {
	ids, rest, fixed, weights []uint64 // rest: of the IDs
	lengths                   []uint32
	cut                       []bool // the text has no state

	// Of texts whose states were in TableState no side is held at first. When many were
	// looked up, all sides are read.
	sides     atomic.Pointer[[]*dataflow.Side] // of the first texts; nil where none is held
	missed    atomic.Int64
	readSides func() error
}

// of returns the place of a text.
func (t *texts) of(id rows.TextID) (int, bool) {
	i, ok := results.Find(t.ids, binary.BigEndian.Uint64(id[:]))
	if !ok || i > 0 && t.ids[i-1] == t.ids[i] || i+1 < len(t.ids) && t.ids[i+1] == t.ids[i] {
		return 0, false
	}
	return i, true
}

func (t *texts) state(i int) rows.State {
	s := rows.State{Fixed: t.fixed[i], Weights: t.weights[i]}
	binary.BigEndian.PutUint64(s.ID[:], t.ids[i])
	binary.BigEndian.PutUint64(s.ID[8:], t.rest[i])
	return s
}

// bearable is the number of lookups after which all sides are read: a lookup takes about
// fifteen times as long as a text in a pass.
func (t *texts) bearable() int64 { return 1 + int64(len(t.ids)/32) }

// side returns the side of a text if it is held, or nil if the text is cut.
func (t *texts) side(id rows.TextID) (s *dataflow.Side, held bool) {
	i, ok := t.of(id)
	if !ok {
		return nil, false
	}
	if sides := *t.sides.Load(); i < len(sides) {
		s = sides[i]
	}
	return s, s != nil || t.cut[i]
}

// states yields the rows of TableState.
func (t *texts) states(yield func(extsort.Entry, error) bool) {
	for i, cut := range t.cut {
		if !cut && !yield(layout.StateEntry(t.state(i)), nil) {
			return
		}
	}
}

// sidesBytes limits the sides that are held in memory. Those of other texts are looked up.
const sidesBytes = 32 << 20

// readTexts reads what verdicts on each text depend on, in one pass. Looking it up for
// each set costs several times as much. Where TableState has what the run before found,
// and changed is known, it reads the sentences of changed texts only. It replaces
// TableState.
func readTexts(w *workspace.Workspace, sr *workspace.StageRun, reader *results.Reader, changed map[rows.TextID]bool) (*texts, error) {
	t, err := pass(w, sr, reader, changed)
	if err != nil {
		return nil, err
	}
	t.readSides = func() error {
		all, err := pass(w, sr, reader, nil)
		if err == nil {
			t.sides.Store(all.sides.Load())
		}
		return err
	}
	_, err = w.DB.Replace(sr.Ctx, layout.TableState, t.states)
	return t, err
}

// unchanged yields the states of the run before of which the weights hold if the rest
// does, in order.
func unchanged(w *workspace.Workspace, changed map[rows.TextID]bool) iter.Seq2[rows.State, error] {
	return func(yield func(rows.State, error) bool) {
		if changed == nil {
			return
		}
		for r, err := range w.DB.Table(layout.TableState) {
			var s rows.State
			if err == nil {
				s, err = r.State()
			}
			if err == nil && changed[s.ID] {
				continue
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// pass reads what readTexts returns. It holds no sides of texts whose states it takes
// from TableState.
func pass(w *workspace.Workspace, sr *workspace.StageRun, reader *results.Reader, changed map[rows.TextID]bool) (*texts, error) {
	units, err := w.DB.Seeker(layout.TableUnits)
	if err != nil {
		return nil, err
	}
	defer func() { _ = units.Close() }() // the lookups have reported its errors
	nextKnown, stopKnown := iter.Pull2(unchanged(w, changed))
	defer stopKnown()
	nextPages, stopPages := iter.Pull2(results.NamedTexts(w))
	defer stopPages()
	k, kErr, kMore := nextKnown()
	p, pErr, pMore := nextPages()
	t := &texts{}
	var sides []*dataflow.Side
	left := sidesBytes
	var u rows.Units
	for s, err := range results.SignedTexts(w) {
		for kErr == nil && kMore && rows.CompareTexts(k.ID, s.ID) < 0 {
			k, kErr, kMore = nextKnown()
		}
		for pErr == nil && pMore && rows.CompareTexts(p.ID, s.ID) < 0 {
			p, pErr, pMore = nextPages()
		}
		if err := errors.Join(err, kErr, pErr, sr.Ctx.Err()); err != nil {
			return nil, err
		}
		if len(t.ids) == maxTexts {
			break
		}
		x := dataflow.Text{ID: s.ID}
		if pMore && p.ID == s.ID {
			x.Sites, x.Names = p.Sites(), p.Names
		}
		state, ok := k, kMore && k.ID == s.ID
		if ok {
			fixed, compared := dataflow.FixedOf(w.Config, x, s.Signed)
			ok = compared && fixed == k.Fixed
		}
		var side *dataflow.Side
		if !ok {
			r, found, err := units.GetNext(layout.UnitsKey(s.ID))
			if err == nil && !found {
				err = layout.Corrupt(layout.UnitsKey(s.ID))
			}
			if err == nil {
				err = r.Units(&u)
			}
			if err == nil {
				side, ok, err = dataflow.NewSide(w.Config, x, u, s.Signed, reader.Commonness)
			}
			if err != nil {
				return nil, err
			}
			if state = (rows.State{}); ok {
				state = side.State(s.ID)
				left -= side.Bytes()
			}
		}
		if left >= 0 {
			sides = append(sides, side)
		}
		t.ids, t.rest = append(t.ids, binary.BigEndian.Uint64(s.ID[:])), append(t.rest, binary.BigEndian.Uint64(s.ID[8:]))
		t.fixed, t.weights = append(t.fixed, state.Fixed), append(t.weights, state.Weights)
		t.lengths, t.cut = append(t.lengths, s.Characters), append(t.cut, !ok)
	}
	t.sides.Store(&sides)
	return t, nil
}
