package sweep

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
)

func base(t *testing.T) configs.Config {
	t.Helper()
	c, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func planned(t *testing.T, grid bool, vary ...string) Plan {
	t.Helper()
	p, err := NewPlan(base(t), vary, grid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func names(p Plan) string {
	var out []string
	for _, v := range p.Variants {
		out = append(out, v.Name())
	}
	return strings.Join(out, "\n")
}

func TestOneAfterAnother(t *testing.T) {
	p := planned(t, false, "verify.slope=.2,1e-1", "cluster.merge=following", "extract.statuses=[200, 404],[200]")
	want := `base
verify.slope=0.2
verify.slope=0.1
cluster.merge=following
extract.statuses=[200,404]
extract.statuses=[200]`
	if got := names(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i, want := range []string{"0.1 direct [200]", "0.2 direct [200]", "0.1 direct [200]", "0.1 following [200]", "0.1 direct [200 404]", "0.1 direct [200]"} {
		c := p.Variants[i].Config
		if got := fmt.Sprint(c.Verify.Slope, " ", c.Cluster.Merge, " ", c.Extract.Statuses); got != want {
			t.Errorf("variant %d: %s, want %s", i, got, want)
		}
	}
	if len(p.Varies) != 3 || p.Varies[0].Key != "verify.slope" || fmt.Sprintf("%s", p.Varies[0].Values) != "[0.2 0.1]" {
		t.Errorf("varied %+v", p.Varies)
	}
}

func TestGrid(t *testing.T) {
	p := planned(t, true, "verify.rounds=1,2", "cluster.merge=direct,following", "sign.smallest=5")
	want := `base
verify.rounds=1 cluster.merge=direct sign.smallest=5
verify.rounds=1 cluster.merge=following sign.smallest=5
verify.rounds=2 cluster.merge=direct sign.smallest=5
verify.rounds=2 cluster.merge=following sign.smallest=5`
	if got := names(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if c := p.Variants[3].Config; c.Verify.Rounds != 2 || c.Cluster.Merge != "direct" || c.Sign.Smallest != 5 {
		t.Errorf("variant 3 has %+v", c)
	}
	if got := names(planned(t, true)); got != "base" {
		t.Errorf("nothing varied: %s", got)
	}
}

// Parts of methods have their settings one level down.
func TestSettingsOfParts(t *testing.T) {
	c, err := configs.Load("default", []string{"sign.scheme=simhash", "cluster.search=hamming", "verify.measure=terms"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(c, []string{"cluster.hamming.distance=1,2", "text.terms.intervals.noun=[0.5,1],[0,1]", "sign.simhash={words: 4}"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(base(t), []string{"cluster.hamming.distance=1,2"}, false); err == nil || !strings.Contains(err.Error(), "cluster.hamming.distance: is of the part hamming") {
		t.Errorf("a key that makes no difference: %v", err)
	}
	want := `base
cluster.hamming.distance=1 text.terms.intervals.noun=[0.5,1] sign.simhash={"words":4,"weight":"count"}
cluster.hamming.distance=1 text.terms.intervals.noun=[0,1] sign.simhash={"words":4,"weight":"count"}
cluster.hamming.distance=2 text.terms.intervals.noun=[0.5,1] sign.simhash={"words":4,"weight":"count"}
cluster.hamming.distance=2 text.terms.intervals.noun=[0,1] sign.simhash={"words":4,"weight":"count"}`
	if got := names(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if c := p.Variants[3].Config; c.Cluster.Hamming.Distance != 2 || c.Sign.Simhash.Words != 4 {
		t.Errorf("variant 3 has %+v", c)
	}
}

func TestPlanMistakes(t *testing.T) {
	for _, c := range []struct {
		grid bool
		vary []string
		want string
	}{
		{false, []string{"verify.slope"}, "--vary verify.slope: want SECTION.KEY=V1,V2,..."},
		{false, []string{"=1"}, "--vary =1: want SECTION.KEY=V1,V2,..."},
		{false, []string{"slope=1"}, "--vary slope=1: slope=1: want SECTION.KEY=VALUE"},
		{false, []string{"verify.slop=1"}, "unknown key slop"},
		{false, []string{"very.slope=1"}, "unknown key very"},
		{false, []string{"verify.slope=0.1,steep"}, "verify.slope=steep"},
		{false, []string{"verify.slope=0.1,-1"}, "verify.slope: -1, must be a number of at least 0"},
		{false, []string{"verify.rounds=1,,2"}, "verify.rounds="},
		{false, []string{"verify.slope=0.1,.10"}, "the value 0.1 is given twice"},
		{false, []string{"verify.slope=0.1", "sign.smallest=3", "verify.slope=0.2"}, "--vary verify.slope=0.2: verify.slope is varied already"},
		{true, []string{"verify.closing=leaders", "cluster.merge=direct,pairs"}, "verify.closing=leaders cluster.merge=pairs: verify.closing: leaders is for"},
	} {
		_, err := NewPlan(base(t), c.vary, c.grid)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.vary, err, c.want)
		}
	}
}

func TestSplitValues(t *testing.T) {
	for list, want := range map[string]string{
		"1,2":                 "1|2",
		"":                    "",
		"1,":                  "1|",
		"[1,2],[3]":           "[1,2]|[3]",
		`"a,b",'c,d',e`:       `"a,b"|'c,d'|e`,
		"[{host: a, b: [c]}]": "[{host: a, b: [c]}]",
		"],1":                 "]|1",
	} {
		if got := strings.Join(splitValues(list), "|"); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

// redone counts the stages that are redone when the variants run in an order.
func redone(stages [][]string, order []int, present []string) int {
	n := 0
	for _, v := range order {
		at := 0
		for at < len(stages[v]) && at < len(present) && stages[v][at] == present[at] {
			at++
		}
		n += len(stages[v]) - at
		present = stages[v]
	}
	return n
}

func permutations(n int) (out [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for at := range n {
			out = append(out, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return out
}

// No order redoes fewer stages, whatever there is already.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	random := func(n int) (s []string) {
		for range n {
			s = append(s, string(rune('a'+rng.IntN(2))))
		}
		return s
	}
	saved := 0
	for range 300 {
		n := 1 + rng.IntN(5)
		var stages [][]string
		for range n {
			stages = append(stages, random(3))
		}
		present := random(rng.IntN(4))
		got := Order(stages, present)
		if sorted := slices.Sorted(slices.Values(got)); len(sorted) != n || sorted[0] != 0 || sorted[n-1] != n-1 || len(slices.Compact(sorted)) != n {
			t.Fatalf("%q: %v is no order of all", stages, got)
		}
		cost, given := redone(stages, got, present), redone(stages, slices.Sorted(slices.Values(got)), present)
		for _, p := range permutations(n) {
			if c := redone(stages, p, present); c < cost {
				t.Fatalf("%q with %q: %v redoes %d stages, %v %d", stages, present, got, cost, p, c)
			}
		}
		saved += given - cost
	}
	if saved == 0 {
		t.Error("the order as given was always as good")
	}
}

// Where the order does not matter it is as given.
func TestOrderAsGiven(t *testing.T) {
	stages := [][]string{{"x", "c"}, {"x", "a"}, {"y", "a"}, {"x", "b"}}
	if got := fmt.Sprint(Order(stages, nil)); got != "[0 1 3 2]" {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(Order(stages, []string{"y", "b"})); got != "[2 0 1 3]" {
		t.Errorf("with y there already: %s", got)
	}
}
