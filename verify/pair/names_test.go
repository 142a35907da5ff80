package pair

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"neardup/verify"
	"neardup/verify/rarity"
)

func named(pages ...[2]uint64) (n Names) {
	for _, p := range pages {
		n.Add(p[0], Title{Key: p[1]})
	}
	return n
}

func worded(titles ...Title) (n Names) {
	for _, title := range titles {
		n.Add(1, title)
	}
	return n
}

func TestNames(t *testing.T) {
	var many [][2]uint64
	for i := range uint64(maxNames + 1) {
		many = append(many, [2]uint64{100 + i, 100 + i})
	}
	for _, tt := range []struct {
		name      string
		a, b      Names
		different bool
	}{
		{"other address, other title", named([2]uint64{1, 2}), named([2]uint64{3, 4}), true},
		{"an address is no title", named([2]uint64{1, 2}), named([2]uint64{2, 1}), true},
		{"one address", named([2]uint64{1, 2}), named([2]uint64{1, 4}), false},
		{"one title", named([2]uint64{1, 2}), named([2]uint64{3, 2}), false},
		{"one title of many pages", named([2]uint64{1, 2}, [2]uint64{7, 8}, [2]uint64{5, 6}), named([2]uint64{3, 4}, [2]uint64{9, 6}), false},
		{"no title", named([2]uint64{1, 0}), named([2]uint64{3, 4}), false},
		{"no title of one page of several", named([2]uint64{1, 2}, [2]uint64{5, 0}, [2]uint64{6, 7}), named([2]uint64{3, 4}), false},
		{"no page", Names{}, named([2]uint64{3, 4}), false},
		{"as many pages as are kept", named(many[:maxNames]...), named([2]uint64{3, 4}), true},
		{"too many pages to tell", named(many...), named([2]uint64{3, 4}), false},
	} {
		if got, swapped := tt.a.different(tt.b), tt.b.different(tt.a); got != tt.different || swapped != tt.different {
			t.Errorf("%s: %v, swapped %v", tt.name, got, swapped)
		}
	}
}

// Pages of one site with other names are near only from a resemblance of their own.
// Containment is no claim that they are one page.
func TestDecideOtherPages(t *testing.T) {
	almost := verify.Verdict{Near: true, Resemblance: 0.95, Containment: 0.97}
	check := rarity.Options{RarePages: 3, OtherPages: 0.9}
	one, other := named([2]uint64{1, 2}), named([2]uint64{3, 4})
	byTitle := verify.Verdict{Rejected: verify.ByTitle}
	for _, tt := range []struct {
		name    string
		rarity  rarity.Options
		verdict verify.Verdict
		names   Names
		sites   []uint64
		want    verify.Verdict
	}{
		{"other pages", check, near, other, []uint64{7}, byTitle},
		{"nearly equal", check, almost, other, []uint64{7}, almost},
		{"contained", check, contained, other, []uint64{7}, contained},
		{"not near", check, far, other, []uint64{7}, far},
		{"the same page", check, near, one, []uint64{7}, near},
		{"another site", check, near, other, []uint64{8}, near},
		{"no check", rarity.Options{RarePages: 3}, near, other, []uint64{7}, near},
		{"no check of rarity", rarity.Options{OtherPages: 0.9}, near, other, []uint64{7}, near},
	} {
		for _, frames := range []bool{false, true} {
			j := Judge{Measure: &measure{verdict: tt.verdict}, Rarity: tt.rarity, Frames: frames}
			text := func(s string, sites []uint64, n Names) *Text {
				return j.Text(s, tt.rarity.Read(s, func(uint64) int { return 1 })).Framed(sites, nil).Named(n)
			}
			a, b := text(apple+pears, []uint64{7}, one), text(apple, tt.sites, tt.names)
			if got := j.Decide(j.Comparers(1)[0], a, b).Verdict; got != tt.want {
				t.Errorf("%s, frames %v: %+v", tt.name, frames, got)
			}
		}
	}
}

func hashesOf(words ...string) (out []uint32) {
	for _, w := range words {
		out = append(out, uint32(xxhash.Sum64String(w)))
	}
	slices.Sort(out)
	return out
}

