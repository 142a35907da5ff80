package layout

import (
	"encoding/binary"
	"math"

	"neardup/pipeline/rows"
)

func ExportedKey(group rows.TextID) []byte { return key(TableExported, group[:]) }

// ExportedValue returns a value of TableExported.
func ExportedValue(e *rows.Exported) []byte {
	b := make([]byte, 0, 40)
	for _, n := range fieldsOf(e) {
		b = binary.AppendUvarint(b, uint64(*n))
	}
	return b
}

// Exported parses a row of TableExported.
func (r Row) Exported() (e rows.Exported, err error) {
	if e.Group, err = r.TextID(); err != nil {
		return e, err
	}
	v, err := r.Value()
	if err != nil {
		return e, err
	}
	for _, n := range fieldsOf(&e) {
		x, size := binary.Uvarint(v)
		if size <= 0 || x > math.MaxInt64 {
			return e, Corrupt(r.Key())
		}
		*n, v = int64(x), v[size:]
	}
	if len(v) > 0 {
		return e, Corrupt(r.Key())
	}
	return e, nil
}

// fieldsOf returns the numbers of a row in the order of its value.
func fieldsOf(e *rows.Exported) []*int64 {
	fields := make([]*int64, 0, len(e.Bytes)+2+len(e.Counts.Relations)+len(e.Counts.Scores))
	for i := range e.Bytes {
		fields = append(fields, &e.Bytes[i])
	}
	fields = append(fields, &e.Counts.Size, &e.Counts.Bytes)
	for i := range e.Counts.Relations {
		fields = append(fields, &e.Counts.Relations[i])
	}
	for i := range e.Counts.Scores {
		fields = append(fields, &e.Counts.Scores[i])
	}
	return fields
}
