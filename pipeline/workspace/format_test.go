package workspace_test

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// testdata has a workspace of each format, of three pages. Opened, it becomes one of
// this format, with all that it had. A new format takes a file of the one before.
func TestFormats(t *testing.T) {
	for format := 1; format <= workspace.Format; format++ {
		t.Run(fmt.Sprint(format), func(t *testing.T) { testFormat(t, format) })
	}
}

func testFormat(t *testing.T, format int) {
	z, err := zip.OpenReader(fmt.Sprintf("testdata/format%d.zip", format))
	if err != nil {
		t.Fatalf("no workspace of this format is kept: %v", err)
	}
	defer func() { _ = z.Close() }()
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.CopyFS(dir, z); err != nil {
		t.Fatal(err)
	}
	before, err := workspace.ReadManifest(dir)
	if err != nil || before.Format != format || len(before.Stages) != 4 || before.Inputs[0].Path != "/srv/crawls/small.warc" {
		t.Fatalf("%+v %v", before, err)
	}
	for i := range 2 {
		w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if w.DB.Unsealed != (i == 0 && format == 1) {
			t.Errorf("time %d: unsealed %v", i, w.DB.Unsealed)
		}
		for table, want := range map[byte]int64{layout.TableDocument: 3, layout.TableText: 3, layout.TableSource: 1} {
			if n, err := w.DB.Count(table); err != nil || n != want {
				t.Errorf("time %d: table %c has %d rows, want %d (%v)", i, table, n, want, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := workspace.ReadManifest(dir)
		if err != nil || after.Format != workspace.Format || len(after.Stages) != 4 || after.Config == nil || after.Inputs[0].Path != before.Inputs[0].Path {
			t.Errorf("time %d: %+v %v", i, after, err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil || !strings.Contains(string(b), `"sum"`) {
			t.Errorf("time %d: no checksum (%v)", i, err)
		}
	}
}
