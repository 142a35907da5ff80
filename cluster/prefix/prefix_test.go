package prefix

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/cluster/ppjoin"
)

// Every similar pair is among the candidates, and each candidate shares a token.
func TestMeet(t *testing.T) {
	found, similar, all := 0, 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 9))
		o := ppjoin.Options{Measure: ppjoin.Measure(rng.IntN(3)), Threshold: []float64{.5, .6, .8, 1}[rng.IntN(4)]}
		if o.Measure == ppjoin.Overlap {
			o.Threshold = float64(1 + rng.IntN(6))
		}
		rule, err := ppjoin.NewRule(o)
		if err != nil {
			t.Fatal(err)
		}
		records := make([][]uint64, 2+rng.IntN(25))
		texts := map[uint64]int{} // with a token
		for i := range records {
			if i > 0 && rng.IntN(2) == 0 { // some tokens of another record
				records[i] = slices.Clone(records[rng.IntN(i)])
			}
			for range rng.IntN(8) {
				records[i] = append(records[i], uint64(rng.IntN(30)))
			}
			slices.Sort(records[i])
			records[i] = slices.Compact(records[i])
			for _, token := range records[i] {
				texts[token]++
			}
		}
		under := map[uint64][]Entry{}
		key := func(i int) cluster.Key { return cluster.NewKey(1, cluster.ID{byte(i)}) }
		for i, r := range records {
			shared := slices.DeleteFunc(slices.Clone(r), func(token uint64) bool { return texts[token] == 1 })
			slices.SortFunc(shared, func(a, b uint64) int { return cmp.Or(cmp.Compare(texts[a], texts[b]), cmp.Compare(a, b)) })
			tokens, first := Of(rule, len(r), shared)
			for j, token := range tokens {
				under[token] = append(under[token], Entry{Size: uint32(len(r)), Position: uint32(first + j), Key: key(i)})
			}
		}
		met := map[[2]int]bool{}
		for _, entries := range under {
			err := Meet(rule, entries, func(a, b cluster.Key) error {
				x, y := int(a.ID()[0]), int(b.ID()[0])
				met[[2]int{min(x, y), max(x, y)}] = true
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		found += len(met)
		for i, x := range records {
			for j, y := range records[:i] {
				common := 0
				for _, token := range x {
					if slices.Contains(y, token) {
						common++
					}
				}
				all++
				if _, ok := rule.Decide(int64(len(x)), int64(len(y)), int64(common), nil, nil); ok {
					similar++
					if !met[[2]int{j, i}] {
						t.Errorf("seed %d, %v: %v and %v do not meet", seed, o, x, y)
					}
				} else if common == 0 && met[[2]int{j, i}] {
					t.Errorf("seed %d: %v and %v share nothing", seed, x, y)
				}
			}
		}
	}
	t.Logf("%d pairs, %d candidates, %d similar", all, found, similar)
	if similar < 1000 || found > all/2 {
		t.Errorf("of %d pairs %d meet, and %d are similar", all, found, similar)
	}
}
