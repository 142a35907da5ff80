package page

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"neardup/extract/internal/testkit"
)

// randomSelector returns a selector of all that cascadia knows.
func randomSelector(rng *rand.Rand, depth int) string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	s := pick("", "", "*", "div", "p", "li", "a", "b", "td", "input")
	for range 1 + rng.IntN(2) {
		s += pick(".x", "#b", "[hidden]", "[class~=a]", `[href^="http:"]`, `[style*=none i]`, ":first-child", ":last-child", ":only-child",
			":nth-child(odd)", ":nth-child(2)", ":nth-last-child(-n+2)", ":nth-of-type(3n+1)", ":nth-last-of-type(2n)", ":only-of-type",
			":first-of-type", ":last-of-type", ":empty", ":root", ":link", ":input", ":checked", ":enabled", ":disabled", ":lang(en)",
			`:contains("a")`, `:containsOwn("b")`, ":matches([a-c] d)", ":matchesOwn(e)", ":hover", ":not(*)")
	}
	if depth > 0 && rng.IntN(3) == 0 {
		s += pick(":not(", ":has(", ":haschild(") + randomSelector(rng, depth-1) + pick("", ", b") + ")"
	}
	for depth > 0 && rng.IntN(2) == 0 {
		depth--
		s += pick(" ", " ", ">", " + ", "~") + randomSelector(rng, 0)
	}
	return s
}

// All parts of selectors, on all nodes at once, select what cascadia selects node by
// node.
func TestSelectorsSelectTheSame(t *testing.T) {
	selected := 0
	for seed := range uint64(8000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := soup{rng: rng}
		page := g.page()
		s := randomSelector(rng, 3)
		group, err := cascadia.ParseGroup(s)
		if err != nil {
			t.Fatal(s, err)
		}
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			continue
		}
		want := map[*html.Node]bool{}
		for _, n := range cascadia.QueryAll(root, group) {
			want[n] = true
		}
		got := documentOf(root).selects(group)
		delete(got, root)
		for n := range got {
			if !want[n] {
				t.Fatalf("seed %d: %q selects %v in %q", seed, s, n, page)
			}
		}
		if len(got) < len(want) {
			t.Fatalf("seed %d: %q selects %d of %d nodes in %q", seed, s, len(got), len(want), page)
		}
		if len(got) > 0 {
			selected++
		}
	}
	if selected < 300 {
		t.Errorf("only %d selectors select anything", selected)
	}
}

// A page that is made to cost much costs little, or is read without the rules.
func TestCostlySelectors(t *testing.T) {
	testkit.Sequential(t)
	const items = 200_000
	list := strings.Repeat("<li>a", items)
	deep := strings.Repeat("<div class=c>", 450) + strings.Repeat("<i class=c>a</i>", 50_000)
	for _, c := range []struct {
		page, selector string
		unmatched      bool
	}{
		{list, "h2 ~ li", false},
		{list, "li:nth-child(odd)", false},
		{list, "li:nth-last-of-type(2n)", false},
		{strings.Repeat("<!---->", items) + list, "p + li:first-child", false},
		{deep, ".x .c .c .c", false},
		{deep, "h1:has(.c .c b), h1 .c:not(.c .c)", false},
		{deep, ".c:contains(b)", false},
		{deep + strings.Repeat("some text ", 100_000), ".c:contains(b)", true},
		{deep + strings.Repeat("some text ", 100_000), ".c:matches(b)", true},
		{"<fieldset disabled>" + strings.Repeat("<p>", items) + "<legend>" + strings.Repeat("<input>a", items), ":enabled", true},
	} {
		start := time.Now()
		o := options
		o.Sites = []SiteRules{{Host: "x.org", Drop: []string{c.selector}}}
		got := NewReader(o).Read(c.page, "x.org", 4<<20)
		if got.RulesUnmatched != c.unmatched || got.Text == "" {
			t.Errorf("%s: unmatched %v, %d bytes", c.selector, got.RulesUnmatched, len(got.Text))
		}
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%s: %v", c.selector, d)
		}
	}
}
