package review

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"path"
	"strings"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"neardup/audit"
	"neardup/explain"
	"neardup/report"
	"neardup/report/look"
	"neardup/screen"
)

//go:embed assets templates
var files embed.FS

// assets are the files that pages load. Their names include a digest of their
// content, so that browsers can cache them for ever.
type assets struct {
	names map[string]string // file name → name with digest
	bytes map[string][]byte // by the name with digest
}

func loadAssets() assets {
	a := assets{map[string]string{}, map[string][]byte{}}
	for _, name := range []string{"review.css", "review.js", "icon.svg"} {
		b, err := files.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // the file is part of the program
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

// ignored drops the error of writing to a client that is gone.
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
		// Templates cannot call methods, see docs/release.md.
		"sections":   view.sections,
		"threshold":  meter.threshold,
		"characters": sides.characters,
		"shown":      span.shown,
		"region":     cell.region,
		"equal":      row.equal,
		"compared":   comparedPart,
		"again":      (*explain.Regained).Said,
		"known":      audit.Interval.Known,
		"over":       explain.ListOfKey.Over,
		"dict":       dict,
		"inc":        func(i int) int { return i + 1 },
		"dec":        func(i int) int { return i - 1 },
	})
	base := template.Must(template.New("base").Funcs(funcs).ParseFS(files, "templates/base.html", "templates/parts.html", "templates/sides.html"))
	p := pages{}
	for _, name := range []string{"overview", "clusters", "contained", "search", "cluster", "pair", "page", "audits", "audit", "judge", "gone", "enforced", "error"} {
		p[name] = template.Must(template.Must(base.Clone()).ParseFS(files, "templates/"+name+".html"))
	}
	return p
}

// view is the data of a template.
type view struct {
	Title     string
	Nav       string // path of the section that it is in
	Inside    bool   // the page is inside the section, not the section's own page
	Wide      bool
	Judge     string // name of the judge, if known
	Said      string // result of the previous request
	Body      any
	Workspace string
	Version   string
	ReadOnly  bool // show that nothing can be judged
}

// section is an entry of the navigation.
type section struct{ Path, Name, Here string }

// sections returns the navigation of the page.
func (v view) sections() []section {
	all := []section{{"/", "Overview", ""}, {"/clusters", "Clusters", ""}, {"/contained", "Contained", ""}, {"/search", "Search", ""}, {"/audit", "Audits", ""}, {"/enforced", "Enforced", ""}}
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
	v.ReadOnly = s.options.ReadOnly && status < http.StatusBadRequest // an error says more
	var b bytes.Buffer
	if err := s.pages[name].ExecuteTemplate(&b, "base", v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, err := b.WriteTo(w)
	return ignored(err)
}

// visible returns crawled text, but escapes what is invisible or changes the
// direction of the text around it. Joiners that some scripts and emoji need are
// kept.
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
	case r == 0x061c || r == 0x200e || r == 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x206f || r == 0x2028 || r == 0x2029: // directions, separators
		return false
	case r == 0xfeff || 0xfff9 <= r && r <= 0xfffb || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef || r >= 0xe0000: // marks, tags, no characters
		return false
	}
	return true
}

// minutes returns a WARC-Date up to the minute.
func minutes(date string) string {
	const limit = len("2006-01-02T15:04")
	return strings.Replace(screen.Characters(date[:min(len(date), limit)], limit), "T", " ", 1)
}

// share returns a share from 0 to 1 with three decimals.
func share(f float64) string { return fmt.Sprintf("%.3f", f) }

// dict makes a map, to pass several values to a template.
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
