package page

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const (
	sentence = "Harbour seals come ashore at low water and rest on the sandbanks until the flood lifts them off again."
	menu     = `<ul><li><a href="/">Home</a><li><a href="/n">News</a><li><a href="/s">Shop</a><li><a href="/c">Contact</a></ul>`
	small    = `<ul><li><a href="/p">Privacy</a><li><a href="/t">Terms</a><li><a href="/i">Imprint</a></ul>`
)

// body is a text of n paragraphs.
func body(n int) string { return strings.Repeat(`<p>`+sentence+` `+sentence, n) }

// more is what a site lists beside and below its articles.
const more = `<div class="related"><h3>More news</h3><ul><li><a href="/1">Lighthouse keeper retires after forty years</a>
	<li><a href="/2">Ferry timetable for the winter is out</a><li><a href="/3">What to do when you meet a seal</a></ul></div>`

// mainPages are pages of common builds with lines that are to be kept, and
// lines that are not. A page of which nothing is said is kept whole.
var mainPages = []struct {
	name, page string
	kept, lost []string
}{
	{"article between landmarks", `<header>` + menu + `</header><main><h1>Seals</h1>` + body(5) + `<p>They are counted from the air, every August.</main>
		<aside><h2>Most read</h2>` + menu + `</aside><footer>` + small + `<p>© 2024 The Gazette, all rights reserved</footer>`,
		[]string{sentence + " " + sentence, "They are counted from the air, every August."},
		[]string{"Home", "Most read", "Privacy", "© 2024 The Gazette, all rights reserved"}},
	{"article without landmarks", `<div class="menu">` + menu + `</div><div class="content"><h1>Seals</h1>` + body(5) + `</div>` + more + `<div>` + small + `</div>`,
		[]string{sentence + " " + sentence},
		[]string{"Home", "More news", "Lighthouse keeper retires after forty years", "Imprint"}},
	{"comments", `<div class="menu">` + menu + `</div><article class="post"><h1>Seals</h1>` + body(4) + `</article>
		<div id="comments" class="comments-area"><h3>2 comments</h3><ol class="comment-list"><li class="comment"><p>I saw three of them at the pier last week, quite close to the steps.
		<li class="comment"><p>Please keep your dogs on a lead there, they do bite when they are afraid.</ol></div>`,
		[]string{sentence + " " + sentence},
		[]string{"2 comments", "Please keep your dogs on a lead there, they do bite when they are afraid."}},
	{"list between paragraphs", `<div class="menu">` + menu + `</div><div class="content"><h1>Tides</h1>` + body(3) +
		`<ul><li>Low water is at six in the morning.<li>High water is at noon, or a little later.</ul>` + body(2) + `</div>` + more,
		[]string{sentence + " " + sentence, "Low water is at six in the morning.", "High water is at noon, or a little later."},
		[]string{"Home", "Ferry timetable for the winter is out"}},
	{"code", `<nav>` + menu + `</nav><main><h1>open</h1>` + body(3) + `<pre>func open(name string) error
	return nil</pre>` + body(2) + `</main>` + `<footer>` + small + `</footer>`,
		[]string{sentence + " " + sentence, "func open(name string) error", "return nil"}, []string{"Home", "Imprint"}},
	{"Chinese", `<div class="nav">` + strings.Repeat(`<a href="/n">新闻中心</a><br>`, 8) + `</div><div class="article"><h1>海豹</h1>` +
		strings.Repeat(`<p>退潮时海豹会爬上沙洲休息，直到涨潮的海水再次把它们托起来，这样的情景在北海沿岸每天都能看到两次。它们在那里换毛，也在那里生下幼崽。`, 5) +
		`</div><div class="footer"><a href="/a">关于我们</a><br><a href="/c">联系方式</a></div>`,
		[]string{"退潮时海豹会爬上沙洲休息，直到涨潮的海水再次把它们托起来，这样的情景在北海沿岸每天都能看到两次。它们在那里换毛，也在那里生下幼崽。"},
		[]string{"新闻中心", "关于我们"}},

	{"only links", menu + small, nil, nil},
	{"tiny", `<nav>` + menu + `</nav><p>Moved.`, nil, nil},
	{"empty", ``, nil, nil},
}

func TestMainText(t *testing.T) {
	for _, c := range mainPages {
		s := treeText(c.page, 1<<20, false)
		main, sure := mainText(s, measures(s))
		if sure != (c.kept != nil) {
			t.Errorf("%s: sure %v, kept\n%s", c.name, sure, main)
		}
		got := strings.Split(main, "\n")
		for _, line := range c.kept {
			if !slices.Contains(got, line) {
				t.Errorf("%s: %q is lost; kept\n%s", c.name, line, main)
			}
		}
		for _, line := range c.lost {
			if slices.Contains(got, line) {
				t.Errorf("%s: %q is kept", c.name, line)
			}
			if !slices.Contains(strings.Split(s.text, "\n"), line) {
				t.Errorf("%s: %q is not on the page", c.name, line)
			}
		}
		checkMain(t, s)
	}
}

