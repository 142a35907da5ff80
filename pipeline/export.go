package pipeline

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"neardup/report"
)

// Formats are the formats of Export.
var Formats = []string{"jsonl", "csv", "text", "summary", "summary-json", "parquet", "cdxj", "wacz", "keep", "keep-jsonl",
	"edges", "edges-csv", "graphml"}

// ExportOptions say what Export writes.
type ExportOptions struct {
	Format string

	// Of keep and keep-jsonl. Kept is added to, if it is there.
	Keep        report.KeepPolicy
	PreferHosts []string
	Kept        *report.Kept

	WACZ string // of wacz: the file that is copied
}

// Export writes the clusters, or the summary, in a format with its default
// options.
func (w *Workspace) Export(ctx context.Context, format string, out io.Writer) error {
	return w.ExportWith(ctx, ExportOptions{Format: format}, out)
}

// ExportWith writes the clusters, what follows from them, or the summary.
func (w *Workspace) ExportWith(ctx context.Context, o ExportOptions, out io.Writer) error {
	if err := w.current(StageVerify); err != nil {
		return err
	}
	err := w.export(ctx, o, out)
	if w.isFull() {
		err = w.explain(err)
	}
	return err
}

func (w *Workspace) export(ctx context.Context, o ExportOptions, out io.Writer) error {
	switch o.Format {
	case "jsonl":
		return w.writeClusters(ctx, report.NewJSONL(out))
	case "csv":
		return w.writeClusters(ctx, report.NewCSV(out))
	case "text":
		return w.writeClusters(ctx, report.NewText(out))
	case "parquet":
		return w.writeClusters(ctx, report.NewParquet(out))
	case "cdxj":
		return w.writeCDXJ(ctx, out)
	case "wacz":
		return w.writeWACZ(ctx, o.WACZ, out)
	case "keep", "keep-jsonl":
		return w.writeKeep(ctx, o, out)
	case "edges":
		return w.writeEdges(ctx, report.NewEdgesJSONL(out))
	case "edges-csv":
		return w.writeEdges(ctx, report.NewEdgesCSV(out))
	case "graphml":
		return w.writeGraph(ctx, out)
	case "summary", "summary-json":
		s, err := w.Summary(ctx)
		if err != nil {
			return err
		}
		if o.Format == "summary" {
			return s.WriteText(out)
		}
		return s.WriteJSON(out)
	}
	return fmt.Errorf("%w: unknown format %q; there are %v", ErrUsage, o.Format, Formats)
}

// ExportAll writes all formats into the workspace's exports directory, each
// file whole or not at all, and returns the summary. All of it is one pass over
// the clusters, each of which is shown to see.
func (w *Workspace) ExportAll(ctx context.Context, see func(report.Cluster)) (report.Summary, error) {
	s, err := w.exportAll(ctx, see)
	if err != nil {
		err = w.explain(fmt.Errorf("export: %w", err))
	}
	return s, err
}

func (w *Workspace) exportAll(ctx context.Context, see func(report.Cluster)) (report.Summary, error) {
	var s report.Summary
	if err := errors.Join(w.current(StageVerify), os.MkdirAll(w.path("exports"), 0o777)); err != nil {
		return s, err
	}
	s, err := w.stagesSummary()
	if err != nil {
		return s, err
	}
	file := func(name string, write func(io.Writer) error) error {
		return exportFile(w.path("exports", name), write)
	}
	err = file("clusters.jsonl", func(jsonl io.Writer) error {
		return file("clusters.csv", func(csv io.Writer) error {
			return w.writeClusters(ctx, report.NewJSONL(jsonl), report.NewCSV(csv), watcher(s.Add), watcher(see))
		})
	})
	if err != nil {
		return s, err
	}
	return s, errors.Join(file("summary.json", s.WriteJSON), file("summary.txt", s.WriteText))
}

// watcher is a report.Writer that only looks on.
type watcher func(report.Cluster)

func (w watcher) Write(c report.Cluster) error { w(c); return nil }
func (w watcher) Close() error                 { return nil }

// ExportFile publishes what write writes under path, whole or not at all.
func ExportFile(path string, write func(io.Writer) error) error {
	err := exportFile(path, write)
	if err != nil && isNoSpace(err) && !errors.Is(err, ErrDiskFull) {
		return diskFull(filepath.Dir(path), err)
	}
	return err
}

