package stages

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/store"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/subject"
	"neardup/verify/tlcs"
)

var tlcsOptions = tlcs.Options{Window: 16, Blocks: 32, Slope: 0.1, Resemblance: 0.28, Containment: 0.7, Trustable: true, Rounds: 1}

func tlcsJudge(v configs.Verify) pair.Judge {
	return pair.Judge{Measure: v.Options.Measure(), Subject: v.Subject}
}

// family makes a set of texts: some originals, each with edited copies, and
// texts that carry parts of two originals, so that clusters are united.
func family(rng *rand.Rand, n int) (keys []cluster.Key, texts map[store.TextID]string) {
	texts = map[store.TextID]string{}
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
		id := store.TextID{byte(i >> 8), byte(i)}
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
				if joins {
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
	for seed := range uint64(6) {
		keys, texts := family(rand.New(rand.NewPCG(seed, 1)), 40+60*int(seed))
		docs := map[store.TextID]*pair.Text{}
		for id, text := range texts {
			docs[id] = tlcsJudge(configs.Verify{Options: tlcsOptions}).Text(text, text)
		}
		c := tlcs.NewComparer(tlcsOptions)
		for _, rule := range [][2]string{
			{configs.ClosingTransitive, configs.ContainedLinks}, {configs.ClosingRepresentative, configs.ContainedLinks},
			{configs.ClosingTransitive, configs.ContainedLeaf}, {configs.ClosingRepresentative, configs.ContainedLeaf},
		} {
			closing, contained := rule[0], rule[1]
			config := configs.Verify{Measure: configs.MeasureTLCS, Options: tlcsOptions, Closing: closing, Contained: contained}
			pairs, want := slowVerify(closing, keys, func(a, b cluster.Key) (near, joins bool) {
				v := c.Compare(docs[a.ID()].Scored().(*tlcs.Document), docs[b.ID()].Scored().(*tlcs.Document))
				return v.Near, v.Near && (contained == configs.ContainedLinks || v.Resemblance >= tlcsOptions.Resemblance)
			})
			for _, workers := range []int{1, 2, 5} {
				j := tlcsJudge(config)
				v := setVerifier{Judge: j, config: &config, workers: j.Comparers(workers),
					docs: func(id store.TextID) (*pair.Text, error) { return docs[id], nil }}
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

func TestSetVerifierStops(t *testing.T) {
	keys, texts := family(rand.New(rand.NewPCG(1, 1)), 300)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	config := configs.Verify{Measure: configs.MeasureTLCS, Options: tlcsOptions, Closing: configs.ClosingTransitive}
	j := tlcsJudge(config)
	v := setVerifier{Judge: j, config: &config, workers: j.Comparers(2),
		docs: func(id store.TextID) (*pair.Text, error) { return j.Text(texts[id], texts[id]), nil }}
	if err := v.verify(ctx, keys); err == nil {
		t.Error("a cancelled verification went to its end")
	}
}

func TestScoreOfContainment(t *testing.T) {
	j := tlcsJudge(configs.Verify{Options: tlcsOptions})
	made := func(text string) *pair.Text { return j.Text(text, text) }
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
	} {
		if got := scoreOf(pair.Decision{Verdict: tt.verdict}, tt.leader, tt.member).Relation; got != tt.want {
			t.Errorf("%s: relation %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Pages about different subjects are not near however much they share; a page
// that holds another whole still contains it.
func TestJudge(t *testing.T) {
	usual := strings.Repeat("The usual rules for colours and for line widths hold here too, and so do those for dashes. ", 8)
	function := func(name string) string {
		return "Manual\nFunction " + name + "\n" + usual + "\nCall " + name + " first.\n" + usual
	}
	o := configs.Verify{Options: tlcsOptions, Subject: subject.Options{Lines: 6, Rate: 1, OneSided: 0.7}}
	o.Resemblance, o.Containment = 0.5, 0.9
	unchecked := o
	unchecked.Lines = 0
	more := strings.Repeat("Of festivals there is much to tell that is not about drawing at all, as anyone will know. ", 30)
	for _, tt := range []struct {
		name                     string
		a, b                     string
		near, bySubject, without bool
		resemblance              float64
	}{
		{"the same", function("draw_line"), function("draw_line"), true, false, true, 1},
		{"two functions", function("draw_line"), function("draw_circle"), false, true, true, 0},
		{"one page in another", function("draw_line"), "Manual\nFestivals\n" + more + "Festivals\n" + function("draw_line"), true, false, true, 0.3},
		{"half of one, and about something else", function("draw_line"), "Manual\nFestivals\n" + more[:700] + "Festivals\n" + usual + usual, false, true, true, 0},
	} {
		for _, swap := range []bool{false, true} {
			a, b := tt.a, tt.b
			if swap {
				a, b = b, a
			}
			decide := func(o configs.Verify) (verify.Verdict, bool) {
				j := tlcsJudge(o)
				d := j.Decide(j.Comparers(1)[0], j.Text(a, a), j.Text(b, b))
				return d.Verdict, d.BySubject
			}
			v, bySubject := decide(o)
			if v.Near != tt.near || bySubject != tt.bySubject || v.Resemblance < tt.resemblance-0.1 || v.Resemblance > tt.resemblance+0.1 {
				t.Errorf("%s: %+v, by subject %v", tt.name, v, bySubject)
			}
			v, bySubject = decide(unchecked)
			if v.Near != tt.without || bySubject {
				t.Errorf("%s, unchecked: %+v, by subject %v", tt.name, v, bySubject)
			}
		}
	}
}
