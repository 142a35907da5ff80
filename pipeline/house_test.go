package pipeline_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// maxPackageLines limits a package below pipeline/, without its tests. Who reads one
// should be able to keep it in mind; what grows beyond is two packages.
const maxPackageLines = 3200

// Each package below pipeline/ is small, and README's Inside has its folder and those
// at the top.
func TestHouse(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := packageLines(t, os.DirFS(".."))
	for _, want := range []string{"pipeline/workspace", "pipeline/store", "extract", "cmd/neardup"} {
		if lines[want] < 500 {
			t.Errorf("%s has %d lines: they are not counted as they should be", want, lines[want])
		}
	}
	for folder, n := range lines {
		below := strings.HasPrefix(folder, "pipeline/")
		if below && n > maxPackageLines {
			t.Errorf("%s has %d lines, the limit is %d: move what belongs elsewhere into a package of its own", folder, n, maxPackageLines)
		}
		if top := !strings.Contains(folder, "/"); (top && folder != "pipeline" || below) && !bytes.Contains(readme, []byte("`"+folder+"/`")) {
			t.Errorf("README.md does not say what is in %s/", folder)
		}
	}
}

// packageLines returns the lines of the Go files of each folder, without tests and
// what is for tests only.
func packageLines(t *testing.T, module fs.FS) map[string]int {
	t.Helper()
	out := map[string]int{}
	err := fs.WalkDir(module, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if slices.Contains([]string{".git", "testdata", "internal", "remotetest", "tools", "docs", "example"}, e.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		b, err := fs.ReadFile(module, name)
		out[path.Dir(name)] += bytes.Count(b, []byte("\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
