package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

// crawls writes crawls of a made web, of n captures each.
func crawls(t *testing.T, seed uint64, sites, weeks, n int) (files []string) {
	t.Helper()
	web, dir := pipetest.NewWeb(seed, sites), t.TempDir()
	for week := range weeks {
		file := filepath.Join(dir, fmt.Sprintf("week-%02d.warc", week))
		if err := web.Crawl(file, n); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// A workspace to which crawls are added in any order and in any pieces, which loses
// some of them and some of its pages, and whose runs are interrupted, has the rows and
// the exports of one run over what is left.
func TestGrow(t *testing.T) {
	methods := [][]string{nil, {"verify.closing=transitive"}, {"text.frames=0"}, nil, {"verify.rare_pages=0"}, {"verify.closing=leaders"},
		{"text.pages=topic"}, {"text.max_columns=400"}, {"cluster.merge=pairs"}, {"verify.partition.max_links=2", "verify.contained=leaf"}}
	seeds := uint64(len(methods))
	if testing.Short() {
		seeds = 2
	}
	defer func(n int) { dataflow.MostDecided = n }(dataflow.MostDecided)
	most := dataflow.MostDecided
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 1))
		config := pipetest.MustLoad(t, methods[seed]...)
		if dataflow.MostDecided = most; seed == 3 {
			dataflow.MostDecided = 4 // of few sets anything is noted, and links do not wait
		}
		files := crawls(t, seed, 1+random.IntN(4), 6, 40)
		ws, alone := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "alone")
		left := slices.Clone(files)
		random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		var of []withdrawn.Withdrawal
		for at := 0; at < len(files); {
			n := min(1+random.IntN(2), len(files)-at)
			grown(t, ws, config, random, files[at:at+n]...)
			at += n
			switch random.IntN(5) {
			case 0:
				d := withdrawn.Withdrawal{URI: fmt.Sprintf("http://site%d.example/%d/*", random.IntN(4), 1+random.IntN(6))}
				withdraw(t, ws, config, d)
				of = append(of, d)
			case 1:
				gone := files[random.IntN(at)]
				if slices.Contains(left, gone) && len(left) > 1 && at < len(files) {
					withdraw(t, ws, config, ofInput(t, ws, gone))
					left = slices.DeleteFunc(left, func(f string) bool { return f == gone })
				}
			}
		}
		got := grown(t, ws, config, random)
		if len(of) > 0 {
			withdraw(t, alone, config, of...)
		}
		want := pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, left...)
		if !bytes.Equal(got, want) {
			t.Errorf("seed %d: other clusters than one run", seed)
		}
		sameContents(t, fmt.Sprintf("seed %d", seed), contentsOf(t, ws, config), contentsOf(t, alone, config))
		if t.Failed() {
			return
		}
	}
}

// What is found does not depend on how many decisions and links of a set are in memory.
func TestLinksOfLargeSets(t *testing.T) {
	defer func(n int) { dataflow.MostDecided = n }(dataflow.MostDecided)
	most := dataflow.MostDecided
	files := crawls(t, 5, 2, 4, 60)
	for _, settings := range [][]string{nil, {"verify.closing=transitive"}, {"verify.closing=leaders"}} {
		found := func(n int) (out []byte) {
			dataflow.MostDecided = n
			dir := t.TempDir()
			out = pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{Workers: 3}, files...)
			return append(out, pipetest.ExportOf(t, pipetest.OpenWith(t, dir, settings...), exports.Options{Format: "edges"})...)
		}
		want := found(most)
		if bytes.Count(want, []byte(`"source"`)) < 20 {
			t.Fatalf("%v: found %s", settings, want)
		}
		for _, n := range []int{1, 4} {
			if got := found(n); !bytes.Equal(got, want) {
				t.Errorf("%v: with %d in memory found %d bytes, want %d", settings, n, len(got), len(want))
			}
		}
	}
}

// grown runs, interrupted now and then, until everything is done.
func grown(t *testing.T, dir string, config configs.Config, random *rand.Rand, files ...string) []byte {
	t.Helper()
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		stop := &pipetest.Interrupter{Cancel: cancel}
		stop.Left.Store(1 + random.Int64N(60))
		w, err := workspace.Open(dir, stages.All, config, true, workspace.Options{Workers: 1 + random.IntN(3), Progress: stop, CommitBytes: 1 + random.IntN(1<<12), RunRows: 1 + random.IntN(1000)})
		if err != nil {
			t.Fatal(err)
		}
		sources, _, err := inputs.Find(ctx, dir, files, nil, pipetest.Limits)
		if err == nil {
			err = w.Run(ctx, workspace.StageExtract, workspace.StageVerify, sources)
		}
		cancel()
		if cerr := w.Close(); cerr != nil || err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(errors.Join(err, cerr))
		}
	}
	return pipetest.RunAll(t, dir, config, workspace.Options{Workers: 2}, files...)
}

