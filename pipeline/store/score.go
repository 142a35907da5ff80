package store

import (
	"encoding/binary"
	"math"
	"slices"

	"neardup/pipeline/rows"
	"neardup/report"
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
