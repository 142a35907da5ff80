package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"neardup/audit"
	"neardup/compare"
	"neardup/truth"
)

// collection makes pages of a few sites with their clusters by three methods, and
// the truth about them: pages of one number are near-duplicates, and those of one
// text among them.
func collection(rng *rand.Rand, n int) (pages []Page, near func(a, b string) bool, tr *truth.Truth) {
	numbers := map[string]int{}
	var lines, pairs strings.Builder
	for i := range n {
		number := rng.IntN(n / 3)
		p := Page{RecordID: fmt.Sprintf("<urn:uuid:%03d>", i), Site: fmt.Sprintf("site%d", rng.IntN(3)), Text: int32(3*number + rng.IntN(2)), Clusters: []int32{compare.None, compare.None, compare.None}}
		for m := range p.Clusters {
			switch rng.IntN(6) {
			case 0: // in no cluster
			case 1:
				p.Clusters[m] = int32(rng.IntN(n / 3)) // in a wrong one, mostly
			default:
				p.Clusters[m] = int32(number / (1 + m)) // those of later methods have several numbers
			}
		}
		numbers[p.RecordID] = number
		fmt.Fprintf(&lines, "%s\thttps://%s/\t2026-01-01T00:00:00Z\t%s\tpage\t0\n", p.RecordID, p.Site, p.Site)
		for _, q := range pages {
			if numbers[q.RecordID] == number {
				fmt.Fprintf(&pairs, "%s\t%s\t1.0\n", q.RecordID, p.RecordID)
			}
		}
		pages = append(pages, p)
	}
	tr, err := truth.Read(strings.NewReader(lines.String()), strings.NewReader(pairs.String()))
	if err != nil {
		panic(err)
	}
	return pages, func(a, b string) bool { return numbers[a] == numbers[b] }, tr
}

// judge judges the pairs of a sample.
func judge(t *testing.T, d *Drawn, near func(a, b string) bool) audit.Labels {
	t.Helper()
	l := d.Labels(audit.Labels{}, "2026-01-01T00:00:00Z")
	var lines strings.Builder
	for i := range l.Pairs {
		verdict := audit.False
		if near(l.Pairs[i].A, l.Pairs[i].B) {
			verdict = audit.True
		}
		fmt.Fprintf(&lines, "{\"a\":%q,\"b\":%q,\"judgements\":[{\"judge\":\"j\",\"verdict\":%q}]}\n", l.Pairs[i].A, l.Pairs[i].B, verdict)
	}
	given, err := audit.ReadLabels(strings.NewReader(lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	return given
}

// clusters yields the clusters of a method.
func clusters(pages []Page, m int) func(func([]string, error) bool) {
	members := map[int32][]string{}
	for _, p := range pages {
		if c := p.Clusters[m]; c != compare.None {
			members[c] = append(members[c], p.RecordID)
		}
	}
	return func(yield func([]string, error) bool) {
		for _, ids := range members {
			if !yield(ids, nil) {
				return
			}
		}
	}
}

var threeMethods = []string{"a", "b", "c"}

// If all pages are drawn and all their near-duplicates judged, the figures are those
// of the labels that the judges follow.
func TestJudgedTable1IsThatOfTheLabels(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 19))
		pages, near, tr := collection(rng, 60)
		d := Draw(threeMethods, pages, DrawOptions{Pages: len(pages), Each: len(pages), Seed: seed})
		got := d.Judge(judge(t, d, near))
		if got.Pairs == 0 || got.Decided != got.Pairs {
			t.Fatalf("%d of %d pairs are decided", got.Decided, got.Pairs)
		}
		var by [3]truth.Judged
		for m := range by {
			var err error
			if by[m], err = tr.Judge(clusters(pages, m)); err != nil {
				t.Fatal(err)
			}
		}
		for m := range by {
			want := *compare.NewTable1(by[m], by[2])
			for i, pair := range [][2]truth.Average{{got.Methods[m].Precision, want.Precision}, {got.Methods[m].Recall, want.Recall}, {got.Methods[m].Found, want.Found},
				{got.Methods[m].PrecisionIn, want.PrecisionIn}, {got.Methods[m].RecallIn, want.RecallIn}, {got.Methods[m].FoundIn, want.FoundIn}} {
				if math.Abs(pair[0].Value-pair[1].Value) > 1e-12 || pair[0].Pages != pair[1].Pages {
					t.Errorf("seed %d, method %d, figure %d: %+v, want %+v", seed, m, i, pair[0], pair[1])
				}
			}
		}
	}
}

