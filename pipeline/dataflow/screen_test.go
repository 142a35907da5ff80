package dataflow

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// screenedSet is a set of texts of two sites whose sentences have weights.
type screenedSet struct {
	config configs.Verify
	judge  pair.Judge
	keys   []cluster.Key
	texts  map[rows.TextID]*pair.Text
	read   map[rows.TextID]int    // how often a text was read
	states map[rows.TextID]uint64 // how often a text has changed
}

// State implements Abouts.
func (s *screenedSet) State(id rows.TextID) (rows.State, error) {
	return rows.State{ID: id, Fixed: s.states[id]}, nil
}

// Length implements Abouts.
func (s *screenedSet) Length(id rows.TextID) (int, bool) { return s.texts[id].Len(), true }

// Sentences implements Abouts.
func (s *screenedSet) Sentences(id rows.TextID) (pair.Sentences, error) {
	return s.texts[id].Sentences(), nil
}

// wordySentences are single sentences of letters.
func wordySentences(rng *rand.Rand, n int) (out []string) {
	for range n {
		var words []string
		for range 6 {
			word := make([]byte, 7)
			for i := range word {
				word[i] = 'a' + byte(rng.IntN(26))
			}
			words = append(words, string(word))
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// newScreenedSet returns a set of n texts. Each has a template, which is common, and most
// sentences of one of the stories, or of none.
func newScreenedSet(rng *rand.Rand, n int) *screenedSet {
	o := tlcsOptions
	o.Resemblance, o.Containment = 0.5, 0.9
	s := &screenedSet{texts: map[rows.TextID]*pair.Text{}, read: map[rows.TextID]int{}, config: configs.Verify{Measure: configs.MeasureTLCS, Options: o,
		Closing: configs.ClosingPartition, Contained: configs.ContainedLeaf, Rarity: rarity.Options{RarePages: 3, RareResemblance: 0.25, Sentences: 0.75, RareSentences: 0.6, RareFramed: 0.45}}}
	s.judge = pair.Judge{Measure: o.Measure(), Rarity: s.config.Rarity, Frames: true}
	template := wordySentences(rng, 8)
	pages := map[uint64]int{}
	for i, sentence := range template {
		pages[rarity.UnitOf(sentence).Key] = []int{4, 40, 400}[i%3]
	}
	var stories [][]string
	for range 1 + n/5 {
		stories = append(stories, wordySentences(rng, 12))
	}
	read := func(sentences []string) *pair.Text {
		text := strings.Join(sentences, "\n")
		return s.judge.Text(text, s.config.Read(text, func(unit uint64) int { return pages[unit] }))
	}
	for i := range n {
		own := wordySentences(rng, 2)
		if rng.IntN(3) > 0 {
			story := slices.Clone(stories[rng.IntN(len(stories))])
			own = append(story[:rng.IntN(len(story))], own...)
		}
		text := read(own).Framed([]uint64{1, 2}[rng.IntN(2):], nil)
		some, site := rng.IntN(len(template)), []uint64{uint64(1 + rng.IntN(2))}
		switch whole := append(slices.Clone(template[:some]), own...); {
		case rng.IntN(8) == 0: // of a site that does not know its frame
			text = read(whole).Framed(site, nil)
		case rng.IntN(8) == 0 && len(own) > 4: // the story is in the frame
			text = read(whole).Framed(site, read(own[len(own)-2:]))
		case some > 0:
			text = read(whole).Framed(site, read(own))
		}
		id := rows.TextID{byte(i >> 8), byte(i)}
		s.keys, s.texts[id] = append(s.keys, cluster.NewKey(1, id)), text // from the largest key down
	}
	return s
}

// verify verifies some texts of the set.
func (s *screenedSet) verify(t *testing.T, keys []cluster.Key, recall *Recall, workers, limit int) *setVerifier {
	t.Helper()
	v := &setVerifier{Judge: s.judge, memory: &memory{room: &room{}}, config: &s.config, recall: recall, noted: true, windows: limit, workers: s.judge.Comparers(workers),
		docs: func(id rows.TextID) (*pair.Text, error) {
			s.read[id]++
			return s.texts[id], nil
		}}
	if workers > 1 {
		v.docs = func(id rows.TextID) (*pair.Text, error) { return s.texts[id], nil }
	}
	if err := v.verify(context.Background(), keys); err != nil {
		t.Fatal(err)
	}
	return v
}

// A set with a screen has the links that it has without: where few sentences are common, only
// texts that are not near are apart. It does not matter how many leaders the screen has room
// for or looks at one by one, nor whether sentences are known without the texts.
func TestScreenedSets(t *testing.T) {
	defer func(n int) { mostLooked = n }(mostLooked)
	links, apart := 0, int64(0)
	for seed := range uint64(4) {
		s := newScreenedSet(rand.New(rand.NewPCG(seed, 81)), 100+100*int(seed))
		c := s.judge.Comparers(1)[0]
		for _, closing := range []string{configs.ClosingLeaders, configs.ClosingTransitive} {
			s.config.Closing = closing
			pairs, want := slowVerify(closing, s.keys, func(a, b cluster.Key) (near, joins bool) {
				d := s.judge.Decide(c, s.texts[a.ID()], s.texts[b.ID()])
				return d.Near, d.Near && s.config.Links(ScoreOf(d).Relation.Resembles())
			})
			for n, limit := range []int{0, 1, 900, 0} {
				mostLooked = []int{4096, 4096, 4096, 3}[n]
				for workers := range 3 {
					var recall *Recall
					if workers != 1 {
						recall = NewRecall(s.judge, s, nil)
					}
					v := s.verify(t, s.keys, recall, 1+workers, limit)
					var got [][2]cluster.Key
					for _, l := range v.links {
						got = append(got, [2]cluster.Key{l.Leader, l.Member})
					}
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("seed %d, %s, room for %d: %d links, want %d", seed, closing, limit, len(got), len(want))
					}
					if v.counts.Pairs < int64(pairs) || v.counts.OverBudget > 0 {
						t.Errorf("seed %d, %s, room for %d: %+v, want %d pairs at least", seed, closing, limit, v.counts, pairs)
					}
					if v.screen == nil || v.index != nil {
						t.Fatalf("seed %d: the set has no screen", seed)
					}
					links, apart = links+len(got), apart+v.counts.Outcomes.ByRarity
				}
			}
		}
	}
	if links < 1000 || apart < 1000 {
		t.Errorf("%d links, %d pairs apart", links, apart)
	}
}

// A later run reads new texts, and those that these are compared with. It has the result of
// one run.
func TestLaterRunsReadFewTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 82))
	s := newScreenedSet(rng, 400)
	s.config.Closing, s.config.MaxScored = configs.ClosingLeaders, 32
	fresh := map[rows.TextID]bool{}
	var before []cluster.Key
	for i, k := range s.keys {
		if i%40 == 7 {
			fresh[k.ID()] = true
		} else {
			before = append(before, k)
		}
	}
	states := func(keys []cluster.Key) []rows.State {
		out, err := StatesOf(keys, s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, limit := range []int{0, 1, 900} { // what the screen has room for
		first := s.verify(t, before, NewRecall(s.judge, s, states(before)), 1, limit)
		want := s.verify(t, s.keys, NewRecall(s.judge, s, states(s.keys)), 1, limit)
		clear(s.read)
		got := s.verify(t, s.keys, NewRecall(s.judge, s, states(s.keys), Earlier{States: states(before), Decided: first.decided, Screening: first.screening()}), 1, limit)
		if !reflect.DeepEqual(got.links, want.links) || got.counts != want.counts || !reflect.DeepEqual(got.decided, want.decided) {
			t.Errorf("%d links, %d decided, %+v; by one run %d, %d, %+v", len(got.links), len(got.decided), got.counts, len(want.links), len(want.decided), want.counts)
		}
		meant := maps.Clone(fresh)
		known := map[[2]rows.TextID]bool{}
		for _, d := range first.decided {
			known[[2]rows.TextID{before[d.A].ID(), before[d.B].ID()}] = true
		}
		for _, d := range want.decided {
			if a, b := s.keys[d.A].ID(), s.keys[d.B].ID(); !known[[2]rows.TextID{a, b}] {
				meant[a], meant[b] = true, true
			}
		}
		for id := range s.read {
			if !meant[id] {
				t.Errorf("text %x is read for nothing", id[:2])
			}
		}
		if int64(len(want.decided)) > want.counts.Pairs/2 {
			t.Errorf("%d of %d decisions are noted", len(want.decided), want.counts.Pairs)
		}
		if len(s.read) == 0 || len(s.read) > len(s.keys)/3 {
			t.Errorf("%d of %d texts are read", len(s.read), len(s.keys))
		}
	}
}

// Whole texts are aligned once, whatever else of them changes.
func TestWholeTextsAreAlignedOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 83))
	for _, n := range []int{12, 120} { // without a screen and with one
		s := newScreenedSet(rng, n)
		s.states = map[rows.TextID]uint64{}
		for id, text := range s.texts {
			s.texts[id] = text.Framed([]uint64{1}, nil)
		}
		var earlier []Earlier
		var links []rows.Link
		for run, want := range []bool{true, false} {
			states, err := StatesOf(s.keys, s)
			if err != nil {
				t.Fatal(err)
			}
			var aligned atomic.Int64
			v := &setVerifier{Judge: s.judge, memory: &memory{room: &room{}}, config: &s.config, recall: NewRecall(s.judge, s, states, earlier...), noted: true,
				workers: []verify.Comparer{counting{s.judge.Comparers(1)[0], &aligned, true}},
				docs:    func(id rows.TextID) (*pair.Text, error) { return s.texts[id], nil }}
			if err := v.verify(context.Background(), s.keys); err != nil {
				t.Fatal(err)
			}
			if (aligned.Load() > 0) != want || run > 0 && !reflect.DeepEqual(v.links, links) {
				t.Errorf("%d texts, run %d: %d pairs aligned, %d links, at first %d", n, run, aligned.Load(), len(v.links), len(links))
			}
			links = v.links
			earlier = []Earlier{{States: states, Decided: v.decided}}
			for _, k := range s.keys {
				s.states[k.ID()]++
			}
		}
	}
}

