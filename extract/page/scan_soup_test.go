package page

import (
	"math/rand/v2"
	"strings"
	"testing"

	"neardup/extract/internal/testkit"
)

// soup makes pages: mostly well formed as a site's are, with mistakes that
// people and programs make, and some that nobody makes.
type soup struct {
	rng *rand.Rand
	b   strings.Builder
	bad int // mistakes in a hundred
}

func (g *soup) pick(list []string) string { return list[g.rng.IntN(len(list))] }

func (g *soup) chance(percent int) bool { return g.rng.IntN(100) < percent }

var (
	soupInline = strings.Fields(`a a a b i em strong span span span font code small label abbr u tt nobr big s strike x-tag time sub
		ruby q ins`)
	soupBlock = strings.Fields(`div div div div p p p p h1 h2 h3 ul ol dl section article nav header footer main form center
		blockquote pre fieldset address details dialog figure menu table table listing search hgroup`)
	soupVoid = strings.Fields(`br br br img img hr input wbr meta link embed area param source col track base basefont bgsound
		keygen image frame`)
	soupRare = strings.Fields(`li dd dt td th tr tbody thead tfoot caption colgroup option optgroup select button object marquee
		applet template svg math mi mo mtext annotation annotation-xml desc foreignobject title textarea xmp iframe
		noscript noframes noembed script style plaintext frameset head body html rb rt rp rtc summary legend
		video audio canvas datalist meter progress g path text mglyph malignmark isindex`)
	soupText = []string{
		"a", "b c", " d ", "\n", " ", "\n  ", "Some words here.", "é", "中文。", "&amp;", "&nbsp;", "&copy",
		"&#8212;", "&lt;p&gt;", "x\r\ny", "\u00ad", "1 < 2", "&#32;", "&", "\u3000", "\u2028",
	}
	soupAttr = []string{
		" hidden", " hidden", " popover", ` style="display:none"`, ` style='color:red'`, " class=x", ` class="a b" id=c`,
		` href="http://x/?a=b&c=d"`, " href", " HREF=x", " xlink:href=x",
		" class=cc-window", ` class="a cc-window" id=b`, " id=cc-window", " id=cmpbox", ` CLASS='&#99;c-window'`, " open", " type=hidden", " x=/", "/", ` style="visibility:hidden"`,
		" STYLE=display:NONE", ` a=">"`, " color=red", " size=2", ` encoding=text/html`, "\n",
		` style="&#100;isplay:none"`, ` style="display:none;display:flex"`, " style=display:block", ` style="/**/display/**/:none"`,
	}
	soupShadow = []string{" shadowrootmode=open", ` shadowrootmode="Closed"`, " SHADOWROOTMODE=&#111;pen", " shadowrootmode=x", " shadowrootmode"}
	soupOdd    = []string{
		"<!-- c -->", "<!-- <p> --", "-->", "<!-->", "<?php x ?>", "<![CDATA[d]]>", "<!doctype html>", "</>",
		"</ x>", "<", "</", "<!", "<3", "<script><!--", "<script>", "--></script>", "</script>", "<p a='", "'",
		"\"", ">", "\x00", "<title>t</title>", "<textarea>\n",
	}
	soupDoctype = []string{
		"", "", "<!DOCTYPE html>", "<!doctype HTML>",
		`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">`,
		`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">`,
	}
)

func (g *soup) open(name string) {
	g.b.WriteString("<" + name)
	if name == "a" && g.chance(60) {
		g.b.WriteString(" href=x")
	}
	if name == "template" && g.chance(50) {
		g.b.WriteString(g.pick(soupShadow))
	}
	for g.chance(20) {
		g.b.WriteString(g.pick(soupAttr))
	}
	g.b.WriteByte('>')
}

// element writes an element, and leaves its end tag out, doubles or misplaces
// it in some.
func (g *soup) element(name string, depth int, content func(int)) {
	if !g.chance(g.bad / 2) {
		g.open(name)
	}
	content(depth - 1)
	if g.chance(g.bad / 2) {
		g.mistake(depth)
	}
	for !g.chance(95 - g.bad*2) {
		g.mistake(0)
		if g.chance(50) {
			return
		}
	}
	g.b.WriteString("</" + name + ">")
}

