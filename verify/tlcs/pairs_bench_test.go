package tlcs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"neardup/extract/text"
	"neardup/verify/lcs"
)

// BenchmarkPairs verifies the pairs of a file, lines of {"a": text, "b": text},
// that NEARDUP_PAIRS names; without one, generated ones of bench_test.go.
func BenchmarkPairs(b *testing.B) {
	o := Options{Window: 16, Blocks: 32, Slope: 0.1, Resemblance: 0.5, Containment: 0.9, Trustable: true, Rounds: 3, Whole: 0.65}
	pairs := benchPairs(b)
	for _, columns := range []int{10_240, 40_000, 200_000} {
		var docs [][2]*Document
		var cut [][2]string
		for _, p := range pairs {
			x, y := text.Cut(p[0], columns), text.Cut(p[1], columns)
			cut = append(cut, [2]string{x, y})
			docs = append(docs, [2]*Document{Prepare(x, o.Window), Prepare(y, o.Window)})
		}
		rate := func(b *testing.B) {
			b.ReportMetric(float64(len(pairs)*b.N)/b.Elapsed().Seconds(), "pairs/s")
		}
		b.Run(fmt.Sprintf("%d/verdict", columns), func(b *testing.B) {
			c := NewComparer(o)
			for b.Loop() {
				for _, d := range docs {
					c.Compare(d[0], d[1])
				}
			}
			rate(b)
		})
		b.Run(fmt.Sprintf("%d/prepare+verdict", columns), func(b *testing.B) {
			c := NewComparer(o)
			for b.Loop() {
				for _, p := range cut {
					c.Compare(Prepare(p[0], o.Window), Prepare(p[1], o.Window))
				}
			}
			rate(b)
		})
		b.Run(fmt.Sprintf("%d/LCS", columns), func(b *testing.B) { // of all of both texts, with its script
			c := NewComparer(o)
			for b.Loop() {
				for _, d := range docs {
					x, y := order(d[0], d[1])
					c.matches, _ = c.solver.Matches(c.matches[:0], x.text, y.text, len(x.text)+len(y.text), lcs.Hint{})
				}
			}
			rate(b)
		})
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
