package audit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// grouped is a cluster as a sampler gets it.
type grouped struct {
	id      string
	members []Member
}

// clusters makes clusters of 2 to 9 pages on few sites, some with one text, each
// page verified against one before it.
func clusters(rng *rand.Rand, n int) (out []grouped) {
	for c := range n {
		g := grouped{id: fmt.Sprintf("c%d", c)}
		for i := range 2 + rng.IntN(8) {
			m := Member{Document: fmt.Sprintf("%016x", rng.Uint64()), RecordID: fmt.Sprintf("<urn:%d:%d>", c, i), Site: fmt.Sprint("s", rng.IntN(3)),
				Text: fmt.Sprintf("t%d:%d", c, i), Resemblance: rng.Float64(), Containment: 1}
			if i > 0 {
				m.Against = rng.IntN(i)
				if rng.IntN(3) == 0 {
					m.Text = g.members[m.Against].Text
				}
			}
			g.members = append(g.members, m)
		}
		out = append(out, g)
	}
	return out
}

func sample(d Design, of []grouped) ([]Stratum, []Item) {
	s := NewSampler(d)
	for _, g := range of {
		s.Add(g.id, g.members)
	}
	return s.Sample()
}

var designs = []Design{
	{Population: Pages}, {Population: Pages, Different: true}, {Population: Verified}, {Population: Verified, Different: true},
	{Population: Verified, Stratified: true}, {Population: Verified, Stratified: true, Different: true},
}

// slowSample sorts all draws by their hashes.
func slowSample(d Design, of []grouped) map[Pair]Item {
	s := &Sampler{design: d}
	var all []draw
	for _, g := range of {
		byText := slices.Clone(g.members)
		slices.SortFunc(byText, func(a, b Member) int { return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Document, b.Document)) })
		for _, m := range g.members {
			if d.Population == Verified {
				if q := g.members[m.Against]; q.RecordID != m.RecordID {
					all = append(all, draw{key: s.hash("pair", m.Document, q.Document), owner: m.Document, item: newItem(g.id, g.members, &m, &q)})
				}
				continue
			}
			var others []Member
			for _, q := range byText {
				if q.Document != m.Document && !(d.Different && q.Text == m.Text) {
					others = append(others, q)
				}
			}
			if len(others) > 0 {
				q := others[s.hash("mate", m.Document)%uint64(len(others))]
				all = append(all, draw{key: s.hash("page", m.Document), owner: m.Document, item: newItem(g.id, g.members, &m, &q)})
			}
		}
	}
	slices.SortFunc(all, compareDraws)
	out := map[Pair]Item{}
	for _, x := range all {
		i, ok := out[x.item.Pair]
		switch {
		case d.Different && x.item.Identical:
		case ok:
			i.Draws++
			out[x.item.Pair] = i
		case len(out) == d.Size:
			return out
		default:
			out[x.item.Pair] = x.item
		}
	}
	return out
}

func byPair(items []Item) map[Pair]Item {
	out := map[Pair]Item{}
	for _, i := range items {
		out[i.Pair] = i
	}
	return out
}

func TestSampleIsThatOfTheSlowOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	twice := 0
	for round := range 60 {
		all := clusters(rng, 1+rng.IntN(30))
		for _, d := range designs[:4] {
			d.Size, d.Seed = 1+rng.IntN(60), uint64(round)
			_, items := sample(d, all)
			got, want := byPair(items), slowSample(d, all)
			if len(got) != len(items) || !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v: %d pairs %v\nwant %d %v", d, len(items), got, len(want), want)
			}
			for _, i := range items {
				twice += i.Draws - 1
			}
		}
	}
	if twice == 0 {
		t.Error("no two pages drew each other")
	}
}

