// Package exports writes the clusters of a run, and what is derived from them, in
// the formats of other tools.
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
	"neardup/pipeline/disk"
	"neardup/pipeline/keeping"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Format is a format of exports.
type Format struct {
	Name    string
	Help    string   // short description
	Options []string // flags that only this format and similar ones have
	write   func(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error
	files   func(ctx context.Context, w *workspace.Workspace, o Options, make create) error // for a format that can be a directory
}

// create creates a file of a directory. The name uses slashes.
type create func(name string) (io.WriteCloser, error)

// Formats lists the formats in the order of the help. To add a format, add an
// entry.
var Formats = []Format{
	{"jsonl", "one line for each cluster", allFlags, clusters(report.NewJSONL, report.NewJSONL), nil},
	{"csv", "one line for each page", allFlags, clusters(report.NewCSV, report.NewChosenCSV), nil},
	{"text", "clusters to read", nil, clusters(report.NewText, nil), nil},
	{"summary", "the summary of the run", nil, summary(report.Summary.WriteText), nil},
	{"summary-json", "the same as JSON", nil, summary(report.Summary.WriteJSON), nil},
	{"parquet", "one row for each page, with the columns of Common Crawl's index", allFlags, clusters(report.NewParquet, report.NewChosenParquet), nil},
	{"contained", "pages that others only contain, one line for each text", nil, writeContained, nil},
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
	{"keep", "which pages to keep and which are redundant, one line for each page", keepFlags, keepAs(report.NewKeepCSV, keeping.Clusters), nil},
	{"keep-jsonl", "the same, one line for each cluster", keepFlags, keepAs(report.NewKeepJSONL, keeping.ByAction), nil},
	{"edges", "every near pair with its scores", nil, edgesAs(func(out io.Writer) report.EdgeWriter { return report.NewEdgesJSONL(out) }), nil},
	{"edges-csv", "the same as CSV", nil, edgesAs(func(out io.Writer) report.EdgeWriter { return report.NewEdgesCSV(out) }), nil},
	{"graphml", "the same as a graph", nil, func(ctx context.Context, w *workspace.Workspace, _ Options, out io.Writer) error {
		return writeGraph(ctx, w, out)
	}, nil},
	{"corpus", "texts of the pages that stay, one line of JSON for each; with --shard-size a directory of such files", corpusFlags,
		corpusAs(report.NewCorpusJSONL), shardsAs("jsonl", report.NewCorpusJSONL)},
	{"corpus-parquet", "the same in Parquet", corpusFlags, corpusAs(report.NewCorpusParquet), shardsAs("parquet", report.NewCorpusParquet)},
}

// clusters writes clusters, or all pages with the choices for them.
func clusters(to, all func(io.Writer) report.Writer) func(context.Context, *workspace.Workspace, Options, io.Writer) error {
	return func(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) error {
		if o.All && all != nil {
			return writeAll(ctx, w, o, all(out))
		}
		return results.WriteClusters(ctx, w, to(out))
	}
}

// writeContained writes the pages that are contained in others.
func writeContained(ctx context.Context, w *workspace.Workspace, _ Options, out io.Writer) error {
	return results.WriteGroups(ctx, w, report.NewContainedJSONL(out))
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

// Find returns the format with a name.
func Find(name string) (f Format, ok bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return f, false
}

// Names returns the names of the formats that have a flag, or of all formats if
// flag is empty.
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

// Options are the options of an export.
type Options struct {
	Format string

	// Keep is for formats that choose what to keep; nil means keep.Default. If Kept
	// is not nil, the sums of the keep list are added to it.
	Keep               *keep.Rules
	WithoutStoredHosts bool        // only the hosts of Keep are preferred
	Rules              *keep.Rules // if not nil, it is set to the rules with what the workspace adds

	All bool // of jsonl, csv, parquet and corpora: all pages, with the choice for each

	Reduced *report.Reduced // of reduced archives; if not nil, it is set to the manifest

	// Of corpora.
	Clean     bool            // without the learned frames of sites
	Cleaned   *report.Cleaned // if not nil, what Clean leaves out is added to it
	Visible   bool            // all visible text
	ShardSize int64           // bytes of text per file of a directory; 0: one file
	Kept      *report.Kept

	WACZ string // of wacz: the file to copy
}

// Write writes an export: the clusters, what is derived from them, or the summary.
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

// mark is the file that marks a directory as an export.
const mark = "neardup-export.txt"

// CheckDirectory returns an error if WriteDirectory must not write to path. Only a
// free path or an empty directory is allowed, so that archives are not replaced by
// mistake.
func CheckDirectory(path string) error {
	return disk.CheckDirectory(path, mark, func(string) bool { return false })
}

// WriteDirectory writes an export as a directory, completely or not at all.
func WriteDirectory(ctx context.Context, w *workspace.Workspace, o Options, path string) error {
	if err := w.Current(workspace.StageVerify); err != nil {
		return err
	}
	f, _ := Find(o.Format)
	if err := CheckDirectory(path); err != nil {
		return fmt.Errorf("%w: %w", workspace.ErrUsage, err)
	}
	err := disk.ExportDirectory(path, func(make func(string) (io.WriteCloser, error)) error { return f.files(ctx, w, o, make) })
	if w.IsFull() {
		err = w.ExplainError(err)
	}
	return err
}

// ExportFile publishes what write writes as the file path, completely or not at
// all. If path is a link, its target is written. A pipe or a device is written
// into, never replaced.
func ExportFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%w: %s is a directory; name a file", workspace.ErrUsage, path)
	}
	err := exportFile(path, write)
	if err != nil && disk.IsNoSpace(err) && !errors.Is(err, disk.ErrFull) {
		return disk.Full(filepath.Dir(path), err)
	}
	return err
}

func exportFile(path string, write func(io.Writer) error) error {
	path, special, err := disk.Output(path)
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
	if err := disk.RemoveStale(filepath.Dir(path)); err != nil {
		return err
	}
	return disk.WriteFile(path, func(f *os.File) error {
		b := bufio.NewWriterSize(f, 256<<10)
		return errors.Join(write(b), b.Flush())
	})
}
