package terms

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/andybalholm/brotli"
	"github.com/go-ego/gse"
)

var update = flag.Bool("update", false, "rewrite words.br from the dictionary of gse")

// segmenter is that of gse, the oracle for segment.
var segmenter = sync.OnceValue(func() *gse.Segmenter {
	s := &gse.Segmenter{SkipLog: true, NotLoadHMM: true}
	if err := s.LoadDictEmbed("zh"); err != nil {
		panic(err)
	}
	return s
})

// writeLexicon writes the dictionary of gse as readLexicon reads it.
func writeLexicon(t *testing.T) []byte {
	type part struct {
		name        string
		least, most uint64
	}
	type entry struct {
		letters   []rune
		part      string
		frequency uint64
	}
	parts := map[string]*part{}
	var entries []entry
	for _, token := range segmenter().Dict.Tokens {
		f := uint64(token.Freq())
		if float64(f) != token.Freq() || f == 0 || f >= 1<<31 {
			t.Fatalf("%s: the frequency %v is no number of 31 bits", token.Text(), token.Freq())
		}
		p := parts[token.Pos()]
		if p == nil {
			p = &part{token.Pos(), f, f}
			parts[token.Pos()] = p
		}
		p.least, p.most = min(p.least, f), max(p.most, f)
		if strings.IndexFunc(token.Text(), func(r rune) bool { return !unicode.Is(unicode.Han, r) }) < 0 {
			entries = append(entries, entry{[]rune(token.Text()), token.Pos(), f})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return slices.Compare(a.letters, b.letters) })
	var named []part
	for _, p := range parts {
		named = append(named, *p)
	}
	slices.SortFunc(named, func(a, b part) int { return cmp.Compare(a.name, b.name) })

	b := binary.AppendUvarint(nil, uint64(segmenter().Dict.TotalFreq()))
	b = binary.AppendUvarint(b, uint64(len(named)))
	for _, p := range named {
		b = append(binary.AppendUvarint(b, uint64(len(p.name))), p.name...)
		b = binary.AppendUvarint(binary.AppendUvarint(b, p.least), p.most)
	}
	b = binary.AppendUvarint(b, uint64(len(entries)))
	var columns [5][]byte
	var before []rune
	for _, e := range entries {
		shared := 0
		for shared < min(len(before), len(e.letters)) && before[shared] == e.letters[shared] {
			shared++
		}
		at, _ := slices.BinarySearchFunc(named, e.part, func(p part, name string) int { return cmp.Compare(p.name, name) })
		for i, n := range []int{shared, len(e.letters) - shared, at, int(e.frequency)} {
			columns[i] = binary.AppendUvarint(columns[i], uint64(n))
		}
		for _, r := range e.letters[shared:] {
			columns[4] = binary.AppendUvarint(columns[4], uint64(r))
		}
		before = e.letters
	}
	return append(b, slices.Concat(columns[:]...)...)
}

func TestWordsAreThoseOfGse(t *testing.T) {
	want := writeLexicon(t)
	if *update {
		var b bytes.Buffer
		w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
		_, _ = w.Write(want)
		_ = w.Close()
		if err := os.WriteFile("words.br", b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := io.ReadAll(brotli.NewReader(bytes.NewReader(words)))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("words.br is not the dictionary of this version of gse (%v); go test ./signature/terms -run TestWordsAreThoseOfGse -update", err)
	}
	d := dictionary()
	var least, most [groups]uint64
	for _, token := range segmenter().Dict.Tokens {
		g, f := groupOf(token.Pos()), uint64(token.Freq())
		if least[g] == 0 || f < least[g] {
			least[g] = f
		}
		most[g] = max(most[g], f)
	}
	if d.least != least || d.most != most {
		t.Errorf("least and most frequent: %v and %v, want %v and %v", d.least, d.most, least, most)
	}
}

func TestCutOffDictionary(t *testing.T) {
	whole, err := io.ReadAll(brotli.NewReader(bytes.NewReader(words)))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{nil, words[:100], words[:len(words)-1]} {
		if _, err := readLexicon(b); err == nil {
			t.Errorf("%d bytes are no error", len(b))
		}
	}
	var b bytes.Buffer
	w := brotli.NewWriterLevel(&b, brotli.BestSpeed)
	_, _ = w.Write(whole[:len(whole)-1])
	_ = w.Close()
	if _, err := readLexicon(b.Bytes()); err == nil {
		t.Error("the last byte is missing, which is no error")
	}
}

// checkSegment holds segment against gse.
func checkSegment(t *testing.T, run string) {
	t.Helper()
	var got, want []string
	for _, p := range dictionary().segment(nil, run) {
		got = append(got, p.text)
	}
	at := 0
	for i, s := range segmenter().Segment([]byte(run)) {
		want = append(want, run[s.Start():s.End()])
		p := dictionary().segment(nil, run)[min(i, len(got)-1)]
		if groupOf(s.Token().Pos()) != p.group || s.Token().Freq() != float64(p.frequency) {
			t.Errorf("%q: group %d and frequency %d, want those of %s, %v", p.text, p.group, p.frequency, s.Token().Pos(), s.Token().Freq())
		}
		at = s.End()
	}
	if at != len(run) || !slices.Equal(got, want) {
		t.Errorf("%q is cut into %q, want %q", run, got, want)
	}
}

// Words of the dictionary behind one another, cut anywhere, with characters
// between them that it has not.
func TestSegmentAgainstGse(t *testing.T) {
	tokens := segmenter().Dict.Tokens
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	r := rand.New(rand.NewPCG(21, 22))
	for range n {
		var run []rune
		for range 1 + r.IntN(8) {
			if r.IntN(10) == 0 {
				run = append(run, []rune{'龘', '㐀', '𠀀', '〇', '々', '⼀', '\U0003134a'}[r.IntN(7)])
			}
			run = append(run, []rune(tokens[r.IntN(len(tokens))].Text())...)
		}
		run = slices.DeleteFunc(run, func(r rune) bool { return !unicode.Is(unicode.Han, r) })
		if len(run) == 0 {
			continue
		}
		run = run[r.IntN(len(run)):]
		checkSegment(t, string(run[:min(len(run), chunk)]))
	}
	checkSegment(t, strings.Repeat("中", chunk))
	checkSegment(t, strings.Repeat("𠀀", chunk))
}

func BenchmarkSegment(b *testing.B) {
	tokens := segmenter().Dict.Tokens
	r := rand.New(rand.NewPCG(23, 24))
	var runs []string
	for range 1000 {
		var run []rune
		for len(run) < 40 {
			run = append(run, []rune(tokens[r.IntN(len(tokens))].Text())...)
		}
		runs = append(runs, string(slices.DeleteFunc(run, func(r rune) bool { return !unicode.Is(unicode.Han, r) })))
	}
	bytes := int64(len(strings.Join(runs, "")))
	b.Run("own", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			var room [chunk]piece
			for _, run := range runs {
				dictionary().segment(room[:0], run)
			}
		}
	})
	b.Run("gse", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			for _, run := range runs {
				segmenter().Segment([]byte(run))
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readLexicon(words); err != nil {
			b.Fatal(err)
		}
	}
}
