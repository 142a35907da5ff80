package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"neardup/pipeline/trials"
	"neardup/report"
	"neardup/sweep"
)

// sweepOptions are the flags of neardup sweep.
type sweepOptions struct {
	trialOptions
	vary   []string
	grid   bool
	sample int
	repeat int
}

func sweepCommand() *cobra.Command {
	var o sweepOptions
	c := &cobra.Command{
		Use:   "sweep [INPUT...]",
		Short: "Vary settings, and compare quality and cost",
		Long: `Sweep runs all stages with the config (the base), and again with each value of
the settings to vary: one setting after another, or with --grid all combinations.
It redoes only stages whose settings differ. It prints the quality, counts and
cost of each variant.

  neardup sweep --truth example/crawl --vary verify.window=4,8,16,32 \
    --vary cluster.merge=following,direct --out sweep example/crawl.warc.gz

With --truth PREFIX the clusters are scored against the labels in
PREFIX.pages.tsv and PREFIX.truth.tsv: precision, recall and F1 averaged over
pages, and over pairs. Precision of pages comes twice: the paper's, of the pages
that have an announced near-duplicate (ann.), and with all others counted as
right (page). The rates are those of the TLCS paper, section 4:
coverage and trustable rate of the perhaps-similar sets (by the verdicts and,
with labels, by those), strain-away and reserve rate of the sketches.
docs/format.md defines them, the labels and the files of --out.

` + inputHelp,
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	o.flags(c, "sweep.json, sweep.csv and a plot of each varied number")
	f := c.Flags()
	f.StringArrayVar(&o.vary, "vary", nil, "setting to vary, SECTION.KEY=V1,V2,...; may be repeated")
	f.BoolVar(&o.grid, "grid", false, "run all combinations of the values")
	f.IntVar(&o.sample, "sample", 150, "documents to measure the rates on; 0: no rates")
	f.IntVar(&o.repeat, "repeat", 1, "runs of each variant; the lowest cost counts")
	return c
}

func (o *sweepOptions) run(c *cobra.Command, args []string) error {
	var options trials.SweepOptions
	return o.trial(c, args, func() (err error) {
		options, err = o.options(c)
		return err
	}, func(j *job) (func(io.Writer) error, error) {
		options.Begin = j.progress.variant
		result, err := trials.Sweep(c.Context(), j.Workspace, j.inputs, options)
		return func(stdout io.Writer) error { return o.write(stdout, result) }, err
	})
}

// options checks the flags before any work is done.
func (o *sweepOptions) options(c *cobra.Command) (s trials.SweepOptions, err error) {
	if o.sample < 0 {
		return s, fmt.Errorf("--sample: %d is negative", o.sample)
	}
	if o.repeat < 1 {
		return s, fmt.Errorf("--repeat: %d is under 1", o.repeat)
	}
	s.Sample, s.Repeat = o.sample, o.repeat
	base, err := o.load(c)
	if err != nil {
		return s, err
	}
	if s.Plan, err = sweep.NewPlan(base, o.vary, o.grid); err != nil {
		return s, err
	}
	for _, v := range s.Plan.Variants {
		if err := checkQuality(v.Config); err != nil {
			return s, err
		}
	}
	s.Truth, s.TruthDigest, err = readTruth(o.truth)
	return s, err
}

func (o *sweepOptions) write(stdout io.Writer, s sweep.Sweep) error {
	if err := s.WriteText(stdout); err != nil {
		return err
	}
	writeTruthUse(stdout, s.Truth)
	fmt.Fprintln(stdout, report.Terms)
	files := map[string]func(io.Writer) error{"sweep.json": s.WriteJSON, "sweep.csv": s.WriteCSV}
	for _, p := range s.Plots() {
		files[p.Key+".svg"] = p.WriteSVG
	}
	return writeFiles(o.out, files, func(name string) bool {
		key, isPlot := strings.CutSuffix(name, ".svg")
		_, err := s.Base.Value(key)
		return isPlot && strings.Contains(key, ".") && err == nil
	})
}
