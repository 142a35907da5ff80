package ppjoin

import "math/bits"

// bitmapWords returns the number of 64-bit words of a record's bitmap. It gives
// each token at least one bit on average, so that about half of the bits of
// records without common tokens differ. It is at most 16.
func bitmapWords(on bool, tokens, records int) int {
	if !on {
		return 0
	}
	words := 1
	for words < 16 && words*64*max(1, records) < tokens {
		words *= 2
	}
	return words
}

// spread is 2^64 over the golden ratio. Its multiples by consecutive ranks lie far
// apart (Knuth, The Art of Computer Programming 3, section 6.4).
const spread = 0x9E3779B97F4A7C15

// fillBitmap makes the bitmap of record n. Each token flips one bit ("Bitmap-Xor",
// Sandes and others, section 3).
func (t *table) fillBitmap(n int32, tokens []uint32) {
	if t.words == 0 {
		return
	}
	if t.words == 1 {
		bitmap := uint64(0)
		for _, rank := range tokens {
			bitmap ^= 1 << (uint64(rank) * spread >> 58)
		}
		t.bitmaps[n] = bitmap
		return
	}
	bitmap := t.bitmaps[int(n)*t.words:][:t.words]
	for _, rank := range tokens {
		h := uint64(rank) * spread
		bitmap[h>>32&uint64(t.words-1)] ^= 1 << (h >> 58)
	}
}

// bitmapBound returns an upper bound of the overlap of two records. Every bit in
// which their bitmaps differ stands for a token that only one of them has.
func (t *table) bitmapBound(n, m int32) int64 {
	differ := 0
	if t.words == 1 {
		differ = bits.OnesCount64(t.bitmaps[n] ^ t.bitmaps[m])
	} else {
		x, y := t.bitmaps[int(n)*t.words:][:t.words], t.bitmaps[int(m)*t.words:][:t.words]
		for i := range x {
			differ += bits.OnesCount64(x[i] ^ y[i])
		}
	}
	return (int64(t.records[n].size) + int64(t.records[m].size) - int64(differ)) / 2
}

// suffixAdmits is the suffix filter (algorithm 5) for two records whose first
// common token is at positions i and j, from 0. Nothing before it is common, so
// all of that counts in the Hamming distance. Tokens that only one record has
// count, too; they are not listed, and need accounts for them.
func (t *table) suffixAdmits(x, y *record, i, j int32, need int64) bool {
	if t.weighted {
		left := t.after(x, 0) - t.after(x, i) + t.after(y, 0) - t.after(y, j)
		limit := t.after(x, 0) + t.after(y, 0) - 2*need - left
		return t.weightedSuffix(t.span(x, i+1, x.size), t.span(y, j+1, y.size), limit, 1) <= limit
	}
	limit := int(x.size) + int(y.size) - 2*int(need) - int(i) - int(j)
	xs := t.tokens[x.first+int(i)+1 : x.first+int(x.size)]
	ys := t.tokens[y.first+int(j)+1 : y.first+int(y.size)]
	return suffix(xs, ys, limit, 1, t.o.MaxDepth) <= limit
}

// suffix returns a lower bound of the Hamming distance of two sets: algorithm 3.
// If the distance is more than limit, the result may still be below limit, or be
// any number above it. w need not be in x. If w cannot be placed within the range
// that limit leaves (lines 3 to 6), the distance is above limit.
func suffix(x, y []uint32, limit, depth, maxDepth int) int {
	difference := abs(len(x) - len(y))
	if depth > maxDepth || len(x) == 0 || len(y) == 0 || difference > limit {
		return difference
	}
	mid := (len(y)+1)/2 - 1
	w := y[mid]
	o := (limit - difference) / 2
	l, r := mid-o, mid+o
	if len(x) < len(y) {
		l -= difference
	} else {
		r += difference
	}
	place, found, ok := partition(x, w, l, r)
	if !ok {
		return limit + 1
	}
	xl, xr, missing := x[:place], x[place:], 1
	if found {
		xr, missing = x[place+1:], 0
	}
	yl, yr := y[:mid], y[mid+1:]
	right := abs(len(xr) - len(yr))
	if h := abs(len(xl)-len(yl)) + right + missing; h > limit {
		return h
	}
	left := suffix(xl, yl, limit-right-missing, depth+1, maxDepth)
	if h := left + right + missing; h > limit {
		return h
	}
	return left + suffix(xr, yr, limit-left-missing, depth+1, maxDepth) + missing
}

// partition returns the first position in x that is not before w, if it is within
// l to r: algorithm 4.
func partition(x []uint32, w uint32, l, r int) (place int, found, ok bool) {
	l, r = max(l, 0), min(r, len(x))
	if l > r || l > 0 && x[l-1] >= w || r < len(x) && x[r] < w {
		return 0, false, false
	}
	for l < r {
		if mid := (l + r) / 2; x[mid] < w {
			l = mid + 1
		} else {
			r = mid
		}
	}
	return l, l < len(x) && x[l] == w, true
}

func abs(v int) int { return max(v, -v) }

// span is a part of a record with masses.
type span struct {
	tokens []uint32
	rest   []int64
	after  int64 // the mass after the span, in its record
}

func (t *table) span(x *record, from, to int32) span {
	return span{t.tokens[x.first+int(from) : x.first+int(to)], t.rest[x.first+int(from) : x.first+int(to)], t.after(x, to)}
}

// from returns the mass of s from position i on, including what follows s.
func (s span) from(i int) int64 {
	if i == len(s.tokens) {
		return s.after
	}
	return s.rest[i]
}

func (s span) weight(i int) int64 { return s.from(i) - s.from(i+1) }

func (s span) cut(from, to int) span {
	return span{s.tokens[from:to], s.rest[from:to], s.from(to)}
}

// apart returns a lower bound of the weighted Hamming distance of two spans that
// uses only their ends: the weight of the longer span's last token ("last token
// has the least weight") times the difference of their lengths (algorithm 7,
// lines 1 to 5).
func apart(x, y span) int64 {
	if len(x.tokens) < len(y.tokens) {
		x, y = y, x
	}
	if len(x.tokens) == len(y.tokens) {
		return 0
	}
	return x.weight(len(x.tokens)-1) * int64(len(x.tokens)-len(y.tokens))
}

// weightedSuffix is suffix for masses: algorithm 7.
func (t *table) weightedSuffix(x, y span, limit int64, depth int) int64 {
	h := apart(x, y)
	if depth > t.o.MaxDepth || len(x.tokens) == 0 || len(y.tokens) == 0 || h > limit {
		return h
	}
	mid := (len(y.tokens)+1)/2 - 1
	w := y.weight(mid)
	o := int(min(limit/w, int64(len(x.tokens)+len(y.tokens)))) // positions further away cost more than limit
	place, found, ok := partition(x.tokens, y.tokens[mid], mid-o, mid+o)
	if !ok {
		return limit + 1
	}
	after, missing := place, w
	if found {
		after, missing = place+1, 0
	}
	xl, xr := x.cut(0, place), x.cut(after, len(x.tokens))
	yl, yr := y.cut(0, mid), y.cut(mid+1, len(y.tokens))
	right := apart(xr, yr)
	if h := apart(xl, yl) + right + missing; h > limit {
		return h
	}
	left := t.weightedSuffix(xl, yl, limit-right-missing, depth+1)
	if h := left + right + missing; h > limit {
		return h
	}
	return left + t.weightedSuffix(xr, yr, limit-left-missing, depth+1) + missing
}
