package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"neardup/cluster"
	"neardup/signature"
)

const PostingSize = 1 + 16 + cluster.KeySize

// AppendPosting appends the key of a posting to b.
func AppendPosting(b []byte, s signature.Signature, k cluster.Key) []byte {
	return append(append(append(b, TablePosting), s[:]...), k[:]...)
}

// ParsePostingKey parses what AppendPosting wrote.
func ParsePostingKey(k []byte) (p cluster.Posting, err error) {
	if len(k) != PostingSize {
		return p, Corrupt(k)
	}
	return cluster.Posting{Signature: signature.Signature(k[1:17]), Key: cluster.Key(k[17:])}, nil
}

// PostingsOf returns the prefix of the texts that have a signature.
func PostingsOf(s signature.Signature) []byte { return key(TablePosting, s[:]) }

// PostingsFrom returns the bounds of the postings from a signature on, or of all.
func PostingsFrom(signature []byte) (lower, upper []byte) {
	lower, upper = TableBounds(TablePosting)
	return append(lower, signature...), upper
}

// NewSearchRun returns an empty run of rows of TableSearch, each with size bytes of
// the search. If it is counted, the value of a row is how often it was added.
func NewSearchRun(size int, counted bool) FixedRun { return FixedRun{Size: 1 + size, Counted: counted} }

// AddSearched adds a row to a run made by NewSearchRun.
func (r *FixedRun) AddSearched(row []byte) { r.Add([]byte{TableSearch}, row) }

// SearchKey returns the key of a row of TableSearch.
func SearchKey(row []byte) []byte { return key(TableSearch, row) }

// Searched returns the search's bytes of a row of TableSearch.
func (r Row) Searched() []byte { return r.Key()[1:] }

// Lists returns the value of a row of TableSearch.
func (r Row) Lists() (int64, error) {
	v, err := r.Value()
	if err != nil {
		return 0, err
	}
	return ParseLists(v)
}

// ParseLists parses a value of TableSearch: the number of lists that give the row.
func ParseLists(v []byte) (int64, error) {
	n, size := binary.Uvarint(v)
	if size != len(v) || n == 0 || n > math.MaxInt64 {
		return 0, fmt.Errorf("%w: %x lists", ErrCorrupt, v)
	}
	return int64(n), nil
}

// ListsValue returns a value of TableSearch.
func ListsValue(n int64) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// LongKey returns the key of a list in TableLong.
func LongKey(s signature.Signature) []byte { return key(TableLong, s[:]) }

// LongValue returns a value of TableLong.
func LongValue(l cluster.LongList) []byte {
	v := binary.AppendUvarint(nil, uint64(l.Postings))
	if l.Concentrated {
		return append(v, 1)
	}
	return append(v, 0)
}

// Long parses a row of TableLong.
func (r Row) Long() (s signature.Signature, l cluster.LongList, err error) {
	k := r.Key()
	v, err := r.Value()
	if err != nil {
		return s, l, err
	}
	n, size := binary.Uvarint(v)
	if len(k) != 1+len(s) || size <= 0 || len(v) != size+1 || v[size] > 1 {
		return s, l, Corrupt(k)
	}
	return signature.Signature(k[1:]), cluster.LongList{Postings: int64(n), Concentrated: v[size] == 1}, nil
}

// ChangedSize is the length of a key of TableChanged.
const ChangedSize = PostingSize + 1

// AppendChanged appends the key of a changed posting, given by its key, to b.
func AppendChanged(b, posting []byte, removed bool) []byte {
	b = append(append(b, TableChanged), posting[1:]...)
	if removed {
		return append(b, 1)
	}
	return append(b, 0)
}

// ChangedPosting returns the key of the posting in a key of TableChanged.
func ChangedPosting(changed []byte) (posting []byte, removed bool) {
	posting = bytes.Clone(changed[:PostingSize])
	posting[0] = TablePosting
	return posting, changed[PostingSize] == 1
}

// Changed parses a row of TableChanged.
func (r Row) Changed() (p cluster.Posting, removed bool, err error) {
	k := r.Key()
	if len(k) != ChangedSize || k[PostingSize] > 1 {
		return p, false, Corrupt(k)
	}
	return cluster.Posting{Signature: signature.Signature(k[1:17]), Key: cluster.Key(k[17:PostingSize])}, k[PostingSize] == 1, nil
}

// The lengths of keys of TableSet.
const (
	setSize       = 1 + 2*cluster.KeySize
	scoredSetSize = setSize + 8
)

// NewSetRun returns an empty run of rows of TableSet, with or without scores.
func NewSetRun(scored bool) FixedRun {
	if scored {
		return FixedRun{Size: scoredSetSize}
	}
	return FixedRun{Size: setSize}
}

// AddMember adds a row to a run made by NewSetRun.
func (r *FixedRun) AddMember(set, member cluster.Key, score float64) {
	var value [8]byte
	binary.BigEndian.PutUint64(value[:], math.Float64bits(score))
	r.Add([]byte{TableSet}, set[:], member[:], value[:r.Size-setSize])
}

// ParseSetKey returns the parts of a key of TableSet. The score is 0 if the search
// gives none.
func ParseSetKey(k []byte) (set, member cluster.Key, score float64, err error) {
	if len(k) == scoredSetSize {
		score = math.Float64frombits(binary.BigEndian.Uint64(k[setSize:]))
		k = k[:setSize]
	}
	set, member, err = parsePairKey(k)
	return set, member, score, err
}

// SetOf returns the prefix of the members of a perhaps-similar set.
func SetOf(set cluster.Key) []byte { return key(TableSet, set[:]) }

// BehindSet returns the bounds of the sets behind a row. after is the row's key, or
// the start of it, without the table's letter. If it is nil, they are the bounds of
// all sets.
func BehindSet(after []byte) (lower, upper []byte) { return behind(TableSet, after) }

// FilterKey returns the key of a row of TableFilter.
func FilterKey(part, number int) []byte {
	return binary.BigEndian.AppendUint32([]byte{TableFilter, byte(part)}, uint32(number))
}

// FilterPart returns the part of the filter that a row of TableFilter belongs to.
func (r Row) FilterPart() (int, error) {
	if len(r.Key()) != 1+1+4 {
		return 0, Corrupt(r.Key())
	}
	return int(r.Key()[1]), nil
}
