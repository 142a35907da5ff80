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
	"neardup/report"
)

// exportFlags are flags that only some formats have.
type exportFlags struct {
	format, output, policy, wacz string
	hosts                        []string
}

// check returns an error if the flags do not fit the format.
func (f *exportFlags) check(c *cobra.Command) error {
	format, ok := exports.Find(f.format)
	if !ok {
		return fmt.Errorf("--format: there is no %q; there are %s", f.format, strings.Join(exports.Names(""), ", "))
	}
	for _, flag := range []string{"policy", "prefer-host", "wacz"} {
		if c.Flags().Changed(flag) && !slices.Contains(format.Options, flag) {
			return fmt.Errorf("--%s is for --format %s", flag, strings.Join(exports.Names(flag), " and "))
		}
	}
	if !slices.Contains(report.KeepPolicies, report.KeepPolicy(f.policy)) {
		return fmt.Errorf("--policy: there is no %q; there are %s", f.policy, policies())
	}
	if f.format != "wacz" {
		return nil
	}
	if f.wacz == "" {
		return errors.New("--format wacz needs --wacz, the file to copy")
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

func policies() string {
	var names []string
	for _, p := range report.KeepPolicies {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

// exportHelp lists the formats.
func exportHelp() string {
	var b strings.Builder
	b.WriteString("Export writes the clusters, what follows from them, or the summary of the run, in a\nformat:\n\n")
	for _, f := range exports.Formats {
		help := f.Help
		if len(f.Options) > 0 {
			help += " (--" + strings.Join(f.Options, ", --") + ")"
		}
		fmt.Fprintf(&b, "  %-14s %s\n", f.Name, help)
	}
	b.WriteString("\ndocs/exports.md describes the formats.")
	return b.String()
}

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
			o.progress = "none"
			j, err := o.open(c, false, nil)
			if err != nil {
				return err
			}
			return errors.Join(f.export(c, j), j.Close())
		},
	}
	o.workspaceFlag(c)
	c.Flags().StringVarP(&f.format, "format", "f", "jsonl", strings.Join(exports.Names(""), ", "))
	c.Flags().StringVarP(&f.output, "output", "o", "", "file to write, whole or not at all; default standard output")
	c.Flags().StringVar(&f.policy, "policy", string(report.KeepEarliest), "which page of a cluster to keep: "+policies()+" (of the file cluster.quality)")
	c.Flags().StringSliceVar(&f.hosts, "prefer-host", nil, "hosts whose pages, and those of their subdomains, are kept whatever the policy; earlier hosts first;\ncomma-separated, may be repeated")
	c.Flags().StringVar(&f.wacz, "wacz", "", "WACZ file to copy")
	return c
}

func (f *exportFlags) export(c *cobra.Command, j *job) error {
	var kept report.Kept
	options := exports.Options{Format: f.format, Keep: report.KeepPolicy(f.policy), PreferHosts: f.hosts, Kept: &kept, WACZ: f.wacz}
	write := func(out io.Writer) error { return exports.Write(c.Context(), j.Workspace, options, out) }
	var err error
	if f.output == "" || f.output == "-" {
		err = write(c.OutOrStdout())
	} else {
		err = exports.ExportFile(f.output, write)
	}
	if err == nil && kept != (report.Kept{}) {
		fmt.Fprintln(c.ErrOrStderr(), kept)
	}
	return err
}
