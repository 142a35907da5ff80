// Package checking checks a workspace: the checksums of all blocks of its files,
// the recorded contents of its tables, the references between the tables, and the
// exports.
package checking

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"neardup/pipeline/disk"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/preferences"
	"neardup/pipeline/results"
	"neardup/pipeline/store"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

// maxNamed limits the problems that are named.
const maxNamed = 100

// Result is the result of a check.
type Result struct {
	Files    int      // files of the database, each sound or among the problems
	Rows     int64    // rows that were compared with others
	Exports  int      // files that were compared with the database
	Problems []string // the first problems
	More     int64    // further problems that are not named
	Notes    []string // what was not checked, and why

	OnlyExports bool // all problems are of exports
}

// checker collects problems.
type checker struct {
	Result
	ctx context.Context
	w   *workspace.Workspace
}

// Check checks the workspace in dir. open opens it, and is called only when the
// files of its database are sound, since an open database ends the process when it
// meets damage. Check changes nothing. The result has the damage; the error is one
// of the check itself, or says why the workspace is refused. Opening the workspace
// checks the manifest and the files that Pebble trusts.
func Check(ctx context.Context, dir string, open func() (*workspace.Workspace, error)) (Result, error) {
	c := &checker{ctx: ctx}
	if err := c.files(filepath.Join(dir, "db")); err != nil || len(c.Problems) > 0 {
		return c.Result, err
	}
	before, _ := workspace.ReadManifest(dir) // opening reports an error, or makes it again
	w, err := open()
	if err != nil {
		return c.Result, err
	}
	c.w = w
	if err := c.manifest(before); err != nil {
		return c.Result, errors.Join(err, w.Close())
	}
	return c.Result, errors.Join(c.tables(), w.Close())
}

// files checks the files of the database.
func (c *checker) files(dir string) error {
	lock, err := store.LockDirectory(dir)
	if err != nil { // opening reports the reason, or that there is no database
		return nil
	}
	checked, err := store.CheckFiles(c.ctx, dir, lock)
	c.Files = checked.Files
	for _, err := range checked.Wrong {
		c.problem("%v", err)
	}
	for _, name := range checked.Left {
		c.note(name + ", because a run that was stopped had not written it to the end; it is no part of the database, which removes it")
	}
	if len(checked.Wrong) > 0 { // the rest cannot be read, or would be reported twice
		c.note("tables and exports, because files of the database are damaged")
	}
	return errors.Join(err, lock.Close())
}

// tables checks the references between the tables, and the exports. What another version
// of a stage wrote it compares with what that noted.
func (c *checker) tables() error {
	steps := []func() error{c.contents, c.sources, c.copies, c.preferences, c.texts, c.documents, c.around, c.signatures, c.verified, c.exports}
	for _, st := range c.w.Stages {
		s, ok, err := c.w.State(st.Name)
		if err != nil {
			return err
		}
		if ok && s.Version != st.Version {
			c.note(fmt.Sprintf("references between tables, and exports, because %s has version %d and this program has %d; neardup run brings it up to date", st.Name, s.Version, st.Version))
			steps = steps[:1]
			break
		}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			if c.ctx.Err() != nil || !errors.Is(err, layout.ErrCorrupt) {
				return err
			}
			c.OnlyExports = false
			c.problem("%v", err) // a row that cannot be parsed
		}
	}
	return nil
}

// manifest checks that the database has the inputs that a manifest names as read. The
// manifest is written after the database, so it never has more of them; it may still have
// those that were removed when a command was stopped.
func (c *checker) manifest(m workspace.Manifest) error {
	known, err := c.w.Sources()
	if err != nil {
		return err
	}
	all, err := c.w.Withdrawn()
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, s := range known {
		has[s.FilePath()] = true // a WACZ file that was rewritten may have other members
	}
	for _, s := range m.Inputs {
		removed := slices.ContainsFunc(all, func(d withdrawn.Withdrawal) bool { return d.IsOf(c.ctx, s, c.w.Config.Extract.Limits) })
		if s.State == inputs.Done && !has[s.FilePath()] && !removed {
			c.problem("manifest.json names %s, which the database does not have: the two are of different times; put the whole workspace back from one copy", s.Shown())
		}
	}
	return nil
}

// done reports whether a stage is done with what the stages before it have now. Where
// captures were withdrawn, a stage that is not may have rows about texts that are gone.
func (c *checker) done(stage string) (bool, error) {
	input := ""
	for _, st := range c.w.Stages {
		s, ok, err := c.w.State(st.Name)
		if err != nil || !ok || !s.Done || s.Input == "" || input != "" && s.Input != input { // none: captures were withdrawn since
			return false, err
		}
		if st.Name == stage {
			return true, nil
		}
		input = s.Generation()
	}
	return false, nil
}

func (c *checker) problem(format string, args ...any) {
	if len(c.Problems) == maxNamed {
		c.More++
		return
	}
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

func (c *checker) note(what string) { c.Notes = append(c.Notes, what) }

// preferences checks the lists of scores and hosts.
func (c *checker) preferences() error {
	entries, wrong, err := preferences.Check(c.w)
	c.Rows += entries
	for _, what := range wrong {
		c.problem("%s", what)
	}
	return err
}

// contents compares the tables with their recorded contents.
func (c *checker) contents() error {
	err := c.w.CheckContents()
	if errors.Is(err, layout.ErrCorrupt) {
		c.problem("%v", err)
		return nil
	}
	return err
}

// copies compares copies of standard input with their checksums.
func (c *checker) copies() error {
	known, err := c.w.Sources()
	for _, s := range known {
		if !s.IsCopy() || s.SHA256 == "" {
			continue
		}
		name := "spool/" + filepath.Base(s.FilePath())
		same, err := s.HasSum(c.ctx, c.w.Config.Extract.Limits)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.note(name + ", a copy of standard input, because it is gone: it cannot be extracted again")
		case c.ctx.Err() != nil || disk.IsRefused(err):
			return err
		case err != nil:
			c.problem("%s, a copy of standard input, cannot be read: %v", name, err)
		case !same:
			c.problem("%s, a copy of standard input, is not what was read", name)
		}
	}
	return err
}

// sources checks that every record is accounted for.
func (c *checker) sources() error {
	known, err := c.w.Sources()
	if err != nil {
		return err
	}
	var sum results.ExtractCounts
	for _, s := range known {
		n := s.Counts.Captures + s.Counts.Revisits
		for _, skipped := range s.Counts.Skipped {
			n += skipped
		}
		if n != s.Counts.Records {
			c.problem("input %s has %d records, but %d are accounted for", s.Path, s.Counts.Records, n)
		}
		sum.RecordCounts.Add(s.Counts)
	}
	s, ok, err := c.w.State(workspace.StageExtract)
	if err != nil || !ok || !s.Done || s.Tables == nil {
		if err == nil {
			c.note("counts of the extraction, which is not done")
		}
		return err
	}
	var counts results.ExtractCounts
	if err := c.w.Counts(workspace.StageExtract, &counts); err != nil {
		return err
	}
	if sum.Records != counts.Records || counts.Files != len(known) {
		c.problem("the extraction counts %d records in %d files; the inputs have %d in %d", counts.Records, counts.Files, sum.Records, len(known))
	}
	if counts.Duplicates < 0 {
		c.problem("the extraction counts %d captures, but %d documents", counts.Captures, counts.Documents)
	}
	if counts.Captures != counts.Documents+counts.Duplicates {
		c.problem("the extraction counts %d captures, but %d documents and %d duplicates", counts.Captures, counts.Documents, counts.Duplicates)
	}
	return nil
}
