package layout

import (
	"encoding/binary"
	"math"
	"slices"

	"neardup/cluster"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
)

// relations lists the relations of stored scores. A row stores the index of its
// relation.
var relations = []report.Relation{"", report.Near, report.Contained, report.Contains, report.Judged,
	report.Representative, report.Identical, report.Linked, report.Alike}

const ScoreSize = 1 + 8 + 8

// AppendScore appends the stored form of a score.
func AppendScore(b []byte, s rows.Score) []byte {
	b = append(b, byte(slices.Index(relations, s.Relation)))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Resemblance))
	return binary.BigEndian.AppendUint64(b, math.Float64bits(s.Containment))
}

// ParseScore parses what AppendScore wrote. An error wraps ErrCorrupt.
func ParseScore(b []byte) (rows.Score, error) {
	if len(b) != ScoreSize || int(b[0]) >= len(relations) {
		return rows.Score{}, Corrupt(b)
	}
	return rows.Score{
		Relation:    relations[b[0]],
		Resemblance: math.Float64frombits(binary.BigEndian.Uint64(b[1:])),
		Containment: math.Float64frombits(binary.BigEndian.Uint64(b[9:])),
	}, nil
}

// Flags of a stored verdict.
const (
	verdictNear = 1 << iota
	verdictContained
	verdictAlike
	verdictFlags
)

// VerdictSize is the length of a verdict of a measure.
const VerdictSize = 2 + 8 + 8

// AppendVerdict appends the stored form of a verdict of a measure.
func AppendVerdict(b []byte, v verify.Verdict) []byte {
	var flags byte
	for flag, is := range map[byte]bool{verdictNear: v.Near, verdictContained: v.Contained, verdictAlike: v.Alike} {
		if is {
			flags |= flag
		}
	}
	b = append(b, flags, byte(v.Rejected))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(v.Resemblance))
	return binary.BigEndian.AppendUint64(b, math.Float64bits(v.Containment))
}

// ParseVerdict parses what AppendVerdict wrote. An error wraps ErrCorrupt.
func ParseVerdict(b []byte) (v verify.Verdict, err error) {
	if len(b) != VerdictSize || b[0] >= verdictFlags {
		return v, Corrupt(b)
	}
	v = verify.Verdict{Near: b[0]&verdictNear != 0, Contained: b[0]&verdictContained != 0, Alike: b[0]&verdictAlike != 0, Rejected: verify.Stage(b[1])}
	v.Resemblance = math.Float64frombits(binary.BigEndian.Uint64(b[2:]))
	v.Containment = math.Float64frombits(binary.BigEndian.Uint64(b[10:]))
	return v, nil
}

// PairKey returns the key of a row about two texts. The larger key comes first.
func PairKey(table byte, a, b cluster.Key) []byte { return key(table, a[:], b[:]) }

func parsePairKey(k []byte) (a, b cluster.Key, err error) {
	if len(k) != 1+2*cluster.KeySize {
		return a, b, Corrupt(k)
	}
	return cluster.Key(k[1 : 1+cluster.KeySize]), cluster.Key(k[1+cluster.KeySize:]), nil
}

// VerdictsOf returns the prefix of the texts that are near a leader.
func VerdictsOf(leader cluster.Key) []byte { return key(TableVerdict, leader[:]) }

// Link parses a row of a table of pairs with their scores.
func (r Row) Link() (l rows.Link, err error) {
	if l.Leader, l.Member, err = parsePairKey(r.Key()); err != nil {
		return l, err
	}
	v, err := r.Value()
	if err != nil {
		return l, err
	}
	l.Score, err = ParseScore(v)
	return l, err
}

// Result is a row of TableSetResult or TablePartResult: the result of a
// perhaps-similar set or of a component of linked texts, with the states of the texts
// that it was computed from.
type Result struct {
	States  []rows.State
	Of      [16]byte // digest of a component, its keys and links
	Counts  rows.VerifyCounts
	Decided []rows.Decided
	Links   []rows.Link // only of a component: its parts

	Screening rows.Screening // only of a set
}

// ResultKey returns the key of the result of a set or component, by its first text.
func ResultKey(table byte, name cluster.Key) []byte { return key(table, name[:]) }

// ResultsBetween returns the bounds of the results behind one name, or from the first
// on, up to another, or to the last.
func ResultsBetween(table byte, after []byte, last *cluster.Key) (lower, upper []byte) {
	lower, upper = TableBounds(table)
	if after != nil {
		lower = append(key(table, after), 0)
	}
	if last != nil {
		upper = append(key(table, last[:]), 0)
	}
	return lower, upper
}

