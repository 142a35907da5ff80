package pair

import (
	"bytes"
	"crypto/sha256"
	"sync"

	"neardup/verify"
)

// Measured is a verdict of the measure that took an alignment, under a digest of the
// two texts as they were compared.
type Measured struct {
	Texts   [16]byte
	Verdict verify.Verdict
}

// Remembered implements Memory: it has verdicts of an earlier comparison of texts, and
// notes those of the present one. The texts must be identified.
type Remembered struct {
	before map[[16]byte]verify.Verdict
	mu     sync.Mutex
	now    map[[2][16]byte][]Measured // by the IDs of the texts, the smaller first
}

// remember returns a memory with these verdicts.
func remember(before []Measured) *Remembered {
	r := &Remembered{before: make(map[[16]byte]verify.Verdict, len(before)), now: map[[2][16]byte][]Measured{}}
	for _, m := range before {
		r.before[m.Texts] = m.Verdict
	}
	return r
}

// digest does not depend on the order of the texts, as the measure does not.
func digest(a, b *Text) [16]byte {
	x, y := a.Sum(), b.Sum()
	if bytes.Compare(x[:], y[:]) > 0 {
		x, y = y, x
	}
	sum := sha256.Sum256(append(x[:], y[:]...))
	return [16]byte(sum[:])
}

// Recall implements Memory.
func (r *Remembered) Recall(a, b *Text) (v verify.Verdict, ok bool) {
	if len(r.before) == 0 {
		return v, false
	}
	v, ok = r.before[digest(a, b)]
	return v, ok
}

// Keep implements Memory.
func (r *Remembered) Keep(a, b *Text, v verify.Verdict) {
	if !v.Aligned() {
		return // which is faster than to remember it
	}
	m, of := Measured{digest(a, b), v}, pairOf(a.id, b.id)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now[of] = append(r.now[of], m)
}

// Noted reports whether a verdict on two texts was noted.
func (r *Remembered) Noted(of [2][16]byte) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.now[pairOf(of[0], of[1])]) > 0
}

// Of returns the verdicts on these pairs of texts that were noted. A nil memory has
// none.
func (r *Remembered) Of(pairs [][2][16]byte) (out []Measured) {
	if r == nil {
		return nil
	}
	for _, p := range pairs {
		out = append(out, r.now[pairOf(p[0], p[1])]...)
	}
	return out
}

func pairOf(a, b [16]byte) [2][16]byte {
	if bytes.Compare(a[:], b[:]) > 0 {
		a, b = b, a
	}
	return [2][16]byte{a, b}
}

// Remembering returns a judge that remembers verdicts, and what it remembers. A judge
// that has a memory keeps it; then the second result is nil.
func (j Judge) Remembering(before []Measured) (Judge, *Remembered) {
	if j.Memory != nil {
		return j, nil
	}
	r := remember(before)
	j.Memory = r
	return j, r
}
