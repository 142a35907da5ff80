//go:build unix

package minhash

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"neardup/signature/words"
)

// texts returns the texts of the file of JSON lines {"text": ...} that NEARDUP_TEXTS
// names (docs/peers/extract_fastwarc.py --texts writes such); without it, made
// up ones: 1,000 of about 500 words, every other a variant of the one before.
func texts(b *testing.B) (all []string, bytes int64) {
	if name := os.Getenv("NEARDUP_TEXTS"); name != "" {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<30)
		for lines.Scan() {
			var v struct{ Text string }
			if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
				b.Fatal(err)
			}
			all = append(all, v.Text)
		}
		if err := lines.Err(); err != nil {
			b.Fatal(err)
		}
	} else {
		r := rand.New(rand.NewPCG(1, 1))
		var text []string
		for i := range 1000 {
			if i%2 == 0 {
				text = nil
				for range 250 + r.IntN(500) {
					text = append(text, fmt.Sprintf("word%d", r.IntN(20000)))
				}
			} else {
				text[r.IntN(len(text))] = "changed"
			}
			all = append(all, strings.Join(text, " "))
		}
	}
	for _, s := range all {
		bytes += int64(len(s))
	}
	return all, bytes
}

// BenchmarkShingles is text to features.
func BenchmarkShingles(b *testing.B) {
	all, bytes := texts(b)
	s := words.Shingler{W: 5}
	var features []uint64
	n := 0
	b.SetBytes(bytes)
	for b.Loop() {
		n = 0
		for _, t := range all {
			features = s.Append(features[:0], t)
			n += len(features)
		}
	}
	b.ReportMetric(float64(n)/float64(len(all)), "features/text")
}

// BenchmarkSign is features to signatures, in ns a document.
func BenchmarkSign(b *testing.B) {
	for _, components := range []int{32, 128, 512} {
		for _, features := range []int{1, 10, 100, 1000, 10000} {
			b.Run(fmt.Sprintf("%d/%d", components, features), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				documents := make([][]uint64, 64)
				for i := range documents {
					for range features {
						documents[i] = append(documents[i], r.Uint64())
					}
				}
				s := New(components, 42)
				var signature []uint32
				i := 0
				for b.Loop() {
					signature = s.Sign(signature[:0], documents[i%len(documents)])
					i++
				}
			})
		}
	}
}

// BenchmarkPlain is the usual way, for comparison: 32 bits of ax+b for each
// component and feature, minima in registers.
func BenchmarkPlain(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	features := make([]uint64, 1000)
	for i := range features {
		features[i] = r.Uint64()
	}
	var as, bs, minima [128]uint32
	for i := range as {
		as[i], bs[i] = r.Uint32()|1, r.Uint32()
	}
	for b.Loop() {
		for i := 0; i < len(as); i += 8 {
			a0, a1, a2, a3, a4, a5, a6, a7 := as[i], as[i+1], as[i+2], as[i+3], as[i+4], as[i+5], as[i+6], as[i+7]
			b0, b1, b2, b3, b4, b5, b6, b7 := bs[i], bs[i+1], bs[i+2], bs[i+3], bs[i+4], bs[i+5], bs[i+6], bs[i+7]
			m0, m1, m2, m3, m4, m5, m6, m7 := ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)
			for _, f := range features {
				x := uint32(f >> 32)
				m0, m1, m2, m3 = min(m0, a0*x+b0), min(m1, a1*x+b1), min(m2, a2*x+b2), min(m3, a3*x+b3)
				m4, m5, m6, m7 = min(m4, a4*x+b4), min(m5, a5*x+b5), min(m6, a6*x+b6), min(m7, a7*x+b7)
			}
			minima[i], minima[i+1], minima[i+2], minima[i+3] = m0, m1, m2, m3
			minima[i+4], minima[i+5], minima[i+6], minima[i+7] = m4, m5, m6, m7
		}
	}
}

// BenchmarkClusters is text to clusters, as in docs/peers/minhash_rensa.py:
// shingles of 5 words, signatures of 128 components, candidates that agree in a
// band and whose signatures agree to seven tenths, single link.
func BenchmarkClusters(b *testing.B) {
	all, bytes := texts(b)
	c := LSH{Rows: 8, Bands: 16} // what minhash_rensa.py takes for .7
	b.SetBytes(bytes)
	clusters, members := 0, 0
	start := processor(b)
	for b.Loop() {
		clusters, members = clusterTexts(all, c, .7)
	}
	b.ReportMetric(float64(len(all)*b.N)/(processor(b)-start).Seconds(), "texts/cpu-s")
	b.ReportMetric(float64(clusters), "clusters")
	b.ReportMetric(float64(members), "members")
}

// processor returns the processor time of this process until now.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func clusterTexts(all []string, c LSH, threshold float64) (clusters, members int) {
	s, signer := words.Shingler{W: 5}, New(c.Components(), 42)
	var features []uint64
	signatures := make([][]uint32, len(all))
	keys := make([][]uint64, len(all))
	for i, t := range all {
		features = s.Append(features[:0], t)
		signatures[i] = signer.Sign(nil, features)
		keys[i] = c.AppendKeys(nil, signatures[i])
	}
	parent := make([]int, len(all))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for band := range c.Bands {
		buckets := map[uint64][]int{}
		for y := range all {
			for _, x := range buckets[keys[y][band]] {
				if p, q := root(x), root(y); p != q && Estimate(signatures[x], signatures[y]) >= threshold {
					parent[q] = p
				}
			}
			buckets[keys[y][band]] = append(buckets[keys[y][band]], y)
		}
	}
	sizes := make([]int, len(all))
	for i := range all {
		sizes[root(i)]++
	}
	for _, n := range sizes {
		if n > 1 {
			clusters++
			members += n
		}
	}
	return clusters, members
}
