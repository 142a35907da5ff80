package tlcs

import (
	"cmp"
	"slices"

	"neardup/extract/text"
)

// The oracle: Compare by the definitions, with maps, loops and no early exit.

// char is a code point and where it is in its document.
type char struct {
	r  rune
	at int
}

func chars(s string) (out []char) {
	for _, r := range s {
		out = append(out, char{r, len(out)})
	}
	return out
}

func runes(cs []char) []rune {
	out := make([]rune, len(cs))
	for i, c := range cs {
		out[i] = c.r
	}
	return out
}

// slowWindows calls f with the bounds of every window of what is left of a
// document that had n code points.
func slowWindows(left []char, n, window int, f func(from, to int)) {
	if len(left) == n && text.Columns(string(runes(left))) < window {
		if n > 0 {
			f(0, n)
		}
		return
	}
	for i := range left {
		for j := i + 1; j <= len(left) && left[j-1].at-left[i].at == j-1-i; j++ {
			if text.Columns(string(runes(left[i:j]))) >= window {
				f(i, j)
				break
			}
		}
	}
}

// slowSketch is the indexes in left that are covered by a window which occurs
// in other.
func slowSketch(left []char, n int, other []char, otherN, window int) (kept []int) {
	there := map[string]bool{}
	slowWindows(other, otherN, window, func(from, to int) { there[string(runes(other[from:to]))] = true })
	covered := make([]bool, len(left))
	slowWindows(left, n, window, func(from, to int) {
		if there[string(runes(left[from:to]))] {
			for i := from; i < to; i++ {
				covered[i] = true
			}
		}
	})
	for i, c := range covered {
		if c {
			kept = append(kept, i)
		}
	}
	return kept
}

// slowLCS is the positions matched in the longest common subsequence that
// package lcs defines: shared prefix, shared suffix of the rest, and of the
// rest of that what a walk back through the table matches.
func slowLCS(a, b []rune) (pairs [][2]int) {
	p, n, m := 0, len(a), len(b)
	for p < n && p < m && a[p] == b[p] {
		pairs = append(pairs, [2]int{p, p})
		p++
	}
	for n > p && m > p && a[n-1] == b[m-1] {
		n, m = n-1, m-1
		pairs = append(pairs, [2]int{n, m})
	}
	length := make([][]int32, n-p+1) // of a[p:p+x], b[p:p+y]
	for x := range length {
		length[x] = make([]int32, m-p+1)
		for y := 1; x > 0 && y <= m-p; y++ {
			if a[p+x-1] == b[p+y-1] {
				length[x][y] = length[x-1][y-1] + 1
			} else {
				length[x][y] = max(length[x-1][y], length[x][y-1])
			}
		}
	}
	for x, y := n-p, m-p; x > 0 && y > 0; {
		switch {
		case a[p+x-1] == b[p+y-1]:
			x, y = x-1, y-1
			pairs = append(pairs, [2]int{p + x, p + y})
		case length[x-1][y] == length[x][y]:
			x--
		default:
			y--
		}
	}
	slices.SortFunc(pairs, func(v, w [2]int) int { return cmp.Compare(v[0], w[0]) })
	return pairs
}

// slowEdits is d(x) from the pairs of matched positions.
func slowEdits(lenA, lenB int, pairs [][2]int) []int32 {
	var ops []int
	inA, inB := map[int]bool{}, map[int]int{}
	for _, p := range pairs {
		inA[p[0]], inB[p[1]] = true, p[0]+1
	}
	for i := range lenA {
		if !inA[i] {
			ops = append(ops, i+1)
		}
	}
	last := 0
	for i := range lenB {
		if at, ok := inB[i]; ok {
			last = at
		} else {
			ops = append(ops, last)
		}
	}
	d := make([]int32, lenA+1)
	for x := range d {
		for _, op := range ops {
			if op <= x {
				d[x]++
			}
		}
	}
	return d
}

