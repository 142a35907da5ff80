package search_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/cluster/search"
	"neardup/configs"
	"neardup/signature/minhash"
	"neardup/signature/shingle"
	"neardup/signature/tokens"
)

// joinOf returns the settings of a join by words.
func joinOf(t *testing.T, settings ...string) search.Join {
	t.Helper()
	for i, s := range settings {
		settings[i] = "cluster.join." + s
	}
	c, err := configs.Load("ppjoinplus", append([]string{"cluster.join.tokens=words", "cluster.join.size=1"}, settings...))
	if err != nil {
		t.Fatal(err)
	}
	return c.Cluster.Join
}

// near makes texts of words of which some are changed copies of others, or of those
// given, some equal and some empty.
func near(r *rand.Rand, n int, given ...string) (texts []string) {
	for range n {
		var words []string
		if all := append(given, texts...); len(all) > 0 && r.IntN(4) > 0 {
			words = strings.Fields(all[r.IntN(len(all))])
			for range r.IntN(3) {
				words = append(words, fmt.Sprint("w", r.IntN(60)))
			}
			r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		} else {
			for range r.IntN(14) {
				words = append(words, fmt.Sprint("w", r.IntN(60)))
			}
		}
		texts = append(texts, strings.Join(words, " "))
	}
	return texts
}

type found map[[2]int]float64

func joined(t *testing.T, j search.Join, workers int, texts ...[]string) found {
	t.Helper()
	out := found{}
	counts, err := j.Similar(context.Background(), workers, texts, func(a, b int, similarity, share float64) error {
		if _, ok := out[[2]int{a, b}]; ok || len(texts) == 1 && a >= b || !(share >= 0 && share <= 1) {
			t.Errorf("%d, %d: there twice, the wrong way around, or a share of %v", a, b, share)
		}
		out[[2]int{a, b}] = similarity
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if counts.Pairs != int64(len(out)) || counts.Candidates < counts.Similar {
		t.Errorf("%d pairs: %+v", len(out), counts)
	}
	return out
}

// want calls similarity with all pairs, and returns those that it says are similar.
func want(texts [][]string, similarity func(a, b string) (float64, bool)) found {
	out := found{}
	other := texts[len(texts)-1]
	for i, a := range texts[0] {
		for k, b := range other {
			if len(texts) == 1 && k <= i {
				continue
			}
			if s, ok := similarity(a, b); ok {
				out[[2]int{i, k}] = s
			}
		}
	}
	return out
}

func setOf(text string) map[string]int {
	s := map[string]int{}
	for _, w := range strings.Fields(text) {
		s[w]++
	}
	return s
}

func check(t *testing.T, name string, got, want found) {
	t.Helper()
	if !maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Fatalf("%s: %d pairs %v\nwant %d %v", name, len(got), got, len(want), want)
	}
}

// The Hamming distance, as sets and as multisets, in any units.
func TestHammingOfTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := near(r, 100)
	others := near(r, 60, texts...)
	for _, repeats := range []bool{false, true} {
		for _, limit := range []int{0, 1, 2, 5} {
			for _, c := range [][][]string{{texts}, {texts, others}} {
				j := joinOf(t, "measure=hamming", fmt.Sprint("distance=", limit), fmt.Sprint("repeats=", repeats))
				all := want(c, func(a, b string) (float64, bool) {
					x, y, d := setOf(a), setOf(b), 0
					if len(x) == 0 || len(y) == 0 {
						return 0, false
					}
					count := func(n int) int {
						if repeats {
							return n
						}
						return min(n, 1)
					}
					for w := range maps.Keys(x) {
						d += max(0, count(x[w])-count(y[w]))
					}
					for w := range maps.Keys(y) {
						d += max(0, count(y[w])-count(x[w]))
					}
					return float64(d), d <= limit
				})
				if len(all) == 0 {
					t.Fatal("no pair")
				}
				check(t, fmt.Sprintf("distance %d, repeats %v, %d collections", limit, repeats, len(c)), joined(t, j, 2, c...), all)
			}
		}
	}
}

