// Package exports writes the clusters of a run, or what follows from them, in the
// formats of other tools.
package exports

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Formats are the formats of Export.
var Formats = []string{"jsonl", "csv", "text", "summary", "summary-json", "parquet", "cdxj", "wacz", "keep", "keep-jsonl",
	"edges", "edges-csv", "graphml"}

// ExportOptions say what Export writes.
type Options struct {
	Format string

	// Of keep and keep-jsonl. Kept is added to, if it is there.
	Keep        report.KeepPolicy
	PreferHosts []string
	Kept        *report.Kept

	WACZ string // of wacz: the file that is copied
}

// Write writes the clusters, what follows from them, or the summary.
func Write(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error {
	if err := w.Current(workspace.StageVerify); err != nil {
		return err
	}
	err := export(ctx, w, o, out)
	if w.IsFull() {
		err = w.ExplainError(err)
	}
	return err
}

func export(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error {
	switch o.Format {
	case "jsonl":
		return results.WriteClusters(ctx, w, report.NewJSONL(out))
	case "csv":
		return results.WriteClusters(ctx, w, report.NewCSV(out))
	case "text":
		return results.WriteClusters(ctx, w, report.NewText(out))
	case "parquet":
		return results.WriteClusters(ctx, w, report.NewParquet(out))
	case "cdxj":
		return writeCDXJ(ctx, w, out)
	case "wacz":
		return writeWACZ(ctx, w, o.WACZ, out)
	case "keep", "keep-jsonl":
		return writeKeep(ctx, w, o, out)
	case "edges":
		return writeEdges(ctx, w, report.NewEdgesJSONL(out))
	case "edges-csv":
		return writeEdges(ctx, w, report.NewEdgesCSV(out))
	case "graphml":
		return writeGraph(ctx, w, out)
	case "summary", "summary-json":
		s, err := results.Summary(ctx, w)
		if err != nil {
			return err
		}
		if o.Format == "summary" {
			return s.WriteText(out)
		}
		return s.WriteJSON(out)
	}
	return fmt.Errorf("%w: unknown format %q; there are %v", workspace.ErrUsage, o.Format, Formats)
}

// ExportAll writes all formats into the workspace's exports directory, each
// file whole or not at all, and returns the summary. All of it is one pass over
// the clusters, each of which is shown to see.
func WriteAll(ctx context.Context, w *workspace.Workspace, see func(report.Cluster)) (report.Summary, error) {
	s, err := exportAll(ctx, w, see)
	if err != nil {
		err = w.ExplainError(fmt.Errorf("export: %w", err))
	}
	return s, err
}

func exportAll(ctx context.Context, w *workspace.Workspace, see func(report.Cluster)) (report.Summary, error) {
	var s report.Summary
	if err := errors.Join(w.Current(workspace.StageVerify), os.MkdirAll(w.Path("exports"), 0o777)); err != nil {
		return s, err
	}
	s, err := results.StagesSummary(w)
	if err != nil {
		return s, err
	}
	file := func(name string, write func(io.Writer) error) error {
		return exportFile(w.Path("exports", name), write)
	}
	err = file("clusters.jsonl", func(jsonl io.Writer) error {
		return file("clusters.csv", func(csv io.Writer) error {
			return results.WriteClusters(ctx, w, report.NewJSONL(jsonl), report.NewCSV(csv), results.Watcher(s.Add), results.Watcher(see))
		})
	})
	if err != nil {
		return s, err
	}
	return s, errors.Join(file("summary.json", s.WriteJSON), file("summary.txt", s.WriteText))
}

// ExportFile publishes what write writes under path, whole or not at all.
func ExportFile(path string, write func(io.Writer) error) error {
	err := exportFile(path, write)
	if err != nil && workspace.IsNoSpace(err) && !errors.Is(err, workspace.ErrDiskFull) {
		return workspace.DiskFull(filepath.Dir(path), err)
	}
	return err
}

func exportFile(path string, write func(io.Writer) error) error {
	return workspace.WriteFile(path, func(f *os.File) error {
		b := bufio.NewWriterSize(f, 256<<10)
		return errors.Join(write(b), b.Flush())
	})
}
