package container

import (
	"bytes"
	"io"
)

// Going back costs what is read and decompressed again. A file can be made so
// that each of its bytes seems to start a member that goes on for long, so all
// of it together may cost as much as reading the file some times more.
const (
	rereadFree  = 16 << 20
	rereadTimes = 64
)

// ended is what Next returns when there are no more bytes: io.EOF, a Damage
// to go on after, or the error of the file.
func (r *Reader) ended() error {
	switch {
	case r.fail != nil:
		return r.resync(r.offset(), r.fail)
	case r.file.ends == nil:
		r.clean = Position{Offset: r.offset()}
	case !r.broken:
		r.broken = true
		r.clean.Skip++
		return &Damage{Offset: r.offset(), Err: r.file.ends}
	}
	return io.EOF
}

// resync finds the next place that looks like a record or a compressed member
// and returns the damage before it. In a collection, the next member will do.
func (r *Reader) resync(at int64, cause error) error {
	if r.file.err != nil && r.fail != nil {
		return r.file.err
	}
	damage := &Damage{Offset: at, Err: cause}
	starts := 0 // where in the bytes to come a line starts, besides behind line ends
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
			break // end of file: the next call says so
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

// findRecord finds the start of a record in b: a WARC version anywhere, or an
// ARC line where a line starts, behind a line end or at b[starts], or behind
// what is left of a record that is cut off. If there is none, n is the number of
// bytes that can be dropped: a start may straddle the end.
func (r *Reader) findRecord(b []byte, starts int) (n int, found bool) {
	mark := findMark(b)
	limit := len(b)
	if mark >= 0 {
		limit = mark
	}
	behind := func(last int) int { // the first start of a line behind another
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

// drop takes n bytes that are no record. A member that has lost bytes is no
// place to start again from: from there its first record would be damage.
func (r *Reader) drop(n int) {
	if n > 0 {
		r.take(n)
		r.fresh = false
	}
}

// goBack returns to behind the start of the damaged member, but at most
// the codec's lookBack: a decoder that has lost its place reads on into the
// members that follow. It may find it again there and stop exactly where one
// ends, because Huffman codes fall into step by themselves. When that has cost
// too much, reading goes on where it is.
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

// nextMagic passes over compressed bytes up to what looks like the start of a
// member.
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