// What a screen said in an earlier run, of a set with other texts, is what it says now. Texts
// may have changed or come in another order, and few leaders may have had a sentence that many
// have.
func TestScreenOfAnEarlierRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 88))
	known, changed := 0, 0
	for round := range 12 {
		s := newScreenedSet(rng, 0)
		s.states = map[rows.TextID]uint64{}
		s.config.Closing, s.config.MaxScored = []string{configs.ClosingLeaders, configs.ClosingTransitive}[round%2], []int{0, 4, 32}[round%3]
		shared, stories := wordySentences(rng, 6), [][]string{}
		for range 8 {
			stories = append(stories, wordySentences(rng, 5))
		}
		// A sentence of shared is little of a text. Texts with it are compared if few leaders
		// have it, and apart if many have.
		set := func(id rows.TextID) {
			sentences := append(wordySentences(rng, 6), shared[rng.IntN(len(shared))])
			if rng.IntN(3) == 0 {
				sentences = append(sentences[4:], stories[rng.IntN(len(stories))]...)
			}
			text := strings.Join(sentences, "\n")
			s.texts[id] = s.judge.Text(text, s.config.Read(text, func(uint64) int { return 1 })).Framed([]uint64{1}, nil)
		}
		for i := range 350 {
			id := rows.TextID{byte(i >> 8), byte(i)}
			set(id)
			s.keys = append(s.keys, cluster.NewKey(1, id))
		}
		var earlier Earlier
		for run := range 4 {
			var keys []cluster.Key
			for _, k := range s.keys {
				if rng.IntN(12) > 0 {
					keys = append(keys, k)
				}
				if run > 0 && rng.IntN(40) == 0 {
					set(k.ID())
					s.states[k.ID()]++
				}
			}
			if run == 3 && round%4 == 0 { // scores of pages have changed
				keys = append(slices.Clone(keys[200:]), keys[:200]...)
			}
			states, err := StatesOf(keys, s)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range earlier.Decided { // a text with other content would have another ID
				for _, x := range []rows.State{earlier.States[d.A], earlier.States[d.B]} {
					if s.states[x.ID] != x.Fixed {
						earlier.Decided[i].Whole = nil
					}
				}
			}
			want := s.verify(t, keys, NewRecall(s.judge, s, states), 1, 0)
			got := s.verify(t, keys, NewRecall(s.judge, s, states, earlier), 1, 0)
			if !reflect.DeepEqual(got.links, want.links) || got.counts != want.counts || !reflect.DeepEqual(got.decided, want.decided) || !reflect.DeepEqual(got.screening(), want.screening()) {
				t.Fatalf("round %d, run %d: %d links, %d decided, %+v; without an earlier run %d, %d, %+v", round, run, len(got.links), len(got.decided), got.counts, len(want.links), len(want.decided), want.counts)
			}
			earlier = Earlier{States: states, Decided: got.decided, Screening: got.screening()}
			if got.said.From <= 0 {
				t.Fatalf("round %d, run %d: nothing is noted", round, run)
			}
			for i, k := range keys[got.said.From:] {
				if _, ok := got.screen.earlier.member(k.ID(), got.said.Common[i]); ok {
					known++
				} else if got.screen.earlier != nil && slices.Contains(slices.Collect(maps.Keys(got.screen.earlier.places)), k.ID()) {
					changed++
				}
			}
		}
	}
	if known < 1000 || changed < 100 {
		t.Errorf("%d texts are known, of %d others are common: the test tells nothing", known, changed)
	}
}

