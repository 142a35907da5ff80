// Package ring computes the signatures of the TLCS paper, section 3.1. The MD5
// fingerprint of a sentence is a ring of 16 bytes. Its rotations are derivative
// fingerprints. The smallest few fingerprints of every residue class of every
// rotation are projected to one signature.
package ring

import (
	"cmp"
	"crypto/md5" // the paper's fingerprint; nothing here depends on it being hard to forge
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"neardup/extract/text"
	"neardup/signature"
)

// Limits far above any use. They keep the sums of weights and the residues
// inside 32 bits.
const (
	maxRotations = md5.Size
	maxModulus   = 4096
	maxSmallest  = 4096
	maxFew       = 64 // n sentences make 1 + n + n(n-1)/2 signatures besides the usual ones
)

// Options are the options of the scheme. The paper uses Rotations 16, Modulus 7,
// MinColumns 16 and Weight "log". It states neither Smallest nor how sentences
// disperse.
type Options struct {
	Rotations  int    `json:"rotations" yaml:"rotations"`     // n: rotations of the ring that are used, 1 to 16
	Modulus    int    `json:"modulus" yaml:"modulus"`         // m: residue classes of a rotation, 1 to 4096
	Smallest   int    `json:"smallest" yaml:"smallest"`       // k: fingerprints that make one signature, 1 to 4096
	MinColumns int    `json:"min_columns" yaml:"min_columns"` // only wider sentences count
	Spread     int    `json:"spread" yaml:"spread"`           // smallest distance of two chosen sentences; 1: any
	Weight     string `json:"weight" yaml:"weight"`           // Log or None
	Short      string `json:"short" yaml:"short"`             // for documents without a signature: Whole or Abandon
	Few        int    `json:"few" yaml:"few"`                 // documents of up to Few sentences also get the signatures of allButTwo; 0: none do, and no shorter sentence counts
	Letters    bool   `json:"letters" yaml:"letters"`         // only the letters, marks and numbers of a sentence count, in lower case; false: all of it, as in the paper
}

// Values of Options.Weight.
const (
	Log  = "log"  // 1 + ln(l), l the sentence's width in columns: the paper's
	None = "none" // every sentence has the same weight
)

// Values of Options.Short.
const (
	Whole   = "whole"   // they get one signature of all their sentences, if these together are wider than MinColumns
	Abandon = "abandon" // they get none, as in the paper
)

// Validate returns an error that names the option out of its range.
func (o Options) Validate() error {
	for _, f := range []struct {
		name            string
		value, min, max int
	}{
		{"rotations", o.Rotations, 1, maxRotations},
		{"modulus", o.Modulus, 1, maxModulus},
		{"smallest", o.Smallest, 1, maxSmallest},
		{"min_columns", o.MinColumns, 0, math.MaxInt},
		{"spread", o.Spread, 1, math.MaxInt},
		{"few", o.Few, 0, maxFew},
	} {
		switch {
		case f.value >= f.min && f.value <= f.max:
		case f.max == math.MaxInt:
			return fmt.Errorf("%s is %d, must be at least %d", f.name, f.value, f.min)
		default:
			return fmt.Errorf("%s is %d, must be from %d to %d", f.name, f.value, f.min, f.max)
		}
	}
	if o.Weight != Log && o.Weight != None {
		return fmt.Errorf("weight is %q, must be %q or %q", o.Weight, Log, None)
	}
	if o.Short != Whole && o.Short != Abandon {
		return fmt.Errorf("short is %q, must be %q or %q", o.Short, Whole, Abandon)
	}
	return nil
}

// fingerprint is the fingerprint of a sentence in the current rotation.
type fingerprint struct {
	hi, lo   uint64 // the 16 bytes as a big-endian integer
	residue  uint32 // that integer mod m
	weight   uint32 // weight of the sentence, see weights
	position int    // position of the sentence among the document's counted ones
}

func (f *fingerprint) less(g *fingerprint) bool {
	return f.hi < g.hi || f.hi == g.hi && f.lo < g.lo
}

// signer signs documents one after another; it is not safe for concurrent use.
type signer struct {
	o       Options
	weights weights
	turn    uint32 // -(2^128 - 1) mod m, see rotate

	// Scratch memory, reused from document to document.
	text    []byte
	read    []byte
	table   []int // hash table: index into prints + 1, 0 where empty
	prints  []fingerprint
	classes [][]fingerprint
	chosen  []fingerprint

	watch func(rotation, class int, made signature.Signature) // if not nil, called with each signature and the fingerprints in chosen
}

