package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"neardup/audit"
	"neardup/pipeline/browsing"
	"neardup/pipeline/exports"
	"neardup/review"
	"neardup/screen"
)

func auditCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Measure the precision of clusters by judging samples of pairs",
		Long: `Audit draws a sample of pairs of pages from the clusters. People judge whether
the main content of each pair is identical. The result is the precision of the
clusters with a 95% interval. Judges work in neardup serve or with neardup audit
record. Judgements are kept by pair of record ids and survive reruns.
docs/audit.md says what each sample estimates, and how.`,
		Args: noCommand,
		RunE: showHelp,
	}
	c.AddCommand(auditDraw(), auditList(), auditItem(), auditRecord(), auditResult(), auditExport(), auditImport())
	return c
}

// auditOptions are the flags of all subcommands.
type auditOptions struct {
	workOptions
	json bool
}

func (o *auditOptions) flags(c *cobra.Command, hasJSON bool) {
	o.workspaceFlag(c)
	o.tempFlag(c)
	if hasJSON {
		c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	}
}

// with opens the workspace, calls do, and closes the workspace.
func (o *auditOptions) with(c *cobra.Command, do func(j *job, r *browsing.Review) error) error {
	o.progress, o.read = "none", true
	j, err := o.open(c, false, nil)
	if err != nil {
		return err
	}
	err = errors.Join(do(j, browsing.Auditor(j.Workspace)), j.Close())
	if errors.Is(err, review.ErrNotFound) {
		return usageError{errors.New(strings.TrimPrefix(err.Error(), review.ErrNotFound.Error()+": "))}
	}
	return err
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// arguments returns a usage error if the number of args is not the wanted one.
func arguments(args []string, want ...string) error {
	if len(args) != len(want) {
		return usageError{fmt.Errorf("want %s, not %d arguments", strings.Join(want, " "), len(args))}
	}
	return nil
}

// auditName checks the arguments and returns the first, which must be the name of
// an audit.
func auditName(args []string, want ...string) error {
	if err := arguments(args, want...); err != nil {
		return err
	}
	return asUsage(audit.CheckName(args[0]))
}

// flagged is a usage error about the flag whose name begins the message.
func flagged(err error) error {
	if err != nil {
		return usageError{fmt.Errorf("--%w", err)}
	}
	return nil
}

func auditDraw() *cobra.Command {
	var o auditOptions
	var d audit.Design
	c := &cobra.Command{
		Use:   "draw NAME",
		Short: "Draw a sample of pairs",
		Long: `Draw draws a sample of pairs and keeps it under a name. The same clusters, seed
and options give the same sample. A larger size contains the smaller sample.

  pages      a random page of all clusters, and another random page of its
             cluster; the share of true pairs is the paper's precision
  verified   a random page with the one that it was verified against; with
             --stratified equally many of each stratum, by site and score`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(auditName(args, "NAME"), flagged(d.Check())); err != nil {
				return err
			}
			return o.with(c, func(_ *job, r *browsing.Review) error {
				a, err := r.Draw(c.Context(), args[0], d)
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(c.OutOrStdout(), a)
				}
				return writeAudit(c.OutOrStdout(), a)
			})
		},
	}
	o.flags(c, true)
	c.Flags().IntVar(&d.Size, "size", 200, fmt.Sprintf("pairs, at most %d", audit.MaxSize))
	c.Flags().Uint64Var(&d.Seed, "seed", 1, "seed of the hashes that draw the pairs")
	c.Flags().StringVar((*string)(&d.Population), "population", string(audit.Pages), "population to draw pairs from: pages or verified")
	c.Flags().BoolVar(&d.Stratified, "stratified", false, "equally many pairs of each stratum, by site and score; needs --population verified")
	c.Flags().BoolVar(&d.Different, "different", false, "only pairs whose texts differ")
	return c
}

func auditList() *cobra.Command {
	var o auditOptions
	c := &cobra.Command{
		Use:   "list",
		Short: "List the samples",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.with(c, func(_ *job, r *browsing.Review) error {
				all, err := r.Audits(c.Context())
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(c.OutOrStdout(), append([]audit.Audit{}, all...))
				}
				for _, a := range all {
					fmt.Fprintln(c.OutOrStdout(), auditLine(a))
				}
				return nil
			})
		},
	}
	o.flags(c, true)
	return c
}