// TestMainTextLong looks at pages of extreme shapes.
func TestMainTextLong(t *testing.T) {
	for _, page := range []string{
		`<nav>` + menu + `</nav><p>` + strings.Repeat("tide ", 800_000),
		menu + strings.Repeat("<p>ebb", 200_000) + small,
		strings.Repeat(`<p><a href="/">ebb</a>`, 100_000) + "<p>" + strings.Repeat("tide ", 200_000),
		strings.Repeat(`<p class="a b c"><a href="/">ebb</a>`, 100_000),
		strings.Repeat("<div class=comment><nav><main><aside>", 100) + sentence,
		strings.Repeat("<ul><li>", 200) + strings.Repeat(sentence+"<br>", 10_000),
	} {
		checkMain(t, treeText(page, 4<<20, false))
	}
}

// TestMainTextSoup looks at pages made of random parts in random order.
func TestMainTextSoup(t *testing.T) {
	parts := []string{menu, small, more, body(3), `<h2>Head</h2>`, `<p>A short line.`, `<p><a href="/x">` + sentence + `</a>`,
		`<nav>`, `</nav>`, `<main>`, `</main>`, `<aside>`, `</aside>`, `<footer>`, `</footer>`, `<header>`, `</header>`, `<p>Read <a href="/">on</a>`,
		`<div class="comments">`, `</div>`, `<div id="sidebar-left">`, `<table><tr><td>`, `</table>`, `<ul><li>`, `</ul>`}
	r := rand.New(rand.NewPCG(1, 2))
	sure, unsure := 0, 0
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(20) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		if _, ok := checkMain(t, treeText(b.String(), 1<<20, false)); ok {
			sure++
		} else {
			unsure++
		}
	}
	if sure < 300 || unsure < 300 {
		t.Errorf("%d pages are sure, %d are not: the parts make too few of them", sure, unsure)
	}
}

// checkMain holds mainText against what it promises: lines of the text in
// their order, the same each time, nothing where it is not sure, and a part
// that is worth keeping where it is.
func checkMain(t *testing.T, s shown) (main string, sure bool) {
	t.Helper()
	main, sure = mainText(s, measures(s))
	if again, sureAgain := mainText(s, measures(s)); again != main || sureAgain != sure {
		t.Errorf("another result for the same page %q", s.text)
	}
	if c := contentOf(s, measures(s)); len(c.marks) != len(s.blocks) || len(c.marks) > 0 && c.marks.Select(s.text, 1<<partCount-1) != s.text {
		t.Errorf("%d marks of %d lines of %q", len(c.marks), len(s.blocks), s.text)
	}
	if !sure {
		if main != "" {
			t.Errorf("unsure, and %q kept of %q", main, s.text)
		}
		return main, sure
	}
	rest := strings.Split(s.text, "\n")
	for line := range strings.SplitSeq(main, "\n") {
		i := 0
		for i < len(rest) && rest[i] != line {
			i++
		}
		if i == len(rest) {
			t.Fatalf("%q is not a line of what is left of %q", line, s.text)
		}
		rest = rest[i+1:]
	}
	return main, sure
}

func TestKindOf(t *testing.T) {
	results := ""
	for i := range 8 {
		results += fmt.Sprintf(`<li><a href="/%d">Report %d</a><br>A few words about it.`, i, i)
	}
	for _, c := range []struct {
		name, page string
		want       Kind
	}{
		{"article", menu + `<p>` + sentence, KindTopic},
		{"article with a long list of links", strings.Repeat(menu, 8) + `<p>` + sentence, KindTopic},
		{"links in its text", `<p>` + strings.Repeat(`The <a href="/s">seal</a> rests on sand. `, 9), KindTopic},
		{"site links in landmarks", `<nav>` + strings.Repeat(menu, 9) + `</nav><p>Moved.`, KindTopic},
		{"table of figures", `<table>` + strings.Repeat(`<tr><td><a href="/c">krone</a><td>7.45<td>7.47`, 9) + `</table>`, KindTopic},
		{"teasers", results, KindTopic},
		{"tiny", `<p>Moved.`, KindTopic},
		{"empty", ``, KindTopic},
		{"index", `<h1>Index</h1>` + strings.Repeat(menu, 3), KindNavigation},
		{"index with an introduction", `<h1>Index</h1><p>` + sentence + strings.Repeat(menu, 14), KindNavigation},
		{"nothing but navigation", `<nav>` + menu + `</nav>`, KindNavigation},
		{"Chinese index", `<h1>目录</h1>` + strings.Repeat(`<p><a href="/">关于海豹的报告</a>`, 5), KindNavigation},
	} {
		if got := kindOf(measures(treeText(c.page, 1<<20, false))); got != c.want {
			t.Errorf("%s is %s, wanted %s", c.name, got, c.want)
		}
	}
	if got := kindOf(measures(shown{text: "No blocks:\nplain text."})); got != KindTopic {
		t.Errorf("text without blocks is %s", got)
	}
}

