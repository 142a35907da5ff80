package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"neardup/pipeline/disk"
	"neardup/pipeline/inputs"
	"neardup/pipeline/lookup"
	"neardup/pipeline/reading"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// lookupOptions are the flags of neardup lookup.
type lookupOptions struct {
	workOptions
	uri   string
	json  bool
	limit int
}

func lookupCommand() *cobra.Command {
	var o lookupOptions
	c := &cobra.Command{
		Use:   "lookup FILE|URL|-...",
		Short: "Look up whether the workspace has a page, or a near-duplicate of it",
		Long: `Lookup says whether a page is a near-duplicate of pages in the workspace. It prints
these pages, their scores, and when they were captured. It changes nothing.

  neardup lookup --uri https://news.example/kite.html page.html
  neardup lookup https://news.example/kite.html
  curl -s https://news.example/kite.html | neardup lookup --json -

The verdict is identical, near, contained (another page has all of its text and
more), contains, new, left-out (the settings compare no such page) or no-page. A
FILE is one page as HTML, plain text or PDF, or an archive whose pages are all
looked up. A URL (https:// or http://) is one page, which is fetched now.

The URI tells the site of the page, where text that is common on the site counts
less. Without --uri a file has no site. A page is judged as in a run, by what the
workspace has learned without it. neardup serve answers POST /lookup in the same
way. docs/lookup.md describes the answer.`,
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	o.workspaceFlag(c)
	f := c.Flags()
	f.IntVar(&o.workers, "workers", 0, "number of workers; 0: one for each processor")
	f.StringVar(&o.progress, "progress", "none", "auto, bar, plain, json or none")
	f.StringVar(&o.uri, "uri", "", "URI of the page, for one file or standard input that is one page")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each page, one a line")
	f.IntVar(&o.limit, "limit", 10, "matches to show of a page, the best first")
	return c
}

func (o *lookupOptions) run(c *cobra.Command, args []string) (err error) {
	switch {
	case len(args) == 0:
		return usageError{errors.New("nothing to look up: name a file or a URL, or - for standard input")}
	case o.uri != "" && len(args) != 1:
		return usageError{fmt.Errorf("--uri is of one page, and %d are named", len(args))}
	case o.limit < 1:
		return usageError{fmt.Errorf("--limit: %d is under 1", o.limit)}
	}
	if err := lookup.CheckURI(o.uri); err != nil {
		return fmt.Errorf("--uri: %w", err)
	}
	// Standard input may come slowly. It is read before the workspace is opened, so that
	// nobody waits for the workspace meanwhile.
	var sent []inputs.Source
	if slices.ContainsFunc(args, inputs.IsStream) {
		config, err := o.load(c)
		if err != nil {
			return err
		}
		dir, remove, err := disk.MkdirTemp(os.TempDir())
		if err != nil {
			return err
		}
		defer func() { _ = remove() }()
		p, err := newProgress("none", "text", c.ErrOrStderr())
		if err != nil {
			return err
		}
		files := workOptions{workspace: dir}
		names, err := files.names(c, slices.DeleteFunc(slices.Clone(args), func(name string) bool { return !inputs.IsStream(name) }))
		if err != nil {
			return err
		}
		if sent, err = files.inputs(c, names, config, p); err != nil {
			return err
		}
	}
	o.read = true
	j, err := o.open(c, false, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	x, err := lookup.Open(j.Workspace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	var unread error
	for _, name := range args {
		err := o.lookUp(c, j, x, name, sent)
		if err != nil && !errors.Is(err, workspace.ErrInputFailure) {
			return err
		}
		unread = errors.Join(unread, err)
	}
	if !o.json {
		_, err := fmt.Fprintf(c.OutOrStdout(), "\n%s\n", report.Terms)
		return errors.Join(unread, err)
	}
	return unread
}

// lookUp looks up the pages that one argument names. sent has those of standard input.
func (o *lookupOptions) lookUp(c *cobra.Command, j *job, x *lookup.Index, name string, sent []inputs.Source) (err error) {
	if scheme, _, _ := strings.Cut(strings.ToLower(name), "://"); scheme == "https" || scheme == "http" {
		p, err := x.Fetch(c.Context(), name)
		if err != nil {
			return err
		}
		if o.uri != "" {
			p.URI = o.uri
		}
		a, err := x.Page(c.Context(), p, o.limit)
		if err != nil {
			return err
		}
		return o.print(c, a)
	}
	sources := sent
	if !inputs.IsStream(name) {
		files := workOptions{workspace: o.workspace}
		if sources, err = files.inputs(c, []string{name}, j.Config, j.progress); err != nil {
			return err
		}
	}
	asked := false
	_, err = x.Sources(c.Context(), sources, reading.Options{Workers: 1, Progress: j.progress,
		PageURI: func(inputs.Source) string { asked = true; return o.uri }}, o.limit, func(a report.Answer) error { return o.print(c, a) })
	if o.uri != "" && !asked {
		o.warn(c, name+" is no single page, so --uri says nothing of it")
	}
	return err
}

func (o *lookupOptions) print(c *cobra.Command, a report.Answer) error {
	if !o.json {
		return a.WriteText(c.OutOrStdout())
	}
	e := json.NewEncoder(c.OutOrStdout())
	e.SetEscapeHTML(false)
	return e.Encode(a)
}
