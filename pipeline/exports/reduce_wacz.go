package exports

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"path"
	"strings"

	"neardup/pipeline/workspace"
)

// waczFile is a WACZ file that is written entry by entry. Entries are stored, so
// that replay tools can read within them. They have no time, because an export does
// not depend on the clock.
type waczFile struct {
	z         *zip.Writer
	resources []waczResource
}

type waczResource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

func (f *waczFile) create(name string) (io.WriteCloser, error) {
	e, err := f.z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	return &waczEntry{f: f, name: name, w: e, sum: sha256.New()}, err
}

type waczEntry struct {
	f    *waczFile
	name string
	w    io.Writer
	sum  hash.Hash
	n    int64
}

func (e *waczEntry) Write(p []byte) (int, error) {
	n, err := e.w.Write(p)
	e.sum.Write(p[:n])
	e.n += int64(n)
	return n, err
}

func (e *waczEntry) Close() error {
	e.f.resources = append(e.f.resources, waczResource{path.Base(e.name), e.name, "sha256:" + hex.EncodeToString(e.sum.Sum(nil)), e.n})
	return nil
}

// writeReducedWACZ writes a reduced archive as a WACZ file.
func writeReducedWACZ(ctx context.Context, w *workspace.Workspace, o Options, out io.Writer) (err error) {
	f := &waczFile{z: zip.NewWriter(contextWriter{ctx, out})}
	r, err := reduceTo(ctx, w, o, f.create)
	if r == nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err == nil {
		err = r.finish("indexes/index.cdx", "neardup/")
	}
	if err == nil {
		err = r.writePages()
	}
	if err == nil {
		err = f.finish()
	}
	if err == nil && o.Reduced != nil {
		*o.Reduced = r.manifest
	}
	return err
}

// writePages writes the list of pages.
func (r *reducer) writePages() error {
	f, err := r.make("pages/pages.jsonl")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(f, `{"format":"json-pages-1.0","id":"pages","title":"Pages"}`+"\n"); err != nil {
		return err
	}
	for e, err := range r.pages.Sorted() {
		if err := errors.Join(err, r.ctx.Err()); err != nil {
			return err
		}
		uri, date, _ := strings.Cut(string(e.Key), "\x00")
		sum := sha256.Sum256(e.Key)
		line, err := json.Marshal(struct {
			ID        string `json:"id"`
			URL       string `json:"url"`
			Timestamp string `json:"ts"`
		}{hex.EncodeToString(sum[:8]), uri, date})
		if err != nil {
			return err
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return f.Close()
}

// finish writes the list of all entries and its digest.
func (f *waczFile) finish() error {
	p, err := json.MarshalIndent(struct {
		Profile   string         `json:"profile"`
		Resources []waczResource `json:"resources"`
		Version   string         `json:"wacz_version"`
		Software  string         `json:"software"`
	}{"data-package", f.resources, "1.1.1", "neardup " + workspace.Version()}, "", "  ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(p)
	digest, err := json.Marshal(struct {
		Path string `json:"path"`
		Hash string `json:"hash"`
	}{"datapackage.json", "sha256:" + hex.EncodeToString(sum[:])})
	for _, e := range []struct {
		name    string
		content []byte
	}{{"datapackage.json", p}, {"datapackage-digest.json", digest}} {
		w, createErr := f.create(e.name)
		if err = errors.Join(err, createErr); err == nil {
			_, err = io.Copy(w, bytes.NewReader(e.content))
		}
	}
	return errors.Join(err, f.z.Close())
}
