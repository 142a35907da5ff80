package rarity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"neardup/extract/text"
	"neardup/verify"
)

var options = Options{RarePages: 3, RareResemblance: 0.25}

// slowUnit is the text of a unit, by the definition; "" counts nowhere.
func slowUnit(sentence string) string {
	s := string(text.Letters(nil, sentence))
	s = strings.Map(func(r rune) rune {
		if unicode.IsNumber(r) {
			return -1
		}
		return r
	}, s)
	if !strings.ContainsFunc(s, unicode.IsLetter) {
		return ""
	}
	return s
}

// slowCompare is Compare by the definitions, with maps and in floating point.
func slowCompare(o Options, a, b string, pages func(unit string) int) Evidence {
	units := func(s string) map[string]bool {
		out := map[string]bool{}
		for _, s := range text.Sentences(s) {
			if u := slowUnit(s.Text); u != "" {
				out[u] = true
			}
		}
		return out
	}
	x, y := units(a), units(b)
	share := func(weight func(string) float64) Share {
		var both float64
		var own [2]float64
		for u := range x {
			if y[u] {
				both += weight(u)
			} else {
				own[0] += weight(u)
			}
		}
		for u := range y {
			if !x[u] {
				own[1] += weight(u)
			}
		}
		s := Share{1, 1}
		if all := both + own[0] + own[1]; all > 0 {
			s.Resemblance = both / all
		}
		if all := both + min(own[0], own[1]); all > 0 {
			s.Containment = both / all
		}
		return s
	}
	plain := func(u string) float64 { return 1 + math.Log(float64(text.LettersColumns([]byte(u)))) }
	rare := func(u string) float64 {
		if n := float64(pages(u)); n > float64(o.RarePages) {
			return plain(u) * max(1.0/floor, math.Pow(float64(o.RarePages)/n, 3))
		}
		return plain(u)
	}
	shared := 0
	var both [2]float64
	for u := range x {
		if y[u] {
			both[0] += one * plain(u)
			both[1] += one * rare(u)
			if pages(u) <= o.RarePages {
				shared++
			}
		}
	}
	return Evidence{share(plain), share(rare), shared, Weights{int64(both[0]), int64(both[1])}}
}

// words are of a vocabulary so small that sentences meet.
func page(random *rand.Rand, pieces []string) string {
	var b strings.Builder
	for range random.IntN(12) {
		b.WriteString(pieces[random.IntN(len(pieces))])
	}
	return b.String()
}

var pieces = []string{"Home. ", "News 12\n", "news\n", "第三章。", "章。", "٣ كتاب. ", "12. ", "\n", "Über uns, ", "x", "½ ", "A longer sentence about nothing. ", "\xff. ", "Ⅷ. "}

func TestCompareRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 42))
	parted, kept, little := 0, 0, 0
	for range 20_000 {
		o := Options{RarePages: 1 + random.IntN(5), RareResemblance: random.Float64()}
		count := map[string]int{}
		pagesOf := func(u string) int {
			if count[u] == 0 {
				count[u] = 1 + random.IntN(100)
			}
			return count[u]
		}
		a, b := page(random, pieces), page(random, pieces)
		byKey := map[uint64]int{}
		for _, s := range append(text.Sentences(a), text.Sentences(b)...) {
			if u := slowUnit(s.Text); u != "" {
				byKey[UnitOf(s.Text).Key] = pagesOf(u)
			}
		}
		read := func(s string) Text { return o.Read(s, func(k uint64) int { return byKey[k] }) }
		x, y := read(a), read(b)
		got, want := Compare(x, y), slowCompare(o, a, b, pagesOf)
		for i, pair := range [][2]float64{{got.Plain.Resemblance, want.Plain.Resemblance}, {got.Plain.Containment, want.Plain.Containment},
			{got.Rare.Resemblance, want.Rare.Resemblance}, {got.Rare.Containment, want.Rare.Containment},
			{float64(got.Both.Plain) / one, float64(want.Both.Plain) / one}, {float64(got.Both.Rare) / one, float64(want.Both.Rare) / one}} {
			if math.Abs(pair[0]-pair[1]) > 1e-5 {
				t.Fatalf("%d: %q, %q: %+v, want %+v", i, a, b, got, want)
			}
		}
		if got.Shared != want.Shared {
			t.Fatalf("%q, %q: %d rare sentences in common, want %d", a, b, got.Shared, want.Shared)
		}
		if none := want.Both.Plain == 0 && len(x.units) > 0 && len(y.units) > 0; got.Nothing() != none {
			t.Fatalf("%q, %q: nothing in common %v, want %v", a, b, got.Nothing(), none)
		}
		if with := Compare(x, x).Both; x.Weights() != with {
			t.Fatalf("%q weighs %v, and shares %v with itself", a, x.Weights(), with)
		}
		most := got.Both.Rare + random.Int64N(1+max(0, got.Both.Rare))
		if alike, contained := o.Little(most, most, x.sum.Rare, y.sum.Rare); alike && got.Rare.Resemblance >= o.RareResemblance ||
			contained && got.Rare.Containment >= o.RareContainment() {
			t.Fatalf("%q, %q: %+v is little: %v, %v", a, b, got, alike, contained)
		} else if alike && contained {
			little++
		} else if exact, too := o.Little(got.Both.Rare, got.Both.Rare, x.sum.Rare, y.sum.Rare); exact != (got.Rare.Resemblance < o.RareResemblance) || too != (got.Rare.Containment < o.RareContainment()) {
			t.Fatalf("%q, %q: %+v is little by its own weight: %v, %v", a, b, got, exact, too)
		}
		if o.Sentences = random.Float64(); !o.MayBeAlike(x, y) && o.Alike(got) {
			t.Fatalf("%q, %q: alike, which they may not be", a, b)
		}
		if o.Sentences = 1; o.RarePages > 0 && !o.MayBeAlike(x, x) {
			t.Fatalf("%q may not be alike itself", a)
		}
		if other := Compare(y, x); other != got {
			t.Fatalf("not symmetric: %+v, %+v", got, other)
		}
		if same := Compare(x, x); same.Plain != (Share{1, 1}) || same.Rare != (Share{1, 1}) {
			t.Fatalf("with itself: %+v", same)
		}
		var sums [2]float64
		for _, w := range Trace(x, y) {
			if w.Of == [2]bool{true, true} {
				sums[0] += w.Rare
			}
			sums[1] += w.Rare
		}
		if sums[1] > 0 && math.Abs(sums[0]/sums[1]-got.Rare.Resemblance) > 1e-5 {
			t.Fatalf("trace %v, compare %+v", sums, got)
		}
		if alike, _ := o.Parts(got); alike {
			parted++
		} else {
			kept++
		}
	}
	if parted < 1000 || kept < 1000 || little < 1000 {
		t.Errorf("%d parted, %d not, %d with little in common", parted, kept, little)
	}
}

// Text that is common makes two pages less alike than it did, never more, if
// both have it.
func TestSharedTextCountsLessWhereItIsCommon(t *testing.T) {
	random := rand.New(rand.NewPCG(43, 44))
	for range 5000 {
		shared, a, b := page(random, pieces), page(random, pieces), page(random, pieces)
		pages := map[uint64]int{}
		common := map[uint64]bool{}
		for _, u := range Units(shared, UnitOf) {
			common[u.Key] = true
		}
		last := 2.0
		for _, n := range []int{1, 3, 4, 10, 29, 30, 31, 1 << 40} {
			for k := range common {
				pages[k] = n
			}
			read := func(s string) Text { return options.Read(shared+"\n"+s, func(k uint64) int { return pages[k] }) }
			r := Compare(read(a), read(b)).Rare.Resemblance
			if r > last {
				t.Fatalf("on %d pages %v, on fewer %v: %q, %q, %q", n, r, last, shared, a, b)
			}
			last = r
		}
	}
}