// Where few texts are added, the pages of their sentences are counted as if all were
// counted: texts at addresses that other texts have, texts that come to another address or
// another site, sentences that are on too few pages to be kept, or come to be in frames.
func TestGrowCounts(t *testing.T) {
	seeds := uint64(*growSeeds)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 30))
		config := pipetest.MustLoad(t, fmt.Sprintf("text.frames=%d", 2+random.IntN(5)), fmt.Sprintf("verify.rare_pages=%d", 1+random.IntN(3)))
		sites, addresses, sentences := 1+random.IntN(3), []int{8, 40, 200}[random.IntN(3)], []int{26, 300, 900}[random.IntN(3)]
		var texts []string
		line := func(text string) string {
			return fmt.Sprintf("http://site%d.example/%d\t%s\n", random.IntN(sites), random.IntN(addresses), text)
		}
		piece := func(n int) (out string) {
			for range n {
				if len(texts) > 0 && random.IntN(5) == 0 { // a text that is there
					out += line(texts[random.IntN(len(texts))])
					continue
				}
				var b strings.Builder
				for range 1 + random.IntN(6) {
					n := random.IntN(sentences)
					fmt.Fprintf(&b, "The sentence of number %c%c is said by many of the pages here, and by that of %d. ", 'a'+n/26%26, 'a'+n%26, random.IntN(2))
				}
				fmt.Fprintf(&b, "And this one, %x, is said by hardly any other of them.", random.Uint32N(2000))
				texts = append(texts, b.String())
				out += line(b.String())
			}
			return out
		}
		dir := t.TempDir()
		ws, alone := filepath.Join(dir, "ws"), filepath.Join(dir, "alone")
		var files []string
		for i, n := range []int{300, 6, 1, 9} {
			files = append(files, filepath.Join(dir, fmt.Sprintf("%d.tsv", i)))
			if err := os.WriteFile(files[i], []byte(piece(n)), 0o666); err != nil {
				t.Fatal(err)
			}
			pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, files[i])
		}
		pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, files...)
		sameContents(t, fmt.Sprintf("seed %d", seed), contentsOf(t, ws, config), contentsOf(t, alone, config))
		if t.Failed() {
			return
		}
	}
}

// A page that is added brings sentences of other pages into a frame, or out of one, because
// the sentence is on one page more, the site has one page more, or a text of two addresses
// counts at the smaller one. The texts of the other pages are signed again, and no more.
func TestGrowFrames(t *testing.T) {
	const menu = "The menu of this site is printed below each of its pages and says nothing of them. "
	for name, x := range map[string]struct {
		frames    int
		has       []int // pages with the menu, of 100
		added     string
		same      bool // the added page has the text of page 1
		signed    int  // texts that are signed again
		addresses int  // of the other pages
	}{
		"a sentence that was on too few pages to be kept": {3, []int{1, 2}, "http://b.example/p", false, 2, 12},
		"a sentence that was kept":                        {5, []int{1, 2, 3, 4}, "http://b.example/p", false, 4, 60},
		"a site of one page more":                         {5, []int{1, 2, 3, 4, 5}, "", false, 5, 100},
		"a text that counts at another page's address":    {3, []int{1, 2, 3}, "http://b.example/2", true, 3, 12},
		"a site of one page less":                         {5, []int{1, 2, 3, 4, 5}, "moved", false, 5, 101},
	} {
		config := pipetest.MustLoad(t, fmt.Sprintf("text.frames=%d", x.frames))
		var first, added strings.Builder
		text := func(i int) string {
			own := fmt.Sprintf("Page %c%c tells what happened in the town of %c%c. ", 'a'+i/26, 'a'+i%26, 'a'+i%26, 'a'+i/26)
			if slices.Contains(x.has, i) {
				return menu + own
			}
			return own
		}
		for i := range x.addresses {
			fmt.Fprintf(&first, "http://b.example/%d\t%s\n", i, text(i))
		}
		for i := range 60 { // so that few texts are touched
			fmt.Fprintf(&first, "http://other.example/%d\tA page about matter %c%c, which has nothing to do with that town.\n", i, 'a'+i/26, 'a'+i%26)
		}
		switch {
		case x.same:
			// Of the two addresses the one with the smaller hash counts, so try both ways.
			fmt.Fprintf(&added, "%s\t%s\n", x.added, text(1))
			fmt.Fprintf(&added, "http://b.example/1\t%s\n", text(2))
		case x.added == "moved": // the smallest hash of so many addresses is surely another than that of 50
			for i := 60; i < 80; i++ {
				fmt.Fprintf(&added, "http://b.example/%d\t%s\n", i, text(50))
			}
		case x.added == "":
			fmt.Fprint(&added, "http://b.example/p\tA page that has no more to say than this one sentence of its own.\n")
		default:
			fmt.Fprintf(&added, "%s\t%sThe page that is added says this of its own.\n", x.added, menu)
		}
		before, after := adding(t, name, config, "crawl.tsv", first.String(), added.String())
		if again := signedAgain(before, after); again != x.signed {
			t.Errorf("%s: %d texts are signed again, want %d", name, again, x.signed)
		}
	}
}

