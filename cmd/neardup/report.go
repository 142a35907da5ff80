package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"neardup/pipeline/disk"
	"neardup/pipeline/statistics"
	"neardup/report/static"
	"neardup/screen"
)

// reportFlags are the flags of neardup report.
type reportFlags struct {
	workOptions
	output string
	statistics.Options
}

// maxSamples bounds the memory and size of the report's first page.
const maxSamples = 1000

func reportCommand() *cobra.Command {
	var o reportFlags
	c := &cobra.Command{
		Use:   "report",
		Short: "Write a report as a directory of HTML pages",
		Long: `Report writes HTML pages about the archive: how much of it is nearly the same, what
a keep list would drop and what would be lost, where, and how sure that is. They
have near-duplicates by host and by month, clusters by size, contained pages,
scores, what each filter rejected, the largest clusters, and a sample of what
differs between pages of one cluster. The pages open from disk, without
network and without script:

  neardup report --output report
  xdg-open report/index.html

Report writes the directory whole or not at all. It replaces a former report as
a whole; any other directory must be empty. docs/exports.md explains each
figure.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return usageError{err}
			}
			o.progress, o.read = "none", true
			j, err := o.open(c, false, nil)
			if err != nil {
				return err
			}
			err = o.checkOutput(j, "--output", o.output)
			if err == nil {
				err = o.write(c, j)
			}
			return errors.Join(err, j.Close())
		},
	}
	o.workspaceFlag(c)
	o.tempFlag(c)
	f := c.Flags()
	f.StringVarP(&o.output, "output", "o", "", "directory to write: new, empty, or a former report, which is replaced")
	f.StringVar(&o.Title, "title", "Near-duplicate report", "title of the report")
	f.IntVar(&o.Samples, "samples", 12, fmt.Sprintf("pairs of pages whose differences are shown, at most %d", maxSamples))
	f.Uint64Var(&o.Seed, "seed", 1, "seed of what is drawn at random")
	return c
}

// check returns an error if the flags are wrong.
func (o *reportFlags) check() error {
	switch {
	case o.output == "":
		return errors.New("--output: name the directory to write")
	case o.Samples < 0 || o.Samples > maxSamples:
		return fmt.Errorf("--samples: %d is not from 0 to %d", o.Samples, maxSamples)
	case o.Title == "":
		return errors.New("--title is empty")
	}
	if err := disk.CheckDirectory(o.output, static.Mark, static.Owns); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

func (o *reportFlags) write(c *cobra.Command, j *job) error {
	ctx := c.Context()
	r, err := statistics.Gather(ctx, j.Workspace, o.Options)
	if err != nil {
		return err
	}
	err = disk.ExportDirectory(o.output, func(create func(string) (io.WriteCloser, error)) error {
		err := static.Write(&r, func(name string) (io.WriteCloser, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return create(name)
		})
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), screen.Printable(filepath.Join(o.output, static.Index)))
	return err
}
