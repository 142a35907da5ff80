package ppjoin_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/cluster/ppjoin"
)

// levenshtein is the textbook table.
func levenshtein(a, b string) int {
	u, v := []rune(a), []rune(b)
	d := make([][]int, len(u)+1)
	for i := range d {
		d[i] = make([]int, len(v)+1)
		for j := range d[i] {
			switch {
			case i == 0:
				d[i][j] = j
			case j == 0:
				d[i][j] = i
			default:
				d[i][j] = min(d[i-1][j], d[i][j-1]) + 1
				if u[i-1] == v[j-1] {
					d[i][j] = min(d[i][j], d[i-1][j-1])
				} else {
					d[i][j] = min(d[i][j], d[i-1][j-1]+1)
				}
			}
		}
	}
	return d[len(u)][len(v)]
}

func slowEdit(a, b []string, most int) (out []ppjoin.EditPair) {
	self := b == nil
	if self {
		b = a
	}
	for i := range a {
		for j := range b {
			if self && j <= i {
				continue
			}
			if d := levenshtein(a[i], b[j]); d <= most {
				out = append(out, ppjoin.EditPair{A: i, B: j, Distance: d})
			}
		}
	}
	return out
}

func strings3(r *rand.Rand, n, length int) []string {
	alphabet := []rune("abc日é")
	var out []string
	for i := range n {
		var s []rune
		if i > 0 && r.IntN(3) > 0 {
			s = []rune(out[r.IntN(i)])
			for range r.IntN(5) {
				at := r.IntN(len(s) + 1)
				if r.IntN(2) == 0 && at < len(s) {
					s = slices.Delete(s, at, at+1)
				} else {
					s = slices.Insert(s, at, alphabet[r.IntN(len(alphabet))])
				}
			}
		} else {
			for range r.IntN(length + 1) {
				s = append(s, alphabet[r.IntN(len(alphabet))])
			}
		}
		out = append(out, string(s))
	}
	return out
}

// editPairs returns the pairs of a self-join, or with b of one between both.
func editPairs(t *testing.T, a, b []string, o ppjoin.EditOptions) (got []ppjoin.EditPair) {
	t.Helper()
	emit := func(p ppjoin.EditPair) error {
		got = append(got, p)
		return nil
	}
	var counts ppjoin.Counts
	var err error
	if b == nil {
		counts, err = ppjoin.SelfEdit(context.Background(), a, o, emit)
	} else {
		counts, err = ppjoin.BetweenEdit(context.Background(), a, b, o, emit)
	}
	if err != nil {
		t.Fatal(err)
	}
	if counts.Pairs != int64(len(got)) {
		t.Errorf("%+v: %d pairs counted, %d emitted", o, counts.Pairs, len(got))
	}
	slices.SortFunc(got, func(x, y ppjoin.EditPair) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return got
}

// TestEditEqualToComparingAll has every distance up to 5, q and search.
func TestEditEqualToComparingAll(t *testing.T) {
	sequential(t)
	r := rand.New(rand.NewPCG(7, 8))
	for _, length := range []int{4, 12, 40} {
		a, b := strings3(r, 50, length), strings3(r, 30, length)
		b = append(b, a[:10]...)
		for _, other := range [][]string{nil, b} {
			for most := range 6 {
				want := slowEdit(a, other, most)
				for q := 1; q <= 4; q++ {
					for _, s := range everySearch(true) {
						o := ppjoin.EditOptions{Distance: most, Q: q, Algorithm: s.Algorithm, MaxDepth: s.MaxDepth, Bitmaps: s.Bitmaps, Workers: 1 + q%2}
						if got := editPairs(t, a, other, o); !slices.Equal(got, want) {
							t.Fatalf("%+v, length %d, self %v: got %d pairs, want %d", o, length, other == nil, len(got), len(want))
						}
					}
				}
			}
		}
	}
}