// An article stands at several addresses of a small site, which makes it the frame there. Its
// copy on another site is found, until so many pages have it that it may be a template.
func TestGrowRegained(t *testing.T) {
	config := pipetest.MustLoad(t)
	line := func(kind string, i int) string {
		return fmt.Sprintf("The %s %c%c was told in town like %s by all. ", kind, 'a'+i/26, 'a'+i%26, strings.Repeat(string(rune('a'+i%26)), 5+i/26))
	}
	article := ""
	for i := range 40 {
		article += line("story", i)
	}
	page := func(v int) string {
		comments := ""
		for i := range 6 {
			comments += line("comment", 6*v+i)
		}
		return fmt.Sprintf("http://one.example/story?v=%d\t%s%s\n", v, article, comments)
	}
	for _, tt := range []struct {
		first, added int // addresses of the article
		found        bool
	}{{2, 2, true}, {3, 3, true}, {4, 3, false}} {
		what := fmt.Sprint(tt.first, " addresses and ", tt.added)
		var first, added strings.Builder
		fmt.Fprintf(&first, "http://two.example/copy\t%s\n", article)
		for v := range tt.first {
			first.WriteString(page(v))
		}
		for i := range 60 { // so that few texts change
			fmt.Fprintf(&first, "http://other.example/%d\tA page about matter %c%c, which has nothing to do with that town.\n", i, 'a'+i/26, 'a'+i%26)
		}
		for v := range tt.added {
			added.WriteString(page(tt.first + v))
		}
		adding(t, what, config, "crawl.tsv", first.String(), added.String())
		all := filepath.Join(t.TempDir(), "crawl.tsv")
		if err := os.WriteFile(all, []byte(first.String()+added.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		clusterOf, members := pipetest.ClustersOf(t, pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), config, workspace.Options{Workers: 1}, all))
		found := false
		for _, m := range members {
			found = found || m.URI == "http://two.example/copy"
		}
		if found != tt.found {
			t.Errorf("%s: the copy is in a cluster: %v; %v", what, found, clusterOf)
		}
	}
}

// A copy of an article has other quotation marks, apostrophes and dashes in each sentence,
// and capitals. It is found, on its site and on another, and later, too.
func TestCopyThatIsTypesetOtherwise(t *testing.T) {
	var article strings.Builder
	for i := range 40 {
		word := string(rune('a'+i%26)) + strings.Repeat(string(rune('a'+i/26)), 5)
		fmt.Fprintf(&article, `The "%s" wasn't seen in town - so it's told - by %d of all. `, word, 50+i)
	}
	typeset := strings.NewReplacer(` "`, " “", `"`, "”", "'", "’", " - ", "—", "The", "THE").Replace(article.String())
	first := "http://one.example/story\t" + article.String() + "\n"
	added := "http://one.example/print\t" + typeset + "\nhttp://two.example/copy\t" + typeset + " One line more.\n"
	for _, letters := range []bool{true, false} {
		config := pipetest.MustLoad(t)
		config.Sign.Letters = letters
		adding(t, fmt.Sprint("letters: ", letters), config, "crawl.tsv", first, added)
		all := filepath.Join(t.TempDir(), "crawl.tsv")
		if err := os.WriteFile(all, []byte(first+added), 0o666); err != nil {
			t.Fatal(err)
		}
		clusterOf, members := pipetest.ClustersOf(t, pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), config, workspace.Options{Workers: 1}, all))
		var uris []string
		for _, m := range members {
			if clusterOf[strings.Trim(m.RecordID, "<>")] == 1 {
				uris = append(uris, m.URI)
			}
		}
		slices.Sort(uris)
		want := []string{"http://one.example/print", "http://one.example/story", "http://two.example/copy"}
		if !letters {
			want = []string{"http://one.example/print", "http://two.example/copy"}
		}
		if !slices.Equal(uris, want) {
			t.Errorf("letters: %v: in a cluster: %v", letters, uris)
		}
	}
}

