package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"neardup/cluster"
	"neardup/extract"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
	"neardup/report"
	"neardup/signature"
)

// This file spells every key and binary value of the store. docs/format.md
// describes them byte by byte. The first byte of a key names its table.
const (
	tableMeta       = 'm' // m NAME                               JSON
	TableSource     = 'i' // i PATH                               JSON, Source
	TableDocument   = 'd' // d docID[16] FILE 00 offset[8]        JSON, Document
	TableText       = 't' // t textID[16]                         UTF-8
	TableOccurrence = 'x' // x textID[16] docID[16]               siteHash[8] addressHash[8] kind[1]
	TableRevisit    = 'r' // r docID[16] path[8] FILE 00 offset[8]  JSON, storedRevisit
	TableWanted     = 'w' // w key[16]                            capture
	TableFrame      = 'l' // l siteAndSentence[8]                 pages[4]
	TableCommon     = 'C' // C siteAndSentence[8]                 pages[4]
	TableSigned     = 'g' // g textID[16]                         signatures[4], with frames characters[4] left[4]
	TablePosting    = 's' // s signature[16] key[20]              -
	TableEdge       = 'e' // e representative[20] member[20], with cluster.common signature[16]  -
	TablePermuted   = 'q' // q table[2] permuted[8] key[20] texts[4]  -
	TableSet        = 'p' // p set[20] member[20], with a search that scores score[8]  -
	TableVerdict    = 'v' // v leader[20] member[20]              verdict[18]
	TableChecked    = 'V' // V key[20] key[20], the larger first     verdict[18], of no relation where the pair is not near
	TablePart       = 'P' // P representative[20] member[20]      verdict[18]
	TableAssigned   = 'a' // a textID[16]                         representative[16]
	TableCluster    = 'c' // c representative[16] member[16]      against[16] verdict[18]
	TableKept       = 'k' // k outcome[16] textID[16]             representative[16]
	TableName       = 'n' // n digest[16] date[14] docID[16]      -
	TableBrowsed    = 'b' // b cluster[16]                        JSON, browsedCluster
	TableSize       = 'z' // z ^size[4] cluster[16]               -
	TableMember     = 'o' // o cluster[16] number[4]              docID[16] against[16] relation[1] scores[16]
	TableSURT       = 'y' // y SURT 00 date[14] docID[16]         -, or cluster[16] size[4]
	TableDate       = 'f' // f date[14] docID[16]                 likewise
	TableJudgement  = 'j' // j PairDigest[16] judge               JSON, audit.Judgement
	TableAudit      = 'u' // u a NAME                             JSON, audit.Audit
	//                       u i NAME 00 number[4]                JSON, audit.Item
	TableOutcome = 'O' // O PairDigest[16]                     JSON, JudgedOutcome
	TableFormer  = 'F' // F textID[16]                         representative[16], or nothing
)

// TableBounds are the first key of a table and the first key behind it.
func TableBounds(table byte) (lower, upper []byte) { return []byte{table}, []byte{table + 1} }

// PrefixBounds are the bounds of the keys that start with prefix.
func PrefixBounds(prefix []byte) (lower, upper []byte) {
	upper = bytes.Clone(prefix)
	for i := len(upper) - 1; i >= 0; i-- {
		upper[i]++
		if upper[i] != 0 {
			return prefix, upper[:i+1]
		}
	}
	return prefix, nil
}

func Key(table byte, parts ...[]byte) []byte {
	n := 1
	for _, p := range parts {
		n += len(p)
	}
	k := make([]byte, 1, n)
	k[0] = table
	for _, p := range parts {
		k = append(k, p...)
	}
	return k
}

func MetaKey(name string) []byte { return Key(tableMeta, []byte(name)) }

func SourceKey(path string) []byte { return Key(TableSource, []byte(path)) }

func TextKey(t rows.TextID) []byte { return Key(TableText, t[:]) }

func SignedKey(t rows.TextID) []byte { return Key(TableSigned, t[:]) }

func AssignedKey(t rows.TextID) []byte { return Key(TableAssigned, t[:]) }

func ClusterKey(rep, member rows.TextID) []byte { return Key(TableCluster, rep[:], member[:]) }

func FormerKey(t rows.TextID) []byte { return Key(TableFormer, t[:]) }

func DocumentKey(id extract.ID, file string, offset int64) []byte {
	return Key(TableDocument, id[:], appendPlace(nil, file, offset))
}

// ParseDocumentKey gives the parts of a document's key.
func ParseDocumentKey(k []byte) (id extract.ID, file string, offset int64, err error) {
	if len(k) < 1+16 {
		return id, "", 0, Corrupt(k)
	}
	file, offset, err = ParsePlace(k[1+16:])
	return extract.ID(k[1:17]), file, offset, err
}

// RevisitKey returns the key of a revisit record. Unlike DocumentKey it has the
// source's path: every revisit record has a row, so that all are accounted for.
func RevisitKey(id extract.ID, path, name string, offset int64) []byte {
	return Key(TableRevisit, id[:], binary.BigEndian.AppendUint64(nil, rows.Hash(path)), appendPlace(nil, name, offset))
}

