package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"neardup/cluster"
	"neardup/extract"
	"neardup/extract/page"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
	"neardup/signature"
)

// This file and score.go spell every key and binary value of the store. docs/workspace.md
// describes them byte by byte. The first byte of a key names its table.
const (
	tableMeta       = 'm' // m NAME                               JSON
	TableSource     = 'i' // i PATH                               JSON, Source
	TableDocument   = 'd' // d docID[16] FILE 00 offset[8]        JSON, Document
	TableText       = 't' // t textID[16]                         UTF-8
	TableAround     = 'A' // A docID[16] FILE 00 offset[8]        lines (uvarint) marks around
	TableUnits      = 'U' // U textID[16]                         lengths (3 uvarint) unit[8]... columns, plainOf (uvarint)...
	TableUnitsRound = 'Q' // Q docID[16]                          siteHash[8] addressHash[8] unit[8]...
	TableOccurrence = 'x' // x textID[16] docID[16]               siteHash[8] addressHash[8] kind[1]
	TableRevisit    = 'r' // r docID[16] path[8] FILE 00 offset[8]  JSON, rows.Revisit
	TableWanted     = 'w' // no longer written: what revisits referred by
	TableFrame      = 'l' // l siteAndSentence[8]                 pages[4]
	TableCommon     = 'C' // C siteAndSentence[8]                 pages[4]
	TableTerm       = 'T' // T term[8]                            count[4], terms.Count
	TableSigned     = 'g' // g textID[16]                         signatures[4] characters[4] left[4] framed
	TablePosting    = 's' // s signature[16] key[20]              -
	TableSearch     = 'e' // e row of the search                  -
	TableFormerRows = 'q' // no longer written: rows of the search hamming before they were in 'e'
	TableSet        = 'p' // p set[20] member[20], with a search that scores score[8]  -
	TableVerdict    = 'v' // v leader[20] member[20]              verdict[18]
	TableChecked    = 'V' // V key[20] key[20], the larger first     verdict[18], of no relation where the pair is not near
	TableSetResult  = 'S' // S set[20]                            digest[16] quick[16] size (uvarint) JSON, links
	TablePartResult = 'R' // R key[20]                            likewise
	TablePart       = 'P' // P representative[20] member[20]      verdict[18]
	TableAssigned   = 'a' // a textID[16]                         representative[16]
	TableCluster    = 'c' // c representative[16] member[16]      against[16] verdict[18]
	TableContained  = 'h' // h group[16] host[16] textID[16]      own cluster[16] verdict[17]
	TableHost       = 'H' // H textID[16]                         group[16] host[16] verdict[17]
	TableKept       = 'k' // k outcome[16] textID[16]             representative[16]
	TableName       = 'n' // n digest[16] date[14] docID[16]      -
	TableBrowsed    = 'b' // b cluster[16]                        JSON, browsedCluster
	TableSize       = 'z' // z ^size[4] cluster[16]               -
	TableMember     = 'o' // o cluster[16] number[4]              docID[16] against[16] relation[1] scores[16]
	TableSURT       = 'y' // y SURT 00 date[14] docID[16]         -, or cluster[16] size[4]
	TableHeld       = 'K' // K number[8]                          JSON, browsedContained
	TableDate       = 'f' // f date[14] docID[16]                 likewise
	TableJudgement  = 'j' // j PairDigest[16] judge               JSON, audit.Judgement
	TableAudit      = 'u' // u a NAME                             JSON, audit.Audit
	//                       u i NAME 00 number[4]                JSON, audit.Item
	TableWithdrawn = 'W' // W name[16]                            JSON, Withdrawal
	TableOutcome   = 'O' // O PairDigest[16]                     JSON, JudgedOutcome
	TableFormer    = 'F' // F textID[16]                         representative[16], or nothing
)

// TableBounds returns the bounds of a table's keys: its first key, and the first
// key behind it.
func TableBounds(table byte) (lower, upper []byte) { return []byte{table}, []byte{table + 1} }

// PrefixBounds returns the bounds of the keys that start with prefix.
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