func exportFile(path string, write func(io.Writer) error) error {
	return writeFile(path, func(f *os.File) error {
		b := bufio.NewWriterSize(f, 256<<10)
		return errors.Join(write(b), b.Flush())
	})
}

func (w *Workspace) writeClusters(ctx context.Context, to ...report.Writer) error {
	for c, err := range w.Clusters(ctx) {
		if err != nil {
			return err
		}
		for _, out := range to {
			if err := out.Write(c); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err() // since the last cluster
	}
	for _, out := range to {
		if err := out.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Clusters gives the clusters of two and more pages by id. One at a time is in
// memory.
func (w *Workspace) Clusters(ctx context.Context) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		gathered, err := w.store.gather(ctx, w.clusteredTexts())
		if err != nil {
			yield(report.Cluster{}, err)
			return
		}
		defer func() { _ = gathered.close() }()
		next, stop := iter.Pull2(pagesOf(ctx, gathered))
		defer stop()
		var rows []clusterRow
		pages := map[textID][]report.Member{}
		flush := func() bool {
			c, err := assemble(rows, pages)
			rows = rows[:0]
			clear(pages)
			return yield(c, errors.Join(err, ctx.Err())) && err == nil
		}
		for r, err := range w.store.table(tableCluster) {
			var row clusterRow
			if err == nil {
				row, err = parseClusterRow(r)
			}
			if err == nil && len(rows) > 0 && rows[0].cluster != row.cluster && !flush() {
				return
			}
			if err == nil {
				t, pagesErr, ok := next()
				if pages[row.member], err = t.pages, pagesErr; err == nil && (!ok || t.wantedText != wantedText{row.cluster, row.member}) {
					err = fmt.Errorf("a text without pages: %w", corrupt(row.member[:]))
				}
			}
			if err != nil {
				yield(report.Cluster{}, err)
				return
			}
			rows = append(rows, row)
		}
		if len(rows) > 0 {
			flush()
		}
	}
}

// clusteredTexts gives the texts in clusters, by text.
func (w *Workspace) clusteredTexts() iter.Seq2[wantedText, error] {
	return func(yield func(wantedText, error) bool) {
		for r, err := range w.store.table(tableAssigned) {
			var t wantedText
			if err == nil {
				t, err = parseAssigned(r)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// parseAssigned parses a row of tableAssigned: a text, in the group of its
// cluster.
func parseAssigned(r row) (t wantedText, err error) {
	v, err := r.value()
	if err != nil {
		return t, err
	}
	if len(r.key()) != 1+16 || len(v) != 16 {
		return t, corrupt(r.key())
	}
	return wantedText{group: textID(v), text: textID(r.key()[1:])}, nil
}

// clusterRow is a row of tableCluster.
type clusterRow struct {
	cluster, member, against textID
	score                    score
}

func clusterValue(against textID, s score) []byte { return s.append(against[:]) }

func parseClusterRow(r row) (c clusterRow, err error) {
	k := r.key()
	v, err := r.value()
	if err != nil {
		return c, err
	}
	if len(k) != 1+32 || len(v) != 16+scoreSize {
		return c, corrupt(k)
	}
	c.cluster, c.member, c.against = textID(k[1:17]), textID(k[17:]), textID(v[:16])
	c.score, err = parseScore(v[16:])
	return c, err
}

// assemble makes a cluster of its rows, one a text, and of the pages that have
// these texts, and names what each was verified against.
func assemble(rows []clusterRow, pages map[textID][]report.Member) (report.Cluster, error) {
	id := rows[0].cluster
	if len(pages[id]) == 0 {
		return report.Cluster{}, fmt.Errorf("a cluster without representative: %w", corrupt(id[:]))
	}
	c := report.Cluster{ID: fmt.Sprintf("%x", id), Representative: pages[id][0].RecordID}
	for _, r := range rows {
		if len(pages[r.against]) == 0 {
			return report.Cluster{}, fmt.Errorf("verified against a text that is not in the cluster: %w", corrupt(r.against[:]))
		}
		for i, m := range pages[r.member] {
			m.Resemblance, m.Containment = report.Score(r.score.Resemblance), report.Score(r.score.Containment)
			m.VerifiedAgainst, m.AgainstDocument = pages[r.against][0].RecordID, pages[r.against][0].Document
			m.Relation = relation(r, id, i)
			c.Members = append(c.Members, m)
		}
	}
	slices.SortFunc(c.Members, func(a, b report.Member) int {
		return cmp.Or(report.FalseFirst(a.Relation != report.Representative, b.Relation != report.Representative), comparePages(a, b))
	})
	c.Size = len(c.Members)
	return c, nil
}

// relation is that of the i-th page of the row's text.
func relation(r clusterRow, representative textID, i int) report.Relation {
	switch {
	case r.member == representative && i == 0:
		return report.Representative
	case r.member == representative:
		return report.Identical
	case r.score.Relation == Judged:
		return report.Judged
	case r.against != representative:
		return report.Linked
	case r.score.Relation == Contained:
		return report.Contained
	case r.score.Relation == Contains:
		return report.Contains
	}
	return report.Near
}

// comparePages orders pages by their date, then by what tells them apart.
func comparePages(a, b report.Member) int {
	return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.RecordID, b.RecordID), cmp.Compare(a.URI, b.URI),
		cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.WARC, b.WARC), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Document, b.Document))
}

// Summary sums up the workspace.
func (w *Workspace) Summary(ctx context.Context) (report.Summary, error) {
	s, err := w.stagesSummary()
	if err != nil {
		return s, err
	}
	err = w.writeClusters(ctx, watcher(s.Add))
	return s, err
}

// stagesSummary is the summary but for the clusters.
func (w *Workspace) stagesSummary() (report.Summary, error) {
	var s report.Summary
	var x ExtractCounts
	var g SignCounts
	var c ClusterCounts
	var v VerifyCounts
	for name, counts := range map[string]any{StageExtract: &x, StageSign: &g, StageCluster: &c, StageVerify: &v} {
		if err := w.counts(name, counts); err != nil {
			return s, err
		}
	}
	s.Files, s.Unreadable = x.Files, x.Unreadable
	s.Records = report.Records{Read: x.Records, Documents: x.Documents, Duplicates: x.Duplicates, Skipped: x.Skipped,
		Revisits: x.Resolved, Parsed: x.Parsed, Kinds: x.Kinds, Choices: x.Choices, Clipped: x.Clipped, Damaged: x.Damaged}
	s.Texts, s.Unsigned, s.Navigation, s.Signatures = x.Texts, g.Unsigned, g.Navigation, g.Signatures
	if t := g.Templates; t != nil {
		s.Templates = &report.Templates{Sentences: t.Sentences, Texts: t.Texts, Emptied: t.Emptied, Characters: t.Characters, LeftOut: t.LeftOut}
	}
	s.Lists = report.Lists{Lists: c.Lists.Lists, Singletons: c.Lists.Singletons, DeletedFrequent: c.Lists.DeletedFrequent,
		DeletedSites: c.Lists.DeletedSites, Longest: c.Lists.Longest}
	if pairs := c.Members - c.Sets; w.config.Cluster.Pairs() {
		s.Candidates = &pairs
	} else {
		s.Sets = report.Sets{Sets: c.Sets, Members: c.Members, Largest: c.Largest}
	}
	s.Pairs = report.Pairs{Compared: v.Pairs, ByLength: v.ByLength, BySketch: v.BySketch, ByDistance: v.ByDistance,
		ByScore: v.ByScore, BySubject: v.BySubject, Near: v.Near}
	s.Judged = v.Judged
	for _, st := range w.stages {
		state, _, err := w.state(st.name)
		if err != nil {
			return s, err
		}
		s.Stages = append(s.Stages, report.StageTime{Stage: st.name, Seconds: state.Seconds, CPU: state.CPU,
			Rate: float64(x.Documents) / max(state.Seconds, 1e-9)})
	}
	return s, nil
}

// counts reads what a stage counted.
func (w *Workspace) counts(name string, into any) error {
	s, ok, err := w.state(name)
	if err != nil || !ok || len(s.Counts) == 0 {
		return err
	}
	return json.Unmarshal(s.Counts, into)
}