// A page of a site with a template is captured again under another host, of which nothing else
// is known. It is found, whether some of its lines changed or none did.
func TestPageUnderAnotherHost(t *testing.T) {
	line := func(kind string, page, i int) string {
		return fmt.Sprintf("The %s %s is told like %s in the book. ", kind, strings.Repeat(string(rune('a'+page)), 3+i), strings.Repeat(string(rune('a'+i)), 3+page))
	}
	body := func(page, changed int) (s string) {
		for i := range 25 {
			s += line("menu", 25, i)
		}
		for i := range 20 {
			kind := "story"
			if i < changed {
				kind = "other"
			}
			s += line(kind, page, i)
		}
		return s
	}
	for _, changed := range []int{0, 2, 5} {
		var tsv strings.Builder
		for p := range 12 {
			fmt.Fprintf(&tsv, "http://one.example/%d\t%s\n", p, body(p, 0))
		}
		fmt.Fprintf(&tsv, "http://two.example/copy\t%sThe end of it.\n", body(3, changed))
		file := filepath.Join(t.TempDir(), "crawl.tsv")
		if err := os.WriteFile(file, []byte(tsv.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		_, members := pipetest.ClustersOf(t, pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{Workers: 1}, file))
		var uris []string
		for _, m := range members {
			uris = append(uris, m.URI)
		}
		if slices.Sort(uris); !slices.Equal(uris, []string{"http://one.example/3", "http://two.example/copy"}) {
			t.Errorf("%d lines changed: in clusters %v", changed, uris)
		}
	}
}

// Added pages make what only two pages of a large set say themselves common on their site. By
// that the two are no longer apart. None of the added pages is in their set, and no decision on
// the two was noted.
func TestGrowApart(t *testing.T) {
	config := pipetest.MustLoad(t, "text.frames=0")
	sentence := func(kind string, i int) string {
		return fmt.Sprintf("The %s of number %c%c%c is told here in words like %s. ", kind, 'a'+i/676, 'a'+i/26%26, 'a'+i%26, strings.Repeat(string(rune('a'+i%26)), 9))
	}
	several := func(kind string, from, n int) (out string) {
		for i := range n {
			out += sentence(kind, from+i)
		}
		return out
	}
	var first, added strings.Builder
	page := func(to *strings.Builder, n int, text string) { fmt.Fprintf(to, "http://a.example/%d\t%s\n", n, text) }
	template := several("rule", 0, 16)
	page(&first, 0, template+several("story", 0, 2)+several("first end", 0, 5))
	page(&first, 1, template+several("story", 0, 2)+several("second end", 0, 5))
	for i := range 200 { // most of them come before the two
		page(&first, 2+i, template+several("page", 14*i, 14))
	}
	for i := range 20 {
		page(&added, 100+i, sentence("first end", i%5)+several("new page", 20*i, 14)+sentence("second end", i%5))
	}
	before, after := adding(t, "apart", config, "crawl.tsv", first.String(), added.String())
	near := func(rows map[string]string) (n int) {
		for k := range rows {
			if k[0] == layout.TableVerdict {
				n++
			}
		}
		return n
	}
	if near(before) != 0 || near(after) != 1 {
		t.Errorf("%d and %d near pairs, want 0 and 1", near(before), near(after))
	}
}

// A revisit that an added capture gives another text takes its former text from a site. The
// sentences of that text are on one page of the site less.
func TestGrowRevisitsOfOtherTexts(t *testing.T) {
	config := pipetest.MustLoad(t, "text.frames=3")
	const menu = "The menu of this site is printed below each of its pages and says nothing of them. "
	var first bytes.Buffer
	page := func(to *bytes.Buffer, id, uri string, day int, text string) {
		to.Write(pipetest.Archived("response", id, uri, day, pipetest.OkHTML+"<p>"+text))
	}
	page(&first, "a", "http://a.example/", 5, menu+"And this is the story of the former capture.")
	first.Write(pipetest.Archived("revisit", "r", "http://b.example/r", 6, "HTTP/1.1 304 Not Modified\r\n\r\n", "WARC-Refers-To: <urn:test:a>",
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified"))
	for _, p := range "xy" {
		page(&first, string(p), "http://b.example/"+string(p), 5, menu+"This is page "+string(p)+" of the site and no other.")
	}
	for i := range 40 {
		page(&first, fmt.Sprint(i), fmt.Sprintf("http://other.example/%d", i), 5, fmt.Sprintf("A page about matter %c%c, which is of no concern here.", 'a'+i/26, 'a'+i%26))
	}
	var added bytes.Buffer
	page(&added, "a", "http://a.example/", 1, "An earlier capture under the same record ID says something else.")
	before, after := adding(t, "revisits", config, "crawl.warc", first.String(), added.String())
	if signedAgain(before, after) == 0 {
		t.Error("no text is signed again: the test tells nothing")
	}
}

// Later captures of pages have the same main text, and a box around it that the pages did
// not have. On other pages of the site the sentence in the box is main text, and comes to
// be in a frame.
func TestGrowAround(t *testing.T) {
	config := pipetest.MustLoad(t, "text.frames=4")
	const box = "Every reader of this site is asked to answer our survey before the month is out."
	page := func(id, host string, n, day int, around, main string) string {
		return string(pipetest.Archived("response", id, fmt.Sprintf("http://%s.example/%d", host, n), day,
			pipetest.OkHTML+"<aside><p>"+around+"</p></aside><main><p>"+main+"</p></main>"))
	}
	story := func(n int) (s string) { // long enough to be the main text of its page for sure
		for i := range 6 {
			s += fmt.Sprintf("Sentence %c of story %c%c is told here as no other page of the two sites tells it. ", 'a'+i, 'a'+n/26, 'a'+n%26)
		}
		return s
	}
	var first, added strings.Builder
	for n := range 6 {
		main := story(n)
		if n < 2 {
			main += "</p><p>" + box
		}
		first.WriteString(page(fmt.Sprint("b", n), "b", n, 5, "", main))
		if n >= 2 {
			added.WriteString(page(fmt.Sprint("later", n), "b", n, 6, box, main))
		}
	}
	for n := range 60 { // so that few texts are touched
		first.WriteString(page(fmt.Sprint("o", n), "other", n, 5, "", story(100+n)))
	}
	before, after := adding(t, "around", config, "crawl.warc", first.String(), added.String())
	for k := range after {
		if _, ok := before[k]; !ok && k[0] == layout.TableText {
			t.Errorf("an added page has another main text: the test tells nothing")
		}
	}
	if again := signedAgain(before, after); again != 2 {
		t.Errorf("%d texts are signed again, want 2", again)
	}
}

// Pages that are added bring known texts to new addresses, sites and boxes, or new texts to
// known addresses. The pages of each sentence are counted as if all were counted.
func TestGrowKnownTexts(t *testing.T) {
	seeds := uint64(*growSeeds)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 31))
		config := pipetest.MustLoad(t, fmt.Sprintf("text.frames=%d", 3+random.IntN(20)), fmt.Sprintf("verify.rare_pages=%d", 1+random.IntN(3)))
		sites, addresses, records := 1+random.IntN(2), []int{60, 1000}[random.IntN(2)], 0
		latin := pipetest.Scripts(random)[0]
		var stories, boxes []string
		for range 60 {
			stories = append(stories, strings.Join(latin(90), ""))
		}
		for range 12 {
			boxes = append(boxes, "<p>Readers are asked: "+strings.TrimSpace(strings.Join(latin(6), ""))+".</p>")
		}
		crawl := func(n int) (out string) {
			for range n {
				random.Shuffle(len(boxes), func(i, j int) { boxes[i], boxes[j] = boxes[j], boxes[i] })
				records++
				out += string(pipetest.Archived("response", fmt.Sprint(records), fmt.Sprintf("http://site%d.example/%d", random.IntN(sites), random.IntN(addresses)), 1,
					pipetest.OkHTML+"<aside>"+strings.Join(boxes[:4], "")+"</aside><main><p>"+stories[random.IntN(len(stories))]+"</p></main>"))
			}
			return out
		}
		first := crawl(100 + random.IntN(200))
		_, _ = adding(t, fmt.Sprintf("seed %d", seed), config, "crawl.warc", first, crawl(1+random.IntN(6)))
		if t.Failed() {
			return
		}
	}
}

