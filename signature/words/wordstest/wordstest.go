// Package wordstest is for tests of packages that hash the words of a text.
package wordstest

import "neardup/signature/words"

// Strings returns the words of a text.
func Strings(text string) (all []string) {
	var word []byte
	for i := 0; ; {
		if word, i = words.Next(word[:0], text, i); len(word) == 0 {
			return all
		}
		all = append(all, string(word))
	}
}
