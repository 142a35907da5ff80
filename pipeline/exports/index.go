package exports

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/extractors"
	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// writeCDXJ writes an index of the pages in clusters, sorted by its bytes.
func writeCDXJ(ctx context.Context, w *workspace.Workspace, out io.Writer) (err error) {
	lines := extsort.New(w.DB.Tmp)
	defer func() { err = errors.Join(err, lines.Close()) }()
	for c, err := range results.GroupParts(ctx, w) {
		if err != nil {
			return err
		}
		for _, m := range c.Members {
			line, err := report.CDXJ(c, m)
			if err := errors.Join(err, lines.Add(line, nil)); err != nil {
				return err
			}
		}
	}
	for line, err := range lines.Sorted() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if _, err := out.Write(line.Key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// writeWACZ copies a WACZ file and adds the clusters that have a page in it.
func writeWACZ(ctx context.Context, w *workspace.Workspace, path string, out io.Writer) error {
	if path == "" {
		return fmt.Errorf("%w: --format wacz needs --wacz, the file to copy", workspace.ErrUsage)
	}
	err := copyWACZ(ctx, w, path, out)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("--wacz: %s: %w", path, err)
	}
	return err
}

func copyWACZ(ctx context.Context, w *workspace.Workspace, path string, out io.Writer) error {
	f, size, err := inputs.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in, err := pagesIn(ctx, w, f, size)
	if err != nil {
		return err
	}
	if err := known(w, path, in); err != nil {
		return err
	}
	wacz, err := report.NewWACZ(f, size, contextWriter{ctx, out})
	if err != nil {
		return err
	}
	err = addClusters(ctx, w, in, wacz)
	return errors.Join(err, wacz.Close(), ctx.Err())
}

// addClusters adds the clusters with one of the pages.
func addClusters(ctx context.Context, w *workspace.Workspace, pages map[string]bool, to *report.WACZ) error {
	with := map[string]bool{}
	for c, err := range results.GroupParts(ctx, w) {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(c.Members, func(m report.Member) bool { return pages[m.Document] }) {
			with[c.ID] = true
		}
	}
	if len(with) == 0 {
		return nil // py-wacz takes an empty file for a broken one
	}
	entry, err := to.Create("clusters.jsonl")
	if err != nil {
		return err
	}
	lines := report.NewJSONL(entry)
	for c, err := range results.GroupParts(ctx, w) {
		if err == nil && with[c.ID] {
			err = lines.Write(c)
		}
		if err != nil {
			return err
		}
	}
	return lines.Close()
}

// known returns an error if the workspace has read neither the file nor any of its
// pages.
func known(w *workspace.Workspace, path string, pages map[string]bool) error {
	sources, err := w.Sources()
	if err != nil {
		return err
	}
	real, err := inputs.RealPath(path)
	if err != nil || slices.ContainsFunc(sources, func(s inputs.Source) bool { return s.File == real }) {
		return err
	}
	documents, err := w.DB.Seeker(layout.TableDocument)
	if err != nil {
		return err
	}
	defer func() { _ = documents.Close() }()
	for page := range pages {
		id, err := hex.DecodeString(page)
		if err != nil || len(id) != len(extract.ID{}) {
			continue
		}
		if _, ok, err := results.LookUpDocument[groups.DocumentView](documents, extract.ID(id)); ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: the workspace has read none of its pages; run neardup with it first", workspace.ErrUsage)
}

// pagesIn reads the archives of a WACZ file and returns the docIDs of its pages.
// The places of pages in the workspace do not help here, since many WACZ files call
// their archive data.warc.gz.
func pagesIn(ctx context.Context, w *workspace.Workspace, f io.ReaderAt, size int64) (map[string]bool, error) {
	limits := w.Config.Extract.Limits
	members, err := container.Members(f, size, limits)
	if err != nil {
		return nil, err
	}
	in := map[string]bool{}
	x := extractors.New(w.Config.Extract)
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

// contextWriter fails once its context has ended, so that copying a large file can
// be interrupted.
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