// newSigner returns a signer for the options. It panics if they are not valid.
func newSigner(o Options) *signer {
	if err := o.Validate(); err != nil {
		panic("ring: " + err.Error())
	}
	m := uint64(o.Modulus)
	return &signer{
		o:       o,
		weights: newWeights(o.Weight),
		turn:    uint32((m - bits.Rem64(math.MaxUint64, math.MaxUint64, m)) % m),
		classes: make([][]fingerprint, o.Modulus),
	}
}

// Sign appends the signatures of a document, whose sentences come in its order, to
// dst: ascending, without repeats, at most n*m.
//
// The paper asks that "the sentences whose fingerprints are chosen to compute a
// signature should disperse in the document" and does not say how. In our reading,
// Sign goes up the fingerprints of a class and chooses one if its sentence is at
// least Spread places from those already chosen. Only sentences wider than
// MinColumns count, and equal ones count at their first place. A class without k
// such fingerprints gives no signature.
//
// Few sentences seldom fall into one class, so texts of few sentences that share
// all but one or two have a signature in common only by luck. With the option Few
// they always have one in common. Where fewer than three sentences count, as in a
// menu or a notice, shorter ones count then, too.
//
// The paper gives up documents without a signature, which are short. With Whole
// they still meet documents with exactly the same text.
func (s *signer) Sign(dst []signature.Signature, sentences []text.Sentence) []signature.Signature {
	own := len(dst)
	s.count(sentences)
	if n := len(s.prints); 0 < n && n <= s.o.Few {
		dst = s.allButTwo(dst)
	}
	if len(s.prints) >= s.o.Smallest {
		dst = s.rounds(dst)
	}
	if len(dst) == own && s.o.Short == Whole {
		return s.whole(dst, sentences)
	}
	slices.SortFunc(dst[own:], compareSignatures)
	return dst[:own+len(slices.Compact(dst[own:]))]
}

// rounds appends the signatures of all classes of all rotations.
func (s *signer) rounds(dst []signature.Signature) []signature.Signature {
	for i := range s.o.Rotations {
		if i > 0 {
			s.rotate()
		}
		for r := range s.classes {
			s.classes[r] = s.classes[r][:0]
		}
		for _, f := range s.prints {
			s.classes[f.residue] = append(s.classes[f.residue], f)
		}
		for r, class := range s.classes {
			if s.choose(class) {
				dst = append(dst, project(s.chosen))
				if s.watch != nil {
					s.watch(i, r, dst[len(dst)-1])
				}
			}
		}
	}
	return dst
}

// allButTwo sorts the fingerprints and appends a signature of all of them, and of three
// and more one of all but each, and one of all but each two if two are left. The
// fingerprints of each are in order.
func (s *signer) allButTwo(dst []signature.Signature) []signature.Signature {
	slices.SortFunc(s.prints, func(f, g fingerprint) int { return cmp.Or(cmp.Compare(f.hi, g.hi), cmp.Compare(f.lo, g.lo)) })
	of := func(without ...int) {
		s.chosen, s.text = s.chosen[:0], s.text[:0]
		for i, f := range s.prints {
			if !slices.Contains(without, i) {
				s.chosen = append(s.chosen, f)
				s.text = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(s.text, f.hi), f.lo)
			}
		}
		dst = append(dst, md5.Sum(s.text))
		if s.watch != nil {
			s.watch(few, 0, dst[len(dst)-1])
		}
	}
	of()
	for i := range s.prints {
		if len(s.prints) < fewest {
			break
		}
		of(i)
		for j := range i {
			if len(s.prints) > 3 {
				of(i, j)
			}
		}
	}
	return dst
}

const few = -1 // rotation that watch gets for signatures of allButTwo

// whole appends one signature made of all sentences.
func (s *signer) whole(dst []signature.Signature, sentences []text.Sentence) []signature.Signature {
	s.text = s.text[:0]
	columns := 0
	for _, sentence := range sentences {
		read, _ := s.reading(sentence)
		s.text = append(append(s.text, read...), '\n')
		columns += sentence.Columns
	}
	if columns <= s.o.MinColumns {
		return dst
	}
	return append(dst, md5.Sum(s.text))
}