// A screen counts towards the memory of its set.
func TestMemoryOfAScreen(t *testing.T) {
	defer func(n int) { smallSet = n }(smallSet)
	rng := rand.New(rand.NewPCG(12, 85))
	s := newScreenedSet(rng, 0)
	index, chunk := 0, 0
	for i := range 20 * chunkSize { // all are leaders
		text := strings.Join(wordySentences(rng, 6), "\n")
		id := rows.TextID{byte(i >> 8), byte(i)}
		s.texts[id] = s.judge.Text(text, s.config.Read(text, func(uint64) int { return 1 })).Framed([]uint64{1}, nil)
		s.keys = append(s.keys, cluster.NewKey(1, id))
		index += 2 * 6 * rarity.SentenceBytes
		chunk = chunkSize * s.texts[id].Bytes()
	}
	for _, tt := range []struct {
		small int
		want  bool
	}{{index / 2, true}, {index + chunk, false}} {
		smallSet = tt.small
		got := false
		v := &setVerifier{Judge: s.judge, memory: &memory{room: &room{}}, config: &s.config, workers: s.judge.Comparers(1), recall: NewRecall(s.judge, s, nil),
			docs: func(id rows.TextID) (*pair.Text, error) { return s.texts[id], nil },
			all: func() []verify.Comparer {
				got = true
				return s.judge.Comparers(1)
			}}
		if err := v.verify(t.Context(), s.keys); err != nil {
			t.Fatal(err)
		}
		if got != tt.want {
			t.Errorf("of a screen of %d bytes and texts of %d, with %d: large %t", index, chunk, tt.small, got)
		}
	}
}