// Given weights: those of the file, 1 for other tokens, the same for repetitions.
func TestGivenWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	texts := near(r, 100)
	others := near(r, 50, texts...)
	weights := map[string]float64{}
	var given []search.TokenWeight
	for i := range 40 {
		w := search.TokenWeight{Token: fmt.Sprint("W", i), Weight: []float64{0, 0.1, 0.25, 1.5, 7}[r.IntN(5)]}
		weights[fmt.Sprint("w", i)] = w.Weight
		given = append(given, w)
	}
	weightOf := func(w string) float64 {
		if v, ok := weights[w]; ok {
			return v
		}
		return 1
	}
	for _, measure := range []string{"jaccard", "cosine", "overlap"} {
		for _, repeats := range []bool{false, true} {
			for _, c := range [][][]string{{texts}, {texts, others}} {
				j := joinOf(t, "measure="+measure, "threshold=0.7", fmt.Sprint("repeats=", repeats), "bitmaps=true")
				j.Weights, j.Given = search.JoinGiven, given
				if err := j.Validate(); err != nil {
					t.Fatal(err)
				}
				all := want(c, func(a, b string) (float64, bool) {
					sum := func(of func(w string) int) (s float64) {
						for w := range setOf(a + " " + b) {
							n, v := of(w), weightOf(w)
							if measure == "cosine" {
								v *= v
							}
							if !repeats {
								n = min(n, 1)
							}
							s += float64(n) * v
						}
						return s
					}
					x, y := setOf(a), setOf(b)
					common := sum(func(w string) int { return min(x[w], y[w]) })
					mx, my := sum(func(w string) int { return x[w] }), sum(func(w string) int { return y[w] })
					if common == 0 {
						return 0, false
					}
					s := common
					switch measure {
					case "jaccard":
						s = common / (mx + my - common)
					case "cosine":
						s = common / math.Sqrt(mx*my)
					}
					return s, s >= 0.7-1e-12
				})
				if len(all) < 20 {
					t.Fatalf("%s: %d pairs tell nothing", measure, len(all))
				}
				check(t, fmt.Sprintf("%s, repeats %v, %d collections", measure, repeats, len(c)), joined(t, j, 2, c...), all)
			}
		}
	}
}

func TestGivenTokens(t *testing.T) {
	j := joinOf(t)
	j.Given = []search.TokenWeight{{Token: "some"}, {Token: "two words"}}
	if at, err := j.CheckGiven(); at != 1 || err == nil {
		t.Errorf("%d, %v", at, err)
	}
	j.Given = []search.TokenWeight{{Token: "some"}, {Token: "other"}, {Token: "SOME"}}
	if at, err := j.CheckGiven(); at != 2 || err == nil {
		t.Errorf("%d, %v", at, err)
	}
	j.Given = []search.TokenWeight{{Token: ""}}
	if _, err := j.CheckGiven(); err == nil {
		t.Error("nothing is a token")
	}
	j.Given = j.Given[:0]
	if _, err := j.CheckGiven(); err != nil {
		t.Error(err)
	}
}

// Joins of sketches find the pairs whose sketches, made one by one, are similar.
func TestSketches(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	texts := near(r, 120)
	others := near(r, 60, texts...)
	for _, size := range []int{1, 8, 32} {
		j := joinOf(t, fmt.Sprint("sketch=", size), "threshold=0.6")
		sketch := func(text string) map[uint32]bool {
			s := map[uint32]bool{}
			for _, v := range shingle.MinWise(shingle.NewSet((tokens.Options{Unit: tokens.Words}).Features(text)), size).Values {
				s[uint32(v>>32)] = true
			}
			return s
		}
		for _, c := range [][][]string{{texts}, {texts, others}} {
			all := want(c, func(a, b string) (float64, bool) {
				x, y, common := sketch(a), sketch(b), 0
				for v := range x {
					if y[v] {
						common++
					}
				}
				if common == 0 {
					return 0, false
				}
				s := float64(common) / float64(len(x)+len(y)-common)
				return s, s >= 0.6
			})
			if len(all) < 20 {
				t.Fatalf("%d pairs tell nothing", len(all))
			}
			for _, workers := range []int{1, 3} {
				check(t, fmt.Sprintf("%d values, %d collections", size, len(c)), joined(t, j, workers, c...), all)
			}
		}
	}
}

