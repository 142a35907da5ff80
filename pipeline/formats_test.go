package pipeline_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// recordsOf splits the example crawl into its records, not compressed.
func recordsOf(t *testing.T, path string) [][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := container.NewReader(f, container.Position{}, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for {
		raw, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, slices.Concat(raw.Header, raw.Block, []byte("\r\n\r\n")))
	}
}

func gzipOf(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstdOf(t *testing.T, records [][]byte, o ...zstd.EOption) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, o...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	var out []byte
	for _, r := range records {
		out = w.EncodeAll(r, out)
	}
	return out
}

// zipOf makes a WACZ file of the named members.
func zipOf(t *testing.T, method uint16, members map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = f.Write(members[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// conversions returns the example crawl in the formats that archives have.
func conversions(t *testing.T, path string) map[string][]byte {
	t.Helper()
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	records := recordsOf(t, path)
	plain := slices.Concat(records...)
	dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 9, Contents: records, History: plain[:20_000], Offsets: [3]int{1, 4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	frame := func(content []byte) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte{0x5d, 0x2a, 0x4d, 0x18}, uint32(len(content))), content...)
	}
	withDictionary := zstdOf(t, records, zstd.WithEncoderDict(dictionary))
	junk := []byte("{}")
	return map[string][]byte{
		"plain.warc":            plain,
		"whole.warc.gz":         gzipOf(t, plain),
		"record.warc.zst":       zstdOf(t, records),
		"whole.warc.zst":        zstdOf(t, [][]byte{plain}),
		"dictionary.warc.zst":   append(frame(dictionary), withDictionary...),
		"dictionary-c.warc.zst": append(frame(zstdOf(t, [][]byte{dictionary})), withDictionary...),
		"stored.wacz":           zipOf(t, zip.Store, map[string][]byte{"archive/a.warc.gz": original, "datapackage.json": junk, "archive/x.txt": junk}),
		"deflated.wacz":         zipOf(t, zip.Deflate, map[string][]byte{"archive/a.warc": plain, "pages/pages.jsonl": junk}),
	}
}

// withoutHints returns an export without file names and offsets, which differ
// between formats.
func withoutHints(t *testing.T, clusters []byte) string {
	t.Helper()
	var out strings.Builder
	for line := range bytes.Lines(clusters) {
		var c map[string]any
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		for _, m := range c["members"].([]any) {
			for _, place := range []string{"warc", "path", "entry", "offset"} {
				delete(m.(map[string]any), place)
			}
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(b, '\n'))
	}
	return out.String()
}

// counts returns the counts of the extraction in dir.
func counts(t *testing.T, dir string) (c inputs.RecordCounts, files int, s workspace.Status) {
	t.Helper()
	config := pipetest.MustLoad(t)
	s, err := workspace.ReadStatus(t.Context(), dir, stages.All, &config)
	if err != nil {
		t.Fatal(err)
	}
	c.Skipped = map[string]int64{}
	for _, source := range s.Inputs {
		c.Add(source.Counts)
	}
	return c, len(s.Inputs), s
}

func TestEveryFormatGivesTheSameClusters(t *testing.T) {
	path := pipetest.Crawl(t)
	want := withoutHints(t, pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{}, path))
	if want == "" {
		t.Fatal("no clusters")
	}
	for name, content := range conversions(t, path) {
		t.Run(name, func(t *testing.T) {
			file := pipetest.WriteFile(t, filepath.Join(t.TempDir(), name), content)
			dir := filepath.Join(t.TempDir(), "ws")
			if got := withoutHints(t, pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, file)); got != want {
				t.Error("other clusters than of the original")
			}
			if testing.Short() {
				return
			}
			// Interrupted, it goes on to the same.
			rng := rand.New(rand.NewPCG(uint64(len(content)), 1))
			dir = filepath.Join(t.TempDir(), "ws")
			for range 3 {
				ctx, cancel := context.WithCancel(context.Background())
				i := &pipetest.Interrupter{Cancel: cancel}
				i.Left.Store(3 + rng.Int64N(60))
				w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{Workers: 2, Progress: i})
				if err != nil {
					t.Fatal(err)
				}
				sources, _, err := inputs.Find(t.Context(), dir, []string{file}, nil, pipetest.Limits)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Run(ctx, "extract", "verify", sources); err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				cancel()
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if got := withoutHints(t, pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, file)); got != want {
				t.Error("other clusters after interruptions")
			}
		})
	}
}

func TestACaptureInAWARCAndItsWACZCountsOnce(t *testing.T) {
	path := pipetest.Crawl(t)
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	want := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{}, path)
	wacz := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "x.wacz"), zipOf(t, zip.Store, map[string][]byte{"archive/" + filepath.Base(path): original}))
	if got := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, path, wacz, path); withoutHints(t, got) != withoutHints(t, want) {
		t.Error("other clusters with the WACZ file beside the WARC file")
	}
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	s, err := results.Summary(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	if s.Records.Duplicates != s.Records.Documents || s.Records.Documents == 0 {
		t.Errorf("%d documents, %d duplicates", s.Records.Documents, s.Records.Duplicates)
	}
	accounted(t, s)
}

