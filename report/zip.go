package report

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A ZIP file ends with a directory of its entries and a record with the place of
// the directory (APPNOTE 6.3.10, sections 4.3.12 to 4.3.16). Writing a new
// directory after further entries leaves the old entries as they are. archive/zip
// can append entries in this way, but its directory would not list the old ones.

const (
	maxZipDirectory = 64 << 20 // bytes of a directory, which is held in memory

	zipRecordSize  = 46
	zipEndSize     = 22
	zip64EndSize   = 56
	zip64FinderLen = 20
)

var (
	zipRecordMark   = []byte("PK\x01\x02")
	zipEndMark      = []byte("PK\x05\x06")
	zip64EndMark    = []byte("PK\x06\x06")
	zip64FindMark   = []byte("PK\x06\x07")
	errNoZip        = errors.New("it is no zip file")
	errDirectory    = errors.New("the zip file's directory is damaged")
	errZipInFront   = errors.New("the zip file has bytes in front of its entries; zip -A mends that")
	errBigDirectory = fmt.Errorf("the zip file's directory is over %d MiB", maxZipDirectory>>20)
)

// zipDirectory is the directory of a zip file.
type zipDirectory struct {
	records []zipRecord
	at      int64 // its offset
	comment []byte
}

// zipRecord is an entry of the directory.
type zipRecord struct {
	raw   []byte
	name  string
	local int64 // offset of the entry
}

// readZipDirectory reads the directory of a ZIP file of size bytes.
func readZipDirectory(f io.ReaderAt, size int64) (*zipDirectory, error) {
	tail := make([]byte, min(size, zipEndSize+math.MaxUint16))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, err
	}
	at := len(tail)
	for {
		if at = bytes.LastIndex(tail[:at], zipEndMark); at < 0 {
			return nil, errNoZip
		}
		if at+zipEndSize <= len(tail) && at+zipEndSize+int(binary.LittleEndian.Uint16(tail[at+20:])) == len(tail) {
			break // its comment ends with the file
		}
	}
	end := tail[at:]
	d := &zipDirectory{comment: bytes.Clone(end[zipEndSize:])}
	endsAt := size - int64(len(end))
	entries := uint64(binary.LittleEndian.Uint16(end[10:]))
	length, offset := uint64(binary.LittleEndian.Uint32(end[12:])), uint64(binary.LittleEndian.Uint32(end[16:]))
	if entries == math.MaxUint16 || length == math.MaxUint32 || offset == math.MaxUint32 {
		end64, where, found, err := zip64End(f, endsAt)
		if err != nil {
			return nil, err
		}
		if found {
			endsAt = where
			entries, length, offset = binary.LittleEndian.Uint64(end64[32:]), binary.LittleEndian.Uint64(end64[40:]), binary.LittleEndian.Uint64(end64[48:])
		}
	}
	switch {
	case length > maxZipDirectory:
		return nil, errBigDirectory
	case offset > uint64(size) || offset+length > uint64(endsAt):
		return nil, errDirectory
	case offset+length != uint64(endsAt):
		return nil, errZipInFront
	}
	d.at = int64(offset)
	b := make([]byte, length)
	if _, err := f.ReadAt(b, d.at); err != nil && err != io.EOF {
		return nil, err
	}
	for len(b) > 0 {
		r, err := parseZipRecord(b)
		if err != nil {
			return nil, err
		}
		if r.local >= d.at {
			return nil, errDirectory
		}
		d.records = append(d.records, r)
		b = b[len(r.raw):]
	}
	if uint64(len(d.records)) != entries {
		return nil, errDirectory
	}
	return d, nil
}

// zip64End returns the end of a large directory. A locator before the end of the
// file gives its offset.
func zip64End(f io.ReaderAt, finderEnds int64) (end []byte, at int64, found bool, err error) {
	finder := make([]byte, zip64FinderLen)
	if finderEnds < zip64FinderLen {
		return nil, 0, false, nil
	}
	if _, err := f.ReadAt(finder, finderEnds-zip64FinderLen); err != nil {
		return nil, 0, false, err
	}
	if !bytes.HasPrefix(finder, zip64FindMark) {
		return nil, 0, false, nil
	}
	where := binary.LittleEndian.Uint64(finder[8:])
	end = make([]byte, zip64EndSize)
	if where > uint64(finderEnds) {
		return nil, 0, false, errDirectory
	}
	if _, err := f.ReadAt(end, int64(where)); err != nil || !bytes.HasPrefix(end, zip64EndMark) {
		return nil, 0, false, errors.Join(errDirectory, err)
	}
	return end, int64(where), true, nil
}

