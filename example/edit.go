package example

import (
	"slices"
	"unicode"
)

// clone copies what the edits below change.
func (a article) clone() article {
	a.paras = slices.Clone(a.paras)
	for i := range a.paras {
		a.paras[i] = slices.Clone(a.paras[i])
	}
	return a
}

// lightTypos changes the date and swaps two letters in three sentences.
func lightTypos(a article) article {
	a = a.clone()
	a.date = "2024-08-19"
	for _, i := range []int{1, len(a.paras) / 2, len(a.paras) - 1} {
		a.paras[i][1] = swapLetters(a.paras[i][1])
	}
	return a
}

// lightSentences changes the date, removes a sentence and adds another.
func lightSentences(a article) article {
	a = a.clone()
	a.date = "2024-08-22"
	a.paras[1] = slices.Delete(a.paras[1], 2, 3)
	last := len(a.paras) - 1
	a.paras[last] = append(a.paras[last], a.spare[0])
	return a
}

// heavy rewrites the second paragraph and the last, up to about a fifth of the
// text. The edits stand together: a trustable region (TLCS paper, section 3.3)
// allows one edit in ten characters, which a fifth of the text would exceed if
// it were spread evenly.
func heavy(a article) article {
	a = a.clone()
	budget := (len(a.sentences()) + 4) / 5
	spare := a.spare
	for _, i := range []int{1, len(a.paras) - 1} {
		for j := range a.paras[i] {
			if budget == 0 || len(spare) == 0 {
				return a
			}
			a.paras[i][j] = spare[0]
			spare, budget = spare[1:], budget-1
		}
	}
	return a
}

// moved puts the last two paragraphs first.
func moved(a article) article {
	n := len(a.paras) - 2
	a.paras = append(slices.Clone(a.paras[n:]), a.paras[:n]...)
	return a
}

// withAll puts all paragraphs of b into the middle of a.
func withAll(a, b article) article { return with(a, b.paras) }

// withParagraph puts one paragraph of b into the middle of a.
func withParagraph(a, b article) article { return with(a, b.paras[2:3]) }

func with(a article, paras [][]string) article {
	a.paras = slices.Insert(slices.Clone(a.paras), len(a.paras)/2, paras...)
	return a
}

// swapLetters swaps two different neighbouring letters near the middle of s. It
// never separates a letter from its mark.
func swapLetters(s string) string {
	rs := []rune(s)
	for i := len(rs) / 2; i+2 < len(rs); i++ {
		if rs[i] != rs[i+1] && unicode.IsLetter(rs[i]) && unicode.IsLetter(rs[i+1]) && !unicode.IsMark(rs[i+2]) {
			rs[i], rs[i+1] = rs[i+1], rs[i]
			return string(rs)
		}
	}
	return s
}
