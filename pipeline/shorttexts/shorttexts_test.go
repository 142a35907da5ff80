package shorttexts

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/paper"
	"neardup/verify/terms"
)

func begin(string, int, int) {}

// words makes texts of which many are changed copies of others.
func words(r *rand.Rand, n int) (texts []string) {
	for range n {
		var words []string
		if len(texts) > 0 && r.IntN(3) > 0 {
			words = strings.Fields(texts[r.IntN(len(texts))])
			if len(words) > 0 {
				words[r.IntN(len(words))] = fmt.Sprint("w", r.IntN(200))
			}
		} else {
			for range r.IntN(12) {
				words = append(words, fmt.Sprint("w", r.IntN(200)))
			}
		}
		texts = append(texts, strings.Join(words, " "))
	}
	return texts
}

func jaccard(a, b string) float64 {
	x, y := map[string]bool{}, map[string]bool{}
	for _, w := range strings.Fields(a) {
		x[w] = true
	}
	for _, w := range strings.Fields(b) {
		y[w] = true
	}
	common := 0
	for w := range x {
		if y[w] {
			common++
		}
	}
	return float64(common) / float64(max(1, len(x)+len(y)-common))
}

// The tables have the similar pairs that a comparison of all texts has, and shares
// of them.
func TestTablesOfJoins(t *testing.T) {
	config, err := configs.Load("ppjoinplus", []string{"cluster.join.tokens=words", "cluster.join.size=1"})
	if err != nil {
		t.Fatal(err)
	}
	texts := words(rand.New(rand.NewPCG(1, 2)), 300)
	var distinct []string
	for i, a := range texts {
		equal := strings.TrimSpace(a) == ""
		for _, b := range texts[:i] {
			s := jaccard(a, b)
			equal = equal || s == 1
		}
		if !equal {
			distinct = append(distinct, a)
		}
	}
	r, err := Joins(context.Background(), "some", config.Cluster.Join, texts, begin)
	if err != nil {
		t.Fatal(err)
	}
	if r.Texts != len(distinct) || r.Texts == len(texts) {
		t.Errorf("%d texts, want %d", r.Texts, len(distinct))
	}
	similar := func(threshold float64) (n int64) {
		for i, a := range distinct {
			for _, b := range distinct[:i] {
				if s := jaccard(a, b); s >= threshold {
					n++
				}
			}
		}
		return n
	}
	for i, row := range r.Table1 {
		if row.Similar != similar(row.Threshold) || row.AllPairs.Candidates < row.PPJoin.Candidates || row.PPJoin.Candidates < row.PPJoinPlus.Candidates || row.PPJoinPlus.Candidates < row.Similar {
			t.Errorf("%+v, want %d similar", row, similar(row.Threshold))
		}
		seven := r.Table7[i]
		if seven.Threshold != row.Threshold || seven.Similar != row.Similar {
			t.Errorf("%+v, %+v", seven, row)
		}
	}
	last := r.Table7[3]
	if last.Similar == 0 || *last.RecallQL < 0.9 || *last.Recall == 0 || *last.Recall > 1 || *last.Precision == 0 {
		t.Errorf("%+v", last)
	}
	if len(r.Table4) != 8 || r.Table4[7].Candidates > r.Table4[0].Candidates || r.Table4[0].Similar != last.Similar {
		t.Errorf("%+v", r.Table4)
	}
	fastest := map[string]int{}
	for _, row := range r.Table3 {
		if row.Fastest {
			fastest[row.Measure]++
		}
		if row.Measure != "weighted cosine" && *row.Recall < 0.85 {
			t.Errorf("%+v", row)
		}
	}
	if len(fastest) != 3 || fastest["cosine"] != 1 {
		t.Errorf("%v", fastest)
	}
	var page bytes.Buffer
	if err := r.WritePage(&page); err != nil || !strings.Contains(page.String(), "| 0.8 | ") || !strings.Contains(page.String(), "Terms: docs/glossary.md") {
		t.Errorf("%v\n%s", err, page.String())
	}
	for name, write := range r.Figures() {
		var b bytes.Buffer
		if err := write(&b); err != nil || !strings.HasPrefix(b.String(), "<svg") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Joins(ctx, "some", config.Cluster.Join, texts, begin); err == nil {
		t.Error("it goes on after an interruption")
	}
}

func collection(texts []string) (c Collection) {
	at := map[string]int{}
	for i, s := range texts {
		id := fmt.Sprintf("2024-01-%02d-%d", 1+i%28, i)
		if k, ok := at[s]; ok {
			c.Texts[k].IDs = append(c.Texts[k].IDs, id)
			continue
		}
		at[s] = len(c.Texts)
		c.Texts = append(c.Texts, Text{s, []string{id}})
	}
	c.Name = "some"
	return c
}

// Figures 1 to 6 against a comparison of all pairs.
func TestFiguresOfSimFinder(t *testing.T) {
	config, err := configs.Load("simfinder", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := collection(words(rand.New(rand.NewPCG(3, 4)), 250))
	r, asked, err := SimFinder(context.Background(), config, []Collection{c, c}, Judgements{Days: 3}, begin)
	if err != nil {
		t.Fatal(err)
	}
	day := func(id string) (n int) { _, _ = fmt.Sscanf(id, "2024-01-%d-", &n); return n }
	consecutive := func(a, b string) bool {
		x, y := strings.Fields(a), strings.Fields(b)
		for i := 1; i < len(x); i++ {
			for k := 1; k < len(y); k++ {
				if x[i-1] == y[k-1] && x[i] == y[k] {
					return true
				}
			}
		}
		return len(x) == 1 && len(y) == 1 && x[0] == y[0]
	}
	for similarity, got := range map[string]paper.Degrees{terms.Plain: r.Collections[0].Plain, terms.Weighted: r.Collections[0].Weighted} {
		o, plain := config.Verify.Terms, config.Verify.Terms
		o.Weighing, plain.Weighing = config.Text.Terms, config.Text.Terms
		o.Similarity, plain.Similarity = similarity, terms.Plain
		m, p := terms.New(o), terms.New(plain)
		want := make([]paper.Interval, 10)
		baseline, near := int64(0), 0
		for i, a := range c.Texts {
			for _, b := range c.Texts[:i] {
				if !consecutive(a.Text, b.Text) {
					continue
				}
				baseline++
				degree := m.Comparer().Compare(m.Prepare(a.Text), m.Prepare(b.Text)).Resemblance
				if p.Comparer().Compare(p.Prepare(a.Text), p.Prepare(b.Text)).Resemblance < 0.3 {
					continue
				}
				right := false
				for _, x := range a.IDs {
					for _, y := range b.IDs {
						right = right || math.Abs(float64(day(x)-day(y))) <= 3
					}
				}
				if degree >= 0.65 {
					near++
				}
				for k := range want {
					to := 0.5 + 0.05*float64(k+1)
					if (degree > to-0.05+1e-9 || k == 0 && degree > 0.5-1e-9) && degree <= to+1e-9 {
						want[k].Pairs++
						want[k].Judged++
						if right {
							want[k].Right++
						}
					}
				}
			}
		}
		pairs := 0
		for k, i := range got.Intervals {
			want[k].To = i.To
			pairs += i.Pairs
			if i != want[k] || math.Abs(i.To-0.55-0.05*float64(k)) > 1e-9 {
				t.Errorf("%s: %+v, want %+v", similarity, i, want[k])
			}
		}
		if got.Near != near || pairs < 50 || got.AveragePrecision == nil || r.Baseline != baseline {
			t.Errorf("%s: %+v, want %d near; %d pairs of %d", similarity, got, near, baseline, r.Baseline)
		}
	}
	if r.Grams[0].Recall < r.Grams[5].Recall || r.Grams[0].Compared <= r.Grams[5].Compared || r.Beyond[7].Pairs < r.Beyond[0].Pairs || r.Grams[2] != r.Beyond[3] {
		t.Errorf("%+v, %+v", r.Grams, r.Beyond)
	}
	if r.Transitivity.With > r.Transitivity.Without || r.Transitivity.Without != r.Grams[2].Compared || r.Transitivity.Potential == 0 {
		t.Errorf("%+v", r.Transitivity)
	}
	if g := r.Collections[1].Growth; len(g) != 4 || g[3].Texts != len(c.Texts) || g[3].Compared != r.Grams[2].Compared {
		t.Errorf("%+v", g)
	}
	figures := r.Figures()
	for n := 1; n <= 10; n++ {
		var b bytes.Buffer
		name := fmt.Sprintf("figure%d.svg", n)
		if figures[name] == nil || figures[name](&b) != nil || b.Len() == 0 {
			t.Errorf("no %s", name)
		}
	}

	// Judgements of the pairs that were asked for decide in place of days.
	judged := map[[2]string]bool{}
	for i, a := range asked {
		judged[pairOf(a.A.IDs[0], a.B.IDs[0])] = i%2 == 0
	}
	config.Text.Terms.Frequencies = "collection"
	again, _, err := SimFinder(context.Background(), config, []Collection{c}, Judgements{Pairs: []map[[2]string]bool{judged}, Days: -1}, begin)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, i := range again.Collections[0].Plain.Intervals {
		if right += i.Right; i.Judged > i.Pairs {
			t.Errorf("%+v", i)
		}
	}
	if right == 0 || again.Collections[0].Plain.AveragePrecision != nil || again.Frequencies != "collection" {
		t.Errorf("%+v", again.Collections[0].Plain)
	}
	var page bytes.Buffer
	if err := again.WritePage(&page); err != nil || !strings.Contains(page.String(), "as people judged it") {
		t.Error(page.String())
	}
	if empty, _, err := SimFinder(context.Background(), config, []Collection{{Name: "none"}}, Judgements{Days: -1}, begin); err != nil || empty.WritePage(&page) != nil {
		t.Error(err)
	}
}
