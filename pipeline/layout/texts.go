package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"neardup/extract"
	"neardup/pipeline/rows"
)

func TextKey(t rows.TextID) []byte { return key(TableText, t[:]) }

func OccurrenceKey(t rows.TextID, d extract.ID) []byte { return key(TableOccurrence, t[:], d[:]) }

// OccurrencesOf returns the prefix of the pages that have a text.
func OccurrencesOf(t rows.TextID) []byte { return key(TableOccurrence, t[:]) }

// ParseOccurrenceKey returns the parts of a key of TableOccurrence.
func ParseOccurrenceKey(k []byte) (t rows.TextID, d extract.ID, err error) {
	if len(k) != 1+32 {
		return t, d, Corrupt(k)
	}
	return rows.TextID(k[1:17]), extract.ID(k[17:]), nil
}

const occurrenceSize = 8 + 8 + 8 + 1 // without the words of the title

// OccurrenceValue returns a value of TableOccurrence.
func OccurrenceValue(o rows.Occurrence) []byte {
	var b []byte
	b = binary.BigEndian.AppendUint64(b, o.Site)
	b = binary.BigEndian.AppendUint64(b, o.Address)
	b = binary.BigEndian.AppendUint64(b, o.Title.Key)
	navigation := byte(0)
	if o.Navigation {
		navigation = 1
	}
	b = append(b, navigation)
	for _, word := range o.Title.Words {
		b = binary.BigEndian.AppendUint32(b, word)
	}
	return b
}

// Occurrence parses a row of TableOccurrence.
func (r Row) Occurrence() (o rows.Occurrence, err error) {
	v, err := r.Value()
	if err != nil {
		return o, err
	}
	return ParseOccurrence(r.Key(), v)
}

// ParseOccurrence parses a value of TableOccurrence. key is for the error.
func ParseOccurrence(key, v []byte) (o rows.Occurrence, err error) {
	if len(v) < occurrenceSize || len(v)%4 != occurrenceSize%4 || v[24] > 1 {
		return o, Corrupt(key)
	}
	o = rows.Occurrence{Site: binary.BigEndian.Uint64(v), Address: binary.BigEndian.Uint64(v[8:]), Navigation: v[24] == 1}
	o.Title.Key = binary.BigEndian.Uint64(v[16:])
	if v = v[occurrenceSize:]; len(v) > 0 {
		o.Title.Words = make([]uint32, 0, len(v)/4)
	}
	for ; len(v) > 0; v = v[4:] {
		o.Title.Words = append(o.Title.Words, binary.BigEndian.Uint32(v))
	}
	return o, nil
}

// SitePage parses a row of TableOccurrence without what names the page.
func (r Row) SitePage() (p rows.SitePage, err error) {
	v, err := r.Value()
	if err == nil && len(v) < occurrenceSize {
		err = Corrupt(r.Key())
	}
	if err != nil {
		return p, err
	}
	return rows.SitePage{Site: binary.BigEndian.Uint64(v), Address: binary.BigEndian.Uint64(v[8:])}, nil
}

func UnitsKey(t rows.TextID) []byte { return key(TableUnits, t[:]) }

// UnitsValue returns a value of TableUnits.
func UnitsValue(u rows.Units) []byte {
	b := make([]byte, 0, 2*binary.MaxVarintLen64+10*(len(u.Both)+len(u.Exact)+len(u.Plain)))
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(len(u.Both))), uint64(len(u.Plain)))
	b = binary.AppendUvarint(b, uint64(len(u.Exact)))
	b = appendUnits(appendUnits(appendUnits(b, u.Both), u.Plain), u.Exact)
	for _, list := range [][]uint32{u.Columns, u.PlainOf} {
		for _, x := range list {
			b = binary.AppendUvarint(b, uint64(x))
		}
	}
	return b
}