func TestDirectoryOfMixedFormats(t *testing.T) {
	path := pipetest.Crawl(t)
	root := t.TempDir()
	n := 0
	for name, content := range conversions(t, path) {
		pipetest.WriteFile(t, filepath.Join(root, fmt.Sprint(n%3), name), content)
		n++
	}
	pipetest.WriteFile(t, filepath.Join(root, "texts.tsv"), []byte("1\tno archive\n"))
	pipetest.WriteFile(t, filepath.Join(root, "office.zip"), zipOf(t, zip.Deflate, map[string][]byte{"word/document.xml": []byte("<x/>")}))
	pipetest.WriteFile(t, filepath.Join(root, "x.warc.lz4"), []byte("\x02\x21\x4c\x18...."))
	pipetest.WriteFile(t, filepath.Join(root, "broken.wacz"), []byte("PK\x03\x04...."))
	sources, ignored, err := inputs.Find(t.Context(), t.TempDir(), []string{root}, nil, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	errs := map[string]string{}
	for _, s := range sources {
		if s.State == inputs.Unreadable {
			errs[s.Name] = s.Error
		}
	}
	if ignored != 2 || len(sources) != n+2 || len(errs) != 2 || errs["x.warc.lz4"] != container.ErrLZ4.Error() || errs["broken.wacz"] == "" {
		t.Errorf("%d sources, %d ignored, %v", len(sources), ignored, errs)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	want := withoutHints(t, pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{}, path))
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if err := w.Run(context.Background(), "extract", "verify", sources); err != nil && !errors.Is(err, workspace.ErrInputFailure) {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := exports.Write(context.Background(), w, exports.Options{Format: "jsonl"}, &out); err != nil {
		t.Fatal(err)
	}
	if withoutHints(t, out.Bytes()) != want {
		t.Error("other clusters than of the original")
	}
}

func TestCollectionsAreTakenWhereTheyAreNamed(t *testing.T) {
	const a = "Twenty lighthouse keepers met on Tuesday to compare the lamps of their towers. The oldest lamp was lit in 1823 and burns whale oil to this day. Nobody could say who had paid for it. "
	const b = "The meeting closed with soup, and a vote about the colour of next year's doors."
	text := func(id, s string) string { return id + "\t" + s + "\n" }
	jsonLine := func(id, s string) string { return fmt.Sprintf("{\"id\":%q,\"text\":%q}\n", id, s) }
	root := t.TempDir()
	tsv := pipetest.WriteFile(t, filepath.Join(root, "a.tsv"), []byte(text("one", a+b)+text("two", a+b+" Blue won.")+"no tab\n"+text("three", "Something else.")))
	jsonl := pipetest.WriteFile(t, filepath.Join(root, "b.jsonl.gz"), gzipOf(t, []byte(jsonLine("two", a+b+" Blue won.")+jsonLine("four", a+b))))
	if sources, ignored, err := inputs.Find(t.Context(), t.TempDir(), []string{root}, nil, pipetest.Limits); err != nil || len(sources) != 0 || ignored != 2 {
		t.Errorf("below a directory: %v, %d ignored, %v", sources, ignored, err)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	clusters := string(pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, tsv, jsonl))
	for _, uri := range []string{"urn:text:one", "urn:text:four"} {
		if !strings.Contains(clusters, `"uri":"`+uri+`"`) {
			t.Errorf("%s is not in %s", uri, clusters)
		}
	}
	c, files, _ := counts(t, dir)
	if c.Records != 6 || c.Captures != 5 || c.Skipped[string(extract.ReasonLine)] != 1 || files != 2 {
		t.Errorf("%d files: %+v", files, c)
	}
	sources, _, err := inputs.Find(t.Context(), t.TempDir(), []string{"-"}, strings.NewReader(text("one", a)), pipetest.Limits)
	if err != nil || len(sources) != 1 || sources[0].Format != container.FormatTSV || sources[0].State != inputs.Pending {
		t.Errorf("standard input: %+v %v", sources, err)
	}
}

// A WACZ file that was written anew is read anew, without what it lost.
func TestChangedWACZIsExtractedAgain(t *testing.T) {
	path := pipetest.Crawl(t)
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	records := recordsOf(t, path)
	half := slices.Concat(records[:len(records)/2]...)
	file := filepath.Join(t.TempDir(), "x.wacz")
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.WriteFile(t, file, zipOf(t, zip.Store, map[string][]byte{"archive/a.warc": half, "archive/b.warc.gz": original}))
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, file)
	pipetest.WriteFile(t, file, zipOf(t, zip.Store, map[string][]byte{"archive/a.warc": half}))
	got := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, file)
	if want := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{}, file); !bytes.Equal(got, want) {
		t.Error("not as if the changed file had been the first")
	}
	if _, files, _ := counts(t, dir); files != 1 {
		t.Errorf("%d files", files)
	}
}
