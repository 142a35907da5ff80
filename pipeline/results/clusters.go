// Package results reads what the stages wrote: texts, documents by name, sets, near
// pairs, clusters with their pages, and the summary.
package results

import (
	"context"
	"iter"

	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// ClusterOf returns the representative of the text's cluster. ok is false if the
// text is in none.
func ClusterOf(w *workspace.Workspace, t rows.TextID) (representative rows.TextID, ok bool, err error) {
	v, ok, err := w.DB.Get(layout.AssignedKey(t))
	if ok && len(v) != len(representative) {
		err = layout.Corrupt(layout.AssignedKey(t))
	}
	copy(representative[:], v)
	return representative, ok, err
}

// Clusters yields the clusters of at least two pages, by ID. Only one is in memory
// at a time.
func Clusters(ctx context.Context, w *workspace.Workspace) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		for c, err := range eachGroup(ctx, w) {
			if err == nil && c.Size == 0 {
				continue
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// eachGroup yields the groups of a workspace (groups.Tables).
func eachGroup(ctx context.Context, w *workspace.Workspace) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		places, err := Places(w)
		if err != nil {
			yield(report.Cluster{}, err)
			return
		}
		gathered, err := Gather(ctx, w.DB, groupedTexts(w))
		if err != nil {
			yield(report.Cluster{}, err)
			return
		}
		defer func() { _ = gathered.Close() }()
		groups.Tables{Clusters: w.DB.Table(layout.TableCluster), Contained: w.DB.Table(layout.TableContained),
			Pages: groups.Pages(ctx, gathered.Sorted()), Places: places, EstimatedBy: w.Config.EstimatedBy()}.Groups(ctx)(yield)
	}
}

// groupedTexts yields the texts whose pages eachGroup needs, in order.
func groupedTexts(w *workspace.Workspace) iter.Seq2[groups.Wanted, error] {
	hosts := func(yield func(groups.Wanted, error) bool) { // hosts in no cluster are the names of their groups
		for r, err := range w.DB.Table(layout.TableContained) {
			var c rows.Contained
			if err == nil {
				c, err = r.Contained()
			}
			if err == nil && c.Group != c.Host {
				continue
			}
			if !yield(groups.Wanted{Group: c.Group, Text: c.Host}, err) || err != nil {
				return
			}
		}
	}
	contained := func(yield func(groups.Wanted, error) bool) {
		for r, err := range w.DB.Table(layout.TableHost) {
			var c rows.Contained
			if err == nil {
				c, err = r.HostOf()
			}
			if !yield(groups.Wanted{Group: c.Group, Text: c.Text}, err) || err != nil {
				return
			}
		}
	}
	return groups.Merge(ClusteredTexts(w), groups.Merge(hosts, contained))
}

// ClusteredTexts yields the texts in clusters, in order.
func ClusteredTexts(w *workspace.Workspace) iter.Seq2[groups.Wanted, error] {
	return func(yield func(groups.Wanted, error) bool) {
		for r, err := range w.DB.Table(layout.TableAssigned) {
			var t groups.Wanted
			if err == nil {
				t, err = parseAssigned(r)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// parseAssigned parses a row of TableAssigned: a text and, as its group, its
// cluster.
func parseAssigned(r layout.Row) (t groups.Wanted, err error) {
	text, representative, err := r.Representative()
	return groups.Wanted{Group: representative, Text: text}, err
}
