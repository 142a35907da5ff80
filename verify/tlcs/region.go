package tlcs

import "slices"

// edits returns d(x) for x = 0 ... lenA, the number of operations at or before
// position x of A in the edit script from A to B. This script is that of the
// sketches and of what the sketches dropped. An unmatched code point of A is a
// deletion at its own position, counted from 1. An unmatched code point of B is an
// insertion directly after the last code point of A that is matched to one before
// it in B, at 0 if there is none.
func (c *Comparer) edits(lenA, lenB int) []int32 {
	c.script = slices.Grow(c.script[:0], lenA+1)[:lenA+1]
	d := c.script
	d[0] = 0
	x, y, n := 0, 0, int32(0) // d is set up to x, B is done up to y
	upTo := func(atA, atB int) {
		n += int32(atB - y)
		d[x] = n
		for x < atA {
			x++
			n++
			d[x] = n
		}
		y = atB
	}
	for _, m := range c.matches {
		for i := range m.Len {
			if atA, atB := int(c.a.at[m.X+i]), int(c.b.at[m.Y+i]); atA != x || atB != y {
				upTo(atA, atB)
			}
			x++
			y++
			d[x] = n
		}
	}
	upTo(lenA, lenB)
	return d
}

// clip keeps only the matches with a code point in A[start:end].
func (c *Comparer) clip(start, end int) {
	kept := c.matches[:0]
	for _, m := range c.matches {
		at := c.a.at[m.X : m.X+m.Len]
		lo, _ := slices.BinarySearch(at, int32(start))
		hi, _ := slices.BinarySearch(at, int32(end))
		if lo < hi {
			m.X, m.Y, m.Len = m.X+lo, m.Y+lo, hi-lo
			kept = append(kept, m)
		}
	}
	c.matches = kept
}

// trusted reports whether the slope of A[start:end] is small enough.
func (o *Options) trusted(d []int32, start, end int) bool {
	return float64(d[end]-d[start]) <= o.Slope*float64(end-start)
}

// region returns the trustable region A[start:end] (section 3.3, figure 5) for the
// curve d of edit operations. It is empty if no run of blocks has a small enough
// slope.
//
// Base regions: A is cut into blocks of ceil(|A|/Blocks) code points; the last one
// may be shorter. All runs of whole blocks are considered. Block i of k weighs
// min(i, k+1-i), more towards the centre. The heaviest runs are kept, and of those
// the ones with the fewest blocks. There are at most two, and they are mirror
// images: of runs of equal length, the nearer to the centre is the heavier.
//
// Each of them is extended at the right end and then at the left, and the other way
// round. The longest result is the region; of equally long ones, the one that
// starts first.
func (o *Options) region(d []int32) (start, end int) {
	n := len(d) - 1
	if n == 0 {
		return 0, 0
	}
	size := (n + o.Blocks - 1) / o.Blocks
	k := (n + size - 1) / size
	var bases [2][2]int
	count, best, fewest := 0, 0, 0
	all := 0 // weight of the blocks from i+1 on
	for i := range k {
		all += weigh(i+1, k)
	}
	for i := range k {
		weight := all // of blocks i+1 to j, from the heaviest run down
		for j := k; j > i && weight >= best; weight, j = weight-weigh(j, k), j-1 {
			if !o.trusted(d, i*size, min(j*size, n)) {
				continue
			}
			if weight > best || j-i < fewest {
				count, best, fewest = 0, weight, j-i
			}
			if j-i == fewest {
				bases[count] = [2]int{i * size, min(j*size, n)}
				count++
			}
			break
		}
		all -= weigh(i+1, k)
	}
	for _, r := range bases[:count] {
		s1, e1 := r[0], o.extendRight(d, r[0], r[1], size)
		s1 = o.extendLeft(d, s1, e1, size)
		s2 := o.extendLeft(d, r[0], r[1], size)
		e2 := o.extendRight(d, s2, r[1], size)
		for _, e := range [2][2]int{{s1, e1}, {s2, e2}} {
			if l := e[1] - e[0]; l > end-start || l == end-start && e[0] < start {
				start, end = e[0], e[1]
			}
		}
	}
	return start, end
}

// weigh returns the weight of block i of k.
func weigh(i, k int) int { return min(i, k+1-i) }

// extendRight moves the end of A[start:end] as far as possible into the next block,
// at most size-1 places. The paper tests only the offsets where d rises. Here d is
// an array, in which finding a rise costs as much as the test. So the search starts
// from the far end, and the first success is the largest offset.
func (o *Options) extendRight(d []int32, start, end, size int) int {
	for e := min(end+size-1, len(d)-1); e > end; e-- {
		if o.trusted(d, start, e) {
			return e
		}
	}
	return end
}

func (o *Options) extendLeft(d []int32, start, end, size int) int {
	for s := max(start-size+1, 0); s < start; s++ {
		if o.trusted(d, s, end) {
			return s
		}
	}
	return start
}
