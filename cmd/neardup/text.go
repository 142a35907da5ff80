package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"neardup/configs"
	"neardup/pipeline/disk"
	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/reading"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// textOptions are the flags of neardup text.
type textOptions struct {
	workOptions
	reading.TextOptions
	output string
}

const (
	errTextInterrupted interruption = "interrupted; the texts written are whole lines, and some are missing"
	errFileInterrupted interruption = "interrupted; nothing is written to the file of --output"
)

func textCommand() *cobra.Command {
	var o textOptions
	c := &cobra.Command{
		Use:   "text INPUT...",
		Short: "Print the text of each page as JSON lines, without a workspace",
		Long: `Text reads pages as the stage extract does, and prints a JSON object a line for
each: record_id, uri, date, title, byline if there is one, and text, a visible
block a line. The order is that of the inputs and of the records in them.

  neardup text crawl.warc.gz
  neardup text --clean none crawl.warc.gz > all.jsonl
  neardup text --parts title,main,comments,frame page.html
  curl -s https://example.org/ | neardup text -

--clean main prints the main content without title and by-line. Where it is not
certain what that is, text is all visible text, and "unsure" is true. --clean none
prints all visible text. --parts adds an object "parts" with the text of each part
that is named and found: title, byline, main, comments, frame. A title and a
by-line are printed with either of the two.

An INPUT is what neardup run takes, or a file that is one page, HTML, PDF or plain
text of any encoding; - is standard input. Such a page gets the URI of its file.
Records met twice are printed twice. Revisit records have no text of their own and
are left out. Counts go to standard error.`,
		RunE: func(c *cobra.Command, args []string) error {
			err := o.run(c, args)
			if err != nil && c.Context().Err() != nil {
				err = errors.Join(err, o.interrupted())
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&o.Clean, "clean", "main", "text of a page: main (its main content) or none (all that is visible)")
	f.StringSliceVar(&o.Parts, "parts", nil, "parts to print by name: "+strings.Join(reading.TextParts, ", "))
	f.StringVarP(&o.config, "config", "c", "", "preset or YAML file whose section extract counts (default default)")
	f.StringArrayVar(&o.set, "set", nil, "setting of the extraction, extract.KEY=VALUE; may be repeated")
	f.StringArrayVar(&o.lists, "source-file-list", nil, "file of inputs, one a line; - is standard input; may be repeated")
	f.IntVar(&o.workers, "workers", 0, "number of workers; 0: one for each processor")
	f.StringVarP(&o.output, "output", "o", "", "file to write, whole or not at all; default standard output")
	f.StringVar(&o.progress, "progress", "auto", "auto, bar, plain, json or none (no counts either)")
	return c
}

// interrupted returns what an interruption leaves.
func (o *textOptions) interrupted() error {
	if o.output == "" || o.output == "-" {
		return errTextInterrupted
	}
	if _, special, err := disk.Output(o.output); err == nil && special {
		return errTextInterrupted
	}
	return errFileInterrupted
}

// check checks the flags before any work is done.
func (o *textOptions) check() (configs.Config, error) {
	if err := o.Validate(); err != nil {
		return configs.Config{}, fmt.Errorf("--%w", err)
	}
	for _, s := range o.set {
		switch {
		case strings.HasPrefix(s, "extract.clean="):
			return configs.Config{}, fmt.Errorf("--set %s: say --clean", s)
		case !strings.HasPrefix(s, "extract."):
			return configs.Config{}, fmt.Errorf("--set %s: text has only settings of extract", s)
		}
	}
	if err := checkWorkers(o.workers); err != nil {
		return configs.Config{}, err
	}
	config, err := configs.Load(cmp.Or(o.config, "default"), o.set)
	if o.workers == 0 {
		o.workers = runtime.GOMAXPROCS(0)
	}
	return config, err
}

func (o *textOptions) run(c *cobra.Command, args []string) (err error) {
	config, err := o.check()
	if err != nil {
		return usageError{err}
	}
	names, err := o.names(c, args)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return usageError{errors.New("nothing to read: name a file, a directory or a pattern, or - for standard input")}
	}
	p, err := newProgress(o.progress, "text", c.ErrOrStderr())
	if err != nil {
		return usageError{err}
	}
	if slices.ContainsFunc(names, inputs.IsStream) { // it is copied to a file
		dir, remove, err := disk.MkdirTemp(os.TempDir())
		if err != nil {
			return err
		}
		defer func() { _ = remove() }()
		o.workspace = dir
	}
	sources, err := o.inputs(c, names, config, p)
	if err != nil {
		return err
	}
	if err := checkOutput("--output", o.output, "", slices.Concat(sources, files(o.config), files(o.lists...))); err != nil {
		return err
	}
	write := func(out io.Writer) error { return o.write(c, out, sources, config, p) }
	if o.output == "" || o.output == "-" {
		return write(c.OutOrStdout())
	}
	var unread error
	err = exports.ExportFile(o.output, func(out io.Writer) error {
		if unread = write(out); errors.Is(unread, workspace.ErrInputFailure) {
			return nil // all others are in the file
		}
		return unread
	})
	return cmp.Or(err, unread)
}

// write writes the texts of the sources.
func (o *textOptions) write(c *cobra.Command, out io.Writer, sources []inputs.Source, config configs.Config, p *progress) error {
	options := reading.Options{Extract: config.Extract, Workers: o.workers, Progress: p, PageURI: o.pageURI}
	counts, err := reading.WriteTexts(c.Context(), out, sources, options, o.TextOptions)
	if err != nil && !errors.Is(err, workspace.ErrInputFailure) {
		return err
	}
	if o.progress != "none" {
		err = errors.Join(err, writeReadCounts(c.ErrOrStderr(), counts, !o.WritesAll()))
	}
	return err
}

// pageURI returns the URI of a file that is a single page.
func (o *textOptions) pageURI(s inputs.Source) string {
	if o.workspace != "" && strings.HasPrefix(s.Path, o.workspace) {
		return "urn:neardup:standard-input"
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(s.Path)}).String()
}

// writeReadCounts writes the counts of the records that were read, and if lines may be
// unsure, of how many pages they are.
func writeReadCounts(w io.Writer, c results.ExtractCounts, mayBeUnsure bool) error {
	skipped, reasons := int64(0), []string{}
	for _, reason := range slices.Sorted(maps.Keys(c.Skipped)) {
		skipped += c.Skipped[reason]
		reasons = append(reasons, fmt.Sprintf("%s %d", reason, c.Skipped[reason]))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "records read\t%d\t  %s\n", c.Records, report.Places(c.Damaged))
	unsure := ""
	if mayBeUnsure {
		unsure = fmt.Sprintf("  main content unsure of %d", c.Choices["main-unsure"])
	}
	fmt.Fprintf(t, "= pages\t%d\t%s\n", c.Captures, unsure)
	fmt.Fprintf(t, "+ skipped\t%d\t  %s\n", skipped, strings.Join(reasons, ", "))
	return t.Flush()
}
