package layout

import (
	"encoding/binary"

	"neardup/extract"
	"neardup/pipeline/rows"
)

func BrowsedKey(c rows.TextID) []byte { return key(TableBrowsed, c[:]) }

// SizeKey returns the key of a cluster's size. Keys sort from the largest size
// down.
func SizeKey(size uint32, c rows.TextID) []byte {
	return key(TableSize, binary.BigEndian.AppendUint32(nil, ^size), c[:])
}

// SizesOf returns the prefix of the clusters of a size.
func SizesOf(size uint32) []byte {
	return key(TableSize, binary.BigEndian.AppendUint32(nil, ^size))
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

// BrowsedMembersOf returns the prefix of the members of a cluster in the index for
// browsing.
func BrowsedMembersOf(c rows.TextID) []byte { return key(TableMember, c[:]) }

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

// SURTsOf returns the prefix of the pages whose SURT starts with prefix.
func SURTsOf(prefix string) []byte {
	return key(TableSURT, []byte(prefix[:min(MaxSURT, len(prefix))]))
}

func DateKey(date string, d extract.ID) []byte { return key(TableDate, []byte(date), d[:]) }

// DatesOf returns the prefix of the pages of a date, which may be cut short.
func DatesOf(date string) []byte { return key(TableDate, []byte(date)) }

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

// HeldKey returns the key of the n-th contained page in the index for browsing.
func HeldKey(n uint64) []byte { return binary.BigEndian.AppendUint64(key(TableHeld), n) }