func TestWordsOfTitles(t *testing.T) {
	for _, tt := range []struct {
		title string
		words []string
	}{
		{"", nil},
		{"12 34", []string{"12", "34"}},
		{"Report 2019", []string{"report"}},
		{"Bericht für 2099", []string{"bericht", "für"}},
		{"Season 2019/20, 2019-2020 and 1998/1999", []string{"season", "and"}},
		{"2019/2, 2019-20-21, 2019.20 2019-3000", []string{"2019/2", "2019-20-21", "2019.20", "2019-3000"}},
		{"2100 1899 19991 19ab", []string{"2100", "1899", "19991", "19ab"}},
		{"Hex bolt M6 x 20, 1,299.50 each", []string{"hex", "bolt", "m6", "x", "20", "1,299.50", "each"}},
		{"Größe 3/4, 3:15-4:15 am 2026-05-03.", []string{"größe", "3/4", "3:15-4:15", "am", "2026-05-03"}},
		{"1.a 1. 2", []string{"1", "a", "2"}},
		{"é1.a é1. 2", []string{"é1", "a", "2"}},
		{"The LTrim function, the Trim function", []string{"the", "ltrim", "function", "trim"}},
		{"Version 2.1beta of utf8_decode", []string{"version", "2.1beta", "of", "utf8_decode"}},
		{"boost::as_child<Expr>", []string{"boost", "as_child", "expr"}},
		{"a_ __ _", []string{"a_"}},
		{"Échéance d'été", []string{"échéance", "d", "été"}},
		{"使用ConvertToURL函数", []string{"使用", "converttourl", "函数"}},
		{"第3章 列数据", []string{"第", "3", "章", "列数", "数据"}},
	} {
		if got, want := TitleOf(tt.title).Words, hashesOf(tt.words...); !slices.Equal(got, want) {
			t.Errorf("%q: %v, not %v", tt.title, got, want)
		}
	}
	for _, same := range [][2]string{{"Kite (3)", "KITE"}, {"1", ""}} {
		if a, b := TitleOf(same[0]).Key, TitleOf(same[1]).Key; a != b {
			t.Errorf("%q: %d %d", same, a, b)
		}
	}
	if TitleOf("kites").Key == TitleOf("kite").Key {
		t.Error("two titles have one key")
	}
}

// Pages may come in any order, and words of too many titles are not kept.
func TestNamesKeepWords(t *testing.T) {
	titles := []string{"red kite", "red kite flies", "the red kite", "red fox"}
	var want []byte
	for i := range titles {
		var n Names
		for j := range titles {
			k := (i + j) % len(titles)
			n.Add(uint64(k), TitleOf(titles[k]))
			n.Add(uint64(k), TitleOf(titles[k]))
		}
		if !slices.Equal(n.always, hashesOf("red")) || !slices.Equal(n.ever, hashesOf("red", "kite", "flies", "the", "fox")) {
			t.Errorf("from %d: %v, %v", i, n.always, n.ever)
		}
		if got := n.Append(nil); want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("from %d: %v, not %v", i, got, want)
		}
	}
	var n Names
	for i := range uint32(maxWords) {
		n.Add(1, Title{Key: 1, Words: []uint32{i}})
	}
	if !n.known() || len(n.ever) != maxWords || len(n.always) != 0 {
		t.Errorf("%d words, known %v, %d in all titles", len(n.ever), n.known(), len(n.always))
	}
	if n.Add(1, Title{Key: 1, Words: []uint32{maxWords}}); n.known() || n.bytes() != 0 {
		t.Error("more words than are kept")
	}
}

