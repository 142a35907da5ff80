package page

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

const (
	sentence = "Harbour seals come ashore at low water and rest on the sandbanks until the flood lifts them off again."
	menu     = `<ul><li><a href="/">Home</a><li><a href="/n">News</a><li><a href="/s">Shop</a><li><a href="/c">Contact</a></ul>`
	small    = `<ul><li><a href="/p">Privacy</a><li><a href="/t">Terms</a><li><a href="/i">Imprint</a></ul>`
)

// mainPages are pages of common builds with what is to be kept of them; nothing
// where that is not certain.
var mainPages = []struct{ name, page, want string }{
	{"article between landmarks", `<nav>` + menu + `</nav><main><h1>Seals</h1><p>` + sentence + `<p>Short end.</main>
		<aside><h2>Most read</h2>` + menu + `</aside><footer>` + small + `<p>© 2024 The Gazette, all rights reserved</footer>`,
		"Seals\n" + sentence + "\nShort end."},
	{"article without landmarks", `<div>` + menu + `</div><h1>Seals</h1><p>` + sentence + `<p>Short end.<div>` + small + `</div>`,
		"Seals\n" + sentence + "\nShort end."},
	{"heading outside main", `<nav>` + menu + `</nav><div><h1>Seals</h1></div>` + menu + `<main><p>` + sentence + `</main>`,
		"Seals\n" + sentence},
	{"summary between heading and main", `<h1>Seals</h1>` + menu + `<p>On sand, at low water.<div><a href="/u">anna</a></div><main><p>` + strings.Repeat(sentence+" ", 9) + `</main>`,
		"Seals\nOn sand, at low water.\n" + strings.TrimSpace(strings.Repeat(sentence+" ", 9))},
	{"title far above", `<title>Seals of the coast - Almanac</title><h2>Almanac</h2><h1>Seals of the coast</h1><p>By Anna` + strings.Repeat(menu, 5) + `<p>` + strings.Repeat(sentence+" ", 3),
		"Seals of the coast\nBy Anna\n" + strings.TrimSpace(strings.Repeat(sentence+" ", 3))},
	{"text beside main", `<main><p>` + strings.Repeat(sentence+" ", 9) + `</main><div>We use cookies.</div>`,
		strings.TrimSpace(strings.Repeat(sentence+" ", 9))},
	{"heading above a menu cut off", menu + `<p>` + sentence + `<h2>More</h2>` + menu, sentence},
	{"menu between texts", `<p>` + sentence + menu + `<p>` + sentence,
		sentence + "\nHome\nNews\nShop\nContact\n" + sentence},
	{"navigation between texts", `<p>` + sentence + `<nav>` + menu + `</nav><p>` + sentence, sentence + "\n" + sentence},
	{"list", menu + `<h1>Tides</h1><p>` + sentence + `<ol><li>ebb<li>flood<li>slack<li>spring<li>neap</ol>` + small,
		"Tides\n" + sentence + "\nebb\nflood\nslack\nspring\nneap"},
	{"table", menu + `<h1>Rates</h1><table><tr><th>Currency<th>Buys<th>Sells<tr><td>krone<td>7.45<td>7.47
		<tr><td><a href="/f">forint</a><td>391.2<td>393.0<tr><td>zloty<td>4.31<td>4.33<tr><td>pound sterling<td>0.85<td>0.86</table>` + small,
		"Rates\nCurrency\nBuys\nSells\nkrone\n7.45\n7.47\nforint\n391.2\n393.0\nzloty\n4.31\n4.33\npound sterling\n0.85\n0.86"},
	{"forum", menu + `<h1>Boats for sale?</h1><div><a href="/u/1">anna</a>, 3 May 2021</div><p>Does anyone sell a small dinghy near Oban?
		<div><a href="/u/2">bert</a></div><p>I do. <a href="/m">Write</a> to me.<div><a href="/u/1">anna</a></div><p>Thanks, that was quick; it is just what I have looked for all spring.` + small,
		"Boats for sale?\nanna, 3 May 2021\nDoes anyone sell a small dinghy near Oban?\nbert\nI do. Write to me.\nanna\nThanks, that was quick; it is just what I have looked for all spring."},
	{"title and author before the first post", menu + `<h1>Boats for sale?</h1><div><a href="/u/1">anna</a></div><p>` + sentence,
		"Home\nNews\nShop\nContact\nBoats for sale?\nanna\n" + sentence},
	{"as much beside main as in it", `<p>` + sentence + `<main><p>` + sentence + `</main>`, sentence + "\n" + sentence},
	{"code", `<div>` + menu + `</div><h2><a href="#open">Function open</a></h2><pre>func open(name string) error
	return nil</pre><dl><dt>name<dd>path of the file that is to be opened, relative to the root of the tree</dl>` + small,
		"Function open\nfunc open(name string) error\nreturn nil\nname\npath of the file that is to be opened, relative to the root of the tree"},
	{"note in an aside", `<h1>Use</h1><p>` + sentence + `<aside>Note: hold the rope.</aside><p>` + sentence,
		"Use\n" + sentence + "\nNote: hold the rope.\n" + sentence},
	{"addresses written out", menu + `<p>` + sentence + `<p>Maps: <a href="/m">https://maps.example/coast</a><p>Tides: <a href="/t">https://tides.example/oban</a><p>Seals: <a href="/s">https://seals.example/count</a>` + small,
		sentence + "\nMaps: https://maps.example/coast\nTides: https://tides.example/oban\nSeals: https://seals.example/count"},
	{"Chinese", `<div><a href="/">首页</a></div><div><a href="/n">新闻中心</a></div><div><a href="/s">商店</a></div><h1>海豹</h1>
		<p>退潮时海豹会爬上沙洲休息，直到涨潮的海水再次把它们托起来，这样的情景在北海沿岸每天都能看到两次。<div><a href="/a">关于我们</a></div><div><a href="/c">联系方式</a></div><div><a href="/j">招聘</a></div>`,
		"海豹\n退潮时海豹会爬上沙洲休息，直到涨潮的海水再次把它们托起来，这样的情景在北海沿岸每天都能看到两次。"},

	{"paragraph after long menus", strings.Repeat(`<p>`+sentence, 10) + strings.Repeat(menu, 15) + `<p>` + sentence,
		strings.Repeat(sentence+"\n", 10) + strings.Repeat("Home\nNews\nShop\nContact\n", 15) + sentence},
	{"one link is no menu", `<a href="/a">Anna</a><p>` + sentence, "Anna\n" + sentence},
	{"a few words in the site's header", `<header>` + menu + `Call us</header><p>` + sentence, sentence},
	{"a few words below the site's name", `<header><h2>Almanac</h2>` + strings.Repeat(menu, 2) + `Call us</header><p>` + sentence, "Almanac\n" + sentence},
	{"headings that are links", `<p>` + sentence + `<h2><a href="#f">File</a></h2><h2><a href="#e">Edit</a></h2><h2><a href="#v">View</a></h2>`,
		sentence + "\nFile\nEdit\nView"},

	{"only links", menu + small, ""},
	{"more said in the footer", `<p>` + sentence + `<footer><p>` + sentence + `<p>` + sentence + `</footer>`, ""},
	{"tiny", `<nav>` + menu + `</nav><p>Moved.`, ""},
	{"empty", ``, ""},
	{"content in the footer", `<p>Seals<footer><p>` + sentence + `<p>` + sentence + `</footer>`, ""},
	{"content in asides", `<p>` + sentence + `<aside><p>` + sentence + `</aside>`, ""},
	{"more menus than text", strings.Repeat(menu, 9) + `<p>` + sentence, ""},
}

