package partition

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var options = Options{Whole: 32, Sample: 8, Against: 0.5, Implied: 0.65}

// enough is a budget that ends nothing.
const enough = 1 << 30

// world is the truth about a component, which counts what it is asked.
type world struct {
	n      int
	near   func(a, b int32) bool
	how    func(a, b int32) float64
	asked  map[Pair]int
	closer func(x, centre int32) float64 // the greater, the closer
	err    error
}

func (w *world) Verify(pairs []Pair) (out []Verdict, err error) {
	for _, p := range pairs {
		w.asked[p]++
		out = append(out, w.verdict(p))
	}
	return out, w.err
}

func (w *world) verdict(p Pair) Verdict {
	if !w.near(p.A, p.B) {
		return Verdict{}
	}
	return Verdict{true, w.how(p.A, p.B)}
}

func (w *world) Closest(centres []int32, k int) ([][]int32, error) {
	var out [][]int32
	for x := range int32(w.n) {
		c := slices.Clone(centres)
		slices.SortStableFunc(c, func(a, b int32) int {
			switch p, q := w.closer(x, a), w.closer(x, b); {
			case p > q:
				return -1
			case p < q:
				return 1
			}
			return 0
		})
		out = append(out, c[:min(k, len(c))])
	}
	return out, w.err
}

// links are near pairs that tie all documents together, and some more.
func (w *world) links(rng *rand.Rand) (out []Link) {
	in := map[int32]bool{0: true}
	for len(in) < w.n {
		grew := false
		for x := range int32(w.n) {
			for y := range int32(w.n) {
				if in[x] && !in[y] && w.near(x, y) {
					out = append(out, Link{NewPair(x, y), w.how(x, y)})
					in[y], grew = true, true
				}
			}
		}
		if !grew {
			return nil
		}
	}
	for range w.n / 4 {
		x, y := rng.Int32N(int32(w.n)), rng.Int32N(int32(w.n))
		if x != y && w.near(x, y) {
			out = append(out, Link{NewPair(x, y), w.how(x, y)})
		}
	}
	return out
}

// random is a world in which documents of one group are near with the
// probability within, of different groups with between.
func random(seed uint64, n, groups int, within, between float64) (*world, []Link) {
	rng := rand.New(rand.NewPCG(seed, 1))
	group := make([]int, n)
	for i := range group {
		group[i] = rng.IntN(groups)
	}
	near := map[Pair]bool{}
	how := map[Pair]float64{}
	for a := range int32(n) {
		for b := a + 1; b < int32(n); b++ {
			p := between
			if group[a] == group[b] {
				p = within
			}
			near[Pair{a, b}] = rng.Float64() < p
			how[Pair{a, b}] = 0.5 + rng.Float64()/2
		}
	}
	w := &world{n: n, asked: map[Pair]int{},
		near:   func(a, b int32) bool { return near[NewPair(a, b)] },
		how:    func(a, b int32) float64 { return how[NewPair(a, b)] },
		closer: func(x, c int32) float64 { return how[NewPair(x, c)] }}
	return w, w.links(rng)
}

// versions are documents over time: those at most reach apart are near.
func versions(n, reach int) (*world, []Link) {
	place := rand.New(rand.NewPCG(uint64(n), 2)).Perm(n)
	apart := func(a, b int32) int { return max(place[a]-place[b], place[b]-place[a]) }
	w := &world{n: n, asked: map[Pair]int{},
		near:   func(a, b int32) bool { return apart(a, b) <= reach },
		how:    func(a, b int32) float64 { return 1 - float64(apart(a, b))/float64(2*reach+2) },
		closer: func(x, c int32) float64 { return -float64(apart(x, c)) }}
	return w, w.links(rand.New(rand.NewPCG(1, 1)))
}

// worth is what a partition is worth over all pairs.
func (w *world) worth(label func(x int32) int32, against float64) (sum float64) {
	for a := range int32(w.n) {
		for b := a + 1; b < int32(w.n); b++ {
			switch {
			case label(a) != label(b):
			case w.near(a, b):
				sum++
			default:
				sum -= against
			}
		}
	}
	return sum
}

