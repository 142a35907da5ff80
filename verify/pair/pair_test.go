package pair

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/verify"
	"neardup/verify/rarity"
	"neardup/verify/tlcs"
)

// measure gives every pair one verdict, and counts what it is asked for.
type measure struct {
	verdict            verify.Verdict
	prepared, compared int
}

type document string

func (d document) Bytes() int { return 1000 * len(d) }

func (m *measure) Prepare(text string) verify.Document {
	m.prepared++
	return document(text)
}

func (m *measure) Comparer() verify.Comparer { return m }

func (m *measure) Compare(_, _ verify.Document) verify.Verdict {
	m.compared++
	return m.verdict
}

// sized is a measure that says what a text takes.
type sized struct{ *measure }

func (sized) BytesOf(codePoints int) int { return 10 * codePoints }

var (
	near      = verify.Verdict{Near: true, Resemblance: 0.8, Containment: 0.9}
	contained = verify.Verdict{Near: true, Contained: true, Resemblance: 0.2, Containment: 0.9}
	far       = verify.Verdict{Rejected: verify.ByScore, Resemblance: 0.1, Containment: 0.2}
	hopeless  = verify.Verdict{Rejected: verify.BySketch}
)

// Sentences of one width each. Those with an s stand on many pages of their site.
const (
	frame = "smain menu of all these. sfooter menu of all these. "
	apple = "apples are told of here. "
	pears = "pears were talked about. "
)

// The rules: rarity decides first, where it can, and then the measure is not asked.
// Where it leaves the pair open, the pair is what the measure says.
func TestDecide(t *testing.T) {
	check := rarity.Options{RarePages: 3, RareResemblance: 0.5}
	for _, tt := range []struct {
		name     string
		rarity   rarity.Options
		says     verify.Verdict
		a, b     string
		want     verify.Verdict
		measured bool
	}{
		{"no check, near", rarity.Options{}, near, frame + apple, frame + pears, near, true},
		{"no check, far", rarity.Options{}, far, frame + apple, frame + apple, far, true},
		{"rare text in common, near", check, near, frame + apple, frame + apple, near, true},
		{"rare text in common, contained", check, contained, frame + apple, frame + apple, contained, true},
		{"rare text in common, far", check, far, frame + apple, frame + apple, far, true},
		{"rare text in common, rejected early", check, hopeless, frame + apple, frame + apple, hopeless, true},
		{"only the frame in common", check, near, frame + apple, frame + pears, verify.Verdict{Rejected: verify.ByRarity}, false},
		{"only the frame in common, far", check, far, frame + apple, frame + pears, verify.Verdict{Rejected: verify.ByRarity}, false},
		{"no sentence in common, near", check, near, apple, pears, near, true},
		{"one is the frame, near", check, near, frame + apple, frame, verify.Verdict{Rejected: verify.ByRarity}, true},
		{"one is the frame, contained", check, contained, frame + apple, frame, contained, true},
	} {
		for _, swap := range []bool{false, true} {
			m := &measure{verdict: tt.says}
			j := Judge{Measure: m, Rarity: tt.rarity}
			text := func(s string) *Text {
				if tt.rarity.RarePages == 0 {
					return j.Text(s, rarity.Text{})
				}
				common := map[uint64]bool{}
				for _, u := range rarity.Units(frame, rarity.UnitOf) {
					common[u.Key] = true
				}
				return j.Text(s, j.Rarity.Read(s, func(unit uint64) int {
					if common[unit] {
						return 500
					}
					return 1
				}))
			}
			a, b := text(tt.a), text(tt.b)
			if swap {
				a, b = b, a
			}
			d := j.Decide(j.Comparers(1)[0], a, b)
			if d.Near != tt.want.Near || d.Contained != tt.want.Contained || d.Rejected != tt.want.Rejected {
				t.Errorf("%s, swapped %v: %+v, want %+v", tt.name, swap, d.Verdict, tt.want)
			}
			if tt.measured && (d.Resemblance != tt.want.Resemblance || d.Containment != tt.want.Containment) {
				t.Errorf("%s, swapped %v: scores of %+v, want %+v", tt.name, swap, d.Verdict, tt.want)
			}
			if measured := m.compared == 1 && m.prepared == 2; measured != tt.measured || !measured && m.compared+m.prepared > 0 {
				t.Errorf("%s, swapped %v: %d prepared, %d compared", tt.name, swap, m.prepared, m.compared)
			}
			// An explanation knows both before it decides, and decides the same.
			if o := j.Outcome(rarity.Compare(a.rare, b.rare), tt.says); o.Near != d.Near || o.Contained != d.Contained || o.Rejected != d.Rejected {
				t.Errorf("%s: outcome %+v, decision %+v", tt.name, o, d.Verdict)
			}
		}
	}
}

