package shingle

import (
	"fmt"
	"slices"

	"neardup/signature"
	"neardup/signature/internal/hash"
	"neardup/signature/minhash"
	"neardup/signature/words"
)

// Options are the options of the scheme. The lecture uses Words 10 and ByMinWise
// with Size 20, or ByModulo with a Modulus of about 25. It states neither how many
// smallest shingles make a sketch nor Super.
type Options struct {
	Words   int    `json:"words" yaml:"words"`     // w: words of a shingle
	Sketch  string `json:"sketch" yaml:"sketch"`   // of the shingles: ByMinWise, ByModulo, BySmallest or All
	Size    int    `json:"size" yaml:"size"`       // values of a sketch ByMinWise (m permutations) or BySmallest, 1 to 65536
	Modulus int    `json:"modulus" yaml:"modulus"` // m of ByModulo: a share of 1/modulus of the shingles
	Super   int    `json:"super" yaml:"super"`     // sketch values that make a supershingle; 0: the values are the signatures
}

// Values of Options.Sketch.
const (
	ByMinWise  = "minwise"  // the smallest shingle of each of Size permutations
	ByModulo   = "modulo"   // the shingles that are 0 modulo Modulus
	BySmallest = "smallest" // the Size smallest shingles
	All        = "all"      // all shingles: as many signatures as the text has words
)

// Validate returns an error that names the option out of its range. Size and
// Modulus may have any value if the sketch does not use them.
func (o Options) Validate() error {
	sized := o.Sketch == ByMinWise || o.Sketch == BySmallest
	switch {
	case o.Words < 1:
		return fmt.Errorf("words is %d, must be at least 1", o.Words)
	case !sized && o.Sketch != ByModulo && o.Sketch != All:
		return fmt.Errorf("sketch is %q, must be %q, %q, %q or %q", o.Sketch, ByMinWise, ByModulo, BySmallest, All)
	case sized && (o.Size < 1 || o.Size > minhash.MaxComponents):
		return fmt.Errorf("size is %d, must be from 1 to %d", o.Size, minhash.MaxComponents)
	case o.Sketch == ByModulo && o.Modulus < 1:
		return fmt.Errorf("modulus is %d, must be at least 1", o.Modulus)
	case o.Super < 0:
		return fmt.Errorf("super is %d, must be at least 0", o.Super)
	case sized && o.Super > o.Size:
		return fmt.Errorf("super is %d, must be at most size, %d", o.Super, o.Size)
	}
	return nil
}

// scheme is the signature.Scheme of a text's sketch.
type scheme struct {
	o        Options
	shingler words.Shingler
	signer   *minhash.Signer // of ByMinWise

	// Scratch memory, reused from text to text.
	shingles []uint64
}

// NewScheme returns the Scheme for the options. It panics if they are not valid. A
// text's signatures are the values of its sketch (slides 15 to 24) or, with Super,
// its supershingles (slide 27), ascending. Signing takes |S|·ln|S| steps for |S|
// shingles, and m·ln(m) more for m permutations.
//
// Short texts still get signatures. As in the lecture, a text of fewer than w
// words, but at least one, is one shingle. The rest is not in the lecture: if no
// shingle of a text is 0 modulo m, the smallest shingle is the sample, and a sketch
// of fewer values than make a supershingle is one supershingle. So every text with
// words has a signature. Two texts share one only if they share a shingle or, if
// they are that short, the whole sketch.
func NewScheme(o Options) signature.Scheme {
	if err := o.Validate(); err != nil {
		panic("shingle: " + err.Error())
	}
	s := &scheme{o: o, shingler: words.Shingler{W: o.Words}}
	if o.Sketch == ByMinWise {
		s.signer = minhash.New(o.Size, 0)
	}
	return s
}

func (s *scheme) Sign(dst []signature.Signature, text string) []signature.Signature {
	s.shingles = s.shingler.Append(s.shingles[:0], text)
	keys := s.sketch(NewSet(s.shingles))
	if s.o.Super > 0 {
		keys = hash.Windows(nil, slices.Sorted(slices.Values(keys)), s.o.Super)
	}
	for _, key := range NewSet(keys) {
		dst = append(dst, signature.Of(key))
	}
	return dst
}

func (s *scheme) sketch(set Set) []uint64 {
	switch s.o.Sketch {
	case ByMinWise:
		return minWise(s.signer, set).Values
	case ByModulo:
		return ModOrLeast(set, uint64(s.o.Modulus)).Values
	case BySmallest:
		return set[:min(s.o.Size, len(set))]
	default:
		return set
	}
}
