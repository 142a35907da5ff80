package tokens

import (
	"slices"
	"strings"
	"unicode"

	"neardup/signature/internal/hash"
	"neardup/signature/words"
)

// Features returns the tokens of a text as 64-bit hashes, ascending. IDs depend on
// the other texts; hashes do not, so samples of them repeat. Equal tokens have equal
// hashes, and different ones differ but for a probability of about 2^-64. A token
// that occurs repeatedly counts once, or with Repeats each time with another hash.
func (o Options) Features(text string) []uint64 {
	var units []uint64
	switch o.Unit {
	case Words:
		for _, w := range strings.Fields(strings.Map(unicode.ToLower, text)) {
			units = append(units, hash.String(w))
		}
	case Letters:
		var word []byte
		for i := 0; ; {
			if word, i = words.Next(word[:0], text, i); len(word) == 0 {
				break
			}
			units = append(units, hash.String(string(word)))
		}
	default:
		for _, r := range text {
			units = append(units, hash.Mix(uint64(r)))
		}
	}
	features := units
	if o.Size > 1 {
		features = hash.Windows(nil, units, o.Size)
	}
	slices.Sort(features)
	if !o.Repeats {
		return slices.Compact(features)
	}
	n, last := 0, uint64(0)
	for i, f := range features {
		if n++; i == 0 || f != last {
			n, last = 0, f
		}
		if n > 0 {
			features[i] = hash.At(f, n)
		}
	}
	slices.Sort(features)
	return features
}
