package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"neardup/compare"
	"neardup/pipeline/trials"
	"neardup/report"
)

// compareOptions are the flags of neardup compare.
type compareOptions struct {
	trialOptions
	methods  []string
	curves   bool
	disputed int
	against  string
}

func compareCommand() *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare [INPUT...]",
		Short: "Run methods over one extraction, and compare quality and cost",
		Long: `Compare runs each method over the same pages. A method is a preset or a config
file. All methods have the section extract of the base (--config), so there is
one extraction. Everything else is the method's own, changed only by --set.

  neardup compare --methods default,paper --truth example/crawl --curves \
    --show-disagreements 2 --out compared example/crawl.warc.gz

It prints for each method the pairs that it compares and finds near, its
clusters, and its time and memory by stage. For each two methods it prints the
pairs of pages that both join, and those that only one joins. With --truth
PREFIX (see neardup sweep) it scores the clusters. With --curves it draws
precision and recall over each method's threshold. --show-disagreements N shows
pairs that the first method joins and another does not, and the reverse: N of
each for each other method, labelled pairs first. docs/format.md describes all
numbers and the files of --out.

` + inputHelp,
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	o.flags(c, "compare.json, compare.csv, cost.svg,\nquality.svg (with labels) and curves.svg (with curves)")
	f := c.Flags()
	f.Lookup("config").Usage = "base, a preset or YAML file; only its section extract counts;\ndefault the workspace's own config, in a new one the preset default"
	f.Lookup("set").Usage = "setting to change in the base and every method, SECTION.KEY=VALUE; may be repeated"
	f.StringSliceVar(&o.methods, "methods", compare.Presets(), "presets or YAML files; disagreements are between the first and each other")
	f.BoolVar(&o.curves, "curves", false, "compute precision and recall over each method's threshold; needs --truth")
	f.StringVar(&o.against, "recall-against", "", "method whose recall is 1 (TLCS paper, table 1: simhash); needs --truth")
	f.IntVar(&o.disputed, "show-disagreements", 0, "disputed pairs to show of the first method and each other one, each way")
	return c
}

func (o *compareOptions) run(c *cobra.Command, args []string) error {
	var options trials.CompareOptions
	return o.trial(c, args, func() (err error) {
		options, err = o.options(c)
		return err
	}, func(j *job) (func(io.Writer) error, error) {
		options.Begin = j.progress.variant
		result, err := trials.Compare(c.Context(), j.Workspace, j.inputs, options)
		return func(stdout io.Writer) error { return o.write(stdout, result) }, err
	})
}

// options checks the flags before any work is done.
func (o *compareOptions) options(c *cobra.Command) (p trials.CompareOptions, err error) {
	if o.disputed < 0 {
		return p, fmt.Errorf("--show-disagreements: %d is negative", o.disputed)
	}
	if o.curves && o.truth == "" {
		return p, errors.New("--curves: there is no precision without labels; name some with --truth")
	}
	if o.against != "" && o.truth == "" {
		return p, errors.New("--recall-against: there is no recall without labels; name some with --truth")
	}
	p.Disputed, p.Baseline = o.disputed, o.against
	base, err := o.load(c)
	if err != nil {
		return p, err
	}
	if p.Plan, err = compare.NewPlan(base, o.methods, o.settings(), o.curves); err != nil {
		return p, err
	}
	for _, m := range p.Plan.Methods {
		if err := checkQuality(m.Config); err != nil {
			return p, err
		}
	}
	if o.against != "" && !slices.ContainsFunc(p.Plan.Methods, func(m compare.Planned) bool { return m.Name == o.against }) {
		return p, fmt.Errorf("--recall-against: %s is none of the methods", o.against)
	}
	p.Truth, p.TruthDigest, err = readTruth(o.truth)
	return p, err
}

func (o *compareOptions) write(stdout io.Writer, r compare.Comparison) error {
	if err := r.WriteText(stdout); err != nil {
		return err
	}
	writeTruthUse(stdout, r.Truth)
	fmt.Fprintln(stdout, report.Terms)
	files := map[string]func(io.Writer) error{"compare.json": r.WriteJSON, "compare.csv": r.WriteCSV, "cost.svg": r.WriteCostSVG}
	if r.Truth != nil {
		files["quality.svg"] = r.WriteQualitySVG
	}
	if len(r.Curves) > 0 {
		files["curves.svg"] = r.WriteCurvesSVG
	}
	return writeFiles(o.out, files, oneOf("quality.svg", "curves.svg"))
}
