package dataflow

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// Side is what verdicts on a text depend on, besides the text and other texts.
type Side struct {
	fixed      []byte // all of it except weights
	sites      []uint64
	names      pair.Names
	whole, own rarity.Text // own: without frames
	lengths    [2]int      // of the two readings, in code points
	apart      bool        // own is not whole
	framed     []uint64    // sentences in frames, sorted
}

// Bytes returns about the memory that the side takes. The names take as much as they do in
// fixed.
func (s *Side) Bytes() int {
	n := 256 + 2*len(s.fixed) + 8*len(s.sites) + s.whole.Bytes() + 8*len(s.framed)
	if s.apart {
		n += s.own.Bytes()
	}
	return n
}

// Prepare is the function Prepare for the text of the side.
func (s *Side) Prepare(c configs.Config, j pair.Judge, stored string) *pair.Text {
	r := readFramed(c, stored, s.framed)
	whole := j.Text(r.Whole, s.whole).Named(s.names)
	if !r.HasFrame() {
		return whole.Framed(s.sites, nil)
	}
	return whole.Framed(s.sites, j.Text(r.Own, s.own))
}

// NewSide returns the side of a text: what its verdicts depend on. The text is given
// without its content, unless NeedsText.
func NewSide(c configs.Config, t Text, u rows.Units, signed rows.Signed, common Pages) (s *Side, err error) {
	s = &Side{fixed: fixedOf(t, signed), sites: t.Sites, names: t.Names, framed: framedUnits(u, signed.Framed)}
	if c.Verify.RarePages == 0 {
		return s, nil
	}
	if NeedsText(c, signed) {
		r := readFramed(c, t.Text, s.framed)
		s.lengths = [2]int{utf8.RuneCountInString(r.Whole), utf8.RuneCountInString(r.Own)}
		if s.whole, err = weigh(c.Verify, r.Whole, t.Sites, common); err != nil {
			return nil, err
		}
		if s.own, s.apart = s.whole, r.HasFrame(); s.apart {
			s.own, err = weigh(c.Verify, r.Own, t.Sites, common)
		}
		return s, err
	}
	weighUnits := func(units []rarity.Unit) rarity.Text {
		return c.Verify.Judging().Weigh(units, func(unit uint64) int {
			n, failed := MaxPages(t.Sites, unit, common)
			if failed != nil {
				err = failed
			}
			return n
		})
	}
	s.whole = weighUnits(plainUnits(u, nil))
	s.own, s.apart = s.whole, len(s.framed) > 0 && signed.LeftOut > 0 // otherwise too little would be left
	s.lengths = [2]int{int(signed.Characters), int(signed.Characters - signed.LeftOut)}
	if s.apart {
		s.own = weighUnits(plainUnits(u, signed.Framed))
	}
	return s, err
}

// NeedsText reports whether the sentences of a text are weighed by its content: it may be
// too long to be compared whole. Then its last sentence is cut, so it is not in units, and
// may be a sentence of other pages.
func NeedsText(c configs.Config, signed rows.Signed) bool {
	limit := int64(c.Text.MaxColumns)
	return c.Verify.RarePages > 0 && limit > 0 && 2*(int64(signed.Characters)+1) >= limit
}

// fixedOf returns what verdicts on a text depend on besides weights.
func fixedOf(t Text, signed rows.Signed) []byte {
	b := binary.AppendUvarint(slices.Clone(t.ID[:]), uint64(len(t.Sites)))
	for _, site := range t.Sites {
		b = binary.BigEndian.AppendUint64(b, site)
	}
	b = t.Names.Append(b)
	return append(binary.AppendUvarint(b, uint64(len(signed.Framed))), signed.Framed...)
}

// FixedOf returns the part of a text's state that does not depend on its sentences.
func FixedOf(t Text, signed rows.Signed) uint64 { return short(fixedOf(t, signed)) }

// RecentSides holds the sides that were asked for last: the texts of a set are asked for
// again and again while it is verified. Goroutines can share it.
type RecentSides struct {
	mu          sync.Mutex
	now, before map[rows.TextID]*Side
	bytes       int // of now
}

// recentBytes limits the sides in memory: now and before have so many bytes each.
const recentBytes = 4 << 20

// Get returns the side of a text, which read reads.
func (r *RecentSides) Get(id rows.TextID, read func() (*Side, error)) (*Side, error) {
	r.mu.Lock()
	s, found := r.now[id]
	if !found {
		s, found = r.before[id]
	}
	r.mu.Unlock()
	if found {
		return s, nil
	}
	s, err := read()
	if err != nil {
		return nil, err
	}
	size := 64 + s.Bytes()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes += size; r.now == nil || r.bytes > recentBytes {
		r.before, r.now, r.bytes = r.now, map[rows.TextID]*Side{}, size
	}
	r.now[id] = s
	return s, nil
}

// State returns the state of the text of the side.
func (s *Side) State(id rows.TextID) rows.State {
	return rows.State{ID: id, Fixed: short(s.fixed), Weights: short(s.own.Append(s.whole.Append(nil)))}
}

func short(b []byte) uint64 {
	d := sha256.Sum256(b)
	return binary.BigEndian.Uint64(d[:])
}

// Sentences returns the weighed sentences of the text.
func (s *Side) Sentences() pair.Sentences {
	return pair.Sentences{Sites: s.sites, Whole: s.whole, Own: s.own, Length: s.lengths[0], OwnLength: s.lengths[1], HasFrame: s.apart}
}

// plainUnits returns the units without numbers of the sentences that are not framed.
func plainUnits(u rows.Units, framed []byte) []rarity.Unit {
	has := make([]bool, len(u.Both)+len(u.Plain))
	for i := range allExact(u) {
		if i/8 < len(framed) && framed[i/8]&(1<<(i%8)) != 0 {
			continue
		}
		if i >= len(u.Both) {
			i = int(u.PlainOf[i-len(u.Both)])
		}
		has[i] = true
	}
	units := make([]rarity.Unit, 0, len(has))
	add := func(i int, key uint64) {
		if has[i] {
			units = append(units, rarity.Unit{Key: key, Columns: int(u.Columns[i])})
		}
	}
	both, plain := u.Both, u.Plain // both are sorted, and have no key in common
	for len(both) > 0 || len(plain) > 0 {
		if len(plain) == 0 || len(both) > 0 && both[0] < plain[0] {
			add(len(u.Both)-len(both), both[0])
			both = both[1:]
		} else {
			add(len(u.Both)+len(u.Plain)-len(plain), plain[0])
			plain = plain[1:]
		}
	}
	return units
}

// Digest returns a digest of the keys of the component, and of its links with their
// scores.
func (x Component) Digest() [16]byte {
	var b []byte
	for _, k := range x.Keys {
		b = append(b, k[:]...)
	}
	for i, l := range x.Links {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(l.A)), uint64(l.B))
		s := x.Scores[i]
		b = append(append(b, s.Relation...), 0)
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Resemblance))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Containment))
	}
	sum := sha256.Sum256(b)
	return [16]byte(sum[:])
}
