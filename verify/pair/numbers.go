package pair

import (
	"strings"
	"unicode"
)

// Two reports of one pattern, such as those on two earthquakes, differ in their numbers.
// Two articles with the same story agree in most of them.
const (
	leastNumbers  = 8   // fewer say nothing: a page has about as many in its dates
	commonNumbers = 0.5 // share of the shorter list that two articles with the same story have in common
)

// otherNumbers reports whether two texts say other numbers.
func otherNumbers(a, b string) bool {
	x, n := numbersOf(a)
	y, m := numbersOf(b)
	common := 0
	for number, times := range x {
		common += min(times, y[number])
	}
	n = min(n, m)
	return n >= leastNumbers && float64(common) < commonNumbers*float64(n)
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
