package terms_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"neardup/signature"
	scheme "neardup/signature/terms"
	"neardup/verify"
	"neardup/verify/terms"
)

// dated is a text with the days that its lines begin with, as 2024-12-31.
type dated struct {
	text string
	days []int
}

// texts returns the texts of readTexts.
func texts(b *testing.B) []string {
	out := []string{}
	for _, t := range readTexts(b) {
		out = append(out, t.text)
	}
	return out
}

// readTexts reads the file named by NEARDUP_TEXTS: a text a line, after the last
// tab; gzip if its name ends so. Each text once, as in the paper's choice of
// gram size and feature number: "with no identical duplicates". They come in an
// arbitrary order, so that the first tenth is like the rest.
func readTexts(b *testing.B) []dated {
	name := os.Getenv("NEARDUP_TEXTS")
	if name == "" {
		b.Skip("NEARDUP_TEXTS names no file of texts")
	}
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			b.Fatal(err)
		}
	}
	var out []dated
	at := map[string]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		s := lines.Text()
		text := s[strings.LastIndexByte(s, '\t')+1:]
		i, ok := at[text]
		if !ok {
			i, at[text] = len(out), len(out)
			out = append(out, dated{text: text})
		}
		if day, err := time.Parse(time.DateOnly, s[:min(len(s), len(time.DateOnly))]); err == nil {
			out[i].days = append(out[i].days, int(day.Unix()/(24*60*60)))
		}
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
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

// fingerprints returns the signatures of all texts, and how many there are.
func fingerprints(o scheme.Options, texts []string) ([][]signature.Signature, int) {
	s, n := scheme.New(o), 0
	out := make([][]signature.Signature, len(texts))
	for i, t := range texts {
		out[i] = s.Sign(nil, t)
		n += len(out[i])
	}
	return out, n
}

// wordPairs returns what the paper's baseline meets by: "texts with at least two
// continuous words in common", of those that weigh anything.
func wordPairs(w scheme.Weighing, texts []string) [][][2]uint64 {
	weigher := scheme.NewWeigher(w)
	out := make([][][2]uint64, len(texts))
	for i, t := range texts {
		all := weigher.Append(nil, t)
		for j := 1; j < len(all); j++ {
			out[i] = append(out[i], [2]uint64{all[j-1].Hash, all[j].Hash})
		}
		if len(all) == 1 {
			out[i] = append(out[i], [2]uint64{all[0].Hash})
		}
	}
	return out
}

// candidates calls pair with each two documents that have a key in common, once.
func candidates[K comparable](keys [][]K, pair func(i, j int)) {
	lists := map[K][]int32{}
	seen := make([]int, len(keys))
	for i, of := range keys {
		for _, k := range of {
			list := lists[k]
			for _, j := range list {
				if int(j) != i && seen[j] != i+1 {
					seen[j] = i + 1
					pair(i, int(j))
				}
			}
			if len(list) == 0 || int(list[len(list)-1]) != i {
				lists[k] = append(list, int32(i))
			}
		}
	}
}

// collection is texts with their measure.
type collection struct {
	texts []string
	o     terms.Options
	docs  []verify.Document
	c     verify.Comparer
}

func newCollection(o terms.Options, texts []string) *collection {
	m := terms.New(o)
	c := &collection{texts: texts, o: o, docs: make([]verify.Document, len(texts)), c: m.Comparer()}
	for i, t := range texts {
		c.docs[i] = m.Prepare(t)
	}
	return c
}

// found is what a search has: near pairs, texts that are in one, and how many
// pairs were compared.
type found struct {
	pairs    map[[2]int32]bool
	texts    map[int32]bool
	compared int
}

func search[K comparable](c *collection, keys [][]K) found {
	f := found{map[[2]int32]bool{}, map[int32]bool{}, 0}
	candidates(keys, func(i, j int) {
		f.compared++
		if c.c.Compare(c.docs[i], c.docs[j]).Near {
			f.pairs[[2]int32{int32(j), int32(i)}] = true
			f.texts[int32(i)], f.texts[int32(j)] = true, true
		}
	})
	return f
}

// recall returns the paper's, of texts: "the ratio of the number of duplicate text
// detected by algorithm A to the number of duplicate text detected by the
// base-line algorithm"; and that of pairs.
func (f found) recall(baseline found) (texts, pairs float64) {
	both := 0
	for p := range f.pairs {
		if baseline.pairs[p] {
			both++
		}
	}
	return float64(len(f.texts)) / float64(len(baseline.texts)), float64(both) / float64(len(baseline.pairs))
}

func report(b *testing.B, baseline, f found, prints int) {
	t, p := f.recall(baseline)
	b.ReportMetric(t, "recall-texts")
	b.ReportMetric(p, "recall-pairs")
	b.ReportMetric(float64(f.compared), "compared")
	b.ReportMetric(float64(len(f.pairs)), "pairs")
	b.ReportMetric(float64(prints), "fingerprints")
	b.ReportMetric(0, "ns/op") // one run says nothing
}

