package pair

import (
	"maps"
	"testing"
)

func TestNumbersOf(t *testing.T) {
	for text, want := range map[string]map[string]int{
		"On 7 March 2024, 1,000 of 007": {"7": 2, "2024": 1, "1": 1, "": 1},
		"٢٠٢٤ / २०१९":                   {"2024": 1, "2019": 1},
		"𝟏𝟗 𝟙𝟡 𝟣𝟫 𝟭𝟵 𝟷𝟿":                {"19": 5},
		"no number": {},
	} {
		n := 0
		for _, times := range want {
			n += times
		}
		if got, all := numbersOf(text); !maps.Equal(got, want) || all != n {
			t.Errorf("%q: %d numbers, %v, wanted %v", text, all, got, want)
		}
	}
}