// ParseRevisitKey gives the parts that a document's key has.
func ParseRevisitKey(k []byte) (id extract.ID, file string, offset int64, err error) {
	if len(k) < 1+16+8 {
		return id, "", 0, Corrupt(k)
	}
	file, offset, err = ParsePlace(k[1+16+8:])
	return extract.ID(k[1:17]), file, offset, err
}

// appendPlace appends the place of a record: the file's name and the offset.
func appendPlace(b []byte, file string, offset int64) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, file...), 0), uint64(offset))
}

func ParsePlace(b []byte) (file string, offset int64, err error) {
	if len(b) < 1+8 || b[len(b)-9] != 0 {
		return "", 0, Corrupt(b)
	}
	return string(b[:len(b)-9]), int64(binary.BigEndian.Uint64(b[len(b)-8:])), nil
}

func WantedKey(k extract.Key) []byte { return Key(TableWanted, k[:]) }

func OccurrenceKey(t rows.TextID, d extract.ID) []byte { return Key(TableOccurrence, t[:], d[:]) }

func ParseOccurrenceKey(k []byte) (t rows.TextID, d extract.ID, err error) {
	if len(k) != 1+32 {
		return t, d, Corrupt(k)
	}
	return rows.TextID(k[1:17]), extract.ID(k[17:]), nil
}

// The parts of a key of TableName. The date is in digits, zeros at its end.
const (
	NameDate = 14
	NameSize = 1 + 16 + NameDate + 16
)

func ParseNameKey(k []byte) (d extract.ID, err error) {
	if len(k) != NameSize {
		return d, Corrupt(k)
	}
	return extract.ID(k[1+16+NameDate:]), nil
}

func BrowsedKey(c rows.TextID) []byte { return Key(TableBrowsed, c[:]) }

// SizeKey returns the key of a cluster's size. Keys sort from the largest size
// down.
func SizeKey(size uint32, c rows.TextID) []byte {
	return Key(TableSize, binary.BigEndian.AppendUint32(nil, ^size), c[:])
}

func ParseSizeKey(k []byte) (c rows.TextID, err error) {
	if len(k) != 1+4+16 {
		return c, Corrupt(k)
	}
	return rows.TextID(k[5:]), nil
}

// MemberKey is that of a member of a cluster, by its number in the order of
// exports; that of the representative is 0.
func MemberKey(c rows.TextID, number uint32) []byte {
	return Key(TableMember, c[:], binary.BigEndian.AppendUint32(nil, number))
}

// BrowsedMember is a row of TableMember.
type BrowsedMember struct {
	Document, Against extract.ID
	rows.Score
}

const memberSize = 16 + 16 + ScoreSize

// Append appends the value of the row.
func (m BrowsedMember) Append(b []byte) []byte {
	return AppendScore(append(append(b, m.Document[:]...), m.Against[:]...), m.Score)
}

// BrowsedMember parses the row.
func (r Row) BrowsedMember() (m BrowsedMember, err error) {
	v, err := r.Value()
	if err != nil {
		return m, err
	}
	if len(v) != memberSize {
		return m, Corrupt(r.Key())
	}
	s, err := ParseScore(v[32:])
	return BrowsedMember{extract.ID(v[:16]), extract.ID(v[16:]), s}, err
}

// MaxSURT limits the bytes of a SURT in a key. The rest does not count.
const MaxSURT = 512

func SURTKey(surt, date string, d extract.ID) []byte {
	return Key(TableSURT, []byte(surt[:min(MaxSURT, len(surt))]), []byte{0}, []byte(date), d[:])
}

func DateKey(date string, d extract.ID) []byte { return Key(TableDate, []byte(date), d[:]) }

// BrowsedPage is a row of TableSURT or of TableDate.
type BrowsedPage struct {
	Surt, Date string // no SURT in rows by date
	Document   extract.ID
	Cluster    rows.TextID
	Size       uint32 // 0: in no cluster
}

// AppendPlaced appends the value of a page in a cluster.
func AppendPlaced(b []byte, c rows.TextID, size uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, c[:]...), size)
}

func (r Row) BrowsedPage() (p BrowsedPage, err error) {
	k := r.Key()
	at := len(k) - NameDate - 16
	v, err := r.Value()
	if err != nil {
		return p, err
	}
	if at < 1 || k[0] == TableSURT && (at < 2 || k[at-1] != 0) || len(v) != 0 && len(v) != 20 {
		return p, Corrupt(k)
	}
	p.Date, p.Document = string(k[at:at+NameDate]), extract.ID(k[at+NameDate:])
	if k[0] == TableSURT {
		p.Surt = string(k[1 : at-1])
	}
	if len(v) > 0 {
		p.Cluster, p.Size = rows.TextID(v[:16]), binary.BigEndian.Uint32(v[16:])
	}
	return p, nil
}

const occurrenceSize = 8 + 8 + 1

