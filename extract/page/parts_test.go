package page

import (
	"slices"
	"strings"
	"testing"
)

// TestParts looks at what the lines of pages are taken for.
func TestParts(t *testing.T) {
	o := options
	o.Clean = CleanMain
	said := func(p Part, lines ...string) []Line {
		var out []Line
		for _, l := range lines {
			out = append(out, Line{Text: l, Part: p})
		}
		return out
	}
	prose := sentence + " " + sentence
	for _, c := range []struct {
		name, page    string
		title, byline string
		lines         []Line // some
	}{
		{"article", `<title>Seals come ashore | The Gazette</title><header><h1>The Gazette</h1>` + menu + `</header><div class="post">
			<h2>Seals come ashore</h2><p class="byline">Written by <a href="/mm">M. Mole</a></p><div>3 May 2021, 10:15</div>` + body(4) + `</div>` + more,
			"Seals come ashore", "Written by M. Mole · 3 May 2021, 10:15",
			slices.Concat(said(PartFrame, "The Gazette", "Home", "More news"), said(PartTitle, "Seals come ashore"),
				said(PartByline, "Written by M. Mole", "3 May 2021, 10:15"), said(PartMain, prose))},
		{"the only h1", `<title>Gazette</title><h1>Seals come ashore</h1><p>Updated 2020-05-03</p>` + body(4), "Seals come ashore", "Updated 2020-05-03",
			slices.Concat(said(PartTitle, "Seals come ashore"), said(PartByline, "Updated 2020-05-03"), said(PartMain, prose))},
		{"the name of the site as title and line, and an h1", `<title>The Gazette</title><header><h2>The Gazette</h2>` + menu + `</header><h1>Seals come ashore</h1>` + body(4), "Seals come ashore", "",
			said(PartTitle, "Seals come ashore")},
		{"the name of the site as h1, and a heading that is the title", `<title>Seals come ashore</title><header><h1>The Gazette</h1>` + menu + `</header><h2>Seals come ashore</h2>` + body(4), "Seals come ashore", "",
			said(PartTitle, "Seals come ashore")},
		{"the name of the site behind the title, and an h1 below", `<title>Seals come ashore - The Gazette</title><h2>Seals come ashore</h2>` + body(3) + `<h1>More of the sea</h1>` + body(2), "Seals come ashore", "",
			said(PartTitle, "Seals come ashore")},
		{"an h1 below the article", `<title>Seals come ashore</title><h2>Seals come ashore</h2>` + body(4) + `<h1>Discussion</h1><p>I saw three.</p>`, "Seals come ashore", "",
			said(PartTitle, "Seals come ashore")},
		{"date before the heading", `<div class="nav">` + menu + `</div><div>May 3, 2020</div><h1>海豹上岸了休息</h1>` + body(4), "海豹上岸了休息", "May 3, 2020",
			said(PartTitle, "海豹上岸了休息")},
		{"no heading", `<title>Seals come ashore - The Gazette</title><div><a href="/">The Gazette</a></div><font size="+3">Seals come ashore</font><div>3 May 2021</div>` + body(4),
			"Seals come ashore", "3 May 2021", said(PartTitle, "Seals come ashore")},
		{"two h1, neither the title", `<title>Gazette</title><h1>Seals</h1><p>Updated 2020-05-03</p>` + body(2) + `<h1>Boats</h1>` + body(2), "Gazette", "", said(PartMain, prose)},
		{"short titles", `<title>海豹 - 公报</title><h2>公报</h2><h2>海豹</h2>` + body(4), "海豹", "", said(PartTitle, "海豹")},
		{"a word of the title", `<title>Seals come ashore</title><h2>Seal</h2>` + body(4), "Seals come ashore", "", nil},
		{"the h1 is a link home", `<title>Seals</title><h1><a href="/">The Gazette</a></h1>` + body(4), "Seals", "", said(PartMain, prose)},
		{"a year in prose is no by-line", `<title>Seals</title><h1>Seals come</h1><p>In 2020 they came, ` + sentence + `</p>` + body(3), "Seals come", "", said(PartMain, "In 2020 they came, "+sentence)},
		{"no title at all", body(4), "", "", said(PartMain, prose)},
		{"comments", `<div class="menu">` + menu + `</div><article class="post"><h1>Seals</h1>` + body(4) + `</article>
			<div id="comments"><h3>2 comments</h3><ol class="comment-list"><li class="comment"><p>I saw three.<li class="comment"><p>Keep your dogs on a lead.</ol></div>`,
			"Seals", "", slices.Concat(said(PartComments, "2 comments", "Keep your dogs on a lead."), said(PartMain, prose), said(PartFrame, "Home"))},
	} {
		got := NewReader(o).Read(c.page, "", 1<<20)
		if got.Title != c.title || got.Byline != c.byline || got.MainUnsure {
			t.Errorf("%s: title %q, by-line %q, unsure %v", c.name, got.Title, got.Byline, got.MainUnsure)
		}
		parts := map[string]Part{}
		var visible, main []string
		for l := range got.Marks.Lines(got.Visible) {
			if parts[l.Text] = l.Part; l.Part == PartMain {
				main = append(main, l.Text)
			}
			visible = append(visible, l.Text)
		}
		if len(visible) != len(got.Marks) || strings.Join(visible, "\n") != got.Visible {
			t.Errorf("%s: %d marks, %d lines", c.name, len(got.Marks), len(visible))
		}
		if want := strings.Join(main, "\n"); got.Text != want {
			t.Errorf("%s: the text is not that of the main lines:\n%s\nbut\n%s", c.name, want, got.Text)
		}
		for _, l := range c.lines {
			if p, ok := parts[l.Text]; !ok || p != l.Part {
				t.Errorf("%s: %q is %v (%v), not %v", c.name, l.Text, p, ok, l.Part)
			}
		}
	}
}