// equal is a measure for which texts are near if they are equal.
type equal struct{ measure }

func (e *equal) Comparer() verify.Comparer { return e }

func (e *equal) Compare(a, b verify.Document) verify.Verdict {
	x, y := string(a.(document)), string(b.(document))
	switch {
	case x == y:
		return near
	case !strings.Contains(x+y, frame) && (strings.Contains(x, y) || strings.Contains(y, x)):
		return contained
	}
	return far
}

// Texts of one site are near whole, or without its frame; texts of different sites
// without frames only.
func TestReadings(t *testing.T) {
	check := rarity.Options{RarePages: 3, RareResemblance: 0.5}
	common := func(unit uint64) int {
		for _, u := range rarity.Units(frame, rarity.UnitOf) {
			if u.Key == unit {
				return 500
			}
		}
		return 1
	}
	one, other, both := []uint64{7}, []uint64{3, 9}, []uint64{7, 9}
	for _, tt := range []struct {
		name           string
		a, ownA        string // own: without frames; "" if it has none
		b, ownB        string
		sitesA, sitesB []uint64
		frames         bool
		near, weighed  bool
		reading        string // of a, that decides
	}{
		{"one site, the same", frame + apple, apple, frame + apple, apple, one, one, true, true, true, frame + apple},
		{"one site, the same without the frame", frame + apple, apple, apple, "", one, one, true, true, true, apple},
		{"one site, nothing in common but the frame", frame + apple, apple, frame + pears, pears, one, one, true, false, true, frame + apple},
		{"one site, one in the other without the frame", frame + apple, apple, frame + apple + pears, apple + pears, one, one, true, false, true, frame + apple},
		{"two sites, one in the other without frames", frame + apple, apple, frame + apple + pears, apple + pears, one, other, true, true, false, apple},
		{"one of several sites in common", frame + apple, apple, frame + apple, apple, one, both, true, true, true, frame + apple},
		{"two sites, the same without frames", frame + apple, apple, pears + apple, apple, one, other, true, true, false, apple},
		{"two sites, one without a frame", frame + apple, apple, apple, "", one, other, true, true, false, apple},
		{"two sites, without frames", apple, "", apple, "", one, other, true, true, false, apple},
		{"two sites, other texts in the same frame", frame + apple, apple, frame + pears, pears, one, other, true, false, false, apple},
		{"no sites", apple, "", apple, "", nil, nil, true, true, false, apple},
		{"no frames are learned", frame + apple, apple, pears + apple, apple, one, other, false, false, true, frame + apple},
	} {
		j := Judge{Measure: &equal{}, Rarity: check, Frames: tt.frames}
		text := func(whole, own string, sites []uint64) *Text {
			made := j.Text(whole, j.Rarity.Read(whole, common))
			if own == "" {
				return made.Framed(sites, nil)
			}
			return made.Framed(sites, j.Text(own, j.Rarity.Read(own, common)))
		}
		a, b := text(tt.a, tt.ownA, tt.sitesA), text(tt.b, tt.ownB, tt.sitesB)
		for swap, d := range map[bool]Decision{false: j.Decide(j.Comparers(1)[0], a, b), true: j.Decide(j.Comparers(1)[0], b, a)} {
			of := d.Texts[0]
			if swap {
				of = d.Texts[1]
			}
			if d.Near != tt.near || d.Weighed != tt.weighed || of.Compared() != tt.reading {
				t.Errorf("%s, swapped %v: near %v, weighed %v, by %q", tt.name, swap, d.Near, d.Weighed, of.Compared())
			}
		}
	}
}