// best is the greatest worth of all partitions whose clusters have a document
// that is near to all others: of every way to give each document a label.
func (w *world) best(against float64) float64 {
	label := make([]int32, w.n)
	best := 0.0
	var fill func(x int, used int32)
	fill = func(x int, used int32) {
		if x == w.n {
			for l := range used {
				if !slices.ContainsFunc(members(label, l), func(c int32) bool {
					return !slices.ContainsFunc(members(label, l), func(m int32) bool { return m != c && !w.near(c, m) })
				}) {
					return
				}
			}
			best = max(best, w.worth(func(x int32) int32 { return label[x] }, against))
			return
		}
		for l := range used + 1 {
			label[x] = l
			fill(x+1, max(used, l+1))
		}
	}
	fill(0, 0)
	return best
}

func members(label []int32, l int32) (out []int32) {
	for x, of := range label {
		if of == l {
			out = append(out, int32(x))
		}
	}
	return out
}

// check checks what holds of every outcome.
func check(t *testing.T, name string, w *world, links []Link, o Outcome) {
	t.Helper()
	linked := map[Pair]bool{}
	for _, l := range links {
		linked[l.Pair] = true
	}
	if len(o.Centre) != w.n {
		t.Fatalf("%s: %d centres of %d documents", name, len(o.Centre), w.n)
	}
	for x, c := range o.Centre {
		p := NewPair(int32(x), c)
		if o.Centre[c] != c {
			t.Errorf("%s: %d is with %d, which is with %d", name, x, c, o.Centre[c])
		}
		if int32(x) != c && (!w.near(p.A, p.B) || w.asked[p] == 0 && !linked[p]) {
			t.Errorf("%s: %d is with %d: near %v, asked for %d times", name, x, c, w.near(p.A, p.B), w.asked[p])
		}
	}
	n := 0
	for p, times := range w.asked {
		n += times
		if p.A >= p.B || times > 1 || linked[p] {
			t.Errorf("%s: asked for %v %d times; it is a link: %v", name, p, times, linked[p])
		}
	}
	if n != o.Verified {
		t.Errorf("%s: verified %d pairs, says %d", name, n, o.Verified)
	}
}

// Small components against all partitions there are. Local search may miss the
// best; here it does so in few cases, and never by much.
func TestBestPartition(t *testing.T) {
	missed, all := 0, 0
	for seed := range uint64(600) {
		n := 3 + int(seed%6)
		w, links := random(seed, n, 1+int(seed%3), 0.85, 0.25)
		if links == nil {
			continue
		}
		all++
		o := options
		o.Implied = 2
		o.Against = []float64{0, 0.25, 0.5, 1, 2}[seed%5]
		got, err := Component(n, links, w, o, enough)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("seed %d", seed)
		check(t, name, w, links, got)
		worth := w.worth(func(x int32) int32 { return got.Centre[x] }, o.Against)
		if worth != got.Agreement && n > 2 {
			t.Errorf("%s: worth %v, says %v", name, worth, got.Agreement)
		}
		best := w.best(o.Against)
		if worth > best {
			t.Errorf("%s: worth %v, and the best is %v", name, worth, best)
		}
		if worth < best {
			missed++
			if worth < best-2 {
				t.Errorf("%s: worth %v, and the best is %v", name, worth, best)
			}
		}
	}
	t.Logf("%d of %d not the best", missed, all)
	if all < 300 || missed*25 > all {
		t.Errorf("%d of %d not the best", missed, all)
	}
}

