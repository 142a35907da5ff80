// Package results reads what the stages wrote: texts, documents by name, sets, near
// pairs, clusters with their pages, and the summary.
package results

import (
	"context"
	"iter"
	"slices"

	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
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
		for c, err := range Groups(ctx, w) {
			if err == nil && c.Size == 0 {
				continue
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Groups yields the groups of a workspace (groups.Tables).
func Groups(ctx context.Context, w *workspace.Workspace) iter.Seq2[report.Cluster, error] {
	return eachGroup(ctx, w, groups.Tables.Groups)
}

// GroupParts is Groups where clusters of many pages come in parts.
func GroupParts(ctx context.Context, w *workspace.Workspace) iter.Seq2[report.Cluster, error] {
	return eachGroup(ctx, w, groups.Tables.Parts)
}

func eachGroup(ctx context.Context, w *workspace.Workspace, each func(groups.Tables, context.Context) iter.Seq2[report.Cluster, error]) iter.Seq2[report.Cluster, error] {
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
		each(groups.Tables{Clusters: w.DB.Table(layout.TableCluster), Contained: w.DB.Table(layout.TableContained),
			Pages: gathered.Sorted(), Places: places, EstimatedBy: w.Config.EstimatedBy(), Dir: w.DB.Tmp}, ctx)(yield)
	}
}

// PartsOf is GroupParts for those of some groups that there are. It looks each page up. The
// representatives come sorted.
func PartsOf(ctx context.Context, w *workspace.Workspace, of []rows.TextID) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		places, err := Places(w)
		if err != nil {
			yield(report.Cluster{}, err)
			return
		}
		groups.Tables{Clusters: rowsOf(w, layout.TableCluster, layout.ClusterOf, of), Contained: rowsOf(w, layout.TableContained, layout.ContainedOf, of),
			Pages: pagesOf(w, of), Places: places, EstimatedBy: w.Config.EstimatedBy(), Dir: w.DB.Tmp}.Parts(ctx)(yield)
	}
}

// rowsOf yields the rows of a table by their groups.
func rowsOf(w *workspace.Workspace, table byte, prefix func(group rows.TextID) []byte, of []rows.TextID) iter.Seq2[layout.Row, error] {
	return func(yield func(layout.Row, error) bool) {
		s, err := w.DB.Seeker(table)
		if err != nil {
			yield(layout.Row{}, err)
			return
		}
		defer func() { _ = s.Close() }() // the lookups have reported its errors
		for _, group := range of {
			for r, err := range s.Rows(prefix(group)) {
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// pagesOf yields the pages of groups, text by text, as groups.Documents emits them.
func pagesOf(w *workspace.Workspace, of []rows.TextID) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		find, err := NewPageFinder(w.DB)
		if err != nil {
			yield(extsort.Entry{}, err)
			return
		}
		defer find.Close()
		clusters, err := w.DB.Seeker(layout.TableCluster)
		if err != nil {
			yield(extsort.Entry{}, err)
			return
		}
		defer func() { _ = clusters.Close() }() // the lookups have reported its errors
		contained, err := w.DB.Seeker(layout.TableContained)
		if err != nil {
			yield(extsort.Entry{}, err)
			return
		}
		defer func() { _ = contained.Close() }()
		for _, group := range of {
			texts, err := textsOf(clusters, contained, group)
			if err != nil {
				yield(extsort.Entry{}, err)
				return
			}
			for _, t := range texts {
				for e, err := range find.gathered(groups.Wanted{Group: group, Text: t}) {
					if !yield(e, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

// textsOf returns the texts whose pages a group has, sorted.
func textsOf(clusters, contained *store.Seeker, group rows.TextID) (texts []rows.TextID, err error) {
	for r, err := range clusters.Rows(layout.ClusterOf(group)) {
		var c rows.Cluster
		if err == nil {
			c, err = r.Cluster()
		}
		if err != nil {
			return nil, err
		}
		texts = append(texts, c.Member)
	}
	for r, err := range contained.Rows(layout.ContainedOf(group)) {
		var c rows.Contained
		if err == nil {
			c, err = r.Contained()
		}
		if err != nil {
			return nil, err
		}
		texts = append(texts, c.Host, c.Text)
	}
	slices.SortFunc(texts, rows.CompareTexts)
	return slices.Compact(texts), nil
}

// groupedTexts yields the texts whose pages Groups needs, in order.
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
