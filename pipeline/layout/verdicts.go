package layout

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"

	"neardup/cluster"
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
// perhaps-similar set or of a component of linked texts, with the digest of what it
// was computed from.
type Result struct {
	Digest  [16]byte
	Quick   [16]byte // another digest, which is fast to compute
	Counts  rows.VerifyCounts
	Checked []rows.Link // only of a component
	Links   []rows.Link
	// Measured are the verdicts of the measure that the result needed.
	Measured []pair.Measured
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

const (
	linkSize     = 2*cluster.KeySize + ScoreSize
	measuredSize = 16 + VerdictSize
)

// Value returns the value of the row.
func (x Result) Value() ([]byte, error) {
	counts, err := json.Marshal(x.Counts)
	b := append(append(x.Digest[:], x.Quick[:]...), binary.AppendUvarint(nil, uint64(len(counts)))...)
	b = binary.AppendUvarint(binary.AppendUvarint(append(b, counts...), uint64(len(x.Checked))), uint64(len(x.Links)))
	for _, links := range [][]rows.Link{x.Checked, x.Links} {
		for _, l := range links {
			b = AppendScore(append(append(b, l.Leader[:]...), l.Member[:]...), l.Score)
		}
	}
	for _, m := range x.Measured {
		b = AppendVerdict(append(b, m.Texts[:]...), m.Verdict)
	}
	return b, err
}

// Result parses the row.
func (r Row) Result() (x Result, err error) {
	v, err := r.Value()
	if err != nil {
		return x, err
	}
	if len(v) < len(x.Digest)+len(x.Quick) {
		return x, Corrupt(r.Key())
	}
	x.Digest, x.Quick, v = [16]byte(v), [16]byte(v[16:]), v[32:]
	size, n := binary.Uvarint(v)
	if n <= 0 || size > uint64(len(v)-n) || json.Unmarshal(v[n:n+int(size)], &x.Counts) != nil {
		return x, Corrupt(r.Key())
	}
	v = v[n+int(size):]
	checked, n := binary.Uvarint(v)
	linked, m := binary.Uvarint(v[max(0, n):])
	v = v[max(0, n)+max(0, m):]
	if n <= 0 || m <= 0 || checked > uint64(len(v)) || linked > uint64(len(v)) || (checked+linked)*linkSize > uint64(len(v)) {
		return x, Corrupt(r.Key())
	}
	for ; uint64(len(x.Links)) < checked+linked; v = v[linkSize:] {
		l := rows.Link{Leader: cluster.Key(v), Member: cluster.Key(v[cluster.KeySize:])}
		if l.Score, err = ParseScore(v[2*cluster.KeySize : linkSize]); err != nil {
			return x, err
		}
		x.Links = append(x.Links, l)
	}
	if len(v)%measuredSize != 0 {
		return x, Corrupt(r.Key())
	}
	for ; len(v) > 0; v = v[measuredSize:] {
		m := pair.Measured{Texts: [16]byte(v)}
		if m.Verdict, err = ParseVerdict(v[16:measuredSize]); err != nil {
			return x, err
		}
		x.Measured = append(x.Measured, m)
	}
	x.Checked, x.Links = x.Links[:checked:checked], x.Links[checked:]
	return x, nil
}
