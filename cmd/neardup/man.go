package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"neardup/pipeline/exports"
)

func manCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "man",
		Short: "Write manual pages, one for each command, as troff with the man macros",
		Long: `Man writes the manual pages of neardup and of each command into a directory, or
without one the page of neardup to standard output:

  neardup man | man -l -
  neardup man --dir /usr/local/share/man/man1`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if dir == "" {
				return writeMan(c.OutOrStdout(), c.Root())
			}
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return usageError{fmt.Errorf("--dir: %w", err)}
			}
			return writeMans(dir, c.Root())
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "directory to write neardup.1, neardup-run.1 and so on into")
	return c
}

// writeMans writes the manual pages of a command and its subcommands.
func writeMans(dir string, c *cobra.Command) error {
	if c.Hidden {
		return nil
	}
	name := filepath.Join(dir, manName(c)+".1")
	if err := exports.ExportFile(name, func(w io.Writer) error { return writeMan(w, c) }); err != nil {
		return err
	}
	for _, sub := range c.Commands() {
		if err := writeMans(dir, sub); err != nil {
			return err
		}
	}
	return nil
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// writeMan writes the manual page of a command.
func writeMan(w io.Writer, c *cobra.Command) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"neardup %s\" \"neardup\"\n", strings.ToUpper(manName(c)), troff(programBuild().Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", troff(manName(c)), troff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", lines(c.UseLine()))
	description := c.Long
	if description == "" {
		description = c.Short + "."
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", lines(description)) // it is already formatted for 80 columns
	if c.HasAvailableLocalFlags() {
		b.WriteString(".SH OPTIONS\n")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			names := "--" + f.Name
			if f.Shorthand != "" {
				names = "-" + f.Shorthand + ", " + names
			}
			kind, usage := pflag.UnquoteUsage(f)
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR %s\n%s\n", troff(names), troff(kind), lines(strings.ReplaceAll(usage, "\n", " ")))
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" {
				fmt.Fprintf(&b, "(default %s)\n", troff(f.DefValue))
			}
		})
	}
	see := []string{}
	if c.HasParent() {
		see = append(see, fmt.Sprintf("\\fB%s\\fR(1)", troff(manName(c.Parent()))))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			see = append(see, fmt.Sprintf("\\fB%s\\fR(1)", troff(manName(sub))))
		}
	}
	if len(see) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(see, ",\n"))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// troff escapes text so that troff shows it as it is.
func troff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`).Replace(s)
}

// lines is troff for whole lines. No line is taken for a request.
func lines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, ".") {
			b.WriteString(`\&`)
		}
		b.WriteString(troff(line))
	}
	return b.String()
}