// However many leaders share common sentences with a text, it is compared with a bounded
// number of them.
func TestScreenedComparisonsAreLinear(t *testing.T) {
	defer func(n int) { mostLooked = n }(mostLooked)
	mostLooked = 100
	for _, limit := range []int{0, 500} {
		for _, n := range []int{200, 800} {
			rng := rand.New(rand.NewPCG(11, 84))
			s := newScreenedSet(rng, 0)
			s.config.MaxScored = 2
			common := wordySentences(rng, 3)
			for i := range n {
				text := strings.Join(append(wordySentences(rng, 4), common...), "\n")
				id := rows.TextID{byte(i >> 8), byte(i)}
				s.texts[id] = s.judge.Text(text, s.config.Read(text, func(uint64) int { return 1 })).Framed([]uint64{uint64(i)}, nil)
				s.keys = append(s.keys, cluster.NewKey(1, id))
			}
			var compared atomic.Int64
			v := &setVerifier{Judge: s.judge, memory: &memory{room: &room{}}, config: &s.config, windows: limit,
				docs: func(id rows.TextID) (*pair.Text, error) { return s.texts[id], nil }}
			for _, c := range s.judge.Comparers(2) {
				v.workers = append(v.workers, counting{c, &compared, false})
			}
			if err := v.verify(t.Context(), s.keys); err != nil {
				t.Fatal(err)
			}
			all := int64(n * (n - 1) / 2)
			if most := int64(n * 2 * (ComparedTimes*2 + 8)); compared.Load() > most || v.counts.Pairs+v.counts.OverBudget != all || v.counts.OverBudget < all/4 {
				t.Errorf("%d texts, room for %d sentences: %d comparisons, over %d, or of %d pairs %+v", n, limit, compared.Load(), most, all, v.counts)
			}
		}
	}
}