// Few judged pairs of each cell estimate the numbers of true near-duplicates without
// bias: over the seeds, the mean is within four standard errors of the number.
func TestCellsEstimateWithoutBias(t *testing.T) {
	pages, near, _ := collection(rand.New(rand.NewPCG(7, 19)), 90)
	found := func(each int, seed uint64) (sum [3]float64) {
		d := Draw(threeMethods, pages, DrawOptions{Pages: len(pages), Each: each, Seed: seed})
		verdicts := map[audit.Pair]audit.Verdict{}
		for _, p := range judge(t, d, near).Pairs {
			verdicts[p.Pair] = p.Verdict()
		}
		for _, p := range d.pages {
			for m, e := range p.figures(3, verdicts, false) {
				sum[m] += e.found
			}
		}
		return sum
	}
	want := found(len(pages), 0)
	const seeds = 300
	var sum, squares [3]float64
	for seed := range uint64(seeds) {
		for m, v := range found(1, seed) {
			sum[m], squares[m] = sum[m]+v, squares[m]+v*v
		}
	}
	for m := range want {
		mean := sum[m] / seeds
		deviation := math.Sqrt(max(0, squares[m]/seeds-mean*mean) / seeds)
		if deviation == 0 || math.Abs(mean-want[m]) > 4*deviation {
			t.Errorf("method %d: %.2f true near-duplicates on average, want %.0f (standard error %.2f)", m, mean, want[m], deviation)
		}
	}
}

// Over the seeds every page is drawn about equally often.
func TestPagesAreDrawnUniformly(t *testing.T) {
	pages, _, _ := collection(rand.New(rand.NewPCG(11, 19)), 60)
	const seeds, drawn = 600, 10
	times := map[string]int{}
	population := 0
	for seed := range uint64(seeds) {
		d := Draw(threeMethods, pages, DrawOptions{Pages: drawn, Seed: seed})
		population = d.Population
		for _, p := range d.pages {
			times[p.recordID]++
		}
	}
	share := float64(drawn) / float64(population)
	deviation := math.Sqrt(seeds * share * (1 - share))
	if len(times) != population {
		t.Errorf("%d pages of %d are drawn", len(times), population)
	}
	for id, n := range times {
		if math.Abs(float64(n)-seeds*share) > 5*deviation {
			t.Errorf("%s is drawn %d times, want %.0f (standard deviation %.1f)", id, n, seeds*share, deviation)
		}
	}
}

// The sample depends on seed and clusters only, a larger one contains it, and its
// labels can be imported and come back with their judgements.
func TestDrawnPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 19))
	pages, near, _ := collection(rng, 60)
	o := DrawOptions{Pages: 10, Each: 2, Seed: 5}
	d := Draw(threeMethods, pages, o)
	of := func(d *Drawn) map[audit.Pair]bool {
		out := map[audit.Pair]bool{}
		for _, p := range d.Labels(audit.Labels{}, "").Pairs {
			out[p.Pair] = true
		}
		return out
	}
	want := of(d)
	rng.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	if got := of(Draw(threeMethods, pages, o)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("in another order: %v, want %v", got, want)
	}
	for _, larger := range []DrawOptions{{Pages: 20, Each: 2, Seed: 5}, {Pages: 10, Each: 4, Seed: 5}} {
		got := of(Draw(threeMethods, pages, larger))
		for p := range want {
			if !got[p] {
				t.Errorf("%+v lacks %v", larger, p)
			}
		}
		if len(got) <= len(want) {
			t.Errorf("%+v has %d pairs", larger, len(got))
		}
	}
	if got := of(Draw(threeMethods, pages, DrawOptions{Pages: 10, Each: 2, Seed: 6})); fmt.Sprint(got) == fmt.Sprint(want) {
		t.Error("another seed draws the same")
	}

	given := judge(t, d, near)
	given.Pairs = given.Pairs[:len(given.Pairs)-3]
	var b strings.Builder
	if err := d.Labels(given, "2026-01-01T00:00:00Z").Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := audit.ReadLabels(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if back.Audit == nil || back.Audit.Design.Population != audit.Methods || len(back.Pairs) != len(want) {
		t.Fatalf("%+v", back.Audit)
	}
	j := d.Judge(back)
	if j.Pairs != len(want) || j.Decided != len(want)-3 || j.Undecided != 0 {
		t.Errorf("%+v, want %d pairs and 3 fewer decided", j, len(want))
	}
	if text := j.text(); !strings.Contains(text, "0 undecided (unknown, or judges divided) and 3 not judged") {
		t.Error(text)
	}
}
