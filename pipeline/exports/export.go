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
	"slices"

	"neardup/keep"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Format is a format of exports.
type Format struct {
	Name    string
	Help    string   // what it is, in a few words
	Options []string // names of the flags that only this format and its like have
	write   func(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error
	files   func(ctx context.Context, w *workspace.Workspace, o Options, make create) error // of a format that can be a directory
}

// create creates a file of a directory by its name with slashes.
type create func(name string) (io.WriteCloser, error)

// Formats are the formats in the order in which they are listed. A new format is
// an entry.
var Formats = []Format{
	{"jsonl", "one line for each cluster", allFlags, clusters(report.NewJSONL, report.NewJSONL), nil},
	{"csv", "one line for each page", allFlags, clusters(report.NewCSV, report.NewChosenCSV), nil},
	{"text", "clusters to read", nil, clusters(report.NewText, nil), nil},
	{"summary", "the summary of the run", nil, summary(report.Summary.WriteText), nil},
	{"summary-json", "the same as JSON", nil, summary(report.Summary.WriteJSON), nil},
	{"parquet", "one row for each page, with the columns of Common Crawl's index", allFlags, clusters(report.NewParquet, report.NewChosenParquet), nil},
	{"cdxj", "an index of captures for replay tools", nil, func(ctx context.Context, w *workspace.Workspace, _ Options, out io.Writer) error {
		return writeCDXJ(ctx, w, out)
	}, nil},
	{"warc", "all archives without redundant pages, as a directory", keepFlags, nil, writeWARC},
	{"wacz", "the same as a WACZ file; with --wacz a copy of that file with its clusters in it", slices.Concat([]string{"wacz"}, keepFlags),
		func(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error {
			if o.WACZ == "" {
				return writeReducedWACZ(ctx, w, o, out)
			}
			return writeWACZ(ctx, w, o.WACZ, out)
		}, nil},
	{"keep", "which pages to keep and which are redundant, one line for each page", keepFlags, keepAs(report.NewKeepCSV), nil},
	{"keep-jsonl", "the same, one line for each cluster", keepFlags, keepAs(report.NewKeepJSONL), nil},
	{"edges", "every near pair with its scores", nil, edgesAs(func(out io.Writer) report.EdgeWriter { return report.NewEdgesJSONL(out) }), nil},
	{"edges-csv", "the same as CSV", nil, edgesAs(func(out io.Writer) report.EdgeWriter { return report.NewEdgesCSV(out) }), nil},
	{"graphml", "the same as a graph", nil, func(ctx context.Context, w *workspace.Workspace, _ Options, out io.Writer) error {
		return writeGraph(ctx, w, out)
	}, nil},
	{"corpus", "texts of the pages that stay, one line of JSON for each; with --shard-size a directory of such files", corpusFlags,
		corpusAs(report.NewCorpusJSONL), shardsAs("jsonl", report.NewCorpusJSONL)},
	{"corpus-parquet", "the same in Parquet", corpusFlags, corpusAs(report.NewCorpusParquet), shardsAs("parquet", report.NewCorpusParquet)},
}

// clusters writes clusters, or all pages with what was chosen for them.
func clusters(to, all func(io.Writer) report.Writer) func(context.Context, *workspace.Workspace, Options, io.Writer) error {
	return func(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error {
		if o.All && all != nil {
			return writeAll(ctx, w, o, all(out))
		}
		return results.WriteClusters(ctx, w, to(out))
	}
}

func edgesAs(to func(io.Writer) report.EdgeWriter) func(context.Context, *workspace.Workspace, Options, io.Writer) error {
	return func(ctx context.Context, w *workspace.Workspace, _ Options, out io.Writer) error {
		return writeEdges(ctx, w, to(out))
	}
}

func summary(as func(report.Summary, io.Writer) error) func(context.Context, *workspace.Workspace, Options, io.Writer) error {
	return func(ctx context.Context, w *workspace.Workspace, _ Options, out io.Writer) error {
		s, err := results.Summary(ctx, w)
		if err != nil {
			return err
		}
		return as(s, out)
	}
}

// Find returns the format of a name.
func Find(name string) (f Format, ok bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return f, false
}

// Names returns the names of the formats that have a flag, or with an empty flag
// of all.
func Names(flag string) (names []string) {
	for _, f := range Formats {
		if flag == "" || slices.Contains(f.Options, flag) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Flags returns the flags that only some formats have.
func Flags() (flags []string) {
	for _, f := range Formats {
		for _, flag := range f.Options {
			if !slices.Contains(flags, flag) {
				flags = append(flags, flag)
			}
		}
	}
	return flags
}

// Options say what Write writes.
type Options struct {
	Format string

	// Of formats that choose what to keep; nil: keep.Default. Kept is added to, if it
	// is there.
	Keep *keep.Rules
	All  bool // of jsonl, csv, parquet and corpora: all pages, with what to do with each

	Reduced *report.Reduced // of reduced archives: what was written, if it is there

	// Of corpora.
	Clean     bool  // without what templates own
	ShardSize int64 // bytes of text in a file of a directory; 0: one file
	Kept      *report.Kept

	WACZ string // of wacz: the file that is copied
}

// Write writes the clusters, what follows from them, or the summary.
func Write(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error {
	if err := w.Current(workspace.StageVerify); err != nil {
		return err
	}
	f, ok := Find(o.Format)
	if !ok || o.Directory() {
		return fmt.Errorf("%w: %q is no format of one file; there are %v", workspace.ErrUsage, o.Format, Names(""))
	}
	err := f.write(ctx, w, o, out)
	if w.IsFull() {
		err = w.ExplainError(err)
	}
	return err
}

// Directory reports whether the export is a directory.
func (o Options) Directory() bool {
	f, _ := Find(o.Format)
	return f.files != nil && (f.write == nil || o.ShardSize > 0)
}

// mark is the file that says that a directory is an export.
const mark = "neardup-export.txt"

// CheckDirectory reports whether WriteDirectory may write to path: there is nothing,
// or an empty directory. Archives are not replaced by mistake.
func CheckDirectory(path string) error {
	return workspace.CheckDirectory(path, mark, func(string) bool { return false })
}

// WriteDirectory writes an export as a directory, whole or not at all.
func WriteDirectory(ctx context.Context, w *workspace.Workspace, o Options, path string) error {
	if err := w.Current(workspace.StageVerify); err != nil {
		return err
	}
	f, _ := Find(o.Format)
	if err := CheckDirectory(path); err != nil {
		return fmt.Errorf("%w: %w", workspace.ErrUsage, err)
	}
	err := workspace.ExportDirectory(path, func(make func(string) (io.WriteCloser, error)) error { return f.files(ctx, w, o, make) })
	if w.IsFull() {
		err = w.ExplainError(err)
	}
	return err
}

// WriteAll writes all formats into the workspace's exports directory, each
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

// ExportFile publishes what write writes under path, whole or not at all. A path
// that is a link leads to the file that is written. It writes into a pipe or a
// device, and replaces none.
func ExportFile(path string, write func(io.Writer) error) error {
	err := exportFile(path, write)
	if err != nil && workspace.IsNoSpace(err) && !errors.Is(err, workspace.ErrDiskFull) {
		return workspace.DiskFull(filepath.Dir(path), err)
	}
	return err
}

func exportFile(path string, write func(io.Writer) error) error {
	path, special, err := workspace.Output(path)
	if err != nil {
		return err
	}
	if special {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		b := bufio.NewWriterSize(f, 256<<10)
		return errors.Join(write(b), b.Flush(), f.Close())
	}
	if err := workspace.RemoveStale(filepath.Dir(path)); err != nil {
		return err
	}
	return workspace.WriteFile(path, func(f *os.File) error {
		b := bufio.NewWriterSize(f, 256<<10)
		return errors.Join(write(b), b.Flush())
	})
}
