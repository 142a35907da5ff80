package ring

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"neardup/extract/text"
	"neardup/signature"
)

var paper = Options{Rotations: 16, Modulus: 7, Smallest: 4, MinColumns: 16, Spread: 1, Weight: Log, Short: Abandon}

// slow transcribes the definition, without regard for time.
func slow(o Options, sentences []text.Sentence) []signature.Signature {
	type sentence struct {
		sum      [md5.Size]byte
		position int
		weight   int64
	}
	var counted []sentence
	raw, sentences := sentences, readings(o, sentences)
	count := func(least int) {
		seen := map[string]bool{}
		counted = nil
		for _, s := range sentences {
			if s.Columns <= least || seen[s.Text] {
				continue
			}
			seen[s.Text] = true
			w := int64(1)
			if o.Weight == Log {
				w = int64(math.Round(1024 * (1 + math.Log(float64(s.Columns)))))
			}
			counted = append(counted, sentence{md5.Sum([]byte(s.Text)), len(counted), w})
		}
	}
	if count(o.MinColumns); o.Few > 0 && len(counted) < 3 && o.MinColumns > 2 {
		count(2)
	}
	type derivative struct {
		*big.Int
		sentence
	}
	set := map[signature.Signature]bool{}
	for i := range o.Rotations {
		classes := map[int64][]derivative{}
		for _, s := range counted {
			v := new(big.Int).SetBytes(slices.Concat(s.sum[i:], s.sum[:i]))
			r := new(big.Int).Mod(v, big.NewInt(int64(o.Modulus))).Int64()
			classes[r] = append(classes[r], derivative{v, s})
		}
		for _, class := range classes {
			slices.SortFunc(class, func(a, b derivative) int { return a.Cmp(b.Int) })
			var chosen []derivative
			for _, d := range class {
				far := !slices.ContainsFunc(chosen, func(c derivative) bool {
					return max(c.position-d.position, d.position-c.position) < o.Spread
				})
				if far && len(chosen) < o.Smallest {
					chosen = append(chosen, d)
				}
			}
			if len(chosen) < o.Smallest {
				continue
			}
			v := new(big.Int)
			for bit := range 128 {
				sum := int64(0)
				for _, c := range chosen {
					sum += (2*int64(c.Bit(bit)) - 1) * c.weight
				}
				if sum > 0 {
					v.SetBit(v, bit, 1)
				}
			}
			set[signature.Signature(v.FillBytes(make([]byte, 16)))] = true
		}
	}
	if n := len(counted); 1 <= n && n <= o.Few {
		for without := range 1 << n { // the sentences that are left out
			if out := bits.OnesCount(uint(without)); out > 2 || out > 0 && n-out < 2 {
				continue
			}
			var sums []string
			for i, c := range counted {
				if without>>i&1 == 0 {
					sums = append(sums, string(c.sum[:]))
				}
			}
			slices.Sort(sums)
			set[md5.Sum([]byte(strings.Join(sums, "")))] = true
		}
	}
	if len(set) == 0 && o.Short == Whole {
		all, columns := "", 0
		for i, s := range sentences {
			all += s.Text + "\n"
			columns += raw[i].Columns
		}
		if columns > o.MinColumns {
			set[md5.Sum([]byte(all))] = true
		}
	}
	var out []signature.Signature
	for s := range set {
		out = append(out, s)
	}
	slices.SortFunc(out, compare)
	return out
}

var note = regexp.MustCompile(`\[[0-9]{1,3}\]`)

// readings returns what counts of sentences.
func readings(o Options, sentences []text.Sentence) []text.Sentence {
	if !o.Letters {
		return sentences
	}
	var out []text.Sentence
	for _, s := range sentences {
		letters := text.Letters(nil, note.ReplaceAllString(s.Text, ""))
		out = append(out, text.Sentence{Text: string(letters), Columns: text.LettersColumns(letters)})
	}
	return out
}

func compare(a, b signature.Signature) int { return bytes.Compare(a[:], b[:]) }