func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"Version 1.2.3", "Version 4.5.6", true},
		{"Version ٣", "Version 12", true},
		{"Version", "version", true},
		{"“Über uns” – 12 Jahre", "ÜBER UNS: 13 Jahre", true},
		{"resume", "résumé", false},
		{"Version 1", "Version 1a", false},
		{"第3章", "第12章", true},
		{"12 of 30", "7 of 9", true},
	} {
		if same := UnitOf(tt.a).Key == UnitOf(tt.b).Key; same != tt.same {
			t.Errorf("%q, %q: %v", tt.a, tt.b, same)
		}
	}
	for _, s := range []string{"", "12", "½", "12 30", "…", "Ⅷ"} {
		if u := UnitOf(s); u != (Unit{}) {
			t.Errorf("%q counts: %+v", s, u)
		}
	}
	units := Units("One 1. Two. One 2. 3. Two", UnitOf)
	if len(units) != 2 || units[0].Key >= units[1].Key {
		t.Errorf("%+v", units)
	}
}

// Both thresholds part: what is rejected before the scores are known could not
// be near by either.
func TestDecide(t *testing.T) {
	near, inside := verify.Verdict{Near: true, Resemblance: 0.9, Containment: 0.9}, verify.Verdict{Near: true, Contained: true, Resemblance: 0.2, Containment: 0.95}
	far := verify.Verdict{Rejected: verify.ByScore, Resemblance: 0.1}
	rejected := verify.Verdict{Rejected: verify.ByRarity}
	low, high := Share{0.1, 0.1}, Share{0.9, 0.9}
	sentences := Options{RarePages: 3, RareResemblance: 0.25, Sentences: 0.7, RareSentences: 0.6}
	alike := verify.Verdict{Near: true, Alike: true, Resemblance: 0.9, Containment: 0.9}
	for _, tt := range []struct {
		name   string
		o      Options
		e      Evidence
		v      verify.Verdict
		want   verify.Verdict
		scored bool
	}{
		{"rare", options, Evidence{high, high, 1, Weights{}}, near, near, true},
		{"common", options, Evidence{high, low, 1, Weights{}}, near, rejected, false},
		{"common, and contained", options, Evidence{high, low, 1, Weights{}}, inside, rejected, false},
		{"rare in the lighter text", options, Evidence{high, Share{0.1, 0.9}, 1, Weights{}}, inside, inside, true},
		{"rare in the lighter text, but alike", options, Evidence{high, Share{0.1, 0.9}, 1, Weights{}}, near, rejected, true},
		{"common in the lighter text only", options, Evidence{high, Share{0.9, 0.1}, 1, Weights{}}, inside, rejected, true},
		{"low, and no lower than if all were rare", options, Evidence{low, low, 1, Weights{}}, near, near, true},
		{"far", options, Evidence{high, high, 1, Weights{}}, far, far, true},
		{"off", Options{RareResemblance: 0.25}, Evidence{high, low, 1, Weights{}}, near, near, true},
		{"alike and far", sentences, Evidence{high, high, 1, Weights{}}, far, alike, true},
		{"alike and near", sentences, Evidence{high, high, 1, Weights{}}, near, near, true},
		{"alike and contained", sentences, Evidence{high, high, 1, Weights{}}, inside, alike, true},
		{"nearly alike", sentences, Evidence{Share{0.69, 0.9}, high, 1, Weights{}}, far, far, true},
		{"alike but for rare sentences", sentences, Evidence{high, Share{0.59, 0.9}, 1, Weights{}}, far, far, true},
		{"alike, with no rare sentence", sentences, Evidence{high, high, 0, Weights{}}, far, far, true},
		{"alike, without a check", Options{Sentences: 0.7}, Evidence{high, high, 1, Weights{}}, far, far, true},
	} {
		asked := false
		got := tt.o.Decide(tt.e, func() verify.Verdict {
			asked = true
			return tt.v
		})
		if got != tt.want || asked != tt.scored {
			t.Errorf("%s: %+v, scored %v", tt.name, got, asked)
		}
	}
}

// slowCount is Count by the definition.
func slowCount(sightings []Sighting, beyond int) map[uint64]int {
	pages := map[uint64]map[uint64]bool{}
	for _, s := range sightings {
		if pages[s.Sentence] == nil {
			pages[s.Sentence] = map[uint64]bool{}
		}
		pages[s.Sentence][s.Page] = true
	}
	out := map[uint64]int{}
	for s, on := range pages {
		if len(on) > beyond {
			out[s] = len(on)
		}
	}
	return out
}

