package terms

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"neardup/signature"
	"neardup/signature/internal/hash"
)

// quarters has weights that fixed point holds exactly.
var quarters = Options{
	Weighing: Weighing{
		Intervals: Intervals{
			Noun: Interval{0.5, 1}, Verb: Interval{0.5, 0.75}, Adjective: Interval{0.25, 0.75}, Other: Interval{0.25, 0.5},
			Adverb: Interval{0.125, 0.25}, Connective: Interval{0, 0.125}, Pronoun: Interval{0.125, 0.125}, Numeral: Interval{0.25, 1},
		},
		Heaviest: Rare, Scale: Log, Frequencies: OfDictionary, MaxTerms: 10000,
	},
	Threshold: 0.65, Gram: 3, Extra: 3, Order: ByWeight,
}

// options draws some.
func options(r *rand.Rand) Options {
	o := quarters
	o.Heaviest = []string{Frequent, Rare}[r.IntN(2)]
	o.Scale = []string{Linear, Log}[r.IntN(2)]
	o.Long = r.IntN(2) == 0
	if r.IntN(4) == 0 {
		o.MaxTerms = 1 + r.IntN(20)
	}
	o.Threshold = float64(1+r.IntN(100)) / 100
	o.Gram, o.Extra = 1+r.IntN(6), r.IntN(9)
	if r.IntN(3) == 0 {
		o.MaxFeatures = o.Gram + r.IntN(9)
	}
	o.Order = []string{ByText, ByWeight}[r.IntN(2)]
	return o
}

var vocabulary = strings.Fields(`the of And archive crawl PAGE it not 2024 seven ２０２４ ＡＢＣ naïve Straße слово λόγος don't 1.5 x2
	中国 公民 出国旅游 护照 將恢復審批 的 很 他们 三 一个 龘 機場 台灣 北京大学生前来应聘 研究生命起源 了 和 因为 非常 漂亮 人 说
	です データ らーめん ภาษาไทย ສະບາຍດີ 한국어 ಕನ್ನಡ é क्षि ١٢٣ 😀 — ， 。 「 」 ~~ a`)

// text draws words, sometimes run together, and repeats some.
func text(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
		b.WriteString([]string{" ", " ", "", "\n", "，"}[r.IntN(5)])
	}
	return b.String()
}

var hostile = []string{
	"", " \n\t", "。，！", "\x00\xff\xfe", "abc\xff中\x80国\xe4\xb8", "\xe4\xb8\xad\xe5\x9b", "\ufffd", "a\u0301\u0301b", "\u0301", "\u0301中\u3099国",
	"々〇〻⺀", "中", "の", "ก", "กา", "の　の", "a", "the", "A a ａ", "\u200b\u200d\ufe0f", "中\ufe0f国", "İıſKÅ", "ǅ", "١٢٣ 123 一二三",
	"\U00020000\U00020001\U000e0100", "\xed\xa0\x80", "\xf4\x90\x80\x80", strings.Repeat("龘", 3*chunk+1), strings.Repeat("中国", chunk) + "人",
	strings.Repeat("a", 5000), strings.Repeat("a b ", 5000), strings.Repeat("\u0e01", 3000), strings.Repeat("の。", 3000),
}

func check(t *testing.T, o Options, s *Scheme, text string) {
	t.Helper()
	if got, want := s.Sign(nil, text), slowSign(o, text); !slices.Equal(got, want) {
		t.Fatalf("%+v\n%.200q:\n got %x\nwant %x", o, text, got, want)
	}
}

func TestSignIsThePaper(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		o := options(r)
		s := New(o)
		for range 4 { // longer and shorter: scratch is reused
			check(t, o, s, text(r, r.IntN(60)))
		}
	}
	for _, h := range hostile {
		for range 3 {
			o := options(r)
			check(t, o, New(o), h)
		}
	}
}

