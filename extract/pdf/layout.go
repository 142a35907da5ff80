package pdf

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"neardup/extract/text"
)

// clean returns a line in readable form: ligatures spelled out, no control
// characters, single spaces. hyphen is set if the line ends with a hyphen, which is
// removed.
func clean(s string, hyphen *bool) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case r == lineHyphen:
			*hyphen = true
			continue
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == 0:
			r = utf8.RuneError // a font that does not tell which character this is
		case unicode.Is(unicode.C, r) && r != '\u200C' && r != '\u200D' && r != '\u00AD':
			continue // control, directional and private characters
		}
		*hyphen = false
		if space {
			b.WriteByte(' ')
			space = false
		}
		if r >= '\uFB00' && r <= '\uFB06' {
			b.WriteString(ligatures[r-'\uFB00'])
		} else {
			b.WriteRune(r)
		}
	}
	s = b.String()
	for _, h := range []string{"-", "\u00AD", "\u2010"} {
		if t := strings.TrimSuffix(s, h); t != s {
			if last, _ := utf8.DecodeLastRuneInString(t); unicode.IsLetter(last) || unicode.IsDigit(last) {
				*hyphen = true
				s = t
			}
			break
		}
	}
	return strings.ReplaceAll(s, "\u00AD", "")
}

var ligatures = [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}

// paragraphs returns the paragraphs of a document, joined from its lines without
// running heads.
func paragraphs(pages [][]line) []string {
	if stays := withoutRunning(pages); slices.ContainsFunc(stays, func(p []line) bool { return len(p) > 0 }) {
		pages = stays // unless all lines recur, as in a pile of forms
	}
	words := vocabulary(pages)
	var out []string
	var last *line // previous line of the paragraph
	var b strings.Builder
	end := func() {
		if last == nil {
			return
		}
		if last.hyphen {
			b.WriteByte('-')
		}
		out = append(out, b.String())
		b.Reset()
	}
	for _, page := range pages {
		p := measure(page)
		for i := range page {
			l := &page[i]
			if last != nil && (i == 0 && continues(last, l) || i > 0 && p.joins(last, l, i)) {
				join(&b, last, l, words)
			} else {
				end()
				b.WriteString(l.text)
			}
			last = l
		}
	}
	end()
	return out
}

// column holds measures of the lines of a page.
type column struct {
	lines []line
	pitch map[int]float64 // usual distance of the baselines of lines of one size, in half points
	right []float64       // for each line, where the lines around it end
}

// half rounds a size to half points.
func half(size float64) int { return int(math.Round(2 * size)) }

func measure(lines []line) column {
	c := column{lines: lines, pitch: map[int]float64{}, right: make([]float64, len(lines))}
	gaps := map[int][]float64{}
	for i := 1; i < len(lines); i++ {
		a, b := &lines[i-1], &lines[i]
		if gap := a.base - b.base; half(a.size) == half(b.size) && gap > 0.5*a.size && gap < 3*a.size {
			gaps[half(a.size)] = append(gaps[half(a.size)], gap)
		}
	}
	for size, g := range gaps {
		slices.Sort(g)
		c.pitch[size] = g[len(g)/2]
		// If most lines are paragraphs of their own, the smallest distance is the
		// usual one.
		if g[0] > 0.9*float64(size)/2 && c.pitch[size] > 1.3*g[0] && len(g) > 3 && g[len(g)/4] < 1.1*g[0] {
			c.pitch[size] = g[0]
		}
	}
	// The lines of a column overlap horizontally. A jump upwards starts a new
	// column.
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && lines[to].base < lines[to-1].base+lines[to].size {
			to++
		}
		var rights []float64
		for _, l := range lines[from:to] {
			rights = append(rights, l.right)
		}
		slices.Sort(rights)
		for i := from; i < to; i++ {
			c.right[i] = rights[len(rights)-1-len(rights)/10] // a few lines may stick out
		}
		from = to
	}
	return c
}