// Units parses a row of TableUnits. It uses the memory of u.
func (r Row) Units(u *rows.Units) error {
	v, err := r.Value()
	if err != nil {
		return err
	}
	number := func() (x uint64) {
		x, n := binary.Uvarint(v)
		if n <= 0 {
			err = Corrupt(r.Key())
			return 0
		}
		v = v[n:]
		return x
	}
	most := uint64(len(v) / 8)
	both, plain, exact := number(), number(), number()
	if err != nil || both > most || plain > most || exact > most || 8*(both+plain+exact) > uint64(len(v)) {
		return Corrupt(r.Key())
	}
	for _, list := range []struct {
		to *[]uint64
		n  uint64
	}{{&u.Both, both}, {&u.Plain, plain}, {&u.Exact, exact}} {
		*list.to = parseUnits((*list.to)[:0], v[:8*list.n])
		v = v[8*list.n:]
	}
	u.Columns, u.PlainOf = u.Columns[:0], u.PlainOf[:0]
	for range both + plain {
		u.Columns = append(u.Columns, uint32(number()))
	}
	for range exact {
		of := number()
		if of >= both+plain {
			return Corrupt(r.Key())
		}
		u.PlainOf = append(u.PlainOf, uint32(of))
	}
	if err != nil || len(v) > 0 {
		return Corrupt(r.Key())
	}
	return nil
}

func appendUnits(b []byte, units []uint64) []byte {
	for _, u := range units {
		b = binary.BigEndian.AppendUint64(b, u)
	}
	return b
}

func parseUnits(to []uint64, b []byte) []uint64 {
	for ; len(b) > 0; b = b[8:] {
		to = append(to, binary.BigEndian.Uint64(b))
	}
	return to
}

// UnitsRoundKey returns a key of TableUnitsRound. It has the parts of the document's key.
func UnitsRoundKey(id extract.ID, file string, offset int64) []byte {
	return key(TableUnitsRound, id[:], appendPlace(nil, file, offset))
}

// UnitsRoundsOf returns the prefix of the rows of TableUnitsRound of the documents with an ID.
func UnitsRoundsOf(id extract.ID) []byte { return key(TableUnitsRound, id[:]) }

// UnitsRoundValue returns a value of TableUnitsRound.
func UnitsRoundValue(site, address uint64, units []uint64) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 16+8*len(units)), site)
	return appendUnits(binary.BigEndian.AppendUint64(b, address), units)
}

// UnitsRound parses a row of TableUnitsRound. It uses the memory of to.
func (r Row) UnitsRound(to []uint64) (site, address uint64, units []uint64, err error) {
	v, err := r.Value()
	if err != nil {
		return 0, 0, nil, err
	}
	return ParseUnitsRound(r.Key()[1:], v, to)
}

// ParseUnitsRound parses a key, without the table's letter, and a value of
// TableUnitsRound. It uses the memory of to.
func ParseUnitsRound(key, v []byte, to []uint64) (site, address uint64, units []uint64, err error) {
	if len(key) < 16+1+8 || len(v) < 16 || len(v)%8 != 0 {
		return 0, 0, nil, Corrupt(key)
	}
	return binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:]), parseUnits(to[:0], v[16:]), nil
}

func SignedKey(t rows.TextID) []byte { return key(TableSigned, t[:]) }

const signedSize = 4 + 4 + 4

// SignedValue returns a value of TableSigned.
func SignedValue(s rows.Signed) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, signedSize+len(s.Framed)), s.Signatures)
	return append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, s.Characters), s.LeftOut), s.Framed...)
}

// Signed parses a row of TableSigned.
func (r Row) Signed() (s rows.Signed, err error) {
	v, err := r.Value()
	if err != nil {
		return s, err
	}
	if len(v) < signedSize {
		return s, Corrupt(r.Key())
	}
	s.Signatures, s.Characters, s.LeftOut = binary.BigEndian.Uint32(v), binary.BigEndian.Uint32(v[4:]), binary.BigEndian.Uint32(v[8:])
	s.Framed = bytes.Clone(v[signedSize:])
	return s, nil
}

// ParseTextID parses the TextID of a document. An error wraps ErrCorrupt.
func ParseTextID(s string) (rows.TextID, error) {
	t, err := rows.ParseTextID(s)
	if err != nil {
		return t, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return t, nil
}
