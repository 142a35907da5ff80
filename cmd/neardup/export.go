package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/keeping"
	"neardup/pipeline/remote"
	"neardup/report"
	"neardup/screen"
)

// exportFlags are the flags that only some formats have.
type exportFlags struct {
	format, output, wacz string
	all, clean, visible  bool
	shardSize            int64
	keep                 keepFlags
}

// check returns an error if the flags do not fit the format.
func (f *exportFlags) check(c *cobra.Command) error {
	format, ok := exports.Find(f.format)
	if !ok {
		return fmt.Errorf("--format: there is no %q; there are %s", f.format, strings.Join(exports.Names(""), ", "))
	}
	for _, flag := range exports.Flags() {
		if c.Flags().Changed(flag) && !slices.Contains(format.Options, flag) {
			return fmt.Errorf("--%s is for --format %s", flag, sentence(exports.Names(flag)))
		}
	}
	if slices.Contains(format.Options, "all") && !slices.Contains(format.Options, "clean") && !f.all {
		for _, flag := range format.Options {
			if c.Flags().Changed(flag) {
				return fmt.Errorf("--%s with --format %s needs --all", flag, f.format)
			}
		}
	}
	for _, name := range []string{"prefer-host", "every", "exempt-list", "wacz"} { // a variable without a value would change what is left out
		if flag := c.Flags().Lookup(name); flag.Changed && strings.Trim(flag.Value.String(), "[]") == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	if _, err := f.keep.parse(c.Context()); err != nil {
		return err
	}
	if f.shardSize < 0 {
		return fmt.Errorf("--shard-size: %d, must be at least 0", f.shardSize)
	}
	if (exports.Options{Format: f.format, ShardSize: f.shardSize}).Directory() {
		if f.output == "" || f.output == "-" {
			return errors.New("--output: name the directory to write")
		}
		if err := exports.CheckDirectory(f.output); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	if _, ok := terminalOf(c.OutOrStdout()); ok && strings.HasSuffix(f.format, "parquet") && (f.output == "" || f.output == "-") {
		return fmt.Errorf("--output: %s is binary; name the file to write", f.format)
	}
	if f.format != "wacz" {
		return nil
	}
	if f.wacz == "" {
		if f.output == "" {
			return errors.New("--output: name the WACZ file to write")
		}
		return nil
	}
	for _, flag := range format.Options {
		if flag != "wacz" && c.Flags().Changed(flag) {
			return fmt.Errorf("--%s and --wacz are for different files: with --wacz all pages of that file are copied", flag)
		}
	}
	if remote.IsURL(f.wacz) {
		if err := remote.Check(f.wacz); err != nil {
			return fmt.Errorf("--wacz: %w", err)
		}
		return nil
	}
	from, err := os.Stat(f.wacz)
	if err != nil {
		return fmt.Errorf("--wacz: %w", err)
	}
	if to, err := os.Stat(f.output); f.output != "" && err == nil && os.SameFile(from, to) {
		return errors.New("--output is the file of --wacz, which is left as it is; name another")
	}
	return nil
}

// sentence returns names as a list within a sentence.
func sentence(names []string) string {
	last := len(names) - 1
	if last <= 0 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// exportHelp returns the list of formats for the help.
func exportHelp() string {
	var b strings.Builder
	b.WriteString("Export writes the clusters, what follows from them, or the summary of the run, in a\nformat:\n\n")
	for _, f := range exports.Formats {
		fmt.Fprintf(&b, "  %-14s %s\n", f.Name, f.Help)
	}
	b.WriteString("\nFlags that only some formats have:\n\n")
	for _, flag := range exports.Flags() {
		fmt.Fprintf(&b, "  --%-17s %s\n", flag, strings.Join(exports.Names(flag), ", "))
	}
	b.WriteString("\ndocs/exports.md describes the formats.")
	return b.String()
}

const errExportInterrupted interruption = "interrupted; run it again: an export starts over"

func exportCommand() *cobra.Command {
	var o workOptions
	var f exportFlags
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the clusters or the summary",
		Long:  exportHelp(),
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(c); err != nil {
				return usageError{err}
			}
			o.progress, o.read = "none", true
			j, err := o.open(c, false, nil)
			if err != nil {
				return err
			}
			err = o.checkOutput(j, "--output", f.output, f.keep.exemptList)
			if err == nil && slices.Contains(actedUpon, f.format) {
				err = o.warnOfGone(c, j)
			}
			if err == nil {
				err = o.warnOfUnmatched(c, j, f.keep)
			}
			if err == nil {
				err = f.export(c, j)
			}
			if err != nil && c.Context().Err() != nil {
				err = errors.Join(err, errExportInterrupted)
			}
			return errors.Join(err, j.Close())
		},
	}
	o.workspaceFlag(c)
	o.tempFlag(c)
	c.Flags().StringVarP(&f.format, "format", "f", "jsonl", strings.Join(exports.Names(""), ", "))
	c.Flags().StringVarP(&f.output, "output", "o", "", "file to write, whole or not at all; default standard output")
	c.Flags().BoolVar(&f.all, "all", false, "all pages: also those in no cluster, and redundant ones, with what a keep list says of each")
	c.Flags().BoolVar(&f.clean, "clean", false, "without the frames that text.frames learned, if enough of a page is left")
	c.Flags().BoolVar(&f.visible, "visible", false, "all text that pages show, not only their main content")
	c.Flags().Int64Var(&f.shardSize, "shard-size", 0, "write a directory of files of about so many bytes of text; 0: one file")
	f.keep.add(c)
	c.Flags().StringVar(&f.wacz, "wacz", "", "WACZ file to copy")
	return c
}

// actedUpon are the formats by which pages are kept or dropped elsewhere.
var actedUpon = []string{"keep", "keep-jsonl", "corpus", "corpus-parquet"}

// maxNamed limits the files or patterns that a warning names.
const maxNamed = 3

// warnOfGone warns of files that no longer exist: pages may be redundant because of pages
// in them.
func (o *workOptions) warnOfGone(c *cobra.Command, j *job) error {
	known, err := j.Sources()
	if err != nil {
		return err
	}
	var names []string
	for _, s := range inputs.Gone(c.Context(), known) {
		names = append(names, inputs.ShowName(s.FilePath()))
	}
	if len(names) == 0 {
		return nil
	}
	o.warn(c, fmt.Sprintf("files that were read are gone, and pages may be redundant because of pages in them; put them back, or withdraw them with neardup remove: %s", someOf(names)))
	return nil
}

// warnOfUnmatched warns of patterns for exempt pages that match no page: with a slip in it,
// a pattern exempts nothing.
func (o *workOptions) warnOfUnmatched(c *cobra.Command, j *job, k keepFlags) error {
	rules, err := k.parse(c.Context())
	if err != nil || len(rules.Exempt.Written()) == 0 {
		return err
	}
	unmatched, err := keeping.Unmatched(c.Context(), j.Workspace, rules.Exempt)
	if err != nil || len(unmatched) == 0 {
		return err
	}
	o.warn(c, "patterns of --exempt match no page: "+someOf(unmatched))
	return nil
}

// someOf returns the first names, and how many more there are.
func someOf(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("%d more", more))
	}
	return sentence(names)
}

