package tokens

import "math/bits"

// ids numbers 64-bit keys from 0. The bits of the keys must be mixed.
type ids struct {
	slots []idSlot // open addressing; a power of two
	left  int      // number of leading bits that all keys share
	shift int
	n     uint32
}

type idSlot struct {
	key  uint64
	id   uint32 // plus 1; 0: empty
	text uint32 // where it was last seen
}

func newIDs(expected, left int) *ids {
	b := max(10, bits.Len(uint(expected)))
	return &ids{slots: make([]idSlot, 1<<b), left: left, shift: 64 - b}
}

// mix spreads the bits of a key and maps no two keys to one number. The constant is
// 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming 3,
// section 6.4).
func mix(key uint64) uint64 { return (key ^ key>>32) * 0x9E3779B97F4A7C15 }

// take returns the slot of a key, and adds the key if it is new.
func (d *ids) take(key uint64) *idSlot {
	mask := uint64(len(d.slots) - 1)
	i := key << d.left >> d.shift
	for ; ; i = (i + 1) & mask {
		s := &d.slots[i]
		if s.id == 0 {
			break
		}
		if s.key == key {
			return s
		}
	}
	if 2*int(d.n) >= len(d.slots) {
		d.grow()
		return d.take(key)
	}
	d.n++
	d.slots[i] = idSlot{key: key, id: d.n}
	return &d.slots[i]
}

func (d *ids) grow() {
	old := d.slots
	d.shift--
	d.slots = make([]idSlot, 2*len(old))
	mask := uint64(len(d.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := s.key << d.left >> d.shift
		for d.slots[i].id != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = s
	}
}