// Pages of one site are about two subjects if each says a word of its title, besides the
// title, that the other's title does not have and its text hardly says.
func TestDecideOtherSubjects(t *testing.T) {
	same := verify.Verdict{Near: true, Resemblance: 0.99, Containment: 0.99}
	byTitle := verify.Verdict{Rejected: verify.ByTitle}
	const increase, decrease = "Increases the indent.\nPress to increase it.", "Decreases the indent.\nPress to decrease it."
	for _, tt := range []struct {
		name     string
		verdict  verify.Verdict
		titles   [2][]string
		texts    [2]string
		sites    []uint64
		subjects bool
	}{
		{"two subjects", same, [2][]string{{"Increase indent"}, {"Decrease indent"}}, [2]string{increase, decrease}, []uint64{7}, true},
		{"another site", same, [2][]string{{"Increase indent"}, {"Decrease indent"}}, [2]string{increase, decrease}, []uint64{8}, false},
		{"contained", contained, [2][]string{{"Increase indent"}, {"Decrease indent"}}, [2]string{increase, decrease + "\nMore."}, []uint64{7}, false},
		{"one title", same, [2][]string{{"Increase indent"}, {"Increase indent"}}, [2]string{increase, decrease}, []uint64{7}, false},
		{"one title has no word of its own", same, [2][]string{{"Indent"}, {"Decrease indent"}}, [2]string{increase, decrease}, []uint64{7}, false},
		{"both texts say both words", same, [2][]string{{"Increase indent"}, {"Decrease indent"}}, [2]string{increase + decrease, decrease + increase}, []uint64{7}, false},
		{"each text names the other once", same, [2][]string{{"Increase indent"}, {"Decrease indent"}}, [2]string{increase + " Increase. Decrease.", decrease + " Decrease. Increase."}, []uint64{7}, false},
		{"each text says its word three times and the other once", same, [2][]string{{"Increase indent"}, {"Decrease indent"}}, [2]string{increase + " Increase.\nIncrease, not decrease.", decrease + " Decrease.\nDecrease, not increase."}, []uint64{7}, true},
		{"numbers of one title", same, [2][]string{{"Bolt M6 x 20"}, {"Bolt M8 x 40"}}, [2]string{"This is M6.", "This is M8."}, []uint64{7}, true},
		{"versions", same, [2][]string{{"Version 1.4.2"}, {"Version 1.4.3"}}, [2]string{"New in 1.4.2", "New in 1.4.3"}, []uint64{7}, true},
		{"numbers that the texts do not say", same, [2][]string{{"Inbox (3)"}, {"Inbox (12)"}}, [2]string{"Some mail.", "Some mail, too."}, []uint64{7}, false},
		{"years", same, [2][]string{{"Cafés of 2019"}, {"Cafés of 2020"}}, [2]string{"The best of 2019", "The best of 2020"}, []uint64{7}, false},
		{"spans of years", same, [2][]string{{"Guide 2019/20"}, {"Guide 2020/21"}}, [2]string{"The guide of 2019/20", "The guide of 2020/21"}, []uint64{7}, false},
		{"numbers on another site", same, [2][]string{{"Bolt M6 x 20"}, {"Bolt M8 x 40"}}, [2]string{"This is M6.", "This is M8."}, []uint64{8}, false},
		{"one text says both words", same, [2][]string{{"Increase indent"}, {"Decrease indent"}}, [2]string{increase, decrease + increase}, []uint64{7}, false},
		{"neither text says its word", same, [2][]string{{"Up"}, {"Down"}}, [2]string{increase, decrease}, []uint64{7}, false},
		{"only the titles in the texts say it", same, [2][]string{{"Up we go"}, {"Down we go"}}, [2]string{"Up, we go!\n" + increase, "Down we go\n" + decrease}, []uint64{7}, false},
		{"a title in the other text says it", same, [2][]string{{"Increase indent"}, {"Decrease indent"}}, [2]string{increase + "\nDecrease indent", decrease + "\nIncrease indent"}, []uint64{7}, false},
		{"a second title of a text says other words", same, [2][]string{{"Increase indent", "Indent"}, {"Decrease indent"}}, [2]string{increase, decrease}, []uint64{7}, false},
		{"a second title of a text has the other's word", same, [2][]string{{"Increase indent", "Increase or decrease"}, {"Decrease indent"}}, [2]string{increase, decrease}, []uint64{7}, false},
		{"words in part", same, [2][]string{{"Increase indent"}, {"Decrease indent"}}, [2]string{"Increases", "Decreases"}, []uint64{7}, false},
	} {
		for _, other := range []float64{0.75, 0} {
			j := Judge{Measure: &measure{verdict: tt.verdict}, Rarity: rarity.Options{RarePages: 3, OtherPages: other}, Frames: true}
			var texts [2]*Text
			for i, s := range tt.texts {
				var n Names
				for k, title := range tt.titles[i] {
					n.Add(uint64(10*i+k), TitleOf(title))
				}
				texts[i] = j.Text(s, j.Rarity.Read(s, func(uint64) int { return 1 })).Framed([]uint64{7}, nil).Named(n)
			}
			texts[1].Framed(tt.sites, nil)
			want := tt.verdict
			if tt.subjects && other > 0 {
				want = byTitle
			}
			for range 2 {
				if got := j.Decide(j.Comparers(1)[0], texts[0], texts[1]).Verdict; got != want {
					t.Errorf("%s, from %v: %+v", tt.name, other, got)
				}
				if got := j.OtherSubjects(texts[0], texts[1]); got && !tt.subjects && tt.name != "contained" || !got && tt.subjects && other > 0 {
					t.Errorf("%s, from %v: subjects %v", tt.name, other, got)
				}
				texts[0], texts[1] = texts[1], texts[0]
			}
		}
	}
}

