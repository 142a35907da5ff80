package dataflow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/rarity"
	"neardup/verify/tlcs"
)

var tlcsOptions = tlcs.Options{Window: 16, Blocks: 32, Slope: 0.1, Resemblance: 0.28, Containment: 0.7, Trustable: true, Rounds: 1}

func tlcsJudge(v configs.Verify) pair.Judge {
	return pair.Judge{Measure: v.Options.Measure(), Rarity: v.Rarity}
}

// family makes a set of texts: some originals, each with edited copies, and
// texts that carry parts of two originals, so that clusters are united.
func family(rng *rand.Rand, n int) (keys []cluster.Key, texts map[rows.TextID]string) {
	texts = map[rows.TextID]string{}
	words := func(n int) []string {
		var out []string
		for range n {
			out = append(out, fmt.Sprintf("word%d", rng.IntN(100000)))
		}
		return out
	}
	var originals [][]string
	for i := range n {
		var text []string
		switch kind := rng.IntN(10); {
		case len(originals) < 2 || kind < 2:
			text = words(40)
			originals = append(originals, text)
		case kind < 8:
			text = append([]string{}, originals[rng.IntN(len(originals))]...)
			at := rng.IntN(len(text))
			text[at] = "changed"
		default:
			text = append(append([]string{}, originals[rng.IntN(len(originals))]...), originals[rng.IntN(len(originals))]...)
		}
		id := rows.TextID{byte(i >> 8), byte(i)}
		texts[id] = strings.Join(text, " ")
		keys = append(keys, cluster.NewKey(1, id)) // ascending ids: from the largest key down
	}
	return keys, texts
}

// slowVerify states what a setVerifier does, one comparison after another.
// united stands for the clusters that leaders are in; within a chunk a member
// sees them as they were when it began.
func slowVerify(closing string, keys []cluster.Key, near func(a, b cluster.Key) (near, joins bool)) (pairs int, links [][2]cluster.Key) {
	var leaders []cluster.Key
	united := map[cluster.Key]cluster.Key{}
	for from := 0; from < len(keys); from += chunkSize {
		old := len(leaders)
		before := map[cluster.Key]cluster.Key{}
		for k, v := range united {
			before[k] = v
		}
		for _, m := range keys[from:min(from+chunkSize, len(keys))] {
			var joined []cluster.Key
			for i, l := range leaders {
				now := united
				if i < old {
					now = before
				}
				skip := closing == configs.ClosingRepresentative && len(joined) > 0
				for _, j := range joined {
					skip = skip || now[j] == now[l]
				}
				if skip {
					continue
				}
				pairs++
				near, joins := near(l, m)
				if near {
					links = append(links, [2]cluster.Key{l, m})
				}
				if joins && closing != configs.ClosingTransitive {
					joined = append(joined, l)
				}
			}
			if len(joined) == 0 {
				leaders = append(leaders, m)
				united[m] = m
			}
			for i, j := range joined {
				if i == 0 {
					continue
				}
				to, all := united[joined[0]], united[j]
				for k, v := range united {
					if v == all {
						united[k] = to
					}
				}
			}
		}
	}
	return pairs, links
}