// document makes n sentences, some equal, some short, some Chinese.
func document(r *rand.Rand, n int) []text.Sentence {
	words := strings.Fields("page archive crawl near duplicate 网页 相似 文档 the of and signature ring sentence")
	var out []text.Sentence
	for range n {
		if len(out) > 0 && r.IntN(8) == 0 {
			out = append(out, out[r.IntN(len(out))])
			continue
		}
		if len(out) > 0 && r.IntN(8) == 0 { // typeset differently
			s := strings.ToUpper(strings.ReplaceAll(out[r.IntN(len(out))].Text, " ", "-"))
			out = append(out, text.Sentence{Text: s, Columns: text.Columns(s)})
			continue
		}
		if r.IntN(8) == 0 { // with notes, and what looks like them
			s := fmt.Sprintf("The archive has[%d] pages of 网页[%d]%d]", r.IntN(2000), r.IntN(20), r.IntN(3))
			out = append(out, text.Sentence{Text: s, Columns: text.Columns(s)})
			continue
		}
		w := make([]string, 1+r.IntN(20))
		for i := range w {
			w[i] = words[r.IntN(len(words))]
		}
		s := strings.Join(w, " ")
		out = append(out, text.Sentence{Text: s, Columns: text.Columns(s)})
	}
	return out
}

func check(t *testing.T, o Options, s *signer, doc []text.Sentence) {
	t.Helper()
	got, want := s.Sign(nil, doc), slow(o, doc)
	if !slices.Equal(got, want) {
		t.Fatalf("%+v, %d sentences:\n got %x\nwant %x", o, len(doc), got, want)
	}
}

func TestSignEqualsTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	variants := []Options{
		paper,
		{Rotations: 1, Modulus: 1, Smallest: 1, MinColumns: 0, Spread: 1, Weight: None, Short: Abandon},
		{Rotations: 16, Modulus: 7, Smallest: 2, MinColumns: 16, Spread: 5, Weight: Log, Short: Abandon},
		{Rotations: 3, Modulus: 2, Smallest: 33, MinColumns: 8, Spread: 1, Weight: Log, Short: Abandon},
		{Rotations: 16, Modulus: 4096, Smallest: 1, MinColumns: 16, Spread: 1, Weight: Log, Short: Abandon},
		{Rotations: 5, Modulus: 3, Smallest: 6, MinColumns: 40, Spread: 2, Weight: None, Short: Abandon},
		{Rotations: 4, Modulus: 1, Smallest: 3, MinColumns: 0, Spread: math.MaxInt, Weight: None, Short: Abandon},
		{Rotations: 16, Modulus: 7, Smallest: 3, MinColumns: 16, Spread: 1, Weight: Log, Short: Whole, Few: 8},
		{Rotations: 16, Modulus: 7, Smallest: 3, MinColumns: 16, Spread: 1, Weight: Log, Short: Whole, Few: 8, Letters: true},
	}
	for _, o := range variants {
		s := newSigner(o)
		for _, n := range []int{0, 1, 4, 30, 60, 200, 7} { // growing and shrinking: scratch is reused
			for range 4 {
				check(t, o, s, document(r, n))
			}
		}
	}
	for range 150 {
		o := Options{1 + r.IntN(16), 1 + r.IntN(20), 1 + r.IntN(9), r.IntN(60), 1 + r.IntN(6), []string{Log, None}[r.IntN(2)], []string{Whole, Abandon}[r.IntN(2)], r.IntN(12), r.IntN(2) == 0}
		check(t, o, newSigner(o), document(r, r.IntN(120)))
	}
}

func FuzzSign(f *testing.F) {
	f.Add([]byte{15, 6, 3, 16, 0, 0}, "one sentence, another sentence. a third one\n第一句话，第二句话。第三句话")
	f.Add([]byte{0, 0, 0, 0, 0, 1}, "a\nb\na\nc")
	f.Add([]byte{3, 2, 2, 4, 0, 66}, "One sentence - of many\nONE sentence—of many\nÜber uns\n第一 句话\nan other one")
	f.Add([]byte{4, 1, 1, 0, 2, 0}, "aa\nbbb\ncccc\nddddd\neeeeee\nfffffff\ngggggggg")
	f.Fuzz(func(t *testing.T, b []byte, page string) {
		if len(b) < 6 {
			return // no options in it
		}
		o := Options{1 + int(b[0]%16), 1 + int(b[1]), 1 + int(b[2]%32), int(b[3]), 1 + int(b[4]), []string{Log, None}[b[5]%2], []string{Whole, Abandon}[b[5]/2%2], int(b[5]) / 4 % 16, b[5]/64%2 == 1}
		check(t, o, newSigner(o), text.Sentences(page))
	})
}

func TestSignProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	sign := func(o Options, doc []text.Sentence) []signature.Signature { return newSigner(o).Sign(nil, doc) }
	for range 40 {
		doc := document(r, 20+r.IntN(100))
		all := sign(paper, doc)
		if len(all) > paper.Rotations*paper.Modulus {
			t.Fatalf("%d signatures", len(all))
		}

		shuffled := slices.Clone(doc)
		r.Shuffle(len(doc), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if !slices.Equal(all, sign(paper, shuffled)) {
			t.Fatal("the order of sentences matters at spread 1")
		}

		fewer := paper
		fewer.Rotations = 1 + r.IntN(15)
		for _, s := range sign(fewer, doc) {
			if _, ok := slices.BinarySearchFunc(all, s, compare); !ok {
				t.Fatalf("%d rotations give %x, 16 do not", fewer.Rotations, s)
			}
		}
	}
}