// A join by bands finds the similar pairs of which a band agrees, which are about as
// many as it promises, and no others.
func TestBands(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	texts := near(r, 150)
	others := near(r, 60, texts...)
	for _, measure := range []string{"jaccard", "cosine"} {
		for _, repeats := range []bool{false, true} {
			j := joinOf(t, "algorithm=lsh", "measure="+measure, "threshold=0.7", "rows=3", "recall=0.9", fmt.Sprint("repeats=", repeats))
			least := 0.7
			if measure == "cosine" {
				least = 0.49
			}
			lsh := minhash.LSH{Rows: 3, Bands: minhash.Bands(least, 0.9, 3)}
			signer := minhash.New(lsh.Components(), 0)
			keys := func(text string) []uint64 {
				return lsh.AppendKeys(nil, signer.Sign(nil, (tokens.Options{Unit: tokens.Words, Repeats: repeats}).Features(text)))
			}
			similar, found := 0, 0
			for _, c := range [][][]string{{texts}, {texts, others}} {
				all := want(c, func(a, b string) (float64, bool) {
					x, y := setOf(a), setOf(b)
					common, mx, my := 0, 0, 0
					for w := range setOf(a + " " + b) {
						n, m := x[w], y[w]
						if !repeats {
							n, m = min(n, 1), min(m, 1)
						}
						common, mx, my = common+min(n, m), mx+n, my+m
					}
					s := float64(common) / float64(max(1, mx+my-common))
					if measure == "cosine" {
						s = float64(common) / math.Sqrt(float64(max(1, mx*my)))
					}
					if common == 0 || s < 0.7-1e-12 {
						return s, false
					}
					similar++
					ka, kb := keys(a), keys(b)
					if !slices.ContainsFunc(ka, func(k uint64) bool { return slices.Contains(kb, k) }) {
						return s, false
					}
					found++
					return s, true
				})
				for _, workers := range []int{1, 3} {
					check(t, fmt.Sprintf("%s, repeats %v, %d collections", measure, repeats, len(c)), joined(t, j, workers, c...), all)
				}
			}
			if similar < 100 || found == similar && measure == "jaccard" || float64(found) < 0.9*float64(similar) {
				t.Errorf("%s: found %d of %d", measure, found, similar)
			}
		}
	}
}

// With weights the pairs are some of those of the exact join, with its similarities.
func TestBandsWithWeights(t *testing.T) {
	texts := near(rand.New(rand.NewPCG(11, 12)), 200)
	exact := joined(t, joinOf(t, "measure=cosine", "threshold=0.7", "weights=idf"), 1, texts)
	got := joined(t, joinOf(t, "algorithm=lsh", "measure=cosine", "threshold=0.7", "weights=idf", "rows=3"), 1, texts)
	for p, s := range got {
		if want, ok := exact[p]; !ok || math.Abs(s-want) > 1e-9 {
			t.Fatalf("%v has %v, want %v, %v", p, s, want, ok)
		}
	}
	if 4*len(got) < 3*len(exact) || len(got) == 0 {
		t.Errorf("%d of %d pairs", len(got), len(exact))
	}
}

// What two texts alone tell is what the join makes of them.
func TestSampledPairs(t *testing.T) {
	texts := near(rand.New(rand.NewPCG(9, 10)), 40)
	for _, settings := range [][]string{{"algorithm=lsh", "measure=cosine", "threshold=0.6", "rows=4"}, {"sketch=16", "threshold=0.5"}, {"measure=hamming", "distance=3"}} {
		j := joinOf(t, slices.Clone(settings)...)
		pairs := 0
		for i, a := range texts {
			for _, b := range texts[:i] {
				two := search.Two{Texts: [2]string{a, b}}
				score, err := j.Score(two)
				got := joined(t, j, 1, []string{a, b})
				pairs += len(got)
				if err != nil || score.Near != (len(got) == 1) || len(got) == 1 && !j.Meet(two).Candidates {
					t.Fatalf("%v: %q, %q: %+v, %v, %+v, %v", settings, a, b, score, got, j.Meet(two), err)
				}
			}
		}
		if pairs == 0 {
			t.Errorf("%v: no pair", settings)
		}
	}
}