// resource returns a record without an HTTP header.
func resource(id, uri, charset, box, main string) string {
	record := string(pipetest.Archived("resource", id, uri, 5, "<html><body><aside><p>"+box+"</p></aside><main><p>"+main+"</p></main></body></html>"))
	return strings.Replace(record, "application/http; msgtype=response", "text/html; charset="+charset, 1)
}

// book returns a text long enough to be the main text of its page for sure.
func book(n int) (s string) {
	for i := range 6 {
		s += fmt.Sprintf("In chapter %c of book %c%c somebody tells what no other book here has told. ", 'a'+i, 'a'+n/26, 'a'+n%26)
	}
	return s
}

const latin, cyrillic = "iso-8859-1", "windows-1251"

// box has a letter that reads otherwise in another charset.
const box = "Guests of this caf\xe9 are kindly asked to leave their umbrellas at the door."

// inn returns a page that has a box in one charset, two whose boxes are in another, and
// others, so that few texts are touched where pages are added.
func inn(charset, others string) string {
	crawl := resource("again", "http://inn.example/0", charset, box, book(0))
	for n := 1; n < 3; n++ {
		crawl += resource(fmt.Sprint("inn", n), fmt.Sprintf("http://inn.example/%d", n), others, box, book(n))
	}
	for n := range 60 {
		crawl += resource(fmt.Sprint("other", n), fmt.Sprintf("http://other.example/%d", n), latin, "", book(100+n))
	}
	return crawl
}