func TestSetVerifier(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		keys, texts := family(rand.New(rand.NewPCG(seed, 1)), 40+60*int(seed))
		docs := map[rows.TextID]*pair.Text{}
		for id, text := range texts {
			docs[id] = tlcsJudge(configs.Verify{Options: tlcsOptions}).Text(text, rarity.Text{})
		}
		c := tlcs.NewComparer(tlcsOptions)
		for _, rule := range [][2]string{
			{configs.ClosingLeaders, configs.ContainedLinks}, {configs.ClosingRepresentative, configs.ContainedLinks},
			{configs.ClosingLeaders, configs.ContainedLeaf}, {configs.ClosingRepresentative, configs.ContainedLeaf},
			{configs.ClosingTransitive, configs.ContainedLinks}, {configs.ClosingTransitive, configs.ContainedLeaf},
		} {
			closing, contained := rule[0], rule[1]
			config := configs.Verify{Measure: configs.MeasureTLCS, Options: tlcsOptions, Closing: closing, Contained: contained}
			pairs, want := slowVerify(closing, keys, func(a, b cluster.Key) (near, joins bool) {
				v := c.Compare(docs[a.ID()].Scored().(*tlcs.Document), docs[b.ID()].Scored().(*tlcs.Document))
				return v.Near, v.Near && (contained == configs.ContainedLinks || v.Resemblance >= tlcsOptions.Resemblance)
			})
			for _, workers := range []int{1, 2, 5} {
				j := tlcsJudge(config)
				v := setVerifier{Judge: j, memory: &memory{room: &room{}}, config: &config, workers: j.Comparers(workers),
					docs: func(id rows.TextID) (*pair.Text, error) { return docs[id], nil }}
				if err := v.verify(context.Background(), keys); err != nil {
					t.Fatal(err)
				}
				var got [][2]cluster.Key
				for _, l := range v.links {
					got = append(got, [2]cluster.Key{l.Leader, l.Member})
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d, %v, %d workers: %d links, want %d", seed, rule, workers, len(got), len(want))
				}
				if v.counts.Pairs != int64(pairs) || v.counts.Near != int64(len(want)) {
					t.Errorf("seed %d, %v, %d workers: counts %+v, want %d pairs, %d near", seed, rule, workers, v.counts, pairs, len(want))
				}
			}
		}
	}
}