// A series of versions is not cut where its largest key happens to stand: one
// document in the middle is near to all, and represents them.
func TestSeriesOfVersions(t *testing.T) {
	for _, n := range []int{3, 9, 21, 31, 61, 201} {
		reach := (n - 1) / 2
		if n > options.Whole {
			reach = 3 * n / 5 // of a sample the one document in the middle would be luck
		}
		w, links := versions(n, reach)
		got, err := Component(n, links, w, options, enough)
		if err != nil {
			t.Fatal(err)
		}
		check(t, fmt.Sprint(n), w, links, got)
		c := got.Centre[0]
		if n <= options.Whole && slices.ContainsFunc(got.Centre, func(o int32) bool { return o != c }) {
			t.Errorf("%d versions: centres %v", n, got.Centre)
		}
		// A sample may miss those in the middle, and says so by what it is worth.
		centres := slices.Compact(slices.Sorted(slices.Values(got.Centre)))
		if len(centres) > 3 {
			t.Errorf("%d versions: %d clusters", n, len(centres))
		}
	}
}

// What does not belong together is not chained: two groups that one document
// ties together are two clusters.
func TestNoChains(t *testing.T) {
	for _, n := range []int{10, 30, 100} {
		side := func(x int32) int32 {
			if int(x) == n-1 {
				return 2
			}
			return x % 2
		}
		w := &world{n: n, asked: map[Pair]int{},
			near:   func(a, b int32) bool { return side(a) == side(b) || side(a) == 2 || side(b) == 2 },
			how:    func(a, b int32) float64 { return 0.8 },
			closer: func(x, c int32) float64 { return float64(c) }}
		links := w.links(rand.New(rand.NewPCG(1, 1)))
		got, err := Component(n, links, w, Options{Whole: 32, Sample: 8, Against: 1, Implied: 2}, enough)
		if err != nil {
			t.Fatal(err)
		}
		check(t, fmt.Sprint(n), w, links, got)
		for x := range int32(n - 1) {
			for y := range x {
				if together := got.Centre[x] == got.Centre[y]; together != (side(x) == side(y)) {
					t.Fatalf("%d documents: %d and %d together: %v, %v", n, x, y, together, got)
				}
			}
		}
	}
}

// Large components are sampled: what every outcome has, and work that follows
// their size.
func TestLargeComponents(t *testing.T) {
	for seed := range uint64(10) {
		n := 40 + int(seed)*40
		w, links := random(seed, n, 1+int(seed%7), 0.9, 0.02)
		if links == nil {
			continue
		}
		got, err := Component(n, links, w, options, enough)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%d documents", n)
		check(t, name, w, links, got)
		if got.Verified > 30*n {
			t.Errorf("%s: verified %d", name, got.Verified)
		}
	}
}

// Groups that are alike inside and differ from each other are found by a sample
// of the pairs.
func TestPlantedGroups(t *testing.T) {
	const n, groups = 600, 5
	w := &world{n: n, asked: map[Pair]int{},
		near:   func(a, b int32) bool { return a%groups == b%groups || (a == 0 || b == 0) && (a+b)%2 == 0 },
		how:    func(a, b int32) float64 { return 0.7 },
		closer: func(x, c int32) float64 { return -float64((x - c) % groups * ((x - c) % groups)) }}
	links := w.links(rand.New(rand.NewPCG(1, 1)))
	got, err := Component(n, links, w, options, enough)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "planted", w, links, got)
	for x := range int32(n) {
		if x > 0 && got.Centre[x] != got.Centre[x%groups] && x%groups > 0 {
			t.Errorf("%d is with %d, %d with %d", x, got.Centre[x], x%groups, got.Centre[x%groups])
		}
	}
}

// What follows from the metric is not verified: in a large cluster of close
// copies each document costs little more than its link.
func TestImpliedPairs(t *testing.T) {
	const n = 500
	w := &world{n: n, asked: map[Pair]int{}, near: func(a, b int32) bool { return true },
		how: func(a, b int32) float64 { return 0.95 }, closer: func(x, c int32) float64 { return 0 }}
	var links []Link
	for x := range int32(n - 1) {
		links = append(links, Link{Pair{0, x + 1}, 0.95})
	}
	got, err := Component(n, links, w, options, enough)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "copies", w, links, got)
	if got.Verified > 2*n {
		t.Errorf("verified %d pairs", got.Verified)
	}
}

