package dataflow

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/cluster"
	"neardup/configs"
	"neardup/extract"
	"neardup/extract/text"
	"neardup/pipeline/rows"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// surroundings are what a run finds around some texts: where they are, and how common their
// sentences are.
type surroundings struct {
	sites  [][]uint64
	names  []pair.Names
	frames map[uint64]int // pages that have a sentence, by its rarity.SiteKey
	common map[uint64]int
}

func pagesOf(m map[uint64]int) Pages {
	return func(sentence uint64) (int, error) { return max(1, m[sentence]), nil }
}

// found makes surroundings.
func found(random *rand.Rand, texts []string) (s surroundings) {
	s.frames, s.common = map[uint64]int{}, map[uint64]int{}
	for _, site := range []uint64{1, 2} {
		s.frames[siteKey(site)] = 12
		for _, t := range texts {
			for _, x := range rarity.Sentences(t) {
				if random.IntN(4) == 0 {
					s.frames[rarity.SiteKey(site, x.Exact)] = 12
				}
				if random.IntN(2) == 0 {
					s.common[rarity.SiteKey(site, x.Plain.Key)] = 4 + random.IntN(12)
				}
			}
		}
	}
	for range texts {
		s.sites = append(s.sites, [][]uint64{{1}, {2}, {1, 2}, {}}[random.IntN(4)])
		var n pair.Names
		n.Add(uint64(1+random.IntN(3)), pair.TitleOf([]string{"red kite", "red fox", "fox"}[random.IntN(3)]))
		s.names = append(s.names, n)
	}
	return s
}

// around is what was found around the texts of a set, and what was decided there.
type around struct {
	sides    map[rows.TextID]*Side
	states   []rows.State
	decided  []rows.Decided
	verdicts string
}

// It implements Abouts.
func (a *around) State(id rows.TextID) (rows.State, error) {
	return a.sides[id].State(id), nil
}
func (a *around) Length(rows.TextID) (int, bool) { return 0, false }
func (a *around) Sentences(id rows.TextID) (pair.Sentences, error) {
	return a.sides[id].Sentences(), nil
}