func key(table byte, parts ...[]byte) []byte {
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

// MetaKey returns the key of a named row about the database or a stage.
func MetaKey(name string) []byte { return key(tableMeta, []byte(name)) }

func SourceKey(path string) []byte { return key(TableSource, []byte(path)) }

func TextKey(t rows.TextID) []byte { return key(TableText, t[:]) }

func SignedKey(t rows.TextID) []byte { return key(TableSigned, t[:]) }

func AssignedKey(t rows.TextID) []byte { return key(TableAssigned, t[:]) }

func ClusterKey(rep, member rows.TextID) []byte { return key(TableCluster, rep[:], member[:]) }

// HeldKey returns the key of the n-th contained page in the index for browsing.
func HeldKey(n uint64) []byte { return binary.BigEndian.AppendUint64(key(TableHeld), n) }

// ContainedKey returns the key of a contained text with its group and host.
func ContainedKey(group, host, t rows.TextID) []byte {
	return key(TableContained, group[:], host[:], t[:])
}

// ContainedValue returns a value of TableContained.
func ContainedValue(c rows.Contained) []byte { return AppendScore(c.Cluster[:], c.Score) }

// Contained parses a row of TableContained.
func (r Row) Contained() (c rows.Contained, err error) {
	k := r.Key()
	v, err := r.Value()
	if err != nil {
		return c, err
	}
	if len(k) != 1+3*16 || len(v) != 16+ScoreSize {
		return c, Corrupt(k)
	}
	c.Group, c.Host, c.Text, c.Cluster = rows.TextID(k[1:]), rows.TextID(k[17:]), rows.TextID(k[33:]), rows.TextID(v)
	c.Score, err = ParseScore(v[16:])
	return c, err
}

func HostKey(t rows.TextID) []byte { return key(TableHost, t[:]) }

// HostValue returns a value of TableHost.
func HostValue(c rows.Contained) []byte {
	return AppendScore(append(c.Group[:], c.Host[:]...), c.Score)
}

// HostOf parses a row of TableHost. The row does not have the cluster of the text.
func (r Row) HostOf() (c rows.Contained, err error) {
	k := r.Key()
	v, err := r.Value()
	if err != nil {
		return c, err
	}
	if len(k) != 1+16 || len(v) != 2*16+ScoreSize {
		return c, Corrupt(k)
	}
	c.Text, c.Group, c.Host = rows.TextID(k[1:]), rows.TextID(v), rows.TextID(v[16:])
	c.Score, err = ParseScore(v[32:])
	return c, err
}

func FormerKey(t rows.TextID) []byte { return key(TableFormer, t[:]) }

// DocumentKey returns the key of a document: its ID, and the file and offset of its record.
func DocumentKey(id extract.ID, file string, offset int64) []byte {
	return key(TableDocument, id[:], appendPlace(nil, file, offset))
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

// ParseDocumentKey returns the parts of a document's key.
func ParseDocumentKey(k []byte) (id extract.ID, file string, offset int64, err error) {
	if len(k) < 1+16 {
		return id, "", 0, Corrupt(k)
	}
	file, offset, err = ParsePlace(k[1+16:])
	return extract.ID(k[1:17]), file, offset, err
}

// RevisitKey returns the key of a revisit record. Unlike DocumentKey it includes
// the source's path: every revisit record has its own row, so that all are
// accounted for.
func RevisitKey(id extract.ID, path, name string, offset int64) []byte {
	return key(TableRevisit, id[:], binary.BigEndian.AppendUint64(nil, rows.Hash(path)), appendPlace(nil, name, offset))
}

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

func OccurrenceKey(t rows.TextID, d extract.ID) []byte { return key(TableOccurrence, t[:], d[:]) }

// ParseOccurrenceKey returns the parts of a key of TableOccurrence.
func ParseOccurrenceKey(k []byte) (t rows.TextID, d extract.ID, err error) {
	if len(k) != 1+32 {
		return t, d, Corrupt(k)
	}
	return rows.TextID(k[1:17]), extract.ID(k[17:]), nil
}

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

func BrowsedKey(c rows.TextID) []byte { return key(TableBrowsed, c[:]) }

// SizeKey returns the key of a cluster's size. Keys sort from the largest size
// down.
func SizeKey(size uint32, c rows.TextID) []byte {
	return key(TableSize, binary.BigEndian.AppendUint32(nil, ^size), c[:])
}

// ParseSizeKey returns the cluster in a key of TableSize.
func ParseSizeKey(k []byte) (c rows.TextID, err error) {
	if len(k) != 1+4+16 {
		return c, Corrupt(k)
	}
	return rows.TextID(k[5:]), nil
}

// MemberKey returns the key of a member of a cluster, by its number in the order of
// exports. The representative has number 0.
func MemberKey(c rows.TextID, number uint32) []byte {
	return key(TableMember, c[:], binary.BigEndian.AppendUint32(nil, number))
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

// MaxSURT limits the length of a SURT in a key, in bytes. Longer ones are cut.
const MaxSURT = 512

// SURTKey returns the key of a page by SURT and date.
func SURTKey(surt, date string, d extract.ID) []byte {
	return key(TableSURT, []byte(surt[:min(MaxSURT, len(surt))]), []byte{0}, []byte(date), d[:])
}

func DateKey(date string, d extract.ID) []byte { return key(TableDate, []byte(date), d[:]) }

// BrowsedPage is a row of TableSURT or of TableDate.
type BrowsedPage struct {
	Surt, Date string // Surt is empty in rows by date
	Document   extract.ID
	Cluster    rows.TextID
	Size       uint32 // of the cluster; 0: the page is in none
}

// AppendPlaced appends the value of a row about a page in a cluster.
func AppendPlaced(b []byte, c rows.TextID, size uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, c[:]...), size)
}

// BrowsedPage parses a row of TableSURT or TableDate.
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

const occurrenceSize = 8 + 8 + 8 + 1

// OccurrenceValue returns a value of TableOccurrence.
func OccurrenceValue(o rows.Occurrence) []byte {
	var b []byte
	b = binary.BigEndian.AppendUint64(b, o.Site)
	b = binary.BigEndian.AppendUint64(b, o.Address)
	b = binary.BigEndian.AppendUint64(b, o.Title)
	if o.Navigation {
		return append(b, 1)
	}
	return append(b, 0)
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
	if len(v) != occurrenceSize || v[24] > 1 {
		return o, Corrupt(key)
	}
	return rows.Occurrence{Site: binary.BigEndian.Uint64(v), Address: binary.BigEndian.Uint64(v[8:]),
		Title: binary.BigEndian.Uint64(v[16:]), Navigation: v[24] == 1}, nil
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

func UnitsRoundKey(d extract.ID) []byte { return key(TableUnitsRound, d[:]) }

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
	if len(key) != 16 || len(v) < 16 || len(v)%8 != 0 {
		return 0, 0, nil, Corrupt(key)
	}
	return binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:]), parseUnits(to[:0], v[16:]), nil
}

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

// commonRunSize is the length of key and value of TableCommon, TableFrame and
// TableTerm, in bytes.
const commonRunSize = 1 + 8 + 4

// commonKey returns the key of a sentence of a site in TableCommon or TableFrame.
func commonKey(table byte, sentence uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{table}, sentence)
}

// Common parses a row of TableCommon, TableFrame or TableTerm.
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

// PairKey returns the key of a row about two texts. The larger key comes first.
func PairKey(table byte, a, b cluster.Key) []byte { return key(table, a[:], b[:]) }

func parsePairKey(k []byte) (a, b cluster.Key, err error) {
	if len(k) != 1+2*cluster.KeySize {
		return a, b, Corrupt(k)
	}
	return cluster.Key(k[1 : 1+cluster.KeySize]), cluster.Key(k[1+cluster.KeySize:]), nil
}

// The lengths of keys of TableSet.
const (
	setSize       = 1 + 2*cluster.KeySize
	scoredSetSize = setSize + 8
)

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

var ErrCorrupt = errors.New("the workspace's database is damaged")

// Corrupt returns the error for a row that cannot be parsed. It wraps ErrCorrupt.
func Corrupt(row []byte) error { return fmt.Errorf("%w: row %.40x", ErrCorrupt, row) }