// Whatever the budget, no more is verified, and every member is near its centre.
func TestBudget(t *testing.T) {
	for seed := range uint64(60) {
		n := 3 + int(seed)*2
		w, links := random(seed, n, 3, 0.8, 0.1)
		if links == nil {
			continue
		}
		for _, budget := range []int{0, 1, n, 4 * n, 8 * n} {
			w.asked = map[Pair]int{}
			got, err := Component(n, links, w, options, budget)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%d documents, budget %d", n, budget)
			check(t, name, w, links, got)
			if got.Verified > budget {
				t.Errorf("%s: verified %d", name, got.Verified)
			}
		}
	}
}

// The order of links says nothing.
func TestOrderOfLinks(t *testing.T) {
	for seed := range uint64(40) {
		n := 5 + int(seed)*3
		w, links := random(seed, n, 3, 0.8, 0.1)
		if links == nil {
			continue
		}
		first, err := Component(n, links, w, options, enough)
		if err != nil {
			t.Fatal(err)
		}
		rand.New(rand.NewPCG(seed, 9)).Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		links = append(links, links[0])
		w.asked = map[Pair]int{}
		second, err := Component(n, links, w, options, enough)
		if err != nil || !slices.Equal(first.Centre, second.Centre) || first.Agreement != second.Agreement || first.Verified != second.Verified {
			t.Errorf("seed %d: %v, then %v, %v", seed, first, second, err)
		}
	}
}

// The representative is the document that is nearest to all.
func TestRepresentative(t *testing.T) {
	w := &world{n: 5, asked: map[Pair]int{}, near: func(a, b int32) bool { return true },
		how: func(a, b int32) float64 {
			if a == 3 || b == 3 {
				return 0.9
			}
			return 0.8
		}}
	got, err := Component(5, []Link{{Pair{0, 1}, 0.8}, {Pair{0, 2}, 0.8}, {Pair{0, 3}, 0.9}, {Pair{0, 4}, 0.8}}, w, options, enough)
	if err != nil || !slices.Equal(got.Centre, []int32{3, 3, 3, 3, 3}) {
		t.Errorf("%v, %v", got, err)
	}
	// Of two that are as near, the one with the largest key.
	w.how, w.asked = func(a, b int32) float64 { return 0.8 }, map[Pair]int{}
	got, err = Component(5, []Link{{Pair{1, 4}, 0.8}, {Pair{2, 4}, 0.8}, {Pair{3, 4}, 0.8}, {Pair{0, 4}, 0.8}}, w, options, enough)
	if err != nil || !slices.Equal(got.Centre, []int32{0, 0, 0, 0, 0}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestErrorsOfTheSource(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{4, 50} {
		w, links := versions(n, n/3)
		w.err = broken
		if _, err := Component(n, links, w, options, enough); !errors.Is(err, broken) {
			t.Errorf("%d documents: %v", n, err)
		}
	}
}

func TestOptionsValidate(t *testing.T) {
	if err := options.Validate(); err != nil {
		t.Error(err)
	}
	if err := (Options{2, 2, 0, 0.01, 0}).Validate(); err != nil {
		t.Errorf("the least of each: %v", err)
	}
	for _, o := range []Options{{1, 8, 0.5, 1, 1}, {8, 1, 0.5, 1, 1}, {8, 8, -1, 1, 1}, {8, 8, 0.5, 0, 1}, {8, 8, 0.5, 1, -1}} {
		if o.Validate() == nil {
			t.Errorf("%+v is valid", o)
		}
	}
}

func TestDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for n := range 9 {
		numbers := make([]float64, n)
		for i := range numbers {
			numbers[i] = float64(rng.IntN(12)) / 4 // sums are exact, and some numbers are equal
		}
		want := make([]float64, n)
		for i, x := range numbers {
			for _, y := range numbers {
				want[i] += math.Abs(x - y)
			}
		}
		if got := differences(numbers); !slices.Equal(got, want) {
			t.Errorf("differences of %v: %v, want %v", numbers, got, want)
		}
	}
}
