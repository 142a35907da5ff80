// Allpairs finds all pairs of texts with a Jaccard similarity at or above a
// threshold as the Python package SetSimilaritySearch does, in plain Go: the
// All-Pairs algorithm (R. Bayardo, Y. Ma, R. Srikant, Scaling up all pairs
// similarity search, WWW 2007) with its position filter: tokens numbered by
// frequency, an inverted index of prefixes, a map of candidates, and the whole
// intersection of each. It is a yardstick of what the language alone brings.
//
// Usage:
//
//	allpairs [-threshold 0.8] [-tokens words|characters] [-size 1] TEXTS
//
// TEXTS is as for joins_texts.py, and so is the line of JSON that is printed.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	threshold := flag.Float64("threshold", 0.8, "of the Jaccard similarity")
	unit := flag.String("tokens", "words", "words or characters")
	size := flag.Int("size", 1, "consecutive units in a token")
	flag.Parse()
	if err := run(flag.Args(), *threshold, *unit, *size); err != nil {
		fmt.Fprintln(os.Stderr, "allpairs:", err)
		os.Exit(1)
	}
}

func run(args []string, threshold float64, unit string, size int) error {
	if len(args) != 1 || unit != "words" && unit != "characters" || size < 1 {
		return fmt.Errorf("usage: allpairs [-threshold 0.8] [-tokens words|characters] [-size 1] TEXTS")
	}
	texts, err := read(args[0])
	if err != nil {
		return err
	}
	start := processor()
	var sets [][]string
	for _, s := range texts {
		if set := tokens(s, unit, size); len(set) > 0 {
			sets = append(sets, set)
		}
	}
	cut := processor()
	pairs := 0
	allPairs(order(sets), threshold, func(a, b int, similarity float64) { pairs++ })
	end := processor()
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"name": "plain Go", "texts": len(texts), "pairs": pairs,
		"tokenize-ms": (cut - start).Milliseconds(), "cpu-ms": (end - start).Milliseconds(),
	})
}

func read(path string) (texts []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		s := lines.Text()
		if strings.HasPrefix(s, "{") {
			var row struct{ Text string }
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				return nil, err
			}
			texts = append(texts, row.Text)
			continue
		}
		texts = append(texts, s[strings.LastIndexByte(s, '\t')+1:])
	}
	return texts, lines.Err()
}

// tokens are the set of a text's tokens.
func tokens(text, unit string, size int) []string {
	var units []string
	if unit == "words" {
		units = strings.Fields(strings.ToLower(text))
	} else {
		units = strings.Split(text, "")
	}
	between := ""
	if unit == "words" {
		between = " "
	}
	seen := map[string]bool{}
	var out []string
	for i := 0; len(units) > 0 && i < max(1, len(units)-size+1); i++ {
		t := units[i]
		if size > 1 {
			t = strings.Join(units[i:min(i+size, len(units))], between)
		}
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// order numbers the tokens, rare ones first, and sorts the sets by that.
func order(sets [][]string) [][]int {
	counts := map[string]int{}
	for _, s := range sets {
		for _, t := range s {
			counts[t]++
		}
	}
	all := make([]string, 0, len(counts))
	for t := range counts {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[a] - counts[b]
		}
		return strings.Compare(a, b)
	})
	rank := make(map[string]int, len(all))
	for i, t := range all {
		rank[t] = i
	}
	out := make([][]int, len(sets))
	for i, s := range sets {
		for _, t := range s {
			out[i] = append(out[i], rank[t])
		}
		slices.Sort(out[i])
	}
	return out
}

type posting struct{ set, place int }

func allPairs(sets [][]int, threshold float64, emit func(a, b int, similarity float64)) {
	bySize := make([]int, len(sets))
	for i := range bySize {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return len(sets[a]) - len(sets[b]) })
	index := map[int][]posting{}
	for _, x := range bySize {
		s := sets[x]
		prefix := s[:min(len(s), len(s)-int(float64(len(s))*threshold)+1)]
		candidates := map[int]bool{}
		for i, t := range prefix {
			for _, p := range index[t] {
				y := sets[p.set]
				if float64(min(len(s)-i, len(y)-p.place))/float64(max(len(s), len(y))) >= threshold {
					candidates[p.set] = true
				}
			}
		}
		for y := range candidates {
			common := 0
			for i, j := 0, 0; i < len(s) && j < len(sets[y]); {
				switch a, b := s[i], sets[y][j]; {
				case a == b:
					common++
					i++
					j++
				case a < b:
					i++
				default:
					j++
				}
			}
			if similarity := float64(common) / float64(len(s)+len(sets[y])-common); similarity >= threshold {
				emit(max(x, y), min(x, y), similarity)
			}
		}
		for i, t := range prefix {
			index[t] = append(index[t], posting{x, i})
		}
	}
}

// processor is the processor time of this process until now.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
