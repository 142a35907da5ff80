package layout

import (
	"encoding/binary"
	"iter"

	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
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

// CommonValue returns a value of TableCommon or TableFrame.
func CommonValue(pages uint32) []byte { return binary.BigEndian.AppendUint32(nil, pages) }

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

// CountedKey returns the key of a text in TableCounted.
func CountedKey(t rows.TextID) []byte { return key(TableCounted, t[:]) }

// CountedValue returns a value of TableCounted.
func CountedValue(c rows.Counted) []byte {
	b := binary.AppendUvarint(nil, uint64(len(c.Documents)))
	for _, d := range c.Documents {
		b = binary.BigEndian.AppendUint64(b, d)
	}
	for _, p := range c.Pages {
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, p.Site), p.Address)
	}
	return b
}

// Counted parses a row of TableCounted. It uses the memory of c.
func (r Row) Counted(c *rows.Counted) error {
	v, err := r.Value()
	if err != nil {
		return err
	}
	documents, n := binary.Uvarint(v)
	if v = v[max(0, n):]; n <= 0 || documents > uint64(len(v)/8) || (len(v)-8*int(documents))%16 != 0 {
		return Corrupt(r.Key())
	}
	c.Documents, c.Pages = c.Documents[:0], c.Pages[:0]
	for ; documents > 0; documents, v = documents-1, v[8:] {
		c.Documents = append(c.Documents, binary.BigEndian.Uint64(v))
	}
	for ; len(v) > 0; v = v[16:] {
		c.Pages = append(c.Pages, rows.SitePage{Site: binary.BigEndian.Uint64(v), Address: binary.BigEndian.Uint64(v[8:])})
	}
	return nil
}

// TouchedKey returns the key of a text in TableTouched.
func TouchedKey(t rows.TextID) []byte { return key(TableTouched, t[:]) }

const touchedSize = 8 + 8 + 1

// TouchedValue returns a value of TableTouched.
func TouchedValue(pages []rows.TouchedPage) (b []byte) {
	for _, p := range pages {
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, p.Site), p.Address)
		if p.Fresh {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return b
}

// Touched parses a row of TableTouched.
func (r Row) Touched() (t rows.TextID, pages []rows.TouchedPage, err error) {
	if t, err = r.TextID(); err != nil {
		return t, nil, err
	}
	v, err := r.Value()
	if err != nil {
		return t, nil, err
	}
	if len(v)%touchedSize != 0 {
		return t, nil, Corrupt(r.Key())
	}
	for ; len(v) > 0; v = v[touchedSize:] {
		p := rows.SitePage{Site: binary.BigEndian.Uint64(v), Address: binary.BigEndian.Uint64(v[8:])}
		pages = append(pages, rows.TouchedPage{SitePage: p, Fresh: v[16] == 1})
	}
	return t, pages, nil
}