// byFrame is a measure with one verdict for texts with the frame, and one for texts
// without it.
type byFrame struct {
	measure
	whole, own verify.Verdict
}

func (m *byFrame) Comparer() verify.Comparer { return m }

func (m *byFrame) Compare(a, _ verify.Document) verify.Verdict {
	if strings.HasPrefix(string(a.(document)), frame) {
		return m.whole
	}
	return m.own
}

// Pages of one site that are near, and share little but its frame, are near only if
// they are near without it.
func TestNearByFrame(t *testing.T) {
	common := map[uint64]bool{}
	for _, u := range rarity.Units(frame, rarity.UnitOf) {
		common[u.Key] = true
	}
	one, other := []uint64{7}, []uint64{3}
	const shared = "Both of the two articles have this sentence.\n"
	for _, tt := range []struct {
		name       string
		least      float64
		whole, own verify.Verdict
		texts      [2]string // without the frame
		site       []uint64  // of the second
		want       verify.Verdict
	}{
		{"near without it", 0.9, near, near, [2]string{apple + shared, pears + shared}, one, near},
		{"far without it", 0.9, near, far, [2]string{apple + shared, pears + shared}, one, far},
		{"contained without it", 0.9, near, contained, [2]string{apple + shared, pears + shared}, one, contained},
		{"enough in common that is rare", 0.9, near, far, [2]string{apple + shared, apple + shared}, one, near},
		{"enough for a lower threshold", 0.1, near, far, [2]string{apple + shared, pears + shared}, one, near},
		{"no check", 0, near, far, [2]string{apple + shared, pears + shared}, one, near},
		{"contained with it", 0.9, contained, far, [2]string{apple + shared, pears + shared}, one, contained},
		{"two sites", 0.9, near, far, [2]string{apple + shared, pears + shared}, other, far},
	} {
		j := Judge{Measure: &byFrame{whole: tt.whole, own: tt.own}, Rarity: rarity.Options{RarePages: 3, RareFramed: tt.least}, Frames: true}
		text := func(own string, sites []uint64) *Text {
			read := func(s string) *Text {
				return j.Text(s, j.Rarity.Read(s, func(unit uint64) int {
					if common[unit] {
						return 500
					}
					return 1
				}))
			}
			return read(frame+own).Framed(sites, read(own))
		}
		a, b := text(tt.texts[0], one), text(tt.texts[1], tt.site)
		for _, d := range []Decision{j.Decide(j.Comparers(1)[0], a, b), j.Decide(j.Comparers(1)[0], b, a)} {
			if d.Verdict != tt.want {
				t.Errorf("%s: %+v, want %+v", tt.name, d.Verdict, tt.want)
			}
		}
	}
}

