package store

import (
	"encoding/binary"
	"math"

	"neardup/cluster"
	"neardup/extract"
	"neardup/pipeline/rows"
	"neardup/signature"
)

// Prefixes of the keys of the rows about one thing.

// PostingsOf returns the prefix of the texts that have a signature.
func PostingsOf(s signature.Signature) []byte { return key(TablePosting, s[:]) }

// OccurrencesOf returns the prefix of the pages that have a text.
func OccurrencesOf(t rows.TextID) []byte { return key(TableOccurrence, t[:]) }

// DocumentsOf returns the prefix of the documents with an ID.
func DocumentsOf(id extract.ID) []byte { return key(TableDocument, id[:]) }

// SetOf returns the prefix of the members of a perhaps-similar set.
func SetOf(set cluster.Key) []byte { return key(TableSet, set[:]) }

// VerdictsOf returns the prefix of the texts that are near a leader.
func VerdictsOf(leader cluster.Key) []byte { return key(TableVerdict, leader[:]) }

// ClusterOf returns the prefix of the members of a cluster.
func ClusterOf(representative rows.TextID) []byte { return key(TableCluster, representative[:]) }

// BrowsedMembersOf returns the prefix of the members of a cluster in the index for
// browsing.
func BrowsedMembersOf(c rows.TextID) []byte { return key(TableMember, c[:]) }

// KeptOf returns the prefix of the clusters of a kept outcome.
func KeptOf(outcome []byte) []byte { return key(TableKept, outcome) }

// NamesOf returns the prefix of the documents of a name, from a date, which may be
// cut short.
func NamesOf(digest []byte, date string) []byte { return key(TableName, digest, []byte(date)) }

// DatesOf returns the prefix of the pages of a date, which may be cut short.
func DatesOf(date string) []byte { return key(TableDate, []byte(date)) }

// SURTsOf returns the prefix of the pages whose SURT starts with prefix.
func SURTsOf(prefix string) []byte {
	return key(TableSURT, []byte(prefix[:min(MaxSURT, len(prefix))]))
}

// JudgementKey returns the key of a judge's judgement of a pair, which is given by
// its digest. With an empty judge it is the prefix of all judgements of the pair.
func JudgementKey(pair []byte, judge string) []byte {
	return key(TableJudgement, pair, []byte(judge))
}

// OutcomeKey returns the key of the outcome of a judged pair.
func OutcomeKey(pair []byte) []byte { return key(TableOutcome, pair) }

// AuditKey returns the key of an audit. With an empty name it is the prefix of all
// audits.
func AuditKey(name string) []byte { return key(TableAudit, []byte("a"), []byte(name)) }

// AuditItems returns the prefix of the items of an audit.
func AuditItems(name string) []byte {
	return key(TableAudit, []byte("i"), []byte(name), []byte{0})
}

// AuditItemKey returns the key of an item of an audit, by its number.
func AuditItemKey(name string, i int) []byte {
	return binary.BigEndian.AppendUint32(AuditItems(name), uint32(i))
}

// TextID returns the text of a row whose key is a text ID.
func (r Row) TextID() (t rows.TextID, err error) {
	if len(r.Key()) != 1+len(t) {
		return t, Corrupt(r.Key())
	}
	return rows.TextID(r.Key()[1:]), nil
}

// LeadingText returns the text of a row whose key begins with a text ID.
func (r Row) LeadingText() (t rows.TextID, err error) {
	if len(r.Key()) < 1+len(t) {
		return t, Corrupt(r.Key())
	}
	return rows.TextID(r.Key()[1:]), nil
}

// Searched returns the search's bytes of a row of TableSearch.
func (r Row) Searched() []byte { return r.Key()[1:] }

// PostingsFrom returns the bounds of the postings from a signature on, or of all.
func PostingsFrom(signature []byte) (lower, upper []byte) {
	lower, upper = TableBounds(TablePosting)
	return append(lower, signature...), upper
}

// BehindSet returns the bounds of the sets behind a row. after is the row's key, or
// the start of it, without the table's letter. If it is nil, they are the bounds of
// all sets.
func BehindSet(after []byte) (lower, upper []byte) { return behind(TableSet, after) }

// BehindJudgement does the same for judgements.
func BehindJudgement(after []byte) (lower, upper []byte) { return behind(TableJudgement, after) }

func behind(table byte, after []byte) (lower, upper []byte) {
	lower, upper = TableBounds(table)
	if after != nil {
		_, lower = PrefixBounds(key(table, after))
	}
	return lower, upper
}

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

// NewSearchRun returns an empty run of rows of TableSearch, each with size bytes of
// the search.
func NewSearchRun(size int) FixedRun { return FixedRun{Size: 1 + size} }

// AddSearched adds a row to a run made by NewSearchRun.
func (r *FixedRun) AddSearched(row []byte) { r.Add([]byte{TableSearch}, row) }

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
