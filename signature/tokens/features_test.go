package tokens_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/signature/tokens"
)

// Two texts have as many features in common as tokens, and each as many as tokens.
func TestFeaturesAreTokens(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("aAbB ç中文ก\t.\u2003\U0001F600\uFFFD7ı")
	var texts []string
	for range 120 {
		var s []rune
		for range r.IntN(12) {
			s = append(s, alphabet[r.IntN(len(alphabet))])
		}
		texts = append(texts, string(s))
	}
	texts = append(texts, "\xff", "a\xffb", "\uFFFD")
	for _, unit := range []tokens.Unit{tokens.Words, tokens.Letters, tokens.Characters} {
		for size := range 4 {
			for _, repeats := range []bool{false, true} {
				o := tokens.Options{Unit: unit, Size: size, Repeats: repeats}
				records, err := tokens.Make(o, texts)
				if err != nil {
					t.Fatal(err)
				}
				var ids [][]uint32
				var features [][]uint64
				for i, s := range texts {
					ids = append(ids, slices.Sorted(slices.Values(records[0].Record(i))))
					features = append(features, o.Features(s))
				}
				common := 0
				for i := range texts {
					for j := range i + 1 {
						n := shared(ids[i], ids[j])
						common += n
						if got := shared(features[i], features[j]); got != n {
							t.Fatalf("%+v: %q and %q have %d features in common, and %d tokens", o, texts[i], texts[j], got, n)
						}
					}
				}
				if common < 100 {
					t.Errorf("%+v: %d tokens in common tell nothing", o, common)
				}
			}
		}
	}
}

func shared[T uint32 | uint64](a, b []T) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}
