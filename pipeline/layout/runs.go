package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"neardup/pipeline/extsort"
)

// FixedRun collects keys of one length, without an allocation for each, and sorts
// them into a run.
type FixedRun struct {
	Size    int
	Counted bool // the value of a key is how often it was added (unsigned LEB128)

	n      int
	chunks [][]byte // each but the last has chunkKeys keys, so keys never move
}

const chunkKeys = 4096

// Add adds a key, given in parts.
func (r *FixedRun) Add(parts ...[]byte) {
	if r.n/chunkKeys == len(r.chunks) {
		r.chunks = append(r.chunks, make([]byte, 0, chunkKeys*r.Size))
	}
	c := &r.chunks[r.n/chunkKeys]
	for _, p := range parts {
		*c = append(*c, p...)
	}
	r.n++
}

// Len returns the number of keys, with repeats.
func (r *FixedRun) Len() int { return r.n }

// Clear drops the keys and keeps their memory.
func (r *FixedRun) Clear() {
	for i := range r.chunks {
		r.chunks[i] = r.chunks[i][:0]
	}
	r.n = 0
}

func (r *FixedRun) key(i uint32) []byte {
	at := int(i%chunkKeys) * r.Size
	return r.chunks[i/chunkKeys][at : at+r.Size]
}

// place is the place of a key in a FixedRun. lead holds the bytes after the first,
// which is the table's. Sorting compares it as one number before it looks at whole
// keys.
type place struct {
	lead uint64
	i    uint32
}

// places are put into buckets by this many of the first bits of lead. The keys are
// digests for the most part, so a bucket has few, which are sorted faster than all.
const (
	bucketBits = 12
	buckets    = 1 << bucketBits
)

func (p place) bucket() uint64 { return p.lead >> (64 - bucketBits) }

// Sorted returns the keys, sorted and without repeats, in at most parts parts,
// which goroutines can process concurrently.
func (r *FixedRun) Sorted(parts int) []iter.Seq[extsort.Entry] {
	var starts [buckets + 1]int
	placeOf := func(i int) place {
		var b [8]byte
		copy(b[:], r.key(uint32(i))[1:])
		return place{binary.BigEndian.Uint64(b[:]), uint32(i)}
	}
	for i := range r.n {
		starts[placeOf(i).bucket()+1]++
	}
	for b := range buckets {
		starts[b+1] += starts[b]
	}
	places, next := make([]place, r.n), starts
	for i := range r.n {
		p := placeOf(i)
		places[next[p.bucket()]] = p
		next[p.bucket()]++
	}
	var out []iter.Seq[extsort.Entry]
	for from, b := 0, 1; b <= buckets; b++ {
		if to := starts[b]; to > from && (b == buckets || (to-from)*parts >= r.n) {
			out = append(out, r.part(places[from:to]))
			from = to
		}
	}
	return out
}

// part yields the keys of the places, which come by bucket, sorted and without repeats.
func (r *FixedRun) part(places []place) iter.Seq[extsort.Entry] {
	return func(yield func(extsort.Entry) bool) {
		for from := 0; from < len(places); {
			to := from + 1
			for to < len(places) && places[to].bucket() == places[from].bucket() {
				to++
			}
			slices.SortFunc(places[from:to], func(a, b place) int {
				if a.lead != b.lead {
					return cmp.Compare(a.lead, b.lead)
				}
				return bytes.Compare(r.key(a.i), r.key(b.i))
			})
			from = to
		}
		var value []byte
		for i := 0; i < len(places); {
			key, first := r.key(places[i].i), i
			for i++; i < len(places) && places[i].lead == places[first].lead && bytes.Equal(r.key(places[i].i), key); i++ {
			}
			if r.Counted {
				value = binary.AppendUvarint(value[:0], uint64(i-first))
			}
			if !yield(extsort.Entry{Key: key, Value: value}) {
				return
			}
		}
	}
}
