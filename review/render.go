package review

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"maps"
	"mime"
	"net/http"
	"path"
	"strings"

	"neardup/report"
	"neardup/report/look"
	"neardup/screen"
)

//go:embed assets templates
var files embed.FS

// assets are what pages load, by names that have a digest of what is in them: a
// browser keeps them for as long as they are the same.
type assets struct {
	names map[string]string // of the file: name with digest
	bytes map[string][]byte // of the name with digest
}

func loadAssets() assets {
	a := assets{map[string]string{}, map[string][]byte{}}
	for _, name := range []string{"review.css", "review.js", "icon.svg"} {
		b, err := files.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // it is in the program
		}
		if name == "review.css" {
			b = append([]byte(look.Style), b...)
		}
		sum := sha256.Sum256(b)
		ext := path.Ext(name)
		full := strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:8]) + ext
		a.names[name], a.bytes[full] = full, b
	}
	return a
}

func (s *server) asset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	b, ok := s.assets.bytes[name]
	if !ok {
		return ErrNotFound
	}
	h := w.Header()
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, err := w.Write(b)
	return ignored(err)
}

// ignored is for failures to write to someone who has gone.
func ignored(error) error { return nil }

// pages are the templates by name.
type pages map[string]*template.Template

func loadPages(a assets) pages {
	funcs := maps.Clone(look.Funcs)
	maps.Copy(funcs, template.FuncMap{
		"asset":    func(name string) string { return "/assets/" + a.names[name] },
		"visible":  visible,
		"relation": func(r report.Relation) string { return look.Relations[r] },
		"letter":   func(side int) string { return [2]string{"A", "B"}[side] },
		"score":    report.Score.Short,
		"minutes":  minutes,
		"plural":   look.Plural,
		"share":    share,
		"query":    func(pairs ...string) string { return query(pairs...) },
		"dict":     dict,
		"inc":      func(i int) int { return i + 1 },
		"dec":      func(i int) int { return i - 1 },
	})
	base := template.Must(template.New("base").Funcs(funcs).ParseFS(files, "templates/base.html", "templates/parts.html", "templates/sides.html"))
	p := pages{}
	for _, name := range []string{"overview", "clusters", "search", "cluster", "pair", "page", "audits", "audit", "judge", "gone", "enforced", "error"} {
		p[name] = template.Must(template.Must(base.Clone()).ParseFS(files, "templates/"+name+".html"))
	}
	return p
}

// view is what a template gets.
type view struct {
	Title     string
	Nav       string // path of the section that it is in
	Inside    bool   // and is not that page itself
	Wide      bool
	Judge     string // who judges, where that is known
	Said      string // what was just done
	Body      any
	Workspace string
	Version   string
}

// section is an entry of the navigation.
type section struct{ Path, Name, Here string }

// Sections returns the navigation of the page.
func (v view) Sections() []section {
	all := []section{{"/", "Overview", ""}, {"/clusters", "Clusters", ""}, {"/search", "Search", ""}, {"/audit", "Audits", ""}, {"/enforced", "Enforced", ""}}
	for i := range all {
		if all[i].Path == v.Nav {
			all[i].Here = "page"
			if v.Inside {
				all[i].Here = "true"
			}
		}
	}
	return all
}

func (s *server) show(w http.ResponseWriter, _ *http.Request, status int, name string, v view) error {
	v.Workspace, v.Version = s.options.Name, s.options.Version
	var b bytes.Buffer
	if err := s.pages[name].ExecuteTemplate(&b, "base", v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, err := b.WriteTo(w)
	return ignored(err)
}

// visible returns text of others as it is, but for what would not show or change the
// direction of what is around it. What joins and parts letters of some scripts
// and emoji stays.
func visible(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if inert(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

func inert(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case r < 0x20 || 0x7f <= r && r < 0xa0: // controls
		return false
	case 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x206f || r == 0x2028 || r == 0x2029: // directions, separators
		return false
	case r == 0xfeff || 0xfff9 <= r && r <= 0xfffb || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef || r >= 0xe0000: // marks, tags, no characters
		return false
	}
	return true
}

// minutes returns a WARC-Date up to its minute.
func minutes(date string) string {
	const most = len("2006-01-02T15:04")
	return strings.Replace(screen.Characters(date[:min(len(date), most)], most), "T", " ", 1)
}

// share writes a share from 0 to 1 with three decimals.
func share(f float64) string { return fmt.Sprintf("%.3f", f) }

// dict gives a template several values.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 > 0 {
		return nil, fmt.Errorf("dict: %d arguments", len(pairs))
	}
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m, nil
}
