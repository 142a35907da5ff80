package search

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A join in parts scores each two texts as Similar does, and finds those whose bands
// meet.
func TestPartsScoreAsSimilar(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	words := strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z")
	var texts []string
	for range 60 {
		var text []string
		if len(texts) > 0 && rng.IntN(3) > 0 {
			text = strings.Fields(texts[rng.IntN(len(texts))])
		}
		for range rng.IntN(6) {
			text = append(text, words[rng.IntN(len(words))])
		}
		texts = append(texts, strings.Join(text, " "))
	}
	base := Join{Tokens: "letters", Size: 1, Measure: JoinJaccard, Threshold: .6, Weights: JoinUnweighted, Algorithm: "ppjoin", MaxBytes: 1 << 20, Rows: 2, Recall: .9}
	for name, change := range map[string]func(*Join){
		"jaccard": func(*Join) {},
		"cosine":  func(j *Join) { j.Measure = JoinCosine },
		"overlap": func(j *Join) { j.Measure, j.Threshold = JoinOverlap, 4 },
		"repeats": func(j *Join) { j.Repeats, j.Size = true, 2 },
		"sketch":  func(j *Join) { j.Sketch = 8 },
		"bands":   func(j *Join) { j.Algorithm = JoinLSH },
	} {
		j := base
		change(&j)
		parts, err := NewParts(j)
		if err != nil {
			t.Fatal(err)
		}
		type pair struct {
			a, b  int
			share float64
		}
		var got, want []pair
		_, err = j.Similar(t.Context(), 1, [][]string{texts}, func(a, b int, _, share float64) error {
			want = append(want, pair{min(a, b), max(a, b), share})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for b := range texts {
			for a := range b {
				x, y := parts.Record(texts[a]), parts.Record(texts[b])
				common := 0
				for _, token := range x {
					if slices.Contains(y, token) {
						common++
					}
				}
				share, ok := parts.Share(len(x), len(y), common)
				if ok && parts.ByBands() {
					others := parts.Bands(y)
					ok = slices.ContainsFunc(parts.Bands(x), func(band uint64) bool { return slices.Contains(others, band) })
				}
				if ok {
					got = append(got, pair{a, b, share})
				}
			}
		}
		slices.SortFunc(want, func(a, b pair) int { return slices.Compare([]int{a.b, a.a}, []int{b.b, b.a}) })
		if len(want) < 15 || !slices.Equal(got, want) {
			t.Errorf("%s: %d pairs, want %d", name, len(got), len(want))
		}
	}
}