// A text has the signatures of one that is typeset differently.
func TestLetters(t *testing.T) {
	o := paper
	o.Short = Whole
	a := text.Sentences("\"No,\" she said - it's the harbour of the old town. A kite rose over the quay... and fell.")
	b := text.Sentences("“No,” she said — it’s the harbour of the old town. A kite rose over the quay… and fell.")
	if slices.Equal(newSigner(o).Sign(nil, a), newSigner(o).Sign(nil, b)) {
		t.Error("the same signatures without letters")
	}
	o.Letters = true
	// A text of symbols is as wide as it is shown.
	symbols := Options{Rotations: 16, Modulus: 7, Smallest: 3, MinColumns: 16, Spread: 1, Weight: Log, Short: Whole, Letters: true}
	if got := newSigner(symbols).Sign(nil, text.Sentences("x > y < z => q <= r | a | b")); len(got) != 1 {
		t.Errorf("%d signatures of symbols", len(got))
	}
	for o.Smallest = range 4 {
		o.Smallest++
		x, y := newSigner(o).Sign(nil, a), newSigner(o).Sign(nil, b)
		if len(x) == 0 || !slices.Equal(x, y) {
			t.Errorf("smallest %d: %x and %x", o.Smallest, x, y)
		}
	}
}

// Texts of few sentences that have all but two in common have a signature in common,
// and texts that have less have none of those.
func TestFew(t *testing.T) {
	o := paper
	o.Few = 8
	for n := 3; n <= 9; n++ {
		for changed := 0; changed <= min(3, n); changed++ {
			a, b := numbered("first", n), numbered("first", n)
			copy(b[n-changed:], numbered("other", changed))
			slices.Reverse(b)
			x, y := newSigner(o).Sign(nil, a), newSigner(o).Sign(nil, b)
			o.Few = 0
			x0, y0 := newSigner(o).Sign(nil, a), newSigner(o).Sign(nil, b)
			o.Few = 8
			shared := func(x, y []signature.Signature) int {
				return len(slices.DeleteFunc(slices.Clone(x), func(s signature.Signature) bool { return !slices.Contains(y, s) }))
			}
			few := shared(x, y) - shared(x0, y0)
			if want := n <= 8 && changed <= 2 && n-changed >= 2; (few > 0) != want {
				t.Errorf("%d of %d sentences are others: %d signatures in common", changed, n, few)
			}
		}
	}
}

func numbered(name string, n int) (out []text.Sentence) {
	for i := range n {
		s := fmt.Sprintf("The %s sentence of number %d", name, i)
		out = append(out, text.Sentence{Text: s, Columns: len(s)})
	}
	return out
}

func TestSignSmallDocuments(t *testing.T) {
	long := func(s string) text.Sentence { return text.Sentence{Text: s, Columns: 17} }
	a, b, c, d := long("a"), long("b"), long("c"), long("d")
	one := Options{Rotations: 1, Modulus: 1, Smallest: 4, MinColumns: 16, Spread: 1, Weight: Log, Short: Abandon}
	spread, whole := one, one
	spread.Spread, spread.Smallest = 2, 2
	whole.Short = Whole
	for _, test := range []struct {
		name string
		o    Options
		doc  []text.Sentence
		want int
	}{
		{"empty", one, nil, 0},
		{"too few", one, []text.Sentence{a, b, c}, 0},
		{"equal sentences count once", one, []text.Sentence{a, b, c, a}, 0},
		{"width of exactly min_columns", one, []text.Sentence{a, b, c, {Text: "d", Columns: 16}}, 0},
		{"just enough", one, []text.Sentence{a, b, c, d, a}, 1},
		{"neighbours", spread, []text.Sentence{a, b}, 0},
		{"one between", spread, []text.Sentence{a, b, c}, 1},
		{"a short one does not separate", spread, []text.Sentence{a, {Text: "x", Columns: 3}, b}, 0},
		{"too few, taken as a whole", whole, []text.Sentence{a, b, c}, 1},
		{"short ones, taken as a whole", whole, []text.Sentence{{Text: "x", Columns: 9}, {Text: "y", Columns: 8}}, 1},
		{"too short as a whole", whole, []text.Sentence{{Text: "x", Columns: 8}, {Text: "y", Columns: 8}}, 0},
		{"a repetition does not separate", spread, []text.Sentence{a, a, b}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := newSigner(test.o).Sign(nil, test.doc); len(got) != test.want {
				t.Errorf("%d signatures, want %d", len(got), test.want)
			}
		})
	}
}

