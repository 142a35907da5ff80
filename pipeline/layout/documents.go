package layout

import (
	"bytes"
	"encoding/binary"

	"neardup/extract"
	"neardup/extract/page"
	"neardup/pipeline/rows"
)

func SourceKey(path string) []byte { return key(TableSource, []byte(path)) }

// DocumentKey returns the key of a document: its ID, and the file and offset of its record.
func DocumentKey(id extract.ID, file string, offset int64) []byte {
	return key(TableDocument, id[:], appendPlace(nil, file, offset))
}

// ParseDocumentKey returns the parts of a document's key.
func ParseDocumentKey(k []byte) (id extract.ID, file string, offset int64, err error) {
	if len(k) < 1+16 {
		return id, "", 0, Corrupt(k)
	}
	file, offset, err = ParsePlace(k[1+16:])
	return extract.ID(k[1:17]), file, offset, err
}

// DocumentsOf returns the prefix of the documents with an ID.
func DocumentsOf(id extract.ID) []byte { return key(TableDocument, id[:]) }

// Place returns the place of a row of TableDocument, for ParsePlace. It is valid until
// the next row.
func (r Row) Place() []byte { return r.Key()[1+len(extract.ID{}):] }

// IsSameRecord reports whether rows of TableDocument and TableAround belong to the
// same record.
func (r Row) IsSameRecord(o Row) bool { return bytes.Equal(r.Key()[1:], o.Key()[1:]) }

// appendPlace appends the place of a record: the file's name and the offset.
func appendPlace(b []byte, file string, offset int64) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, file...), 0), uint64(offset))
}

// ParsePlace parses what appendPlace wrote.
func ParsePlace(b []byte) (file string, offset int64, err error) {
	if len(b) < 1+8 || b[len(b)-9] != 0 {
		return "", 0, Corrupt(b)
	}
	return string(b[:len(b)-9]), int64(binary.BigEndian.Uint64(b[len(b)-8:])), nil
}

// AroundKey returns a key of TableAround. It has the parts of the document's key.
func AroundKey(id extract.ID, file string, offset int64) []byte {
	return key(TableAround, id[:], appendPlace(nil, file, offset))
}

// AroundValue returns a value of TableAround: the marks of a page's visible text,
// and those of its lines that are not in the page's text.
func AroundValue(m page.Marks, around string) []byte {
	b := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64+len(m)+len(around)), uint64(len(m)))
	return append(append(b, m...), around...)
}

// ParseAround returns the parts of AroundValue. ok is false for other bytes.
func ParseAround(b []byte) (m page.Marks, around string, ok bool) {
	lines, n := binary.Uvarint(b)
	if n <= 0 || lines > uint64(len(b)-n) {
		return "", "", false
	}
	return page.Marks(b[n : n+int(lines)]), string(b[n+int(lines):]), true
}

// DocumentKey returns the key of the document that a row of TableAround belongs to.
func (r Row) DocumentKey() []byte { return key(TableDocument, r.Key()[1:]) }

// RevisitKey returns the key of a revisit record. Unlike DocumentKey it includes
// the source's path: every revisit record has its own row, so that all are
// accounted for.
func RevisitKey(id extract.ID, path, name string, offset int64) []byte {
	return key(TableRevisit, id[:], binary.BigEndian.AppendUint64(nil, rows.Hash(path)), appendPlace(nil, name, offset))
}

// RevisitsOf returns the prefix of the revisits with an ID.
func RevisitsOf(id extract.ID) []byte { return key(TableRevisit, id[:]) }

// RevisitPlace is the parsed key of a row of TableRevisit.
type RevisitPlace struct {
	Place  []byte // the key without the table's letter
	ID     extract.ID
	file   string
	offset int64
}

// ParseRevisitPlace parses a Place.
func ParseRevisitPlace(place []byte) (p RevisitPlace, err error) {
	if len(place) < 16+8 {
		return p, Corrupt(place)
	}
	p.Place, p.ID = bytes.Clone(place), extract.ID(place[:16])
	p.file, p.offset, err = ParsePlace(place[16+8:])
	return p, err
}

// RevisitPlace parses the key of a row of TableRevisit.
func (r Row) RevisitPlace() (RevisitPlace, error) { return ParseRevisitPlace(r.Key()[1:]) }

// Row returns the key of the row.
func (p RevisitPlace) Row() []byte { return key(TableRevisit, p.Place) }

// Document returns the key of the document that the revisit becomes.
func (p RevisitPlace) Document() []byte { return DocumentKey(p.ID, p.file, p.offset) }

// Path returns the hash of the path of the source that has the revisit.
func (p RevisitPlace) Path() uint64 { return binary.BigEndian.Uint64(p.Place[16:]) }

// The parts of a key of TableName. The date is in digits, padded with zeros.
const (
	NameDate = 14
	NameSize = 1 + 16 + NameDate + 16
)

// ParseNameKey returns the document in a key of TableName.
func ParseNameKey(k []byte) (d extract.ID, err error) {
	if len(k) != NameSize {
		return d, Corrupt(k)
	}
	return extract.ID(k[1+16+NameDate:]), nil
}

// NamesOf returns the prefix of the documents of a name, from a date, which may be
// cut short.
func NamesOf(digest []byte, date string) []byte { return key(TableName, digest, []byte(date)) }

// NewNameRun returns an empty run of rows of TableName.
func NewNameRun() FixedRun { return FixedRun{Size: NameSize} }

// AddName adds a document to a run made by NewNameRun.
func (r *FixedRun) AddName(digest []byte, date []byte, d extract.ID) {
	r.Add([]byte{TableName}, digest, date, d[:])
}

// WithdrawnKey returns the key of a withdrawal, which is given by its digest.
func WithdrawnKey(digest []byte) []byte { return key(TableWithdrawn, digest) }
