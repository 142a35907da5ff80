package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

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
	judged string
	draw   paper.DrawOptions
}

const (
	drawnEach = 5   // pairs to be judged of each kind that a drawn page has
	maxDraw   = 142 // there are up to 14 kinds of 5 pairs, and 10,000 pairs at most in a sample
)

func paperCommand() *cobra.Command {
	var o paperOptions
	c := &cobra.Command{
		Use:   "paper [INPUT...]",
		Short: "Repeat the experiments of the TLCS paper on a labelled collection",
		Long: `Paper runs the experiments of section 4 of the TLCS paper over one extraction,
and writes their tables and figures. Labels stand for its judges, unless people
have judged:

  table 1     precision, and recall against simhash, of paper, cosine and simhash,
              overall and on one site; processor time; by labels, and by judges
              (--judged)
  table 2     what verifying costs without step 1 (sets) and without step 2
              (sketches); precision after steps 1 and 3
              causes of false positives, from a judged audit (--audit)
  figure 4    the edit curve of a near pair with its trustable region (figure 5)
  figure 6    coverage and trustable rate over the number of signatures
  figure 7    strain-away and reserve rate over the width of the window
  figure 8    precision over the slope, at a recall within sets (--recall, 0.90)

  neardup paper --truth example/crawl --out measured example/crawl.warc.gz

For table 1 by judges, the command draws pages, and writes pairs.jsonl with what
the three methods announce for them. Import the file into a workspace of the same
pages, judge in neardup serve, export it, and name it with --judged:

  neardup run --config paper --workspace ws example/crawl.warc.gz
  neardup audit import measured/pairs.jsonl --workspace ws
  neardup serve --workspace ws
  neardup audit export table1 --workspace ws --output judged.jsonl
  neardup paper --truth example/crawl --out measured --judged judged.jsonl ...

docs/format.md defines the rates and the labels. The experiments of two other
papers, on short texts, are "neardup paper tods" and "neardup paper simfinder".

` + inputHelp,
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	o.flags(c, "page.md, paper.json, tables 1 and 2, figures 4 to 8,\nand pairs.jsonl with the pairs to be judged")
	c.Flags().Lookup("config").Usage = "base, a preset or YAML file of the measure tlcs; default the preset paper"
	c.Flags().IntVar(&o.sample, "sample", 150, "documents to measure the rates on")
	c.Flags().Float64Var(&o.recall, "recall", 0.9, "recall within sets that figure 8 keeps")
	c.Flags().StringVar(&o.audit, "audit", "", "labels of neardup audit export, whose judges named causes")
	c.Flags().StringVar(&o.judged, "judged", "", "judged pairs.jsonl, for table 1")
	c.Flags().IntVar(&o.draw.Pages, "draw", 30, "pages whose near-duplicates are to be judged for table 1")
	c.Flags().Uint64Var(&o.draw.Seed, "seed", 1, "seed of the hashes that draw them")
	c.AddCommand(paperTODSCommand(), paperSimFinderCommand())
	return c
}

func (o *paperOptions) run(c *cobra.Command, args []string) error {
	var options trials.PaperOptions
	var causes *paper.Causes
	var judged audit.Labels
	return o.trial(c, args, func() (err error) {
		if options, err = o.options(c); err != nil {
			return err
		}
		if causes, err = readCauses(o.audit); err == nil && o.judged != "" {
			judged, err = readLabels("--judged", o.judged)
		}
		return err
	}, func(j *job) (func(io.Writer) error, error) {
		options.Begin = j.progress.variant
		result, drawn, near, err := trials.Paper(c.Context(), j.Workspace, j.inputs, options)
		if drawn == nil { // it ended early
			return nil, err
		}
		result.Causes = causes
		if o.judged != "" {
			result.Judged = drawn.Judge(judged)
		}
		pairs := drawn.Labels(judged, time.Now().UTC().Format(time.RFC3339))
		return func(stdout io.Writer) error { return o.write(stdout, result, pairs, options.Base, near) }, err
	})
}

// readCauses returns the causes of false positives by the labels of a sample. Without
// a name it returns nil.
func readCauses(name string) (*paper.Causes, error) {
	if name == "" {
		return nil, nil
	}
	labels, err := readLabels("--audit", name)
	switch {
	case err != nil:
		return nil, err
	case labels.Audit == nil:
		return nil, fmt.Errorf("--audit %s: it has judgements only; name the labels of a sample", name)
	}
	return paper.NewCauses(labels), nil
}

// readLabels reads the file of labels that a flag names.
func readLabels(flag, name string) (l audit.Labels, err error) {
	f, err := os.Open(name)
	if err != nil {
		return l, fmt.Errorf("%s: %w", flag, err)
	}
	defer f.Close()
	if l, err = audit.ReadLabels(f); err != nil {
		return l, fmt.Errorf("%s %s: %w", flag, name, err)
	}
	return l, nil
}

// options checks the flags before any work is done.
func (o *paperOptions) options(c *cobra.Command) (p trials.PaperOptions, err error) {
	switch {
	case o.truth == "":
		return p, errors.New("--truth: the experiments need labels")
	case o.out == "":
		return p, errors.New("--out: name a directory for the page and its figures")
	case o.sample < 1:
		return p, errors.New("--sample: at least 1")
	case o.draw.Pages < 0 || o.draw.Pages > maxDraw:
		return p, fmt.Errorf("--draw: %d is not from 0 to %d", o.draw.Pages, maxDraw)
	case !(o.recall > 0 && o.recall <= 1):
		return p, fmt.Errorf("--recall: %v is not above 0 and at most 1", o.recall)
	}
	if o.config == "" {
		o.config = "paper"
	}
	p.Name, p.Sample, p.Recall, p.Draw = filepath.Base(o.truth), o.sample, o.recall, o.draw
	p.Draw.Each = drawnEach
	if p.Base, err = o.load(c); err != nil {
		return p, err
	}
	if p.Base.Verify.Measure != configs.MeasureTLCS || p.Base.Pairs() {
		return p, errors.New("--config: the experiments are about perhaps-similar sets and the measure " + configs.MeasureTLCS)
	}
	if err := checkQuality(p.Base); err != nil {
		return p, err
	}
	p.Truth, p.TruthDigest, err = readTruth(o.truth)
	return p, err
}

// write writes the page and its figures. near is the pair of texts of figure 4; both
// are empty if there is none.
func (o *paperOptions) write(stdout io.Writer, r paper.Report, pairs audit.Labels, base configs.Config, near [2]string) error {
	files := map[string]func(io.Writer) error{"page.md": r.WritePage, "paper.json": r.WriteJSON,
		"table1.svg": r.WriteTable1, "table2.svg": r.WriteTable2, "figure6.svg": r.WriteFigure6, "figure7.svg": r.WriteFigure7, "figure8.svg": r.WriteFigure8}
	if len(pairs.Pairs) > 0 {
		files["pairs.jsonl"] = pairs.Write
	}
	if r.Judged != nil {
		files["table1-judged.svg"] = r.WriteJudgedTable1
	}
	var failure error
	if near[0] != "" {
		var e explain.Explanation
		e, failure = explain.Pair(base, explain.Side{Stored: near[0], Compared: near[0]}, explain.Side{Stored: near[1], Compared: near[1]}, explain.Between{Weighed: true})
		if failure == nil {
			files["figure4.svg"] = e.WriteSVG
		}
	}
	return errors.Join(writeFiles(o.out, files, oneOf("figure4.svg", "table1-judged.svg")), r.WritePage(stdout), failure)
}