// BenchmarkRecall is figures 3 to 6 of the paper, with both orders of features.
func BenchmarkRecall(b *testing.B) {
	texts := texts(b)
	for _, w := range []struct {
		name string
		o    scheme.Options
	}{{"preset", preset}, {"paper", paper}} {
		o := w.o
		o.Extra, o.MaxFeatures = 3, 0
		c := newCollection(measured(o), texts)
		baseline := search(c, wordPairs(o.Weighing, texts))
		b.Run(w.name+"/baseline", func(b *testing.B) { report(b, baseline, baseline, 0) })
		for _, order := range []string{scheme.ByText, scheme.ByWeight} {
			o.Order = order
			run := func(name string, o scheme.Options) {
				b.Run(w.name+"/"+order+"/"+name, func(b *testing.B) {
					keys, n := fingerprints(o, texts)
					report(b, baseline, search(c, keys), n)
				})
			}
			for n := 1; n <= 6; n++ { // figures 3 and 4
				o := o
				o.Gram, o.Extra = n, n
				run(fmt.Sprintf("gram=%d", n), o)
			}
			for _, n := range []int{3, 4, 5, 6, 8, 10, 12} { // figures 5 and 6
				o := o
				o.MaxFeatures = n
				run(fmt.Sprintf("features=%d", n), o)
			}
			for _, n := range []int{0, 1, 2, 3, 4, 6, 8, 1000} {
				o := o
				o.Extra = n
				run(fmt.Sprintf("extra=%d", n), o)
			}
		}
	}
}

// BenchmarkTransitivity is remark 2: how many comparisons it saves to take
// texts that are linked already for near, and what is wrong with them.
func BenchmarkTransitivity(b *testing.B) {
	texts := texts(b)
	b.Run("preset", func(b *testing.B) { transitivity(b, preset, texts) })
	b.Run("paper", func(b *testing.B) { transitivity(b, paper, texts) })
}

func transitivity(b *testing.B, o scheme.Options, texts []string) {
	c := newCollection(measured(o), texts)
	keys, _ := fingerprints(o, texts)
	all := search(c, keys)
	b.Run("off", func(b *testing.B) { report(b, all, all, 0) })
	b.Run("on", func(b *testing.B) {
		in := make([]int, len(texts))
		for i := range in {
			in[i] = i
		}
		root := func(i int) int {
			for in[i] != i {
				in[i] = in[in[i]]
				i = in[i]
			}
			return i
		}
		compared, links := 0, 0
		candidates(keys, func(i, j int) {
			if root(i) == root(j) {
				return
			}
			compared++
			if c.c.Compare(c.docs[i], c.docs[j]).Near {
				links++
				in[root(i)] = root(j)
			}
		})
		clusters := map[int][]int{}
		for i := range texts {
			clusters[root(i)] = append(clusters[root(i)], i)
		}
		joined, below, largest := 0, 0, 0
		for _, of := range clusters {
			largest = max(largest, len(of))
			for x, i := range of {
				for _, j := range of[:x] {
					joined++
					if !c.c.Compare(c.docs[i], c.docs[j]).Near {
						below++
					}
				}
			}
		}
		lost := 0
		for p := range all.pairs {
			if root(int(p[0])) != root(int(p[1])) {
				lost++
			}
		}
		b.ReportMetric(float64(compared), "compared")
		b.ReportMetric(float64(links), "links")
		b.ReportMetric(float64(joined), "joined")
		b.ReportMetric(float64(below), "joined-below")
		b.ReportMetric(float64(lost), "lost")
		b.ReportMetric(float64(largest), "largest")
	})
	b.Run("potential", func(b *testing.B) {
		near := make([][]int32, len(texts))
		for p := range all.pairs {
			near[p[0]] = append(near[p[0]], p[1])
			near[p[1]] = append(near[p[1]], p[0])
		}
		potential := map[[2]int32]bool{}
		for _, of := range near { // the paper's: A r B and B r C
			slices.Sort(of)
			for x, i := range of {
				for _, j := range of[:x] {
					potential[[2]int32{j, i}] = true
				}
			}
		}
		below := 0
		for p := range potential {
			if !c.c.Compare(c.docs[p[0]], c.docs[p[1]]).Near {
				below++
			}
		}
		b.ReportMetric(float64(len(potential)), "potential")
		b.ReportMetric(float64(below), "below")
		b.ReportMetric(float64(below)/float64(len(potential)), "share")
	})
}

// BenchmarkGrowth is figures 7 to 10: processor time and memory by the size of
// the collection, from texts in memory to near pairs, on one goroutine. The
// dictionary is loaded before.
func BenchmarkGrowth(b *testing.B) {
	texts := texts(b)
	fingerprints(preset, texts[:1000])
	for _, percent := range []int{10, 25, 50, 100} {
		part := texts[:len(texts)*percent/100]
		b.Run(fmt.Sprintf("percent=%d", percent), func(b *testing.B) {
			var f found
			var before, after runtime.MemStats
			cpu := processorTime()
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				keys, _ := fingerprints(preset, part)
				c := newCollection(measured(preset), part)
				f = search(c, keys)
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(keys)
				runtime.KeepAlive(c)
			}
			b.ReportMetric(float64((processorTime()-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
			b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/(1<<20), "MB")
			b.ReportMetric(float64(len(part)), "texts")
			b.ReportMetric(float64(f.compared), "compared")
			b.ReportMetric(float64(len(f.pairs)), "pairs")
		})
	}
}
