package example

import (
	"embed"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed text/*.txt
var textFiles embed.FS

// grammar holds a language's sentence patterns and phrases.
type grammar struct {
	lang     string
	updated  string   // text before the date of a page
	patterns []string // {T} time, {S} subject, {V} verb, {R} rest, {P} both, {X} tail
	times    []string
	tails    []string
	topics   map[string]*topic
}

type topic struct {
	title      string
	subjects   []string
	predicates []string // "verb|rest" if the verb stands apart
}

// article is the main text of a page.
type article struct {
	lang    string
	title   string
	updated string
	date    string
	paras   [][]string // sentences by paragraph
	spare   []string   // further sentences of the topic that the page does not use
}

var languages = []string{"ar", "de", "el", "en", "fr", "hi", "ja", "ko", "ru", "zh"}

var grammars = sync.OnceValue(func() map[string]*grammar {
	out := map[string]*grammar{}
	for _, lang := range languages {
		data, err := textFiles.ReadFile("text/" + lang + ".txt")
		if err == nil {
			out[lang], err = parseGrammar(lang, string(data))
		}
		if err != nil {
			panic(fmt.Sprintf("example: text/%s.txt: %v", lang, err))
		}
	}
	return out
})

// parseGrammar parses a word list: "== section" lines, then one phrase per line. In
// a topic, "- " precedes a subject and "+ " a predicate.
func parseGrammar(lang, data string) (*grammar, error) {
	g := &grammar{lang: lang, topics: map[string]*topic{}}
	var section string
	var t *topic
	for i, line := range strings.Split(data, "\n") {
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		if head, ok := strings.CutPrefix(line, "== "); ok {
			section, t = head, nil
			if rest, ok := strings.CutPrefix(head, "topic "); ok {
				name, title, _ := strings.Cut(rest, " ")
				section, t = "topic", &topic{title: title}
				g.topics[name] = t
			}
			continue
		}
		switch {
		case section == "date":
			g.updated = line
		case section == "patterns":
			g.patterns = append(g.patterns, line)
		case section == "times":
			g.times = append(g.times, line)
		case section == "tails":
			g.tails = append(g.tails, line)
		case t != nil && strings.HasPrefix(line, "- "):
			t.subjects = append(t.subjects, line[2:])
		case t != nil && strings.HasPrefix(line, "+ "):
			t.predicates = append(t.predicates, line[2:])
		default:
			return nil, fmt.Errorf("line %d: unexpected %q", i+1, line)
		}
	}
	if g.updated == "" || len(g.patterns) == 0 || len(g.times) == 0 || len(g.tails) == 0 {
		return nil, fmt.Errorf("a section is missing")
	}
	return g, nil
}

// random returns a generator whose seed is a name.
func random(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), 0x6e656172647570))
}

// find returns the grammar and the topic of a name such as "en/library".
func find(name string) (*grammar, *topic) {
	lang, id, _ := strings.Cut(name, "/")
	g := grammars()[lang]
	if g == nil || g.topics[id] == nil {
		panic("example: no topic " + name)
	}
	return g, g.topics[id]
}

// compose returns the article of a topic ("en/library"). No two sentences share
// both subject and predicate, so all are distinct. Those of different topics share
// neither.
func compose(name string) article {
	g, t := find(name)
	r := random(name)
	pairs := arrange(len(t.subjects), len(t.predicates), r)
	n := 34 + r.IntN(6)
	if g.lang == "zh" || g.lang == "ja" { // their sentences have fewer letters
		n = 42 + r.IntN(3)
	}
	all := make([]string, len(pairs))
	for i, p := range pairs {
		all[i] = g.sentence(t.subjects[p[0]], t.predicates[p[1]], r)
	}
	a := article{lang: g.lang, title: t.title, updated: g.updated, spare: all[n:]}
	a.date = fmt.Sprintf("2023-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28))
	for rest := all[:n]; len(rest) > 0; {
		k := 4 + r.IntN(3)
		if len(rest)-k < 4 {
			k = len(rest)
		}
		a.paras = append(a.paras, rest[:k:k])
		rest = rest[k:]
	}
	return a
}

// arrange returns all pairs in random order, where possible without the same
// subject or predicate twice in a row.
func arrange(subjects, predicates int, r *rand.Rand) [][2]int {
	var left, out [][2]int
	for s := range subjects {
		for p := range predicates {
			left = append(left, [2]int{s, p})
		}
	}
	r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	last := [2]int{-1, -1}
	for len(left) > 0 {
		pick := 0
		for i, p := range left {
			if p[0] != last[0] && p[1] != last[1] {
				pick = i
				break
			}
		}
		last = left[pick]
		out = append(out, last)
		left = append(left[:pick], left[pick+1:]...)
	}
	return out
}

func (g *grammar) sentence(subject, predicate string, r *rand.Rand) string {
	verb, rest, _ := strings.Cut(predicate, "|")
	s := strings.NewReplacer(
		"{T}", g.times[r.IntN(len(g.times))],
		"{X}", g.tails[r.IntN(len(g.tails))],
		"{S}", subject, "{P}", predicate, "{V}", verb, "{R}", rest,
	).Replace(g.patterns[r.IntN(len(g.patterns))])
	return capital(numbers(s, r))
}

// numbers replaces every # with a number.
func numbers(s string, r *rand.Rand) string {
	for strings.Contains(s, "#") {
		s = strings.Replace(s, "#", strconv.Itoa(3+r.IntN(95)), 1)
	}
	return s
}

func capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

// links returns the labels of a navigation page: subjects and predicates of the
// topics as headlines.
func links(topics []string) []string {
	var out []string
	r := random(strings.Join(topics, " "))
	for _, name := range topics {
		_, t := find(name)
		for _, s := range append(t.subjects[:len(t.subjects):len(t.subjects)], t.predicates...) {
			if _, rest, ok := strings.Cut(s, "|"); ok {
				s = rest
			}
			out = append(out, capital(numbers(s, r)))
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// spaced reports whether the language puts spaces between sentences.
func spaced(lang string) bool { return lang != "zh" && lang != "ja" }

func (a article) paragraph(i int) string {
	sep := ""
	if spaced(a.lang) {
		sep = " "
	}
	return strings.Join(a.paras[i], sep)
}

// dateLine returns the line below the title.
func (a article) dateLine() string { return a.updated + " " + a.date }

// sentences returns the sentences of the main text.
func (a article) sentences() []string {
	var out []string
	for _, p := range a.paras {
		out = append(out, p...)
	}
	return out
}
