package tlcs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"neardup/extract/text"

	"neardup/verify"
)

var paper = Options{Window: 16, Blocks: 32, Slope: 0.1, Resemblance: 0.28, Containment: 0.7, Trustable: true, Rounds: 1}

// check holds Compare against the oracle, in both orders and on a Comparer
// that has been used before.
func check(t *testing.T, c *Comparer, x, y string) Verdict {
	t.Helper()
	dx, dy := Prepare(x, c.o.Window), Prepare(y, c.o.Window)
	got, want := c.Compare(dx, dy), slowScore(c.o, x, y)
	if other := c.Compare(dy, dx); other != got {
		t.Fatalf("%+v\n%q\n%q\nnot symmetric: %+v, %+v", c.o, x, y, got, other)
	}
	if got.Near != want.Near || got.Near == (got.Rejected != None) {
		t.Fatalf("%+v\n%q\n%q\ngot  %+v\nwant %+v", c.o, x, y, got, want)
	}
	// Score leaves nothing out, and scores near pairs as Compare does.
	score, wantScore := c.Score(dx, dy), want
	wantScore.Rejected = score.Rejected
	if score != wantScore || score.Near == (score.Rejected != None) || c.Score(dy, dx) != score || got.Near && score != got {
		t.Fatalf("%+v\n%q\n%q\nscore %+v\nwant  %+v\nof    %+v", c.o, x, y, score, wantScore, got)
	}
	// What an early exit may leave out is 0, or of fewer rounds.
	if got.Near || got.Rejected == ByScore && got.Rounds == want.Rounds {
		want.Rejected = got.Rejected
		if got != want {
			t.Fatalf("%+v\n%q\n%q\ngot  %+v\nwant %+v", c.o, x, y, got, want)
		}
	} else if got.Rounds > want.Rounds || got.TLCS > want.TLCS || got.SketchA != 0 &&
		(got.SketchA != want.SketchA || got.SketchB != want.SketchB) {
		t.Fatalf("%+v\n%q\n%q\ngot  %+v\nwant %+v", c.o, x, y, got, want)
	}
	return got
}

// prose makes words with the given PRNG until they are wide enough.
func prose(rng *rand.Rand, columns int, letters []rune) string {
	var b strings.Builder
	for n := 0; n < columns; {
		for range 2 + rng.IntN(8) {
			r := letters[rng.IntN(len(letters))]
			b.WriteRune(r)
			n += text.RuneColumns(r)
		}
		b.WriteByte(' ')
		n++
	}
	return text.Cut(b.String(), columns)
}

var (
	latin = []rune("etaoinshrdlucmfwypvbgk")
	mixed = []rune("abéß中文网页相似重复サイトمرحبا😀🎉，。")
)

func TestCompareRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	stages := map[string]int{}
	count := func(v Verdict) {
		if v.Near {
			stages[fmt.Sprintf("near in round %d", v.Rounds)]++
		} else {
			stages[v.Rejected.String()]++
		}
	}
	n := 4000
	if testing.Short() {
		n = 500
	}
	for range n {
		o := Options{
			Window: 1 + rng.IntN(9), Blocks: 1 + rng.IntN(10), Slope: float64(rng.IntN(6)) / 10,
			Resemblance: 0.05 + float64(rng.IntN(20))/20, Containment: 0.1 + float64(rng.IntN(10))/10,
			Trustable: rng.IntN(4) > 0, Rounds: 1 + rng.IntN(5), Whole: max(0, float64(rng.IntN(20)-8)/12),
		}
		if o.Validate() != nil {
			continue
		}
		letters := [][]rune{latin, mixed, []rune("ab"), []rune("a中")}[rng.IntN(4)]
		var parts []string
		for range 1 + rng.IntN(6) {
			parts = append(parts, prose(rng, rng.IntN(30), letters))
		}
		if rng.IntN(3) == 0 { // paragraphs in another order
			o.Trustable = true
			rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			moved := strings.Join(parts, "")
			rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			count(check(t, NewComparer(o), moved, strings.Join(parts, "")))
			continue
		}
		var x, y strings.Builder
		for range rng.IntN(7) {
			x.WriteString(parts[rng.IntN(len(parts))])
		}
		for range rng.IntN(7) {
			if rng.IntN(4) == 0 {
				y.WriteString(prose(rng, rng.IntN(6), letters))
			}
			y.WriteString(parts[rng.IntN(len(parts))])
		}
		count(check(t, NewComparer(o), x.String(), y.String()))
	}
	for _, s := range []string{"length", "sketch", "distance", "score", "near in round 1", "near in round 2", "near in round 3"} {
		if stages[s] == 0 {
			t.Errorf("no pair ended with %q: %v", s, stages)
		}
	}
}

func TestCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	header, footer := prose(rng, 900, latin), prose(rng, 900, latin)
	body, other := prose(rng, 600, latin), prose(rng, 600, latin)
	p1, p2, p3 := prose(rng, 700, latin), prose(rng, 600, latin), prose(rng, 500, latin)
	many := prose(rng, 800, mixed)
	whole, rounds3, noResemblance := paper, paper, paper
	whole.Trustable = false
	rounds3.Rounds = 3
	noResemblance.Resemblance = 2
	const short = "short" // narrower than a window
	for _, c := range []struct {
		name     string
		o        Options
		x, y     string
		near     bool
		rejected Stage
		rounds   int
	}{
		{"identical", paper, body, body, true, None, 1},
		{"identical, mixed widths", paper, many, many, true, None, 1},
		{"one edit, mixed widths", paper, many + "中", "é" + many, true, None, 1},
		{"different", paper, body, other, false, BySketch, 0},
		{"both empty", paper, "", "", false, ByLength, 0},
		{"one empty", paper, body, "", false, ByLength, 0},
		{"short, equal", paper, short, short, true, None, 1},
		{"short, not equal", paper, short, "shirt", false, BySketch, 0},
		{"short, in a longer text", paper, body + short, short, false, BySketch, 0},
		{"contained", paper, header + body + footer, body, true, None, 1},
		{"contained, nothing else asked for", noResemblance, header + body + footer, body, true, None, 1},
		{"too short to resemble", Options{16, 32, 0.1, 0.5, 2, true, 1, 0}, header, header[:400], false, ByLength, 0},
		{"template and another body", paper, header + body + footer, header + other + footer, false, ByScore, 1},
		{"template and another body, whole LCS", whole, header + body + footer, header + other + footer, true, None, 1},
		{"other template, same body", paper, header + body, footer + body, false, BySketch, 0},
		{"moved paragraphs, one round", paper, p1 + p2 + p3, p3 + p2 + p1, false, ByScore, 1},
		{"moved paragraphs, three rounds", rounds3, p1 + p2 + p3, p3 + p2 + p1, true, None, 3},
		{"moved, each part just a window", Options{4, 2, 0.1, 1, 1, true, 2, 0}, "abcdefgh", "efghabcd", true, None, 2},
		{"shared letters, no shared order", whole, p1 + p2 + p3, shuffle(rng, p1+p2+p3, 20), false, ByDistance, 0},
	} {
		v := check(t, NewComparer(c.o), c.x, c.y)
		if v.Near != c.near || v.Rejected != c.rejected || v.Rounds != c.rounds {
			t.Errorf("%s: %+v", c.name, v)
		}
		if c.x == c.y && c.x != "" && (v.Resemblance != 1 || v.Containment != 1) {
			t.Errorf("%s: scores %v, %v, want 1, 1", c.name, v.Resemblance, v.Containment)
		}
	}
}

// A later TLCS can be the longer one: the first region is short but central.
func TestRisingTLCS(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 17))
	own := func(n int) string { return prose(rng, n, latin) }
	edge, centre := own(350), own(210)
	o := Options{Window: 16, Blocks: 10, Slope: 0.1, Resemblance: 2, Containment: 0.5, Trustable: true, Rounds: 3}
	x, y := edge+own(50)+centre+own(400), edge+own(100)+centre+own(340)
	v := check(t, NewComparer(o), x, y)
	if first := v.RegionEnd - v.RegionStart; !v.Near || v.Rounds != 3 || first*2 >= v.TLCS {
		t.Errorf("%+v", v)
	}
	o.Rounds = 2
	if v = check(t, NewComparer(o), x, y); !v.Near || v.Rounds != 2 {
		t.Errorf("%+v", v)
	}
}

// Early ends save time and nothing else: of texts in pieces that were moved
// about, as many are near as reach the thresholds with all rounds.
func TestEarlyEndsRejectNothingNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 19))
	o := Options{Window: 16, Blocks: 32, Slope: 0.1, Resemblance: 0.5, Containment: 0.9, Trustable: true, Rounds: 3, Whole: 0.65}
	c := NewComparer(o)
	var late, far int
	for range 400 {
		page := prose(rng, 800+rng.IntN(1500), latin)
		moved := shuffle(rng, page, len(page)/(2+rng.IntN(7)))
		x, y := Prepare(page, o.Window), Prepare(moved, o.Window)
		got, want := c.Compare(x, y), c.Score(x, y)
		if got.Near != want.Near {
			t.Fatalf("%q\n%q\nCompare %+v\nScore   %+v", page, moved, got, want)
		}
		switch {
		case !got.Near:
			far++
		case got.Rounds > 1:
			late++
		}
	}
	if late < 20 || far < 20 {
		t.Errorf("%d pairs near in a later round, %d far: too few to tell", late, far)
	}
}