// Different pages of different sites are not near if they say other numbers.
func TestDecideOtherNumbers(t *testing.T) {
	same := verify.Verdict{Near: true, Resemblance: 0.99, Containment: 0.99}
	const one, other = "On 1.2. at 3:04 it was 5.6, and 78 of 90 felt it.", "On 11.12. at 13:14 it was 15.16, and 178 of 190 felt it."
	for _, tt := range []struct {
		name    string
		verdict verify.Verdict
		titles  [2]string
		texts   [2]string
		sites   [2][]uint64
		apart   bool
	}{
		{"other numbers", same, [2]string{"One", "Two"}, [2]string{one, other}, [2][]uint64{{7}, {8}}, true},
		{"the same numbers", same, [2]string{"One", "Two"}, [2]string{one, one + " More."}, [2][]uint64{{7}, {8}}, false},
		{"one title", same, [2]string{"One", "One 2"}, [2]string{one, other}, [2][]uint64{{7}, {8}}, false},
		{"no title", same, [2]string{"One", ""}, [2]string{one, other}, [2][]uint64{{7}, {8}}, false},
		{"one site", same, [2]string{"One", "Two"}, [2]string{one, other}, [2][]uint64{{7}, {6, 7}}, false},
		{"no site", same, [2]string{"One", "Two"}, [2]string{one, other}, [2][]uint64{{7}, nil}, false},
		{"contained", contained, [2]string{"One", "Two"}, [2]string{one, other + "\nMore."}, [2][]uint64{{7}, {8}}, false},
	} {
		for _, least := range []float64{0.75, 0} {
			j := Judge{Measure: &measure{verdict: tt.verdict}, Rarity: rarity.Options{RarePages: 3, OtherPages: least}, Frames: true}
			var texts [2]*Text
			for i, s := range tt.texts {
				var n Names
				n.Add(uint64(i), TitleOf(tt.titles[i]))
				texts[i] = j.Text(s, j.Rarity.Read(s, func(uint64) int { return 1 })).Framed(tt.sites[i], nil).Named(n)
			}
			want := tt.verdict
			if tt.apart && least > 0 {
				want = verify.Verdict{Rejected: verify.ByTitle}
			}
			for range 2 {
				if got := j.Decide(j.Comparers(1)[0], texts[0], texts[1]).Verdict; got != want {
					t.Errorf("%s, from %v: %+v", tt.name, least, got)
				}
				texts[0], texts[1] = texts[1], texts[0]
			}
		}
	}
}

