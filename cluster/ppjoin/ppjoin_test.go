package ppjoin_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"neardup/cluster/ppjoin"
	"neardup/signature/tokens"
)

// raced reports that the race detector is on.
var raced bool

// sequential skips a test of collections so small that one goroutine joins them, with
// any number of workers. The race detector has nothing to find there.
func sequential(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("one goroutine; without the race detector it runs")
	}
}

var thresholds = []float64{.5, .55, .6, 2. / 3, .7, .75, .8, .85, .9, .95, 1}

func searches() []ppjoin.Options {
	all := []ppjoin.Options{
		{Algorithm: ppjoin.AllPairs}, {Algorithm: ppjoin.AllPairs, Bitmaps: true},
		{Algorithm: ppjoin.PPJoin}, {Algorithm: ppjoin.PPJoin, Bitmaps: true}, {Algorithm: ppjoin.PPJoin, Workers: 3},
	}
	for depth := range 8 {
		all = append(all, ppjoin.Options{Algorithm: ppjoin.PPJoinPlus, MaxDepth: depth})
	}
	return all
}

func TestEqualToComparingAll(t *testing.T) {
	sequential(t)
	r := rand.New(rand.NewPCG(1, 2))
	weights := make([]float64, 400)
	for i := range weights {
		weights[i] = []float64{0, .25, 1, 2.5, r.Float64() * 4, r.Float64()}[r.IntN(6)]
	}
	for round := range 12 {
		universe, size := []int{12, 60, 400}[round%3], []int{6, 20, 60}[r.IntN(3)]
		a, b := family(r, 70, universe, size), family(r, 40, universe, size)
		for i := range 15 { // of the other collection
			b.Add(a.Record(i * 3)...)
		}
		if round%4 == 0 {
			a.Alone = make([]uint32, a.Len())
			for i := range a.Alone {
				a.Alone[i] = uint32(r.IntN(3))
			}
		}
		plain, longer := searches(), searches()
		for _, s := range plain {
			for s.Extra = 1; s.Extra < 4; s.Extra++ {
				longer = append(longer, s)
			}
		}
		for _, measure := range []ppjoin.Measure{ppjoin.Jaccard, ppjoin.Cosine, ppjoin.Overlap} {
			for i := range 3 {
				o := ppjoin.Options{Measure: measure, Threshold: thresholds[(round*3+i)%len(thresholds)]}
				if measure == ppjoin.Overlap {
					o.Threshold = float64(1 + r.IntN(8))
				}
				same(t, a, nil, o, longer...)
				same(t, a, &b, o, longer...)
				if a.Alone == nil {
					o.Weights = ppjoin.Given(weights)
					same(t, a, nil, o, plain...)
					same(t, a, &b, o, plain...)
				}
			}
		}
	}
}

// TestRoundThresholds: sizes at which a threshold is met exactly, where a
// rounding error would lose or bring a pair.
func TestRoundThresholds(t *testing.T) {
	sequential(t)
	for union := 1; union <= 36; union++ {
		for common := (union + 1) / 2; common <= union; common++ {
			for x := common; x <= union; x++ {
				var c ppjoin.Collection
				var s, u []uint32
				for i := range uint32(union) {
					if int(i) < x {
						s = append(s, i)
					}
					if int(i) < common || int(i) >= x {
						u = append(u, i)
					}
				}
				c.Add(s...)
				c.Add(u...)
				at := float64(common) / float64(union)
				for _, threshold := range []float64{at, math.Nextafter(at, 2)} {
					if threshold <= 1 {
						same(t, c, nil, ppjoin.Options{Threshold: threshold})
					}
				}
				if x%7 == 0 {
					cosine := slowSimilarity(ppjoin.Options{Measure: ppjoin.Cosine}, set(c, 0), set(c, 1), 0, 0)
					for _, threshold := range []float64{cosine, math.Nextafter(cosine, 2)} {
						if threshold <= 1 {
							same(t, c, nil, ppjoin.Options{Measure: ppjoin.Cosine, Threshold: threshold})
						}
					}
				}
			}
		}
	}
}