// joins reports whether line i, which is b, continues the paragraph of a, the line
// before it.
func (c column) joins(a, b *line, i int) bool {
	gap := a.base - b.base
	size := max(a.size, b.size, 1)
	if math.Abs(gap) < 0.3*size {
		return true // side by side
	}
	if gap < 0 {
		return continues(a, b) // in the next column
	}
	pitch, ok := c.pitch[half(a.size)]
	if !ok {
		pitch = 1.4 * size
	}
	if gap > 1.25*pitch+0.5 || math.Abs(a.size-b.size) > 0.15*size {
		return false
	}
	if a.hyphen {
		return true
	}
	if startsItem(b.text) {
		return false
	}
	if indent := b.left - a.left; indent > 0.8*size {
		// An indented line starts a paragraph, unless the line before starts an
		// item or has a hanging indent.
		hangs := startsItem(a.text) || i >= 2 && c.lines[i-2].left-a.left > 0.8*size
		if !hangs {
			return false
		}
	} else if indent < -0.8*size && (i >= 2 && math.Abs(c.lines[i-2].left-a.left) < 0.4*size) {
		return false // back from an indented paragraph of several lines
	}
	// A line with room for the first word of the next line ends its paragraph. It
	// needs twice that room if the sentence goes on.
	word, _, _ := strings.Cut(b.text, " ")
	if n := text.Columns(b.text); n > 0 {
		width := (b.right - b.left) / float64(n)
		room := c.right[i-1] - a.right
		if columns := text.Columns(word); isWide(b.text) {
			return room < 3*2*width // any character may end the line
		} else if room > width*(float64(columns)+1.5) {
			return continues(a, b) && room < (c.right[i-1]-a.left)/2
		}
	}
	return true
}

// isWide reports whether a text starts with a wide character, which means a script
// without spaces.
func isWide(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return text.RuneColumns(r) == 2
}

// continues reports whether a line continues a paragraph across a page or a column:
// the sentence has not ended, and the line does not start a paragraph.
func continues(a, b *line) bool {
	if math.Abs(a.size-b.size) > 0.15*max(a.size, b.size) {
		return false
	}
	if a.hyphen {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(a.text)
	first, _ := utf8.DecodeRuneInString(b.text)
	if text.RuneColumns(last) == 2 && text.RuneColumns(first) == 2 {
		return unicode.IsLetter(last) && unicode.IsLetter(first)
	}
	return !strings.ContainsRune(".!?:;\"”’)]", last) && unicode.IsLower(first)
}

// startsItem reports whether a line starts a list item or a note.
func startsItem(s string) bool {
	mark, rest, ok := strings.Cut(s, " ")
	if !ok || rest == "" || len(mark) > 12 {
		return false
	}
	first, size := utf8.DecodeRuneInString(mark)
	if size == len(mark) && strings.ContainsRune("•◦▪▫●○■□‣⁃∙·*–—-►", first) {
		return true
	}
	mark = strings.TrimLeft(mark, "([")
	number := strings.TrimRight(mark, ".)]:")
	if number == mark || number == "" {
		return false
	}
	for _, part := range strings.Split(number, ".") {
		if _, err := strconv.Atoi(part); err != nil && (len(part) != 1 || part[0]|0x20 < 'a' || part[0]|0x20 > 'z') {
			return false
		}
	}
	return true
}

// join appends a line to its paragraph.
func join(b *strings.Builder, last, l *line, words map[string]bool) {
	first, _ := utf8.DecodeRuneInString(l.text)
	switch {
	case math.Abs(last.base-l.base) < 0.3*l.size && last.page == l.page: // side by side
		b.WriteByte(' ')
	case last.hyphen && unicode.IsLower(first):
		if head, tail := lastWord(b.String()), firstWord(l.text); head == "" || !words[head+tail] && words[head+"-"+tail] {
			b.WriteByte('-')
		}
	case last.hyphen:
		b.WriteByte('-')
	default:
		if before, _ := utf8.DecodeLastRuneInString(b.String()); text.RuneColumns(before) == 1 || text.RuneColumns(first) == 1 {
			b.WriteByte(' ')
		}
	}
	b.WriteString(l.text)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.M, r) || r == '-' }

// lastWord returns the word at the end of s, in lower case.
func lastWord(s string) string {
	return strings.ToLower(s[wordStart(s):])
}

// wordStart returns where the word at the end of s starts.
func wordStart(s string) int {
	return len(strings.TrimRightFunc(s, isWord))
}

// firstWord returns the word at the start of s, in lower case.
func firstWord(s string) string {
	if i := strings.IndexFunc(s, func(r rune) bool { return !isWord(r) }); i >= 0 {
		s = s[:i]
	}
	return strings.ToLower(s)
}

// vocabulary returns the words that stand inside lines, in lower case. It tells
// whether a hyphen at a line end belongs to the word.
func vocabulary(pages [][]line) map[string]bool {
	broken := false
	words := map[string]bool{}
	for _, page := range pages {
		for _, l := range page {
			broken = broken || l.hyphen
			s := l.text
			if l.hyphen {
				s = s[:wordStart(s)]
			}
			for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return !isWord(r) }) {
				words[strings.ToLower(word)] = true
			}
		}
	}
	if !broken {
		return nil
	}
	return words
}
