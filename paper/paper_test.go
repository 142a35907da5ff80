package paper

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"neardup/compare"
	"neardup/configs"
	"neardup/sweep"
	"neardup/truth"
)

// slowAt is the definition of figure 8, document by document.
func slowAt(pairs []Pair, threshold float64) (precision, recall float64) {
	var precisions, recalls []float64
	for d := range 10 {
		right, announced, near := 0., 0., 0.
		for _, p := range pairs {
			if p.Document != d {
				continue
			}
			if p.Near {
				near++
			}
			if p.Score >= threshold {
				announced++
				if p.Near {
					right++
				}
			}
		}
		if announced > 0 {
			precisions = append(precisions, right/announced)
		}
		if near > 0 {
			recalls = append(recalls, right/near)
		}
	}
	mean := func(of []float64) (sum float64) {
		for _, x := range of {
			sum += x / float64(len(of))
		}
		return sum
	}
	return mean(precisions), mean(recalls)
}

func TestAtRecall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	reached := 0
	for range 300 {
		var pairs []Pair
		for range 1 + r.IntN(60) {
			near := r.IntN(2) == 0
			score := float64(r.IntN(20)) / 20
			if near {
				score = math.Sqrt(score)
			}
			pairs = append(pairs, Pair{r.IntN(10), near, score})
		}
		want := 0.5 + r.Float64()/2
		got := AtRecall(pairs, want)
		best := 0.
		for _, p := range pairs {
			if _, recall := slowAt(pairs, p.Score); p.Score > best && recall >= want {
				best = p.Score
			}
		}
		if best > 0 {
			reached++
			if got.Resemblance != best {
				t.Fatalf("threshold %v, want %v", got.Resemblance, best)
			}
		}
		if got.Resemblance == 0 {
			continue // no score above 0
		}
		if p, recall := slowAt(pairs, got.Resemblance); math.Abs(p-got.Precision) > 1e-9 || math.Abs(recall-got.Recall) > 1e-9 {
			t.Fatalf("%+v, want %v and %v", got, p, recall)
		}
	}
	if reached < 100 {
		t.Errorf("only %d of the cases reach their recall", reached)
	}
	if got := AtRecall(nil, 0.9); got != (Slope{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestFiles(t *testing.T) {
	setting := func(key, value string) sweep.Result {
		x := 0.5
		return sweep.Result{Settings: []sweep.Setting{{Key: key, Value: json.RawMessage(value)}},
			Rates: sweep.Rates{Coverage: &x, Reserve: &x}}
	}
	r := Report{Name: "some", Truth: &sweep.TruthUse{Pages: 7}, Recall: 0.9,
		Table1:  []compare.Method{{Name: "paper", Config: configs.Config{}, Table1: &compare.Table1{Precision: truth.Average{Value: 0.75, Pages: 4}}}},
		Figure6: []sweep.Result{setting("sign.rotations", "1"), setting("sign.rotations", "16")},
		Figure7: []sweep.Result{setting("verify.window", "2"), setting("verify.window", "16")},
		Figure8: []Slope{{0.1, 0.28, 0.9, 0.91}, {0.2, 0.3, 0.8, 0.92}}}
	var page bytes.Buffer
	if err := r.WritePage(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Section 4 of the TLCS paper, on some", "| paper | 0.7500 | - |", "| 112 | 0.5000 | - |", "| 16 | - | 0.5000 |", "| 0.2 | 0.3000 | 0.8000 | 0.9200 |"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
	for name, figure := range map[string]func(*bytes.Buffer) error{
		"paper":                    func(b *bytes.Buffer) error { return r.WriteTable1(b) },
		"all steps (after step 3)": func(b *bytes.Buffer) error { return r.WriteTable2(b) },
		"112":                      func(b *bytes.Buffer) error { return r.WriteFigure6(b) },
		"16":                       func(b *bytes.Buffer) error { return r.WriteFigure7(b) },
		"0.2":                      func(b *bytes.Buffer) error { return r.WriteFigure8(b) },
	} {
		var a, b bytes.Buffer
		if err := figure(&a); err != nil || !strings.Contains(a.String(), ">"+name+"<") {
			t.Errorf("no figure with a tick at %s: %v", name, err)
		}
		if _ = figure(&b); !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("the figure with %s differs from time to time", name)
		}
	}
}
