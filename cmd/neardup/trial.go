package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"neardup/pipeline/disk"
	"neardup/pipeline/exports"
	"neardup/pipeline/workspace"
	"neardup/sweep"
	"neardup/truth"
)

// errNothingKept is of a run in a temporary workspace.
const errNothingKept interruption = "interrupted; a temporary workspace is removed: name one with --workspace to be able to go on"

// trialOptions are the flags of commands that run all stages several times.
type trialOptions struct {
	workOptions
	truth string
	out   string
}

// flags adds these flags to a command that writes the named files into the
// directory --out.
func (o *trialOptions) flags(c *cobra.Command, files string) {
	o.workFlags(c)
	o.inputFlags(c)
	f := c.Flags()
	workspace := f.Lookup("workspace")
	workspace.Usage = "workspace to work in, and to go on in after an interruption;\ndefault a temporary one"
	workspace.DefValue, o.workspace = "", ""
	f.StringVar(&o.truth, "truth", "", "prefix of the two files of labels")
	f.StringVarP(&o.out, "out", "o", "", "directory for "+files)
}

// trial runs a trial in the workspace of the flags. check reads the other flags before
// any work is done; its errors are wrong use. run runs the variants and returns the
// function that writes the results. They are also written if an input could not be
// read.
func (o *trialOptions) trial(c *cobra.Command, args []string, check func() error, run func(*job) (write func(io.Writer) error, err error)) (err error) {
	if o.workspace == "" && len(args)+len(o.lists) == 0 {
		return usageError{errors.New("nothing to read: name a file, a directory or a pattern, or a --workspace")}
	}
	remove, err := o.temporary(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := check(); err != nil {
		return usageError{err}
	}
	if err := checkOut(o.out, nil); err != nil {
		return err
	}
	if err := makeOut(o.out); err != nil {
		return err
	}
	j, err := o.open(c, true, args)
	if err != nil {
		return err
	}
	known, err := j.Sources()
	if err == nil {
		err = checkOut(o.out, slices.Concat(j.inputs, known))
	}
	if err != nil {
		return errors.Join(err, j.Close())
	}
	write, failure := run(j)
	if failure == nil || errors.Is(failure, workspace.ErrInputFailure) {
		failure = errors.Join(write(c.OutOrStdout()), failure)
	}
	return errors.Join(failure, j.Close())
}

// temporary makes a temporary workspace if none is named. It returns the function
// that removes it.
func (o *trialOptions) temporary(c *cobra.Command) (remove func() error, err error) {
	if o.workspace != "" {
		return func() error { return nil }, nil
	}
	if err := o.checkTemp(); err != nil {
		return nil, usageError{err}
	}
	dir, drop, err := disk.MkdirTemp(cmp.Or(o.temp, os.TempDir()))
	if err != nil {
		return nil, err
	}
	o.workspace, o.temp = dir, "" // all is in this directory, so that a killed command leaves nothing elsewhere
	return func() error {
		err := drop()
		if c.Context().Err() != nil {
			err = errors.Join(err, errNothingKept)
		}
		return err
	}, nil
}

// readTruth returns the labels of the files with a prefix, and a digest of these
// files. Without a prefix it returns nil.
func readTruth(prefix string) (t *truth.Truth, digest string, err error) {
	if prefix == "" {
		return nil, "", nil
	}
	var files [2][]byte
	h := sha256.New()
	for i, name := range []string{prefix + ".pages.tsv", prefix + ".truth.tsv"} {
		if files[i], err = os.ReadFile(name); err != nil {
			return nil, "", fmt.Errorf("--truth: %w", err)
		}
		fmt.Fprintf(h, "%d\n", len(files[i]))
		_, _ = h.Write(files[i])
	}
	if t, err = truth.Read(bytes.NewReader(files[0]), bytes.NewReader(files[1])); err != nil {
		return nil, "", fmt.Errorf("--truth %s: %w", prefix, err)
	}
	return t, fmt.Sprintf("%x", h.Sum(nil)), nil
}

func writeTruthUse(out io.Writer, t *sweep.TruthUse) {
	if t != nil {
		fmt.Fprintf(out, "truth: %d pages, %d of them match no document\n", t.Pages, t.Missing)
	}
}

// makeOut creates the directory --out.
func makeOut(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usageError{fmt.Errorf("--out: %w", err)}
	}
	return nil
}

// writeFiles writes files into the directory --out, if it is given. Then it removes those
// that an earlier call of the command may have left there, by their names: a figure of
// other results would be taken for one of these. mayBe reports whether the command has
// files of a name; names of files that people fill in are none of them.
func writeFiles(dir string, files map[string]func(io.Writer) error, mayBe func(name string) bool) error {
	if dir == "" {
		return nil
	}
	for name, write := range files {
		if err := exports.ExportFile(filepath.Join(dir, name), write); err != nil {
			return err
		}
	}
	there, err := os.ReadDir(dir)
	for _, e := range there {
		if _, ok := files[e.Name()]; !ok && e.Type().IsRegular() && mayBe(e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// oneOf returns a function that reports whether a name is one of the names.
func oneOf(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// variant sets the variant that the following stages belong to.
func (p *progress) variant(name string, place, variants int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bars {
		fmt.Fprintf(p.out, "%d of %d: %s\n", place, variants, strings.TrimSpace(name))
		return
	}
	if p.plain == nil {
		p.plain = p.log
	}
	p.log = p.plain.With("variant", name, "place", place, "variants", variants) // "of" is a key of the line "working"
}
