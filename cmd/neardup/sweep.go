package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"neardup/pipeline"
	"neardup/sweep"
	"neardup/truth"
)

// sweepOptions are the flags of neardup sweep.
type sweepOptions struct {
	workOptions
	truth  string
	vary   []string
	grid   bool
	sample int
	repeat int
	out    string
}

// errNothingKept is about an interrupted sweep in a temporary workspace.
var errNothingKept = errors.New("interrupted; a temporary workspace is removed: name one with --workspace to be able to go on")

func sweepCommand() *cobra.Command {
	var o sweepOptions
	c := &cobra.Command{
		Use:   "sweep [INPUT...]",
		Short: "Vary settings, and compare what comes out and what it costs",
		Long: `Sweep runs all stages with the config (the base) and again with each value of
the settings to vary, one setting after another, or with --grid in all
combinations. Only stages whose settings differ are redone. It prints the
quality, counts and cost of each variant.

  neardup sweep --truth example/crawl --vary verify.window=4,8,16,32 \
    --vary cluster.merge=following,direct --out sweep example/crawl.warc.gz

With --truth PREFIX the clusters are scored against the labels in
PREFIX.pages.tsv and PREFIX.truth.tsv: precision, recall and F1 averaged over
pages, and over pairs. The rates are those of the TLCS paper, section 4:
coverage and trustable rate of the perhaps-similar sets (by the verdicts and,
with labels, by those), strain-away and reserve rate of the sketches.
docs/format.md defines them, the labels and the files of --out.

` + inputHelp,
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	o.configFlags(c)
	o.inputFlags(c)
	f := c.Flags()
	f.StringVarP(&o.workspace, "workspace", "w", "", "workspace to work in, and to go on in when interrupted;\nwithout it a temporary one")
	f.IntVar(&o.workers, "workers", 0, "goroutines that work; 0: one a processor")
	f.StringVar(&o.progress, "progress", "auto", "auto, bar, plain, json or none")
	f.StringVar(&o.truth, "truth", "", "prefix of the two files of labels")
	f.StringArrayVar(&o.vary, "vary", nil, "setting to vary, SECTION.KEY=V1,V2,...; may be repeated")
	f.BoolVar(&o.grid, "grid", false, "all combinations of the values")
	f.IntVar(&o.sample, "sample", 150, "documents that the rates are measured on; 0: no rates")
	f.IntVar(&o.repeat, "repeat", 1, "runs of each variant, of which the least cost counts")
	f.StringVarP(&o.out, "out", "o", "", "directory for sweep.json, sweep.csv and a plot of each number varied")
	return c
}

func (o *sweepOptions) run(c *cobra.Command, args []string) (err error) {
	if o.workspace == "" {
		if o.workspace, err = os.MkdirTemp("", "neardup-sweep-"); err != nil {
			return err
		}
		defer func() {
			if c.Context().Err() != nil {
				err = errors.Join(err, errNothingKept)
			}
			err = errors.Join(err, os.RemoveAll(o.workspace))
		}()
	}
	options, err := o.options()
	if err != nil {
		return usageError{err}
	}
	if o.out != "" {
		if err := os.MkdirAll(o.out, 0o777); err != nil {
			return usageError{fmt.Errorf("--out: %w", err)}
		}
	}
	j, err := o.open(c, true, args)
	if err != nil {
		return err
	}
	options.Begin = j.progress.variant
	result, failure := j.Sweep(c.Context(), j.inputs, options)
	if failure == nil || errors.Is(failure, pipeline.ErrInputFailure) {
		failure = errors.Join(o.write(c.OutOrStdout(), result), failure)
	}
	return errors.Join(failure, j.Close())
}

// options checks everything that can be wrong before any work is done.
func (o *sweepOptions) options() (s pipeline.SweepOptions, err error) {
	if o.sample < 0 {
		return s, fmt.Errorf("--sample: %d is negative", o.sample)
	}
	if o.repeat < 1 {
		return s, fmt.Errorf("--repeat: %d is under 1", o.repeat)
	}
	s.Sample, s.Repeat = o.sample, o.repeat
	base, err := o.load()
	if err != nil {
		return s, err
	}
	if s.Plan, err = sweep.NewPlan(base, o.vary, o.grid); err != nil {
		return s, err
	}
	if o.truth == "" {
		return s, nil
	}
	var files [2][]byte
	digest := sha256.New()
	for i, name := range []string{o.truth + ".pages.tsv", o.truth + ".truth.tsv"} {
		if files[i], err = os.ReadFile(name); err != nil {
			return s, fmt.Errorf("--truth: %w", err)
		}
		fmt.Fprintf(digest, "%d\n", len(files[i]))
		_, _ = digest.Write(files[i])
	}
	s.TruthDigest = fmt.Sprintf("%x", digest.Sum(nil))
	if s.Truth, err = truth.Read(bytes.NewReader(files[0]), bytes.NewReader(files[1])); err != nil {
		return s, fmt.Errorf("--truth %s: %w", o.truth, err)
	}
	return s, nil
}

func (o *sweepOptions) write(stdout io.Writer, s sweep.Sweep) error {
	if err := s.WriteText(stdout); err != nil {
		return err
	}
	if t := s.Truth; t != nil {
		fmt.Fprintf(stdout, "truth: %d pages, %d of them match no document\n", t.Pages, t.Missing)
	}
	if o.out == "" {
		return nil
	}
	files := map[string]func(io.Writer) error{"sweep.json": s.WriteJSON, "sweep.csv": s.WriteCSV}
	for _, p := range s.Plots() {
		files[p.Key+".svg"] = p.WriteSVG
	}
	for name, write := range files {
		if err := pipeline.ExportFile(filepath.Join(o.out, name), write); err != nil {
			return err
		}
	}
	return nil
}

// variant names the variant that the stages are about from now on.
func (p *progress) variant(name string, place, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log == nil {
		return
	}
	if p.bars {
		fmt.Fprintf(p.out, "%d of %d: %s\n", place, of, strings.TrimSpace(name))
		return
	}
	if p.plain == nil {
		p.plain = p.log
	}
	p.log = p.plain.With("variant", name, "place", place, "of", of)
}