func TestOtherNumbers(t *testing.T) {
	const eight = "1 2 3 4 5 6 7 8"
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{eight, "11 12 13 14 15 16 17 18", true},
		{eight, "1 2 3 14 15 16 17 18 19", true},
		{eight, "1 2 3 4 15 16 17 18 19", false},
		{eight, "11 12 13 14 15 16 17", false}, // too few
		{"1 1 1 1 1 1 1 1", "1 1 1 12 13 14 15 16", true},
		{"1 1 1 1 1 1 1 1", "1 1 1 1 13 14 15 16", false},
		{eight, "1.2,3-4:5/6x7y8z", false},
		{eight, "01 002 003 04 15 16 17 18", false},
		{eight, "11 12 13 14 ５ ٦ ७ 8", false},
		{"", eight, false},
		{"These are the words of the story. " + eight, "These are the words of the story. 11 12 13 14 15 16 17 18", false}, // a copy
		{"These are the words of the whole story, as they were first printed here. All who read them know them by now. In 1 of " + eight + ".", "These are the words of the whole story, as they were first printed here. All who read them know them by now. In 11 of 12 13 14 15 16 17 18.", false},
		{"They counted 1 of 2. In 1 of " + eight + ".", "They counted 11 of 12. In 11 of 12 13 14 15 16 17 18.", true},
	} {
		if otherNumbers(tt.a, tt.b) != tt.want || otherNumbers(tt.b, tt.a) != tt.want {
			t.Errorf("%q, %q: not %v", tt.a, tt.b, tt.want)
		}
	}
}

// Names that are parsed are those that were appended, and other bytes are none.
func TestParseNames(t *testing.T) {
	for _, n := range []Names{{}, named([2]uint64{3, 4}), named([2]uint64{3, 4}, [2]uint64{5, 6}), named([2]uint64{3, 0}), worded(TitleOf("red kite"), TitleOf("red fox"))} {
		b := n.Append(nil)
		got, rest, ok := ParseNames(append(b, 7))
		if !ok || len(rest) != 1 || !slices.Equal(got.Append(nil), b) {
			t.Errorf("%v: %v %v %v", n, got, rest, ok)
		}
		for i := range b {
			if _, _, ok := ParseNames(b[:i]); ok {
				t.Errorf("%v: cut at %d", n, i)
			}
		}
	}
}

// The words of ASCII are found by a shorter way, which finds the same.
func TestASCIIWords(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	all := func(each func(string, func(uint32)), s string) (words []uint32) {
		each(s, func(w uint32) { words = append(words, w) })
		return words
	}
	found := 0
	for range 20_000 {
		s := make([]byte, random.IntN(12))
		for i := range s {
			if s[i] = byte(random.IntN(utf8.RuneSelf)); random.IntN(2) == 0 {
				s[i] = "aBz_09 ."[random.IntN(8)]
			}
		}
		got, want := all(eachWord, string(s)), all(eachAnyWord, string(s))
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %x, want %x", s, got, want)
		}
		found += len(got)
	}
	if found < 10_000 {
		t.Errorf("%d words", found)
	}
}

// Pages of one site with other names are not near because their sentences are the same but
// for numbers.
func TestDecideOtherPagesThatAreAlike(t *testing.T) {
	options := rarity.Options{RarePages: 3, RareResemblance: 0.25, Sentences: 0.75, RareSentences: 0.6, OtherPages: 0.75}
	j := Judge{Measure: &measure{verdict: hopeless}, Rarity: options}
	text := func(day int, n Names) *Text {
		s := fmt.Sprintf("The choir meets on day %d.\nThe market opens on day %d.\nThe library is closed on day %d.\n", day, day+1, day+2)
		return j.Text(s, options.Read(s, func(uint64) int { return 2 })).Framed([]uint64{7}, nil).Named(n)
	}
	one, other := named([2]uint64{1, 2}), named([2]uint64{3, 4})
	if d := j.Decide(j.Comparers(1)[0], text(3, one), text(8, one)); !d.Near || !d.Alike {
		t.Errorf("one page: %+v", d.Verdict)
	}
	if d := j.Decide(j.Comparers(1)[0], text(3, one), text(8, other)); d.Near || d.Rejected != verify.ByTitle {
		t.Errorf("two pages: %+v", d.Verdict)
	}
}
