//go:build unix

package tlcs

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"neardup/extract/text"
	"neardup/verify/lcs"
)

// BenchmarkPairs verifies the pairs of a file, lines of {"a": text, "b": text},
// that NEARDUP_PAIRS names; without one, generated ones of bench_test.go. The
// texts are cut at a number of columns, or whole. Rates are by processor time.
//
// "Myers of sketches" is the LCS by the algorithm as Myers prints it, of all of
// both sketches, beside ours.
func BenchmarkPairs(b *testing.B) {
	o := Options{Window: 16, Blocks: 32, Slope: 0.1, Resemblance: 0.5, Containment: 0.9, Trustable: true, Rounds: 3, Whole: 0.65}
	pairs := benchPairs(b)
	for _, columns := range []int{10_240, 40_000, 0} {
		at := "whole"
		if columns > 0 {
			at = strconv.Itoa(columns)
		}
		var docs [][2]*Document
		var cut [][2]string
		for _, p := range pairs {
			x, y := text.Cut(p[0], columns), text.Cut(p[1], columns)
			cut = append(cut, [2]string{x, y})
			docs = append(docs, [2]*Document{Prepare(x, o.Window), Prepare(y, o.Window)})
		}
		run := func(name string, all func(b *testing.B)) {
			b.Run(at+"/"+name, func(b *testing.B) {
				all(b) // grows the scratch
				start := processor(b)
				for b.Loop() {
					all(b)
				}
				b.ReportMetric(float64(len(pairs)*b.N)/(processor(b)-start).Seconds(), "pairs/s")
			})
		}
		c := NewComparer(o)
		run("verdict", func(*testing.B) {
			for _, d := range docs {
				c.Compare(d[0], d[1])
			}
		})
		run("prepare+verdict", func(*testing.B) {
			for _, p := range cut {
				c.Compare(Prepare(p[0], o.Window), Prepare(p[1], o.Window))
			}
		})
		run("reading", func(*testing.B) { // each code point once: nothing that decides by the text is faster
			for _, d := range docs {
				for _, x := range d {
					for _, r := range x.text {
						sum += r
					}
				}
			}
		})
		run("LCS", func(*testing.B) { // of all of both texts, with its script
			for _, d := range docs {
				x, y := order(d[0], d[1])
				c.matches, _ = c.solver.Matches(c.matches[:0], x.text, y.text, len(x.text)+len(y.text), lcs.Hint{})
			}
		})
		var made [][2][]rune
		sketches := func(b *testing.B) [][2][]rune {
			if len(made) > 0 {
				return made
			}
			for i, p := range cut {
				x, y := []rune(p[0]), []rune(p[1])
				s := [2][]rune{covered(x, y, o.Window), covered(y, x, o.Window)}
				v := NewComparer(o).Compare(docs[i][0], docs[i][1])
				want, got := [2]int{v.SketchA, v.SketchB}, [2]int{len(s[0]), len(s[1])}
				if want[0]+want[1] > 0 && got != want && got != [2]int{want[1], want[0]} {
					b.Fatalf("sketches of %d code points, the verdict has %d", got, want)
				}
				made = append(made, s)
			}
			return made
		}
		var solver lcs.Solver
		var matches []lcs.Match
		run("LCS of sketches", func(b *testing.B) { // with its script
			for _, s := range sketches(b) {
				matches, _ = solver.Matches(matches[:0], s[0], s[1], -1, lcs.Hint{})
			}
		})
		run("Myers of sketches", func(b *testing.B) { // its length only
			for _, s := range sketches(b) {
				myers(s[0], s[1])
			}
		})
	}
}

var sum rune

// processor returns the processor time of this process until now.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// covered returns the sketch of x: what of it is in windows that y has, too.
func covered(x, y []rune, window int) (kept []rune) {
	there := map[string]bool{}
	windows(y, window, func(from, to int) { there[string(y[from:to])] = true })
	last := 0
	windows(x, window, func(from, to int) {
		if there[string(x[from:to])] {
			kept = append(kept, x[max(from, last):to]...)
			last = to
		}
	})
	return kept
}

// windows calls f with the bounds of the windows of s, as Document has them.
func windows(s []rune, window int, f func(from, to int)) {
	end, columns := 0, 0
	for i, r := range s {
		for columns < window && end < len(s) {
			columns += text.RuneColumns(s[end])
			end++
		}
		if columns < window && i > 0 {
			return
		}
		f(i, end)
		columns -= text.RuneColumns(r)
	}
}

// myers returns the length of the shortest edit script by figure 2 of Myers' paper.
func myers(a, b []rune) int {
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

func benchPairs(b *testing.B) (pairs [][2]string) {
	path := os.Getenv("NEARDUP_PAIRS")
	if path == "" {
		page := article(rand.New(rand.NewPCG(13, 13)), benchColumns)
		return [][2]string{{page, retouched(rand.New(rand.NewPCG(14, 14)), page, 50)}, {page, article(rand.New(rand.NewPCG(15, 15)), benchColumns)}}
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var p struct{ A, B string }
		if err := json.Unmarshal(sc.Bytes(), &p); err != nil {
			b.Fatal(err)
		}
		pairs = append(pairs, [2]string{p.A, p.B})
	}
	if sc.Err() != nil || len(pairs) == 0 {
		b.Fatal("no pairs: ", sc.Err())
	}
	return pairs
}