// Clusters and members may come in any order; a larger sample contains a smaller
// one; other seeds give others.
func TestSampleDependsOnSeedOnly(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	all := clusters(rng, 80)
	for _, d := range designs {
		var before map[Pair]Item
		for _, d.Size = range []int{7, 8, 31, 100} {
			d.Seed = 9
			strata, items := sample(d, all)
			shuffled := shuffle(rng, all)
			if s, i := sample(d, shuffled); !reflect.DeepEqual(s, strata) || !reflect.DeepEqual(i, items) {
				t.Fatalf("%+v: another order gives another sample", d)
			}
			now := byPair(items)
			if len(items) != d.Size || len(now) != d.Size {
				t.Fatalf("%+v: %d pairs, %d different", d, len(items), len(now))
			}
			for p := range before {
				if _, ok := now[p]; !ok {
					t.Fatalf("%+v: a smaller sample has %v", d, p)
				}
			}
			before = now
		}
		d.Seed = 10
		_, items := sample(d, all)
		same := 0
		for _, i := range items {
			if _, ok := before[i.Pair]; ok {
				same++
			}
		}
		if same == len(items) {
			t.Errorf("%+v: another seed gives the same", d)
		}
	}
}

func shuffle(rng *rand.Rand, all []grouped) []grouped {
	out := slices.Clone(all)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	for c, g := range out {
		place := rng.Perm(len(g.members))
		members := make([]Member, len(place))
		for i, m := range g.members {
			m.Against = place[m.Against]
			members[place[i]] = m
		}
		out[c].members = members
	}
	return out
}

// Each page is as likely, and each other page of its cluster; so is each
// verified pair. The chi-square statistic of n cells has mean n-1 and variance
// 2(n-1).
func TestSampleIsUniform(t *testing.T) {
	all := clusters(rand.New(rand.NewPCG(5, 6)), 12)
	const seeds = 6000
	for _, d := range designs[:4] {
		d.Size = 1
		got, want := map[Pair]float64{}, map[Pair]float64{}
		total := 0.
		for _, g := range all {
			for i, p := range g.members {
				mates := map[Pair]float64{}
				for j, q := range g.members {
					drawn := i != j && (d.Population == Pages || p.Against == j)
					if drawn && !(d.Different && p.Text == q.Text) {
						mates[NewPair(p.RecordID, q.RecordID)] = 1
					}
				}
				for pair := range mates {
					want[pair] += 1 / float64(len(mates))
				}
				total += float64(min(1, len(mates)))
			}
		}
		for d.Seed = range seeds {
			_, items := sample(d, all)
			got[items[0].Pair]++
		}
		chi := 0.
		for pair, w := range want {
			expected := w / total * seeds
			chi += (got[pair] - expected) * (got[pair] - expected) / expected
			delete(got, pair)
		}
		df := float64(len(want) - 1)
		if len(got) > 0 || math.Abs(chi-df) > 4*math.Sqrt(2*df) {
			t.Errorf("%+v: chi-square %.1f of %v cells; not to be drawn: %v", d, chi, df+1, got)
		}
	}
}

// The share of true draws is the mean over pages of the share of their mates
// that are true (TLCS paper, section 4), also where many pages draw each other.
func TestPagesEstimateThePrecisionOfThePaper(t *testing.T) {
	all := clusters(rand.New(rand.NewPCG(7, 8)), 40)
	verdict := func(p Pair) Verdict { // right in small clusters, where pages draw each other more often
		for _, g := range all {
			if g.members[0].RecordID[:len(g.members[0].RecordID)-3] == p.A[:len(p.A)-3] && len(g.members) <= 3 {
				return True
			}
		}
		if (len(p.A)+int(p.A[len(p.A)-2])+int(p.B[len(p.B)-2]))%3 == 0 {
			return True
		}
		return False
	}
	precision, pages := 0., 0.
	for _, g := range all {
		for i, p := range g.members {
			right := 0.
			for j, q := range g.members {
				if i != j && verdict(NewPair(p.RecordID, q.RecordID)) == True {
					right++
				}
			}
			precision += right / float64(len(g.members)-1)
			pages++
		}
	}
	precision /= pages
	const seeds = 400
	sum := 0.
	d := Design{Population: Pages, Size: 60}
	for d.Seed = range seeds {
		strata, items := sample(d, all)
		var given [][]Judgement
		for _, i := range items {
			given = append(given, []Judgement{{Pair: i.Pair, Judge: "a", Verdict: verdict(i.Pair)}})
		}
		sum += Evaluate(Audit{Design: d, Strata: strata}, items, given).Overall.Value
	}
	// The standard deviation of a sample of 60 is below 0.065.
	if mean := sum / seeds; math.Abs(mean-precision) > 3*.065/math.Sqrt(seeds) {
		t.Errorf("mean %.4f of the estimates, precision %.4f", mean, precision)
	}
}