// OccurrenceValue is a value of TableOccurrence.
func OccurrenceValue(o rows.Occurrence) []byte {
	var b []byte
	b = binary.BigEndian.AppendUint64(b, o.Site)
	b = binary.BigEndian.AppendUint64(b, o.Address)
	if o.Navigation {
		return append(b, 1)
	}
	return append(b, 0)
}

func (r Row) Occurrence() (o rows.Occurrence, err error) {
	v, err := r.Value()
	if err != nil {
		return o, err
	}
	if len(v) != occurrenceSize || v[16] > 1 {
		return o, Corrupt(r.Key())
	}
	return rows.Occurrence{Site: binary.BigEndian.Uint64(v), Address: binary.BigEndian.Uint64(v[8:]), Navigation: v[16] == 1}, nil
}

const signedSize, signedFrameSize = 4, 4 + 4 + 4

// SignedValue is a value of TableSigned.
func SignedValue(s rows.Signed, frames bool) []byte {
	b := binary.BigEndian.AppendUint32(nil, s.Signatures)
	if frames {
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, s.Characters), s.LeftOut)
	}
	return b
}

func (r Row) Signed() (s rows.Signed, err error) {
	v, err := r.Value()
	if err != nil {
		return s, err
	}
	switch len(v) {
	case signedFrameSize:
		s.Characters, s.LeftOut = binary.BigEndian.Uint32(v[4:]), binary.BigEndian.Uint32(v[8:])
		fallthrough
	case signedSize:
		s.Signatures = binary.BigEndian.Uint32(v)
		return s, nil
	}
	return s, Corrupt(r.Key())
}

// CommonRunSize is the size of key and value of TableCommon and TableFrame.
const CommonRunSize = 1 + 8 + 4

// CommonKey is the key of a sentence of a site in TableCommon or TableFrame.
func CommonKey(table byte, sentence uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{table}, sentence)
}

// Common returns the parts of a row of TableCommon or TableFrame.
func (r Row) Common() (sentence uint64, pages uint32, err error) {
	v, err := r.Value()
	if err != nil {
		return 0, 0, err
	}
	if len(r.Key()) != 1+8 || len(v) != 4 {
		return 0, 0, Corrupt(r.Key())
	}
	return binary.BigEndian.Uint64(r.Key()[1:]), binary.BigEndian.Uint32(v), nil
}

// CommonRows returns the rows of a run whose keys have the values behind them.
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

const PostingSize = 1 + 16 + cluster.KeySize

// AppendPosting appends the key of a posting to b.
func AppendPosting(b []byte, s signature.Signature, k cluster.Key) []byte {
	return append(append(append(b, TablePosting), s[:]...), k[:]...)
}

func ParsePostingKey(k []byte) (p cluster.Posting, err error) {
	if len(k) != PostingSize {
		return p, Corrupt(k)
	}
	return cluster.Posting{Signature: signature.Signature(k[1:17]), Key: cluster.Key(k[17:])}, nil
}

// PairKey is the key of a row about two documents, the larger first.
func PairKey(table byte, a, b cluster.Key) []byte { return Key(table, a[:], b[:]) }

func ParsePairKey(k []byte) (a, b cluster.Key, err error) {
	if len(k) != 1+2*cluster.KeySize {
		return a, b, Corrupt(k)
	}
	return cluster.Key(k[1 : 1+cluster.KeySize]), cluster.Key(k[1+cluster.KeySize:]), nil
}

const EdgeSize = 1 + 2*cluster.KeySize

const ScoredSetSize = EdgeSize + 8

// ParseSetKey gives the parts of a key of TableSet; a score is 0 if the search
// gives none.
func ParseSetKey(k []byte) (set, member cluster.Key, score float64, err error) {
	if len(k) == ScoredSetSize {
		score = math.Float64frombits(binary.BigEndian.Uint64(k[EdgeSize:]))
		k = k[:EdgeSize]
	}
	set, member, err = ParsePairKey(k)
	return set, member, score, err
}

const PermutedSize = 1 + 2 + 8 + cluster.KeySize + 4

// ParsePermutedKey returns the parts of a key of TablePermuted: the key of
// package hamming, the largest key of the texts that have the signature, and how
// many these are.
func ParsePermutedKey(k []byte) (permuted []byte, largest cluster.Key, texts uint32, err error) {
	if len(k) != PermutedSize {
		return nil, largest, 0, Corrupt(k)
	}
	return k[1:11], cluster.Key(k[11:]), binary.BigEndian.Uint32(k[31:]), nil
}

// relations are the relations of stored scores. A row has the place of its
// relation here.
var relations = []report.Relation{"", report.Near, report.Contained, report.Contains, report.Judged,
	report.Representative, report.Identical, report.Linked}

const ScoreSize = 1 + 8 + 8

// AppendScore appends the value of a score.
func AppendScore(b []byte, s rows.Score) []byte {
	b = append(b, byte(slices.Index(relations, s.Relation)))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Resemblance))
	return binary.BigEndian.AppendUint64(b, math.Float64bits(s.Containment))
}

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

var ErrCorrupt = errors.New("the workspace's database is damaged")

func Corrupt(row []byte) error { return fmt.Errorf("%w: row %.40x", ErrCorrupt, row) }
