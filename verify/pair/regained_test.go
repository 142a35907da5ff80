package pair

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/verify"
	"neardup/verify/rarity"
)

// lines is a measure: the share of lines that two texts have in common.
type lines struct{ asked int }

type lineSet map[string]bool

func (l lineSet) Bytes() int { return 1 }

func (m *lines) Comparer() verify.Comparer { return m }

func (m *lines) Prepare(text string) verify.Document {
	set := lineSet{}
	for l := range strings.SplitSeq(text, "\n") {
		set[l] = true
	}
	return set
}

func (m *lines) Compare(a, b verify.Document) verify.Verdict {
	m.asked++
	x, y := a.(lineSet), b.(lineSet)
	both := 0
	for l := range x {
		if y[l] {
			both++
		}
	}
	return verify.Scored(float64(both)/float64(len(x)+len(y)-both), float64(both)/float64(min(len(x), len(y))), 0.5, 0.9)
}

// sided is a text of a site, as its definition has it.
type sided struct {
	lines  []string
	framed map[string]bool
	pages  map[string]int
}

func (s sided) without(keep func(line string) bool) (out []string) {
	for _, l := range s.lines {
		if !s.framed[l] || keep(l) {
			out = append(out, l)
		}
	}
	return out
}

func (s sided) text(j Judge, site uint64) *Text {
	read := func(lines []string) *Text {
		body := strings.Join(lines, "\n")
		byKey := map[uint64]int{}
		for l, n := range s.pages {
			byKey[rarity.UnitOf(l).Key] = n
		}
		return j.Text(body, j.Rarity.Read(body, func(key uint64) int { return max(1, byKey[key]) }))
	}
	whole, own := read(s.lines), s.without(func(string) bool { return false })
	if len(own) == len(s.lines) {
		return whole.Framed([]uint64{site}, nil)
	}
	return whole.Framed([]uint64{site}, read(own))
}

// Two texts of different sites that are not near without frames are near if they are with the
// sentences that are in the frame of one of them only, by resemblance, and if enough of what
// they share then is rare. A decision holds while what was said of its rarity holds.
func TestRegained(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	m := &lines{}
	j := Judge{Measure: m, Rarity: rarity.Options{RarePages: 3, RareResemblance: 0.25, RareFramed: 0.45}, Frames: true}
	var all []string
	for i := range 16 {
		all = append(all, fmt.Sprintf("The line has %s in it", strings.Repeat(string(rune('a'+i)), 5+i)))
	}
	for i := range 4 { // the same without numbers
		all = append(all, fmt.Sprint("Posts of the years", i), fmt.Sprint("Comments on this page", i))
	}
	all = append(all, "12 34", "56 78") // which are in no frame
	plain := func(line string) string { return strings.Trim(line, "0123456789") }
	has := func(lines []string, line string) bool {
		return slices.ContainsFunc(lines, func(l string) bool { return plain(l) == plain(line) })
	}
	counts := map[string]int{}
	for range 6_000 {
		framed := random.IntN(8)
		side := func() (s sided) {
			s.framed, s.pages = map[string]bool{}, map[string]int{}
			for i, l := range all {
				if random.IntN(3) == 0 {
					continue
				}
				s.lines = append(s.lines, l)
				if s.pages[plain(l)] == 0 {
					s.pages[plain(l)] = []int{1, 2, 4, 40}[random.IntN(4)]
				}
				if i < 24 && random.IntN(8) < framed {
					s.framed[l] = true
				}
			}
			return s
		}
		x, y := side(), side()
		own := [2][]string{x.without(func(string) bool { return false }), y.without(func(string) bool { return false })}
		if len(own[0]) == 0 || len(own[1]) == 0 {
			continue
		}
		regained := [2][]string{
			x.without(func(l string) bool { return has(own[1], l) && !has(own[0], l) }),
			y.without(func(l string) bool { return has(own[0], l) && !has(own[1], l) }),
		}
		score := func(texts [2][]string) verify.Verdict {
			return m.Compare(m.Prepare(strings.Join(texts[0], "\n")), m.Prepare(strings.Join(texts[1], "\n")))
		}
		weight := func(s sided, l string) float64 {
			u := rarity.UnitOf(l)
			return float64(j.Rarity.Weigh([]rarity.Unit{u}, func(uint64) int { return max(1, s.pages[plain(l)]) }).Weights().Rare)
		}
		rare := func() float64 {
			both, either := 0.0, 0.0
			for _, l := range append(slices.Clone(all[:16]), all[16], all[17]) {
				switch a, b := has(regained[0], l), has(regained[1], l); {
				case a && b:
					w := min(weight(x, l), weight(y, l))
					both, either = both+w, either+w
				case a:
					either += weight(x, l)
				case b:
					either += weight(y, l)
				}
			}
			return both / either
		}
		want, reading := score(own), own
		kind := "own"
		if more := len(regained[0])+len(regained[1]) > len(own[0])+len(own[1]); (!want.Near || want.Contained) && more {
			kind = "not regained"
			if v := score(regained); v.Near && !v.Contained && rare() >= 0.45 {
				if kind = "regained"; want.Contained {
					kind = "regained, and contained before"
				}
				want, reading = v, regained
			}
		}
		counts[kind]++
		a, b := x.text(j, 1), y.text(j, 2)
		d, swapped := j.Decide(m, a, b), j.Decide(m, b, a)
		texts := [2]string{strings.Join(reading[0], "\n"), strings.Join(reading[1], "\n")}
		if got := [2]string{d.Texts[0].Compared(), d.Texts[1].Compared()}; d.Verdict != want || got != texts || swapped.Verdict != want ||
			swapped.Texts[1].Compared() != texts[0] || d.Lengths != [2]int{len(texts[0]), len(texts[1])} || d.Weighed != strings.HasPrefix(kind, "regained") ||
			d.Regained != d.Weighed || d.ComparedAgain() != (kind != "own") {
			t.Fatalf("%s: %+v by %q, want %+v by %q", kind, d, got, want, texts)
		}
		if again, share := j.Regained(a, b); kind != "own" && (again[0].Compared() != strings.Join(regained[0], "\n") ||
			again[1].Compared() != strings.Join(regained[1], "\n") || math.Abs(share-rare()) > 1e-6) {
			t.Fatalf("%s: %v of %q and %q, want %v of %q", kind, share, again[0].Compared(), again[1].Compared(), rare(), regained)
		}
		x.pages, y.pages = side().pages, side().pages
		a, b = x.text(j, 1), y.text(j, 2)
		if now := j.Decide(m, a, b); j.Weigh(a.Sentences(), b.Sentences(), d.Weighing) == d.Weighing {
			if now.Verdict != d.Verdict || now.Weighing != d.Weighing {
				t.Fatalf("%+v, and with other weights that say the same %+v", d, now)
			}
		} else if counts["says more"]++; now.Weighing == d.Weighing {
			t.Fatalf("%+v, and with other weights that say something else %+v", d, now)
		}
	}
	for _, k := range []string{"own", "regained", "regained, and contained before", "not regained", "says more"} {
		if counts[k] < 20 {
			t.Errorf("%s: %d of %v", k, counts[k], counts)
		}
	}
}