// parseZipRecord parses the record that b starts with.
func parseZipRecord(b []byte) (r zipRecord, err error) {
	if len(b) < zipRecordSize || !bytes.HasPrefix(b, zipRecordMark) {
		return r, errDirectory
	}
	name, extra, comment := int(binary.LittleEndian.Uint16(b[28:])), int(binary.LittleEndian.Uint16(b[30:])), int(binary.LittleEndian.Uint16(b[32:]))
	n := zipRecordSize + name + extra + comment
	if len(b) < n {
		return r, errDirectory
	}
	r = zipRecord{raw: b[:n], name: string(b[zipRecordSize : zipRecordSize+name]), local: int64(binary.LittleEndian.Uint32(b[42:]))}
	if r.local == math.MaxUint32 {
		r.local, err = zip64Offset(b, b[zipRecordSize+name:zipRecordSize+name+extra])
	}
	return r, err
}

// zip64Offset returns the offset from the extra field of a record that has no room
// for it. The sizes that have no room come before it.
func zip64Offset(record, extra []byte) (int64, error) {
	skip := 0
	for _, at := range []int{24, 20} {
		if binary.LittleEndian.Uint32(record[at:]) == math.MaxUint32 {
			skip += 8
		}
	}
	for len(extra) >= 4 {
		tag, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			break
		}
		if tag == 1 && n >= skip+8 {
			if at := binary.LittleEndian.Uint64(extra[skip:]); at <= math.MaxInt64 {
				return int64(at), nil
			}
			break
		}
		extra = extra[n:]
	}
	return 0, errDirectory
}

// without removes entries from the directory, and returns where the remaining
// entries end in the file. Removed entries after that need not be copied.
func (d *zipDirectory) without(names ...string) (cut int64) {
	last := int64(-1) // the last entry that stays
	for _, r := range d.records {
		if !slices.Contains(names, r.name) {
			last = max(last, r.local)
		}
	}
	cut = d.at
	d.records = slices.DeleteFunc(d.records, func(r zipRecord) bool {
		if !slices.Contains(names, r.name) {
			return false
		}
		if r.local > last {
			cut = min(cut, r.local)
		}
		return true
	})
	return cut
}

// zipRecords returns the records at the start of a directory.
func zipRecords(b []byte) (records []byte, n int, err error) {
	rest := b
	for ; bytes.HasPrefix(rest, zipRecordMark); n++ {
		r, err := parseZipRecord(rest)
		if err != nil {
			return nil, 0, err
		}
		rest = rest[len(r.raw):]
	}
	return b[:len(b)-len(rest)], n, nil
}

// end returns the directory with n more records, for writing at an offset, and the
// end of the file.
func (d *zipDirectory) end(at int64, more []byte, n int) []byte {
	var b []byte
	for _, r := range d.records {
		b = append(b, r.raw...)
	}
	b = append(b, more...)
	length, entries := uint64(len(b)), uint64(len(d.records)+n)
	le := binary.LittleEndian
	if entries >= math.MaxUint16 || length >= math.MaxUint32 || at >= math.MaxUint32 {
		end64 := at + int64(length)
		b = append(b, zip64EndMark...)
		b = le.AppendUint64(b, zip64EndSize-12) // size of the rest of the record
		b = le.AppendUint32(b, 45<<16|45)       // version made by, and version needed: 4.5
		b = le.AppendUint64(b, 0)               // disks
		b = le.AppendUint64(le.AppendUint64(b, entries), entries)
		b = le.AppendUint64(le.AppendUint64(b, length), uint64(at))
		b = append(b, zip64FindMark...)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint64(b, uint64(end64))
		b = le.AppendUint32(b, 1)
	}
	count := uint16(min(entries, math.MaxUint16))
	b = append(b, zipEndMark...)
	b = le.AppendUint32(b, 0) // disks
	b = le.AppendUint16(le.AppendUint16(b, count), count)
	b = le.AppendUint32(b, uint32(min(length, math.MaxUint32)))
	b = le.AppendUint32(b, uint32(min(uint64(at), math.MaxUint32)))
	b = le.AppendUint16(b, uint16(len(d.comment)))
	return append(b, d.comment...)
}
