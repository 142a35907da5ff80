package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"neardup/audit"
	"neardup/configs"
	"neardup/explain"
	"neardup/paper"
	"neardup/pipeline/trials"
)

// paperOptions are the flags of neardup paper.
type paperOptions struct {
	trialOptions
	sample int
	recall float64
	audit  string
}

func paperCommand() *cobra.Command {
	var o paperOptions
	c := &cobra.Command{
		Use:   "paper [INPUT...]",
		Short: "Repeat the experiments of the TLCS paper on a labelled collection",
		Long: `Paper runs the experiments of section 4 of the TLCS paper over one extraction,
with labels in the place of its judges, and writes their tables and figures:

  table 1     precision, and recall against simhash, of paper, cosine and simhash,
              overall and on one site; processor time
  table 2     what verifying costs without step 1 (sets) and without step 2
              (sketches); precision after steps 1 and 3
              causes of false positives, from a judged audit (--audit)
  figure 4    the edit curve of a near pair with its trustable region (figure 5)
  figure 6    coverage and trustable rate over the number of signatures
  figure 7    strain-away and reserve rate over the width of the window
  figure 8    precision over the slope, at a recall within sets (--recall, 0.90)

  neardup paper --truth example/crawl --out measured example/crawl.warc.gz

docs/format.md defines the rates and the labels. The experiments of two other
papers, on short texts, are "neardup paper tods" and "neardup paper simfinder".

` + inputHelp,
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	o.flags(c, "page.md, paper.json, tables 1 and 2 and figures 4 to 8")
	c.Flags().Lookup("config").Usage = "base, a preset or YAML file of the measure tlcs; default the preset paper"
	c.Flags().IntVar(&o.sample, "sample", 150, "documents to measure the rates on")
	c.Flags().Float64Var(&o.recall, "recall", 0.9, "recall within sets that figure 8 keeps")
	c.Flags().StringVar(&o.audit, "audit", "", "labels of neardup audit export, whose judges named causes")
	c.AddCommand(paperTODSCommand(), paperSimFinderCommand())
	return c
}

func (o *paperOptions) run(c *cobra.Command, args []string) error {
	var options trials.PaperOptions
	var causes *paper.Causes
	return o.trial(c, args, func() (err error) {
		if options, err = o.options(); err == nil {
			causes, err = readCauses(o.audit)
		}
		return err
	}, func(j *job) (func(io.Writer) error, error) {
		options.Begin = j.progress.variant
		result, near, err := trials.Paper(c.Context(), j.Workspace, j.inputs, options)
		result.Causes = causes
		return func(stdout io.Writer) error { return o.write(stdout, result, options.Base, near) }, err
	})
}

// readCauses returns the causes of false positives by the labels of a sample. Without
// a name it returns nil.
func readCauses(name string) (*paper.Causes, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--audit: %w", err)
	}
	defer f.Close()
	labels, err := audit.ReadLabels(f)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--audit %s: %w", name, err)
	case labels.Audit == nil:
		return nil, fmt.Errorf("--audit %s: it has judgements only; name the labels of a sample", name)
	}
	return paper.NewCauses(labels), nil
}

// options checks the flags before any work is done.
func (o *paperOptions) options() (p trials.PaperOptions, err error) {
	switch {
	case o.truth == "":
		return p, errors.New("--truth: the experiments need labels")
	case o.out == "":
		return p, errors.New("--out: name a directory for the page and its figures")
	case o.sample < 1:
		return p, errors.New("--sample: at least 1")
	case !(o.recall > 0 && o.recall <= 1):
		return p, fmt.Errorf("--recall: %v is not above 0 and at most 1", o.recall)
	}
	if o.config == "" {
		o.config = "paper"
	}
	p.Name, p.Sample, p.Recall = filepath.Base(o.truth), o.sample, o.recall
	if p.Base, err = o.load(); err != nil {
		return p, err
	}
	if p.Base.Verify.Measure != configs.MeasureTLCS || p.Base.Pairs() {
		return p, errors.New("--config: the experiments are about perhaps-similar sets and the measure " + configs.MeasureTLCS)
	}
	p.Truth, p.TruthDigest, err = readTruth(o.truth)
	return p, err
}

// write writes the page and its figures. near is the pair of texts of figure 4; both
// are empty if there is none.
func (o *paperOptions) write(stdout io.Writer, r paper.Report, base configs.Config, near [2]string) error {
	files := map[string]func(io.Writer) error{"page.md": r.WritePage, "paper.json": r.WriteJSON,
		"table1.svg": r.WriteTable1, "table2.svg": r.WriteTable2, "figure6.svg": r.WriteFigure6, "figure7.svg": r.WriteFigure7, "figure8.svg": r.WriteFigure8}
	var failure error
	if near[0] != "" {
		var e explain.Explanation
		e, failure = explain.Pair(base, explain.Side{Stored: near[0], Compared: near[0]}, explain.Side{Stored: near[1], Compared: near[1]}, explain.Between{Weighed: true})
		if failure == nil {
			files["figure4.svg"] = e.WriteSVG
		}
	}
	return errors.Join(writeFiles(o.out, files), r.WritePage(stdout), failure)
}
