package results

import (
	"context"

	"neardup/pipeline/groups"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// watcher is a report.Writer that passes each cluster to a function and writes
// nothing.
type watcher func(report.Cluster)

func (w watcher) Write(c report.Cluster) error { w(c); return nil }

func (w watcher) Close() error { return nil }

// WriteClusters writes the clusters to the writers, those of many pages in parts.
func WriteClusters(ctx context.Context, w *workspace.Workspace, to ...report.Writer) error {
	return WriteGroups(ctx, w, func(report.ContainedPage) error { return nil }, to...)
}

// WriteGroups writes the clusters, and all pages that are contained in others.
func WriteGroups(ctx context.Context, w *workspace.Workspace, contained report.ContainedWriter, to ...report.Writer) error {
	return groups.Write(ctx, GroupParts(ctx, w), contained, to...)
}

// Summary returns the summary of the workspace.
func Summary(ctx context.Context, w *workspace.Workspace) (report.Summary, error) {
	s, err := StagesSummary(w)
	if err != nil {
		return s, err
	}
	err = WriteClusters(ctx, w, watcher(s.Add))
	return s, err
}

// StagesSummary returns the summary without the figures of clusters.
func StagesSummary(w *workspace.Workspace) (report.Summary, error) {
	var s report.Summary
	var x ExtractCounts
	var g rows.SignCounts
	var c rows.ClusterCounts
	var v rows.VerifyCounts
	for name, counts := range map[string]any{workspace.StageExtract: &x, workspace.StageSign: &g, workspace.StageCluster: &c, workspace.StageVerify: &v} {
		if err := w.Counts(name, counts); err != nil {
			return s, err
		}
	}
	s.Files, s.Unreadable = x.Files, x.Unreadable
	s.Records = report.Records{Read: x.Records, Documents: x.Documents, Duplicates: x.Duplicates, Skipped: x.Skipped,
		Revisits: x.Resolved, Parsed: x.Parsed, Kinds: x.Kinds, Choices: x.Choices, Clipped: x.Clipped, Damaged: x.Damaged}
	s.EstimatedBy = w.Config.EstimatedBy()
	s.Texts, s.Unsigned, s.Navigation, s.Signatures = x.Texts, g.Unsigned, g.Navigation, g.Signatures
	if t := g.Frames; t != nil {
		s.Frames = &report.Frames{Texts: t.Texts, Characters: t.Characters, LeftOut: t.LeftOut}
	}
	s.Lists = report.Lists{Lists: c.Lists.Lists, Singletons: c.Lists.Singletons, DeletedFrequent: c.Lists.DeletedFrequent,
		DeletedSites: c.Lists.DeletedSites, Longest: c.Lists.Longest}
	if pairs := c.Members - c.Sets; w.Config.Pairs() {
		s.Candidates = &pairs
	} else {
		s.Sets = report.Sets{Sets: c.Sets, Members: c.Members, Largest: c.Largest}
	}
	s.Pairs = report.Pairs{Compared: v.Pairs, Outcomes: v.Outcomes, OverBudget: v.OverBudget, TooLarge: v.Partition.TooLarge}
	s.Judged, s.Contained = v.Judged, v.Contained
	for _, st := range w.Stages {
		state, _, err := w.State(st.Name)
		if err != nil {
			return s, err
		}
		s.Stages = append(s.Stages, report.StageTime{Stage: st.Name, Seconds: state.Seconds, CPU: state.CPU,
			Rate: float64(x.Documents) / max(state.Seconds, 1e-9)})
	}
	return s, nil
}