func TestMainText(t *testing.T) {
	for _, c := range mainPages {
		s := treeText(c.page, 1<<20, false)
		main, sure := mainText(s, measures(s))
		if main != c.want || sure != (c.want != "") {
			t.Errorf("%s: sure %v, kept\n%s\nwanted\n%s\nof\n%s", c.name, sure, main, c.want, s.text)
		}
		checkMain(t, s)
	}
}

// TestMainTextLong looks at pages of extreme shapes. Their text is content.
func TestMainTextLong(t *testing.T) {
	for _, c := range []struct {
		name, page, content string
		sure                bool
	}{
		{"one line", `<nav>` + menu + `</nav><p>` + strings.Repeat("tide ", 800_000), "tide ", true},
		{"many lines", menu + strings.Repeat("<p>ebb", 200_000) + small, "ebb\n", true},
		{"many links before a text", strings.Repeat(`<p><a href="/">ebb</a>`, 100_000) + "<p>" + strings.Repeat("tide ", 200_000), "tide ", true},
		{"only links", strings.Repeat(`<p><a href="/">ebb</a>`, 100_000), "", false},
		{"deep", strings.Repeat("<div><nav><main><aside>", 100) + sentence, "", false},
	} {
		s := treeText(c.page, 4<<20, false)
		main, sure := checkMain(t, s)
		if sure != c.sure {
			t.Errorf("%s: sure %v", c.name, sure)
		}
		if got, want := strings.Count(main, c.content), strings.Count(s.text, c.content); sure && (want < 100 || got < want-1) {
			t.Errorf("%s: %d of %d kept", c.name, got, want)
		}
	}
}

// TestMainTextSoup looks at pages made of random parts in random order.
func TestMainTextSoup(t *testing.T) {
	parts := []string{menu, small, `<p>` + sentence, `<h2>Head</h2>`, `<p>A short line.`, `<p><a href="/x">` + sentence + `</a>`,
		`<nav>`, `</nav>`, `<main>`, `</main>`, `<aside>`, `</aside>`, `<footer>`, `</footer>`, `<header>`, `</header>`, `<p>Read <a href="/">on</a>`}
	r := rand.New(rand.NewPCG(1, 2))
	sure, paragraphs := 0, 0
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(20) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		s := treeText(b.String(), 1<<20, false)
		main, ok := checkMain(t, s)
		if !ok {
			continue
		}
		sure++
		// Paragraphs outside of landmarks are content.
		open, all := 0, measures(s)
		for _, m := range all {
			if m.paragraph() && m.in&(inNav|inFooter|inAside|inHeader) == 0 {
				open++
			}
		}
		paragraphs += open
		if got := strings.Count(main, sentence); got < open {
			t.Errorf("%d of %d paragraphs kept of %q", got, open, b.String())
		}
	}
	if sure < 300 || paragraphs < 300 {
		t.Errorf("%d pages, %d paragraphs: the parts make too few of them", sure, paragraphs)
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
	if !sure {
		if main != "" {
			t.Errorf("unsure, and %q kept of %q", main, s.text)
		}
		return main, sure
	}
	if kindOf(measures(s)) == KindNavigation {
		t.Errorf("sure of a navigation page %q", s.text)
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