// TestExamples are those of the paper.
func TestExamples(t *testing.T) {
	// Example 2.1: yes as soon as possible; as soon as possible please.
	rs, err := tokens.Make(tokens.Options{Repeats: true}, []string{"yes as soon as possible", "as soon as possible please"})
	if err != nil {
		t.Fatal(err)
	}
	c := ppjoin.Multiset(ppjoin.Collection(rs[0]))[0]
	for _, want := range []struct {
		measure ppjoin.Measure
		at      float64
	}{{ppjoin.Jaccard, 4. / 6}, {ppjoin.Cosine, 4. / 5}, {ppjoin.Overlap, 4}} {
		got, _ := fast(t, c, nil, ppjoin.Options{Measure: want.measure, Threshold: want.at})
		if !slices.Equal(got, []ppjoin.Pair{{A: 0, B: 1, Similarity: want.at}}) {
			t.Errorf("example 2.1, measure %d: %v", want.measure, got)
		}
	}
	// Section 6.2 gives them weights: .3 yes, .2 as, .6 soon, .7 possible, .4
	// please, .5 the second as. 2.0 / 2.7 is .74.
	weights := []float64{.3, .2, .6, .7, .4, .5}
	got, _ := fast(t, c, nil, ppjoin.Options{Threshold: .7, Weights: ppjoin.Given(weights)})
	if len(got) != 1 || math.Abs(got[0].Similarity-2./2.7) > 1e-5 {
		t.Errorf("section 6.2: %v", got)
	}

	// Examples 3.2 and 4.1 at .8: x and w fall to the size filter, x and y to
	// the positional filter, for their only common token is too late in x's.
	var e ppjoin.Collection
	const A, B, C, D, E, F, G = 0, 1, 2, 3, 4, 5, 6
	e.Add(C, D, F)
	e.Add(G, A, B, E, F)
	e.Add(A, B, C, D, E)
	e.Add(B, C, D, E, F)
	_, all := fast(t, e, nil, ppjoin.Options{Threshold: .8, Algorithm: ppjoin.AllPairs})
	_, ppjoin := fast(t, e, nil, ppjoin.Options{Threshold: .8})
	if all.Candidates < ppjoin.Candidates || ppjoin.Candidates != 0 {
		t.Errorf("example 4.1: AllPairs %+v, PPJoin %+v", all, ppjoin)
	}
}

