// Package docs has the tests of the documentation.
package docs

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	heading    = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	fence      = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	codeSpan   = regexp.MustCompile("`+[^`]*`+")
	inlineLink = regexp.MustCompile(`\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+"[^"]*")?\s*\)`)
	linkText   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	codePath   = regexp.MustCompile("`([\\w.*-]+(?:/[\\w.*-]+)*/?)`")
	mention    = regexp.MustCompile(`\bdocs/[\w./-]+\.(?:md|svg|png|tsv|jsonl|py)(?:#[\w-]+)?`)
)

// page is what the tests need of a Markdown file.
type page struct {
	anchors map[string]bool // as GitHub and GitLab make them from headings
	links   []string        // destinations, in order
}

// parse reads a Markdown file. Code blocks and code spans have no links. An
// indented line is a code block only after an empty line, and nested lists are
// rare here, so a link in an indented line is checked all the same.
func parse(text string) page {
	p := page{anchors: map[string]bool{}}
	seen := map[string]int{}
	end := ""
	for line := range strings.SplitSeq(text, "\n") {
		if f := fence.FindStringSubmatch(line); f != nil {
			if end == "" {
				end = f[1]
			} else if strings.HasPrefix(f[1], end) {
				end = ""
			}
			continue
		}
		if end != "" {
			continue
		}
		if h := heading.FindStringSubmatch(line); h != nil {
			a := anchor(h[1])
			n := seen[a]
			seen[a]++
			if n > 0 {
				a += "-" + strconv.Itoa(n)
			}
			p.anchors[a] = true
		}
		for _, l := range inlineLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "code"), -1) {
			p.links = append(p.links, l[1])
		}
	}
	return p
}

// anchor returns the id of a heading: the text of the heading in lower case
// without punctuation, with a hyphen for each space.
func anchor(heading string) string {
	heading = linkText.ReplaceAllString(heading, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// missing returns what is wrong with a link from the file at name, or "".
// Files are named by slash-separated paths from the root of the repository.
func missing(pages map[string]page, exists func(string) bool, name, link string) string {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case u.Scheme != "" || u.Host != "":
		return "" // another site's
	}
	target := name
	if u.Path != "" {
		target = path.Join(path.Dir(name), u.Path)
		if !exists(target) {
			return "no file " + target
		}
	}
	if p, ok := pages[target]; u.Fragment != "" && ok && !p.anchors[u.Fragment] {
		return "no heading for #" + u.Fragment + " in " + target
	}
	return ""
}

// repository walks the files of the repository below the parent directory.
func repository(t *testing.T, visit func(name string, read func() string)) {
	t.Helper()
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		visit(name, func() string {
			b, err := fs.ReadFile(root, name)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join("..", filepath.FromSlash(name)))
	return err == nil
}

func markdown(t *testing.T) map[string]page {
	pages := map[string]page{}
	repository(t, func(name string, read func() string) {
		if path.Ext(name) == ".md" {
			pages[name] = parse(read())
		}
	})
	return pages
}

// TestLinks follows every relative link of every Markdown file to its file and
// its heading.
func TestLinks(t *testing.T) {
	pages := markdown(t)
	links := 0
	for name, p := range pages {
		for _, link := range p.links {
			links++
			if m := missing(pages, exists, name, link); m != "" {
				t.Errorf("%s: link %q: %s", name, link, m)
			}
		}
	}
	if len(pages) < 10 || links < 100 {
		t.Errorf("only %d links in %d files were found", links, len(pages))
	}
}

// TestMentions follows every path below docs/ that code, comments, presets and
// scripts mention.
func TestMentions(t *testing.T) {
	pages := markdown(t)
	mentions := 0
	repository(t, func(name string, read func() string) {
		switch path.Ext(name) {
		case ".go", ".yaml", ".yml", ".html", ".js", ".txt", ".sh":
		default:
			return
		}
		if name == "docs/links_test.go" {
			return
		}
		for _, link := range mention.FindAllString(read(), -1) {
			mentions++
			if m := missing(pages, exists, "README.md", link); m != "" {
				t.Errorf("%s: %q: %s", name, link, m)
			}
		}
	})
	if mentions < 10 {
		t.Errorf("only %d mentions were found", mentions)
	}
}

// TestPaths finds every file and folder of the repository that the documents
// name in code spans, such as `cluster/lists.go` and `explain/`.
func TestPaths(t *testing.T) {
	notPaths := map[string]bool{
		"cluster/ID.html": true, // of a report
		"example/crawl":   true, // a prefix
	}
	found := 0
	repository(t, func(name string, read func() string) {
		if path.Ext(name) != ".md" {
			return
		}
		for _, m := range codePath.FindAllStringSubmatch(read(), -1) {
			first, _, below := strings.Cut(m[1], "/")
			if info, err := os.Stat(filepath.Join("..", first)); !below || notPaths[m[1]] || err != nil || !info.IsDir() {
				continue
			}
			found++
			if files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(m[1]))); err != nil || len(files) == 0 {
				t.Errorf("%s: there is no %s", name, m[1])
			}
		}
	})
	if found < 50 {
		t.Errorf("only %d paths were found", found)
	}
}

func TestAnchor(t *testing.T) {
	for _, c := range []struct{ heading, want string }{
		{"Where the constants come from", "where-the-constants-come-from"},
		{"Verdicts, beside other LCS", "verdicts-beside-other-lcs"},
		{"Files of other tools' tests", "files-of-other-tools-tests"},
		{"`text.frames`: what it learns", "textframes-what-it-learns"},
		{"The paper's figures 6 to 8", "the-papers-figures-6-to-8"},
		{"See [methods](methods.md) and Größe_1", "see-methods-and-größe_1"},
	} {
		if got := anchor(c.heading); got != c.want {
			t.Errorf("anchor(%q) = %q, want %q", c.heading, got, c.want)
		}
	}
}

// TestMissing says what the two tests above would report.
func TestMissing(t *testing.T) {
	pages := map[string]page{
		"README.md":  parse("# One\n[a](docs/a.md#two) `[no](link)`\n```\n[no](link)\n# no\n```\n![b](docs/b.png \"title\") [c](<docs/c.md>)\n"),
		"docs/a.md":  parse("# Two\n## Two\n"),
		"docs/b.png": {},
	}
	if got := strings.Join(pages["README.md"].links, " "); got != "docs/a.md#two docs/b.png docs/c.md" {
		t.Errorf("links: %s", got)
	}
	exists := func(name string) bool { _, ok := pages[name]; return ok }
	for _, c := range []struct{ name, link, want string }{
		{"README.md", "docs/a.md#two", ""},
		{"README.md", "docs/a.md#two-1", ""},
		{"README.md", "docs/a.md#three", "no heading for #three in docs/a.md"},
		{"README.md", "docs/c.md", "no file docs/c.md"},
		{"README.md", "#no", "no heading for #no in README.md"},
		{"docs/a.md", "../README.md#one", ""},
		{"docs/a.md", "README.md", "no file docs/README.md"},
		{"docs/a.md", "https://example.org/none", ""},
	} {
		if got := missing(pages, exists, c.name, c.link); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.name, c.link, got, c.want)
		}
	}
}
