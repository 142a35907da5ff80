package exports

import (
	"cmp"
	"context"
	"io"
	"iter"
	"slices"

	"neardup/keep"
	"neardup/pipeline/keeping"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// keepFlags are the flags of the formats that choose what to keep.
var keepFlags = []string{"policy", "prefer-host", "stored-hosts", "min-resemblance", "max-lost", "min-text", "contained", "same-uri", "same-host", "every", "exempt", "exempt-list", "allow-lost-uris"}

// allFlags are the flags of the formats that can show all pages.
var allFlags = slices.Concat([]string{"all"}, keepFlags)

// writeAll writes the clusters, and then, by text, each page in no cluster as a
// cluster of its own without an ID.
func writeAll(ctx context.Context, w *workspace.Workspace, o Options, to report.Writer) error {
	rules, err := o.rules(w)
	if err != nil {
		return err
	}
	for c, err := range keeping.Pages(ctx, w, rules) {
		if err == nil {
			if c.Choices != nil {
				report.SetChosen(c.Cluster, c.Choices)
			}
			err = to.Write(c.Cluster)
		}
		if err != nil {
			return err
		}
		if o.Kept != nil {
			for i, m := range c.Members {
				if c.Choices != nil {
					o.Kept.Add(c.Choices[i], m)
				} else {
					o.Kept.Keep++
				}
			}
		}
	}
	return cmp.Or(ctx.Err(), to.Close())
}

// rules returns the options' rules, ready for use.
func (o Options) rules(w *workspace.Workspace) (keep.Rules, error) {
	r := keep.Default()
	if o.Keep != nil {
		r = *o.Keep
	}
	r, err := keeping.Rules(w, r, !o.WithoutStoredHosts)
	if err == nil && o.Rules != nil {
		*o.Rules = r
	}
	return r, err
}

// keepAs writes the choices for each cluster.
func keepAs(to func(io.Writer) report.KeepWriter, clusters func(context.Context, *workspace.Workspace, keep.Rules) iter.Seq2[keeping.Cluster, error]) func(context.Context, *workspace.Workspace, Options, io.Writer) error {
	return func(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error {
		rules, err := o.rules(w)
		if err != nil {
			return err
		}
		list := to(out)
		for c, err := range clusters(ctx, w, rules) {
			if err == nil {
				err = list.Write(c.Cluster, c.Choices)
			}
			if err != nil {
				return err
			}
			if o.Kept != nil {
				for i, m := range c.Members {
					o.Kept.Add(c.Choices[i], m)
				}
			}
		}
		return cmp.Or(ctx.Err(), list.Close())
	}
}