// The screen puts first the leaders that share the heaviest rare sentences with a member.
func TestScreenOrdersByRareSentences(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 83))
	s := newScreenedSet(rng, 0)
	x := newScreen(s.judge, screenSentences, nil)
	common, own := wordySentences(rng, 6), wordySentences(rng, 6)
	made := func(sentences ...string) pair.Sentences {
		text := strings.Join(sentences, "\n")
		return s.judge.Text(text, s.config.Read(text, func(unit uint64) int {
			for _, c := range common {
				if unit == rarity.UnitOf(c).Key {
					return 50
				}
			}
			return 1
		})).Framed([]uint64{1}, nil).Sentences()
	}
	for range 40 { // so that what is common is common in the set, too
		x.add(rows.TextID{}, made(slices.Concat(common, wordySentences(rng, 1))...))
	}
	x.add(rows.TextID{}, made(append(own[:3:3], wordySentences(rng, 2)...)...)) // 40
	x.add(rows.TextID{}, made(append(own[:5:5], common...)...))                 // 41
	x.add(rows.TextID{}, made(wordySentences(rng, 6)...))                       // 42
	x.add(rows.TextID{}, made(own[:4]...))                                      // 43
	var g sighting
	x.bound(rows.TextID{}, made(append(own, common...)...), &g)
	left, apart := x.left(&g, 0, 44)
	if apart != 41 {
		t.Errorf("%d apart, want 41", apart)
	}
	slices.SortFunc(left, candidate.compare)
	var order []int
	for _, c := range left {
		order = append(order, c.number)
	}
	if want := []int{41, 43, 40}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v: %v", order, want, fmt.Sprint(left))
	}
	if left, apart = x.left(&g, 42, 44); len(left) != 1 || left[0].number != 43 || apart != 1 {
		t.Errorf("from 42: %v, %d apart", left, apart)
	}
	defer func(n int) { mostLooked = n }(mostLooked)
	mostLooked = 10
	x, shared := newScreen(s.judge, screenSentences, nil), wordySentences(rng, 6)
	for range 40 { // so that all have these sentences, which are rare on their site
		x.add(rows.TextID{}, made(slices.Concat(shared, wordySentences(rng, 1))...))
	}
	x.bound(rows.TextID{}, made(shared...), &g)
	left, _ = x.left(&g, 0, 40)
	if looked := slices.IndexFunc(left, func(c candidate) bool { return c.kept == 0 }); len(left) != 40 || looked != mostLooked {
		t.Errorf("%d left, %d looked at", len(left), looked)
	}
}

