package ppjoin_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"neardup/cluster/hamming"
	"neardup/cluster/ppjoin"
	"neardup/signature/minhash"
	"neardup/signature/simhash"
	"neardup/signature/tokens"
	"neardup/signature/words"
)

// BenchmarkClusters is texts to clusters, single link, by several methods: how
// many there are, and what they cost. With NEARDUP_CLUSTERS naming a directory,
// METHOD.jsonl there has them, for labels to score; the file that
// NEARDUP_TEXTS names needs lines of JSON with "id" and "text" then.
func BenchmarkClusters(b *testing.B) {
	texts := texts(b)
	for _, m := range []struct {
		name string
		of   func() [][]int
	}{
		// 128 permutations in 16 bands, as docs/peers/minhash_texts.py.
		{"minhash-16x8", func() [][]int { return byMinHash(texts, minhash.LSH{Rows: 8, Bands: 16}) }},
		{"minhash-17x5", func() [][]int { return byMinHash(texts, minhash.LSH{Rows: 5, Bands: 17}) }},
		{"simhash-3", func() [][]int { return bySimhash(b, texts, 1, simhash.DistanceManku) }},
		{"simhash-shingles-3", func() [][]int { return bySimhash(b, texts, 3, simhash.DistanceManku) }},
		{"join-0.7", func() [][]int { return byJoin(b, texts, .7) }},
		{"join-0.8", func() [][]int { return byJoin(b, texts, .8) }},
	} {
		b.Run(m.name, func(b *testing.B) {
			var found [][]int
			cpu := processorTime()
			for b.Loop() {
				found = m.of()
			}
			cpu = processorTime() - cpu
			members := 0
			for _, c := range found {
				members += len(c)
			}
			b.ReportMetric(float64(len(texts)*b.N)/cpu.Seconds(), "texts/cpu-s")
			b.ReportMetric(float64(len(found)), "clusters")
			b.ReportMetric(float64(members), "members")
			if dir := os.Getenv("NEARDUP_CLUSTERS"); dir != "" {
				writeClusters(b, filepath.Join(dir, m.name+".jsonl"), found)
			}
		})
	}
}

// byMinHash is shingles of 5 words, signatures of one permutation a component,
// candidates by bands whose signatures agree to seven tenths.
func byMinHash(texts []string, lsh minhash.LSH) [][]int {
	shingler, signer := words.Shingler{W: 5}, minhash.New(lsh.Components(), 42)
	signatures, keys := make([][]uint32, len(texts)), make([][]uint64, len(texts))
	var features []uint64
	for i, s := range texts {
		features = shingler.Append(features[:0], s)
		signatures[i] = signer.Sign(nil, features)
		keys[i] = lsh.AppendKeys(nil, signatures[i])
	}
	l := newLinks(len(texts))
	index := bandKeys{Documents: len(texts), Bands: lsh.Bands, Of: func(i int) []uint64 { return keys[i] }}
	for p := range index.Pairs() {
		if x, y := int(p.A), int(p.B); !l.linked(x, y) && agreement(signatures[x], signatures[y]) >= .7 {
			l.link(x, y)
		}
	}
	return l.clusters()
}

// bySimhash is simhashes of shingles, by how often they occur.
func bySimhash(tb testing.TB, texts []string, width, distance int) [][]int {
	d, err := hamming.Choose(simhash.Bits, distance, float64(len(texts)), hamming.EntryMemory)
	if err != nil {
		tb.Fatal(err)
	}
	shingler := words.Shingler{W: width}
	var features, signatures []uint64
	var places []int
	for i, s := range texts {
		features = shingler.Append(features[:0], s)
		if signature, ok := simhash.OfHashes(features); ok {
			signatures, places = append(signatures, signature), append(places, i)
		}
	}
	type entry struct {
		key   []byte
		place int
	}
	var entries []entry
	for table := range d.Len() {
		for i, s := range signatures {
			entries = append(entries, entry{d.AppendKey(nil, table, s), places[i]})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	l := newLinks(len(texts))
	scan := hamming.NewScan(d, func(a, b, _ int) error {
		l.link(a, b)
		return nil
	})
	for _, e := range entries {
		if err := scan.Add(e.key, e.place); err != nil {
			tb.Fatal(err)
		}
	}
	return l.clusters()
}

// byJoin is the exact Jaccard similarity of shingles of 5 words.
func byJoin(tb testing.TB, texts []string, threshold float64) [][]int {
	c := collection(tb, tokens.Options{Unit: tokens.Letters, Size: 5, Alone: true}, texts)
	l := newLinks(len(texts))
	if _, err := ppjoin.Self(context.Background(), c, ppjoin.Options{Threshold: threshold, Bitmaps: true}, func(p ppjoin.Pair) error {
		l.link(p.A, p.B)
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	return l.clusters()
}

// links joins texts by single link.
type links []int

func newLinks(n int) links {
	l := make(links, n)
	for i := range l {
		l[i] = i
	}
	return l
}

func (l links) root(i int) int {
	for l[i] != i {
		l[i] = l[l[i]]
		i = l[i]
	}
	return i
}

func (l links) linked(i, j int) bool { return l.root(i) == l.root(j) }

func (l links) link(i, j int) {
	x, y := l.root(i), l.root(j)
	l[max(x, y)] = min(x, y)
}

// clusters returns the clusters of two and more texts, by their first text.
func (l links) clusters() [][]int {
	of := make([][]int, len(l))
	for i := range l {
		of[l.root(i)] = append(of[l.root(i)], i)
	}
	return slices.DeleteFunc(of, func(c []int) bool { return len(c) < 2 })
}

// writeClusters writes what scoring tools read: a line a cluster.
func writeClusters(tb testing.TB, name string, clusters [][]int) {
	tb.Helper()
	var ids []string
	in, err := os.Open(os.Getenv("NEARDUP_TEXTS"))
	if err != nil {
		tb.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		var row struct{ ID string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			tb.Fatalf("NEARDUP_TEXTS is for clusters a file of JSON lines with id: %v", err)
		}
		ids = append(ids, row.ID)
	}
	out, err := os.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriter(out)
	for _, c := range clusters {
		type member struct {
			ID string `json:"record_id"`
		}
		var members []member
		for _, i := range c {
			members = append(members, member{ids[i]})
		}
		line, err := json.Marshal(map[string]any{"members": members})
		if err != nil {
			tb.Fatal(err)
		}
		fmt.Fprintf(w, "%s\n", line)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := out.Close(); err != nil {
		tb.Fatal(err)
	}
}

// agreement returns the share of components that agree.
func agreement(a, b []uint32) float64 {
	equal := 0
	for i, v := range a {
		if v == b[i] {
			equal++
		}
	}
	return float64(equal) / float64(max(1, len(a)))
}