// A record ID comes again with another charset, so that the box beside the text reads
// otherwise. The sentence of the box gets the page, also if its text gets another page at
// the same time, and if both records are new.
func TestGrowSameIDs(t *testing.T) {
	again := resource("again", "http://inn.example/0", cyrillic, box, book(0))
	for name, added := range map[string]string{
		"again": again,
		"also":  again + resource("also", "http://inn.example/77", latin, "", book(0)),
		"new":   resource("new", "http://inn.example/9", latin, box, book(9)) + resource("new", "http://inn.example/9", cyrillic, box, book(9)),
	} {
		before, after := adding(t, name, pipetest.MustLoad(t, "text.frames=4"), "crawl.warc", inn(latin, cyrillic), added)
		if n, now := rowsOf(before, layout.TableFrame), rowsOf(after, layout.TableFrame); n == now {
			t.Errorf("%s: %d rows of frames before and after: the test tells nothing", name, n)
		}
	}
}

// Two records have one ID, address, date and block, but another charset or title. They are
// two documents, in whichever order they come. One is left after the other is withdrawn.
func TestSameIDsInAnyOrder(t *testing.T) {
	line := func(title string) string {
		return fmt.Sprintf(`{"id": "again", "url": "http://inn.example/0", "title": %q, "text": %q}`+"\n", title, book(0))
	}
	for _, tt := range []struct{ ext, a, b string }{
		{".warc", inn(latin, latin), resource("again", "http://inn.example/0", cyrillic, box, book(0))},
		{".warc", resource("again", "http://inn.example/0", "utf-8", "", book(0)), strings.Replace(resource("again", "http://inn.example/0", "utf-8", "", book(0)), "text/html; charset", "text/plain; charset", 1)},
		{".jsonl", line("The inn"), line("The house")},
	} {
		config := pipetest.MustLoad(t, "text.frames=4")
		dir := t.TempDir()
		files := []string{pipetest.WriteFile(t, filepath.Join(dir, "a"+tt.ext), []byte(tt.a)), pipetest.WriteFile(t, filepath.Join(dir, "b"+tt.ext), []byte(tt.b))}
		contents := func(runs ...[]string) (string, map[string]string) {
			ws := filepath.Join(t.TempDir(), "ws")
			for _, files := range runs {
				pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, files...)
			}
			return ws, contentsOf(t, ws, config)
		}
		ws, both := contents(files)
		_, one := contents(files[:1])
		if n, now := rowsOf(one, layout.TableOccurrence), rowsOf(both, layout.TableOccurrence); now != n+1 {
			t.Errorf("%s: %d documents, then %d", tt.ext, n, now)
		}
		for _, first := range files {
			_, got := contents([]string{first}, files)
			sameContents(t, "after "+filepath.Base(first), got, both)
		}
		withdraw(t, ws, config, ofInput(t, ws, "b"+tt.ext))
		pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2})
		sameContents(t, "withdrawn", contentsOf(t, ws, config), one)
	}
}