// Texts that the measure gives no chance are near if their sentences are the same but
// for numbers. Who knows the sentences alone, without the measure, finds the same, and
// pairs that their rarity rejects.
func TestAlike(t *testing.T) {
	both := []rarity.Options{
		{RarePages: 3, RareResemblance: 0.25, Sentences: 0.75, RareSentences: 0.6},
		{RarePages: 3, RareResemblance: 0.9, Sentences: 0.3, RareSentences: 0.05}, // what separates texts can be alike
	}
	one, other := []uint64{7}, []uint64{3}
	random := rand.New(rand.NewPCG(3, 4))
	found, rejected := map[bool]int{}, 0
	for n := range 20_000 {
		options := both[n%2]
		j := Judge{Measure: &measure{verdict: hopeless}, Rarity: options, Frames: n%3 > 0}
		text := func(sites []uint64) *Text {
			read := func(s string) *Text {
				return j.Text(s, options.Read(s, func(unit uint64) int { return int(unit % 7) }))
			}
			var whole, own string
			for i := range 8 {
				if s := fmt.Sprintf("Sentence %s with the number %d.\n", strings.Repeat("x", i), random.IntN(100)); random.IntN(8) > 0 {
					if whole += s; i > 2 {
						own += s
					}
				}
			}
			if random.IntN(2) == 0 {
				return read(whole).Framed(sites, nil)
			}
			return read(whole).Framed(sites, read(own))
		}
		a, b := text(one), text([][]uint64{one, other}[random.IntN(2)])
		d := j.Decide(j.Comparers(1)[0], a, b)
		alike, _ := j.Alike(a.Sentences(), b.Sentences())
		if swapped, _ := j.Alike(b.Sentences(), a.Sentences()); swapped != alike {
			t.Fatalf("%q, %q: alike %v, the other way round %v", a.Compared(), b.Compared(), alike, swapped)
		}
		if n%2 == 1 && d.Rejected == verify.ByRarity {
			alike = false // that was decided before
		}
		if d.Near != d.Alike || d.Alike != alike {
			t.Fatalf("%q, %q: %+v, by the sentences %v", a.Compared(), b.Compared(), d.Verdict, alike)
		}
		found[d.Alike]++
		if r, ok := j.RejectedByRarity(a.Sentences(), b.Sentences()); ok {
			if rejected++; r.Verdict != d.Verdict || r.Weighing != d.Weighing {
				t.Fatalf("%q, %q: %+v, rejected by the sentences %+v", a.Compared(), b.Compared(), d, r)
			}
		}
	}
	if found[true] < 100 || found[false] < 100 || rejected < 100 {
		t.Errorf("%v, %d rejected", found, rejected)
	}
}

