package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// curvesCommand prints the probabilities of minhash-lsh.
func curvesCommand() *cobra.Command {
	o := workOptions{config: "minhash-lsh"}
	c := &cobra.Command{
		Use:   "curves",
		Short: "Print the curves of false positives and negatives of MinHash",
		Long: `Curves prints how likely a pair of texts becomes a candidate at each similarity,
for the bands of min-hashes of a config (sign.minhash). Below the threshold
these are the false positives; above it, the rest is missed (TODS 2011, section
8.1.1). Similarity is Jaccard's coefficient of the shingles.

  neardup config curves --set sign.minhash.threshold=0.8`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := o.load(c)
			if err != nil {
				return err
			}
			if err := config.Sign.MinHash.Validate(); err != nil {
				return usageError{fmt.Errorf("sign.minhash.%w", err)}
			}
			return config.Sign.MinHash.LSH().WriteCurves(c.OutOrStdout(), config.Sign.MinHash.Threshold)
		},
	}
	c.Flags().StringVarP(&o.config, "config", "c", o.config, "preset or YAML file")
	c.Flags().StringArrayVar(&o.set, "set", nil, "setting to change in the config, SECTION.KEY=VALUE; may be repeated")
	return c
}
