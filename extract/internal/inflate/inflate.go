// Package inflate decompresses the members of gzip files (RFC 1951, RFC 1952). It
// reads what github.com/klauspost/compress reads, and as much of a member that is
// damaged or cut off, in less time: it takes many bits at a time, looks up most codes
// in one step, and looks for the end of input and room once in many symbols. In one
// case it reads less: a block whose code is empty is corrupt, where the library takes
// what other codes left in its tables.
package inflate

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

const (
	history  = 32 << 10 // bytes that a copy may go back
	chunk    = 64 << 10 // bytes that are decompressed at a time
	longest  = 258      // bytes of the longest copy
	slack    = 16       // bytes that a copy may write too much, and that are read ahead
	wholeEnd = 8        // bytes after the data: checksum and length
)

// Reader reads one member at a time. Where it stops in its source depends on the
// member alone, not on how much is read at a time.
type Reader struct {
	src    *bufio.Reader
	header *gzip.Reader

	in   []byte // what src has buffered
	pos  int    // bytes of in that are in bits
	bits uint64 // the next bits, and above the first n of them what may follow
	n    uint
	read error // why src has no more than in

	out    [history + chunk + longest + slack]byte
	at, w  int // out[at:w] is to be taken
	crc    uint32
	size   uint32 // of the data, modulo 2^32
	passed int64  // bytes of src that were read, for messages

	final  bool // the block is the last one
	stored int  // bytes left of a stored block
	coded  bool // in a block with codes
	err    error

	lit, dist       *table // of the block
	least           uint   // bits that must follow, since a block ends with a code, and another one follows
	ownLit, ownDist table
	lengths         [maxLit + maxDist]uint8
}

// Reset starts the member at src's position. It returns the errors that a
// gzip.Reader does.
func (r *Reader) Reset(src *bufio.Reader) (err error) {
	if r.header == nil {
		r.header, err = gzip.NewReader(src)
	} else {
		err = r.header.Reset(src)
	}
	r.src, r.in, r.pos, r.bits, r.n, r.read = src, nil, 0, 0, 0, nil
	r.at, r.w, r.crc, r.size, r.passed = 0, 0, 0, 0, 0
	r.final, r.stored, r.coded, r.err = false, 0, false, err
	return err
}

// Read reads the data. At the end of the member it returns io.EOF.
func (r *Reader) Read(p []byte) (int, error) {
	for r.at == r.w && r.err == nil {
		r.inflate()
	}
	n := copy(p, r.out[r.at:r.w])
	if r.at += n; r.at == r.w {
		return n, r.err
	}
	return n, nil
}

// inflate decompresses up to about a chunk.
func (r *Reader) inflate() {
	if r.w > history {
		copy(r.out[:], r.out[r.w-history:r.w])
		r.w = history
	}
	r.at = r.w
	r.err = r.blocks(r.at + chunk)
	r.crc = crc32.Update(r.crc, crc32.IEEETable, r.out[r.at:r.w])
	r.size += uint32(r.w - r.at)
	r.unread()
	if r.err == io.EOF {
		r.err = r.end()
	}
}

// blocks decompresses blocks until there are limit bytes in out. It returns io.EOF
// at the end of the last block.
func (r *Reader) blocks(limit int) (err error) {
	for err == nil && r.w < limit {
		switch {
		case r.coded:
			err = r.codes(limit)
		case r.stored > 0:
			err = r.copyStored(limit)
		case r.final:
			return io.EOF
		default:
			err = r.block()
		}
	}
	return err
}