// Texts are apart if they share no sentence, or are rejected by their sentences, or of
// different sites and share little. Strangers are so little alike, if what they share is within
// the given weights.
func TestApart(t *testing.T) {
	one, other, both := []uint64{7}, []uint64{3}, []uint64{3, 7}
	random := rand.New(rand.NewPCG(13, 14))
	counts := map[string]int{}
	for n := range 40_000 {
		options := rarity.Options{RarePages: 3, RareResemblance: 0.25, Sentences: 0.75, RareSentences: 0.6}
		if n%5 == 0 {
			options.RareResemblance, options.RareSentences = 0.9, 0.05
		}
		j := Judge{Measure: &measure{verdict: verify.Verdict{Near: true, Resemblance: 1, Containment: 1}}, Rarity: options, Frames: n%3 > 0}
		some := 1 + random.IntN(8)
		text := func(sites []uint64) *Text {
			read := func(s string) *Text {
				return j.Text(s, options.Read(s, func(unit uint64) int {
					if len(sites) > 1 && unit%4 == 0 { // common on the other site
						return 90
					}
					return []int{1, 40, 2}[unit%3]
				}))
			}
			var whole, own string
			for i := range 14 {
				if s := fmt.Sprintf("Sentence %s with the number %d.\n", strings.Repeat("x", i), random.IntN(100)); random.IntN(8) < some {
					if whole += s; i > 4 {
						own += s
					}
				}
			}
			if random.IntN(2) == 0 {
				return read(whole).Framed(sites, nil)
			}
			return read(whole).Framed(sites, read(own))
		}
		sites := [][]uint64{one, other, both, nil}
		a, b := text(sites[random.IntN(4)]), text(sites[random.IntN(4)])
		x, y := a.Sentences(), b.Sentences()
		readings := [2][2]rarity.Text{{x.Whole, y.Whole}, {x.Own, y.Own}}
		decides := 0 // the reading that decides first
		if j.Frames && !ShareSite(x.Sites, y.Sites) {
			decides = 1
		}
		evidence := rarity.Compare(readings[decides][0], readings[decides][1])
		briefs := [2]Brief{x.Brief(), y.Brief()}
		tell := x.Whole.Len() > 0 && y.Whole.Len() > 0 && x.Own.Len() > 0 && y.Own.Len() > 0
		if got := briefs[0].tells && briefs[1].tells; got != tell {
			t.Fatalf("%q, %q: their sentences tell %v", a.Compared(), b.Compared(), got)
		}
		nothing := evidence.Nothing() && tell
		alike, contained := options.Parts(evidence)
		byRarity := decides == 0 && alike && contained
		if decides == 0 && j.Frames && (x.HasFrame || y.HasFrame) {
			own := rarity.Compare(x.Own, y.Own)
			byRarity = byRarity && !j.mayResemble(x.OwnLength, y.OwnLength, own)
			nothing = nothing || tell && alike && contained && own.Nothing()
		}
		rare, apart := j.Apart(x, y)
		want := nothing || byRarity
		var regained rarity.Evidence
		if decides == 1 {
			want = tell && evidence.Plain.Resemblance < options.RareResemblance && evidence.Plain.Containment < options.RareContainment()
			if r := j.regained(&x, &y); want && r.any() {
				regained = r.evidence(&x, &y)
				want = regained.Rare.Resemblance < options.RareResemblance
				counts[fmt.Sprintf("regained, apart %v", want)]++
			}
		}
		if apart != want {
			t.Fatalf("%q, %q: apart %v, %+v, rejected %v", a.Compared(), b.Compared(), apart, evidence, byRarity)
		}
		if most := max(evidence.Both.Rare, regained.Both.Rare); !apart && rare > most {
			t.Fatalf("%q, %q: they share %d, want %d at most", a.Compared(), b.Compared(), rare, most)
		}
		var common [2]rarity.Weights
		for i, r := range readings {
			common[i] = rarity.Compare(r[0], r[1]).Both
		}
		if decides == 1 { // of these, what is in the frame of the second counts, too
			for _, other := range []rarity.Text{y.Whole, y.Own} {
				both := rarity.Compare(x.Own, other).Both
				common[1] = rarity.Weights{Plain: max(common[1].Plain, both.Plain), Rare: max(common[1].Rare, both.Rare)}
			}
		}
		shares := common
		strangers := j.Strangers(&briefs[0], common, &briefs[1])
		byThese := strangers
		if decides == 0 && !slices.Equal(x.Sites, y.Sites) {
			strangers = false // what both have may weigh more in the first text
		}
		share := evidence.Rare
		if decides == 1 {
			share = evidence.Plain
		}
		if little := share.Resemblance < options.RareResemblance && share.Containment < options.RareContainment(); strangers && !little {
			t.Fatalf("%q, %q: strangers that share %+v", a.Compared(), b.Compared(), evidence)
		} else if decides == 1 && strangers && !apart {
			t.Fatalf("%q, %q: strangers that are not apart", a.Compared(), b.Compared())
		} else if framed := j.Frames && (x.HasFrame || y.HasFrame); little && !strangers && tell && !framed && (decides == 1 || slices.Equal(x.Sites, y.Sites) && len(x.Sites) == 1) {
			t.Fatalf("%q, %q: no strangers, and share %+v", a.Compared(), b.Compared(), evidence)
		} else if own := rarity.Compare(x.Own, y.Own); little && !strangers && tell && slices.Equal(x.Sites, y.Sites) && len(x.Sites) == 1 && options.RareSentences > options.RareResemblance && own.Rare.Resemblance < options.RareResemblance {
			t.Fatalf("%q, %q: no strangers, and without frames they share %+v", a.Compared(), b.Compared(), own)
		} else if strangers && decides == 0 && framed && (j.Rarity.Alike(own) || own.Rare.Resemblance >= options.RareResemblance) {
			t.Fatalf("%q, %q: strangers whose readings without frames share %+v", a.Compared(), b.Compared(), own)
		}
		for i := range common { // as Bound gives them: the weights that they have in the first text
			for _, u := range []rarity.Text{x.Whole, x.Own}[i : i+1] {
				common[i] = u.Weights()
			}
		}
		if j.Strangers(&briefs[0], common, &briefs[1]) && !(share.Resemblance < options.RareResemblance && share.Containment < options.RareContainment()) {
			t.Fatalf("%q, %q: strangers by all sentences of the first, and share %+v", a.Compared(), b.Compared(), evidence)
		}
		common = shares
		for i := range common { // who share no more than anyone may share with anyone
			common[i].Plain += random.Int64N(1 << 30)
			common[i].Rare = min(common[i].Rare+random.Int64N(1<<30), common[i].Plain)
		}
		if !byThese && j.Strangers(&briefs[0], common, &briefs[1]) {
			t.Fatalf("%q, %q: strangers because they may share more", a.Compared(), b.Compared())
		}
		third := text(sites[random.IntN(4)]).Sentences().Brief()
		if random.IntN(2) == 0 { // so that common sentences are little of what there is
			common = [2]rarity.Weights{{Plain: random.Int64N(1 << 29), Rare: random.Int64N(1 << 28)}, {Plain: random.Int64N(1 << 28), Rare: random.Int64N(1 << 27)}}
			for i := range common {
				common[i].Rare = min(common[i].Rare, common[i].Plain)
			}
		}
		least := third.Least(briefs[1])
		if all := j.AllStrangers(&briefs[0], common, &least); all {
			if !j.Strangers(&briefs[0], common, &briefs[1]) || !j.Strangers(&briefs[0], common, &third) {
				t.Fatalf("%+v, %v: all of %+v and %+v are strangers, and one is not", briefs[0], common, briefs[1], third)
			}
			counts["all"]++
		}
		counts[fmt.Sprint(apart, strangers, decides)]++
	}
	for _, k := range []string{"all", "true true 0", "true true 1", "false false 0", "false false 1", "true false 0", "regained, apart true", "regained, apart false"} {
		if counts[k] < 100 {
			t.Errorf("apart, strangers, reading %s: %d of %v", k, counts[k], counts)
		}
	}
}