func (f *exportFlags) export(c *cobra.Command, j *job) error {
	rules, err := f.keep.parse(c.Context())
	if err != nil {
		return usageError{err}
	}
	used := rules
	var kept report.Kept
	var cleaned report.Cleaned
	var reduced report.Reduced
	options := exports.Options{Format: f.format, Keep: &rules, WithoutStoredHosts: !f.keep.storedHosts, Rules: &used, All: f.all, Clean: f.clean, Cleaned: &cleaned, Visible: f.visible, ShardSize: f.shardSize, Kept: &kept, Reduced: &reduced, WACZ: f.wacz}
	write := func(out io.Writer) error { return exports.Write(c.Context(), j.Workspace, options, out) }
	if options.Directory() {
		err = exports.WriteDirectory(c.Context(), j.Workspace, options, f.output)
	} else if f.output == "" || f.output == "-" {
		err = write(c.OutOrStdout())
	} else {
		err = exports.ExportFile(f.output, write)
	}
	if err == nil && len(reduced.Files) > 0 {
		fmt.Fprintln(c.ErrOrStderr(), reduced.Sum)
	}
	if err == nil && kept != (report.Kept{}) {
		fmt.Fprintf(c.ErrOrStderr(), "%v\nassumed: %s\n", kept, screen.Printable(used.String()))
	}
	if err == nil && cleaned != (report.Cleaned{}) {
		fmt.Fprintln(c.ErrOrStderr(), cleaned)
	}
	return err
}
