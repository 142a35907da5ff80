//go:build unix

package hamming

import (
	"bufio"
	"compress/gzip"
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"neardup/signature/simhash"
)

// texts reads the file that NEARDUP_TEXTS names, as in neardup/cluster/ppjoin:
// a text a line, after the last tab, or as "text" of a JSON object; gzip if
// its name ends so.
func texts(tb testing.TB) (out []string) {
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
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<30)
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

// grams appends the hashes of the runs of four letters, digits and underscores
// of a text, in lower case and without what is between them: the features that
// the Python package simhash takes by default. A shorter text is one.
func grams(dst []uint64, text string, hash func([]rune) uint64) []uint64 {
	var window []rune
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' {
			continue
		}
		if window = append(window, unicode.ToLower(r)); len(window) >= 4 {
			dst = append(dst, hash(window[len(window)-4:]))
		}
	}
	if len(dst) == 0 {
		dst = append(dst, hash(window))
	}
	return dst
}

// byMD5 returns the hash of that package: the signatures are the same, and so are
// the pairs.
func byMD5(gram []rune) uint64 {
	var b [4 * utf8.UTFMax]byte
	s := b[:0]
	for _, r := range gram {
		s = utf8.AppendRune(s, r)
	}
	sum := md5.Sum(s)
	return binary.BigEndian.Uint64(sum[8:])
}

// byMixing returns a hash that costs little, the finalizer of SplitMix64.
func byMixing(gram []rune) (x uint64) {
	for _, r := range gram {
		x = x<<21 | x>>43 ^ uint64(r)
	}
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func signatures(texts []string, hash func([]rune) uint64) []uint64 {
	out := make([]uint64, len(texts))
	var features []uint64
	for i, s := range texts {
		features = grams(features[:0], s, hash)
		out[i], _ = simhash.OfHashes(features)
	}
	return out
}

// TestTexts: the signatures of real texts, compared with all others.
func TestTexts(t *testing.T) {
	all := signatures(texts(t), byMD5)
	all = all[:min(len(all), 20_000)]
	for _, distance := range []int{0, simhash.DistanceManku, simhash.Distance} {
		want := linear(all, 64, distance)
		for blocks := distance + 1; blocks <= distance+3; blocks++ {
			d, err := newTables(64, distance, blocks)
			if err != nil {
				t.Fatal(err)
			}
			got := map[Pair]bool{}
			for p := range d.Pairs(all) {
				if got[p] {
					t.Errorf("distance %d, %d blocks: %v twice", distance, blocks, p)
				}
				got[p] = true
			}
			if !maps.Equal(got, want) {
				t.Errorf("distance %d, %d blocks: %d pairs, want %d", distance, blocks, len(got), len(want))
			}
		}
		t.Logf("distance %d: %d signatures, %d pairs", distance, len(all), len(want))
	}
}

// BenchmarkTextToPairs is texts in memory to the pairs at distance 3, and the
// second part of it alone.
func BenchmarkTextToPairs(b *testing.B) {
	texts := texts(b)
	d, err := Choose(64, simhash.DistanceManku, float64(len(texts)), EntryMemory)
	if err != nil {
		b.Fatal(err)
	}
	found := 0
	count := func(all []uint64) {
		found = 0
		for range d.Pairs(all) {
			found++
		}
	}
	report := func(b *testing.B, cpu time.Duration) {
		b.ReportMetric(float64(len(texts)*b.N)/cpu.Seconds(), "texts/cpu-s")
		b.ReportMetric(float64(found), "pairs")
		b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms")
	}
	for _, h := range []struct {
		name string
		hash func([]rune) uint64
	}{{"md5", byMD5}, {"mixed", byMixing}} {
		b.Run(h.name, func(b *testing.B) {
			cpu := processorTime()
			for b.Loop() {
				count(signatures(texts, h.hash))
			}
			report(b, processorTime()-cpu)
		})
	}
	b.Run("signatures", func(b *testing.B) {
		all := signatures(texts, byMD5)
		cpu := processorTime()
		for b.Loop() {
			count(all)
		}
		report(b, processorTime()-cpu)
	})
}

// processorTime returns the processor time of this process so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