// Where half of a text has no letters, its sentences do not tell that it is apart from another.
func TestApartNeedsLetters(t *testing.T) {
	options := rarity.Options{RarePages: 3, RareResemblance: 0.25, Sentences: 0.75, RareSentences: 0.6}
	j := Judge{Measure: &measure{}, Rarity: options, Frames: true}
	text := func(site uint64, title, figures string) Sentences {
		s := title + "\n" + strings.Repeat(figures, 12)
		return j.Text(s, options.Read(s, func(uint64) int { return 1 })).Framed([]uint64{site}, nil).Sentences()
	}
	for _, tt := range []struct {
		figures string
		apart   bool
	}{{"12 345 678, 90 12 345.\n", false}, {"", true}} {
		for _, site := range []uint64{1, 2} {
			a, b := text(1, "The figures of the spring of that year", tt.figures), text(site, "What was counted in autumn", tt.figures)
			x, y := a.Brief(), b.Brief()
			if _, apart := j.Apart(a, b); apart != tt.apart || j.Strangers(&x, [2]rarity.Weights{}, &y) != tt.apart {
				t.Errorf("figures %q, site %d: apart %v, want %v", tt.figures, site, apart, tt.apart)
			}
			least := x.Least(y)
			if all := j.AllStrangers(&x, [2]rarity.Weights{}, &least); all != tt.apart {
				t.Errorf("figures %q, site %d: all strangers %v", tt.figures, site, all)
			}
		}
	}
}