func auditItem() *cobra.Command {
	var o auditOptions
	var plain bool
	var lines int
	c := &cobra.Command{
		Use:   "item NAME N",
		Short: "Show a pair of a sample, and how its texts differ",
		Long: `Item shows the N-th pair of a sample, from 1: its pages as they were when the
sample was drawn, its judgements, and the explanation of neardup explain.`,
		RunE: func(c *cobra.Command, args []string) error {
			n, err := itemNumber(args, "NAME", "N")
			if err := errors.Join(err, checkDiffLines(lines)); err != nil {
				return err
			}
			return o.with(c, func(j *job, r *browsing.Review) error {
				return showItem(c, j, r, args[0], n, itemStyle{o.json, plain, lines})
			})
		},
	}
	o.flags(c, true)
	c.Flags().BoolVar(&plain, "plain", false, "draw in ASCII and without colours; pipes and NO_COLOR have no colours anyway")
	c.Flags().IntVar(&lines, "diff-lines", 60, "lines of the aligned texts to show; -1: all")
	return c
}

// itemNumber checks the arguments and returns the index of the item. The second
// argument is its number, which counts from 1.
func itemNumber(args []string, want ...string) (int, error) {
	if err := auditName(args, want...); err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 1 {
		return 0, usageError{fmt.Errorf("%q is not the number of a pair; pairs are numbered from 1", args[1])}
	}
	return n - 1, nil
}

func auditRecord() *cobra.Command {
	var o auditOptions
	var j audit.Judgement
	c := &cobra.Command{
		Use:   "record NAME N true|false|unknown",
		Short: "Record a judgement on a pair of a sample",
		Long: `Record keeps a judge's verdict on the N-th pair of a sample, from 1. It replaces
the judge's former verdict.`,
		RunE: func(c *cobra.Command, args []string) error {
			n, err := itemNumber(args, "NAME", "N", "VERDICT")
			if err != nil {
				return err
			}
			j.Verdict = audit.Verdict(args[2])
			j.A, j.B = "a", "b" // replaced once the pair is looked up
			if _, err := j.Checked(); err != nil {
				return usageError{err}
			}
			return o.with(c, func(_ *job, r *browsing.Review) error {
				it, err := r.Item(c.Context(), args[0], n)
				if err != nil {
					return err
				}
				j.Pair = it.Pair
				return r.Judge(c.Context(), j)
			})
		},
	}
	o.flags(c, false)
	c.Flags().StringVar(&j.Judge, "judge", os.Getenv("USER"), "name of the judge")
	c.Flags().StringVar(&j.Note, "note", "", "reason for the verdict")
	c.Flags().BoolVar(&j.Enforce, "enforce", false, "the next clustering must follow the verdict")
	c.Flags().StringVar((*string)(&j.Cause), "cause", "", "why a false pair was announced: object, boilerplate, replies,\ntransitivity or other (docs/audit.md)")
	return c
}

func auditResult() *cobra.Command {
	var o auditOptions
	c := &cobra.Command{
		Use:   "result NAME",
		Short: "Print the precision of the clusters by the judgements so far",
		RunE: func(c *cobra.Command, args []string) error {
			if err := auditName(args, "NAME"); err != nil {
				return err
			}
			return o.with(c, func(_ *job, r *browsing.Review) error {
				result, err := r.Result(c.Context(), args[0])
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(c.OutOrStdout(), result)
				}
				return writeResult(c.OutOrStdout(), result)
			})
		},
	}
	o.flags(c, true)
	return c
}

