package inflate

import (
	"encoding/binary"

	"github.com/klauspost/compress/flate"
)

// codes decompresses a block with codes, until there are limit bytes in out.
func (r *Reader) codes(limit int) error {
	for r.w < limit {
		if len(r.in)-r.pos >= 2*slack && r.w < limit-longest-slack {
			if ended, err := r.fast(limit - longest - slack); ended {
				return err
			}
		}
		if err := r.one(); err != nil || !r.coded {
			return err
		}
	}
	return nil
}

// fast decompresses symbols while input and room are ample. ended reports that the
// block has ended, or is corrupt.
func (r *Reader) fast(limit int) (ended bool, err error) {
	in, pos, bits, n := r.in, r.pos, r.bits, r.n
	lit, dist, out, w := r.lit, r.dist, &r.out, r.w
	last := len(in) - 2*slack
	for w < limit && pos <= last {
		bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
		pos += int((63 - n) >> 3)
		n |= 56
		e := lit[bits&(1<<litBits-1)]
		if e&literal != 0 { // three of them take at most 33 bits
			bits >>= e & codeSize & 63
			n -= uint(e & codeSize)
			out[w] = byte(e >> valueAt)
			w++
			e = lit[bits&(1<<litBits-1)]
			if e&literal != 0 {
				bits >>= e & codeSize & 63
				n -= uint(e & codeSize)
				out[w] = byte(e >> valueAt)
				w++
				e = lit[bits&(1<<litBits-1)]
				if e&literal != 0 {
					bits >>= e & codeSize & 63
					n -= uint(e & codeSize)
					out[w] = byte(e >> valueAt)
					w++
					continue
				}
			}
			bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
			pos += int((63 - n) >> 3)
			n |= 56
		}
		if e&sub != 0 {
			bits >>= litBits
			n -= litBits
			e = lit[(uint64(e>>valueAt)+bits&(1<<(e>>extraAt&extraSize)-1))%tableSize]
			if e&literal != 0 {
				bits >>= e & codeSize & 63
				n -= uint(e & codeSize)
				out[w] = byte(e >> valueAt)
				w++
				continue
			}
		}
		if e&special != 0 {
			ended = true
			if e>>valueAt != endOfBlock {
				err = flate.CorruptInputError(r.passed + int64(pos) - int64(n>>3))
				break
			}
			bits >>= e & codeSize & 63
			n -= uint(e & codeSize)
			r.coded = false
			break
		}
		bits >>= e & codeSize & 63
		extra := e >> extraAt & extraSize
		length := int(e>>valueAt) + int(bits&(1<<extra-1))
		bits >>= extra & 63
		n -= uint(e&codeSize + extra)

		e = dist[bits&(1<<distBits-1)]
		if e&sub != 0 {
			bits >>= distBits
			n -= distBits
			e = dist[(uint64(e>>valueAt)+bits&(1<<(e>>extraAt&extraSize)-1))%tableSize]
		}
		if e&special != 0 {
			ended, err = true, flate.CorruptInputError(r.passed+int64(pos)-int64(n>>3))
			break
		}
		bits >>= e & codeSize & 63
		extra = e >> extraAt & extraSize
		back := int(e>>valueAt) + int(bits&(1<<extra-1))
		bits >>= extra & 63
		n -= uint(e&codeSize + extra)
		if back > w {
			ended, err = true, flate.CorruptInputError(r.passed+int64(pos)-int64(n>>3))
			break
		}
		from := out[w-back:]
		to := out[w : w+longest+slack]
		switch {
		case back >= 8 && length <= 32: // may write too much
			binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
			for i := 8; i < length; i += 8 {
				binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
			}
		case back >= length:
			copy(to[:length], from)
		default:
			repeat(to[:length], from)
		}
		w += length
	}
	r.pos, r.bits, r.n, r.w = pos, bits, n, w
	return ended, err
}

// repeat copies from to to, which begins in it.
func repeat(to, from []byte) {
	for i := range to {
		to[i] = from[i]
	}
}

// one decompresses one symbol, bit for bit if there are few.
func (r *Reader) one() error {
	r.refill(48)
	if r.n < r.least { // the library reads no code of a block that cannot end
		return r.ended()
	}
	e, ok := r.symbol(r.lit, litBits)
	switch {
	case !ok:
		return r.ended()
	case e&special != 0 && e>>valueAt == endOfBlock:
		r.coded = false
		return nil
	case e&special != 0:
		return r.corrupt()
	case e&literal != 0:
		r.out[r.w] = byte(e >> valueAt)
		r.w++
		return nil
	}
	length, ok := r.extra(e)
	if !ok {
		return r.ended()
	}
	if e, ok = r.symbol(r.dist, distBits); !ok {
		return r.ended()
	} else if e&special != 0 {
		return r.corrupt()
	}
	back, ok := r.extra(e)
	if !ok {
		return r.ended()
	}
	if back > r.w {
		return r.corrupt()
	}
	for range length {
		r.out[r.w] = r.out[r.w-back]
		r.w++
	}
	return nil
}

// symbol takes a code and returns its entry. ok is false if the source ends before.
func (r *Reader) symbol(t *table, first uint) (e uint32, ok bool) {
	e = t[r.bits&(1<<r.n-1)&(1<<first-1)]
	if e&sub != 0 {
		if r.n < first {
			return e, false
		}
		r.skip(first)
		e = t[(uint64(e>>valueAt)+r.bits&(1<<r.n-1)&(1<<(e>>extraAt&extraSize)-1))%tableSize]
	}
	if uint(e&codeSize) > r.n {
		return e, false
	}
	r.skip(uint(e & codeSize))
	return e, true
}

// extra returns the value of an entry and its extra bits.
func (r *Reader) extra(e uint32) (int, bool) {
	n := uint(e >> extraAt & extraSize)
	if n > r.n {
		return 0, false
	}
	v := uint(r.bits) & (1<<n - 1)
	r.skip(n)
	return int(e>>valueAt) + int(v), true
}
