package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"neardup/signature/minhash"
)

// curvesCommand prints what minhash-lsh promises.
func curvesCommand() *cobra.Command {
	o := workOptions{config: "minhash-lsh"}
	c := &cobra.Command{
		Use:   "curves",
		Short: "Print the curves of false positives and negatives of MinHash",
		Long: `Curves prints, for the bands of min-hashes of a config (sign.minhash), with which
probability a pair of texts of a similarity becomes a candidate: for pairs below
the threshold the false positives, for the others what is missed of them (TODS
2011, section 8.1.1). Similarity is Jaccard's coefficient of the shingles.

  neardup config curves --set sign.minhash.threshold=0.8`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := o.load()
			if err != nil {
				return err
			}
			if err := config.Sign.MinHash.Validate(); err != nil {
				return usageError{fmt.Errorf("sign.minhash.%w", err)}
			}
			return writeCurves(c.OutOrStdout(), config.Sign.MinHash.LSH(), config.Sign.MinHash.Threshold)
		},
	}
	c.Flags().StringVarP(&o.config, "config", "c", o.config, "preset or YAML file")
	c.Flags().StringArrayVar(&o.set, "set", nil, "one setting over the config, SECTION.KEY=VALUE; may be repeated")
	return c
}

const curveColumns = 40 // of the bars

func writeCurves(w io.Writer, lsh minhash.LSH, threshold float64) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d bands of %d rows, %d min-hashes a text; pairs of similarity %g are candidates with probability %.4f\n\n",
		lsh.Bands, lsh.Rows, lsh.Components(), threshold, lsh.Candidate(threshold))
	b.WriteString("similarity  candidate  missed\n")
	for i := 1; i <= 20; i++ {
		s := float64(i) / 20
		bar := strings.Repeat("#", int(math.Round(curveColumns*lsh.Candidate(s))))
		mark := ""
		if math.Abs(s-threshold) < 1e-9 {
			mark = " threshold"
		}
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%10.2f  %9.4f  %6.4f  %-*s%s", s, lsh.Candidate(s), lsh.Miss(s), curveColumns, bar, mark), " "))
	}
	fmt.Fprintf(&b, "\nFor pairs of all similarities, evenly spread: false positives %.4f, false negatives %.4f\n",
		lsh.FalsePositives(threshold), lsh.FalseNegatives(threshold))
	_, err := io.WriteString(w, b.String())
	return err
}
