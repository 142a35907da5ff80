package terms

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"neardup/signature"
	"neardup/signature/internal/hash"
)

// The slow scheme: the paper's words, one after another, with terms as strings
// and weights as fractions.

var runs = regexp.MustCompile(`(?s)\p{Han}+|[\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+|.`)

// slowTerm is a term with its part of speech and F(t), 0 if it has none.
type slowTerm struct {
	text      string
	group     group
	frequency int64
}

// slowTerms are the terms of a text in order, repetitions included.
func slowTerms(text string) []slowTerm {
	var out []slowTerm
	word := ""
	end := func() {
		if word != "" {
			out = append(out, slowWord(word))
		}
		word = ""
	}
	// Bytes that are no UTF-8 separate, as a character that is not valid would.
	for _, run := range runs.FindAllString(strings.ReplaceAll(strings.ToValidUTF8(text, "\n"), "\uFFFD", "\n"), -1) {
		r, _ := utf8.DecodeRuneInString(run)
		letter := unicode.IsLetter(r) || unicode.IsNumber(r)
		switch {
		case unicode.Is(unicode.Han, r):
			end()
			characters := []rune(run)
			for len(characters) > 0 {
				n := min(chunk, len(characters))
				for _, p := range segmenter().Pos(string(characters[:n])) {
					frequency, _, _ := segmenter().Find(p.Text)
					out = append(out, slowTerm{p.Text, groupOf(p.Pos), int64(frequency)})
				}
				characters = characters[n:]
			}
		case (letter || unicode.IsMark(r)) && unicode.In(r, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			end()
			var characters []rune
			pairs := func() {
				if len(characters) == 1 {
					out = append(out, slowPair(characters))
				}
				for i := 1; i < len(characters); i++ {
					out = append(out, slowPair(characters[i-1:i+1]))
				}
				characters = nil
			}
			for _, r := range run {
				if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
					characters = append(characters, r)
				} else {
					pairs()
				}
			}
			pairs()
		case letter, unicode.IsMark(r) && word != "":
			word += run
		default:
			end()
		}
	}
	end()
	return out
}

func slowPair(characters []rune) slowTerm {
	g := other
	if unicode.Is(unicode.Hiragana, characters[0]) {
		g = connective
	}
	return slowTerm{string(characters), g, 0}
}

func slowWord(word string) slowTerm {
	var lower strings.Builder
	digits := true
	for _, r := range word {
		if r >= 0xFF01 && r <= 0xFF5E {
			r = r - 0xFF01 + 0x21
		}
		lower.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
		digits = digits && unicode.IsNumber(r)
	}
	g, ok := english[lower.String()]
	if !ok && digits {
		g = numeral
	}
	return slowTerm{lower.String(), g, 0} // noun is the zero group
}

// slowWeight is W(t) in steps of 2^-20, rounded down.
func slowWeight(o Weighing, t slowTerm) uint64 {
	i := o.Intervals.named()[t.group].Interval
	a, b := new(big.Rat).SetFloat64(i[0]), new(big.Rat).SetFloat64(i[1])
	share := new(big.Rat) // (F(t) - F') / (F - F')
	if t.frequency > 0 {
		d := dictionary()
		scale := func(f uint64) int64 {
			if o.Scale == Log {
				return int64(logarithm(f))
			}
			return int64(f)
		}
		least, most := scale(d.least[t.group]), scale(d.most[t.group])
		if least < most {
			share.SetFrac64(scale(uint64(t.frequency))-least, most-least)
		}
	}
	if o.Heaviest == Rare {
		share.Sub(big.NewRat(1, 1), share)
	}
	w := new(big.Rat).Sub(b, a)
	w.Mul(w, share).Add(w, a).Mul(w, big.NewRat(unit, 1))
	whole := new(big.Int).Quo(w.Num(), w.Denom()).Uint64()
	if o.Long {
		whole *= uint64(min(maxLength, len([]rune(t.text))))
	}
	return whole
}

// slowSign are the fingerprints of a text.
func slowSign(o Options, text string) []signature.Signature {
	type weighed struct {
		text   string
		weight uint64
		first  int
	}
	var all []weighed
	total := uint64(0)
	counted := slowTerms(text)
	for place, t := range counted[:min(len(counted), o.MaxTerms)] {
		known := slices.ContainsFunc(all, func(w weighed) bool { return w.text == t.text })
		if w := slowWeight(o.Weighing, t); w > 0 && !known {
			all = append(all, weighed{t.text, w, place})
			total += w
		}
	}
	slices.SortFunc(all, func(a, b weighed) int {
		return cmp.Or(-cmp.Compare(a.weight, b.weight), cmp.Compare(hash.String(a.text), hash.String(b.text)))
	})
	// k: "the minimal integer satisfying" that k terms weigh more than θ of all.
	k := 0
	for ; k < len(all); k++ {
		sum := uint64(0)
		for _, w := range all[:k] {
			sum += w.weight
		}
		share, _ := new(big.Rat).SetFrac(new(big.Int).SetUint64(sum), new(big.Int).SetUint64(total)).Float64()
		if share > o.Threshold {
			break
		}
	}
	features := all[:min(k+min(o.Extra, len(all)), len(all))]
	if o.MaxFeatures > 0 {
		features = features[:min(len(features), o.MaxFeatures)]
	}
	if o.Order == ByText {
		slices.SortFunc(features, func(a, b weighed) int { return cmp.Compare(a.first, b.first) })
	}
	set := map[signature.Signature]bool{}
	gram := func(of []weighed) {
		var hashes []uint64
		for _, w := range of {
			hashes = append(hashes, hash.String(w.text))
		}
		set[signature.Of(hash.Windows(nil, hashes, len(hashes))[0])] = true
	}
	if len(features) > 0 && len(features) < o.Gram {
		gram(features)
	}
	for i := 0; i+o.Gram <= len(features); i++ {
		gram(features[i : i+o.Gram])
	}
	var out []signature.Signature
	for s := range set {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b signature.Signature) int { return cmp.Compare(a.Bits(), b.Bits()) })
	return out
}