func TestCount(t *testing.T) {
	random := rand.New(rand.NewPCG(45, 46))
	for range 2000 {
		var all []Sighting
		for range random.IntN(60) {
			all = append(all, Sighting{random.Uint64N(5), random.Uint64N(8)})
		}
		beyond := random.IntN(5)
		want := slowCount(all, beyond)
		slices.SortFunc(all, Sighting.Compare)
		got := map[uint64]int{}
		err := Count(func(yield func(Sighting, error) bool) {
			for _, s := range all {
				if !yield(s, nil) {
					return
				}
			}
		}, beyond, func(c Common) error {
			if _, twice := got[c.Sentence]; twice {
				t.Fatalf("%d twice", c.Sentence)
			}
			got[c.Sentence] = c.Pages
			return nil
		})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v: %v (%v), want %v", all, got, err, want)
		}
	}
	err := Count(func(yield func(Sighting, error) bool) {
		_ = yield(Sighting{2, 1}, nil) && yield(Sighting{1, 1}, nil)
	}, 0, func(Common) error { return nil })
	if err == nil {
		t.Error("sightings out of order are counted")
	}
}

func TestValidate(t *testing.T) {
	good := Options{RarePages: 3, RareResemblance: 0.25, Sentences: 0.75, RareSentences: 0.6, RareFramed: 0.45, OtherPages: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for _, n := range []int{-1, maxPages + 1} {
		o := good
		if o.RarePages = n; !named(o.Validate(), "rare_pages") {
			t.Errorf("%+v: %v", o, o.Validate())
		}
	}
	var o Options
	for name, share := range map[string]*float64{"rare_resemblance": &o.RareResemblance, "sentences": &o.Sentences,
		"rare_sentences": &o.RareSentences, "rare_framed": &o.RareFramed, "other_pages": &o.OtherPages} {
		for _, wrong := range []float64{1.1, -0.1, math.NaN()} {
			o = good
			if *share = wrong; !named(o.Validate(), name) {
				t.Errorf("%+v: %v", o, o.Validate())
			}
		}
		for _, right := range []float64{0, 1} {
			o = good
			if *share = right; o.Validate() != nil {
				t.Errorf("%+v: %v", o, o.Validate())
			}
		}
	}
}

// named reports whether an error begins with the name of an option.
func named(err error, option string) bool {
	return err != nil && strings.HasPrefix(err.Error(), option+":")
}

// FuzzRead holds the units against their definition, on any bytes.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"Home. News 12\n第3章。", "\xff. Ⅷ½", "a\n" + strings.Repeat("b ", 3000), "٣. é1", "\xff a1\n\xff a\n\xfe a\nx1é2中"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		units := map[uint64]string{}
		for _, sentence := range text.Sentences(s) {
			u, want := UnitOf(sentence.Text), slowUnit(sentence.Text)
			if exact := SentenceOf(sentence.Text); exact.Plain != u || exact.Exact != ExactUnitOf(sentence.Text).Key || (exact.Exact == u.Key) != (want == string(text.Letters(nil, sentence.Text)) || want == "") {
				t.Fatalf("%q is %+v with numbers", sentence.Text, exact)
			}
			if (u.Key == 0) != (want == "") || want != "" && u.Columns != text.LettersColumns([]byte(want)) {
				t.Fatalf("%q is %+v, want %q", sentence.Text, u, want)
			}
			if old, ok := units[u.Key]; ok && old != want {
				t.Fatalf("%q and %q are one", old, want)
			}
			units[u.Key] = want
		}
		delete(units, 0)
		x := options.Read(s, func(uint64) int { return n })
		if len(x.units) != len(units) || Compare(x, x).Rare != (Share{1, 1}) || Compare(x, x).Plain != (Share{1, 1}) {
			t.Fatalf("%d units, want %d", len(x.units), len(units))
		}
		for _, u := range x.units {
			if u.rare > u.plain || u.rare < u.plain/floor || u.plain <= 0 {
				t.Fatalf("%+v", u)
			}
		}
	})
}