// One fingerprint alone projects to itself.
func TestSignOneIsTheFingerprint(t *testing.T) {
	o := Options{Rotations: 2, Modulus: 1, Smallest: 1, Spread: 1, Weight: Log, Short: Abandon}
	sum := md5.Sum([]byte("sentence"))
	want := []signature.Signature{sum, signature.Signature(slices.Concat(sum[1:], sum[:1]))}
	slices.SortFunc(want, compare)
	before := signature.Signature{0xff} // stays in front of the document's own
	got := newSigner(o).Sign([]signature.Signature{before}, []text.Sentence{{Text: "sentence", Columns: 8}})
	if got[0] != before || !slices.Equal(got[1:], want) {
		t.Errorf("got %x, want %x after %x", got, want, before)
	}
}

// A position whose 1-bits weigh exactly half is not positive.
func TestProjectTies(t *testing.T) {
	f := func(hi uint64, w uint32) fingerprint { return fingerprint{hi: hi, lo: ^hi, weight: w} }
	s := project([]fingerprint{f(0b1100, 3), f(0b1010, 2), f(0b1001, 1)})
	hi, lo := binary.BigEndian.Uint64(s[:8]), binary.BigEndian.Uint64(s[8:])
	if hi != 0b1000 || lo != ^uint64(0b1100) {
		t.Errorf("got %b %b", hi, lo)
	}
}

// No width that occurs comes near a tie of the rounding, where one platform's
// logarithm could round up and another's down.
// Every position of three fingerprints, with weights that tie, that one of them
// outweighs, and the largest.
func TestProjectThreeIsProjectAny(t *testing.T) {
	weights := []uint32{1, 2, 3, 4, 5, 6, 7, 1024, 4321, 1<<16 - 1}
	for _, x := range weights {
		for _, y := range weights {
			for _, z := range weights {
				f := []fingerprint{{hi: 0b00001111, lo: 0b11110000 << 56, weight: x}, {hi: 0b00110011, lo: 0b11001100 << 56, weight: y}, {hi: 0b01010101, lo: 0b10101010 << 56, weight: z}}
				if got, want := project(f), projectAny(f); got != want {
					t.Fatalf("weights %d, %d, %d: %x, want %x", x, y, z, got, want)
				}
			}
		}
	}
}

func TestWeightsArePortable(t *testing.T) {
	w := newWeights(Log)
	for l := 1; l <= 1<<20; l++ {
		x := unit * (1 + math.Log(float64(l)))
		if f := x - math.Floor(x); math.Abs(f-0.5) < 1e-8 {
			t.Errorf("width %d weighs %v/%d", l, x, unit)
		}
		if l > 1 && w.of(l) < w.of(l-1) {
			t.Errorf("width %d weighs less than %d", l, l-1)
		}
	}
	if w.of(1) != unit || w.of(math.MaxInt) >= 1<<16 {
		t.Errorf("weights from %d to %d", w.of(1), w.of(math.MaxInt))
	}
}

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"":                                          func(*Options) {},
		"rotations is 0, must be from 1 to 16":      func(o *Options) { o.Rotations = 0 },
		"rotations is 17, must be from 1 to 16":     func(o *Options) { o.Rotations = 17 },
		"modulus is 0, must be from 1 to 4096":      func(o *Options) { o.Modulus = 0 },
		"smallest is 5000, must be from 1 to 4096":  func(o *Options) { o.Smallest = 5000 },
		"min_columns is -1, must be at least 0":     func(o *Options) { o.MinColumns = -1 },
		"spread is 0, must be at least 1":           func(o *Options) { o.Spread = 0 },
		`short is "", must be "whole" or "abandon"`: func(o *Options) { o.Short = "" },
		`weight is "Log", must be "log" or "none"`:  func(o *Options) { o.Weight = "Log" },
	} {
		o := paper
		change(&o)
		got := ""
		if err := o.Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	for _, n := range []int{60, 400} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var doc []text.Sentence
			for i := range n {
				s := fmt.Sprintf("%d, %s", i, strings.Repeat("word ", 4+i%13))
				doc = append(doc, text.Sentence{Text: s, Columns: len(s)})
			}
			s := newSigner(paper)
			dst := s.Sign(nil, doc)
			b.ReportAllocs()
			for b.Loop() {
				dst = s.Sign(dst[:0], doc)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}