// A text that was cut has no part that is its reading without frames. It regains nothing, and
// is compared without frames where the other regains something.
func TestCutTextsRegainNothing(t *testing.T) {
	j := Judge{Measure: &lines{}, Rarity: rarity.Options{RarePages: 3, RareResemblance: 0.25}, Frames: true}
	read := func(s string) *Text { return j.Text(s, j.Rarity.Read(s, func(uint64) int { return 1 })) }
	const story, more, rest = "The story is told\nIn two lines of it", "Nobody knows why\nSo nobody says", "What was beyond the limit"
	b := read(story).Framed([]uint64{2}, nil)
	for own, near := range map[string]bool{more: true, more + "\n" + rest: false} {
		a := read(story+"\n"+more).Framed([]uint64{1}, read(own))
		if d := j.Decide(j.Comparers(1)[0], a, b); d.Near != near {
			t.Errorf("own %q: %+v", own, d.Verdict)
		}
	}
	a := read("What all pages have\nIn two lines of it").Framed([]uint64{1}, read("In two lines of it\n"+more+"\n"+rest))
	b = read(more+"\n"+rest+"\nThis is of its own").Framed([]uint64{2}, read("This is of its own"))
	if d := j.Decide(j.Comparers(1)[0], a, b); !d.Near || d.Texts[0] != a.Own() {
		t.Errorf("near %v, by %q", d.Near, d.Texts[0].Compared())
	}
}

// sketched rejects texts of other lengths, and aligns others without success.
type sketched struct{ measure }

func (m *sketched) Comparer() verify.Comparer { return m }

func (m *sketched) Compare(a, b verify.Document) verify.Verdict {
	if len(a.(document)) != len(b.(document)) {
		return hopeless
	}
	return far
}

// If only the readings with what texts regain were aligned, the decision says so, since an
// alignment counts as work.
func TestRegainedCountsAsWork(t *testing.T) {
	j := Judge{Measure: &sketched{}, Rarity: rarity.Options{RarePages: 3, RareResemblance: 0.25}, Frames: true}
	read := func(s string) *Text { return j.Text(s, j.Rarity.Read(s, func(uint64) int { return 1 })) }
	const story = "The story is told\nIn two lines of it"
	a, b := read(story+"\nAnd one.").Framed([]uint64{1}, read("And one.")), read(story+"\nAnd two.").Framed([]uint64{2}, nil)
	if d := j.Decide(j.Comparers(1)[0], a, b); d.Near || d.Weighed || !d.Regained || !d.Aligned() || d.Texts[0].Compared() != a.Compared() {
		t.Errorf("%+v by %q", d.Verdict, d.Texts[0].Compared())
	}
}
