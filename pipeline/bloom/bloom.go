// Package bloom has a Bloom filter of the signatures that have postings. Where crawls
// were added, cluster asks it before it looks for postings.
package bloom

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/store"
	"neardup/signature"
)

// Filter is a Bloom filter of the signatures that have postings. Most signatures of
// a new text are new, and their lists have none before: the filter tells that without
// looking for them. It has parts, each twice as large as the one before, since nobody
// knows how many signatures will come.
type Filter struct {
	parts []part
	words int // of all parts
}

type part struct {
	words []uint64
	left  uint64 // signatures that may still be added
}

const (
	filterBits   = 8       // for each signature; with filterHashes one in 40 is taken for known
	filterHashes = 4       //
	maxFilter    = 8 << 20 // words of a filter, 64 MB; a larger collection has none
)

// New returns a filter with room for so many signatures, or nil for too many.
func New(signatures int64) *Filter {
	f := &Filter{}
	if !f.grow(uint64(max(signatures, 1<<16))) {
		return nil
	}
	return f
}

func (f *Filter) grow(signatures uint64) bool {
	words := int(1 + signatures*filterBits/64)
	if f.words+words > maxFilter {
		return false
	}
	f.parts, f.words = append(f.parts, part{make([]uint64, words), signatures}), f.words+words
	return true
}

// each calls f with the place of each bit of a hash until f returns false.
func (p *part) each(hash uint64, f func(word *uint64, bit uint64) bool) bool {
	step := hash>>32 | 1
	for range filterHashes {
		hi, lo := bits.Mul64(hash*0x9e3779b97f4a7c15, uint64(len(p.words)))
		if !f(&p.words[hi], 1<<(lo>>58)) {
			return false
		}
		hash += step
	}
	return true
}

// Has reports whether a signature was added. For a few others it returns true, too.
func (f *Filter) Has(s signature.Signature) bool { return f.hasHash(xxhash.Sum64(s[:])) }

func (f *Filter) hasHash(hash uint64) bool {
	for i := range f.parts {
		if f.parts[i].each(hash, func(word *uint64, bit uint64) bool { return *word&bit != 0 }) {
			return true
		}
	}
	return false
}

// Add adds a signature. It returns false if the filter is full.
func (f *Filter) Add(s signature.Signature) bool {
	hash := xxhash.Sum64(s[:])
	if f.hasHash(hash) {
		return true
	}
	last := &f.parts[len(f.parts)-1]
	if last.left == 0 {
		if !f.grow(uint64(len(last.words)) * 2 * 64 / filterBits) {
			return false
		}
		last = &f.parts[len(f.parts)-1]
	}
	last.left--
	return last.each(hash, func(word *uint64, bit uint64) bool {
		*word |= bit
		return true
	})
}

// filterChunk is the number of words in a row of TableFilter.
const filterChunk = 4096

// Rows yields the filter as rows of TableFilter. A nil filter has none.
func (f *Filter) Rows() iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		if f == nil {
			return
		}
		for i, p := range f.parts {
			for at := 0; at < len(p.words); at += filterChunk {
				value := binary.BigEndian.AppendUint64(nil, p.left)
				for _, w := range p.words[at:min(at+filterChunk, len(p.words))] {
					value = binary.BigEndian.AppendUint64(value, w)
				}
				if !yield(extsort.Entry{Key: layout.FilterKey(i, at/filterChunk), Value: value}, nil) {
					return
				}
			}
		}
	}
}

// Read returns the filter of a database, or nil if it has none.
func Read(db *store.DB) (*Filter, error) {
	f := &Filter{}
	for r, err := range db.Table(layout.TableFilter) {
		if err != nil {
			return nil, err
		}
		v, err := r.Value()
		if err != nil {
			return nil, err
		}
		number, err := r.FilterPart()
		if err != nil || number > len(f.parts) || number < len(f.parts)-1 || len(v)%8 != 0 || len(v) < 16 {
			return nil, layout.Corrupt(r.Key())
		}
		if number == len(f.parts) {
			f.parts = append(f.parts, part{})
		}
		p := &f.parts[number]
		p.left = binary.BigEndian.Uint64(v)
		for v = v[8:]; len(v) > 0; v = v[8:] {
			p.words, f.words = append(p.words, binary.BigEndian.Uint64(v)), f.words+1
		}
	}
	if len(f.parts) == 0 {
		return nil, nil
	}
	return f, nil
}
