package tlcs

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/extract/text"
)

// slowTrace gives the rounds by the definitions, with the parts of the oracle.
func slowTrace(o Options, x, y string) (rounds []Round) {
	a, b := chars(x), chars(y)
	if len(a) < len(b) || len(a) == len(b) && slices.Compare(runes(a), runes(b)) < 0 {
		a, b = b, a
	}
	lenA, lenB := len(a), len(b)
	n := o.Rounds
	if !o.Trustable {
		n = 1
	}
	for lenB > 0 && len(rounds) < n {
		keptA, keptB := slowSketch(a, lenA, b, lenB, o.Window), slowSketch(b, lenB, a, lenA, o.Window)
		pick := func(cs []char, kept []int) (out []rune) {
			for _, i := range kept {
				out = append(out, cs[i].r)
			}
			return out
		}
		pairs := slowLCS(pick(a, keptA), pick(b, keptB))
		for i, p := range pairs {
			pairs[i] = [2]int{keptA[p[0]], keptB[p[1]]}
		}
		r := Round{A: len(a), B: len(b), SketchA: len(keptA), SketchB: len(keptB), LCS: len(pairs), End: len(a)}
		r.SES = len(keptA) + len(keptB) - 2*len(pairs)
		r.Curve = slowEdits(len(a), len(b), pairs)
		if o.Trustable {
			r.Start, r.End, _ = slowRegion(o, r.Curve)
		}
		var restA, restB []char
		found, width := map[int]bool{}, 0
		for _, p := range pairs {
			run := Run{a[p[0]].at, b[p[1]].at, 1, r.Start <= p[0] && p[0] < r.End}
			if run.Trusted {
				r.TLCS++
				found[p[1]] = true
				width += text.RuneColumns(a[p[0]].r)
			}
			last := len(r.Runs) - 1
			if last >= 0 && r.Runs[last].Trusted == run.Trusted && r.Runs[last].A+r.Runs[last].Len == run.A &&
				r.Runs[last].B+r.Runs[last].Len == run.B {
				r.Runs[last].Len++
			} else {
				r.Runs = append(r.Runs, run)
			}
		}
		rounds = append(rounds, r)
		for i, c := range a {
			if i < r.Start || i >= r.End {
				restA = append(restA, c)
			}
		}
		for i, c := range b {
			if !found[i] {
				restB = append(restB, c)
			}
		}
		if width < o.Window {
			break
		}
		a, b = restA, restB
	}
	return rounds
}

// checkTrace holds a trace against Compare, Score and the definitions.
func checkTrace(t *testing.T, o Options, x, y string) Trace {
	t.Helper()
	dx, dy := Prepare(x, o.Window), Prepare(y, o.Window)
	c, fresh := NewComparer(o), NewComparer(o)
	got := c.Trace(dx, dy)
	if verdict, score := fresh.Compare(dx, dy), fresh.Score(dx, dy); got.Verdict != verdict || got.Score != score || c.Compare(dx, dy) != verdict {
		t.Fatalf("%+v\n%q\n%q\ntrace %+v\n%+v\n%+v", o, x, y, got, verdict, score)
	}
	want := slowTrace(o, x, y)
	if got.Score.Rounds > len(want) || len(got.Rounds) != got.Score.Rounds {
		t.Fatalf("%+v\n%q\n%q\n%d rounds, verdict has %d, want at most %d", o, x, y, len(got.Rounds), got.Score.Rounds, len(want))
	}
	total := 0
	for i, r := range got.Rounds {
		w := want[i] // Score ends where the pair is near
		w.Most = r.Most
		if i >= tracedCurves {
			w.Curve = nil
		}
		if !slices.Equal(r.Curve, w.Curve) || !slices.Equal(r.Runs, w.Runs) {
			t.Fatalf("%+v\n%q\n%q\nround %d\ngot  %+v\nwant %+v", o, x, y, i+1, r, w)
		}
		total += r.TLCS
		r.Curve, r.Runs, w.Curve, w.Runs = nil, nil, nil, nil
		if !equalRounds(r, w) {
			t.Fatalf("%+v\n%q\n%q\nround %d\ngot  %+v\nwant %+v", o, x, y, i+1, r, w)
		}
		// The limit says where Compare ended.
		switch {
		case i < got.Verdict.Rounds && (r.Most < 0 || r.SES > r.Most):
			t.Fatalf("%+v\n%q\n%q\nround %d was scored over its limit: %+v", o, x, y, i+1, r)
		case i == got.Verdict.Rounds && got.Verdict.Rejected == ByDistance && r.SES <= r.Most,
			i == got.Verdict.Rounds && got.Verdict.Rejected == BySketch && r.Most >= 0:
			t.Fatalf("%+v\n%q\n%q\nround %d was rejected by %v within its limit: %+v", o, x, y, i+1, got.Verdict.Rejected, r)
		}
	}
	if total != got.Score.TLCS {
		t.Fatalf("%+v\n%q\n%q\nrounds match %d in all, the score says %d", o, x, y, total, got.Score.TLCS)
	}
	other := c.Trace(dy, dx)
	if len(got.Rounds) > 0 && x != y && other.Swapped == got.Swapped || other.Verdict != got.Verdict || len(other.Rounds) != len(got.Rounds) {
		t.Fatalf("%+v\n%q\n%q\nnot symmetric: %+v, %+v", o, x, y, got, other)
	}
	return got
}

