package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"neardup/pipeline/inputs"
	"neardup/pipeline/preferences"
	"neardup/pipeline/workspace"
	"neardup/screen"
)

func preferCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "prefer",
		Short: "Add scores of pages and preferred hosts that come from outside",
		Long: `Prefer adds lists to the workspace that say which pages to prefer. The workspace
keeps what they say, where they came from and when; the files need not stay.

  scores   URI<TAB>SCORE lines. Where texts are grouped, the best score of a
           text's pages is its weight. The next run makes the clusters again.
           export --policy quality prefers the page with the best score
  hosts    a host a line, the best first. Keep lists and reduced archives prefer
           pages of these hosts and their subdomains

A list replaces the one of its name, and takes its place. Of several lists with a
URI, the score of the last one counts. Of several lists of hosts, those of the
first one come first. docs/preferences.md describes this.`,
		Args: noCommand,
		RunE: showHelp,
	}
	c.AddCommand(preferAdd(workspace.KindScores, "Add a list of scores of pages"), preferAdd(workspace.KindHosts, "Add a list of preferred hosts"), preferList(), preferDrop())
	return c
}

func preferAdd(kind workspace.PreferenceKind, short string) *cobra.Command {
	var o workOptions
	var p workspace.Preference
	c := &cobra.Command{
		Use:   string(kind) + " FILE",
		Short: short,
		Long:  short + ", from a file or, with -, from standard input. A wrong line is an error,\nand nothing is changed.",
		RunE: func(c *cobra.Command, args []string) error {
			if err := arguments(args, "FILE"); err != nil {
				return err
			}
			return o.prefer(c, args[0], p)
		},
	}
	o.workspaceFlag(c)
	p.Kind = kind
	c.Flags().StringVar(&p.Name, "name", "", "name of the list; default: that of the file")
	c.Flags().StringVar(&p.Why, "why", "", "note to keep with it")
	return c
}

// prefer adds a list.
func (o *workOptions) prefer(c *cobra.Command, path string, p workspace.Preference) (err error) {
	from := interruptible(c.Context(), c.InOrStdin())
	if path != "-" {
		f, err := openFile(c.Context(), path)
		if err != nil {
			return usageError{err}
		}
		defer func() { _ = f.Close() }()
		from = f
		if p.Name == "" {
			p.Name = filepath.Base(path)
		}
	}
	j, err := o.open(c, false, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	p.Path, p.Added = inputs.ShowName(path), time.Now().UTC().Format(time.RFC3339)
	if p, err = preferences.Add(c.Context(), j.Workspace, p, from); err != nil {
		return err
	}
	say(c, "%s: %d %s", p.Name, p.Entries, p.Kind)
	return nil
}

func preferList() *cobra.Command {
	var o workOptions
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the lists, in their order",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			o.read = true
			j, err := o.open(c, false, nil)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, j.Close()) }()
			all, err := j.Preferences()
			if err != nil || !asJSON {
				return errors.Join(err, writePreferences(c.OutOrStdout(), "", all))
			}
			e := json.NewEncoder(c.OutOrStdout())
			e.SetEscapeHTML(false)
			for _, p := range all {
				if err := e.Encode(p); err != nil {
					return err
				}
			}
			return nil
		},
	}
	o.workspaceFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each list, one a line")
	return c
}

// writePreferences writes lists as a table.
func writePreferences(out io.Writer, indent string, all []workspace.Preference) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range all {
		fmt.Fprintf(t, "%s%s\t%d %s\tof %s\tSHA-256 %.12s\tadded %s\t%s\n", indent, screen.Printable(p.Name), p.Entries, p.Kind,
			screen.Printable(p.Path), p.SHA256, p.Added, screen.Printable(p.Why))
	}
	return t.Flush()
}

func preferDrop() *cobra.Command {
	var o workOptions
	c := &cobra.Command{
		Use:   "drop NAME",
		Short: "Drop a list",
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := arguments(args, "NAME"); err != nil {
				return err
			}
			j, err := o.open(c, false, nil)
			if err != nil {
				return err
			}
			return errors.Join(preferences.Drop(j.Workspace, args[0]), j.Close())
		},
	}
	o.workspaceFlag(c)
	return c
}
