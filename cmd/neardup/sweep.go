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

	"neardup/pipeline/exports"
	"neardup/pipeline/trials"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/sweep"
	"neardup/truth"
)

// sweepOptions are the flags of neardup sweep.
type sweepOptions struct {
	trialOptions
	vary   []string
	grid   bool
	sample int
	repeat int
}

// errNothingKept reports that a run in a temporary workspace was interrupted.
var errNothingKept = errors.New("interrupted; a temporary workspace is removed: name one with --workspace to be able to go on")

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

func (o *sweepOptions) run(c *cobra.Command, args []string) (err error) {
	remove, err := o.temporary(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	options, err := o.options()
	if err != nil {
		return usageError{err}
	}
	if err := makeOut(o.out); err != nil {
		return err
	}
	j, err := o.open(c, true, args)
	if err != nil {
		return err
	}
	options.Begin = j.progress.variant
	result, failure := trials.Sweep(c.Context(), j.Workspace, j.inputs, options)
	if failure == nil || errors.Is(failure, workspace.ErrInputFailure) {
		failure = errors.Join(o.write(c.OutOrStdout(), result), failure)
	}
	return errors.Join(failure, j.Close())
}

// temporary makes a temporary workspace if none is named. It returns the function
// that removes it.
func (o *workOptions) temporary(c *cobra.Command) (remove func() error, err error) {
	if o.workspace != "" {
		return func() error { return nil }, nil
	}
	if o.workspace, err = os.MkdirTemp("", "neardup-"+c.Name()+"-"); err != nil {
		return nil, err
	}
	return func() error {
		err := os.RemoveAll(o.workspace)
		if c.Context().Err() != nil {
			err = errors.Join(err, errNothingKept)
		}
		return err
	}, nil
}

// options checks the flags before any work is done.
func (o *sweepOptions) options() (s trials.SweepOptions, err error) {
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
	s.Truth, s.TruthDigest, err = readTruth(o.truth)
	return s, err
}

// readTruth returns the labels of the files with a prefix, and a digest of these
// files. Without a prefix it returns nil.
func readTruth(prefix string) (t *truth.Truth, digest string, err error) {
	if prefix == "" {
		return nil, "", nil
	}
	var files [2][]byte
	h := sha256.New()
	for i, name := range []string{prefix + ".pages.tsv", prefix + ".truth.tsv"} {
		if files[i], err = os.ReadFile(name); err != nil {
			return nil, "", fmt.Errorf("--truth: %w", err)
		}
		fmt.Fprintf(h, "%d\n", len(files[i]))
		_, _ = h.Write(files[i])
	}
	if t, err = truth.Read(bytes.NewReader(files[0]), bytes.NewReader(files[1])); err != nil {
		return nil, "", fmt.Errorf("--truth %s: %w", prefix, err)
	}
	return t, fmt.Sprintf("%x", h.Sum(nil)), nil
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
	return writeFiles(o.out, files)
}

func writeTruthUse(out io.Writer, t *sweep.TruthUse) {
	if t != nil {
		fmt.Fprintf(out, "truth: %d pages, %d of them match no document\n", t.Pages, t.Missing)
	}
}

// makeOut creates the directory --out.
func makeOut(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usageError{fmt.Errorf("--out: %w", err)}
	}
	return nil
}

// writeFiles writes files into the directory --out, if it is given.
func writeFiles(dir string, files map[string]func(io.Writer) error) error {
	if dir == "" {
		return nil
	}
	for name, write := range files {
		if err := exports.ExportFile(filepath.Join(dir, name), write); err != nil {
			return err
		}
	}
	return nil
}

// variant sets the variant that the following stages belong to.
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