// Decisions are noted up to a limit. In a set of more, none are, and the links are the same.
func TestTooManyDecisionsAreNotNoted(t *testing.T) {
	keys, texts := family(rand.New(rand.NewPCG(1, 2)), 200)
	config := configs.Verify{Measure: configs.MeasureTLCS, Options: tlcsOptions, Closing: configs.ClosingLeaders, Contained: configs.ContainedLinks}
	j := tlcsJudge(config)
	verified := func(noted bool, most int) *setVerifier {
		v := &setVerifier{Judge: j, memory: &memory{room: &room{}}, config: &config, workers: j.Comparers(2), noted: noted, most: most,
			docs: func(id rows.TextID) (*pair.Text, error) { return j.Text(texts[id], rarity.Text{}), nil }}
		if err := v.verify(t.Context(), keys); err != nil {
			t.Fatal(err)
		}
		return v
	}
	without, all := verified(false, 0), verified(true, 0)
	n := len(all.decided)
	if !all.noted || n == 0 || len(without.decided) > 0 {
		t.Fatalf("%d decisions noted, and %d if none are to be", n, len(without.decided))
	}
	for most, want := range map[int]bool{n: true, n - 1: false, 1: false} {
		v := verified(true, most)
		if v.noted != want || want != (len(v.decided) == n) || !want && len(v.decided) > 0 {
			t.Errorf("of %d decisions %d may be noted: noted %t, %d", n, most, v.noted, len(v.decided))
		}
		if !reflect.DeepEqual(v.links, without.links) || v.counts != without.counts {
			t.Errorf("other links or counts with a limit of %d", most)
		}
	}
	if len(without.links) < 20 {
		t.Fatalf("%d links", len(without.links))
	}
	var put []rows.Link
	v := &setVerifier{Judge: j, memory: &memory{room: &room{}}, config: &config, workers: j.Comparers(2), noted: true, most: 9,
		docs: func(id rows.TextID) (*pair.Text, error) { return j.Text(texts[id], rarity.Text{}), nil },
		put: func(links []rows.Link) error {
			put = append(put, links...)
			return nil
		}}
	if err := v.verify(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	if len(put) == 0 || len(v.links) > 9 || !reflect.DeepEqual(append(put, v.links...), without.links) {
		t.Errorf("%d links put, %d left, of %d", len(put), len(v.links), len(without.links))
	}
}

// In a small set a text that is near a member, and not its leader, is found near it.
func TestEveryPair(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	var sentences []string
	for range 18 {
		sentences = append(sentences, fmt.Sprintf("Of %x there is %x to say and %x.", random.Uint64(), random.Uint64(), random.Uint64()))
	}
	texts := map[rows.TextID]string{}
	var keys []cluster.Key
	for i := range 3 { // each has three quarters of the one before
		id := rows.TextID{byte(i)}
		texts[id], keys = strings.Join(sentences[3*i:3*i+12], "\n"), append(keys, cluster.NewKey(1, id))
	}
	o := tlcsOptions
	o.Resemblance = 0.4
	want := map[int]int{0: 1, 2: 1, 3: 2}
	for limit, links := range want {
		config := configs.Verify{Measure: configs.MeasureTLCS, Options: o, Closing: configs.ClosingPartition, AllPairs: limit}
		j := tlcsJudge(config)
		v := setVerifier{Judge: j, memory: &memory{room: &room{}}, config: &config, workers: j.Comparers(1),
			docs: func(id rows.TextID) (*pair.Text, error) { return j.Text(texts[id], rarity.Text{}), nil }}
		if err := v.verify(context.Background(), keys); err != nil {
			t.Fatal(err)
		}
		if len(v.links) != links {
			t.Errorf("all pairs of sets of %d: %d links, want %d: %+v", limit, len(v.links), links, v.links)
		}
		for _, l := range v.links {
			if l.Leader.Compare(l.Member) >= 0 {
				t.Errorf("the link %+v", l)
			}
		}
		if pairs := map[int]int64{0: 2, 2: 2, 3: 3}[limit]; v.counts.Pairs != pairs || v.counts.Near != int64(links) {
			t.Errorf("all pairs of sets of %d: %+v", limit, v.counts)
		}
	}
}

// So it is however few a text may be scored against: long texts would lose most pairs.
func TestEveryPairOfLongTexts(t *testing.T) {
	text := strings.Repeat("This is a sentence of a text that all have. ", 30)
	var keys []cluster.Key
	for i := range 5 {
		keys = append(keys, cluster.NewKey(1, rows.TextID{byte(i)}))
	}
	config := configs.Verify{Measure: configs.MeasureTLCS, Options: tlcsOptions, Closing: configs.ClosingPartition, AllPairs: 5, MaxScored: 1}
	j := tlcsJudge(config)
	v := setVerifier{Judge: j, memory: &memory{room: &room{}}, config: &config, workers: j.Comparers(1), docs: func(id rows.TextID) (*pair.Text, error) {
		return j.Text(text+strings.Repeat("x", int(id[0])), rarity.Text{}), nil
	}}
	if err := v.verify(context.Background(), keys); err != nil || len(v.links) != 10 {
		t.Errorf("%d links, %v; want 10", len(v.links), err)
	}
}

// The index of leaders does not reject a text that is alike one of them.
func TestIndexSparesAlike(t *testing.T) {
	config := configs.Verify{Measure: configs.MeasureTLCS, Options: tlcsOptions, Rarity: rarity.Options{RarePages: 3, Sentences: 0.75, RareSentences: 0.6}}
	j := tlcsJudge(config)
	made := func(name string, number int) *pair.Text {
		var b strings.Builder
		for n := range 10 { // between numbers nothing is as wide as a window
			fmt.Fprintf(&b, "%s %d %c\n", name, number+n, 'a'+n)
		}
		return j.Text(b.String(), config.Read(b.String(), func(uint64) int { return 1 }))
	}
	leaders := []*pair.Text{made("apples", 1000), made("pears", 2000)}
	x := newIndex(j, &config.Options, indexWindows, &memory{room: &room{}}, func(number int) (*pair.Text, error) { return leaders[number], nil })
	for _, l := range leaders {
		if err := x.add(l); err != nil {
			t.Fatal(err)
		}
	}
	var b bounds
	x.bound(made("pears", 3000), &b)
	first, _ := x.rejects(&b, 0)
	if second, _ := x.rejects(&b, 1); first == verify.None || second != verify.None {
		t.Errorf("rejected: %v by a stranger, %v by its like", first, second)
	}
	if x.outOfReach(&b, 1) == verify.None {
		t.Error("the texts are alike in their windows, too")
	}
}

// The index rejects no pair that may be near with what its texts regain.
func TestIndexSparesRegained(t *testing.T) {
	config, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	j := Judge(config)
	random := rand.New(rand.NewPCG(83, 84))
	read := func(sentences []string) *pair.Text {
		text := strings.Join(sentences, "\n")
		return j.Text(text, j.Rarity.Read(text, func(uint64) int { return 3 }))
	}
	article, comments := wordySentences(random, 40), wordySentences(random, 6)
	a := read(append(slices.Clone(article), comments...)).Framed([]uint64{1}, read(comments))
	for what, tt := range map[string]struct {
		b       *pair.Text
		regains bool
	}{
		"the article":               {read(article).Framed([]uint64{2}, nil), true},
		"the article, on two sites": {read(article).Framed([]uint64{2, 3}, nil), true},
		"another":                   {read(wordySentences(random, 40)).Framed([]uint64{2}, nil), false},
	} {
		leaders := []*pair.Text{tt.b}
		x := newIndex(j, &config.Verify.Options, indexWindows, &memory{room: &room{}}, func(number int) (*pair.Text, error) { return leaders[number], nil })
		if err := x.add(tt.b); err != nil {
			t.Fatal(err)
		}
		var b bounds
		x.bound(a, &b)
		stage, _ := x.rejects(&b, 0)
		if d := j.Decide(j.Comparers(1)[0], tt.b, a); d.Near != tt.regains || (stage == verify.None) != tt.regains {
			t.Errorf("%s: %+v, the index rejects it by %v", what, d.Verdict, stage)
		}
	}
}

// Where the index rejects a pair that other weights of its sentences would make alike, the
// component notes what the weights say, so that a later run knows whether that still holds.
func TestRejectedPairsThatWeightsCouldLift(t *testing.T) {
	config := configs.Verify{Measure: configs.MeasureTLCS, Options: tlcsOptions, Closing: configs.ClosingPartition, MaxScored: 32,
		Rarity: rarity.Options{RarePages: 3, Sentences: 0.75, RareSentences: 0.6}}
	j := tlcsJudge(config)
	made := func(name string, number int) *pair.Text {
		var b strings.Builder
		for n := range 10 { // between numbers nothing is as wide as a window
			fmt.Fprintf(&b, "%s %d %c\n", name, number+n, 'a'+n)
		}
		return j.Text(b.String(), config.Read(b.String(), func(uint64) int { return 50 })) // all sentences are common
	}
	var keys []cluster.Key
	var centres []int32
	texts := map[rows.TextID]*pair.Text{}
	for i := range 20 {
		id := rows.TextID{byte(i)}
		keys, centres = append(keys, cluster.NewKey(float32(100-i), id)), append(centres, int32(i))
		texts[id] = made(strings.Repeat(string(rune('a'+i)), 6), 1000)
	}
	last := rows.TextID{255}
	keys, texts[last] = append(keys, cluster.NewKey(1, last)), made("dddddd", 5000) // alike the fourth, but for its weights
	s := partSource{ctx: t.Context(), keys: keys, config: &config, memory: &memory{room: &room{}}, result: &PartResult{States: make([]rows.State, len(keys))},
		docs: NewTexts(j, func(id rows.TextID) (*pair.Text, error) { return texts[id], nil })}
	if _, err := s.Closest(centres, 3); err != nil {
		t.Fatal(err)
	}
	if bounded := s.result.Decided; len(bounded) != 1 || !bounded[0].Bounded || bounded[0].A != 3 || bounded[0].B != len(keys)-1 || bounded[0].Weighing == (pair.Weighing{}) {
		t.Errorf("noted %+v", bounded)
	}

	// If they are too many, nothing is noted. What was verified stays.
	defer func(n int) { MostDecided = n }(MostDecided)
	MostDecided = 1
	verified := rows.Decided{A: 1, B: 2}
	s.result.Decided = []rows.Decided{verified}
	if _, err := s.Closest(centres, 3); err != nil {
		t.Fatal(err)
	}
	if s.result.States != nil || !slices.Equal(s.result.Decided, []rows.Decided{verified}) {
		t.Errorf("noted %+v", s.result)
	}
}

func TestSetVerifierStops(t *testing.T) {
	keys, texts := family(rand.New(rand.NewPCG(1, 1)), 300)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	config := configs.Verify{Measure: configs.MeasureTLCS, Options: tlcsOptions, Closing: configs.ClosingTransitive}
	j := tlcsJudge(config)
	v := setVerifier{Judge: j, memory: &memory{room: &room{}}, config: &config, workers: j.Comparers(2),
		docs: func(id rows.TextID) (*pair.Text, error) { return j.Text(texts[id], rarity.Text{}), nil }}
	if err := v.verify(ctx, keys); err == nil {
		t.Error("a cancelled verification went to its end")
	}
}

func TestScoreOfContainment(t *testing.T) {
	j := tlcsJudge(configs.Verify{Options: tlcsOptions})
	made := func(text string) *pair.Text { return j.Text(text, rarity.Text{}) }
	long, short := made(strings.Repeat("a b c d e ", 50)), made("a b c d e ")
	contained := verify.Verdict{Near: true, Contained: true, Resemblance: 0.1, Containment: 0.9}
	for _, tt := range []struct {
		name           string
		verdict        verify.Verdict
		leader, member *pair.Text
		want           report.Relation
	}{
		{"resemblance reached", verify.Verdict{Near: true, Resemblance: 0.5, Containment: 0.9}, long, short, report.Near},
		{"shorter member", contained, long, short, report.Contained},
		{"longer member", contained, short, long, report.Contains},
		{"equal lengths", contained, short, short, report.Near},
		{"alike", verify.Verdict{Near: true, Alike: true, Resemblance: 0.8, Containment: 0.9}, long, short, report.Alike},
	} {
		if got := ScoreOf(pair.Decision{Verdict: tt.verdict, Lengths: [2]int{tt.leader.Len(), tt.member.Len()}}).Relation; got != tt.want {
			t.Errorf("%s: relation %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Pages that share what all their site has are not near however much that is; a
// page that holds another whole still contains it, and without the check all
// are near.
func TestJudge(t *testing.T) {
	var frame, own, other, more []string
	for i := range 40 {
		frame = append(frame, fmt.Sprintf("Rule of colours and line widths that is %s.", strings.Repeat("x", i+1)))
	}
	for i := range 6 {
		own = append(own, fmt.Sprintf("The first function draws %s.", strings.Repeat("y", i+1)))
		other = append(other, fmt.Sprintf("The second function paints %s.", strings.Repeat("z", i+1)))
	}
	for i := range 200 {
		more = append(more, fmt.Sprintf("Of festivals there is much to tell %s.", strings.Repeat("w", i+1)))
	}
	page := func(parts ...[]string) string { return strings.Join(slices.Concat(parts...), "\n") }
	o := configs.Verify{Options: tlcsOptions, Rarity: rarity.Options{RarePages: 3, RareResemblance: 0.25}}
	o.Resemblance, o.Containment = 0.5, 0.9
	unchecked := o
	unchecked.RarePages = 0
	common := map[uint64]bool{}
	for _, u := range rarity.Units(page(frame), rarity.UnitOf) {
		common[u.Key] = true
	}
	for _, tt := range []struct {
		name            string
		a, b            string
		near, contained bool
		without         bool // near without the check
	}{
		{"the same", page(frame, own), page(frame, own), true, false, true},
		{"two functions", page(frame, own), page(frame, other), false, false, true},
		{"nothing but the frame", page(frame), page(frame[:38]), true, false, true},
		{"one page in another", page(frame, own), page(more, frame, own), true, true, true},
		{"all but its own text in another", page(frame, own), page(more, frame, other), false, false, true},
		{"the frame in another", page(frame, own[:1]), page(more, frame), false, false, true},
	} {
		for _, swap := range []bool{false, true} {
			a, b := tt.a, tt.b
			if swap {
				a, b = b, a
			}
			decide := func(o configs.Verify) verify.Verdict {
				j := tlcsJudge(o)
				document := func(s string) *pair.Text {
					return j.Text(s, o.Read(s, func(unit uint64) int {
						if common[unit] {
							return 500
						}
						return 1
					}))
				}
				return j.Decide(j.Comparers(1)[0], document(a), document(b)).Verdict
			}
			if v := decide(o); v.Near != tt.near || v.Contained != tt.contained || !v.Near && tt.without && v.Rejected != verify.ByRarity {
				t.Errorf("%s: %+v", tt.name, v)
			}
			if v := decide(unchecked); v.Near != tt.without {
				t.Errorf("%s, unchecked: %+v", tt.name, v)
			}
		}
	}
}
