package exports

import (
	"cmp"
	"context"
	"io"

	"neardup/keep"
	"neardup/pipeline/keeping"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// keepFlags are the flags of formats that choose what to keep.
var keepFlags = []string{"policy", "prefer-host", "min-resemblance", "max-lost", "contained", "same-uri", "same-host", "every", "exempt", "exempt-list", "allow-lost-uris"}

// rules returns the rules of the options ready for use.
func (o Options) rules(w *workspace.Workspace) (keep.Rules, error) {
	r := keep.Default()
	if o.Keep != nil {
		r = *o.Keep
	}
	return keeping.Rules(w, r)
}

// keepAs writes what to keep of each cluster.
func keepAs(to func(io.Writer) report.KeepWriter) func(context.Context, *workspace.Workspace, Options, io.Writer) error {
	return func(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error {
		rules, err := o.rules(w)
		if err != nil {
			return err
		}
		list := to(out)
		for c, err := range keeping.Clusters(ctx, w, rules) {
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