func auditExport() *cobra.Command {
	var o auditOptions
	var format, output string
	var notes bool
	c := &cobra.Command{
		Use:   "export NAME",
		Short: "Write a sample and its judgements",
		Long: `Export writes a sample and its judgements as

  labels   one line of JSON for each pair. Record ids are the only crawled data,
           so you can hand the file on. neardup audit import reads it.
           --notes=false leaves out the judges' notes
  truth    PREFIX.pages.tsv and PREFIX.truth.tsv, as neardup compare reads them;
           n(n-1)/2 lines for n pages, because undecided pairs must be listed

docs/audit.md describes the files.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := auditName(args, "NAME"); err != nil {
				return err
			}
			switch {
			case format != "labels" && format != "truth":
				return usageError{fmt.Errorf("--format: there is no %q; there are labels and truth", format)}
			case format == "truth" && (output == "" || output == "-"):
				return usageError{errors.New("--format truth needs --output, the PREFIX of two files")}
			}
			return o.with(c, func(j *job, r *browsing.Review) error {
				if err := o.checkOutput(j, "--output", output); err != nil {
					return err
				}
				if format == "truth" {
					return exportTruth(c, r, args[0], output)
				}
				labels, err := r.Labels(c.Context(), args[0])
				if err != nil {
					return err
				}
				if !notes {
					labels = labels.WithoutNotes()
				}
				write := labels.Write
				if output == "" || output == "-" {
					return write(c.OutOrStdout())
				}
				return exports.ExportFile(output, write)
			})
		},
	}
	o.flags(c, false)
	c.Flags().StringVarP(&format, "format", "f", "labels", "labels or truth")
	c.Flags().BoolVar(&notes, "notes", true, "write the judges' notes into labels; they may name what was crawled")
	c.Flags().StringVarP(&output, "output", "o", "", "file to write, whole or not at all; for truth the PREFIX of two files; default standard output")
	return c
}

func exportTruth(c *cobra.Command, r *browsing.Review, name, prefix string) error {
	var n, decided int
	err := exports.ExportFile(prefix+".pages.tsv", func(pages io.Writer) error {
		return exports.ExportFile(prefix+".truth.tsv", func(pairs io.Writer) (err error) {
			n, decided, err = r.WriteTruth(c.Context(), name, pages, pairs)
			return err
		})
	})
	if err == nil {
		fmt.Fprintf(c.ErrOrStderr(), "%d pages, %d pairs decided, %d listed as not judged\n", n, decided, n*(n-1)/2-decided)
	}
	return err
}

func auditImport() *cobra.Command {
	var o auditOptions
	var options browsing.ImportOptions
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Import judgements that audit export wrote",
		Long: `Import reads labels that neardup audit export wrote; - is standard input. Each
judgement replaces that of the same judge on the same pair. The sample is added
if it is not here. An import is all or nothing.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := arguments(args, "FILE"); err != nil {
				return err
			}
			if options.Name != "" {
				if err := audit.CheckName(options.Name); err != nil {
					return usageError{fmt.Errorf("--name: %w", err)}
				}
			}
			in := interruptible(c.Context(), c.InOrStdin())
			if args[0] != "-" {
				f, err := openFile(c.Context(), args[0])
				if err != nil {
					return usageError{err}
				}
				defer func() { _ = f.Close() }()
				in = f
			}
			return o.with(c, func(_ *job, r *browsing.Review) error {
				n, err := r.ImportLabels(c.Context(), in, options)
				if err != nil {
					return fmt.Errorf("%s: %w", screen.Printable(args[0]), err)
				}
				if o.json {
					return printJSON(c.OutOrStdout(), n)
				}
				return writeImported(c.OutOrStdout(), n)
			})
		},
	}
	o.flags(c, true)
	c.Flags().StringVar(&options.Name, "name", "", "name of the sample in this workspace; default the name in the file")
	c.Flags().BoolVar(&options.Enforce, "enforce", false, "enforce the judgements that are enforced in the file")
	return c
}

func writeImported(out io.Writer, n browsing.Imported) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if n.Audit != "" {
		fmt.Fprintf(w, "audit\t%s, %s\n", n.Audit, map[bool]string{true: "new", false: "known"}[n.New])
	}
	fmt.Fprintf(w, "pairs\t%d\nof them not in the workspace\t%d\n", n.Pairs, n.Unknown)
	fmt.Fprintf(w, "judgements added\t%d\nreplaced\t%d\nthe same\t%d\n", n.Added, n.Replaced, n.Same)
	return w.Flush()
}
