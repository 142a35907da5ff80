package earlier

import (
	"encoding/binary"
	"errors"
	"iter"
	"runtime/debug"
	"sync/atomic"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// maxTexts limits the texts whose states are held in memory, at 48 bytes each. Those of
// others are looked up.
const maxTexts = 2 << 20

// texts has the states and lengths of texts. The first 8 bytes of a text's ID stand for
// it.
type texts struct {
	ids, rest, fixed, weights []uint64 // rest: of the IDs
	lengths                   []uint32

	// Of texts whose states were in TableState no side is held at first. When many were
	// looked up, as many sides are read as are held.
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

// side returns the side of a text, or nil if it is not held.
func (t *texts) side(id rows.TextID) *dataflow.Side {
	if i, ok := t.of(id); ok {
		if sides := *t.sides.Load(); i < len(sides) {
			return sides[i]
		}
	}
	return nil
}

// states yields the rows of TableState.
func (t *texts) states(yield func(extsort.Entry, error) bool) {
	for i := range t.ids {
		if !yield(layout.StateEntry(t.state(i)), nil) {
			return
		}
	}
}

// sidesBytes returns the limit of the sides that are held in memory: an eighth of what the
// process stays within. Others are looked up, each time that a set or component asks.
func sidesBytes() int { return int(min(128<<20, debug.SetMemoryLimit(-1)/8)) }

// readTexts reads what verdicts on each text depend on, in one pass. Looking it up for
// each set costs several times as much. Where TableState has what the run before found,
// and changed is known, it reads the sentences of changed texts only, and holds no sides
// of other texts. It replaces the rows of TableState.
func readTexts(w *workspace.Workspace, sr *workspace.StageRun, common *results.Common, changed map[rows.TextID]bool) (*texts, error) {
	p, err := newPass(w, sr, common)
	if err != nil {
		return nil, err
	}
	defer p.close()
	nextKnown, stopKnown := iter.Pull2(unchanged(w, changed))
	defer stopKnown()
	k, kErr, kMore := nextKnown()
	t := &texts{}
	for s, err := range p.texts() {
		for kErr == nil && kMore && rows.CompareTexts(k.ID, s.ID) < 0 {
			k, kErr, kMore = nextKnown()
		}
		if err := errors.Join(err, kErr); err != nil {
			return nil, err
		}
		if len(t.ids) == maxTexts {
			break
		}
		state := k
		var side *dataflow.Side
		if !kMore || k.ID != s.ID || k.Fixed != dataflow.FixedOf(s.Text, s.signed) || dataflow.NeedsText(w.Config, s.signed) {
			if side, err = p.side(s); err != nil {
				return nil, err
			}
			state = side.State(s.ID)
		}
		p.hold(side)
		t.ids, t.rest = append(t.ids, binary.BigEndian.Uint64(s.ID[:])), append(t.rest, binary.BigEndian.Uint64(s.ID[8:]))
		t.fixed, t.weights = append(t.fixed, state.Fixed), append(t.weights, state.Weights)
		t.lengths = append(t.lengths, s.signed.Characters)
	}
	t.sides.Store(&p.sides)
	t.readSides = func() error {
		sides, err := readSides(w, sr, common, *t.sides.Load())
		t.sides.Store(&sides)
		return err
	}
	_, err = w.DB.Replace(sr.Ctx, layout.TableState, t.states)
	return t, err
}

// readSides reads the sides of the first texts, as many as are held. It takes those that
// are there from held.
func readSides(w *workspace.Workspace, sr *workspace.StageRun, common *results.Common, held []*dataflow.Side) ([]*dataflow.Side, error) {
	p, err := newPass(w, sr, common)
	if err != nil {
		return held, err
	}
	defer p.close()
	for s, err := range p.texts() {
		var side *dataflow.Side
		if i := len(p.sides); i < len(held) {
			side = held[i]
		}
		if err == nil && side == nil {
			side, err = p.side(s)
		}
		if err != nil {
			return held, err
		}
		if !p.hold(side) {
			break
		}
	}
	return p.sides, nil
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

// pass reads texts in order, and holds the sides of the first of them.
type pass struct {
	w      *workspace.Workspace
	sr     *workspace.StageRun
	common *results.Common
	units  *store.Seeker
	read   rows.Units // memory for the units of a text

	sides []*dataflow.Side
	left  int // bytes that may still be held
}

// passedText is a text without its content.
type passedText struct {
	dataflow.Text
	signed rows.Signed
}

func newPass(w *workspace.Workspace, sr *workspace.StageRun, common *results.Common) (*pass, error) {
	units, err := w.DB.Seeker(layout.TableUnits)
	return &pass{w: w, sr: sr, common: common, units: units, left: sidesBytes()}, err
}

func (p *pass) close() { _ = p.units.Close() } // the lookups have reported its errors

// texts yields the signed texts, in order.
func (p *pass) texts() iter.Seq2[passedText, error] {
	return func(yield func(passedText, error) bool) {
		next, stop := iter.Pull2(results.NamedTexts(p.w))
		defer stop()
		pages, perr, more := next()
		for s, err := range results.SignedTexts(p.w) {
			for perr == nil && more && rows.CompareTexts(pages.ID, s.ID) < 0 {
				pages, perr, more = next()
			}
			x := passedText{dataflow.Text{ID: s.ID}, s.Signed}
			if more && pages.ID == s.ID {
				x.Sites, x.Names = pages.Sites(), pages.Names
			}
			if err := errors.Join(err, perr, p.sr.Ctx.Err()); !yield(x, err) || err != nil {
				return
			}
		}
	}
}

func (p *pass) side(t passedText) (*dataflow.Side, error) {
	return sideOf(p.w, p.common, p.units.GetNext, &p.read, t)
}

// sideOf returns the side of a text. units looks up rows of TableUnits, and read is memory
// for the units of a text.
func sideOf(w *workspace.Workspace, common *results.Common, units func(key []byte) (layout.Row, bool, error), read *rows.Units, t passedText) (*dataflow.Side, error) {
	r, found, err := units(layout.UnitsKey(t.ID))
	if err == nil && !found {
		err = layout.Corrupt(layout.UnitsKey(t.ID))
	}
	if err == nil {
		err = r.Units(read)
	}
	if err == nil && dataflow.NeedsText(w.Config, t.signed) {
		t.Text.Text, err = results.TextOf(w, t.ID)
	}
	if err != nil {
		return nil, err
	}
	return dataflow.NewSide(w.Config, t.Text, *read, t.signed, common.PagesOf)
}

// hold holds the side of the next text, which may be nil, unless too much is held.
func (p *pass) hold(side *dataflow.Side) bool {
	if side != nil {
		p.left -= side.Bytes()
	}
	if p.left >= 0 {
		p.sides = append(p.sides, side)
	}
	return p.left >= 0
}