// A record of a cluster comes again with another charset, in which no word is the same.
func TestGrowSameIDsOfAnotherText(t *testing.T) {
	for n := range 8 {
		main := []byte(book(n))
		for i, c := range main {
			if 'a' <= c && c <= 'z' {
				main[i] = c - 'a' + 0xe0
			}
		}
		first := resource("again", "http://inn.example/0", latin, "", string(main)) + resource("copy", "http://other.example/0", latin, "", string(main)+" "+book(n)[:40])
		adding(t, fmt.Sprint(n), pipetest.MustLoad(t), "crawl.warc", first, resource("again", "http://inn.example/0", cyrillic, "", string(main)))
	}
}

// Two pages of one site differ in title and URI. Then one is captured at the place of the
// other, and so the two are taken for the same page.
func TestGrowNames(t *testing.T) {
	latin := pipetest.Scripts(rand.New(rand.NewPCG(3, 9)))[0]
	text := func(words int) string { return strings.Join(latin(words), "") }
	page := func(id, name, body string) string {
		return string(pipetest.Archived("response", id, "http://site.example/"+name, 1, pipetest.OkHTML+"<title>The function "+name+"</title><p>"+body))
	}
	base := text(480)
	rtrim, ltrim := base+text(96), base+text(96)
	crawl := page("rtrim", "RTrim", rtrim) + page("ltrim", "LTrim", ltrim)
	for i := range 12 { // so that few texts have new pages
		crawl += page(fmt.Sprint(i), fmt.Sprint(string(rune('A'+i)), "sc"), text(240))
	}
	before, after := adding(t, "names", pipetest.MustLoad(t, "extract.clean=none"), "crawl.warc", crawl, page("moved", "LTrim", rtrim))
	if n, now := rowsOf(before, layout.TableVerdict), rowsOf(after, layout.TableVerdict); n != 0 || now != 1 {
		t.Errorf("%d near pairs, then %d; want none, then 1", n, now)
	}
}

// A copy of a file in another directory adds no row, and rows are not counted twice.
func TestGrowByACopy(t *testing.T) {
	crawl, err := os.ReadFile(crawls(t, 2, 2, 1, 30)[0])
	if err != nil {
		t.Fatal(err)
	}
	before, after := adding(t, "a copy", pipetest.MustLoad(t), "crawl.warc", string(crawl), string(crawl))
	if around := rowsOf(before, layout.TableAround); around == 0 || rowsOf(after, layout.TableAround) != around {
		t.Errorf("%d rows of text around the main content, then %d", around, rowsOf(after, layout.TableAround))
	}
}

// rowsOf counts the rows of a table.
func rowsOf(contents map[string]string, table byte) (n int) {
	for k := range contents {
		if k[0] == table {
			n++
		}
	}
	return n
}

// adding runs over an archive, and then over a second one. It expects the tables and
// clusters of one run over both, and returns those of the first run and of the second.
func adding(t *testing.T, what string, config configs.Config, name, first, added string) (before, after map[string]string) {
	t.Helper()
	var files []string
	for _, content := range []string{first, added} {
		files = append(files, filepath.Join(t.TempDir(), name))
		if err := os.WriteFile(files[len(files)-1], []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ws, alone := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "alone")
	pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, files[0])
	before = contentsOf(t, ws, config)
	got := pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, files...)
	if want := pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, files...); !bytes.Equal(got, want) {
		t.Errorf("%s: other clusters than one run", what)
	}
	after = contentsOf(t, ws, config)
	sameContents(t, what, after, contentsOf(t, alone, config))
	return before, after
}

// signedAgain counts the texts that were signed before and are signed otherwise now.
func signedAgain(before, after map[string]string) (n int) {
	for k, v := range before {
		if k[0] == layout.TableSigned && after[k] != v {
			n++
		}
	}
	return n
}

var growSeeds = flag.Int("grow-seeds", 8, "collections of TestGrowCounts and TestGrowKnownTexts")

// units notes of what there is work.
type units struct {
	workspace.Silent
	of []string
}

func (u *units) Total(_ int64, unit string) { u.of = append(u.of, unit) }

