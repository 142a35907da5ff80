package pipeline_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
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

// imports returns what the package in a folder below pipeline/ imports, without its
// tests.
func imports(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			out[path] = true
		}
	}
	return out
}

// The list in doc.go has each package below pipeline/, below all that it imports.
func TestOrderOfPackages(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	above := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z]+) `).FindAllStringSubmatch(string(doc), -1) {
		for i := range imports(t, m[1]) {
			if of, ok := strings.CutPrefix(i, "neardup/pipeline/"); ok && !above[of] {
				t.Errorf("doc.go: %s imports %s, which does not stand above it", m[1], of)
			}
		}
		above[m[1]] = true
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "internal" && !above[e.Name()] {
			t.Errorf("doc.go does not have %s", e.Name())
		}
		delete(above, e.Name())
	}
	for name := range above {
		t.Errorf("doc.go has %s, and there is no such package", name)
	}
}

// The import rule allows a package below pipeline/ nothing that it does not import.
func TestImportRuleIsTight(t *testing.T) {
	file, err := os.ReadFile("../.depguard.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules map[string]struct {
		Files, Allow []string
	}
	if err := yaml.Unmarshal(file, &rules); err != nil {
		t.Fatal(err)
	}
	of := regexp.MustCompile(`^\*\*/pipeline/([a-z]+)/\*\.go$`)
	checked := 0
	for name, rule := range rules {
		m := of.FindStringSubmatch(rule.Files[0])
		if m == nil {
			continue
		}
		checked++
		all := imports(t, m[1])
		for _, allowed := range rule.Allow {
			if allowed == "$gostd" {
				continue
			}
			prefix, whole := strings.CutSuffix(allowed, "$")
			used := false
			for path := range all {
				used = used || path == prefix || !whole && strings.HasPrefix(path, prefix)
			}
			if !used {
				t.Errorf("rule %s allows %s, which the package does not import", name, allowed)
			}
		}
	}
	if checked < 25 {
		t.Errorf("%d packages checked", checked)
	}
}
