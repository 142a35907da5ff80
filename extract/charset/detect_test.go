package charset

import (
	"slices"
	"testing"

	"neardup/extract/internal/testkit"
)

func TestDetectionDoesNotDependOnChance(t *testing.T) {
	for _, s := range testkit.Samples {
		b := textSample([]byte(testkit.In(t, s.Charset, s.Text)))
		want := guess(b)
		for range 5 {
			if got := guess(b); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, then %v", s.Charset, want, got)
			}
		}
	}
}
