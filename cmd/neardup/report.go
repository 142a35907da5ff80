package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"neardup/pipeline"
	"neardup/report/static"
)

// reportFlags are the flags of neardup report.
type reportFlags struct {
	workOptions
	output string
	pipeline.StatisticsOptions
}

// mostSamples bounds what the report's first page takes.
const mostSamples = 1000

func reportCommand() *cobra.Command {
	var o reportFlags
	c := &cobra.Command{
		Use:   "report",
		Short: "Write a report as a directory of HTML pages",
		Long: `Report says how much of the archive is redundant, where, and how sure that is: by
host and by month, clusters by their size, scores, what each filter took out, the
largest clusters, and a sample of what differs between pages that are in one
cluster. The pages open from disk, without network and without script:

  neardup report --output report
  xdg-open report/index.html

The directory is written whole or not at all. A former report is replaced as a
whole; any other directory must be empty. docs/exports.md says what each figure
is.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return usageError{err}
			}
			o.progress = "none"
			j, err := o.open(c, false, nil)
			if err != nil {
				return err
			}
			return errors.Join(o.write(c, j), j.Close())
		},
	}
	o.workspaceFlag(c)
	f := c.Flags()
	f.StringVarP(&o.output, "output", "o", "", "directory to write: new, empty, or a former report, which is replaced")
	f.StringVar(&o.Title, "title", "Near-duplicate report", "title of the report")
	f.IntVar(&o.Samples, "samples", 12, fmt.Sprintf("pairs of pages whose differences are shown, at most %d", mostSamples))
	f.Uint64Var(&o.Seed, "seed", 1, "seed of what is drawn at random")
	return c
}

// check says what is wrong with the flags.
func (o *reportFlags) check() error {
	switch {
	case o.output == "":
		return errors.New("--output: name the directory to write")
	case o.Samples < 0 || o.Samples > mostSamples:
		return fmt.Errorf("--samples: %d is not from 0 to %d", o.Samples, mostSamples)
	case o.Title == "":
		return errors.New("--title is empty")
	}
	if err := pipeline.CheckDirectory(o.output, static.Mark, static.Owns); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

func (o *reportFlags) write(c *cobra.Command, j *job) error {
	ctx := c.Context()
	r, err := j.Statistics(ctx, o.StatisticsOptions)
	if err != nil {
		return err
	}
	err = pipeline.ExportDirectory(o.output, func(create func(string) (io.WriteCloser, error)) error {
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
	_, err = fmt.Fprintln(c.OutOrStdout(), filepath.Join(o.output, static.Index))
	return err
}
