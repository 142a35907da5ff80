// Package layout spells the keys and values of the rows of a workspace. It knows no
// database: package store keeps the rows, and whoever exchanges them as files needs
// only this package.
package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
)

// The tables. The first byte of a key names its table; docs/workspace.md describes keys
// and values byte by byte.
const (
	tableMeta       = 'm' // m NAME                               JSON
	TableSource     = 'i' // i PATH                               JSON, Source
	TableDocument   = 'd' // d docID[16] FILE 00 offset[8]        JSON, Document
	TableText       = 't' // t textID[16]                         UTF-8
	TableAround     = 'A' // A docID[16] FILE 00 offset[8]        lines (uvarint) marks around
	TableUnits      = 'U' // U textID[16]                         lengths (3 uvarint) unit[8]... columns, plainOf (uvarint)...
	TableUnitsRound = 'Q' // Q docID[16] FILE 00 offset[8]        siteHash[8] addressHash[8] unit[8]...
	TableOccurrence = 'x' // x textID[16] docID[16]               siteHash[8] addressHash[8] titleHash[8] navigation[1] word of the title[4]...
	TableRevisit    = 'r' // r docID[16] path[8] FILE 00 offset[8]  JSON, rows.Revisit
	TableWanted     = 'w' // no longer written: what revisits referred by
	TableFrame      = 'l' // l siteAndSentence[8]                 pages[4]
	TableCommon     = 'C' // C siteAndSentence[8]                 pages[4]
	TableCounted    = 'N' // N textID[16]                         documents (uvarint) hash[8]... (siteHash[8] addressHash[8])...
	TableTouched    = 'M' // M textID[16]                         (siteHash[8] addressHash[8] fresh[1])...
	TableTerm       = 'T' // T term[8]                            count[4], terms.Count
	TableSigned     = 'g' // g textID[16]                         signatures[4] characters[4] left[4] framed
	TablePosting    = 's' // s signature[16] key[20]              -
	TableSearch     = 'e' // e row of the search                  lists (uvarint), or -
	TableLong       = 'Y' // Y signature[16]                      postings (uvarint) concentrated[1]
	TableChanged    = 'X' // X signature[16] key[20] removed[1]   -
	TableFilter     = 'L' // L part[1] number[4]                  signatures that may be added[8] word[8]...
	TableFormerRows = 'q' // no longer written: rows of the search hamming before they were in 'e'
	TableSet        = 'p' // p set[20] member[20], with a search that scores score[8]  -
	TableVerdict    = 'v' // v leader[20] member[20]              verdict[18]
	TableChecked    = 'V' // V key[20] key[20], the larger first     verdict[18], of no relation where the pair is not near
	TableSetResult  = 'S' // S set[20]                            states of the texts, counts, decisions
	TablePartResult = 'R' // R key[20]                            likewise, links
	TableState      = 'D' // D textID[16]                         fixed[8] weights[8]
	TablePart       = 'P' // P representative[20] member[20]      verdict[18]
	TableAssigned   = 'a' // a textID[16]                         representative[16]
	TableCluster    = 'c' // c representative[16] member[16]      against[16] verdict[18]
	TableContained  = 'h' // h group[16] host[16] textID[16]      own cluster[16] verdict[17]
	TableHost       = 'H' // H textID[16]                         group[16] host[16] verdict[17]
	TableExported   = 'E' // E group[16]                          bytes in each export (3 uvarint) size (uvarint) bytes (uvarint) counts (14 uvarint)
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
	TableWithdrawn  = 'W' // W name[16]                            JSON, Withdrawal
	TablePreference = 'I' // I number[4]                          JSON, workspace.Preference
	TablePreferred  = 'G' // G number[4] uriDigest[16]            score[4]
	//                       G number[4] place[4]                 host
	TableFileScore = 'J' // J uriDigest[16]                     score[4]
	TableOutcome   = 'O' // O PairDigest[16]                     JSON, JudgedOutcome
	TableFormer    = 'F' // F textID[16]                         representative[16], or nothing
)

// RowID is the table of a row and the first 16 bytes of its key behind that, such as a
// text.
type RowID [1 + 16]byte

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

var ErrCorrupt = errors.New("the workspace's database is damaged")

// Corrupt returns the error for a row that cannot be parsed. It wraps ErrCorrupt.
func Corrupt(row []byte) error { return fmt.Errorf("%w: row %.40x", ErrCorrupt, row) }

// Iterator stands on a row of a database.
type Iterator interface {
	Key() []byte
	ValueAndErr() ([]byte, error)
}

// Row is the row that an iterator stands on. It is valid until the iterator's next
// step. Its methods parse it, so that no reader knows the bytes.
type Row struct{ it Iterator }

// RowOf returns the row that an iterator stands on.
func RowOf(it Iterator) Row { return Row{it} }

// RowOfEntry returns the row of a table whose key, without the table's letter, and
// value are those of an entry.
func RowOfEntry(table byte, e extsort.Entry) Row { return Row{entry{key(table, e.Key), e.Value}} }

// entry implements Iterator.
type entry struct{ key, value []byte }

func (e entry) Key() []byte                  { return e.key }
func (e entry) ValueAndErr() ([]byte, error) { return e.value, nil }

func (r Row) Key() []byte { return r.it.Key() }

func (r Row) Value() ([]byte, error) { return r.it.ValueAndErr() }

// JSON decodes the value into v. An error wraps ErrCorrupt.
func (r Row) JSON(v any) error {
	b, err := r.Value()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w (%w)", Corrupt(r.Key()), err)
	}
	return nil
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

// Position returns the position of a row in its table, for BehindPosition.
func Position(key []byte) []byte { return key[1:] }

// BehindPosition returns the first key behind a position. in is any key of the
// table.
func BehindPosition(in, position []byte) []byte { return append(key(in[0], position), 0) }

func behind(table byte, after []byte) (lower, upper []byte) {
	lower, upper = TableBounds(table)
	if after != nil {
		_, lower = PrefixBounds(key(table, after))
	}
	return lower, upper
}
