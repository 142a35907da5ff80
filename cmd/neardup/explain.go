package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"neardup/explain"
	"neardup/pipeline/explaining"
	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// explainOptions are the flags of neardup explain.
type explainOptions struct {
	workOptions
	json  bool
	plain bool
	svg   string
	lines int
}

// plainWidth is the width of a line without a terminal, in columns.
const plainWidth = 100

func explainCommand() *cobra.Command {
	var o explainOptions
	c := &cobra.Command{
		Use:   "explain A B",
		Short: "Show why two pages are together or apart",
		Long: `Explain shows each step of the method with its numbers:

  - the sentences and signatures of both texts, and those in common, with the
    sentences, rotation and class of each signature
  - the lengths of the sketches, their LCS and edit script
  - the edit curve with its trustable region
  - scores and thresholds, and what the two share of rare text
  - what became of the pair in the workspace, and which filter ended it
  - both texts aligned, with the trustable part marked

A and B are two pages of the workspace, or two files of HTML or text. Name a page
by its record id or its target URI. If there are several captures, add @ and a
date or its beginning:

  neardup explain http://news.example/kite.html@2024-09-16 http://news.example/kite.html@20240304
  neardup explain one.html other.html

The first explain after a run makes an index of all pages. With other settings
than those of the workspace's run, the pair is explained by its texts alone.
docs/format.md describes --json.`,
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	o.workFlags(c)
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.plain, "plain", false, "draw in ASCII and without colours; pipes and NO_COLOR have no colours anyway")
	f.StringVar(&o.svg, "svg", "", "file for the edit curve as SVG")
	f.IntVar(&o.lines, "diff-lines", 60, "lines of the aligned texts to show; -1: all")
	return c
}

func (o *explainOptions) run(c *cobra.Command, args []string) error {
	if len(args) != 2 {
		return usageError{fmt.Errorf("want two pages or two files, not %d arguments", len(args))}
	}
	e, err := o.explain(c, args)
	if err != nil {
		return err
	}
	if o.svg != "" {
		if !e.Curved() {
			return usageError{fmt.Errorf("--svg: %w", explain.ErrNoCurve)}
		}
		if err := exports.ExportFile(o.svg, e.WriteSVG); err != nil {
			return err
		}
	}
	if o.json {
		return e.WriteJSON(c.OutOrStdout())
	}
	if err := e.WriteText(c.OutOrStdout(), o.style(c.OutOrStdout())); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "\n%s\n", report.Terms)
	return err
}

// checkDiffLines checks --diff-lines.
func checkDiffLines(n int) error {
	if n < -1 {
		return usageError{fmt.Errorf("--diff-lines: %d, must be at least -1", n)}
	}
	return nil
}

func (o *explainOptions) explain(c *cobra.Command, args []string) (e explain.Explanation, err error) {
	if err := checkDiffLines(o.lines); err != nil {
		return e, err
	}
	pages := [2]bool{explaining.IsPage(args[0]), explaining.IsPage(args[1])}
	switch {
	case pages == [2]bool{false, false}:
		config, err := o.load(c)
		if err != nil {
			return e, err
		}
		if err := checkOutput("--svg", o.svg, o.workspace, []inputs.Source{{Path: args[0]}, {Path: args[1]}}); err != nil {
			return e, err
		}
		return explaining.Files(config, args[0], args[1])
	case pages != [2]bool{true, true}:
		file := 0
		if pages[0] {
			file = 1
		}
		return e, usageError{fmt.Errorf("%s is a file, and there is no file %s; name two files, or two pages of the workspace", args[file], args[1-file])}
	}
	o.read = true
	j, err := o.open(c, false, nil)
	if errors.Is(err, workspace.ErrNoWorkspace) {
		err = fmt.Errorf("%s is no file: %w", args[0], err)
	}
	if err != nil {
		return e, err
	}
	if err = o.checkOutput(j, "--svg", o.svg); err == nil {
		e, err = explaining.Pages(c.Context(), j.Workspace, args[0], args[1])
	}
	return e, errors.Join(err, j.Close())
}

// style returns the style for the terminal, or the plain style without one.
func (o *explainOptions) style(out io.Writer) explain.Style {
	s := explain.Style{ASCII: o.plain, Width: plainWidth, DiffLines: o.lines}
	f, ok := terminalOf(out)
	if !ok {
		return s
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.Width = width
	}
	s.Colour = !o.plain && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}
