package exports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"neardup/keep"
	"neardup/pipeline/keeping"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// corpusFlags are the flags of corpus formats.
var corpusFlags = slices.DeleteFunc(slices.Concat([]string{"all", "clean", "visible", "shard-size"}, keepFlags), func(f string) bool { return f == "min-text" })

// corpusAs writes the texts of the pages that stay.
func corpusAs(to func(io.Writer) report.CorpusWriter) func(context.Context, *workspace.Workspace, Options, io.Writer) error {
	return func(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error {
		c := to(out)
		err := eachText(ctx, w, o, c.Page)
		return cmp.Or(err, ctx.Err(), c.Close())
	}
}

// shardsAs writes the same as files with about shard-size bytes of text each.
func shardsAs(ending string, to func(io.Writer) report.CorpusWriter) func(context.Context, *workspace.Workspace, Options, create) error {
	return func(ctx context.Context, w *workspace.Workspace, o Options, make create) error {
		var f io.WriteCloser
		var shard report.CorpusWriter
		number, size := 0, int64(0)
		end := func() error {
			if shard == nil {
				return nil
			}
			err := errors.Join(shard.Close(), f.Close())
			shard, size = nil, 0
			return err
		}
		err := eachText(ctx, w, o, func(p report.CorpusPage) (err error) {
			if shard != nil && size+int64(len(p.Text)) > o.ShardSize {
				if err := end(); err != nil {
					return err
				}
			}
			if shard == nil {
				if f, err = make(fmt.Sprintf("corpus-%05d.%s", number, ending)); err != nil {
					return err
				}
				shard = to(f)
				number++
			}
			size += int64(len(p.Text))
			return shard.Page(p)
		})
		return errors.Join(err, end(), ctx.Err())
	}
}

// eachText yields the pages that stay, or all pages, in the order of the export of
// all pages.
func eachText(ctx context.Context, w *workspace.Workspace, o Options, yield func(report.CorpusPage) error) error {
	wanted := keep.Default()
	if o.Keep != nil {
		wanted = *o.Keep
	}
	wanted.MinText, o.Keep = 0, &wanted // only the text of a page counts here
	rules, err := o.rules(w)
	if err != nil {
		return err
	}
	if o.Clean && w.Config.Text.Frames == 0 {
		return fmt.Errorf("%w: --clean leaves out the frames of sites, which were not learned: run with --set text.frames=10", workspace.ErrUsage)
	}
	if o.Clean && o.Visible {
		return fmt.Errorf("%w: --clean and --visible exclude each other: frames are left out of what is compared, and are visible", workspace.ErrUsage)
	}
	reader, err := results.LoadFrames(w)
	if err != nil {
		return err
	}
	for c, err := range keeping.Pages(ctx, w, rules) {
		if err != nil {
			return err
		}
		for i, m := range c.Members {
			choice := report.Choice{Action: report.ActionKeep, Why: report.WhyAlone}
			if c.Choices != nil {
				choice = c.Choices[i]
			}
			if o.Kept != nil {
				o.Kept.Add(choice, m)
			}
			if choice.Action == report.ActionRedundant && !o.All {
				continue
			}
			shown, err := textOf(w, m, o, reader)
			if err == nil {
				err = yield(report.NewCorpusPage(c.Cluster, m, choice.Action, shown))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// textOf returns the text of a page: without the frames of its sites with Clean, if
// enough is left, or all visible text with Visible.
func textOf(w *workspace.Workspace, m report.Member, o Options, reader *results.Reader) (string, error) {
	t, err := layout.ParseTextID(m.Text)
	if err != nil {
		return "", err
	}
	stored, err := results.TextOf(w, t)
	switch {
	case err != nil:
		return "", err
	case o.Visible:
		return results.VisibleOf(w, m, stored)
	case o.Clean:
		own, framed, err := reader.Clean(t, stored)
		if err == nil && o.Cleaned != nil {
			o.Cleaned.Add(stored, own, framed)
		}
		return own, err
	}
	return stored, nil
}