// shuffle cuts s in pieces of n bytes and puts them in another order.
func shuffle(rng *rand.Rand, s string, n int) string {
	var parts []string
	for ; len(s) > n; s = s[n:] {
		parts = append(parts, s[:n])
	}
	rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, "")
}

// Both documents are shared by goroutines with a Comparer each; the race
// detector watches.
func TestShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	o := paper
	o.Rounds = 3
	p, q := prose(rng, 2000, mixed), prose(rng, 2000, mixed)
	x, y := Prepare(p+q, o.Window), Prepare(q+p, o.Window)
	want := NewComparer(o).Compare(x, y)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c := NewComparer(o)
			for range 5 {
				if v := c.Compare(y, x); v != want {
					t.Errorf("got %+v, want %+v", v, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestValidate(t *testing.T) {
	if err := paper.Validate(); err != nil {
		t.Fatal(err)
	}
	for field, o := range map[string]Options{
		"window":      {0, 1, 0, 1, 1, true, 1, 0},
		"blocks":      {1, 0, 0, 1, 1, true, 1, 0},
		"slope":       {1, 1, -1, 1, 1, true, 1, 0},
		"resemblance": {1, 1, 0, 0, 1, true, 1, 0},
		"containment": {1, 1, 0, 1, 0, true, 1, 0},
		"rounds":      {1, 1, 0, 1, 1, true, 0, 0},
		"whole":       {1, 1, 0, 1, 1, true, 1, 1.5},
	} {
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// The epoch of the marks wraps around.
func TestEpoch(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	o := paper
	o.Rounds = 2
	c := NewComparer(o)
	p, q := prose(rng, 300, latin), prose(rng, 300, latin)
	check(t, c, p+q, q+p)
	for d := range uint32(6) {
		c.epoch = ^uint32(0) - d
		check(t, c, p+q, q+p)
		check(t, c, p+q, q)
	}
}

func TestNoAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	o := paper
	o.Rounds = 3
	o.Resemblance = 0.99
	p, q := prose(rng, 1000, latin), prose(rng, 1000, latin)
	x, y := Prepare(p+q, o.Window), Prepare(q+p, o.Window)
	c := NewComparer(o)
	c.Compare(x, y)
	if n := testing.AllocsPerRun(10, func() { c.Compare(x, y) }); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("the quick brown fox jumps", "the brown quick fox jumps", uint8(4), uint8(5), uint8(10), uint8(90), uint8(90), uint8(3))
	f.Add("中文网页中文", "网页中文网页", uint8(2), uint8(2), uint8(50), uint8(100), uint8(60), uint8(2))
	f.Add("abcabcabcabc", "cbacbacba", uint8(1), uint8(9), uint8(0), uint8(30), uint8(101), uint8(1))
	f.Add("a\xffb", "", uint8(3), uint8(0), uint8(0), uint8(0), uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, x, y string, window, blocks, slope, resemblance, containment, rounds uint8) {
		o := Options{
			Window: int(window), Blocks: int(blocks), Slope: float64(slope) / 100, Resemblance: float64(resemblance) / 100,
			Containment: float64(containment) / 100, Trustable: rounds < 128, Rounds: int(rounds % 8),
		}
		if len(x) > 200 || len(y) > 200 || o.Validate() != nil {
			return
		}
		check(t, NewComparer(o), x, y)
	})
}

// Texts of lengths that MayResemble excludes are near by containment at most.
func TestMayResemble(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	o := Options{Window: 4, Blocks: 4, Slope: 0.1, Resemblance: 0.5, Containment: 0.9, Trustable: true, Rounds: 3, Whole: 0.6}
	m := o.Measure()
	c, found := m.Comparer(), map[[2]bool]int{}
	for range 2000 {
		x := prose(rng, 20+rng.IntN(60), latin)
		y := x[:rng.IntN(len(x)+1)]
		v := c.Compare(m.Prepare(x), m.Prepare(y))
		may := m.(verify.ByLengths).MayResemble(len(x), len(y))
		if !may && v.Near && !v.Contained {
			t.Fatalf("%q, %q: %+v", x, y, v)
		}
		found[[2]bool{may, v.Near && !v.Contained}]++
	}
	if found[[2]bool{false, false}] < 200 || found[[2]bool{true, true}] < 200 {
		t.Errorf("%v", found)
	}
}
