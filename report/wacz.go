package report

import (
	"archive/zip"
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"path"
	"strings"
)

// waczFolder is the folder of a WACZ file for added files. WACZ 1.1.1 ("Other files
// and directories") allows other folders beside archive, indexes and pages, nothing
// new inside these, and requires all files to be listed in datapackage.json.
const waczFolder = "neardup/"

const (
	dataPackage   = "datapackage.json"
	packageDigest = "datapackage-digest.json"
	maxPackage    = 64 << 20 // bytes of either file
)

// WACZ copies a WACZ file and adds files to it. The file's entries keep their order
// and bytes. Only datapackage.json is replaced, to list the new files, and
// datapackage-digest.json, which holds its digest. The former two are kept beside
// the new files, because a signature may cover them.
type WACZ struct {
	old  *zipDirectory
	out  *switchable
	zip  *zip.Writer
	like zip.FileHeader // header of datapackage.json, whose time the new entries get

	original map[string][]byte // dataPackage, packageDigest
	newHash  func() hash.Hash
	hashName string

	resources []resource
	current   *summed // the entry that is being written
}

// resource is an entry of datapackage.json for a file.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// switchable is a writer whose target can change while another writer writes to
// it.
type switchable struct {
	io.Writer
	n int64 // bytes written
}

func (s *switchable) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.n += int64(n)
	return n, err
}

// summed is an entry whose hash and size are computed while it is written.
type summed struct {
	io.Writer
	path string
	n    int64
	sum  hash.Hash
}

func (s *summed) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.n += int64(n)
	s.sum.Write(p[:n])
	return n, err
}

// NewWACZ copies the entries of in, which has size bytes, to out.
func NewWACZ(in io.ReaderAt, size int64, out io.Writer) (*WACZ, error) {
	old, err := readZipDirectory(in, size)
	if err != nil {
		return nil, err
	}
	w := &WACZ{old: old, out: &switchable{Writer: out}, original: map[string][]byte{}}
	if err := w.readPackage(in, size); err != nil {
		return nil, err
	}
	cut := old.without(dataPackage, packageDigest)
	if _, err := io.Copy(w.out, io.NewSectionReader(in, 0, cut)); err != nil {
		return nil, err
	}
	if w.out.n != cut {
		return nil, io.ErrUnexpectedEOF
	}
	w.zip = zip.NewWriter(w.out)
	w.zip.SetOffset(cut)
	return w, nil
}

// readPackage reads the files that are replaced.
func (w *WACZ) readPackage(in io.ReaderAt, size int64) error {
	r, err := zip.NewReader(in, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // harmless: names are only compared
		return err
	}
	for _, f := range r.File {
		switch {
		case strings.HasPrefix(f.Name, waczFolder):
			return fmt.Errorf("it has %s already", f.Name)
		case f.Name != dataPackage && f.Name != packageDigest:
			continue
		case w.original[f.Name] != nil:
			return fmt.Errorf("it has two %s", f.Name)
		}
		if f.Name == dataPackage {
			w.like = f.FileHeader
		}
		b, err := readEntry(f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		w.original[f.Name] = b
	}
	if w.original[dataPackage] == nil {
		return fmt.Errorf("it has no %s, which a WACZ file must have", dataPackage)
	}
	_, algorithm, err := addResources(w.original[dataPackage], nil)
	w.newHash, w.hashName = sha256.New, "sha256"
	if algorithm == "md5" { // like the other entries, since tools expect one algorithm for all
		w.newHash, w.hashName = md5.New, "md5"
	}
	return err
}

func readEntry(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, maxPackage+1))
	if err == nil && len(b) > maxPackage {
		err = fmt.Errorf("it is over %d MiB", maxPackage>>20)
	}
	return b, errors.Join(err, r.Close())
}

// Create adds a file to the folder. It must be written before the next Create.
func (w *WACZ) Create(name string) (io.Writer, error) {
	return w.create(waczFolder + name)
}

func (w *WACZ) create(p string) (io.Writer, error) {
	w.finish()
	entry, err := w.zip.CreateHeader(&zip.FileHeader{Name: p, Method: zip.Deflate, Modified: w.like.Modified})
	w.current = &summed{Writer: entry, path: p, sum: w.newHash()}
	return w.current, err
}

