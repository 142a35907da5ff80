package layout

import (
	"encoding/binary"
	"iter"

	"neardup/pipeline/extsort"
)

// commonRunSize is the length of key and value of TableCommon, TableFrame and
// TableTerm, in bytes.
const commonRunSize = 1 + 8 + 4

// CommonKey returns the key of a sentence of a site in TableCommon or TableFrame.
func CommonKey(table byte, sentence uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{table}, sentence)
}

// Common parses a row of TableCommon, TableFrame or TableTerm.
func (r Row) Common() (sentence uint64, pages uint32, err error) {
	v, err := r.Value()
	if err != nil {
		return 0, 0, err
	}
	if len(r.Key()) != 1+8 {
		return 0, 0, Corrupt(r.Key())
	}
	pages, err = ParseCommon(r.Key(), v)
	return binary.BigEndian.Uint64(r.Key()[1:]), pages, err
}

// ParseCommon parses a value of TableCommon, TableFrame or TableTerm. key is for the
// error.
func ParseCommon(key, v []byte) (pages uint32, err error) {
	if len(v) != 4 {
		return 0, Corrupt(key)
	}
	return binary.BigEndian.Uint32(v), nil
}

// NewCommonRun returns an empty run of rows of TableCommon or TableFrame, for
// CommonRows.
func NewCommonRun() FixedRun { return FixedRun{Size: commonRunSize} }

// AddCommon adds a row to a run made by NewCommonRun.
func (r *FixedRun) AddCommon(table byte, sentence uint64, pages uint32) {
	var b [8 + 4]byte
	binary.BigEndian.PutUint64(b[:], sentence)
	binary.BigEndian.PutUint32(b[8:], pages)
	r.Add([]byte{table}, b[:])
}

// CommonRows splits the keys of a run into the keys and values of TableCommon or
// TableFrame.
func CommonRows(run *FixedRun, parts int) []iter.Seq[extsort.Entry] {
	var out []iter.Seq[extsort.Entry]
	for _, part := range run.Sorted(parts) {
		out = append(out, func(yield func(extsort.Entry) bool) {
			for e := range part {
				if !yield(extsort.Entry{Key: e.Key[:1+8], Value: e.Key[1+8:]}) {
					return
				}
			}
		})
	}
	return out
}