func TestStrata(t *testing.T) {
	all := clusters(rand.New(rand.NewPCG(9, 10)), 300)
	d := Design{Population: Verified, Stratified: true, Size: 100}
	strata, items := sample(d, all)
	population, sampled := map[string]int64{}, map[string]int{}
	for _, g := range all {
		for i := range g.members {
			m := &g.members[i]
			if q := &g.members[m.Against]; q != m {
				score := "below 0.5"
				switch {
				case m.Text == q.Text:
					score = "identical text"
				case m.Resemblance >= .9:
					score = "from 0.9"
				case m.Resemblance >= .7:
					score = "0.7 to 0.9"
				case m.Resemblance >= .5:
					score = "0.5 to 0.7"
				}
				if score != "identical text" {
					score = "resemblance " + score
				}
				population[map[bool]string{true: "same site, ", false: "other site, "}[m.Site == q.Site]+score]++
			}
		}
	}
	for _, i := range items {
		s := strata[i.Stratum]
		sampled[s.Name]++
		if s.SameSite != i.SameSite {
			t.Errorf("%v is in %s", i, s.Name)
		}
	}
	if len(strata) != 10 || len(population) != 10 {
		t.Errorf("%d strata, want %d", len(strata), len(population))
	}
	for _, s := range strata {
		if s.Population != population[s.Name] || s.Sampled != 10 || sampled[s.Name] != 10 {
			t.Errorf("%+v, want a population of %d and 10 pairs, got %d", s, population[s.Name], sampled[s.Name])
		}
	}
	// The order says nothing of strata: the mean place of each is in the middle,
	// within four standard deviations over the seeds.
	sums := make([]float64, 10)
	const seeds = 200
	for d.Seed = range seeds {
		_, items := sample(d, all)
		for place, i := range items {
			sums[i.Stratum] += float64(place)
		}
	}
	for h, sum := range sums {
		if mean, sd := sum/(10*seeds), 100/math.Sqrt(12*10*seeds); math.Abs(mean-49.5) > 4*sd {
			t.Errorf("stratum %d is judged at place %.1f on average", h, mean)
		}
	}
}

func TestAllocation(t *testing.T) {
	for _, c := range []struct {
		available []int
		n         int
		want      []int
	}{
		{[]int{50, 50}, 11, []int{6, 5}},
		{[]int{1, 50, 0, 50}, 20, []int{1, 10, 0, 9}},
		{[]int{3, 2}, 20, []int{3, 2}},
		{[]int{5, 5, 5}, 2, []int{1, 1, 0}},
	} {
		if got := allocate(c.available, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%v of %v: %v, want %v", c.n, c.available, got, c.want)
		}
	}
}

// Pages of one record id are no pair, and a pair is there once, however many
// documents claim its ids.
func TestOneRecordIDOfManyDocuments(t *testing.T) {
	var all []grouped
	for c := range 6 {
		all = append(all, grouped{fmt.Sprint(c), []Member{
			{Document: fmt.Sprint("1", c), RecordID: "<x>", Text: "t"},
			{Document: fmt.Sprint("2", c), RecordID: "<x>", Text: "u", Against: 0, Resemblance: .8},
			{Document: fmt.Sprint("3", c), RecordID: "<y>", Text: "v", Against: 0, Resemblance: float64(c) / 6},
		}})
	}
	for _, d := range designs {
		d.Size = 10
		if _, items := sample(d, all); len(items) != 1 || items[0].Pair != NewPair("x", "y") {
			t.Errorf("%+v: %v", d, items)
		}
	}
}

func TestDesignsAreChecked(t *testing.T) {
	for _, d := range designs {
		d.Size = 1
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, d := range []Design{{Size: 1}, {Population: Pages}, {Population: Pages, Size: MaxSize + 1}, {Population: Pages, Size: 1, Stratified: true}} {
		if d.Check() == nil {
			t.Errorf("%+v is right", d)
		}
	}
}
