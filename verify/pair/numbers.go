package pair

import (
	"strings"
	"unicode"

	"neardup/extract/text"
	"neardup/verify/rarity"
)

// Two reports of one pattern, such as those on two earthquakes, differ in their numbers.
// Two articles with the same story agree in most of them.
const (
	leastNumbers  = 8   // fewer say nothing: a page has about as many in its dates
	commonNumbers = 0.5 // share of the shorter list that two articles with the same story have in common
)

// copied is the share of the columns of two texts in sentences that both have, numbers
// included, from which one is a copy beside other figures, such as prices or comments.
const copied = 0.7

// otherNumbers reports whether two texts say other numbers, and are no copies.
func otherNumbers(a, b string) bool {
	x, n := numbersOf(a)
	y, m := numbersOf(b)
	common := 0
	for number, times := range x {
		common += min(times, y[number])
	}
	n = min(n, m)
	return n >= leastNumbers && float64(common) < commonNumbers*float64(n) && sameSentences(a, b) < copied
}

// sameSentences returns the columns of the different sentences that both texts have over
// those of all that either has. Sentences without a letter do not count.
func sameSentences(a, b string) float64 {
	of := func(s string) (columns map[uint64]int, all int) {
		columns = map[uint64]int{}
		for sentence := range text.Each(s) {
			if u := rarity.ExactUnitOf(sentence); u.Key != 0 && columns[u.Key] == 0 {
				columns[u.Key] = u.Columns
				all += u.Columns
			}
		}
		return columns, all
	}
	x, n := of(a)
	y, m := of(b)
	both := 0
	for key, columns := range x {
		if y[key] > 0 {
			both += columns
		}
	}
	return float64(both) / float64(max(1, n+m-both))
}

// numbersOf returns how often a text has each number, and how many numbers it has. A number
// is a run of digits of any script, without the zeros before it.
func numbersOf(text string) (times map[string]int, n int) {
	times = map[string]int{}
	var number []byte
	for _, r := range text + " " {
		if unicode.IsDigit(r) {
			number = append(number, '0'+digit(r))
			continue
		}
		if len(number) > 0 {
			times[strings.TrimLeft(string(number), "0")]++
			n++
		}
		number = number[:0]
	}
	return times, n
}

// digit returns the value of a digit. The digits of a script follow each other, from
// 0 to 9. Only the mathematical ones follow those of another style.
func digit(r rune) (value byte) {
	switch {
	case r < 0x80:
		return byte(r - '0')
	case r >= '𝟎' && r <= '𝟿':
		return byte((r - '𝟎') % 10)
	}
	for value < 9 && unicode.IsDigit(r-1) {
		r--
		value++
	}
	return value
}