// TestMarks: a mark keeps its part, and the log odds as far as it has room.
func TestMarks(t *testing.T) {
	for p := range partCount {
		for _, c := range []struct{ odds, want int32 }{
			{0, 0}, {249, 0}, {250, 250}, {-1, -250}, {-250, -250}, {-251, -500}, {1999, 1750}, {3750, 3750}, {1 << 30, 3750}, {-4000, -4000}, {-1 << 31, -4000},
		} {
			m := newMarks([]Part{p}, []scored{{odds: c.odds}})
			for l := range m.Lines("x") {
				if l.Part != p || l.Odds != int(c.want) || l.Text != "x" {
					t.Errorf("%v with %d: %+v", p, c.odds, l)
				}
			}
		}
		if got, ok := ParsePart(p.String()); got != p || !ok {
			t.Errorf("%v: parsed as %v", p, got)
		}
	}
	if _, ok := ParsePart("body"); ok {
		t.Error("there is no part of that name")
	}
}

func TestMarksSelect(t *testing.T) {
	m := newMarks([]Part{PartFrame, PartTitle, PartMain, PartMain, PartComments}, make([]scored, 5))
	visible := "a\nb\nc\nd\ne"
	for _, c := range []struct {
		parts Parts
		want  string
	}{
		{PartsOf(PartMain), "c\nd"}, {PartsOf(PartTitle, PartMain), "b\nc\nd"}, {PartsOf(PartFrame, PartComments), "a\ne"},
		{PartsOf(PartByline), ""}, {0, ""},
	} {
		if got := m.Select(visible, c.parts); got != c.want {
			t.Errorf("%b: %q, not %q", c.parts, got, c.want)
		}
	}
	none := Marks("")
	if got := none.Select(visible, PartsOf(PartMain)); got != visible {
		t.Errorf("without marks all is main, not %q", got)
	}
	if got := none.Select(visible, PartsOf(PartFrame)); got != "" {
		t.Errorf("without marks there is no frame, not %q", got)
	}
}

// TestWhole: main content and what is around it are the visible text again.
func TestWhole(t *testing.T) {
	const visible = "a\nb\nc\nd\ne"
	for n := range 1 << 5 {
		parts := make([]Part, 5)
		for i := range parts {
			if n>>i&1 != 0 {
				parts[i] = PartMain
			}
		}
		m := newMarks(parts, make([]scored, 5))
		for _, text := range []string{visible, m.Select(visible, PartsOf(PartMain))} {
			if text == "" {
				continue
			}
			around := m.Around(text, visible)
			if got, ok := m.Whole(text, around); got != visible || !ok {
				t.Errorf("%b: %q and %q are %q, %v", n, text, around, got, ok)
			}
			if _, ok := m.Whole(text+"\nmore", around); ok {
				t.Errorf("%b: a line too many", n)
			}
		}
	}
	if got, ok := Marks("").Whole(visible, ""); got != visible || !ok {
		t.Errorf("without marks: %q, %v", got, ok)
	}
}

// TestSiteRulesWin: what a site's rules keep is its content, whatever the model says.
func TestSiteRulesWin(t *testing.T) {
	o := options
	o.Clean = CleanMain
	o.Sites = []SiteRules{{Host: "keep.org", Keep: []string{".menu, .post"}}, {Host: "drop.org", Drop: []string{".related"}}}
	page := `<title>T</title><div class="menu">` + menu + `</div><div class="post"><h1>Seals come ashore</h1>` + body(4) + `</div>` + more
	kept := NewReader(o).Read(page, "keep.org", 1<<20)
	if !strings.HasPrefix(kept.Text, "Home\n") || !strings.Contains(kept.Text, "Seals come ashore") || strings.Contains(kept.Text, "More news") || kept.Marks != "" || kept.MainUnsure {
		t.Errorf("%q, marks %q", kept.Text, kept.Marks)
	}
	dropped := NewReader(o).Read(page, "drop.org", 1<<20)
	if strings.Contains(dropped.Visible, "More news") || strings.Contains(dropped.Text, "Home") || !strings.Contains(dropped.Text, sentence) {
		t.Errorf("%q of %q", dropped.Text, dropped.Visible)
	}
}

func TestDated(t *testing.T) {
	for line, want := range map[string]bool{
		"3 May 2021": true, "2021-05-03": true, "2021年5月3日": true, "Posted in 1999 by": true, "20.11.2033": true,
		"2021": false, "12021 items": false, "20215": false, "In 1789": false, "2099 x": false, "": false, "19": false,
	} {
		if got := dated(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
