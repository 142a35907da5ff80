package tokens

import "math/bits"

// keys gives each window of Size codes a number of 64 bits that says exactly
// which codes they are: packed where they fit. Where they do not, packed
// windows of as many as fit are named by ids, and windows of up to twice the
// length by the names of two that overlap (R. Karp, R. Miller, A. Rosenberg,
// Rapid identification of repeated patterns, STOC 1972).
type keys struct {
	codes []uint32
	width int // bits of a code in a key
	size  int // codes of a window
	gap   int // > 0: a key is the names of the windows at i and i+gap
}

func newKeys(u units, size int) keys {
	k := keys{codes: u.codes, width: bits.Len(uint(u.distinct)), size: size}
	if k.width*size <= 64 {
		return k
	}
	packed := max(1, 64/k.width)
	if packed > 1 {
		k.name(u.ends, size, packed)
	}
	for k.gap = packed; 2*packed < size; packed, k.gap = 2*packed, 2*packed {
		k.name(u.ends, size, 2*packed)
	}
	k.gap = size - packed
	return k
}

// name puts in the place of each code the name of the window of n that begins
// there, unless it reaches over its text's end.
func (k *keys) name(ends []int, size, n int) {
	d := newIDs(len(k.codes) / 4)
	names := make([]uint32, len(k.codes))
	whole := *k
	whole.size = n
	start := 0
	for _, end := range ends {
		whole.each(start, end, func(i int, key uint64) { names[i] = d.take(key, mix(key)).id })
		start = end
	}
	k.codes = names
}

// each calls f with the windows of a text.
func (k *keys) each(start, end int, f func(i int, key uint64)) {
	if k.gap > 0 {
		for i := start; i+k.size <= end; i++ {
			f(i, uint64(k.codes[i])<<32|uint64(k.codes[i+k.gap]))
		}
		return
	}
	mask := uint64(1)<<(k.width*k.size) - 1
	if k.width*k.size == 64 {
		mask = ^uint64(0)
	}
	key := uint64(0)
	for i := start; i < end; i++ {
		key = (key<<k.width | uint64(k.codes[i])) & mask
		if first := i + 1 - k.size; first >= start {
			f(first, key)
		}
	}
}

// once remembers of hashes whether they came once or oftener: two bits each.
type once struct {
	words []uint64
	shift int
}

func newOnce(n int) *once {
	b := max(10, bits.Len(uint(n))+2) // 4 to 8 places a hash: at most a quarter of the lone ones go unnoticed
	return &once{make([]uint64, 1<<(b-5)), 64 - b}
}

func (o *once) add(hash uint64) {
	place := hash >> o.shift
	at, word := place&31*2, &o.words[place>>5]
	*word |= (*word&(1<<at)<<1 | 1<<at)
}

func (o *once) alone(hash uint64) bool {
	place := hash >> o.shift
	return o.words[place>>5]>>(place&31*2)&2 == 0
}

// windows numbers the tokens: the windows of Size units.
func windows(u units, o Options) Records {
	if o.Size == 1 {
		return single(u, o)
	}
	k := newKeys(u, o.Size)
	r := Records{Ends: make([]int, len(u.ends))}
	var seen *once
	listed := len(u.codes)
	if o.Alone {
		seen = newOnce(len(u.codes))
		start := 0
		for _, end := range u.ends {
			k.each(start, end, func(_ int, key uint64) { seen.add(mix(key)) })
			start = end
		}
		r.Alone = make([]uint32, len(u.ends))
	}
	r.Tokens = make([]uint32, 0, listed)
	d := newIDs(listed / 4)
	start := 0
	for text, end := range u.ends {
		alone := uint32(0)
		k.each(start, end, func(_ int, key uint64) {
			h := mix(key)
			if seen != nil && seen.alone(h) {
				alone++
				return
			}
			s := d.take(key, h)
			if s.text == uint32(text+1) && !o.Repeats {
				return
			}
			s.text = uint32(text + 1)
			r.Tokens = append(r.Tokens, s.id-1)
		})
		if seen != nil {
			r.Alone[text] = alone
		}
		r.Ends[text] = len(r.Tokens)
		start = end
	}
	return r
}

// single is windows for tokens of one unit, whose codes are ids already; lone
// ones cost so little here that they are listed.
func single(u units, o Options) Records {
	r := Records{Tokens: u.codes[:0], Ends: u.ends}
	if o.Repeats {
		for i := range u.codes {
			u.codes[i]--
		}
		r.Tokens = u.codes
		return r
	}
	last := make([]uint32, u.distinct+1)
	start := 0
	for text, end := range u.ends {
		for _, c := range u.codes[start:end] {
			if last[c] != uint32(text+1) {
				last[c] = uint32(text + 1)
				r.Tokens = append(r.Tokens, c-1)
			}
		}
		start = end
		r.Ends[text] = len(r.Tokens)
	}
	return r
}
