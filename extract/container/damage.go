package container

import (
	"bytes"
	"io"
)

// Going back rereads and decompresses data again. A hostile file can make each of
// its bytes look like the start of a long member. So all going back together may
// cost only a few times as much as reading the file.
const (
	rereadFree  = 16 << 20
	rereadTimes = 64
)

// ended returns what Next returns when there are no more bytes: io.EOF, a Damage
// after which reading can continue, or the error of the file.
func (r *Reader) ended() error {
	switch {
	case r.fail != nil:
		return r.resync(r.offset(), r.fail)
	case r.cut && r.file.ends == nil:
		r.cut = false
		r.clean = Position{Offset: r.offset()}
		return &Damage{Offset: r.offset(), Err: errEndsInside}
	case r.file.ends == nil:
		r.clean = Position{Offset: r.offset()}
	case !r.broken:
		r.broken = true
		r.clean.Skip++
		return &Damage{Offset: r.offset(), Err: r.file.ends}
	}
	return io.EOF
}

// resync finds the next possible start of a record or a compressed member, and
// returns the damage before it. In a collection it goes to the next member.
func (r *Reader) resync(at int64, cause error) error {
	if r.file.err != nil && r.fail != nil {
		return r.file.err
	}
	damage := &Damage{Offset: at, Err: cause}
	starts := 0 // a position where a line starts, besides those after line ends
	for {
		found := false
		if r.lines != FormatRecords {
			found = len(r.buf) > r.r
		} else {
			var n int
			n, found = r.findRecord(r.buf[r.r:], starts)
			if starts -= n; n > 0 && r.buf[r.r+n-1] == '\n' {
				starts = 0
			}
			r.drop(n)
		}
		if found {
			break
		}
		left, member := len(r.buf)-r.r, r.member
		if r.fill() {
			if r.codec != nil && r.member != member {
				starts = left
			}
			continue
		}
		r.drop(len(r.buf) - r.r)
		if r.fail == nil {
			break // end of file: the next call reports it
		}
		if r.file.err != nil {
			return r.file.err
		}
		r.fail, r.inMember = nil, false
		r.goBack()
		if !r.nextMagic() {
			break
		}
	}
	r.clean.Skip++
	return damage
}

// findRecord finds the start of a record in b. This is a WARC version anywhere, or
// an ARC line where a line starts: after a line end, at b[starts], or after the
// rest of a truncated record. If there is none, n is the number of bytes that can
// be dropped, since a start may span the end of b.
func (r *Reader) findRecord(b []byte, starts int) (n int, found bool) {
	mark := findMark(b)
	limit := len(b)
	if mark >= 0 {
		limit = mark
	}
	behind := func(last int) int { // first line start after another line's
		at, from := limit, max(last, 0)
		if i := bytes.IndexByte(b[from:limit], '\n'); i >= 0 {
			at = from + i + 1
		}
		if starts > last && starts < at {
			at = starts
		}
		return at
	}
	for at := behind(-1); at < limit; at = behind(at) {
		end := bytes.IndexByte(b[at:limit], '\n')
		if end >= 0 && end < r.limits.MaxHeaderBytes {
			if i := arcStart(b[at : at+end+1]); i >= 0 {
				return at + i, true
			}
		} else if end < 0 && mark < 0 && len(b)-at < r.limits.MaxHeaderBytes && mayStartARC(b[at:]) {
			return at, false
		}
	}
	if mark >= 0 {
		return mark, true
	}
	return max(0, len(b)-markSize+1), false
}

// drop removes n bytes that are no record. A member that lost bytes is no place to
// restart from: from there its first record would be damage.
func (r *Reader) drop(n int) {
	if n > 0 {
		r.take(n)
		r.fresh = false
	}
}

// goBack returns to just after the start of the damaged member, but at most by the
// codec's lookBack. A decoder that lost its place reads on into the following
// members. It may even find its place there and stop exactly at the end of a
// member, because Huffman codes resynchronize by themselves. If going back has cost
// too much, reading continues where it is.
func (r *Reader) goBack() {
	if r.tried == r.offset() {
		return
	}
	to := max(r.tried+1, r.offset()-r.codec.lookBack())
	cost := r.offset() - to + firstStep + r.inflated
	if r.reread+cost > rereadFree+rereadTimes*r.offset() {
		return
	}
	r.reread += cost
	r.furthest = r.Consumed()
	r.file.offset, r.file.step = to, firstStep
	r.src.Reset(r.file)
}

// nextMagic skips compressed bytes up to a possible start of a member. It returns
// false at the end of the file.
func (r *Reader) nextMagic() bool {
	for {
		b, err := r.src.Peek(max(magicSize, r.src.Buffered()))
		if i := r.codec.find(b); i >= 0 {
			_, _ = r.src.Discard(i)
			return true
		}
		switch {
		case err == io.EOF: // the last bytes hold no member
			_, _ = r.src.Discard(len(b))
			r.eof = true
			return false
		case err != nil:
			r.failed(err)
			return false
		}
		_, _ = r.src.Discard(len(b) - magicSize + 1)
	}
}
