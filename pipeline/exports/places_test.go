package exports_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"neardup/keep"
	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Formats that name no record.
var withoutRecords = []string{"text", "summary", "summary-json"}

// readable returns an export as text: of Parquet its values.
func readable(t *testing.T, format string, b []byte) string {
	t.Helper()
	if !strings.HasSuffix(format, "parquet") {
		return string(b)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		for buffer := make([]parquet.Row, 16); err == nil; {
			var n int
			n, err = rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				fmt.Fprintln(&out, row)
			}
		}
		if err := errors.Join(rows.Close(), ignoreEOF(err)); err != nil {
			t.Fatal(err)
		}
		err = nil
	}
	return out.String()
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// exportsOf returns each format of the table as text, the files of a directory one
// after another.
func exportsOf(t *testing.T, w *workspace.Workspace, o exports.Options) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range exports.Formats {
		o.Format = f.Name
		if !o.Directory() {
			if f.Name != "wacz" {
				out[f.Name] = readable(t, f.Name, pipetest.ExportOf(t, w, o))
				continue
			}
			var b bytes.Buffer
			if err := exports.Write(context.Background(), w, o, &b); err != nil {
				t.Fatal(err)
			}
			z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"neardup/manifest.json", "neardup/left-out.jsonl"} {
				content, err := fs.ReadFile(z, name)
				if err != nil {
					t.Fatal(err)
				}
				out[f.Name] += string(content)
			}
			continue
		}
		dir := filepath.Join(t.TempDir(), "out")
		if err := exports.WriteDirectory(context.Background(), w, o, dir); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"manifest.json", "left-out.jsonl"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			out[f.Name] += string(b)
		}
	}
	return out
}

// Each format says of which file a record is, also of files that have one name: in two
// directories, or as two files of one name in WACZ files, or as two in one WACZ file. A
// new format is in the table, and so in this test.
func TestEveryFormatTellsFilesApart(t *testing.T) {
	first, second, _ := halves(t)
	dir := t.TempDir()
	files := writeNamesakes(t, dir, first, second)
	both := writeWACZ(t, filepath.Join(dir, "both.wacz"), files...)
	for _, x := range []struct {
		name   string
		inputs []string
		want   []string // in each format
	}{
		{"directories", files, files},
		{"members of a WACZ file", []string{both}, []string{both, "archive/data.warc.gz", "archive/data1.warc.gz"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			ws := t.TempDir()
			settings := []string{"verify.containment=0.5"} // so that some are only contained
			pipetest.RunAll(t, ws, pipetest.MustLoad(t, settings...), workspace.Options{}, x.inputs...)
			w := pipetest.OpenWith(t, ws, settings...)
			rules := keep.Default()
			rules.Resemblance, rules.MaxLost, rules.AllowLostURIs = 0.3, -1, true
			for format, shown := range exportsOf(t, w, exports.Options{Keep: &rules}) {
				if slices.Contains(withoutRecords, format) {
					continue
				}
				if shown == "" {
					t.Errorf("%s is empty", format)
				}
				for _, want := range x.want {
					if !strings.Contains(shown, want) && format != "contained" {
						t.Errorf("%s does not name %s", format, want)
					}
				}
				if !strings.Contains(shown, x.want[0]) {
					t.Errorf("%s does not name %s", format, x.want[0])
				}
			}
			// Edges and contained pages name the place of both ends.
			at := map[string]map[string]bool{} // places by record id
			put := func(id, path, entry string, offset int64) {
				if at[id] == nil {
					at[id] = map[string]bool{}
				}
				at[id][fmt.Sprint(path, " ", entry, " ", offset)] = true
			}
			for c, err := range results.Clusters(context.Background(), w) {
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range c.Members {
					put(m.RecordID, m.Path, m.Entry, m.Offset)
				}
			}
			type end struct {
				id, path, entry string
				offset          int64
			}
			check := func(format string, ends func(line []byte) []end) {
				t.Helper()
				n := 0
				for line := range strings.Lines(string(pipetest.ExportOf(t, w, exports.Options{Format: format}))) {
					for _, e := range ends([]byte(line)) {
						if at[e.id] == nil { // in no cluster
							m := report.Member{Path: e.path, Entry: e.entry, Offset: e.offset}
							if got := recordAt(t, m); got != e.id {
								t.Errorf("%s: at %+v is %s", format, e, got)
							}
						} else if !at[e.id][fmt.Sprint(e.path, " ", e.entry, " ", e.offset)] {
							t.Errorf("%s: %+v, want one of %v", format, e, at[e.id])
						}
						n++
					}
				}
				if n == 0 {
					t.Errorf("%s has nothing", format)
				}
			}
			check("edges", func(line []byte) []end {
				var e struct {
					Source, Target string
					SourcePath     string `json:"source_path"`
					SourceEntry    string `json:"source_entry"`
					SourceOffset   int64  `json:"source_offset"`
					TargetPath     string `json:"target_path"`
					TargetEntry    string `json:"target_entry"`
					TargetOffset   int64  `json:"target_offset"`
				}
				if err := json.Unmarshal(line, &e); err != nil {
					t.Fatal(err)
				}
				return []end{{e.Source, e.SourcePath, e.SourceEntry, e.SourceOffset}, {e.Target, e.TargetPath, e.TargetEntry, e.TargetOffset}}
			})
			check("contained", func(line []byte) []end {
				var e struct {
					RecordID        string `json:"record_id"`
					Path, Entry, In string
					Offset          int64
					InPath          string `json:"in_path"`
					InEntry         string `json:"in_entry"`
					InOffset        int64  `json:"in_offset"`
				}
				if err := json.Unmarshal(line, &e); err != nil {
					t.Fatal(err)
				}
				return []end{{e.RecordID, e.Path, e.Entry, e.Offset}, {e.In, e.InPath, e.InEntry, e.InOffset}}
			})
		})
	}
}

// Formats that show scores of a run say whether these are estimates.
func TestEveryFormatSaysThatScoresAreEstimates(t *testing.T) {
	without := []string{"corpus", "corpus-parquet", "warc", "wacz", "keep", "keep-jsonl"} // no scores, or of the texts themselves
	for _, x := range []struct {
		preset string
		want   bool
	}{{"simhash", true}, {"minhash-lsh", false}} {
		ws := t.TempDir()
		config := pipetest.MustLoadPreset(t, x.preset)
		pipetest.RunAll(t, ws, config, workspace.Options{}, pipetest.Crawl(t))
		w, err := workspace.Open(ws, stages.All, config, false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := "the share of bits that two simhashes have in common"
		for format, shown := range exportsOf(t, w, exports.Options{}) {
			want := x.want && !slices.Contains(without, format) && shown != ""
			if got := strings.Contains(shown, said); got != want {
				t.Errorf("%s, %s: says so: %v", x.preset, format, got)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
