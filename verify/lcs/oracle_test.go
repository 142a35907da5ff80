package lcs

import "slices"

// table is L of the package comment, by the textbook's O(NM) recurrence.
func table(a, b []int32) [][]int32 {
	l := make([][]int32, len(a)+1)
	l[0] = make([]int32, len(b)+1)
	for x, c := range a {
		l[x+1] = make([]int32, len(b)+1)
		for y, e := range b {
			if c == e {
				l[x+1][y+1] = l[x][y] + 1
			} else {
				l[x+1][y+1] = max(l[x][y+1], l[x+1][y])
			}
		}
	}
	return l
}

// walk is rule 3 of the package comment; the matches are put at (dx, dy).
func walk(a, b []int32, dx, dy int) (pairs [][2]int) {
	l := table(a, b)
	for x, y := len(a), len(b); x > 0 && y > 0; {
		switch {
		case a[x-1] == b[y-1]:
			x--
			y--
			pairs = append(pairs, [2]int{x + dx, y + dy})
		case l[x-1][y] == l[x][y]:
			x--
		default:
			y--
		}
	}
	slices.Reverse(pairs)
	return pairs
}

// alignment returns the oracle of Matches: the pairs that the package comment says.
func alignment(a, b []int32) (pairs [][2]int) {
	p := 0
	for p < len(a) && p < len(b) && a[p] == b[p] {
		pairs = append(pairs, [2]int{p, p})
		p++
	}
	n, m := len(a), len(b)
	for n > p && m > p && a[n-1] == b[m-1] {
		n--
		m--
	}
	pairs = append(pairs, walk(a[p:n], b[p:m], p, p)...)
	for ; n < len(a); n, m = n+1, m+1 {
		pairs = append(pairs, [2]int{n, m})
	}
	return pairs
}

// runs joins pairs that follow one another.
func runs(pairs [][2]int) (out []Match) {
	for _, p := range pairs {
		if i := len(out) - 1; i >= 0 && out[i].X+out[i].Len == p[0] && out[i].Y+out[i].Len == p[1] {
			out[i].Len++
			continue
		}
		out = append(out, Match{p[0], p[1], 1})
	}
	return out
}

// distance returns the length of the shortest edit script by the algorithm of
// figure 2 of Myers' paper, for sequences too long for the table.
func distance(a, b []int32) int {
	v := make([]int, 2*(len(a)+len(b))+3)
	zero := len(a) + len(b) + 1
	for d := 0; ; d++ {
		for k := -d; k <= d; k += 2 {
			x := 0
			if k == -d || k != d && v[zero+k-1] < v[zero+k+1] {
				x = v[zero+k+1]
			} else {
				x = v[zero+k-1] + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[zero+k] = x
			if x >= len(a) && x-k >= len(b) {
				return d
			}
		}
	}
}