func FuzzSign(f *testing.F) {
	dictionary() // takes longer than an input may
	for i, h := range hostile {
		if len(h) < 2000 {
			f.Add(uint64(i), h)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 20 {
		f.Add(uint64(i), text(r, 3*i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		if len(text) > 4000 {
			return // the slow scheme is quadratic
		}
		o := options(rand.New(rand.NewPCG(seed, 0)))
		check(t, o, New(o), text)
	})
}

// terms returns the strings of a text's terms.
func terms(text string) []string {
	var out []string
	for _, t := range slowTerms(text) {
		out = append(out, t.text)
	}
	return out
}

// What Append takes for terms, spelled out, with their groups.
func TestTerms(t *testing.T) {
	w := NewWeigher(Weighing{Heaviest: Rare, Scale: Linear, Frequencies: OfDictionary, MaxTerms: 100, Intervals: Intervals{
		Noun: Interval{1, 1}, Verb: Interval{2, 2}, Adjective: Interval{3, 3}, Other: Interval{4, 4},
		Adverb: Interval{5, 5}, Connective: Interval{6, 6}, Pronoun: Interval{7, 7}, Numeral: Interval{8, 8}}})
	for _, test := range []struct {
		text  string
		terms string
		group []group
	}{
		{"The Archives of 1996", "the archives of 1996", []group{connective, noun, connective, numeral}},
		{"she didn't crawl THIRTY", "she didn t crawl thirty", []group{pronoun, connective, connective, noun, numeral}},
		{"中国公民非常漂亮，他们旅游", "中国 公民 非常 漂亮 他们 旅游", []group{noun, noun, adverb, adjective, pronoun, verb}},
		{"他很", "他 很", []group{pronoun, other}},
		{"臺灣機場", "臺灣 機場", []group{noun, noun}},
		{"首架C919客机", "首架 c919 客机", []group{numeral, noun, noun}},
		{"２０２４ＡＢＣ", "2024abc", []group{noun}},
		{"10％", "10", []group{numeral}},
		{"カメラの使い", "カメラ の 使 い", []group{noun, connective, verb, connective}},
		{"ไทยก", "ไท ทย ยก", []group{other, other, other}},
		{"Résumé СЛОВО", "résumé слово", []group{noun, noun}},
		{"क्षि", "क्षि", []group{noun}},
		{"😀 — ，\x00\xff", "", nil},
	} {
		want := strings.Fields(test.terms)
		got := w.Append(nil, test.text)
		if len(got) != len(want) {
			t.Errorf("%q: %d terms, want %q", test.text, len(got), want)
			continue
		}
		for i, term := range got {
			if term.Hash != hash.String(want[i]) {
				t.Errorf("%q: term %d is not %q but one of %q", test.text, i, want[i], terms(test.text))
			}
			if g := group(term.Weight/unit - 1); g != test.group[i] {
				t.Errorf("%q: %q is of group %d, want %d", test.text, want[i], g, test.group[i])
			}
		}
	}
}

// Equations 1 and 2 on round numbers.
func TestWeight(t *testing.T) {
	o := quarters.Weighing
	o.Intervals.Noun = Interval{2, 6}
	for _, test := range []struct {
		heaviest, scale string
		long            bool
		frequency       uint64
		want            float64
	}{
		{Frequent, Linear, false, 4, 2}, {Frequent, Linear, false, 64, 6}, {Frequent, Linear, false, 19, 3},
		{Rare, Linear, false, 4, 6}, {Rare, Linear, false, 64, 2}, {Rare, Linear, false, 19, 5},
		{Frequent, Log, false, 8, 3}, {Rare, Log, false, 8, 5}, {Frequent, Linear, true, 19, 9}, {Rare, Log, true, 64, 6},
	} {
		o.Heaviest, o.Scale, o.Long = test.heaviest, test.scale, test.long
		if got := float64(NewWeigher(o).weight(noun, "三个字", test.frequency, 4, 64)) / unit; got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
	o.Long = true
	w := NewWeigher(o)
	if a, b := w.weight(noun, strings.Repeat("a", maxLength), 1, 1, 2), w.weight(noun, strings.Repeat("a", 100*maxLength), 1, 1, 2); a != b {
		t.Errorf("a word of %d letters weighs %d, a longer one %d", maxLength, a, b)
	}
}

func TestSignProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		o := options(r)
		s := New(o)
		a := text(r, r.IntN(50))
		signed := s.Sign(nil, a)
		before := signature.Signature{0xff}
		if got := s.Sign([]signature.Signature{before}, a); got[0] != before || !slices.Equal(got[1:], signed) {
			t.Fatalf("%q: what stands before is lost, or the second time differs", a)
		}
		if o.MaxTerms < 10000 {
			continue
		}
		if got := s.Sign(nil, strings.ToUpper(a)+"！"); !slices.Equal(got, signed) {
			t.Fatalf("%q: upper case or a mark changes the fingerprints", a)
		}
		if got := s.Sign(nil, a+"\n"+a); !slices.Equal(got, signed) {
			t.Fatalf("%q: twice has other fingerprints", a)
		}
		if o.Order == ByWeight {
			lines := strings.Split(a, "\n")
			r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			if got := s.Sign(nil, strings.Join(lines, "\n")); !slices.Equal(got, signed) {
				t.Fatalf("%q: the order of lines matters", a)
			}
		}
	}
}

// "If two short texts A and B have no fingerprints in common, they are
// impossible to be near-duplicates": with single features, that is so for
// every threshold of a half or more. The heaviest common term stands behind
// less than 1 - θ <= θ of either's weight.
func TestNoNearDuplicateIsMissedByFeatures(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	near := 0
	for range 3000 {
		o := options(r)
		o.Gram, o.Extra, o.MaxFeatures, o.Threshold = 1, 0, 0, 0.5+float64(r.IntN(50))/100
		s := New(o)
		common := text(r, 1+r.IntN(12))
		a, b := common+"\n"+text(r, r.IntN(6)), text(r, r.IntN(6))+"\n"+common
		weight := map[uint64]uint64{}
		in := map[uint64]int{}
		for i, t := range []string{a, b} {
			for _, term := range s.weigher.Append(nil, t) {
				weight[term.Hash] = term.Weight
				in[term.Hash] |= 1 << i
			}
		}
		both, all := uint64(0), uint64(0)
		for h, w := range weight {
			all += w
			if in[h] == 3 {
				both += w
			}
		}
		if all == 0 || float64(both) < o.Threshold*float64(all) {
			continue
		}
		near++
		x, y := s.Sign(nil, a), s.Sign(nil, b)
		if !slices.ContainsFunc(x, func(p signature.Signature) bool { return slices.Contains(y, p) }) {
			t.Fatalf("%+v\n%q\n%q: degree %v, and no feature in common", o, a, b, float64(both)/float64(all))
		}
	}
	if near < 300 {
		t.Errorf("only %d near pairs were tried", near)
	}
}

// Inequality 5 is strict: of four terms that weigh the same, two are not more
// than half.
func TestFeaturesAreMoreThanTheThreshold(t *testing.T) {
	o := quarters
	o.Gram, o.Extra = 1, 0
	for threshold, want := range map[float64]int{0.25: 2, 0.49: 2, 0.5: 3, 0.51: 3, 0.75: 4, 1: 4} {
		o.Threshold = threshold
		if got := len(New(o).Sign(nil, "web archive page crawl")); got != want {
			t.Errorf("threshold %v: %d features, want %d", threshold, got, want)
		}
	}
}

// Short texts meet those of the same features, and no others.
func TestFewFeatures(t *testing.T) {
	s := New(quarters)
	one, two, three := s.Sign(nil, "中国"), s.Sign(nil, "中国，护照"), s.Sign(nil, "中国，护照，漂亮")
	if len(one) != 1 || len(two) != 1 || len(three) != 1 || one[0] == two[0] || two[0] == three[0] || one[0] == three[0] {
		t.Errorf("1, 2 and 3 features: %x, %x, %x", one, two, three)
	}
	if got := s.Sign(nil, "“护照”，中国！"); !slices.Equal(got, two) {
		t.Errorf("the same two features: %x, want %x", got, two)
	}
	if got := s.Sign(nil, "护照"); slices.Equal(got, one) {
		t.Error("two texts of one word each, another one, meet")
	}
	if got := s.Sign(nil, "…… 😀"); len(got) != 0 {
		t.Errorf("no terms: %x", got)
	}
}

// What comes after the last term that counts is not read, be it a word or in a
// run that is.
func TestTermsAreBounded(t *testing.T) {
	for _, unit := range []string{"word ", "中国", "龘", "ก", "の。"} {
		o := quarters.Weighing
		o.Intervals.Connective = Interval{1, 1}
		o.MaxTerms = 100
		if got := NewWeigher(o).Append(nil, strings.Repeat(unit, 100_000)); len(got) != 100 {
			t.Errorf("%q again and again: %d terms, want 100", unit, len(got))
		}
	}
	s := quarters
	s.MaxFeatures = 10
	r := rand.New(rand.NewPCG(9, 10))
	if got := New(s).Sign(nil, text(r, 20_000)); len(got) > 8 {
		t.Errorf("10 features have %d fingerprints of 3", len(got))
	}
}

// A Weigher is for concurrent use, from the first text on, which loads the
// dictionary.
func TestConcurrentUse(t *testing.T) {
	w := NewWeigher(quarters.Weighing)
	r := rand.New(rand.NewPCG(11, 12))
	texts := make([]string, 50)
	for i := range texts {
		texts[i] = text(r, 80)
	}
	got := make([][][]Term, 4)
	var all sync.WaitGroup
	for g := range got {
		all.Go(func() {
			for _, t := range texts {
				got[g] = append(got[g], w.Append(nil, t))
			}
		})
	}
	all.Wait()
	for g := range got {
		if !reflect.DeepEqual(got[g], got[0]) {
			t.Fatal("goroutines get different terms")
		}
	}
}

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"": func(*Options) {},
		"intervals.verb is [0.5 0.25], must be [a, b] with 0 <= a <= b <= 1000": func(o *Options) { o.Intervals.Verb = Interval{0.5, 0.25} },
		"intervals.numeral is [-1 1], must be [a, b] with 0 <= a <= b <= 1000":  func(o *Options) { o.Intervals.Numeral[0] = -1 },
		"intervals.noun is [0.5 1001], must be [a, b] with 0 <= a <= b <= 1000": func(o *Options) { o.Intervals.Noun[1] = 1001 },
		"intervals: all are [0 0], so that no term would count":                 func(o *Options) { o.Intervals = Intervals{} },
		`heaviest is "", must be "frequent" or "rare"`:                          func(o *Options) { o.Heaviest = "" },
		`scale is "Log", must be "linear" or "log"`:                             func(o *Options) { o.Scale = "Log" },
		"max_terms is 0, must be from 1 to 16777216":                            func(o *Options) { o.MaxTerms = 0 },
		"threshold is 0, must be in (0, 1]":                                     func(o *Options) { o.Threshold = 0 },
		"threshold is 1.5, must be in (0, 1]":                                   func(o *Options) { o.Threshold = 1.5 },
		"gram is 0, must be from 1 to 1000":                                     func(o *Options) { o.Gram = 0 },
		"extra is -1, must be at least 0":                                       func(o *Options) { o.Extra = -1 },
		"max_features is 2, must be 0 or at least gram, 3":                      func(o *Options) { o.MaxFeatures = 2 },
		`order is "", must be "text" or "weight"`:                               func(o *Options) { o.Order = "" },
	} {
		o := quarters
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
