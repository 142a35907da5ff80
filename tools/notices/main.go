// Command notices writes the licences of what the program contains: the modules for
// all platforms of releases, Go, the dictionary whose words are in signature/terms,
// and PDFium in extract/pdf. Modules with the same licence text share it.
//
//	cd tools && go run ./notices -root .. > ../THIRD_PARTY_NOTICES
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var platforms = []string{"linux", "darwin", "windows"}

// further are modules that are not linked in, but of which a part is: the words of
// a dictionary, and a build of PDFium.
var further = []string{"github.com/go-ego/gse", "github.com/klippa-app/go-pdfium"}

var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)`)

func main() {
	root := flag.String("root", "..", "directory of the module")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

type module struct{ name, dir string }

func write(root string) error {
	modules, err := linked(root)
	if err != nil {
		return err
	}
	names := map[string][]string{} // names of the modules by licence text
	for _, m := range modules {
		text, err := licence(m)
		if err != nil {
			return err
		}
		names[text] = append(names[text], m.name)
	}
	var texts []string
	for text := range names {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Compare(names[a][0], names[b][0]) })
	fmt.Print("neardup contains the software and data below, under these licences.\n")
	for _, text := range texts {
		fmt.Printf("\n%s\n%s\n\n%s", strings.Repeat("=", 78), strings.Join(names[text], "\n"), text)
	}
	return nil
}

// linked returns the modules of the program for all platforms, sorted.
func linked(root string) (modules []module, err error) {
	seen := map[module]bool{}
	list := func(env []string, args ...string) error {
		c := exec.Command("go", append([]string{"list"}, args...)...)
		c.Dir, c.Stderr = root, os.Stderr
		c.Env = append(os.Environ(), env...)
		out, err := c.Output()
		for line := range strings.Lines(string(out)) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				seen[module{name, dir}] = true
			}
		}
		return err
	}
	for _, p := range platforms {
		for _, cgo := range []string{"0", "1"} {
			if err := list([]string{"GOOS=" + p, "CGO_ENABLED=" + cgo}, "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/neardup"); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range further {
		if err := list(nil, "-m", "-f", "{{.Path}} {{.Version}} (in part)\t{{.Dir}}", path); err != nil {
			return nil, err
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	seen[module{"the Go standard library and runtime", strings.TrimSpace(string(goroot))}] = true
	seen[module{"PDFium", filepath.Join(root, "extract", "pdf")}] = true
	for m := range seen {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return cmp.Compare(a.name, b.name) })
	return modules, nil
}

// licence returns the text of all legal files of a module.
func licence(m module) (string, error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return "", err
	}
	var text []string
	for _, e := range entries {
		if e.IsDir() || !legal.MatchString(e.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			return "", err
		}
		text = append(text, string(bytes.TrimSpace(bytes.ReplaceAll(b, []byte("\r"), nil)))+"\n")
	}
	if len(text) == 0 {
		return "", fmt.Errorf("%s has no licence in %s", m.name, m.dir)
	}
	return strings.Join(text, "\n"), nil
}