// A sentence that is common where the first text is may be rare where the second is, which is
// then contained in the first.
func TestStrangersOfOtherSites(t *testing.T) {
	options := rarity.Options{RarePages: 3, RareResemblance: 0.25}
	j := Judge{Measure: &measure{}, Rarity: options, Frames: true}
	var shared, more string
	for i := range 20 {
		shared += fmt.Sprintf("Sentence %s is in both.\n", strings.Repeat("x", i+1))
		more += fmt.Sprintf("Sentence %s is in one.\n", strings.Repeat("y", i+1))
	}
	read := func(sites []uint64, s string, pages int) Sentences {
		return j.Text(s, options.Read(s, func(uint64) int { return pages })).Framed(sites, nil).Sentences()
	}
	all := read([]uint64{1, 2}, shared+more, 1)
	common := read([]uint64{1, 2}, shared, 400)
	a := Sentences{Sites: all.Sites, Whole: all.Whole, Own: all.Own, Length: all.Length, OwnLength: all.OwnLength}
	b := read([]uint64{2}, shared, 1)
	x, y := a.Brief(), b.Brief()
	weights := [2]rarity.Weights{common.Whole.Weights(), common.Own.Weights()}
	if j.Strangers(&x, weights, &y) {
		t.Error("a text is a stranger to one that may contain it")
	}
	if least := y; j.AllStrangers(&x, weights, &least) {
		t.Error("texts are strangers to one that may contain them")
	}
}

// What a text says beyond the place where it was cut is only in its reading without frames. The
// frame of the other text may have it.
func TestStrangersOfCutTexts(t *testing.T) {
	options := rarity.Options{RarePages: 3, RareResemblance: 0.25}
	j := Judge{Measure: &measure{}, Rarity: options, Frames: true}
	var tail string      // what both have
	var common [2]string // what many pages of the site of each have
	for i := range 20 {
		tail += fmt.Sprintf("Sentence %s is in both.\n", strings.Repeat("x", i+1))
	}
	for i := range 200 {
		common[i%2] += fmt.Sprintf("Common %s.\n", strings.Repeat("y", i+1))
	}
	pages := map[uint64]int{}
	for _, u := range rarity.Units(common[0]+common[1], rarity.UnitOf) {
		pages[u.Key] = 400
	}
	read := func(s string) *Text {
		return j.Text(s, options.Read(s, func(key uint64) int { return max(1, pages[key]) }))
	}
	a := read("The frame of the first is here.").Framed([]uint64{1}, read(tail+common[0])).Sentences()
	b := read(tail+common[1]).Framed([]uint64{2}, read(common[1])).Sentences()
	if _, apart := j.Apart(a, b); apart {
		t.Error("apart")
	}
	x, y := a.Brief(), b.Brief()
	weights := [2]rarity.Weights{{}, read(tail).Sentences().Whole.Weights()}
	if least := y; j.Strangers(&x, weights, &y) || j.AllStrangers(&x, weights, &least) {
		t.Error("strangers")
	}
}

// Weights are such that the lightest text shares less than one that is a little heavier.
func TestAllStrangersOfLightTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	j := Judge{Measure: &measure{}, Rarity: rarity.Options{RarePages: 3, RareResemblance: 0.25}, Frames: true}
	weights := func(most int64) rarity.Weights {
		plain := random.Int64N(most)
		return rarity.Weights{Plain: plain, Rare: random.Int64N(plain + 1)}
	}
	found := 0
	for range 300_000 {
		brief := func() Brief {
			return Brief{sites: []uint64{1}, whole: weights(2000), own: weights(200), hasFrame: true, tells: true}
		}
		a, b, c := brief(), brief(), brief()
		common := [2]rarity.Weights{weights(100), weights(20)}
		least := b.Least(c)
		if j.AllStrangers(&a, common, &least) {
			if found++; !j.Strangers(&a, common, &b) || !j.Strangers(&a, common, &c) {
				t.Fatalf("%+v, %v: all of %+v and %+v are strangers, and one is not", a, common, b, c)
			}
		}
	}
	if found < 1000 {
		t.Errorf("%d all strangers", found)
	}
}

