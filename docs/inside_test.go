package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// goFolders returns the folders in dir that have Go code, in them or below.
func goFolders(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && !strings.HasPrefix(name, ".") && name != "testdata" && hasGo(t, dir+"/"+name) {
			names = append(names, name+"/")
		}
	}
	return names
}

func hasGo(t *testing.T, dir string) bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return strings.HasSuffix(e.Name(), ".go") || e.IsDir() && hasGo(t, dir+"/"+e.Name())
	})
}

// The tree in README.md has the folders of the program, and those below extract and
// pipeline, and no others.
func TestReadmeHasTheFolders(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, inside, found := strings.Cut(string(page), "\n## Inside\n")
	if !found {
		t.Fatal("README.md has no section Inside")
	}
	inside, _, _ = strings.Cut(inside, "\n## ")
	named := map[string]bool{}
	folder := regexp.MustCompile("`([a-z/]+/)`")
	for line := range strings.Lines(inside) {
		first := ""
		for _, m := range folder.FindAllStringSubmatch(line, -1) {
			name := m[1]
			if _, err := os.Stat("../" + name); err != nil && first != "" { // "Below it: ..."
				name = first + name
			}
			if first == "" {
				first = name
			}
			if named[name] = true; !hasFolder(name) {
				t.Errorf("README.md has %s, which is not there", name)
			}
		}
	}
	want := slices.DeleteFunc(goFolders(t, ".."), func(name string) bool { return name == "docs/" || name == "cmd/" || name == "pipeline/" })
	for _, name := range goFolders(t, "../extract") {
		want = append(want, "extract/"+name)
	}
	for _, name := range goFolders(t, "../pipeline") {
		want = append(want, "pipeline/"+name)
	}
	for _, name := range append(want, "cmd/neardup/") {
		if !named[name] && !strings.HasSuffix(name, "/internal/") {
			t.Errorf("README.md has no %s", name)
		}
	}
	if len(want) < 40 {
		t.Errorf("only %d folders: %q", len(want), want)
	}
}

// Each folder of the program has a rule about what it may import.
func TestImportRuleHasTheFolders(t *testing.T) {
	rules, err := os.ReadFile("../.depguard.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, name := range goFolders(t, "..") {
		if name != "docs/" && name != "tools/" && name != "cmd/" && name != "pipeline/" {
			folders = append(folders, name)
		}
	}
	for _, name := range goFolders(t, "../pipeline") {
		if name != "internal/" {
			folders = append(folders, "pipeline/"+name)
		}
	}
	for _, name := range folders {
		if !strings.Contains(string(rules), `"**/`+name) {
			t.Errorf(".depguard.yaml has no rule for %s", name)
		}
	}
}

func hasFolder(name string) bool {
	i, err := os.Stat("../" + name)
	return err == nil && i.IsDir()
}