// Where the texts of a set count as unchanged, the verdicts on all of its pairs are what
// they were, and the index rejects the same.
func TestUnchangedTellsVerdicts(t *testing.T) {
	random := rand.New(rand.NewPCG(91, 92))
	sentence := func(i int) string {
		return fmt.Sprintf("the %s sentence has words that are its own %s", strings.Repeat(string(rune('a'+i)), 4), strings.Repeat(string(rune('c'+i)), 9))
	}
	var long []string
	for i := range 14 {
		long = append(long, sentence(i)+[]string{"", " 7", " 8 and 9"}[i%3])
	}
	other := slices.Clone(long)
	for i := range 5 {
		other[3*i] = sentence(15+i) + " 12"
	}
	short := []string{sentence(1), sentence(2), sentence(3)} // too short to be compared without a frame
	texts := []string{strings.Join(long, ". "), strings.Join(short, ". "), strings.Join(other, ". "), strings.Join(long[:13], ". ") + ". " + sentence(3) + " 44"}
	var set []cluster.Key
	for i, s := range texts {
		set = append(set, cluster.NewKey(float32(9-i), extract.TextID(s)))
	}
	rounds := 600
	if testing.Short() {
		rounds = 150
	}
	for _, settings := range [][]string{nil, {"text.frames=0"}, {"verify.rare_pages=0"}, {"verify.other_pages=0"}, {"text.max_columns=700"}, {"text.max_columns=700", "verify.rare_pages=0"}} {
		c, err := configs.Load("default", settings)
		if err != nil {
			t.Fatal(err)
		}
		if c.Text.Frames > 0 {
			c.Text.Frames = 10
		}
		judge := Judge(c)
		comparer := judge.Comparers(1)[0]
		signer := NewSigner(c, nil)
		var seen []*around
		equal, held, again, different, cut, byRarity := 0, 0, 0, map[string]bool{}, 0, 0
		for range rounds {
			s := found(random, texts)
			if random.IntN(3) > 0 { // mostly alike, so that digests repeat
				s.sites, s.names = [][]uint64{{1}, {1}, {1}, {1}}, make([]pair.Names, 4)
			}
			if s.frames = nil; random.IntN(2) == 0 && c.Text.Frames > 0 {
				s.frames = found(rand.New(rand.NewPCG(random.Uint64N(3), 0)), texts).frames
			}
			var ready []*pair.Text
			now := &around{sides: map[rows.TextID]*Side{}}
			for i, body := range texts {
				x := Text{ID: set[i].ID(), Text: body, Sites: s.sites[i], Names: s.names[i]}
				prepared, err := Prepare(c, judge, x, pagesOf(s.frames), pagesOf(s.common))
				if err != nil {
					t.Fatal(err)
				}
				ready = append(ready, prepared)
				units := UnitsOf(body)
				var framed []byte
				if c.Text.Frames > 0 {
					if framed, err = Framed(c, units, x.Sites, pagesOf(s.frames)); err != nil {
						t.Fatal(err)
					}
				}
				signed, _ := signer.SignFramed(nil, x, units, framed)
				if NeedsText(c, signed) {
					cut++
				} else {
					x.Text = ""
				}
				side, err := NewSide(c, x, units, signed, pagesOf(s.common))
				if err != nil {
					t.Fatal(err)
				}
				now.sides[x.ID] = side
				if of, want := side.Sentences(), prepared.Sentences(); c.Verify.RarePages > 0 && !reflect.DeepEqual(of, want) {
					t.Fatalf("%v: sentences %+v, by the side %+v", settings, want, of)
				}
				if of := side.Prepare(c, judge, body); !reflect.DeepEqual(of, prepared) {
					t.Fatalf("%v: %+v, by its side %+v", settings, prepared, of)
				}
			}
			if now.states, err = StatesOf(set, now); err != nil {
				t.Fatal(err)
			}
			for i := range ready {
				for j := range i {
					v := judge.Decide(comparer, ready[j], ready[i])
					now.decided = append(now.decided, rows.Decided{A: j, B: i, Verdict: v.Verdict, Weighing: v.Weighing, Whole: v.Whole})
					now.verdicts += fmt.Sprintf("%+v; ", v.Verdict)
					switch d, ok := judge.RejectedByRarity(now.sides[set[j].ID()].Sentences(), now.sides[set[i].ID()].Sentences()); {
					case ok && (d.Verdict != v.Verdict || d.Weighing != v.Weighing):
						t.Fatalf("%v: rejected without the texts %+v, decided %+v", settings, d, v)
					case ok:
						byRarity++
					}
					if alike, w := judge.Alike(ready[j].Sentences(), ready[i].Sentences()); !v.Near || v.Alike {
						now.verdicts += fmt.Sprint(alike, "; ")
						if !alike && w != (pair.Weighing{}) {
							now.decided = append(now.decided, rows.Decided{A: j, B: i, Weighing: w, Bounded: true})
						}
					}
				}
			}
			different[now.verdicts] = true
			for _, before := range seen {
				same, err := Unchanged(judge, now, before.states, before.decided, now.states)
				if err != nil {
					t.Fatal(err)
				}
				if same && before.verdicts != now.verdicts {
					t.Fatalf("%v: unchanged, and verdicts\n%s\nand\n%s", settings, before.verdicts, now.verdicts)
				}
				if same && slices.Equal(before.states, now.states) {
					equal++
				} else if same {
					held++
				}
				recall := NewRecall(judge, now, now.states, Earlier{States: before.states, Decided: before.decided})
				for _, d := range now.decided {
					if d.Bounded {
						continue
					}
					got, ok, err := recall.Of(set[d.A].ID(), set[d.B].ID())
					if err != nil || ok && (got.Verdict != d.Verdict || got.Weighing != d.Weighing) {
						t.Fatalf("%v: recalled %+v, %v, decided %+v", settings, got, err, d)
					}
					whole := recall.Whole(set[d.A].ID(), set[d.B].ID())
					if ok || whole == nil {
						continue
					}
					again++
					if v := judge.DecideAgain(comparer, ready[d.A], ready[d.B], whole); v.Verdict != d.Verdict || v.Weighing != d.Weighing || !reflect.DeepEqual(v.Whole, d.Whole) {
						t.Fatalf("%v: decided again %+v, before %+v", settings, v, d)
					}
				}
			}
			if len(seen) < 60 {
				seen = append(seen, now)
			}
		}
		if long := c.Text.MaxColumns < 1000 && c.Verify.RarePages > 0; long != (cut == 3*rounds) || !long && cut > 0 { // all but the short text
			t.Errorf("%v: %d texts of %d rounds are weighed by their content", settings, cut, rounds)
		}
		if (byRarity > rounds/4) != (c.Verify.RarePages > 0) {
			t.Errorf("%v: %d pairs of %d rounds are rejected without the texts", settings, byRarity, rounds)
		}
		if again < 20 {
			t.Errorf("%v: %d pairs are decided again", settings, again)
		}
		if len(different) < 2 || c.Verify.RarePages > 0 && held < 20 || c.Verify.RarePages == 0 && equal < 20 {
			t.Errorf("%v: %d equal, %d held, %d different verdicts: the test tells nothing", settings, equal, held, len(different))
		}
	}
}