// A text is prepared once, when it is first asked for, and its size is known before
// if the measure can tell.
func TestText(t *testing.T) {
	m := &measure{}
	text := Judge{Measure: m}.Text("a中é", rarity.Text{})
	if text.Len() != 3 || m.prepared != 0 {
		t.Errorf("%d code points, prepared %d times", text.Len(), m.prepared)
	}
	if text.Scored() != document("a中é") || text.Scored() != text.Scored() || m.prepared != 1 {
		t.Errorf("prepared %d times", m.prepared)
	}
	if got := text.Bytes(); got != 6+6000 {
		t.Errorf("%d bytes", got)
	}
	text = Judge{Measure: sized{m}}.Text("a中é", rarity.Text{})
	if got := text.Bytes(); got != 6+30 || m.prepared != 1 {
		t.Errorf("%d bytes, prepared %d times", got, m.prepared)
	}
	rare := rarity.Options{RarePages: 1}.Read("One sentence that is rare enough to count here.", func(uint64) int { return 1 })
	text = Judge{Measure: sized{m}}.Text("a中é", rare)
	text.Framed([]uint64{7, 8}, Judge{Measure: sized{m}}.Text("a", rarity.Text{}))
	if got, want := text.Bytes(), 6+30+rare.Bytes()+8*2+1+10; rare.Bytes() == 0 || got != want {
		t.Errorf("%d bytes of a text with sites, rare units and another reading, want %d", got, want)
	}
	if n := len((Judge{Measure: m}).Comparers(3)); n != 3 {
		t.Errorf("%d comparers, want 3", n)
	}
}

// plain hides from a judge that a measure bounds resemblance by lengths.
type plain struct{ verify.Measure }

// Lengths and rarity end comparisons without the frame early, but change no decision.
func TestEarlyEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	options := rarity.Options{RarePages: 3, RareResemblance: 0.25, Sentences: 0.75, RareSentences: 0.6, RareFramed: 0.45}
	m := tlcs.Options{Window: 8, Blocks: 8, Slope: 0.1, Resemblance: 0.5, Containment: 0.9, Trustable: true, Rounds: 2, Whole: 0.6}.Measure()
	j := Judge{Measure: m, Rarity: options, Frames: true}
	full := Judge{Measure: plain{m}, Rarity: options, Frames: true}
	found := map[bool]int{}
	for range 2000 {
		var texts [2][2]*Text
		for i := range texts {
			var whole, own string
			digits := 1 + random.IntN(2)*random.IntN(99) // numbers of 99 digits make texts long, and no sentence other
			for n := range 3 + random.IntN(9) {
				word := rune('a' + n)
				if n <= 2 { // of the frame
					word = rune('m' + random.IntN(12))
				}
				s := fmt.Sprintf("Sentence %s with the number %s.\n", strings.Repeat(string(word), 3*n+3), strings.Repeat(string(rune('1'+random.IntN(2))), digits))
				if whole += s; n > 2 {
					own += s
				}
			}
			for n, j := range []Judge{j, full} {
				read := func(s string) *Text {
					return j.Text(s, options.Read(s, func(unit uint64) int { return int(unit % 9) }))
				}
				texts[n][i] = read(whole).Framed([]uint64{7}, read(own))
			}
		}
		d, want := j.Decide(j.Comparers(1)[0], texts[0][0], texts[0][1]), full.Decide(full.Comparers(1)[0], texts[1][0], texts[1][1])
		if d.Verdict != want.Verdict || d.Texts[0].Compared() != want.Texts[0].Compared() {
			t.Fatalf("%q, %q: %+v, in full %+v", texts[0][0].Compared(), texts[0][1].Compared(), d.Verdict, want.Verdict)
		}
		found[d.Near]++
	}
	if found[true] < 200 || found[false] < 200 {
		t.Errorf("%v", found)
	}
}
