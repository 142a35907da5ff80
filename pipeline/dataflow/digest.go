package dataflow

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// Digest identifies everything that the result of a set or a component depends on,
// besides the settings and the program. Equal digests mean equal results, so a result
// of an earlier run can be used again. The zero digest is of none.
type Digest [16]byte

// Side is what verdicts on a text depend on, besides the text and other texts.
type Side struct {
	fixed      []byte // all of it except weights
	sites      []uint64
	names      pair.Names
	whole, own rarity.Text // own: without frames
	inFrame    func(unit uint64) bool
}

func (s *Side) framed() bool { return s.inFrame != nil }

// bytes returns about the memory that the side takes.
func (s *Side) bytes() int { return len(s.fixed) + 8*len(s.sites) + s.whole.Bytes() + s.own.Bytes() }

// Prepare is the function Prepare for the text of the side.
func (s *Side) Prepare(c configs.Config, j pair.Judge, stored string) *pair.Text {
	r := readFramed(c, stored, s.inFrame)
	whole := j.Text(r.Whole, s.whole).Named(s.names)
	if !r.HasFrame() {
		return whole.Framed(s.sites, nil)
	}
	return whole.Framed(s.sites, j.Text(r.Own, s.own))
}

// NewSide returns the side of a text, which is given without its content: what its
// verdicts depend on. ok is false for a text that may be too long to be compared
// whole, since its last sentence is cut and is not in units.
func NewSide(c configs.Config, t Text, u rows.Units, signed rows.Signed, common Pages) (s *Side, ok bool, err error) {
	if limit := c.Text.MaxColumns; limit > 0 && 2*(int64(signed.Characters)+1) >= int64(limit) {
		return nil, false, nil
	}
	s = &Side{sites: t.Sites, names: t.Names, inFrame: inFrame(u, signed.Framed)}
	b := binary.AppendUvarint(slices.Clone(t.ID[:]), uint64(len(t.Sites)))
	for _, site := range t.Sites {
		b = binary.BigEndian.AppendUint64(b, site)
	}
	b = t.Names.Append(b)
	s.fixed = append(binary.AppendUvarint(b, uint64(len(signed.Framed))), signed.Framed...)
	if c.Verify.RarePages == 0 {
		return s, true, nil
	}
	weigh := func(units []rarity.Unit) rarity.Text {
		return c.Verify.Judging().Weigh(units, func(unit uint64) int {
			n, failed := MaxPages(t.Sites, unit, common)
			if failed != nil {
				err = failed
			}
			return n
		})
	}
	s.whole = weigh(plainUnits(u, nil))
	if s.own = s.whole; s.framed() {
		s.own = weigh(plainUnits(u, signed.Framed))
	}
	return s, true, err
}

// RecentSides holds the sides that were asked for last: those of the texts of a set are
// asked for to tell its digest, and then to verify it. Goroutines can share it.
type RecentSides struct {
	mu          sync.Mutex
	now, before map[rows.TextID]recentSide
	bytes       int // of now
}

type recentSide struct {
	side *Side
	ok   bool
}

// recentBytes limits the sides in memory: now and before have so many bytes each.
const recentBytes = 4 << 20

