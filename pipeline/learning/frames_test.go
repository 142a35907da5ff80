package learning_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"neardup/extract"
	"neardup/extract/text"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/learning"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// sitePages are the pages of a corpus: address, text, and what is visible around it.
type sitePages []sitePage

type sitePage struct{ uri, text, around string }

// store writes the pages as extract does.
func (pages sitePages) store(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	b := w.DB.Batch()
	for i, p := range pages {
		id := extract.TextID(p.text)
		var doc extract.ID
		binary.BigEndian.PutUint32(doc[:], uint32(i))
		d := extract.Document{TargetURI: p.uri, Site: siteOf(p.uri)}
		err := errors.Join(b.Set(layout.TextKey(id), []byte(p.text)), b.Set(layout.UnitsKey(id), layout.UnitsValue(dataflow.UnitsOf(p.text))), b.Set(layout.OccurrenceKey(id, doc), layout.OccurrenceValue(rows.OccurrenceOf(d))),
			b.SetJSON(layout.DocumentKey(doc, "a.warc", int64(i)), d))
		if p.around != "" {
			err = errors.Join(err, b.Set(layout.AroundKey(doc, "a.warc", int64(i)), layout.AroundValue("", p.around)))
			if o := rows.OccurrenceOf(d); o.Site != rows.NoSite {
				err = errors.Join(err, b.Set(layout.UnitsRoundKey(doc, "a.warc", int64(i)), layout.UnitsRoundValue(o.Site, o.Address, dataflow.ExactUnits(p.around))))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
}

func siteOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// letters returns what makes a sentence the same as another.
func letters(s text.Sentence) string { return string(text.Letters(nil, s.Text)) }

// own returns the texts without the frames of their sites, by the definition.
func (pages sitePages) own(least int) map[string]string {
	address := func(uri string) uint64 { return rows.Hash(extract.Document{TargetURI: uri}.Page()) }
	smallest := map[[2]string]uint64{} // by site and text
	for _, p := range pages {
		key := [2]string{siteOf(p.uri), p.text}
		if old, ok := smallest[key]; !ok || address(p.uri) < old {
			smallest[key] = address(p.uri)
		}
	}
	seen := map[[2]string]map[uint64]bool{} // addresses by site and sentence
	all := map[string]map[uint64]bool{}     // by site
	for key, a := range smallest {
		if all[key[0]] == nil {
			all[key[0]] = map[uint64]bool{}
		}
		all[key[0]][a] = true
		for _, s := range text.Sentences(key[1]) {
			on := [2]string{key[0], letters(s)}
			if seen[on] == nil {
				seen[on] = map[uint64]bool{}
			}
			seen[on][a] = true
		}
	}
	for _, p := range pages {
		for _, s := range text.Sentences(p.around) {
			on := [2]string{siteOf(p.uri), letters(s)}
			if seen[on] == nil {
				seen[on] = map[uint64]bool{}
			}
			seen[on][address(p.uri)] = true
		}
	}
	sites := map[string][]string{}
	for key := range smallest {
		if key[0] != "" {
			sites[key[1]] = append(sites[key[1]], key[0])
		}
	}
	out := map[string]string{}
	for _, p := range pages {
		if _, done := out[p.text]; done {
			continue
		}
		sentences := text.Sentences(p.text)
		own := text.Without(p.text, func(i int) bool {
			s := letters(sentences[i])
			return strings.ContainsFunc(s, unicode.IsLetter) && slices.ContainsFunc(sites[p.text], func(site string) bool {
				n := len(seen[[2]string{site, s}])
				return n >= min(least, 3) && (n >= least || 2*n >= len(all[site])) && 20*n >= len(all[site])
			})
		})
		if text.Columns(own) < 200 {
			own = p.text
		}
		out[p.text] = own
	}
	return out
}

// learn learns the frames of what the workspace has, interrupted at random if there
// is a source of numbers.
func learn(t *testing.T, w *workspace.Workspace, random *rand.Rand) {
	t.Helper()
	for {
		s, _, err := w.State(workspace.StageSign)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		w.Options.Progress = workspace.Silent{}
		if random != nil {
			i := &pipetest.Interrupter{Cancel: cancel}
			i.Left.Store(1 + random.Int64N(8))
			w.Options.Progress = i
		}
		sr := workspace.StartStage(ctx, nil, stages.All[1])
		sr.State = s
		_, err = learning.Frames(w, sr)
		cancel()
		sr.Stop()
		if err == nil {
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

// check compares the texts without frames, as they are looked up in memory and on
// disk, with the definition, and returns them.
func (pages sitePages) check(t *testing.T, least int, o workspace.Options, random *rand.Rand) map[string]string {
	t.Helper()
	w, err := workspace.Open(filepath.Join(t.TempDir(), "ws"), stages.All, pipetest.MustLoad(t, fmt.Sprintf("text.frames=%d", least)), true, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	pages.store(t, w)
	learn(t, w, random)
	n, err := w.DB.Count(layout.TableFrame)
	if err != nil {
		t.Fatal(err)
	}
	learn(t, w, nil)
	loaded, err := results.LoadReader(w)
	if err != nil {
		t.Fatal(err)
	}
	own := pages.own(least)
	for body, want := range own {
		for name, r := range map[string]*results.Reader{"memory": loaded, "disk": results.OpenReader(w)} {
			got, err := r.Readings(extract.TextID(body), body)
			if err != nil || got.Own != want || got.Whole != body {
				t.Fatalf("%s: %.500q reads %.500q (%v), want %.500q", name, body, got.Own, err, want)
			}
		}
	}
	if left, err := w.DB.Count(layout.TableFrame); err != nil || left != n {
		t.Errorf("%d rows of frames (%v), want %d", left, err, n)
	}
	return own
}

// story is a text long enough to stand without a frame.
func story(about string) string { return "The story of " + about + strings.Repeat(" and more", 25) }

// numbered are so many pages of a site with nothing in common.
func numbered(n int) (pages sitePages) {
	for i := range n {
		pages = append(pages, sitePage{fmt.Sprintf("http://a.test/page/%d", i), fmt.Sprintf("Page %d", i), ""})
	}
	return pages
}

func TestFramesAreSentencesOfDifferentPages(t *testing.T) {
	one, two, three := story("one"), story("two"), story("three")
	for _, tt := range []struct {
		name  string
		least int
		pages sitePages
		want  map[string]string
	}{
		{"half of a small site", 10, append(numbered(3), sitePages{
			{"http://a.test/a", "Home. " + one, ""}, {"http://a.test/b", "Home. " + two, ""}, {"http://a.test/c", "Home. " + three, ""},
		}...), map[string]string{"Home. " + one: one, "Home. " + three: three}},
		{"less than half of a small site", 10, append(numbered(4), sitePages{
			{"http://a.test/a", "Home. " + one, ""}, {"http://a.test/b", "Home. " + two, ""}, {"http://a.test/c", "Home. " + three, ""},
		}...), map[string]string{"Home. " + one: "Home. " + one}},
		{"two pages of two", 10, sitePages{
			{"http://a.test/a", "Home. " + one, ""}, {"http://a.test/b", "Home. " + two, ""},
		}, map[string]string{"Home. " + one: "Home. " + one}},
		{"a frame that is main content on one page", 10, sitePages{
			{"http://a.test/1", "Home. " + one, ""}, {"http://a.test/2", two, "Home"}, {"https://a.test/3", three, "News\nHome"}, {"http://a.test/3", three + ".", "Home"},
		}, map[string]string{"Home. " + one: one, two: two}},
		{"captures of one page have one frame", 10, sitePages{
			{"http://a.test/1", "Home. " + one, ""}, {"http://a.test/2", two, "Home"}, {"https://a.test/2", three, "Home"}, {"http://a.test/2", three + ".", "Home"},
		}, map[string]string{"Home. " + one: "Home. " + one}},
		{"what is around a text on another site", 10, sitePages{
			{"http://a.test/1", "Home. " + one, ""}, {"http://b.test/2", two, "Home"}, {"http://c.test/3", three, "Home"}, {"urn:text:4", three + ".", "Home"},
		}, map[string]string{"Home. " + one: "Home. " + one}},
		{"a frame around bodies", 3, sitePages{
			{"http://a.test/1", "Home. News\n" + one + ". About us", ""}, {"http://a.test/2", "Home. News\n" + two + ". About us", ""}, {"http://a.test/3", "Home. News\n" + three, ""},
		}, map[string]string{"Home. News\n" + one + ". About us": one + ". About us", "Home. News\n" + two + ". About us": two + ". About us", "Home. News\n" + three: three}},
		{"numbers tell sentences apart", 3, sitePages{
			{"http://a.test/1", "Page 1. " + one, ""}, {"http://a.test/2", "Page 2. " + two, ""}, {"http://a.test/3", "Page 3. " + three, ""},
		}, map[string]string{"Page 1. " + one: "Page 1. " + one}},
		{"captures of one page", 3, sitePages{
			{"http://a.test/terms", "We may. " + one, ""}, {"https://a.test/terms", "We may. " + two, ""}, {"http://A.test/terms#top", "We may. " + three, ""}, {"http://a.test/", "We may. Home", ""},
		}, map[string]string{"We may. " + one: "We may. " + one}},
		{"one text at many addresses", 3, sitePages{
			{"http://a.test/1", "A story. " + one, ""}, {"http://a.test/2", "A story. " + one, ""}, {"http://a.test/3", "A story. " + one, ""}, {"http://a.test/4", "A story. Told again", ""},
		}, map[string]string{"A story. " + one: "A story. " + one}},
		{"pages told apart by the query", 3, sitePages{
			{"http://a.test/?p=1", "Forum. " + one, ""}, {"http://a.test/?p=2", "Forum. " + two, ""}, {"http://a.test/?p=3", "Forum. " + three, ""},
		}, map[string]string{"Forum. " + one: one, "Forum. " + three: three}},
		{"several sites", 3, sitePages{
			{"http://a.test/", "Same. " + one, ""}, {"http://b.test/", "Same. " + two, ""}, {"http://c.test/", "Same. " + three, ""},
		}, map[string]string{"Same. " + one: "Same. " + one}},
		{"a frame of one of the text's sites", 3, sitePages{
			{"http://a.test/1", "Home. " + one, ""}, {"http://a.test/2", "Home. " + two, ""}, {"http://a.test/3", "Home. " + three, ""}, {"http://b.test/", "Home. " + three, ""}, {"http://b.test/2", "Home. Other", ""},
		}, map[string]string{"Home. " + three: three, "Home. Other": "Home. Other"}},
		{"no site", 3, sitePages{
			{"urn:text:1", "Same. " + one, ""}, {"urn:text:2", "Same. " + two, ""}, {"urn:text:3", "Same. " + three, ""},
		}, map[string]string{"Same. " + one: "Same. " + one}},
		{"a text of little else", 3, sitePages{
			{"http://a.test/1", "Home.", ""}, {"http://a.test/2", "Home. Two", ""}, {"http://a.test/3", "Home. Home. Three", ""},
		}, map[string]string{"Home.": "Home.", "Home. Home. Three": "Home. Home. Three"}},
		{"a frame of one in twenty pages", 3, append(numbered(57), sitePages{
			{"http://a.test/a", "Told. " + one, ""}, {"http://a.test/b", "Told. " + two, ""}, {"http://a.test/c", "Told. " + three, ""},
		}...), map[string]string{"Told. " + one: one}},
		{"a story on fewer of the pages", 3, append(numbered(58), sitePages{
			{"http://a.test/a", "Told. " + one, ""}, {"http://a.test/b", "Told. " + two, ""}, {"http://a.test/c", "Told. " + three, ""},
		}...), map[string]string{"Told. " + one: "Told. " + one}},
	} {
		got := tt.pages.check(t, tt.least, workspace.Options{}, nil)
		for body, want := range tt.want {
			if got[body] != want {
				t.Errorf("%s: %q reads %q without its frame, want %q", tt.name, body, got[body], want)
			}
		}
	}
}

func TestFramesOfRandomCorpora(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	words := strings.Fields("a b c d e f g h 中 。 . .\n \n ! ... 7")
	long := strings.Repeat("w", 60)
	for range 60 {
		var pages sitePages
		var texts []string
		for range random.IntN(40) {
			var b strings.Builder
			for range random.IntN(24) {
				word := words[random.IntN(len(words))]
				if random.IntN(4) == 0 {
					word = long
				}
				b.WriteString(word + strings.Repeat(" ", random.IntN(2)))
			}
			body := b.String()
			if len(texts) > 0 && random.IntN(4) == 0 {
				body = texts[random.IntN(len(texts))]
			}
			texts = append(texts, body)
			uri := fmt.Sprintf("http://%c.test/%d", 'a'+random.IntN(3), random.IntN(12))
			if random.IntN(10) == 0 {
				uri = fmt.Sprintf("urn:text:%d", random.IntN(12))
			}
			around := ""
			if len(texts) > 1 && random.IntN(3) == 0 {
				around = texts[random.IntN(len(texts)-1)]
			}
			pages = append(pages, sitePage{uri, body, around})
		}
		pages.check(t, 2+random.IntN(9), workspace.Options{Workers: 1 + random.IntN(3), RunRows: 1 + random.IntN(30)}, random)
	}
}

func TestFramesOfHostileCorpora(t *testing.T) {
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, "line %d\n", i)
	}
	corpora := map[string]sitePages{
		"empty texts":                {{"http://a.test/1", "", ""}, {"http://a.test/2", "", ""}, {"http://a.test/3", "\n\n", ""}, {"http://a.test/4", "... !", ""}},
		"very many sentences":        {{"http://a.test/1", many.String(), ""}, {"http://a.test/2", many.String() + "end", ""}, {"http://a.test/3", "line 7\nline 8\nown", ""}},
		"the same sentence for ever": {{"http://a.test/1", strings.Repeat("a\n", 20_000), ""}, {"http://a.test/2", "a. b", ""}, {"http://a.test/3", "a. c", ""}},
		"invalid text":               {{"http://a.test/1", "\xff.\xfe \x80", ""}, {"http://a.test/2", "\xff. a", ""}, {"http://a.test/3", "a. \xff b", ""}},
	}
	page := strings.Repeat("Parked, buy it now. ", 100)
	for site := range 2000 { // its text is over sightBytes when counted for each site
		corpora["a text on many sites"] = append(corpora["a text on many sites"],
			sitePage{fmt.Sprintf("http://site-%d.test/", site), page, ""})
	}
	corpora["a text on many sites"] = append(corpora["a text on many sites"], sitePages{
		{"http://site-7.test/1", "Parked, own", ""}, {"http://site-7.test/2", "Parked, other", ""}}...)
	for _, name := range slices.Sorted(maps.Keys(corpora)) {
		t.Run(name, func(t *testing.T) {
			corpora[name].check(t, 3, workspace.Options{Workers: 2, RunRows: 50_000}, nil)
		})
	}
}
