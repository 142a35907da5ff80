package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"neardup/configs"
	"neardup/pipeline/exports"
	"neardup/pipeline/results"
	"neardup/pipeline/textjoin"
	"neardup/pipeline/workspace"
)

// joinOptions are the flags of neardup join.
type joinOptions struct {
	textjoin.Options
	set      []string
	progress string
	format   string
	output   string
}

// errJoinInterrupted is the error of an interrupted join.
var errJoinInterrupted = errors.New("interrupted; nothing is kept of a join")

func joinCommand() *cobra.Command {
	var o joinOptions
	c := &cobra.Command{
		Use:   "join INPUT [INPUT]",
		Short: "Find all similar pairs of texts, exactly, without a workspace",
		Long: `Join finds all pairs of texts whose similarity reaches a threshold. With one
INPUT, both texts are of that collection. With two, one is of each. Join is for
titles, descriptions, catalogue records and other texts where every pair counts.
For near-duplicate pages of a crawl use neardup run.

  neardup join titles.tsv --tokens characters --threshold 0.9
  neardup join old.jsonl new.jsonl --measure cosine --weights idf
  neardup join names.tsv --measure edit --threshold 2

Similarity is computed from the tokens of the texts: words in lower case, unless
--tokens says otherwise. jaccard and cosine are from 0 to 1. overlap is the
number of common tokens (with --weights idf their weight). edit is the edit
distance; the threshold is its maximum. The result is exact. The algorithm
changes only the cost (Xiao and others, Efficient similarity joins for
near-duplicate detection, 2011). Pairs go to standard output or --output, sorted
by id. The order of the input and the number of workers do not matter. Counts of
each filter go to standard error.

An INPUT is a text collection (ID<TAB>TEXT lines or JSON lines), a WARC, ARC or
WACZ file, a directory of such, a pattern, or - for standard input. The id of a
page is its WARC-Record-ID. All texts are in memory, at most --max-bytes of them.
The join takes several times as much, for q-grams of long texts about twenty
times.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageError{errors.New("nothing to join: name a collection of texts, or two")}
			case len(args) > 2:
				return noArgs(nil, args[2:])
			case len(args) == 2 && args[0] == "-" && args[1] == "-":
				return usageError{errors.New("standard input can be one of the two collections only")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			err := o.run(c, args)
			if err != nil && c.Context().Err() != nil {
				err = errors.Join(err, errJoinInterrupted)
			}
			return err
		},
	}
	f := c.Flags()
	words := func(names []string) string { return strings.Join(names, ", ") }
	f.StringVarP(&o.Measure, "measure", "m", "jaccard", words(configs.JoinMeasures))
	f.Float64VarP(&o.Threshold, "threshold", "t", 0, "least similarity, 0.8 for jaccard and cosine unless given;\nfor edit the greatest distance")
	f.StringVar(&o.Weights, "weights", "none", "weights of tokens: "+words(configs.JoinWeights)+" (rare ones weigh more)")
	f.StringVar(&o.Tokens, "tokens", "", words(configs.JoinTokens)+": cut at white space; runs of letters and\ndigits, ideographs one by one; characters (default words, for edit characters)")
	f.IntVarP(&o.Size, "size", "q", 1, "consecutive units in a token; default for characters 3, for edit 2")
	f.BoolVar(&o.Repeats, "repeats", false, "a token counts as often as it occurs")
	f.StringVar(&o.Algorithm, "algorithm", "ppjoin", words(configs.JoinAlgorithms))
	f.IntVar(&o.MaxDepth, "max-depth", 2, "MAXDEPTH of the suffix filter of ppjoinplus")
	f.IntVar(&o.Extra, "extra", 0, "further tokens of each prefix, and further common ones demanded")
	f.BoolVar(&o.Bitmaps, "bitmaps", true, "filter by bitmaps, too (not with weights)")
	f.IntVar(&o.Workers, "workers", 0, "number of workers; 0: one for each processor")
	f.Int64Var(&o.MaxBytes, "max-bytes", 2<<30, "of text to hold in memory")
	f.Int64Var(&o.MaxPairs, "max-pairs", 50_000_000, "pairs to hold in memory, 16 bytes each")
	f.StringArrayVar(&o.set, "set", nil, "setting of the extraction, extract.KEY=VALUE; may be repeated")
	f.StringVarP(&o.format, "format", "f", "tsv", words(textjoin.Formats)+" (to read)")
	f.StringVarP(&o.output, "output", "o", "", "file to write, whole or not at all; default standard output")
	f.StringVar(&o.progress, "progress", "auto", "auto, bar, plain, json or none (no summary either)")
	return c
}

// check fills in defaults and checks the flags before any work is done.
func (o *joinOptions) check(c *cobra.Command) (configs.Config, error) {
	edit := o.Measure == configs.JoinEdit
	if !c.Flags().Changed("threshold") {
		if o.Measure == configs.JoinOverlap || edit {
			return configs.Config{}, fmt.Errorf("--threshold: %s has no default, give one", o.Measure)
		}
		o.Threshold = 0.8
	}
	if edit {
		if o.Distance = int(o.Threshold); float64(o.Distance) != o.Threshold {
			return configs.Config{}, fmt.Errorf("--threshold: %v is not a number of edits", o.Threshold)
		}
	}
	if o.Tokens == "" {
		o.Tokens = "words"
		if edit {
			o.Tokens = configs.JoinCharacters
		}
	}
	if !c.Flags().Changed("size") {
		switch {
		case edit:
			o.Size = 2
		case o.Tokens == configs.JoinCharacters:
			o.Size = 3
		}
	}
	if err := o.Validate(); err != nil {
		key, problem, _ := strings.Cut(err.Error(), ":")
		if key = strings.ReplaceAll(key, "_", "-"); key == "distance" {
			key = "threshold"
		}
		return configs.Config{}, fmt.Errorf("--%s:%s", key, problem)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if !slices.Contains(textjoin.Formats, o.format) {
		return configs.Config{}, fmt.Errorf("--format: there is no %q; there are %s", o.format, strings.Join(textjoin.Formats, ", "))
	}
	for _, s := range o.set {
		if !strings.HasPrefix(s, "extract.") {
			return configs.Config{}, fmt.Errorf("--set %s: a join has only settings of extract", s)
		}
	}
	return configs.Load("default", o.set)
}

func (o *joinOptions) run(c *cobra.Command, args []string) (err error) {
	config, err := o.check(c)
	if err != nil {
		return usageError{err}
	}
	p, err := newProgress(o.progress, c.ErrOrStderr())
	if err != nil {
		return usageError{err}
	}
	find := workOptions{}
	if slices.ContainsFunc(args, workspace.IsStream) { // is copied to a file
		if find.workspace, err = os.MkdirTemp("", "neardup-join-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(find.workspace)) }()
	}
	var sources [][]workspace.Source
	for _, arg := range args {
		found, err := find.inputs(c, []string{arg}, config, p)
		if err != nil {
			return err
		}
		sources = append(sources, found)
	}
	return o.join(c, args, sources, config, p)
}

func (o *joinOptions) join(c *cobra.Command, args []string, sources [][]workspace.Source, config configs.Config, p *progress) error {
	var collections [][]textjoin.Text
	var counts []results.ExtractCounts
	var unread error
	left := o.MaxBytes
	for i, s := range sources {
		texts, count, err := textjoin.Read(c.Context(), s, config.Extract, left, o.Workers, p)
		switch {
		case errors.Is(err, textjoin.ErrTooMuchText):
			return fmt.Errorf("%s: %w: over --max-bytes %d", args[i], textjoin.ErrTooMuchText, o.MaxBytes)
		case errors.Is(err, workspace.ErrInputFailure) && count.Records > 0:
			unread = errors.Join(unread, err)
		case err != nil:
			return err
		}
		for _, t := range texts {
			left -= int64(len(t.ID) + len(t.Text))
		}
		collections, counts = append(collections, texts), append(counts, count)
	}
	result, err := textjoin.Join(c.Context(), o.Options, collections...)
	if errors.Is(err, textjoin.ErrTooManyPairs) {
		return fmt.Errorf("%w (--max-pairs)", err)
	}
	if err != nil {
		return err
	}
	write := func(out io.Writer) error { return result.Write(out, o.format) }
	if o.output == "" || o.output == "-" {
		err = write(c.OutOrStdout())
	} else {
		err = exports.ExportFile(o.output, write)
	}
	if err == nil && o.progress != "none" {
		err = result.WriteSummary(c.ErrOrStderr(), counts...)
	}
	return errors.Join(err, unread)
}
