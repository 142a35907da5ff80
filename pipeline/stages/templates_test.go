package stages_test

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

	"neardup/extract"
	"neardup/extract/text"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// sitePages are the pages of a corpus: address and text.
type sitePages []struct{ uri, text string }

// store writes the pages as extract does.
func (pages sitePages) store(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	b := w.DB.Batch()
	for i, p := range pages {
		id := extract.TextID(p.text)
		var doc extract.ID
		binary.BigEndian.PutUint32(doc[:], uint32(i))
		err := errors.Join(b.Set(store.TextKey(id), []byte(p.text)), stages.PutOccurrence(b, doc, extract.Document{TargetURI: p.uri, Site: siteOf(p.uri)}, id))
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

// templates returns the numbers of the sentences left out of each text, by the
// definition.
func (pages sitePages) templates(least int) map[string][]uint32 {
	address := func(uri string) uint64 { return rows.Hash(extract.Document{TargetURI: uri}.Address()) }
	smallest := map[[2]string]uint64{} // by site and text
	for _, p := range pages {
		key := [2]string{siteOf(p.uri), p.text}
		if old, ok := smallest[key]; !ok || address(p.uri) < old {
			smallest[key] = address(p.uri)
		}
	}
	seen := map[[2]string]map[uint64]bool{} // addresses by site and sentence
	for key, a := range smallest {
		for _, s := range text.Sentences(key[1]) {
			on := [2]string{key[0], s.Text}
			if seen[on] == nil {
				seen[on] = map[uint64]bool{}
			}
			seen[on][a] = true
		}
	}
	out := map[string][]uint32{}
	for _, p := range pages {
		out[p.text] = nil
	}
	for body := range out {
		for i, s := range text.Sentences(body) {
			for key := range smallest {
				if key[1] == body && key[0] != "" && len(seen[[2]string{key[0], s.Text}]) >= least {
					out[body] = append(out[body], uint32(i))
					break
				}
			}
		}
	}
	return out
}

// learn learns the templates of what the workspace has, interrupted at random
// if there is a source of numbers.
func learn(t *testing.T, w *workspace.Workspace, random *rand.Rand) int64 {
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
		n, err := stages.LearnTemplates(w, sr, 0)
		cancel()
		sr.Stop()
		if err == nil {
			return n
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

// checkTemplates compares what is learned with the definition, and gives the
// texts as they are compared.
func (pages sitePages) check(t *testing.T, least int, o workspace.Options, random *rand.Rand) map[string]string {
	t.Helper()
	w, err := workspace.Open(filepath.Join(t.TempDir(), "ws"), stages.All, pipetest.MustLoad(t, fmt.Sprintf("text.templates=%d", least)), true, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	pages.store(t, w)
	n := learn(t, w, random)
	if again := learn(t, w, nil); again != n {
		t.Errorf("%d templates, when asked again %d", n, again)
	}
	if left, err := w.DB.Count(store.TableSighting); err != nil || left > 0 {
		t.Errorf("%d sightings are left (%v)", left, err)
	}
	compared := map[string]string{}
	distinct := map[string]bool{}
	for body, want := range pages.templates(least) {
		got, err := results.TemplatesIn(w, extract.TextID(body))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("of %q the sentences %v are templates (%v), want %v", body, got, err, want)
		}
		if compared[body], err = results.ComparedText(w, extract.TextID(body), body); err != nil {
			t.Fatal(err)
		}
		sentences := text.Sentences(body)
		for _, i := range want {
			distinct[sentences[i].Text] = true
		}
	}
	if n < int64(len(distinct)) {
		t.Errorf("%d templates, and %d sentences of some", n, len(distinct))
	}
	return compared
}

func TestTemplatesAreSentencesOfDifferentPages(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pages sitePages
		want  map[string]string
	}{
		{"a template around bodies", sitePages{
			{"http://a.test/1", "Home. News\nOne body. About us"}, {"http://a.test/2", "Home. News\nAnother. About us"}, {"http://a.test/3", "Home. News\nThird"},
		}, map[string]string{"Home. News\nOne body. About us": "One body. About us", "Home. News\nAnother. About us": "Another. About us", "Home. News\nThird": "Third"}},
		{"captures of one page", sitePages{
			{"http://a.test/terms", "We may. Version 1"}, {"https://a.test/terms", "We may. Version 2"}, {"http://A.test/terms#top", "We may. Version 3"}, {"http://a.test/", "We may. Home"},
		}, map[string]string{"We may. Version 1": "We may. Version 1"}},
		{"one text at many addresses", sitePages{
			{"http://a.test/1", "A story. Told"}, {"http://a.test/2", "A story. Told"}, {"http://a.test/3", "A story. Told"}, {"http://a.test/4", "A story. Told again"},
		}, map[string]string{"A story. Told": "A story. Told"}},
		{"pages told apart by the query", sitePages{
			{"http://a.test/?p=1", "Forum. One"}, {"http://a.test/?p=2", "Forum. Two"}, {"http://a.test/?p=3", "Forum. Three"},
		}, map[string]string{"Forum. One": "One", "Forum. Three": "Three"}},
		{"several sites", sitePages{
			{"http://a.test/", "Same. One"}, {"http://b.test/", "Same. Two"}, {"http://c.test/", "Same. Three"},
		}, map[string]string{"Same. One": "Same. One"}},
		{"a template of one of the text's sites", sitePages{
			{"http://a.test/1", "Home. One"}, {"http://a.test/2", "Home. Two"}, {"http://a.test/3", "Home. Shared"}, {"http://b.test/", "Home. Shared"}, {"http://b.test/2", "Home. Other"},
		}, map[string]string{"Home. Shared": "Shared", "Home. Other": "Home. Other"}},
		{"no site", sitePages{
			{"urn:text:1", "Same. One"}, {"urn:text:2", "Same. Two"}, {"urn:text:3", "Same. Three"},
		}, map[string]string{"Same. One": "Same. One"}},
		{"all of a text", sitePages{
			{"http://a.test/1", "Home."}, {"http://a.test/2", "Home. Two"}, {"http://a.test/3", "Home. Home. Three"},
		}, map[string]string{"Home.": "", "Home. Home. Three": "Three"}},
	} {
		got := tt.pages.check(t, 3, workspace.Options{}, nil)
		for body, want := range tt.want {
			if got[body] != want {
				t.Errorf("%s: %q is compared as %q, want %q", tt.name, body, got[body], want)
			}
		}
	}
}

func TestTemplatesOfRandomCorpora(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	words := strings.Fields("a b c d e f g h 中 。 . .\n \n ! ...")
	for range 60 {
		var pages sitePages
		var texts []string
		for range random.IntN(40) {
			var b strings.Builder
			for range random.IntN(12) {
				b.WriteString(words[random.IntN(len(words))] + strings.Repeat(" ", random.IntN(2)))
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
			pages = append(pages, struct{ uri, text string }{uri, body})
		}
		pages.check(t, 2+random.IntN(4), workspace.Options{Workers: 1 + random.IntN(3), RunRows: 1 + random.IntN(30)}, random)
	}
}

func TestTemplatesOfHostileCorpora(t *testing.T) {
	var many, long strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, "%d\n", i)
	}
	for range 200_000 {
		long.WriteString("x ")
	}
	corpora := map[string]sitePages{
		"empty texts":                {{"http://a.test/1", ""}, {"http://a.test/2", ""}, {"http://a.test/3", "\n\n"}, {"http://a.test/4", "... !"}},
		"texts of one line":          {{"http://a.test/1", long.String()}, {"http://a.test/2", long.String() + "y"}, {"http://a.test/3", "x"}},
		"very many sentences":        {{"http://a.test/1", many.String()}, {"http://a.test/2", many.String() + "end"}, {"http://a.test/3", "7\n8\nown"}},
		"the same sentence for ever": {{"http://a.test/1", strings.Repeat("a\n", 100_000)}, {"http://a.test/2", "a. b"}, {"http://a.test/3", "a. c"}},
		"invalid text":               {{"http://a.test/1", "\xff.\xfe \x80"}, {"http://a.test/2", "\xff. a"}, {"http://a.test/3", "a. \xff b"}},
	}
	page := strings.Repeat("Parked, buy it now. ", 100)
	for site := range 2000 { // its text is over sightBytes when counted for each site
		corpora["a text on many sites"] = append(corpora["a text on many sites"],
			struct{ uri, text string }{fmt.Sprintf("http://site-%d.test/", site), page})
	}
	corpora["a text on many sites"] = append(corpora["a text on many sites"], sitePages{
		{"http://site-7.test/1", "Parked, own"}, {"http://site-7.test/2", "Parked, other"}}...)
	for _, name := range slices.Sorted(maps.Keys(corpora)) {
		t.Run(name, func(t *testing.T) {
			corpora[name].check(t, 3, workspace.Options{Workers: 2, RunRows: 50_000}, nil)
		})
	}
}