func TestSmall(t *testing.T) {
	for _, o := range searches() {
		for _, measure := range []ppjoin.Measure{ppjoin.Jaccard, ppjoin.Cosine, ppjoin.Overlap} {
			o.Measure, o.Threshold = measure, 1
			for n := range 4 {
				var c ppjoin.Collection
				for range n {
					c.Add()
				}
				same(t, c, nil, o)
				same(t, c, &c, o)
				c.Add(7)
				same(t, c, nil, o)
				c.Add(7, 7, 7)
				same(t, c, nil, o)
				c.Add(math.MaxUint32, 7)
				c.Add(7, math.MaxUint32)
				same(t, c, nil, o)
				same(t, c, &c, o)
				same(t, c, &ppjoin.Collection{}, o)
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	var c ppjoin.Collection
	c.Add(1, 2)
	bad := ppjoin.Collection{Tokens: []uint32{1}, Ends: []int{2}}
	lone := ppjoin.Collection{Tokens: []uint32{1}, Ends: []int{1}, Alone: []uint32{1}}
	for _, x := range []struct {
		c    ppjoin.Collection
		o    ppjoin.Options
		want string
	}{
		{c, ppjoin.Options{}, "threshold"},
		{c, ppjoin.Options{Threshold: 1.5}, "threshold"},
		{c, ppjoin.Options{Threshold: math.NaN()}, "threshold"},
		{c, ppjoin.Options{Threshold: .5, Measure: 5}, "measure"},
		{c, ppjoin.Options{Threshold: .5, Algorithm: 3}, "algorithm"},
		{c, ppjoin.Options{Threshold: .5, MaxDepth: -1}, "max depth"},
		{c, ppjoin.Options{Threshold: .5, Extra: 1, Weights: ppjoin.Given([]float64{1, 1, 1})}, "extra"},
		{c, ppjoin.Options{Threshold: .5, Weights: ppjoin.Given([]float64{1})}, "no weight"},
		{c, ppjoin.Options{Threshold: .5, Weights: ppjoin.Given([]float64{1, -1, 1})}, "weighs"},
		{c, ppjoin.Options{Threshold: .5, Weights: ppjoin.Given([]float64{1, math.NaN(), 1})}, "weighs"},
		{lone, ppjoin.Options{Threshold: .5, Weights: ppjoin.Given([]float64{1, 1})}, "no weights"},
		{bad, ppjoin.Options{Threshold: .5}, "record 0"},
	} {
		if _, err := ppjoin.Self(context.Background(), x.c, x.o, nil); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want something about %s", x.o, err, x.want)
		}
	}
}

// TestWorkers: same pairs, order and counts.
func TestWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a, b := family(r, 4000, 3000, 12), family(r, 3000, 3000, 12)
	o := ppjoin.Options{Threshold: .7, Algorithm: ppjoin.PPJoinPlus, MaxDepth: 2, Bitmaps: true}
	for _, other := range []*ppjoin.Collection{nil, &b} {
		o.Workers = 1
		want, counts := fast(t, a, other, o)
		if len(want) == 0 {
			t.Fatal("no pairs")
		}
		for _, o.Workers = range []int{2, 3, 8} {
			got, c := fast(t, a, other, o)
			if !slices.Equal(got, want) || c != counts {
				t.Errorf("%d workers: %d pairs, %+v; one: %d, %+v", o.Workers, len(got), c, len(want), counts)
			}
		}
	}
	broken := errors.New("broken")
	for _, o.Workers = range []int{1, 4} {
		n := 0
		_, err := ppjoin.Self(context.Background(), a, o, func(ppjoin.Pair) error {
			if n++; n == 100 {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) || n != 100 {
			t.Errorf("%d workers: %v after %d pairs", o.Workers, err, n)
		}
	}
}

// TestWorkersDoNotRunAhead: what is found before it is asked for is bounded,
// however many similar records each has.
func TestWorkersDoNotRunAhead(t *testing.T) {
	var c ppjoin.Collection
	for i := range 3000 { // all similar, none equal: 4,498,500 pairs
		c.Add(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, uint32(10+i))
	}
	broken := errors.New("broken")
	counts, err := ppjoin.Self(context.Background(), c, ppjoin.Options{Threshold: .8, Workers: 2}, func(ppjoin.Pair) error { return broken })
	if !errors.Is(err, broken) || counts.Similar == 0 || counts.Similar > 100_000 {
		t.Errorf("%v, %d pairs found for the first", err, counts.Similar)
	}
}

// ending is a context that ends when it has been asked often enough for the
// table to be made.
type ending struct {
	context.Context
	cancel func()
	asked  int
}

func (e *ending) Err() error {
	if e.asked++; e.asked == 4 {
		defer e.cancel()
	}
	return e.Context.Err()
}

// A join ends with its context, whether it has found pairs or not, and no
// goroutine of it goes on.
func TestJoinEndsWithItsContext(t *testing.T) {
	var alike, apart, other ppjoin.Collection
	var texts []string
	for i := range 20_000 {
		alike.Add(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, uint32(10+i))
		apart.Add(0, 1, 2, 3, uint32(10+3*i), uint32(11+3*i), uint32(12+3*i)) // candidates all, similar none
		other.Add(0, 1, 2, 3, uint32(100_010+3*i), uint32(100_011+3*i), uint32(100_012+3*i))
		texts = append(texts, fmt.Sprintf("one of many texts that differ in a number, %d", i))
	}
	running := func() int {
		stacks := make([]byte, 1<<20)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "ppjoin.(*prober)")
	}
	for name, join := range map[string]func(ctx context.Context, workers int, emit func()) error{
		"pairs": func(ctx context.Context, workers int, emit func()) error {
			_, err := ppjoin.Self(ctx, alike, ppjoin.Options{Threshold: .8, Workers: workers}, func(ppjoin.Pair) error { emit(); return nil })
			return err
		},
		"no pairs": func(ctx context.Context, workers int, emit func()) error {
			_, err := ppjoin.Between(ctx, apart, other, ppjoin.Options{Threshold: .5, Algorithm: ppjoin.AllPairs, Workers: workers}, func(ppjoin.Pair) error { return nil })
			return err
		},
		"edit": func(ctx context.Context, workers int, emit func()) error {
			_, err := ppjoin.SelfEdit(ctx, texts, ppjoin.EditOptions{Distance: 3, Workers: workers}, func(ppjoin.EditPair) error { emit(); return nil })
			return err
		},
	} {
		for _, workers := range []int{1, 4} {
			ctx, cancel := context.WithCancel(context.Background())
			after := 0
			if name == "no pairs" {
				ctx = &ending{Context: ctx, cancel: cancel}
			}
			err := join(ctx, workers, func() {
				if ctx.Err() != nil {
					after++
				}
				cancel()
			})
			if !errors.Is(err, context.Canceled) || after > 0 {
				t.Errorf("%s, %d workers: %v; %d pairs after the end", name, workers, err, after)
			}
			if n := running(); n > 0 {
				t.Errorf("%s, %d workers: %d goroutines go on", name, workers, n)
			}
			cancel()
		}
	}
}

// TestBench has the pair counts that SetSimilaritySearch finds, on files that
// are not ours to keep here: NEARDUP_BENCH names their folder.
func TestBench(t *testing.T) {
	dir := os.Getenv("NEARDUP_BENCH")
	if dir == "" {
		t.Skip("NEARDUP_BENCH names no folder")
	}
	for _, x := range []struct {
		file      string
		o         tokens.Options
		threshold float64
		pairs     int64
	}{
		{"debian-descriptions.tsv.gz", tokens.Options{}, .8, 49213},
		{"debian-descriptions.tsv.gz", tokens.Options{}, .9, 28708},
		{"debian-descriptions.tsv.gz", tokens.Options{Unit: tokens.Characters, Size: 5}, .8, 47619},
		{"debian-descriptions.tsv.gz", tokens.Options{Unit: tokens.Characters, Size: 5}, .9, 29206},
		{"titles-zh.tsv.gz", tokens.Options{Unit: tokens.Characters, Size: 3}, .8, 6539},
		{"titles-zh.tsv.gz", tokens.Options{Unit: tokens.Characters, Size: 3}, .9, 6100},
	} {
		t.Setenv("NEARDUP_TEXTS", filepath.Join(dir, x.file))
		texts := texts(t)
		var first []ppjoin.Pair
		for i, o := range []ppjoin.Options{{}, {Bitmaps: true}, {Bitmaps: true, Workers: 2}, {Algorithm: ppjoin.AllPairs},
			{Algorithm: ppjoin.PPJoinPlus, MaxDepth: 3}, {Extra: 1}} {
			o.Threshold = x.threshold
			x.o.Alone = i%2 == 1
			c := collection(t, x.o, texts)
			pairs, counts := fast(t, c, nil, o)
			if counts.Pairs != x.pairs {
				t.Errorf("%s at %v, %+v: %d pairs, want %d", x.file, x.threshold, o, counts.Pairs, x.pairs)
			}
			if i == 0 {
				first = sorted(pairs)
			} else if !slices.Equal(sorted(pairs), first) {
				t.Errorf("%s at %v, %+v: other pairs", x.file, x.threshold, o)
			}
		}
	}
}

// TestBenchMeasures: on real texts, ways that share little code agree.
func TestBenchMeasures(t *testing.T) {
	dir := os.Getenv("NEARDUP_BENCH")
	if dir == "" {
		t.Skip("NEARDUP_BENCH names no folder")
	}
	t.Setenv("NEARDUP_TEXTS", filepath.Join(dir, "debian-descriptions.tsv.gz"))
	texts := texts(t)[:20000]
	rs, err := tokens.Make(tokens.Options{Repeats: true}, texts)
	if err != nil {
		t.Fatal(err)
	}
	c := ppjoin.Multiset(ppjoin.Collection(rs[0]))[0]
	const half = 8000
	first := ppjoin.Collection{Tokens: c.Tokens, Ends: c.Ends[:half]}
	var second ppjoin.Collection
	for i := half; i < c.Len(); i++ {
		second.Add(c.Record(i)...)
	}
	idf := ppjoin.IDF(c)
	for _, o := range []ppjoin.Options{
		{Threshold: .7}, {Threshold: .8, Measure: ppjoin.Cosine}, {Threshold: 6, Measure: ppjoin.Overlap},
		{Threshold: .7, Weights: idf}, {Threshold: .8, Measure: ppjoin.Cosine, Weights: idf}, {Threshold: 40, Measure: ppjoin.Overlap, Weights: idf},
	} {
		o.Algorithm = ppjoin.AllPairs
		want, _ := fast(t, c, nil, o)
		for _, search := range []ppjoin.Options{{Bitmaps: true}, {Algorithm: ppjoin.PPJoinPlus, MaxDepth: 4, Workers: 2}} {
			o.Algorithm, o.MaxDepth, o.Bitmaps, o.Workers = search.Algorithm, search.MaxDepth, search.Bitmaps, search.Workers
			if got, _ := fast(t, c, nil, o); !slices.Equal(got, want) {
				t.Errorf("measure %d at %v, algorithm %d: %d pairs, AllPairs %d, or another order", o.Measure, o.Threshold, o.Algorithm, len(got), len(want))
			}
			parts, _ := fast(t, first, nil, o)
			within, _ := fast(t, second, nil, o)
			across, _ := fast(t, first, &second, o)
			for _, p := range within {
				parts = append(parts, ppjoin.Pair{A: p.A + half, B: p.B + half, Similarity: p.Similarity})
			}
			for _, p := range across {
				parts = append(parts, ppjoin.Pair{A: p.A, B: p.B + half, Similarity: p.Similarity})
			}
			if !slices.Equal(sorted(parts), sorted(want)) {
				t.Errorf("measure %d at %v, algorithm %d: %d pairs in two halves and across, %d in all", o.Measure, o.Threshold, o.Algorithm, len(parts), len(want))
			}
		}
		t.Logf("measure %d at %v, weights %v: %d pairs", o.Measure, o.Threshold, o.Weights != nil, len(want))
	}
}

func FuzzSelf(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte, percent, kind, depth int) {
		if percent < 1 || percent > 100 || depth < 0 || depth > 20 || len(data) > 400 {
			return
		}
		var c ppjoin.Collection
		for _, s := range strings.Split(string(data), " ") {
			var record []uint32
			for _, b := range []byte(s) {
				record = append(record, uint32(b))
			}
			c.Add(record...)
		}
		o := ppjoin.Options{Measure: ppjoin.Measure(kind & 1), Threshold: float64(percent) / 100,
			Algorithm: ppjoin.Algorithm(uint(kind) >> 1 % 3), MaxDepth: depth, Bitmaps: kind&8 != 0}
		same(t, c, nil, o)
		same(t, ppjoin.Multiset(c)[0], &c, o)
		if kind&16 != 0 {
			weights := make([]float64, 256)
			for i := range weights {
				weights[i] = float64(i%7) / 3
			}
			o.Weights = ppjoin.Given(weights)
			same(t, c, nil, o)
		} else {
			o.Extra = depth
			same(t, c, nil, o)
		}
	})
}

func Example() {
	var c ppjoin.Collection
	c.Add(1, 2, 3, 4)
	c.Add(9, 8)
	c.Add(4, 3, 2, 1, 5)
	_, err := ppjoin.Self(context.Background(), c, ppjoin.Options{Threshold: .8, Bitmaps: true}, func(p ppjoin.Pair) error {
		fmt.Println(p.A, p.B, p.Similarity)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 0 2 0.8
	// <nil>
}
