package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"neardup/pipeline/inputs"
	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

// removeOptions are the flags of neardup remove.
type removeOptions struct {
	workOptions
	why  string
	undo bool
	list bool
}

func removeCommand() *cobra.Command {
	var o removeOptions
	c := &cobra.Command{
		Use:   "remove INPUT|URI-PATTERN...",
		Short: "Withdraw captures, by input or by URI, and keep them out",
		Long: `Remove takes captures out of the workspace, and brings all stages and exports up to
date. The result is that of one run over what is left. Archives stay as they are.

  neardup remove crawl-2019.warc.gz
  neardup remove --why 'request of 3 May' 'https://shop.example/orders/*'

An INPUT is a file of the workspace, a directory, which means all inputs below it,
or a URL as it was given. Anything else with :// or *, or that begins with urn:, is
a pattern of URIs: * stands for any characters; scheme and fragment do not count.
A capture stays if another input has it. Inputs with the same bytes go together, so
all of them must be named.
What is withdrawn stays out: later runs pass it over, also under another file name
and in other inputs, and count it as withdrawn. --undo lets it in again: captures of
a URI are read again by the next run, an input when it is named again.

The texts are gone from the tables at once. Until neardup compact has run, they can
be recovered from the files of the workspace. --list shows what is withdrawn, and
why. docs/takedown.md says what else may hold a page's text or its URI.`,
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	o.workspaceFlag(c)
	f := c.Flags()
	f.IntVar(&o.workers, "workers", 0, "number of workers; 0: one for each processor")
	f.StringVar(&o.progress, "progress", "auto", "auto, bar, plain, json or none")
	f.StringVar(&o.why, "why", "", "reason to keep with it")
	f.BoolVar(&o.undo, "undo", false, "forget that the inputs or patterns are withdrawn")
	f.BoolVar(&o.list, "list", false, "show what is withdrawn, as JSON lines, and change nothing")
	return c
}

func (o *removeOptions) run(c *cobra.Command, args []string) (err error) {
	switch {
	case o.list != (len(args) == 0):
		return usageError{errors.New("name an input or a URI pattern, or --list alone")}
	case slices.Contains(args, ""):
		return usageError{errors.New("an argument is empty; name an input or a URI pattern")}
	case o.list && o.undo:
		return usageError{errors.New("--list changes nothing, so --undo cannot be beside it")}
	case o.why != "" && (o.list || o.undo):
		return usageError{errors.New("--why is the reason of a withdrawal; --list and --undo make none")}
	}
	o.read = o.list
	j, err := o.open(c, false, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	all, err := j.Withdrawn()
	if err != nil {
		return err
	}
	if o.list {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetEscapeHTML(false)
		for _, d := range all {
			if err := e.Encode(d); err != nil {
				return err
			}
		}
		return nil
	}
	if o.undo {
		return o.takeBack(c, j, all, args)
	}
	known, err := j.Sources()
	if err != nil {
		return err
	}
	var of []withdrawn.Withdrawal
	var unread []inputs.Source
	for _, arg := range args {
		more, without, err := withdrawalsOf(arg, known)
		if err != nil && len(namedIn(all, arg)) > 0 { // it was interrupted; the stages go on
			continue
		}
		if err != nil {
			return err
		}
		unread = append(unread, without...)
		for _, d := range more {
			d.Why = o.why
			of = append(of, d)
		}
	}
	var gone, unnamed []string
	for _, s := range known {
		if !slices.ContainsFunc(of, func(d withdrawn.Withdrawal) bool { return d.IsOf(c.Context(), s, j.Config.Extract.Limits) }) {
			continue
		}
		name := inputs.ShowName(s.Path)
		gone = append(gone, name)
		if !slices.ContainsFunc(of, func(d withdrawn.Withdrawal) bool { return d.Input == name }) {
			unnamed = append(unnamed, name)
		}
	}
	if len(unnamed) > 0 {
		return usageError{fmt.Errorf("other inputs have the same captures and would be withdrawn, too; name them if they are to go: %s", sentence(unnamed))}
	}
	n, goesOn, err := goesOn(j, all, of)
	if err == nil && !goesOn {
		n, err = withdrawals.Withdraw(c.Context(), j.Workspace, of...)
	}
	if err == nil {
		err = j.Forget(unread...)
	}
	if err != nil {
		return err
	}
	for _, s := range unread {
		say(c, "%s, of which nothing was read, is no longer an input.", s.Shown())
	}
	if all, err = j.Withdrawn(); err != nil {
		return err
	}
	for _, name := range gone {
		say(c, "%s is withdrawn.", name)
	}
	for _, d := range of {
		i := slices.IndexFunc(all, func(x withdrawn.Withdrawal) bool { return bytes.Equal(x.Key(), d.Key()) })
		if i >= 0 && all[i].Captures == 0 {
			o.warn(c, fmt.Sprintf("%s: the workspace has no such capture; those of later crawls stay out", cmp.Or(d.URI, d.Input)))
		}
	}
	if known, err = j.Sources(); err != nil {
		return err
	}
	if len(known) > 0 {
		err = o.workOptions.run(c, j, 0)
	}
	say(c, "Captures that are withdrawn: %d. Their texts are on the disk until neardup compact has run.", n)
	return err
}

// goesOn reports whether all is withdrawn, and only the stages were interrupted; captures
// is what was withdrawn then.
func goesOn(j *job, all withdrawn.List, of []withdrawn.Withdrawal) (captures int64, ok bool, err error) {
	s, begun, err := j.State(workspace.StageExtract)
	if err != nil || !begun || s.Done {
		return 0, false, err
	}
	for _, d := range of {
		i := slices.IndexFunc(all, func(x withdrawn.Withdrawal) bool { return bytes.Equal(x.Key(), d.Key()) })
		if i < 0 {
			return 0, false, nil
		}
		captures += all[i].Captures
	}
	return captures, true, nil
}

// paths returns the names under which an argument may be known: as given, and as the path
// of a file, which may no longer exist.
func paths(arg string) []string {
	out := []string{arg}
	if strings.Contains(arg, "://") {
		return out
	}
	if path, err := inputs.RealPath(arg); err == nil {
		out = append(out, path)
	}
	if path, err := filepath.Abs(arg); err == nil {
		out = append(out, path)
	}
	return out
}

// namedIn returns the withdrawals that an argument names: by the pattern, an input, the
// directory that it was in or the WACZ file that it was of.
func namedIn(all withdrawn.List, arg string) (out []withdrawn.Withdrawal) {
	names, pattern := paths(arg), withdrawn.Withdrawal{URI: arg}.Key()
	for _, d := range all {
		if d.URI != "" && bytes.Equal(d.Key(), pattern) || slices.ContainsFunc(d.Inputs(), func(input string) bool {
			return slices.ContainsFunc(names, func(name string) bool {
				name = inputs.ShowName(name)
				return input == name || strings.HasPrefix(input, strings.TrimSuffix(name, "/")+"/") || strings.HasPrefix(input, name+"!")
			})
		}) {
			out = append(out, d)
		}
	}
	return out
}

// named returns the inputs that an argument names: by their path, or the directory that they
// are in; or, if there is no such file or directory, as they were given. Messages and status
// show some names escaped (inputs.ShowName). The escaped name of one file may be the name of
// another, so it counts only where nothing else has the name.
func named(arg string, known []inputs.Source) []inputs.Source {
	names := paths(arg)
	path := names[min(1, len(names)-1)]
	for _, is := range []func(s inputs.Source) bool{
		func(s inputs.Source) bool {
			at := s.Placed().FilePath()
			return at == path || s.Path == path || strings.HasPrefix(at, strings.TrimSuffix(path, "/")+"/")
		},
		func(s inputs.Source) bool { return s.Given == inputs.ShowName(arg) },
		func(s inputs.Source) bool { return s.Given == arg || inputs.ShowName(s.Path) == arg },
	} {
		of := slices.DeleteFunc(slices.Clone(known), func(s inputs.Source) bool { return !is(s) })
		if _, err := os.Lstat(arg); len(of) > 0 || err == nil {
			return of
		}
	}
	return nil
}

// withdrawalsOf returns the withdrawals that an argument stands for, and the inputs of which
// nothing was read.
func withdrawalsOf(arg string, known []inputs.Source) (out []withdrawn.Withdrawal, unread []inputs.Source, err error) {
	for _, s := range named(arg, known) {
		if s.State == inputs.Unreadable && s.Counts.Records == 0 {
			unread = append(unread, s)
			continue
		}
		out = append(out, withdrawn.Withdrawal{Input: inputs.ShowName(s.Path), Size: s.Size, Sample: s.Sample, SHA256: s.SHA256})
	}
	switch {
	case len(out)+len(unread) > 0:
		return out, unread, nil
	case strings.Contains(arg, "*") && strings.Contains(arg, "#"):
		return nil, nil, usageError{fmt.Errorf("%s: what follows # is no part of an address that counts, and would be left out; name the pattern without it", arg)}
	case withdrawn.MistakenForAll(arg):
		return nil, nil, usageError{fmt.Errorf("%s would withdraw all captures, since the scheme of a pattern does not count; name * if that is meant", arg)}
	case strings.Contains(arg, "://") || strings.Contains(arg, "*") || strings.HasPrefix(arg, "urn:"):
		return []withdrawn.Withdrawal{{URI: arg}}, nil, nil
	}
	return nil, nil, usageError{fmt.Errorf("%s is neither an input of the workspace nor a URI pattern, which begins with urn: or has :// or *", arg)}
}

// takeBack removes the withdrawals that the arguments name, all or none.
func (o *removeOptions) takeBack(c *cobra.Command, j *job, listed withdrawn.List, args []string) error {
	var all []withdrawn.Withdrawal
	what := make([]string, len(args))
	for i, arg := range args {
		of := namedIn(listed, arg)
		if len(of) == 0 {
			return usageError{fmt.Errorf("%s is not withdrawn; neardup remove --list shows what is", arg)}
		}
		all = append(all, of...)
		what[i] = "neardup run reads its captures again"
		if of[len(of)-1].URI == "" {
			what[i] = "neardup run reads it again when you name it"
		}
	}
	if _, err := withdrawals.Readmit(c.Context(), j.Workspace, all...); err != nil {
		return err
	}
	for i, arg := range args {
		say(c, "%s is no longer withdrawn; %s", arg, what[i])
	}
	return nil
}

func compactCommand() *cobra.Command {
	var o workOptions
	c := &cobra.Command{
		Use:   "compact",
		Short: "Remove deleted and replaced data from the disk",
		Long: `Compact rewrites the database without the rows that were deleted or replaced, and
removes copies of standard input that have withdrawn captures. Meanwhile it may
need as much free space as the workspace takes. It does not change what other
commands show.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := o.load(c)
			if err != nil {
				return err
			}
			p, err := newProgress("none", "text", c.ErrOrStderr())
			if err != nil {
				return err
			}
			oldExports := false // of withdrawn captures
			done, err := workspace.CompactDisk(c.Context(), o.workspace, stages.All, config, workspace.Options{Progress: p, Fatal: fatal(c)}, func(w *workspace.Workspace) error {
				all, err := w.Withdrawn()
				oldExports = len(all) > 0 && w.ExportsAreOld()
				return errors.Join(err, withdrawals.DropTexts(c.Context(), w), w.DropFinished())
			})
			if err != nil {
				return err
			}
			if oldExports {
				o.warn(c, "captures were withdrawn, and exports may still have their URIs; neardup run makes them again")
			}
			say(c, "The database has %d bytes; before, it had %d.", done.After, done.Before)
			for _, name := range done.Inputs {
				say(c, "%s, a copy of standard input, is gone: it cannot be extracted again.", name)
			}
			return nil
		},
	}
	o.workspaceFlag(c)
	return c
}