// What is left of a text's units without those in frames is what is left of the text.
func TestUnitsAreThoseOfTheReading(t *testing.T) {
	random := rand.New(rand.NewPCG(93, 94))
	c, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		var b strings.Builder
		for range random.IntN(30) {
			for range 1 + random.IntN(12) {
				b.WriteString([]string{"a", "b", "c ", "1", "2 ", "字", "，", "é"}[random.IntN(8)])
			}
			b.WriteString([]string{". ", "\n", "。", "! "}[random.IntN(4)])
		}
		body := b.String()
		u := UnitsOf(body)
		s := found(random, []string{body})
		framed, err := Framed(c, u, []uint64{1}, pagesOf(s.frames))
		if err != nil {
			t.Fatal(err)
		}
		own, err := withoutFrames(c, Text{Text: body, Sites: []uint64{1}}, pagesOf(s.frames))
		if err != nil {
			t.Fatal(err)
		}
		if got := plainUnits(u, framed); !slices.Equal(got, rarity.Units(own, rarity.UnitOf)) {
			t.Fatalf("%q, without frames %q: units %v", body, own, got)
		}
		if got := plainUnits(u, nil); !slices.Equal(got, rarity.Units(body, rarity.UnitOf)) {
			t.Fatalf("%q: units %v", body, got)
		}
		var exact []uint64
		for _, k := range allExact(u) {
			exact = append(exact, k)
		}
		slices.Sort(exact)
		if want := ExactUnits(body); !slices.Equal(exact, want) {
			t.Fatalf("%q: %d units with numbers, want %d of %d sentences", body, len(exact), len(want), len(text.Sentences(body)))
		}
	}
}

// A text that may be cut is weighed by its content.
func TestNeedsText(t *testing.T) {
	c, err := configs.Load("default", []string{"text.max_columns=1000"})
	if err != nil {
		t.Fatal(err)
	}
	for characters, want := range map[uint32]bool{400: false, 498: false, 499: true, 1000: true} {
		if got := NeedsText(c, rows.Signed{Characters: characters}); got != want {
			t.Errorf("%d characters: %v", characters, got)
		}
	}
	for _, c := range []func(*configs.Config){func(c *configs.Config) { c.Text.MaxColumns = 0 }, func(c *configs.Config) { c.Verify.RarePages = 0 }} {
		other, err := configs.Load("default", []string{"text.max_columns=1000"})
		if err != nil {
			t.Fatal(err)
		}
		if c(&other); NeedsText(other, rows.Signed{Characters: 1000}) {
			t.Errorf("%+v: text needed", other.Text)
		}
	}
}

// A side is read again only when others have taken its place, and failures are not kept.
func TestRecentSides(t *testing.T) {
	var r RecentSides
	read := 0
	side := &Side{framed: make([]uint64, (recentBytes/4-256)/8)}
	get := func(id byte, err error) {
		t.Helper()
		s, failed := r.Get(rows.TextID{id}, func() (*Side, error) {
			read++
			return side, err
		})
		if failed != err || err == nil && s != side {
			t.Errorf("text %d: %v", id, failed)
		}
	}
	broken := errors.New("broken")
	get(1, broken)
	for _, id := range []byte{1, 2, 3, 4, 5, 1} {
		get(id, nil)
	}
	if read != 6 {
		t.Errorf("%d were read, want 6", read)
	}
	for id := range byte(10) {
		get(10+id, nil)
	}
	if get(1, nil); read != 17 {
		t.Errorf("%d were read, want 17", read)
	}
}
