package terms

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/signature/internal/hash"
)

// Terms weigh by equation 1 with F, F' and F(t) counted in the collection.
func TestFrequenciesOfACollection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	vocabulary := []string{"the", "and", "he", "cat", "dog", "sleeps", "7", "42", "2024", "中国", "经济", "发展", "的", "我们", "美丽", "在", "ひら", "ไทย", "zebra", "1999", "crocodile", "giraffe"}
	var texts []string
	for range 60 {
		var words []string
		for range r.IntN(20) {
			words = append(words, vocabulary[min(r.IntN(len(vocabulary)), r.IntN(len(vocabulary)))])
		}
		texts = append(texts, strings.Join(words, " "))
	}
	for _, o := range []Weighing{
		{Intervals: quarters.Intervals, Heaviest: Frequent, Scale: Linear, Frequencies: OfDictionary, MaxTerms: 12},
		{Intervals: quarters.Intervals, Heaviest: Rare, Scale: Log, Long: true, Frequencies: OfDictionary, MaxTerms: 1000},
	} {
		counter := NewCounter(o)
		counts, groupOf := map[string]int64{}, map[string]group{}
		for _, text := range texts {
			counter.Add(text)
			all := slowTerms(text)
			for _, term := range all[:min(len(all), o.MaxTerms)] {
				counts[term.text]++
				groupOf[term.text] = term.group
			}
		}
		with := o
		once := map[int]bool{}
		with.Collection = NewFrequencies(func(yield func(uint64, Count) bool) {
			for term, n := range counter.All() { // without most of the terms that occur once
				if n.Times() == 1 && once[n.Group()] {
					continue
				}
				once[n.Group()] = once[n.Group()] || n.Times() == 1
				if !yield(term, n) {
					return
				}
			}
		})
		with.Frequencies = OfCollection
		w := NewWeigher(with)
		different := map[uint64]bool{}
		for _, text := range append(texts, "never seen before 永远 99") {
			var want []Term
			all := slowTerms(text)
			for _, term := range all[:min(len(all), o.MaxTerms)] {
				least, most := int64(0), int64(0)
				for of, n := range counts {
					if groupOf[of] == term.group {
						if least == 0 || n < least {
							least = n
						}
						most = max(most, n)
					}
				}
				f := max(counts[term.text], least) // 0 and 0: the group has no term
				scale := func(n int64) int64 {
					if n = max(n, 1); o.Scale == Log {
						return int64(logarithm(uint64(n)))
					}
					return n
				}
				share := new(big.Rat)
				if scale(most) > scale(least) {
					share.SetFrac64(scale(f)-scale(least), scale(most)-scale(least))
				}
				if o.Heaviest == Rare {
					share.Sub(big.NewRat(1, 1), share)
				}
				i := o.Intervals.named()[term.group].Interval
				a, b := new(big.Rat).SetFloat64(i[0]), new(big.Rat).SetFloat64(i[1])
				b.Sub(b, a).Mul(b, share).Add(b, a).Mul(b, big.NewRat(unit, 1))
				weight := new(big.Int).Quo(b.Num(), b.Denom()).Uint64()
				if o.Long {
					weight *= uint64(len([]rune(term.text)))
				}
				if weight > 0 {
					want = append(want, Term{hash.String(term.text), weight})
					different[weight] = true
				}
			}
			if got := w.Append(nil, text); !slices.Equal(got, want) {
				t.Fatalf("%q: %v, want %v", text, got, want)
			}
		}
		if len(different) < 8 {
			t.Errorf("%d different weights tell nothing", len(different))
		}
	}
}
