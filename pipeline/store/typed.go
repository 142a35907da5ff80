package store

import (
	"bytes"
	"encoding/binary"

	"neardup/cluster"
	"neardup/extract"
	"neardup/pipeline/rows"
)

// Typed rows and positions for readers that do not know the keys.

// ClusterValue returns a value of TableCluster.
func ClusterValue(c rows.Cluster) []byte { return AppendScore(c.Against[:], c.Score) }

// Cluster parses a row of TableCluster.
func (r Row) Cluster() (c rows.Cluster, err error) {
	k := r.Key()
	v, err := r.Value()
	if err != nil {
		return c, err
	}
	if len(k) != 1+32 || len(v) != 16+ScoreSize {
		return c, Corrupt(k)
	}
	c.Cluster, c.Member, c.Against = rows.TextID(k[1:17]), rows.TextID(k[17:]), rows.TextID(v[:16])
	c.Score, err = ParseScore(v[16:])
	return c, err
}

// Representative parses a row of TableAssigned: a text and the representative of
// its cluster.
func (r Row) Representative() (text, representative rows.TextID, err error) {
	v, err := r.Value()
	if err != nil {
		return text, representative, err
	}
	if text, err = r.TextID(); err == nil && len(v) != 16 {
		err = Corrupt(r.Key())
	}
	if err != nil {
		return text, representative, err
	}
	return text, rows.TextID(v), nil
}

// Kept parses a row of TableKept. The outcome is valid until the next row.
func (r Row) Kept() (outcome []byte, text, representative rows.TextID, err error) {
	k := r.Key()
	v, err := r.Value()
	if err != nil {
		return nil, text, representative, err
	}
	if len(k) != 1+16+16 || len(v) != 16 {
		return nil, text, representative, Corrupt(k)
	}
	return k[1 : 1+16], rows.TextID(k[1+16:]), rows.TextID(v), nil
}

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

// ScoreOf returns the score of two texts from a table of pairs. ok is false if the
// table has none.
func (s *DB) ScoreOf(table byte, larger, smaller cluster.Key) (score rows.Score, ok bool, err error) {
	v, ok, err := s.Get(PairKey(table, larger, smaller))
	if err == nil && ok {
		score, err = ParseScore(v)
	}
	return score, ok, err
}

// CommonPages returns the number of pages that have a sentence, from TableCommon or
// TableFrame.
func (s *DB) CommonPages(table byte, sentence uint64) (pages int, ok bool, err error) {
	k := commonKey(table, sentence)
	v, ok, err := s.Get(k)
	if err != nil || !ok {
		return 0, false, err
	}
	if len(v) != 4 {
		return 0, false, Corrupt(k)
	}
	return int(binary.BigEndian.Uint32(v)), true, nil
}

// Place returns the place of a row of TableDocument, for ParsePlace. It is valid until
// the next row.
func (r Row) Place() []byte { return r.Key()[1+len(extract.ID{}):] }

// IsSameRecord reports whether rows of TableDocument and TableAround belong to the
// same record.
func (r Row) IsSameRecord(o Row) bool { return bytes.Equal(r.Key()[1:], o.Key()[1:]) }

// SizesOf returns the prefix of the clusters of a size.
func SizesOf(size uint32) []byte {
	return key(TableSize, binary.BigEndian.AppendUint32(nil, ^size))
}

// Position returns the position of a row in its table, for BehindPosition.
func Position(key []byte) []byte { return key[1:] }

// BehindPosition returns the first key behind a position. in is any key of the
// table.
func BehindPosition(in, position []byte) []byte { return append(key(in[0], position), 0) }

// WithdrawnKey returns the key of a withdrawal, which is given by its digest.
func WithdrawnKey(digest []byte) []byte { return key(TableWithdrawn, digest) }

// NewNameRun returns an empty run of rows of TableName.
func NewNameRun() FixedRun { return FixedRun{Size: NameSize} }

// AddName adds a document to a run made by NewNameRun.
func (r *FixedRun) AddName(digest []byte, date []byte, d extract.ID) {
	r.Add([]byte{TableName}, digest, date, d[:])
}

// DocumentKey returns the key of the document that a row of TableAround belongs to.
func (r Row) DocumentKey() []byte { return key(TableDocument, r.Key()[1:]) }