// Get returns the side of a text, which read reads.
func (r *RecentSides) Get(id rows.TextID, read func() (s *Side, ok bool, err error)) (*Side, bool, error) {
	r.mu.Lock()
	x, found := r.now[id]
	if !found {
		x, found = r.before[id]
	}
	r.mu.Unlock()
	if found {
		return x.side, x.ok, nil
	}
	s, ok, err := read()
	if err != nil {
		return nil, false, err
	}
	size := 64
	if ok {
		size += s.bytes()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes += size; r.now == nil || r.bytes > recentBytes {
		r.before, r.now, r.bytes = r.now, map[rows.TextID]recentSide{}, size
	}
	r.now[id] = recentSide{s, ok}
	return s, ok, nil
}

// Quick returns a short digest of the side with all of its weights.
func (s *Side) Quick() uint64 {
	d := sha256.Sum256(s.own.Append(s.whole.Append(slices.Clone(s.fixed))))
	return binary.BigEndian.Uint64(d[:])
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

// maxWeighed limits the texts of a set whose pairs are all weighed for its digest. The
// weights of a text change with nearly each new page of its site, and hardly ever
// change what they say of a pair. In larger sets the weights themselves count.
const maxWeighed = 128

// digestOf returns the digest of texts, or zero if one of them has no side.
func digestOf(c configs.Config, keys []cluster.Key, side func(rows.TextID) (*Side, bool, error), more []byte) (d Digest, err error) {
	h := sha256.New()
	b := binary.AppendUvarint(nil, uint64(len(keys)))
	var sides []*Side
	for _, k := range keys {
		s, ok, err := side(k.ID())
		if err != nil || !ok {
			return d, err
		}
		b = binary.AppendUvarint(append(b, k[:]...), uint64(len(s.fixed)))
		b = append(b, s.fixed...)
		if len(keys) <= maxWeighed {
			sides = append(sides, s)
		} else if c.Verify.RarePages > 0 {
			b = s.own.Append(s.whole.Append(b))
		}
		if len(b) > 1<<16 {
			h.Write(b)
			b = b[:0]
		}
	}
	if c.Verify.RarePages > 0 {
		judge := Judge(c)
		for i, x := range sides {
			for _, y := range sides[:i] {
				b = append(b, weighed(judge, x, y))
			}
		}
	}
	h.Write(append(b, more...))
	return Digest(h.Sum(nil)[:16]), nil
}

// weighed returns what the weights say of two texts, in a byte.
func weighed(j pair.Judge, x, y *Side) byte {
	if j.Frames && !pair.ShareSite(x.sites, y.sites) {
		return 0 // they do not count (pair.Judge.Decide)
	}
	b := said(j.Rarity, x.whole, y.whole)
	if j.Frames && (x.framed() || y.framed()) {
		b = b<<4 | said(j.Rarity, x.own, y.own)
	}
	return b
}

func said(o rarity.Options, x, y rarity.Text) (b byte) {
	e := rarity.Compare(x, y)
	alike, contained := o.Parts(e)
	for _, is := range []bool{alike, contained, o.Alike(e), o.Framed(e)} {
		if b <<= 1; is {
			b |= 1
		}
	}
	return b
}

// QuickDigest returns another digest of texts, from the short ones of each: it is fast,
// but other if only the weights changed. more is of what else counts. It is zero if a
// text has none.
func QuickDigest(keys []cluster.Key, quick func(rows.TextID) (d uint64, ok bool), more []byte) (d Digest) {
	b := slices.Clone(more)
	for _, k := range keys {
		q, ok := quick(k.ID())
		if !ok {
			return d
		}
		b = binary.BigEndian.AppendUint64(append(b, k[:]...), q)
	}
	sum := sha256.Sum256(b)
	return Digest(sum[:16])
}

// SetDigest returns the digest of a perhaps-similar set. side returns the side of a
// text; ok is false if it has none.
func SetDigest(c configs.Config, set []cluster.Key, side func(rows.TextID) (s *Side, ok bool, err error)) (Digest, error) {
	return digestOf(c, set, side, nil)
}

// Digest returns the digest of a component, as SetDigest does.
func (x Component) Digest(c configs.Config, side func(rows.TextID) (s *Side, ok bool, err error)) (Digest, error) {
	return digestOf(c, x.Keys, side, x.Verdicts())
}

// Verdicts returns the links of the component with their scores, as bytes.
func (x Component) Verdicts() (b []byte) {
	for i, l := range x.Links {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(l.A)), uint64(l.B))
		s := x.Scores[i]
		b = append(append(b, s.Relation...), 0)
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Resemblance))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Containment))
	}
	return b
}