// ResultName returns the name of a set or component from the key of its result.
func (r Row) ResultName() (cluster.Key, error) {
	if len(r.Key()) != 1+cluster.KeySize {
		return cluster.Key{}, Corrupt(r.Key())
	}
	return cluster.Key(r.Key()[1:]), nil
}

const linkSize = 2*cluster.KeySize + ScoreSize

// countsOf returns the counts that are stored.
func countsOf(c *rows.VerifyCounts) []*int64 {
	o, p := &c.Outcomes, &c.Partition
	return []*int64{&c.Sets, &c.Pairs, &o.ByLength, &o.BySketch, &o.ByDistance, &o.ByScore, &o.ByRarity, &o.ByTitle, &o.Near, &c.OverBudget,
		&p.Components, &p.Parted, &p.Largest, &p.Pairs}
}

// Flags of a stored decision.
const (
	decidedNear = 1 << iota
	decidedContained
	decidedAlike
	decidedBounded
	decidedScored // with scores
	decidedWhole  // what the measure said of the whole texts is the verdict
	decidedOther  // it is another one, which comes last
	decidedFlags
)

func appendDecided(b []byte, d rows.Decided) []byte {
	var flags byte
	v := d.Verdict
	for i, is := range [...]bool{v.Near, v.Contained, v.Alike, d.Bounded, v.Resemblance != 0 || v.Containment != 0, d.Whole != nil && *d.Whole == v, d.Whole != nil && *d.Whole != v} {
		if is {
			flags |= decidedNear << i
		}
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(d.A)), uint64(d.B))
	b = append(b, d.Weighing.Whole, d.Weighing.Own, flags, byte(v.Rejected)<<4|byte(slices.Index(relations, d.Relation)))
	if flags&decidedScored != 0 {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(v.Resemblance))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(v.Containment))
	}
	if flags&decidedOther != 0 {
		b = AppendVerdict(b, *d.Whole)
	}
	return b
}

// Value returns the value of the row.
func (x Result) Value() []byte {
	b := binary.AppendUvarint(slices.Clone(x.Of[:]), uint64(len(x.States)))
	for _, s := range x.States {
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(append(b, s.ID[:]...), s.Fixed), s.Weights)
	}
	for _, n := range countsOf(&x.Counts) {
		b = binary.AppendUvarint(b, uint64(*n))
	}
	b = binary.AppendUvarint(b, uint64(len(x.Decided)))
	for _, d := range x.Decided {
		b = appendDecided(b, d)
	}
	b = appendScreening(b, x.Screening)
	for _, l := range x.Links {
		b = AppendScore(append(append(b, l.Leader[:]...), l.Member[:]...), l.Score)
	}
	return b
}

func appendScreening(b []byte, s rows.Screening) []byte {
	if b = binary.AppendUvarint(b, uint64(s.From)); s.From == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(s.Leaders)))
	last := 0
	for _, l := range s.Leaders {
		b = binary.AppendUvarint(b, uint64(l-last))
		last = l
	}
	b = binary.AppendUvarint(b, uint64(len(s.Common)))
	for _, d := range s.Common {
		b = binary.BigEndian.AppendUint64(b, d)
	}
	b = binary.AppendUvarint(b, uint64(len(s.Left)))
	last = 0
	for _, l := range s.Left {
		b = binary.AppendUvarint(b, uint64(l.Member-last))
		b = binary.AppendUvarint(b, uint64(l.Member-l.Leader))
		b = binary.AppendUvarint(b, uint64(l.Rare))
		last = l.Member
	}
	return b
}

// resultReader reads the value of a Result. It goes on after a failure.
type resultReader struct {
	left   []byte
	failed bool
}

func (r *resultReader) number() uint64 {
	x, n := binary.Uvarint(r.left)
	if n <= 0 {
		r.failed, r.left = true, nil
		return 0
	}
	r.left = r.left[n:]
	return x
}

// length reads a length of a list whose entries have at least so many bytes.
func (r *resultReader) length(size int) int {
	n := r.number()
	if n > uint64(len(r.left)/size) {
		r.failed = true
		return 0
	}
	return int(n)
}