// finish lists the file that was written.
func (w *WACZ) finish() {
	if c := w.current; c != nil {
		w.resources = append(w.resources, resource{path.Base(c.path), c.path, w.hashName + ":" + hex.EncodeToString(c.sum.Sum(nil)), c.n})
	}
	w.current = nil
}

// beforeNames are the names under which the replaced files are kept. They do not
// end in .json, since validators would take a JSON file that lists resources for a
// nested package.
var beforeNames = [][2]string{{dataPackage, "datapackage.before"}, {packageDigest, "datapackage-digest.before"}}

// Close writes the lists of files and ends the ZIP file.
func (w *WACZ) Close() error {
	for _, name := range beforeNames {
		if b := w.original[name[0]]; b != nil {
			if err := w.put(waczFolder+name[1], b); err != nil {
				return err
			}
		}
	}
	w.finish()
	b, _, err := addResources(w.original[dataPackage], w.resources)
	if err != nil {
		return err
	}
	sum := w.newHash()
	sum.Write(b)
	digest, err := json.MarshalIndent(map[string]string{"path": dataPackage, "hash": w.hashName + ":" + hex.EncodeToString(sum.Sum(nil))}, "", "  ")
	if err := errors.Join(err, w.put(dataPackage, b), w.store(packageDigest, append(digest, '\n')), w.zip.Flush()); err != nil {
		return err
	}
	var added switchable // the zip writer ends with the directory of the new entries
	var directory bytes.Buffer
	added.Writer = &directory
	at := w.out.n
	out := w.out.Writer
	w.out.Writer = &added
	if err := w.zip.Close(); err != nil {
		return err
	}
	w.out.Writer = out
	records, n, err := zipRecords(directory.Bytes())
	if err != nil {
		return err
	}
	_, err = out.Write(w.old.end(at, records, n))
	return err
}

func (w *WACZ) put(p string, b []byte) error {
	entry, err := w.create(p)
	if err != nil {
		return err
	}
	_, err = entry.Write(b)
	return err
}

// store adds an uncompressed entry, with its sizes before the data.
func (w *WACZ) store(p string, b []byte) error {
	h := w.like
	h.Name, h.Method, h.Flags, h.Comment, h.Extra = p, zip.Store, 0, "", nil
	h.CRC32, h.CompressedSize64, h.UncompressedSize64 = crc32.ChecksumIEEE(b), uint64(len(b)), uint64(len(b))
	entry, err := w.zip.CreateRaw(&h)
	if err != nil {
		return err
	}
	_, err = entry.Write(b)
	return err
}

// addResources adds to the list in a datapackage.json and changes nothing else in
// it. It returns the algorithm of the first hash in the list.
func addResources(b []byte, resources []resource) (out []byte, algorithm string, err error) {
	wrong := func(err error) ([]byte, string, error) {
		return nil, "", fmt.Errorf("%s: %w", dataPackage, err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	switch t, err := d.Token(); {
	case err != nil:
		return wrong(err)
	case t != json.Delim('{'):
		return wrong(errors.New("it is no JSON object"))
	}
	at, listed := int64(-1), 0
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return wrong(err)
		}
		if key != "resources" {
			var skipped json.RawMessage
			if err := d.Decode(&skipped); err != nil {
				return wrong(err)
			}
			continue
		}
		switch t, err := d.Token(); {
		case err != nil:
			return wrong(err)
		case t != json.Delim('[') || at >= 0:
			return wrong(errors.New("resources must be one list"))
		}
		at = d.InputOffset()
		for ; d.More(); listed++ {
			var r struct{ Hash string }
			if err := d.Decode(&r); err != nil {
				return wrong(err)
			}
			if listed == 0 {
				algorithm, _, _ = strings.Cut(r.Hash, ":")
			}
			at = d.InputOffset()
		}
		if _, err := d.Token(); err != nil {
			return wrong(err)
		}
	}
	if _, err := d.Token(); err != nil {
		return wrong(err)
	}
	if at < 0 {
		return wrong(errors.New("it lists no resources"))
	}
	out = append(out, b[:at]...)
	for _, r := range resources {
		if listed++; listed > 1 {
			out = append(out, ',')
		}
		line, err := json.Marshal(r)
		if err != nil {
			return wrong(err)
		}
		out = append(append(out, "\n    "...), line...)
	}
	return append(out, b[at:]...), algorithm, nil
}
