package minhash

import (
	"strings"
	"testing"
)

func TestWriteCurves(t *testing.T) {
	var b strings.Builder
	if err := (LSH{Rows: 2, Bands: 3}).WriteCurves(&b, 0.5); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, want := range map[int]string{
		0: "3 bands of 2 rows, 6 min-hashes a text; pairs of similarity 0.5 are candidates with probability 0.5781",
		// 1 - (1 - .25)^3, and 40 times that in marks.
		12: "      0.50     0.5781  0.4219  #######################                  threshold",
		22: "      1.00     1.0000  0.0000  ########################################",
	} {
		if lines[i] != want {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
}
