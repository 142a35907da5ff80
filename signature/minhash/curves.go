package minhash

import (
	"fmt"
	"io"
	"math"
	"strings"
)

const curveColumns = 40 // of the bars

// WriteCurves writes Candidate and Miss over the similarity, for people, with
// the areas that are false positives and negatives for a threshold.
func (c LSH) WriteCurves(w io.Writer, threshold float64) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d bands of %d rows, %d min-hashes a text; pairs of similarity %g are candidates with probability %.4f\n\n",
		c.Bands, c.Rows, c.Components(), threshold, c.Candidate(threshold))
	b.WriteString("similarity  candidate  missed\n")
	for i := 1; i <= 20; i++ {
		s := float64(i) / 20
		bar := strings.Repeat("#", int(math.Round(curveColumns*c.Candidate(s))))
		mark := ""
		if math.Abs(s-threshold) < 1e-9 {
			mark = " threshold"
		}
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%10.2f  %9.4f  %6.4f  %-*s%s", s, c.Candidate(s), c.Miss(s), curveColumns, bar, mark), " "))
	}
	fmt.Fprintf(&b, "\nFor pairs of all similarities, evenly spread: false positives %.4f, false negatives %.4f\n",
		c.FalsePositives(threshold), c.FalseNegatives(threshold))
	_, err := io.WriteString(w, b.String())
	return err
}
