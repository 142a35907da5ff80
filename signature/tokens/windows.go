package tokens

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// keys gives each window of Size codes a 64-bit number that identifies the codes
// exactly. Codes that fit are packed. Otherwise packed windows of as many codes as
// fit are numbered by ids, and windows of up to twice the length get the numbers of
// two overlapping ones (R. Karp, R. Miller, A. Rosenberg, Rapid identification of
// repeated patterns, STOC 1972).
type keys struct {
	codes []uint32
	width int // bits of a code in a key
	size  int // codes of a window
	gap   int // if > 0, a key is made of the numbers of the windows at i and i+gap
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

// name replaces each code by the number of the window of n codes that begins there,
// unless that extends beyond the end of its text.
func (k *keys) name(ends []int, size, n int) {
	d := newIDs(len(k.codes)/4, 0)
	names := make([]uint32, len(k.codes))
	whole := *k
	whole.size = n
	var buffer []uint64
	start := 0
	for _, end := range ends {
		buffer = whole.of(start, end, buffer)
		for i, key := range buffer {
			names[start+i] = d.take(key).id
		}
		start = end
	}
	k.codes = names
}

// of appends the keys of a text's windows to out[:0]. They are mixed, which keeps
// them distinct.
func (k *keys) of(start, end int, out []uint64) []uint64 {
	out = out[:0]
	if end-start < k.size {
		return out
	}
	codes := k.codes[start:end]
	if k.gap > 0 {
		second := codes[k.gap:]
		for i, c := range codes[:len(codes)-k.size+1] {
			out = append(out, mix(uint64(c)<<32|uint64(second[i])))
		}
		return out
	}
	mask := ^uint64(0) >> (64 - k.width*k.size)
	key := uint64(0)
	for _, c := range codes[:k.size-1] {
		key = key<<k.width | uint64(c)
	}
	for _, c := range codes[k.size-1:] {
		key = (key<<k.width | uint64(c)) & mask
		out = append(out, mix(key))
	}
	return out
}

// once remembers whether hashes came once or more often, in two bits each.
type once struct {
	words []uint64
	shift int
}

func newOnce(n int) *once {
	b := max(10, bits.Len(uint(n))+2) // 4 to 8 places per hash: at most a quarter of the lone ones go unnoticed
	return &once{make([]uint64, 1<<(b-5)), 64 - b}
}

func (o *once) add(hash uint64) {
	place := hash >> o.shift
	at, word := place&31*2, &o.words[place>>5]
	*word |= (*word&(1<<at)<<1 | 1<<at)
}

// more returns 1 if a hash is known to have come more than once, otherwise 0.
func (o *once) more(hash uint64) int {
	place := hash >> o.shift
	return int(o.words[place>>5] >> (place & 31 * 2) >> 1 & 1)
}

// several returns about how many hashes came more than once.
func (o *once) several() (n int) {
	for _, w := range o.words {
		n += bits.OnesCount64(w & 0xAAAAAAAAAAAAAAAA) // the second bits
	}
	return n
}

// windows numbers the tokens, which are the windows of Size units. If there are
// several workers, each takes the tokens whose hash begins with its bits.
func windows(u units, o Options) Records {
	if o.Size == 1 {
		return single(u, o)
	}
	k := newKeys(u, o.Size)
	alone := o.Alone && manyAlone(&k, u.ends)
	shares := make([]share, 1)
	if o.Workers > 1 && len(u.codes) > 1<<12 {
		shares = make([]share, 2)
	}
	var group sync.WaitGroup
	for i := range shares {
		shares[i].left, shares[i].part = len(shares)-1, uint64(i)
		group.Go(func() { shares[i].number(&k, u.ends, alone, o.Repeats) })
	}
	group.Wait()
	if len(shares) == 1 {
		s := shares[0]
		return Records{Tokens: s.tokens, Ends: s.ends, Alone: s.alone}
	}
	a, b := shares[0], shares[1]
	r := Records{Tokens: make([]uint32, 0, len(a.tokens)+len(b.tokens)), Ends: make([]int, len(u.ends)), Alone: a.alone}
	fromA, fromB := 0, 0
	for text := range u.ends {
		r.Tokens = append(r.Tokens, a.tokens[fromA:a.ends[text]]...)
		for _, id := range b.tokens[fromB:b.ends[text]] {
			r.Tokens = append(r.Tokens, a.distinct+id)
		}
		fromA, fromB = a.ends[text], b.ends[text]
		r.Ends[text] = len(r.Tokens)
		if alone {
			r.Alone[text] += b.alone[text]
		}
	}
	return r
}

// share is the set of tokens whose hash begins with a given bit, or of all tokens.
type share struct {
	left int // 1: tokens whose hash begins with part; 0: all
	part uint64

	tokens   []uint32
	ends     []int
	alone    []uint32
	distinct uint32
}

// keys puts a text's keys into buffer, without those outside the share. Here and
// below, a key that is left out is overwritten by the next one. This avoids a
// branch that could be mispredicted.
func (s *share) keys(k *keys, start, end int, buffer []uint64) []uint64 {
	buffer = k.of(start, end, buffer)
	if s.left == 0 {
		return buffer
	}
	n := 0
	for _, key := range buffer {
		buffer[n] = key
		n += int(key>>63 ^ s.part ^ 1)
	}
	return buffer[:n]
}

func (s *share) number(k *keys, ends []int, alone, repeats bool) {
	var buffer []uint64
	var seen *once
	if alone {
		seen = newOnce(len(k.codes) >> s.left)
		start := 0
		for _, end := range ends {
			buffer = s.keys(k, start, end, buffer)
			for _, key := range buffer {
				seen.add(key << s.left)
			}
			start = end
		}
		s.alone = make([]uint32, len(ends))
	}
	s.tokens = make([]uint32, 0, len(k.codes)>>s.left+len(k.codes)/16)
	s.ends = make([]int, len(ends))
	expected := len(k.codes) / 8 >> s.left
	if alone {
		expected = 3 * seen.several() / 2
	}
	d := newIDs(expected, s.left)
	start, touched := 0, uint64(0)
	for text, end := range ends {
		buffer = s.keys(k, start, end, buffer)
		left := buffer
		if alone {
			n := 0
			for _, key := range buffer {
				buffer[n] = key
				n += seen.more(key << s.left)
			}
			s.alone[text] = uint32(len(buffer) - n)
			left = buffer[:n]
		}
		for _, key := range left { // prefetches the memory of all slots
			touched += d.slots[key<<d.left>>d.shift].key
		}
		for _, key := range left {
			slot := d.take(key)
			if slot.text == uint32(text+1) && !repeats {
				continue
			}
			slot.text = uint32(text + 1)
			s.tokens = append(s.tokens, slot.id-1)
		}
		s.ends[text] = len(s.tokens)
		start = end
	}
	sink.Store(touched)
	s.distinct = d.n
}

// sink keeps the compiler from removing reads.
var sink atomic.Uint64

// manyAlone reports, from every 16th text, whether searching for lone tokens pays.
// More tokens are alone among those texts than among all. Of the 3-grams and
// 5-grams of English descriptions (debian-descriptions) 3% and 18% are alone, of
// those of Chinese titles (titles-zh) 73% and 94%. For the former the search costs
// more than it saves, for the latter less.
func manyAlone(k *keys, ends []int) bool {
	d := newIDs(1<<10, 0)
	tokens, start := 0, 0
	var buffer []uint64
	for text, end := range ends {
		if text%16 == 0 {
			buffer = k.of(start, end, buffer)
			for _, key := range buffer {
				d.take(key).text++
			}
			tokens += len(buffer)
		}
		start = end
	}
	alone := 0
	for _, s := range d.slots {
		if s.id > 0 && s.text == 1 {
			alone++
		}
	}
	return 2*alone > tokens
}

// single is windows for tokens of one unit. Their codes serve as IDs. Lone tokens
// cost so little here that they are listed.
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