func (g *soup) mistake(depth int) {
	switch g.rng.IntN(6) {
	case 0:
		g.b.WriteString("</" + g.pick(soupInline) + ">")
	case 1:
		g.b.WriteString("</" + g.pick(soupBlock) + ">")
	case 2:
		g.b.WriteString("</" + g.pick(soupRare) + ">")
	case 3:
		g.open(g.pick(soupRare))
	case 4:
		g.b.WriteString(g.pick(soupOdd))
	case 5:
		g.flow(depth)
	}
}

func (g *soup) inline(depth int) {
	for range g.rng.IntN(4) {
		switch {
		case depth <= 0 || g.chance(50):
			g.b.WriteString(g.pick(soupText))
		case g.chance(15):
			g.open(g.pick(soupVoid))
		case g.chance(g.bad):
			g.flow(depth - 1)
		default:
			g.element(g.pick(soupInline), depth, g.inline)
		}
	}
}

func (g *soup) flow(depth int) {
	for range 1 + g.rng.IntN(4) {
		if depth <= 0 || g.chance(30) {
			g.inline(depth)
			continue
		}
		if g.chance(g.bad / 2) {
			g.mistake(depth)
		}
		if g.chance(8) {
			g.element(g.pick(soupRare), depth, g.flow)
			continue
		}
		switch name := g.pick(soupBlock); name {
		case "p", "h1", "h2", "h3", "pre", "address":
			g.element(name, depth, g.inline)
		case "ul", "ol", "menu":
			g.element(name, depth, g.some("li"))
		case "dl":
			g.element(name, depth, g.some("dt", "dd"))
		case "table":
			g.element(name, depth, g.table)
		default:
			g.element(name, depth, g.flow)
		}
	}
}

func (g *soup) some(names ...string) func(int) {
	return func(depth int) {
		for range 1 + g.rng.IntN(3) {
			g.element(g.pick(names), depth, g.flow)
		}
	}
}

func (g *soup) table(depth int) {
	if g.chance(10) {
		g.element("caption", depth, g.inline)
	}
	rows := func(depth int) {
		for range 1 + g.rng.IntN(2) {
			if g.chance(20) {
				g.b.WriteString("\n ")
			}
			g.element("tr", depth, g.some("td", "td", "th"))
		}
	}
	if g.chance(50) {
		g.element(g.pick([]string{"tbody", "thead", "tfoot"}), depth, rows)
	} else {
		rows(depth)
	}
}

func (g *soup) page() string {
	g.b.Reset()
	g.bad = []int{0, 2, 5, 10, 25}[g.rng.IntN(5)]
	if g.chance(10) { // nothing but tags
		for range 1 + g.rng.IntN(25) {
			switch g.rng.IntN(6) {
			case 0:
				g.open(g.pick(soupInline))
			case 1:
				g.open(g.pick(soupBlock))
			case 2:
				g.open(g.pick(soupRare))
			case 3:
				g.b.WriteString("</" + g.pick([][]string{soupInline, soupBlock, soupRare}[g.rng.IntN(3)]) + ">")
			case 4:
				g.b.WriteString(g.pick(soupText))
			case 5:
				g.mistake(1)
			}
		}
		return g.b.String()
	}
	g.b.WriteString(g.pick(soupDoctype))
	if g.chance(50) {
		g.b.WriteString("<html><head><title>T</title><script>x</script></head>")
		g.open("body")
	}
	g.flow(2 + g.rng.IntN(5))
	return g.b.String()
}

func TestScanSoup(t *testing.T) {
	testkit.Sequential(t)
	g := soup{rng: rand.New(rand.NewPCG(4, 2026))}
	n, answered := 30_000, 0
	if testing.Short() {
		n /= 10
	}
	for i := range n {
		page := g.page()
		max := 1 << 20
		if i%5 == 0 {
			max = g.rng.IntN(60)
		}
		if checkScan(t, page, max) {
			answered++
		}
		if t.Failed() {
			t.Fatalf("page %d", i)
		}
	}
	t.Logf("%d of %d answered", answered, n)
	if answered < n/3 {
		t.Errorf("only %d of %d answered", answered, n)
	}
}
