package layout

import (
	"encoding/binary"
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
// the search.
func NewSearchRun(size int) FixedRun { return FixedRun{Size: 1 + size} }

// AddSearched adds a row to a run made by NewSearchRun.
func (r *FixedRun) AddSearched(row []byte) { r.Add([]byte{TableSearch}, row) }

// Searched returns the search's bytes of a row of TableSearch.
func (r Row) Searched() []byte { return r.Key()[1:] }

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