// TestMainTextWithoutBlocks: text that has no markup is not cleaned.
func TestMainTextWithoutBlocks(t *testing.T) {
	if main, sure := mainText(shown{text: sentence + "\n" + sentence}, nil); sure || main != "" {
		t.Errorf("sure %v of %q", sure, main)
	}
}

func FuzzMainText(f *testing.F) {
	for _, c := range mainPages {
		f.Add(c.page)
	}
	f.Add("<a href>\xff</a><nav><p>\u00a0\u0301")
	f.Add("<header><h1><a href=/>x</a></h1></header><article>" + sentence + "<footer>x")
	f.Fuzz(func(t *testing.T, page string) {
		for _, drop := range []bool{false, true} {
			checkMain(t, treeText(page, 1<<16, drop))
		}
	})
}

func BenchmarkMainText(b *testing.B) {
	page := menu + strings.Repeat(`<p>`+sentence+` <a href="/s">Seals</a>`, 500) + small
	s := treeText(page, 4<<20, false)
	b.SetBytes(int64(len(s.text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, sure := mainText(s, measures(s)); !sure {
			b.Fatal("unsure")
		}
	}
}

// TestThreshold has pages of lines of 100 columns each, all in the lowest node with
// most of the prose, with these thousandths of log odds.
func TestThreshold(t *testing.T) {
	for _, c := range []struct {
		name string
		odds []int32
		want int32
	}{
		{"no prose", nil, 0},
		{"the best lines are not far above", []int32{2400, 2400, 2400, 2400, 300}, 0},
		{"far above", []int32{3200, 3200, 3200, 3000, 300, -900}, 500},
		{"by the fourth line of twelve", []int32{4000, 4000, 4000, 2900, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 1}, 400},
		{"by a third", []int32{4000, 4000, 4000, 4000, 2800, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 1, 1, 1}, 300},
		{"a quarter of the prose would be lost", []int32{4000, 4000, 4000, 4000, 4000, 4000, 1000, 1000}, 1500},
		{"more would be lost", []int32{4000, 4000, 4000, 4000, 4000, 1000, 1000}, 0},
		{"too few lines to be certain", []int32{5000, 5000, 5000, -100, -100}, 0},
		{"most prose is below", []int32{5000, -500, -500, -500, -500, -500, -600, -700, -800, -900}, -801},
		{"lowest", []int32{-5000, -5000, -5000}, lowestOdds},
	} {
		all, lines := make([]measure, len(c.odds)), make([]scored, len(c.odds))
		for i, odds := range c.odds {
			all[i].free, lines[i] = 100, scored{odds: odds, central: true}
		}
		if got := threshold(all, lines); got != c.want {
			t.Errorf("%s: threshold %d, wanted %d", c.name, got, c.want)
		}
	}
}

// A thread whose posts are named comments has all of them as its main content. Comments
// below an article that is long enough for a page are none of it.
func TestThreads(t *testing.T) {
	post := func(i int) string {
		return fmt.Sprintf(`<article id="elComment_%d" class="ipsComment"><aside class="ipsComment_author"><h3>User%d</h3><ul><li>Members</li><li>%d posts</li></ul></aside>`+
			`<div class="ipsComment_content"><p><a href="#">Posted March %d, 2019</a></p><div data-role="commentContent"><p>Post %d says this. %s</p>%s</div></div></article>`, i, i, 100+i, i, i, sentence, body(i%3*4))
	}
	var posts string
	for i := range 10 {
		posts += post(i + 1)
	}
	for _, c := range []struct {
		name, page string
		has        bool
	}{
		{"a thread", `<main><h1>How to repair a clock</h1>` + posts + `</main>`, true},
		{"an article", `<main><h1>How to repair a clock</h1>` + body(4) + `<section class="comments"><h2>Comments</h2>` + posts + `</section></main>`, false},
	} {
		s := treeText(menu+c.page, 1<<20, false)
		main, sure := mainText(s, measures(s))
		if !sure {
			t.Errorf("%s: unsure", c.name)
		}
		for i := range 10 {
			if says := fmt.Sprintf("Post %d says this.", i+1); strings.Contains(main, says) != c.has {
				t.Errorf("%s: has %q: %v", c.name, says, !c.has)
			}
		}
	}
}
