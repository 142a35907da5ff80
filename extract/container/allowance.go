package container

import "archive/zip"

// A small file can hold thousands of pages that are each decoded to as much as is
// kept of a page. So all records of a file together may be decoded to max_decoded_bytes
// and max_inflation times the bytes of the file up to the record. What a record has of
// that depends on the file and its place alone, not on where reading began.

// Part says how a file is stored in a WACZ file. The zero Part is a file of its own.
type Part struct {
	Members int   // archives in the WACZ file, which share max_decoded_bytes
	Stored  int64 // bytes that a deflated archive takes there; 0: it is not deflated
	Size    int64 // its bytes when inflated
}

// Part returns how the member is stored, with its archive's share of members.
func (m *Member) Part(members int) Part {
	p := Part{Members: members}
	if m.file.Method != zip.Store {
		p.Stored, p.Size = zipSize(m.file.CompressedSize64), m.Size
	}
	return p
}

// IsPart tells the reader that its file is a part of another.
func (r *Reader) IsPart(p Part) { r.part = p }

// mark is a place in decompressed bytes, as Reader.off counts them, with the offset in
// the file at which decompression stood. Marks are the starts of members and each MiB
// of a member, where decompression stands at the same offset however much is read at
// a time.
type mark struct{ at, offset int64 }

// marked adds a mark after n more decompressed bytes, and drops those that are no
// longer needed.
func (r *Reader) marked(n int, offset int64) {
	first := 0
	for first+1 < len(r.marks) && r.marks[first+1].at < r.off {
		first++
	}
	r.marks = append(r.marks[:copy(r.marks, r.marks[first:])], mark{r.off + int64(len(r.buf)-r.r+n), offset})
}

// storedBefore returns the offset of the last mark before a place.
func (r *Reader) storedBefore(at int64) (offset int64) {
	for _, m := range r.marks {
		if m.at >= at {
			break
		}
		offset = m.offset
	}
	return offset
}

// account sets what a record that ends at r.off was inflated to, and what it is
// allowed.
func (r *Reader) account(raw *Raw) {
	stored := r.off
	if r.codec != nil {
		raw.Inflated = int64(len(raw.Header) + len(raw.Block))
		stored = r.storedBefore(r.off)
	}
	r.allow(raw, stored)
}

// allow sets what a record is allowed that ends behind so many bytes of its file.
func (r *Reader) allow(raw *Raw, stored int64) {
	if r.part.Stored > 0 && r.part.Size > 0 {
		stored = int64(float64(min(stored, r.part.Size)) / float64(r.part.Size) * float64(r.part.Stored))
	}
	times := max(1, r.limits.MaxInflation)
	raw.Allowed = r.limits.MaxDecodedBytes/int64(max(1, r.part.Members)) + min(stored, maxZipSize/times)*times
}
