package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"neardup/configs"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/report/look"
	"neardup/screen"
)

func statusCommand() *cobra.Command {
	var o workOptions
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show what is done, what is stale and why",
		Long: `Status compares the workspace with a config, by default its own. It says which
stages are done, which neardup run would redo, and why. While another neardup
works in the workspace, it names that process and the stage that is begun.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var config *configs.Config
			if o.config != "" || len(o.settings()) > 0 {
				loaded, err := o.load(c)
				if err != nil {
					return err
				}
				config = &loaded
			}
			if err := o.restore(c); err != nil {
				return err
			}
			s, err := workspace.ReadStatus(c.Context(), o.workspace, stages.All, config)
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				e.SetEscapeHTML(false)
				return e.Encode(s)
			}
			return writeStatus(c.OutOrStdout(), s)
		},
	}
	o.workspaceFlag(c)
	o.configFlags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func writeStatus(out io.Writer, s workspace.Status) error {
	var skipped int64
	var reasons []string
	for _, r := range slices.Sorted(maps.Keys(s.Records.Skipped)) {
		skipped += s.Records.Skipped[r]
		reasons = append(reasons, fmt.Sprintf("%s %d", r, s.Records.Skipped[r]))
	}
	fmt.Fprintf(out, "%s: %s, %d records = %d captures + %d revisits + %d skipped", screen.Printable(s.Workspace), look.Plural(len(s.Inputs), "file", "files"),
		s.Records.Records, s.Records.Captures, s.Records.Revisits, skipped)
	if len(reasons) > 0 {
		fmt.Fprintf(out, " (%s)", strings.Join(reasons, ", "))
	}
	fmt.Fprintln(out)
	if s.Holder != "" {
		fmt.Fprintf(out, "  %s works in it\n", screen.Printable(s.Holder))
	}
	for _, in := range s.Inputs {
		if problem := in.Error + in.Note; problem != "" || in.Counts.Damaged > 0 {
			state := strings.TrimSpace(in.State + " " + screen.Printable(problem))
			fmt.Fprintf(out, "  %s: %s, %s\n", in.Shown(), state, report.Places(in.Counts.Damaged))
		}
	}
	if err := writePreferences(out, "  ", s.Preferences); err != nil {
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, st := range s.Stages {
		state := "done"
		if st.Stale != workspace.UpToDate {
			state = fmt.Sprintf("stale (%s)", st.Stale)
		}
		fmt.Fprintf(t, "%s\t%s\t%.1f s\t%s\n", st.Name, state, st.Seconds, screen.Printable(st.Why))
	}
	return t.Flush()
}