// end reads what follows the data.
func (r *Reader) end() error {
	b, err := r.src.Peek(wholeEnd)
	if err != nil {
		_, _ = r.src.Discard(len(b))
		return unexpected(err)
	}
	crc, size := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	_, _ = r.src.Discard(wholeEnd)
	if crc != r.crc || size != r.size {
		return gzip.ErrChecksum
	}
	return io.EOF
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// unread gives whole bytes that are in bits back to the source.
func (r *Reader) unread() {
	r.pos -= int(r.n >> 3)
	r.n &= 7
	r.bits &= 1<<r.n - 1
	_, _ = r.src.Discard(r.pos)
	r.passed += int64(r.pos)
	r.in, r.pos = nil, 0
}

// refill makes at least 56 bits available, or all that are left. It reports whether
// at least want are.
func (r *Reader) refill(want uint) bool {
	if r.n >= want {
		return true
	}
	if len(r.in)-r.pos < slack {
		r.unread()
		_, r.read = r.src.Peek(4 * slack) // reads on; fewer are left only at the end
		r.in, _ = r.src.Peek(r.src.Buffered())
	}
	r.bits &= 1<<r.n - 1
	for r.n <= 55 && r.pos < len(r.in) {
		r.bits |= uint64(r.in[r.pos]) << r.n
		r.pos++
		r.n += 8
	}
	return r.n >= want
}

// take takes n bits, at most 32. ok is false if the source ends before.
func (r *Reader) take(n uint) (v uint, ok bool) {
	if !r.refill(n) {
		return 0, false
	}
	v = uint(r.bits) & (1<<n - 1)
	r.skip(n)
	return v, true
}

func (r *Reader) skip(n uint) {
	r.bits >>= n
	r.n -= n
}

// ended returns the error of a source that ends inside of the data.
func (r *Reader) ended() error {
	if r.read == nil {
		return io.ErrUnexpectedEOF
	}
	return unexpected(r.read)
}

func (r *Reader) corrupt() error {
	return flate.CorruptInputError(r.passed + int64(r.pos) - int64(r.n>>3))
}

// block reads the header of a block.
func (r *Reader) block() error {
	head, ok := r.take(3)
	if !ok {
		return r.ended()
	}
	r.final = head&1 != 0
	switch head >> 1 {
	case 0:
		r.skip(r.n & 7)
		length, ok := r.take(32)
		if !ok {
			return r.ended()
		}
		if length&0xffff != ^length>>16&0xffff {
			return r.corrupt()
		}
		r.stored = int(length & 0xffff)
		return nil
	case 1:
		f := fixed()
		r.lit, r.dist, r.least, r.coded = &f.lit, &f.dist, 7, true
		return nil
	case 2:
		return r.tables()
	}
	return r.corrupt()
}

// copyStored copies bytes of a stored block.
func (r *Reader) copyStored(limit int) error {
	r.unread() // a stored block starts at a byte
	_, r.read = r.src.Peek(1)
	b, _ := r.src.Peek(r.src.Buffered())
	if len(b) == 0 {
		return r.ended()
	}
	n := copy(r.out[r.w:limit], b[:min(len(b), r.stored)])
	_, _ = r.src.Discard(n)
	r.w += n
	r.stored -= n
	r.passed += int64(n)
	return nil
}

// tables reads the codes of a block (RFC 1951, 3.2.7).
func (r *Reader) tables() error {
	head, ok := r.take(14)
	if !ok {
		return r.ended()
	}
	lits, dists, orders := int(head&31)+257, int(head>>5&31)+1, int(head>>10)+4
	if lits > maxLit || dists > maxDist {
		return r.corrupt()
	}
	var of [19]uint8 // lengths of the codes of lengths
	for _, at := range order[:orders] {
		n, ok := r.take(3)
		if !ok {
			return r.ended()
		}
		of[at] = uint8(n)
	}
	t := &r.ownDist // which is made later
	if !t.make(of[:], lengthBits, plainSymbols[:]) {
		return r.corrupt()
	}
	all := r.lengths[:lits+dists]
	for i := 0; i < len(all); {
		r.refill(lengthBits + 7)
		e, ok := r.symbol(t, lengthBits)
		if !ok {
			return r.ended()
		}
		if e&special != 0 {
			return r.corrupt()
		}
		symbol := e >> valueAt
		if symbol < 16 {
			all[i] = uint8(symbol)
			i++
			continue
		}
		rule := repeats[symbol-16]
		extra, ok := r.take(rule.bits)
		if !ok {
			return r.ended()
		}
		again, value := rule.least+int(extra), uint8(0)
		if symbol == 16 {
			if i == 0 {
				return r.corrupt()
			}
			value = all[i-1]
		}
		if i+again > len(all) {
			return r.corrupt()
		}
		for j := range again {
			all[i+j] = value
		}
		i += again
	}
	if !r.ownLit.make(all[:lits], litBits, litSymbols[:]) || !r.ownDist.make(all[lits:], distBits, distSymbols[:]) {
		return r.corrupt()
	}
	r.lit, r.dist, r.least, r.coded = &r.ownLit, &r.ownDist, uint(all[256]), true
	if r.least == 0 { // it never ends
		if r.least = shortest(all[:lits]); r.least == 0 {
			return r.corrupt()
		}
	}
	if !r.final {
		r.least += 10 // of the next block
	}
	return nil
}

// shortest returns the length of the shortest code, or 0 if there is none.
func shortest(lengths []uint8) (least uint) {
	for _, n := range lengths {
		if n > 0 && (least == 0 || uint(n) < least) {
			least = uint(n)
		}
	}
	return least
}
