package keeping

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"neardup/keep"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Pages yields the clusters, and then, by text, each page in no cluster as a
// cluster of its own. Such a cluster has no ID and no choices: its page is kept.
func Pages(ctx context.Context, w *workspace.Workspace, r keep.Rules) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		for c, err := range Clusters(ctx, w, r) {
			if !yield(c, err) || err != nil {
				return
			}
		}
		if err := alone(ctx, w, func(c Cluster) bool { return yield(c, nil) }); err != nil {
			yield(Cluster{}, err)
		}
	}
}

// alone yields the pages in no cluster.
func alone(ctx context.Context, w *workspace.Workspace, yield func(Cluster) bool) (err error) {
	places, err := results.Places(w)
	if err != nil {
		return err
	}
	gathered, err := results.Gather(ctx, w.DB, unassigned(w.DB.Table(layout.TableOccurrence), results.ClusteredTexts(w)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gathered.Close()) }()
	for t, err := range groups.Pages(ctx, gathered.Sorted(), w.DB.Tmp) {
		if err != nil {
			return err
		}
		places.Fill(t.Pages)
		for _, m := range t.Pages {
			m.Chosen = report.Alone()
			if !yield(Cluster{Cluster: report.Cluster{Size: 1, Representative: m.RecordID, Members: []report.Member{m}}}) {
				return nil
			}
		}
	}
	return nil
}

// unassigned yields the texts of the rows of TableOccurrence that are not among the
// clustered texts, in order.
func unassigned(occurrences iter.Seq2[layout.Row, error], clustered iter.Seq2[groups.Wanted, error]) iter.Seq2[groups.Wanted, error] {
	return func(yield func(groups.Wanted, error) bool) {
		next, stop := iter.Pull2(clustered)
		defer stop()
		in, err, more := next()
		var last rows.TextID
		first := true
		for r, rowErr := range occurrences {
			if err = errors.Join(err, rowErr); err != nil {
				break
			}
			var t rows.TextID
			if t, _, err = layout.ParseOccurrenceKey(r.Key()); err != nil {
				break
			}
			if !first && t == last {
				continue
			}
			last, first = t, false
			for err == nil && more && rows.CompareTexts(in.Text, t) < 0 {
				in, err, more = next()
			}
			if err != nil {
				break
			}
			if more && in.Text == t {
				continue
			}
			if !yield(groups.Wanted{Group: t, Text: t}, nil) {
				return
			}
		}
		if err != nil {
			yield(groups.Wanted{}, err)
		}
	}
}

// Unmatched returns the patterns that match the URI of no page, in their order.
func Unmatched(ctx context.Context, w *workspace.Workspace, patterns keep.Patterns) (unmatched []string, err error) {
	matched := make([]bool, len(patterns.Written()))
	left := len(matched)
	for d, err := range results.DocumentRows[groups.DocumentView](w) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		for i := range patterns.Matching(d.Row.TargetURI) {
			if !matched[i] {
				matched[i] = true
				left--
			}
		}
		if left == 0 {
			break
		}
	}
	for i, pattern := range patterns.Written() {
		if !matched[i] {
			unmatched = append(unmatched, pattern)
		}
	}
	return unmatched, nil
}
