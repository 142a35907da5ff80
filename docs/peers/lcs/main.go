// Lcs computes longest common subsequences of pairs of texts with Myers'
// algorithm as his paper prints it and with github.com/sergi/go-diff, and
// prints how many pairs a second of processor time that is, a line of JSON each.
//
// Usage:
//
//	lcs [-chars N] [-limit 20s] [-only myers|go-diff] PAIRS.jsonl
//
// A line of PAIRS is {"a": text, "b": text}. A pair that takes longer than the
// limit is given up and counts with the time that it took until then: where any
// was, pairs/s is more than the algorithm can do. For Myers "least pairs/s" then
// says what it can do at least, if a step always costs the same.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/sergi/go-diff/diffmatchpatch"
)

type pair struct{ a, b []rune }

func main() {
	chars := flag.Int("chars", 0, "of each text, from its start; 0: all")
	limit := flag.Duration("limit", 20*time.Second, "for a pair")
	only := flag.String("only", "", "myers or go-diff; without it both, which must agree")
	flag.Parse()
	if err := run(flag.Args(), *chars, *limit, *only); err != nil {
		fmt.Fprintln(os.Stderr, "lcs:", err)
		os.Exit(1)
	}
}

func run(args []string, chars int, limit time.Duration, only string) error {
	if len(args) != 1 || only != "" && only != "myers" && only != "go-diff" {
		return fmt.Errorf("usage: lcs [-chars N] [-limit 20s] [-only myers|go-diff] PAIRS.jsonl")
	}
	pairs, err := read(args[0], chars)
	if err != nil {
		return err
	}
	lengths := make(map[int]int) // by pair, of the algorithm before
	for _, alg := range []struct {
		name string
		of   func(pair, time.Duration) (length int, most time.Duration, ok bool)
	}{
		{"myers", func(p pair, limit time.Duration) (int, time.Duration, bool) { return myers(p.a, p.b, limit) }},
		{"go-diff", func(p pair, limit time.Duration) (int, time.Duration, bool) { return goDiff(p.a, p.b, limit) }},
	} {
		if only != "" && only != alg.name {
			continue
		}
		r := result{Name: alg.name, Pairs: len(pairs)}
		var spent, most time.Duration
		sum := 0
		for i, p := range pairs {
			r.Chars += len(p.a) + len(p.b)
			start := processor()
			length, atMost, ok := alg.of(p, limit)
			took := processor() - start
			spent += took
			if !ok {
				r.Cut++
				most += max(took, atMost)
				continue
			}
			most += took
			sum += length
			if before, both := lengths[i]; both && before != length {
				return fmt.Errorf("pair %d: LCS of %d by myers, %d by go-diff", i, before, length)
			}
			lengths[i] = length
		}
		r.Chars /= max(2*len(pairs), 1)
		r.LCS = float64(sum) / float64(max(len(pairs)-r.Cut, 1))
		r.Seconds, r.Rate = spent.Seconds(), float64(len(pairs))/spent.Seconds()
		if r.Cut == 0 || alg.name == "myers" {
			r.Least = float64(len(pairs)) / most.Seconds()
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return nil
}

type result struct {
	Name    string  `json:"name"`
	Pairs   int     `json:"pairs"`
	Chars   int     `json:"mean_chars"`
	LCS     float64 `json:"mean_result"` // of the pairs that were not given up
	Cut     int     `json:"given_up"`
	Seconds float64 `json:"cpu_s"`
	Rate    float64 `json:"pairs/s"`
	Least   float64 `json:"least pairs/s,omitempty"`
}

// processor is the processor time of this process until now, with that of the
// garbage collector.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func read(path string, chars int) (pairs []pair, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	cut := func(s string) []rune {
		r := []rune(s)
		if chars > 0 && len(r) > chars {
			r = r[:chars]
		}
		return r
	}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var p struct{ A, B string }
		if err := json.Unmarshal(in.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("%s: pair %d: %w", path, len(pairs), err)
		}
		pairs = append(pairs, pair{cut(p.A), cut(p.B)})
	}
	if in.Err() == nil && len(pairs) == 0 {
		return nil, fmt.Errorf("%s: no pairs", path)
	}
	return pairs, in.Err()
}

// myers is the length of the LCS by the algorithm of figure 2 of Myers, "An
// O(ND) Difference Algorithm and Its Variations", Algorithmica 1 (1986), line
// by line: V keeps the last round only, so there is no script. It gives up
// after the limit, and says how long at most it would have gone on.
//
// The bound: D is at most what is left when the commonest character that both
// have is matched, and round d has d+1 diagonals.
func myers(a, b []rune, limit time.Duration) (length int, most time.Duration, ok bool) {
	start := time.Now()
	n, m := len(a), len(b)
	v := make([]int, 2*(n+m)+3)
	zero := n + m + 1
	for d := 0; ; d++ {
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && v[zero+k-1] < v[zero+k+1] {
				x = v[zero+k+1]
			} else {
				x = v[zero+k-1] + 1
			}
			y := x - k
			for x < n && y < m && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[zero+k] = x
			if x >= n && y >= m {
				return (n + m - d) / 2, 0, true
			}
		}
		if took := time.Since(start); d%64 == 63 && took > limit {
			times := float64(n+m-2*commonest(a, b)) / float64(d)
			return 0, time.Duration(times * times * float64(took)), false
		}
	}
}

// commonest is how often the character that is commonest in both occurs.
func commonest(a, b []rune) (n int) {
	inA, inB := make(map[rune]int), make(map[rune]int)
	for _, r := range a {
		inA[r]++
	}
	for _, r := range b {
		inB[r]++
		n = max(n, min(inA[r], inB[r]))
	}
	return n
}

// goDiff is the length of the LCS by go-diff's DiffBisect: Myers' algorithm
// from both ends, as DiffMain calls it for texts without lines once it has
// taken off what both begin and end with, so that is done here. Without a
// timeout of the library it is exact; the deadline is only for giving up.
func goDiff(a, b []rune, limit time.Duration) (length int, most time.Duration, ok bool) {
	deadline := time.Now().Add(limit)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, length = a[1:], b[1:], length+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b, length = a[:len(a)-1], b[:len(b)-1], length+1
	}
	if len(a) == 0 || len(b) == 0 {
		return length, 0, true
	}
	diff := diffmatchpatch.New()
	diff.DiffTimeout = 0
	for _, d := range diff.DiffBisect(string(a), string(b), deadline) {
		if d.Type == diffmatchpatch.DiffEqual {
			length += len([]rune(d.Text))
		}
	}
	return length, 0, time.Now().Before(deadline)
}