func (r *resultReader) bytes(n int) []byte {
	if n > len(r.left) {
		r.failed, r.left = true, nil
		return make([]byte, n)
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *resultReader) fixed() uint64 { return binary.BigEndian.Uint64(r.bytes(8)) }

func (r *resultReader) decided(texts int) (d rows.Decided) {
	d.A, d.B = int(r.number()), int(r.number())
	b := r.bytes(4)
	d.Weighing = pair.Weighing{Whole: b[0], Own: b[1]}
	flags, relation := b[2], int(b[3]&0xf)
	if flags >= decidedFlags || relation >= len(relations) || d.A < 0 || d.A >= texts || d.B < 0 || d.B >= texts {
		r.failed = true
		return rows.Decided{}
	}
	d.Verdict = verify.Verdict{Near: flags&decidedNear != 0, Contained: flags&decidedContained != 0, Alike: flags&decidedAlike != 0, Rejected: verify.Stage(b[3] >> 4)}
	d.Bounded, d.Relation = flags&decidedBounded != 0, relations[relation]
	if flags&decidedScored != 0 {
		d.Verdict.Resemblance, d.Verdict.Containment = math.Float64frombits(r.fixed()), math.Float64frombits(r.fixed())
	}
	switch flags & (decidedWhole | decidedOther) {
	case decidedWhole:
		v := d.Verdict
		d.Whole = &v
	case decidedOther:
		v, err := ParseVerdict(r.bytes(VerdictSize))
		r.failed = r.failed || err != nil
		d.Whole = &v
	case decidedWhole | decidedOther:
		r.failed = true
	}
	return d
}

func (r *resultReader) screening(texts int) (s rows.Screening) {
	place := func(last int) int {
		behind := r.number()
		if behind >= uint64(max(texts-last, 1)) {
			r.failed = true
			return 0
		}
		return last + int(behind)
	}
	if s.From = place(0); s.From == 0 {
		return s
	}
	s.Leaders = make([]int, r.length(1))
	last := 0
	for i := range s.Leaders {
		last = place(last)
		s.Leaders[i] = last
	}
	s.Common = make([]uint64, r.length(8))
	for i := range s.Common {
		s.Common[i] = r.fixed()
	}
	const leftSize = 3
	s.Left = make([]rows.Left, r.length(leftSize))
	last = 0
	for i := range s.Left {
		last = place(last)
		before, rare := r.number(), r.number()
		if before > uint64(last) || rare > math.MaxInt64 {
			r.failed = true
			return rows.Screening{}
		}
		s.Left[i] = rows.Left{Leader: last - int(before), Member: last, Rare: int(rare)}
	}
	r.failed = r.failed || len(s.Common) != texts-s.From
	return s
}

// StateEntry returns a state as a row of TableState.
func StateEntry(s rows.State) extsort.Entry {
	v := binary.BigEndian.AppendUint64(make([]byte, 0, 16), s.Fixed)
	return extsort.Entry{Key: key(TableState, s.ID[:]), Value: binary.BigEndian.AppendUint64(v, s.Weights)}
}

// State parses a row of TableState.
func (r Row) State() (s rows.State, err error) {
	v, err := r.Value()
	if err == nil {
		s.ID, err = r.TextID()
	}
	if err == nil && len(v) != 16 {
		err = Corrupt(r.Key())
	}
	if err != nil {
		return s, err
	}
	s.Fixed, s.Weights = binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:])
	return s, nil
}

const stateSize = 16 + 8 + 8

// ResultTexts returns the texts of the row, or none if they are fewer than least.
func (r Row) ResultTexts(least int) (texts []rows.TextID, err error) {
	v, err := r.Value()
	if err != nil {
		return nil, err
	}
	in := resultReader{left: v}
	in.bytes(len(Result{}.Of))
	n := in.length(stateSize)
	if in.failed {
		return nil, Corrupt(r.Key())
	}
	if n < least {
		return nil, nil
	}
	for range n {
		texts = append(texts, rows.TextID(in.bytes(stateSize)))
	}
	return texts, nil
}

// Result parses the row.
func (r Row) Result() (x Result, err error) {
	v, err := r.Value()
	if err != nil {
		return x, err
	}
	in := resultReader{left: v}
	x.Of = [16]byte(in.bytes(16))
	const decidedSize = 2 + 4
	x.States = make([]rows.State, in.length(stateSize))
	for i := range x.States {
		x.States[i] = rows.State{ID: rows.TextID(in.bytes(16)), Fixed: in.fixed(), Weights: in.fixed()}
	}
	for _, n := range countsOf(&x.Counts) {
		*n = int64(in.number())
	}
	x.Decided = make([]rows.Decided, in.length(decidedSize))
	for i := range x.Decided {
		x.Decided[i] = in.decided(len(x.States))
	}
	if x.Screening = in.screening(len(x.States)); in.failed || len(in.left)%linkSize != 0 {
		return x, Corrupt(r.Key())
	}
	for len(in.left) > 0 {
		l := rows.Link{Leader: cluster.Key(in.bytes(cluster.KeySize)), Member: cluster.Key(in.bytes(cluster.KeySize))}
		if l.Score, err = ParseScore(in.bytes(ScoreSize)); err != nil {
			return x, err
		}
		x.Links = append(x.Links, l)
	}
	return x, nil
}