// compareSignatures compares bytes, as bytes.Compare does.
func compareSignatures(a, b signature.Signature) int {
	if x, y := binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(b[:8]); x != y {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(binary.BigEndian.Uint64(a[8:]), binary.BigEndian.Uint64(b[8:]))
}

const (
	fewest       = 3 // sentences that count, if there are any others
	shortColumns = 2 // then only those up to this width do not
)

// count fills prints with the fingerprints of the sentences that count, and returns
// the width up to which sentences do not.
func (s *signer) count(sentences []text.Sentence) (columns int) {
	s.fingerprint(sentences, s.o.MinColumns)
	if s.o.Few == 0 || len(s.prints) >= fewest || s.o.MinColumns <= shortColumns {
		return s.o.MinColumns
	}
	s.fingerprint(sentences, shortColumns)
	return shortColumns
}

// fingerprint fills prints with the fingerprints of the sentences wider than so many
// columns.
func (s *signer) fingerprint(sentences []text.Sentence, least int) {
	s.prints = s.prints[:0]
	size := 1 << bits.Len(uint(2*len(sentences)))
	s.table = slices.Grow(s.table[:0], size)[:size]
	clear(s.table)
	for _, sentence := range sentences {
		read, columns := s.reading(sentence)
		if columns <= least {
			continue
		}
		sum := md5.Sum(read)
		hi, lo := binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:])
		slot := s.slot(hi, lo)
		if s.table[slot] != 0 {
			continue
		}
		s.prints = append(s.prints, fingerprint{
			hi: hi, lo: lo,
			residue:  uint32(bits.Rem64(hi, lo, uint64(s.o.Modulus))),
			weight:   s.weights.of(columns),
			position: len(s.prints),
		})
		s.table[slot] = len(s.prints)
	}
}

// reading returns what counts of a sentence, until the next call, and its width.
func (s *signer) reading(sentence text.Sentence) (_ []byte, columns int) {
	if !s.o.Letters {
		s.read = append(s.read[:0], sentence.Text...)
		return s.read, sentence.Columns
	}
	s.read = text.Letters(s.read[:0], withoutNotes(sentence.Text))
	return s.read, text.LettersColumns(s.read)
}

// withoutNotes returns a sentence without the numbers of notes in it, such as [12]: one
// more note changes all after it.
func withoutNotes(s string) string {
	var out []byte
	from := 0 // of what is not in out yet
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '[')
		switch {
		case i < 0 && from == 0:
			return s
		case i < 0:
			return string(append(out, s[from:]...))
		}
		at += i
		if n := text.Note(s[at:]); n > 0 {
			out = append(out, s[from:at]...)
			at += n
			from = at
		} else {
			at++
		}
	}
}

// slot returns the table's index of a fingerprint, or the free index for it.
func (s *signer) slot(hi, lo uint64) int {
	mask := len(s.table) - 1
	for i := int(lo) & mask; ; i = (i + 1) & mask {
		if n := s.table[i]; n == 0 || s.prints[n-1].hi == hi && s.prints[n-1].lo == lo {
			return i
		}
	}
}

// rotate rotates every ring left by one byte b. v becomes 256(v - b*2^120) + b =
// 256v - b(2^128 - 1), and its residue follows.
func (s *signer) rotate() {
	m := uint32(s.o.Modulus)
	for i := range s.prints {
		f := &s.prints[i]
		b := f.hi >> 56
		f.hi, f.lo = f.hi<<8|f.lo>>56, f.lo<<8|b
		f.residue = (f.residue<<8 + uint32(b)*s.turn) % m
	}
}

// choose puts the k smallest fingerprints of class that are far enough apart into
// chosen, and reports whether there are k. k is small, so it finds each one by a
// pass over the rest of class, which it overwrites.
func (s *signer) choose(class []fingerprint) bool {
	s.chosen = s.chosen[:0]
	for need := s.o.Smallest; need > 0; need-- {
		if len(class) < need {
			return false
		}
		least := 0
		for i := range class {
			if class[i].less(&class[least]) {
				least = i
			}
		}
		f := class[least]
		s.chosen = append(s.chosen, f)
		last := len(class) - 1
		class[least] = class[last]
		class = class[:last]
		if s.o.Spread > 1 {
			class = slices.DeleteFunc(class, func(g fingerprint) bool {
				return max(f.position-g.position, g.position-f.position) < s.o.Spread
			})
		}
	}
	return true
}