// Blocks of leaders are rejected together only where each leader would be.
func TestScreenOfManyLeaders(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 87))
	skipped := 0
	for round := range 12 {
		s := newScreenedSet(rng, 5*screenBlock+rng.IntN(screenBlock))
		s.judge.Frames = round%3 > 0
		if round%4 == 0 {
			s.judge.Rarity.RareSentences = 0.1
		}
		x := newScreen(s.judge, []int{screenSentences, 4000}[round%2], nil)
		for _, k := range s.keys {
			x.add(k.ID(), s.texts[k.ID()].Sentences())
		}
		for _, k := range s.keys[:40] {
			var g sighting
			x.bound(k.ID(), s.texts[k.ID()].Sentences(), &g)
			from := rng.IntN(2 * screenBlock)
			to := from + rng.IntN(len(s.keys)-from)
			var want []candidate
			wantApart := int64(0)
			for l := from; l < to; l++ {
				if l >= x.index.Len() {
					want = append(want, candidate{number: l})
					continue
				}
				rare, apart := s.judge.Apart(x.leaders[l].sentences, g.sentences)
				if _, few := slices.BinarySearch(g.bounds.Few, int32(l)); !few {
					apart = apart || s.judge.Strangers(&g.brief, [2]rarity.Weights(g.bounds.Common), &x.leaders[l].brief)
				}
				if apart {
					wantApart++
				} else {
					want = append(want, candidate{l, int(max(1, rare))})
				}
			}
			if left, apart := x.left(&g, from, to); !slices.Equal(left, want) || apart != wantApart {
				t.Fatalf("round %d, from %d to %d: %d left and %d apart, want %d and %d", round, from, to, len(left), apart, len(want), wantApart)
			}
			for i := range x.least {
				if s.judge.AllStrangers(&g.brief, [2]rarity.Weights(g.bounds.Common), &x.least[i]) {
					skipped++
				}
			}
		}
	}
	if skipped < 100 {
		t.Errorf("%d blocks are rejected together: the test tells nothing", skipped)
	}
}

// Where a text may be scored against one leader only, that is the one with which it shares
// most.
func TestScreenFindsItsLike(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 86))
	s := newScreenedSet(rng, 0)
	s.config.MaxScored = 1
	common := wordySentences(rng, 3)
	add := func(site int, sentences []string) {
		text := strings.Join(append(sentences, common...), "\n")
		i := len(s.keys)
		id := rows.TextID{byte(i >> 8), byte(i)}
		s.texts[id] = s.judge.Text(text, s.config.Read(text, func(uint64) int { return 1 })).Framed([]uint64{uint64(site)}, nil)
		s.keys = append(s.keys, cluster.NewKey(1, id))
	}
	var stories [][]string
	for i := range 4 * chunkSize {
		stories = append(stories, wordySentences(rng, 4))
		add(i, stories[i])
	}
	for i := 1; i < len(stories); i += 5 {
		add(1000+i, append(wordySentences(rng, 1), stories[i][1:]...))
	}
	v := s.verify(t, s.keys, nil, 1, 0)
	near := map[rows.TextID]bool{}
	for _, l := range v.links {
		near[l.Member.ID()] = true
	}
	for _, k := range s.keys[len(stories):] {
		if !near[k.ID()] {
			id := k.ID()
			t.Errorf("text %x is near no leader", id[:2])
		}
	}
	if v.counts.OverBudget == 0 {
		t.Error("nothing is over the budget: the test tells nothing")
	}
}