// slowRegion is region over all runs of blocks and all extensions, and the
// weight of its base.
func slowRegion(o Options, d []int32) (start, end, weight int) {
	n := len(d) - 1
	if n == 0 {
		return 0, 0, 0
	}
	size := (n + o.Blocks - 1) / o.Blocks
	k := (n + size - 1) / size
	type base struct{ from, to, weight, blocks int }
	var all []base
	for i := 1; i <= k; i++ {
		for j := i; j <= k; j++ {
			w := 0
			for b := i; b <= j; b++ {
				w += min(b, k+1-b)
			}
			if from, to := (i-1)*size, min(j*size, n); o.trusted(d, from, to) {
				all = append(all, base{from, to, w, j - i + 1})
			}
		}
	}
	if len(all) == 0 {
		return 0, 0, 0
	}
	slices.SortFunc(all, func(x, y base) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.blocks, y.blocks))
	})
	right := func(s, e int) int {
		best := e
		for off := 0; off <= size-1 && e+off <= n; off++ {
			if o.trusted(d, s, e+off) {
				best = e + off
			}
		}
		return best
	}
	left := func(s, e int) int {
		best := s
		for off := 0; off <= size-1 && s-off >= 0; off++ {
			if o.trusted(d, s-off, e) {
				best = s - off
			}
		}
		return best
	}
	for _, b := range all {
		if b.weight != all[0].weight || b.blocks != all[0].blocks {
			continue
		}
		e1 := right(b.from, b.to)
		s1 := left(b.from, e1)
		s2 := left(b.from, b.to)
		e2 := right(s2, b.to)
		for _, r := range [][2]int{{s1, e1}, {s2, e2}} {
			if l := r[1] - r[0]; l > end-start || l == end-start && r[0] < start {
				start, end = r[0], r[1]
			}
		}
	}
	return start, end, all[0].weight
}

// slowScore is Score; where it ends with Near false, Rejected is not set.
func slowScore(o Options, x, y string) (v Verdict) {
	a, b := chars(x), chars(y)
	if len(a) < len(b) || len(a) == len(b) && slices.Compare(runes(a), runes(b)) < 0 {
		a, b = b, a
	}
	lenA, lenB := len(a), len(b)
	if lenB == 0 {
		return v
	}
	rounds := o.Rounds
	if !o.Trustable {
		rounds = 1
	}
	for v.Rounds < rounds {
		keptA, keptB := slowSketch(a, lenA, b, lenB, o.Window), slowSketch(b, lenB, a, lenA, o.Window)
		pick := func(cs []char, kept []int) (out []rune) {
			for _, i := range kept {
				out = append(out, cs[i].r)
			}
			return out
		}
		pairs := slowLCS(pick(a, keptA), pick(b, keptB))
		for i, p := range pairs {
			pairs[i] = [2]int{keptA[p[0]], keptB[p[1]]}
		}
		start, end := 0, len(a)
		if o.Trustable {
			start, end, _ = slowRegion(o, slowEdits(len(a), len(b), pairs))
		}
		if v.Rounds == 0 {
			v.LCS, v.SketchA, v.SketchB = len(pairs), len(keptA), len(keptB)
			if o.Trustable {
				v.RegionStart, v.RegionEnd = start, end
			}
		}
		var found []rune
		goneA, goneB := map[int]bool{}, map[int]bool{}
		for i := start; i < end; i++ {
			goneA[i] = true
		}
		for _, p := range pairs {
			if start <= p[0] && p[0] < end {
				found = append(found, a[p[0]].r)
				goneB[p[1]] = true
			}
		}
		v.Whole = max(v.Whole, v.TLCS+len(pairs))
		v.TLCS += len(found)
		v.Rounds++
		v.Resemblance = float64(v.TLCS) / float64(lenA+lenB-v.TLCS)
		v.Containment = float64(v.TLCS) / float64(lenB)
		whole := float64(v.Whole) / float64(lenA+lenB-v.Whole)
		v.Near = v.Resemblance >= o.Resemblance && whole >= o.Whole || v.Containment >= o.Containment
		if text.Columns(string(found)) < o.Window {
			break
		}
		rest := func(cs []char, gone map[int]bool) (out []char) {
			for i, c := range cs {
				if !gone[i] {
					out = append(out, c)
				}
			}
			return out
		}
		a, b = rest(a, goneA), rest(b, goneB)
	}
	return v
}
