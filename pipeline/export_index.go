package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"neardup/configs"
	"neardup/extract"
	"neardup/extract/container"
	"neardup/report"
)

// writeCDXJ writes an index of the pages in clusters, sorted by its bytes.
func (w *Workspace) writeCDXJ(ctx context.Context, out io.Writer) (err error) {
	lines := w.store.sorter()
	defer func() { err = errors.Join(err, lines.close()) }()
	for c, err := range w.Clusters(ctx) {
		if err != nil {
			return err
		}
		for _, m := range c.Members {
			line, err := report.CDXJ(c, m)
			if err := errors.Join(err, lines.add(line, nil)); err != nil {
				return err
			}
		}
	}
	for line, err := range lines.sorted() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if _, err := out.Write(line.key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// writeKeep writes what to keep of each cluster.
func (w *Workspace) writeKeep(ctx context.Context, o ExportOptions, out io.Writer) error {
	keep := report.Keep{Policy: o.Keep, Hosts: o.PreferHosts}
	if keep.Policy == "" {
		keep.Policy = report.KeepEarliest
	}
	if keep.Policy == report.KeepQuality {
		scores, err := qualities(w.config)
		if err != nil {
			return err
		}
		keep.Quality = func(uri string) float64 { return float64(scores[uriHash(uri)]) }
	}
	if o.Kept == nil {
		o.Kept = new(report.Kept)
	}
	if o.Format == "keep-jsonl" {
		return w.writeClusters(ctx, report.NewKeepJSONL(out, keep, o.Kept))
	}
	return w.writeClusters(ctx, report.NewKeepCSV(out, keep, o.Kept))
}

// qualities reads the quality file of the config, by the hash of the URI.
func qualities(c configs.Config) (map[[16]byte]float32, error) {
	path := c.Cluster.Quality
	if path == "" {
		return nil, fmt.Errorf("%w: --policy quality needs a quality file: run with --set cluster.quality=FILE", ErrUsage)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cluster.quality: %w", err)
	}
	scores, err := readQuality(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("cluster.quality: %s: %w", path, err)
	}
	return scores, nil
}

// writeWACZ copies a WACZ file and adds the clusters that have a page in it.
func (w *Workspace) writeWACZ(ctx context.Context, path string, out io.Writer) error {
	if path == "" {
		return fmt.Errorf("%w: --format wacz needs --wacz, the file to copy", ErrUsage)
	}
	err := w.copyWACZ(ctx, path, out)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("--wacz: %s: %w", path, err)
	}
	return err
}

func (w *Workspace) copyWACZ(ctx context.Context, path string, out io.Writer) error {
	f, info, err := openRegular(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in, err := w.pagesIn(ctx, f, info.Size())
	if err != nil {
		return err
	}
	wacz, err := report.NewWACZ(f, info.Size(), contextWriter{ctx, out})
	if err != nil {
		return err
	}
	entry, err := wacz.Create("clusters.jsonl")
	if err != nil {
		return err
	}
	lines := report.NewJSONL(entry)
	for c, err := range w.Clusters(ctx) {
		if err != nil {
			return err
		}
		for _, m := range c.Members {
			if in[m.Document] {
				if err := lines.Write(c); err != nil {
					return err
				}
				break
			}
		}
	}
	return errors.Join(lines.Close(), wacz.Close(), ctx.Err())
}

// pagesIn reads the archives of a WACZ file for the docIDs of its pages. What
// the workspace remembers of where pages are is no help: many WACZ files call
// their archive data.warc.gz.
func (w *Workspace) pagesIn(ctx context.Context, f io.ReaderAt, size int64) (map[string]bool, error) {
	limits := w.config.Extract.Limits
	members, err := container.Members(f, size, limits)
	if err != nil {
		return nil, err
	}
	in := map[string]bool{}
	x := extract.NewExtractor(w.config.Extract)
	for _, m := range members {
		archive, err := m.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		r, err := container.NewReader(archive, container.Position{}, limits)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		for {
			raw, err := r.Next()
			if err == io.EOF {
				break
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			var damage *container.Damage
			if errors.As(err, &damage) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Path, err)
			}
			if doc, reason := x.Document(raw); reason == extract.ReasonNone {
				in[doc.ID.String()] = true
			}
		}
	}
	return in, nil
}

// contextWriter fails once its context has ended, so that copying a large file
// can be interrupted.
type contextWriter struct {
	ctx context.Context
	io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Writer.Write(p)
}