func equalRounds(r, w Round) bool {
	return r.A == w.A && r.B == w.B && r.SketchA == w.SketchA && r.SketchB == w.SketchB && r.LCS == w.LCS && r.SES == w.SES &&
		r.Start == w.Start && r.End == w.End && r.TLCS == w.TLCS
}

func TestTraceRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 4))
	rounds, stages := map[int]int{}, map[Stage]int{}
	n := 2500
	if testing.Short() {
		n = 300
	}
	for range n {
		o := Options{
			Window: 1 + rng.IntN(9), Blocks: 1 + rng.IntN(10), Slope: float64(rng.IntN(6)) / 10,
			Resemblance: 0.05 + float64(rng.IntN(19))/20, Containment: 0.1 + float64(rng.IntN(10))/10,
			Trustable: rng.IntN(4) > 0, Rounds: 1 + rng.IntN(5), Whole: max(0, float64(rng.IntN(20)-8)/12),
		}
		letters := [][]rune{latin, mixed, []rune("ab"), []rune("a中")}[rng.IntN(4)]
		var parts []string
		for range 1 + rng.IntN(6) {
			parts = append(parts, prose(rng, rng.IntN(30), letters))
		}
		x := strings.Join(parts, "")
		rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		if rng.IntN(2) == 0 {
			parts[rng.IntN(len(parts))] = prose(rng, rng.IntN(30), letters)
		}
		got := checkTrace(t, o, x, strings.Join(parts, ""))
		rounds[len(got.Rounds)]++
		stages[got.Verdict.Rejected]++
	}
	for i := range 4 {
		if rounds[i+1] == 0 {
			t.Errorf("no pair had %d rounds: %v", i+1, rounds)
		}
	}
	for s := None; s <= ByScore; s++ {
		if stages[s] == 0 {
			t.Errorf("no pair ended with %v: %v", s, stages)
		}
	}
}

func TestTraceKeepsFewCurves(t *testing.T) {
	o := paper
	o.Window, o.Rounds, o.Slope, o.Blocks, o.Resemblance, o.Containment = 1, tracedCurves+4, 0, 1000, 1, 2
	var x, y string
	for i := range tracedCurves + 8 {
		letter := string(rune('a' + i))
		x, y = x+letter, letter+y
	}
	got := checkTrace(t, o, x, y)
	if n := len(got.Rounds); n <= tracedCurves || got.Rounds[tracedCurves-1].Curve == nil || got.Rounds[tracedCurves].Curve != nil {
		t.Errorf("%d rounds, curves of %+v", n, got.Rounds)
	}
}

func FuzzTrace(f *testing.F) {
	f.Add("the same text in both of them", "the same text in one of them", 3, 4, 0.1, 2)
	f.Add("", "x", 1, 1, 0.0, 1)
	f.Add("abcdefgh\xff\xfe", "efghabcd\u202e", 2, 3, 0.5, 5)
	f.Fuzz(func(t *testing.T, x, y string, window, blocks int, slope float64, rounds int) {
		o := Options{Window: window, Blocks: blocks, Slope: slope, Resemblance: 0.5, Containment: 0.9, Trustable: true, Rounds: rounds}
		if len(x) > 200 || len(y) > 200 || window > 20 || blocks > 100 || rounds > 20 || o.Validate() != nil {
			return
		}
		dx, dy := Prepare(x, window), Prepare(y, window)
		c := NewComparer(o)
		got := c.Trace(dx, dy)
		for i, r := range got.Rounds {
			if i < tracedCurves && (int(r.Curve[0]) > r.B || int(r.Curve[r.A]) != r.A+r.B-2*r.LCS) {
				t.Fatalf("round %d: %+v", i+1, r)
			}
			last := Run{}
			for _, run := range r.Runs {
				if run.A < last.A+last.Len || run.B < last.B+last.Len || !slices.Equal(runesOf(dx, dy, got.Swapped, run)) {
					t.Fatalf("round %d: run %+v after %+v", i+1, run, last)
				}
				last = run
			}
		}
	})
}

// runesOf returns the two sides of a run.
func runesOf(x, y *Document, swapped bool, r Run) (a, b []int32) {
	if swapped {
		x, y = y, x
	}
	return x.text[r.A : r.A+r.Len], y.text[r.B : r.B+r.Len]
}
