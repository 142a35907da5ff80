package subject

import "strings"

// Trace is what Compare saw. Pages have the numbers 0 and 1.
type Trace struct {
	Evidence Evidence
	Line     int        // first line that differs in its words, from 0; -1 if none of the first lines does
	Texts    [2]string  // this line of both
	Words    []Word     // words that one of the lines has more often
	Keeps    [2]bool    // the page keeps to its subject
	Rate     [2]float64 // occurrences of the commonest name in 1,000 code points of the longer page, and the least that counts
}

// Word is a word of the deciding line.
type Word struct {
	Text  string // in the case of its first occurrence
	Page  int    // page whose line has it
	Line  [2]int // occurrences in the lines
	Whole [2]int // occurrences in the texts
	Names bool   // the word stands for the subject of its page
}

// Trace is Compare with what it saw.
func (o Options) Trace(a, b *Page) Trace {
	e, w := o.weigh(a, b)
	t := Trace{Evidence: e, Line: w.line, Keeps: [2]bool{w.keeps(0), w.keeps(1)}}
	if w.line < 0 {
		return t
	}
	spelled := map[uint64]string{}
	for side, p := range []*Page{a, b} {
		t.Texts[side] = p.line(w.line)
		rest := t.Texts[side]
		for range lineWords {
			before := rest
			var word uint64
			if word, rest = next(rest); word == 0 {
				break
			}
			if spelled[word] == "" {
				spelled[word] = strings.TrimLeftFunc(before[:len(before)-len(rest)], func(r rune) bool { return kindOf(r) <= digit })
			}
		}
	}
	for _, tally := range w.tallies {
		side, names := tally.stands()
		t.Words = append(t.Words, Word{Text: spelled[tally.word], Page: side, Line: tally.line, Whole: tally.text, Names: names})
	}
	t.Rate = [2]float64{float64(w.named) * 1000 / float64(max(a.length, b.length, 1)), o.Rate}
	return t
}

// line is line i of the text.
func (p *Page) line(i int) string {
	rest := p.text
	for range i {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	line, _, _ := strings.Cut(rest, "\n")
	return line
}