// Where crawls are added, cluster reads the lists that changed and not all of them. If
// the run before was interrupted after sign, it reads all.
func TestGrowReadsChangedLists(t *testing.T) {
	config := pipetest.MustLoad(t, "cluster.site_list=5", "cluster.max_list=30")
	files := crawls(t, 3, 3, 5, 60)
	ws := filepath.Join(t.TempDir(), "ws")
	readsAll := func(last string, files ...string) bool {
		u := &units{}
		w, err := workspace.Open(ws, stages.All, config, true, workspace.Options{Workers: 2, Progress: u})
		if err != nil {
			t.Fatal(err)
		}
		sources, _, err := inputs.Find(t.Context(), ws, files, nil, pipetest.Limits)
		if err == nil {
			err = w.Run(t.Context(), workspace.StageExtract, last, sources)
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return slices.Contains(u.of, "signatures")
	}
	if !readsAll(workspace.StageVerify, files[0], files[1]) {
		t.Error("the first run does not read all lists")
	}
	if readsAll(workspace.StageVerify, files[2]) {
		t.Error("an added crawl reads all lists")
	}
	sameAs := func(files ...string) {
		dir := filepath.Join(t.TempDir(), "alone")
		pipetest.RunAll(t, dir, config, workspace.Options{Workers: 2}, files...)
		sameContents(t, fmt.Sprint(len(files), " crawls"), contentsOf(t, ws, config), contentsOf(t, dir, config))
	}
	sameAs(files[:3]...)
	if readsAll(workspace.StageSign, files[3]) || !readsAll(workspace.StageVerify, files[4]) {
		t.Error("two crawls between clusterings do not read all lists")
	}
	sameAs(files...)
}

// A text whose sentences come to be in a frame, and which has the same signatures
// nevertheless, since too little is left of it, does not change its lists.
func TestGrowFramesThatChangeNoSignature(t *testing.T) {
	config := pipetest.MustLoad(t)
	menu := "The ferry to the islands leaves from the western quay every morning at seven. "
	for i := range 8 {
		menu += fmt.Sprintf("Part %c of the timetable is printed on the back of every ticket that we sell. ", 'a'+i)
	}
	var archives []string
	for i, pages := range []string{"ab", "c"} {
		var b strings.Builder
		for _, p := range pages {
			fmt.Fprintf(&b, "http://ferry.example/%c\t%sNote %c.\n", p, menu, p)
		}
		for n := range 12 * (1 - i) { // so that few texts are signed again, and not all
			fmt.Fprintf(&b, "http://other.example/%d\tA page about matter number %d, which has nothing to do with any ferry.\n", n, n)
		}
		archives = append(archives, b.String())
	}
	before, after := adding(t, "frames", config, "crawl.tsv", archives[0], archives[1])
	stay := 0
	for k := range before {
		if _, ok := after[k]; ok && k[0] == layout.TablePosting {
			stay++
		}
	}
	if again := signedAgain(before, after); again != 2 || stay == 0 {
		t.Errorf("%d texts are signed again, and %d signatures stay", again, stay)
	}
}

// The last sentence of a text is cut at text.max_columns, and what is left of it is a
// sentence of the added pages. So they change what verdicts on the text depend on.
func TestGrowCutSentence(t *testing.T) {
	const columns, last = 600, "The closing words of all"
	common := func(i int) string {
		return fmt.Sprintf("Common line %c of the printed notes is found below many a page of the site. ", 'a'+i%7)
	}
	var first, added strings.Builder
	for n, version := range []string{"First", "Other"} {
		text := version + " version says this of its own and no more. "
		for i := 0; len(text)+len(common(i)) < columns-len(last)-2; i++ {
			text += common(i)
		}
		text += strings.Repeat("1", columns-len(last)-2-len(text)) + ". " + last // numbers do not count
		fmt.Fprintf(&first, "http://b.example/%d\t%s the pages are told by nobody but by this page and the other.\n", n, text)
	}
	thing := func(i int) string { return string([]byte{'a' + byte(i/26), 'a' + byte(i%26)}) }
	for i := range 70 {
		fmt.Fprintf(&first, "http://b.example/o%d\tA page about thing %s, and %s is what it is about.", i, thing(i), thing(5*i))
		if i < 24 {
			fmt.Fprintf(&first, " %s%sSo much of %s.", common(i), common(i+1), thing(i))
		}
		first.WriteByte('\n')
	}
	for i := range 60 { // few texts change
		fmt.Fprintf(&first, "http://other.example/%d\tA page about matter %s, which has nothing to do with that town.\n", i, thing(i))
	}
	for i := range 12 {
		fmt.Fprintf(&added, "http://b.example/new%d\t%s. And this page about stuff %s says it.\n", i, last, thing(i))
	}
	for _, frames := range []string{"10", "1000"} {
		config := pipetest.MustLoad(t, fmt.Sprintf("text.max_columns=%d", columns), "text.frames="+frames)
		adding(t, "frames "+frames, config, "crawl.tsv", first.String(), added.String())
	}
}
