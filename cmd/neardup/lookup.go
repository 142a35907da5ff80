package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"neardup/configs"
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
	o.tempFlag(c)
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
	case o.workspace == "":
		return usageError{errNoDirectory}
	case o.limit < 1:
		return usageError{fmt.Errorf("--limit: %d is under 1", o.limit)}
	}
	if err := lookup.CheckURI(o.uri); err != nil {
		return usageError{fmt.Errorf("--uri: %w", err)}
	}
	if err := o.checkTemp(); err != nil {
		return usageError{err}
	}
	config, err := o.load(c)
	if err != nil {
		return err
	}
	if _, err := workspace.Existing(o.workspace, false); err != nil {
		return err
	}
	// What is asked is read before the workspace is opened, so that nobody waits for the
	// workspace meanwhile.
	dir := ""
	if slices.ContainsFunc(args, comes) {
		var remove func() error
		if dir, remove, err = disk.MkdirTemp(cmp.Or(o.temp, os.TempDir())); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remove()) }()
	}
	asked, err := o.ask(c, args, config, dir)
	if err != nil {
		return err
	}
	o.read, o.finished = true, true
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
	for _, q := range asked {
		err := o.lookUp(c, j, x, q)
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

// question is what one argument names.
type question struct {
	name    string
	sources []inputs.Source
	page    *lookup.Asked // of a web server; its body is in the file body
	body    string
	err     error // the web server has no such page
}

// ask finds the files that are named, and reads standard input and pages of web servers
// into a directory.
func (o *lookupOptions) ask(c *cobra.Command, args []string, config configs.Config, dir string) ([]question, error) {
	p, err := newProgress("none", "text", c.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	if _, err := o.names(c, args); err != nil {
		return nil, err
	}
	asked := make([]question, len(args))
	files := workOptions{workspace: dir}
	for i, name := range args { // what is wrong shows before anybody waits
		switch asked[i].name = name; {
		case isPage(name):
			err = lookup.CheckAddress(name)
		case !comes(name):
			asked[i].sources, err = files.inputs(c, []string{name}, config, p)
		}
		if err != nil {
			return nil, err
		}
	}
	for i, name := range args {
		switch {
		case isPage(name):
			err = asked[i].fetch(c.Context(), config.Extract.MaxRecordBytes, filepath.Join(dir, fmt.Sprint("page-", i)))
		case comes(name):
			asked[i].sources, err = files.inputs(c, []string{name}, config, p)
		}
		if err != nil {
			return nil, err
		}
	}
	return asked, nil
}

// fetch reads the page of a web server, its body into a file.
func (q *question) fetch(ctx context.Context, maxBody int64, file string) error {
	page, err := lookup.Fetch(ctx, q.name, maxBody)
	if errors.Is(err, workspace.ErrInputFailure) {
		q.err = err
		return nil
	}
	if err != nil {
		return err
	}
	q.body, q.page = file, &page
	err = os.WriteFile(file, page.Body, 0o600)
	page.Body = nil
	return err
}

// isPage reports whether an argument is the URL of a page of a web server.
func isPage(name string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(name), "://")
	return scheme == "https" || scheme == "http"
}

// comes reports whether an argument names what may come slowly.
func comes(name string) bool { return isPage(name) || inputs.IsStream(name) }

// lookUp looks up the pages that one argument names.
func (o *lookupOptions) lookUp(c *cobra.Command, j *job, x *lookup.Index, q question) (err error) {
	if q.err != nil {
		return q.err
	}
	if q.page != nil {
		if q.page.Body, err = os.ReadFile(q.body); err != nil {
			return err
		}
		if o.uri != "" {
			q.page.URI = o.uri
		}
		a, err := x.Page(c.Context(), *q.page, o.limit)
		if err != nil {
			return err
		}
		return o.print(c, a)
	}
	asked := false
	_, err = x.Sources(c.Context(), q.sources, reading.Options{Workers: 1, Progress: j.progress,
		PageURI: func(inputs.Source) string { asked = true; return o.uri }}, o.limit, func(a report.Answer) error { return o.print(c, a) })
	if o.uri != "" && !asked {
		o.warn(c, q.name+" is no single page, so --uri says nothing of it")
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
