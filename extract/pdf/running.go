package pdf

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Running heads and feet, and page numbers, are no part of a text.

// edge is one of the outermost lines of a page.
type edge struct {
	page    int
	at      []int // lines side by side that make it up
	text    string
	base    float64
	depth   int  // 0: the outermost
	apart   bool // it is separate from the text, and not larger
	numbers []int
	running bool
}

const (
	edges      = 3 // outermost lines at each side that may be running
	sameHeight = 3 // points
	recurs     = 3 // pages on which a running line must stand
)

// withoutRunning returns the pages without what recurs at their upper or lower
// edge: heads, feet and page numbers. A line is running if one of these holds:
//
//   - The same text, apart from numbers, stands at the same height on at least
//     three pages. In a document of two pages it must be the outermost line of
//     both, separate from the text.
//   - It starts or ends with a number that increases with the pages, as the numbers
//     at this edge of at least three pages do. In a document of two pages both must
//     have it as their outermost line.
//   - The outermost lines of most pages stand at its height, in type that is not
//     larger than the text's, and separate from it.
//
// Inside of a line that is not running, a line can be running only by its text.
func withoutRunning(pages [][]line) [][]line {
	drop := make([]map[int]bool, len(pages))
	for _, upper := range []bool{true, false} {
		var all []*edge
		for i, page := range pages {
			all = append(all, edgesOf(page, i, upper)...)
		}
		markRecurring(all, len(pages))
		markNumbered(all, len(pages))
		markApart(all, len(pages))
		for _, e := range all {
			if !e.running {
				continue
			}
			if drop[e.page] == nil {
				drop[e.page] = map[int]bool{}
			}
			for _, at := range e.at {
				drop[e.page][at] = true
			}
		}
	}
	out := make([][]line, len(pages))
	for i, page := range pages {
		for at, l := range page {
			if !drop[i][at] {
				out[i] = append(out[i], l)
			}
		}
	}
	return out
}

// edgesOf returns the outermost lines of a page. Lines side by side count as one.
func edgesOf(lines []line, page int, upper bool) (out []*edge) {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		d := cmp.Compare(lines[b].base, lines[a].base)
		if !upper {
			d = -d
		}
		return d
	})
	usual := usualSize(lines)
	for _, at := range order {
		l := &lines[at]
		if n := len(out); n > 0 {
			last := out[n-1]
			gap := math.Abs(last.base - l.base)
			if gap < 1 {
				last.at = append(last.at, at)
				continue
			}
			last.apart = gap > 1.6*1.2*l.size && lines[last.at[0]].size < 1.1*usual
		}
		if len(out) == edges {
			break
		}
		out = append(out, &edge{page: page, at: []int{at}, base: l.base, depth: len(out)})
	}
	for _, e := range out {
		slices.SortFunc(e.at, func(a, b int) int { return cmp.Compare(lines[a].left, lines[b].left) })
		var parts []string
		for _, at := range e.at {
			parts = append(parts, lines[at].text)
		}
		s := strings.Join(parts, " ")
		e.numbers = endNumbers(s)
		e.text = masked(s)
	}
	return out
}

// dashes are the characters around a page number.
const dashes = "-–—. "

// masked returns a line in lower case with # for each number, in digits or as a
// separate Roman numeral.
func masked(s string) string {
	if roman(strings.Trim(s, dashes)) > 0 {
		return "#"
	}
	var b strings.Builder
	digits := false
	for _, r := range strings.ToLower(s) {
		if unicode.IsDigit(r) {
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		}
		digits = false
		b.WriteRune(r)
	}
	return b.String()
}

// endNumbers returns the numbers that a line starts and ends with.
func endNumbers(s string) (out []int) {
	fields := strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("|–—[]()", r) })
	if len(fields) == 0 {
		return nil
	}
	for _, f := range []string{fields[0], fields[len(fields)-1]} {
		f = strings.Trim(f, "-.,:/")
		if n, err := strconv.Atoi(f); err == nil && n < 100_000 {
			out = append(out, n)
		} else if n := roman(f); n > 0 && len(fields) == 1 {
			out = append(out, n-romanPages) // counted apart from Arabic numbers
		}
	}
	return out
}

const romanPages = 1_000_000

// roman returns the value of a lower-case Roman numeral, or 0.
func roman(s string) (n int) {
	value := map[rune]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100}
	if s == "" || len(s) > 8 {
		return 0
	}
	before := 0
	for _, r := range strings.ToLower(s) {
		v := value[r]
		if v == 0 {
			return 0
		}
		if n += v; before < v {
			n -= 2 * before
		}
		before = v
	}
	return max(0, n)
}

// markRecurring marks the lines whose text stands at the same height on several
// pages.
func markRecurring(all []*edge, pages int) {
	byText := map[string][]*edge{}
	for _, e := range all {
		byText[e.text] = append(byText[e.text], e)
	}
	for _, same := range byText {
		slices.SortStableFunc(same, func(a, b *edge) int { return cmp.Compare(a.base, b.base) })
		for from := 0; from < len(same); {
			to := from + 1
			for to < len(same) && same[to].base-same[to-1].base <= sameHeight {
				to++
			}
			inside := slices.ContainsFunc(same[from:to], func(e *edge) bool { return !e.apart || e.depth > 0 })
			if to-from >= recurs || pages == 2 && to-from == 2 && !inside {
				for _, e := range same[from:to] {
					e.running = true
				}
			}
			from = to
		}
	}
}

// markNumbered marks the outermost lines with a number that increases with the
// pages.
func markNumbered(all []*edge, pages int) {
	outermost := map[int]int{} // depth at which each page's text starts, as far as known
	for depth := range edges {
		steps := map[int]int{} // number minus page: on how many pages
		var at []*edge
		for _, e := range all {
			if e.depth != depth || outermost[e.page] != depth {
				continue
			}
			if e.running {
				outermost[e.page] = depth + 1
			}
			at = append(at, e)
			seen := map[int]bool{}
			for _, n := range e.numbers {
				if !seen[n-e.page] {
					seen[n-e.page] = true
					steps[n-e.page]++
				}
			}
		}
		for _, e := range at {
			for _, n := range e.numbers {
				support := steps[n-e.page]
				if support >= recurs || pages == 2 && support == 2 && strings.Trim(e.text, dashes) == "#" {
					e.running = true
					outermost[e.page] = depth + 1
				}
			}
		}
	}
}

// markApart marks the outermost lines at the height where most pages have a line
// that is separate from the text.
func markApart(all []*edge, pages int) {
	var outermost []*edge
	for _, e := range all {
		if e.depth == 0 {
			outermost = append(outermost, e)
		}
	}
	slices.SortStableFunc(outermost, func(a, b *edge) int { return cmp.Compare(a.base, b.base) })
	for from := 0; from < len(outermost); {
		to, apart := from, 0
		for to < len(outermost) && (to == from || outermost[to].base-outermost[to-1].base <= sameHeight) {
			if outermost[to].apart {
				apart++
			}
			to++
		}
		if n := to - from; n > recurs && 2*n > pages && 10*apart >= 9*n {
			for _, e := range outermost[from:to] {
				e.running = e.running || e.apart
			}
		}
		from = to
	}
}
