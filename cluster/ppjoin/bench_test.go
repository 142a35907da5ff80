package ppjoin_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"neardup/cluster/ppjoin"
	"neardup/signature/tokens"
)

// texts reads the file named by NEARDUP_TEXTS: a text a line, after the last
// tab, or as "text" of a JSON object; gzip if its name ends so.
func texts(tb testing.TB) []string {
	name := os.Getenv("NEARDUP_TEXTS")
	if name == "" {
		tb.Skip("NEARDUP_TEXTS names no file of texts")
	}
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			tb.Fatal(err)
		}
	}
	var out []string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		s := lines.Text()
		if strings.HasPrefix(s, "{") {
			var object struct{ Text string }
			if err := json.Unmarshal(lines.Bytes(), &object); err != nil {
				tb.Fatal(err)
			}
			out = append(out, object.Text)
			continue
		}
		out = append(out, s[strings.LastIndexByte(s, '\t')+1:])
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

var units = []struct {
	name string
	o    tokens.Options
}{
	{"words", tokens.Options{Unit: tokens.Words, Alone: true}},
	{"3-grams", tokens.Options{Unit: tokens.Characters, Size: 3, Alone: true}},
	{"5-grams", tokens.Options{Unit: tokens.Characters, Size: 5, Alone: true}},
}

func collection(tb testing.TB, o tokens.Options, texts []string) ppjoin.Collection {
	rs, err := tokens.Make(o, texts)
	if err != nil {
		tb.Fatal(err)
	}
	return ppjoin.Collection(rs[0])
}

// processorTime returns the processor time of this process so far, which says more than time where
// others use the machine.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTextToPairs is a self-join from texts in memory to pairs.
func BenchmarkTextToPairs(b *testing.B) {
	benchmarkTextToPairs(b, ppjoin.Jaccard)
}

// BenchmarkTextToCosine is the same by cosine.
func BenchmarkTextToCosine(b *testing.B) {
	benchmarkTextToPairs(b, ppjoin.Cosine)
}

func benchmarkTextToPairs(b *testing.B, measure ppjoin.Measure) {
	texts := texts(b)
	for _, u := range units {
		for _, threshold := range []float64{0.9, 0.8} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%v/workers=%d", u.name, threshold, workers), func(b *testing.B) {
					var tokenize time.Duration
					pairs := int64(0)
					cpu := processorTime()
					for b.Loop() {
						start := processorTime()
						u.o.Workers = workers
						c := collection(b, u.o, texts)
						tokenize += processorTime() - start
						o := ppjoin.Options{Measure: measure, Threshold: threshold, Bitmaps: true, Workers: workers}
						counts, err := ppjoin.Self(context.Background(), c, o, func(ppjoin.Pair) error { return nil })
						if err != nil {
							b.Fatal(err)
						}
						pairs = counts.Pairs
					}
					b.ReportMetric(milliseconds(b, processorTime()-cpu), "cpu-ms")
					b.ReportMetric(float64(pairs), "pairs")
					b.ReportMetric(milliseconds(b, tokenize), "tokenize-ms")
				})
			}
		}
	}
}

// BenchmarkEdit is the join by edit distance, from texts in memory.
func BenchmarkEdit(b *testing.B) {
	texts := texts(b)
	for _, most := range []int{1, 3} {
		b.Run(strconv.Itoa(most), func(b *testing.B) {
			var counts ppjoin.Counts
			for b.Loop() {
				var err error
				counts, err = ppjoin.SelfEdit(context.Background(), texts, ppjoin.EditOptions{Distance: most, Q: 4, Bitmaps: true}, func(ppjoin.EditPair) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(counts.Verified), "verified")
			b.ReportMetric(float64(counts.Pairs), "pairs")
		})
	}
}

func milliseconds(b *testing.B, d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000 / float64(b.N)
}
