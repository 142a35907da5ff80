package pair

import (
	"encoding/binary"
	"slices"
)

// Names are the addresses and titles of the pages that have a text, as hashes. The
// zero value has no pages.
//
// A page that is captured again keeps its address or its title. On the labelled sets
// no two captures of a page differ in both, except for six pairs that are nearly equal
// (docs/verdicts.md).
type Names struct {
	addresses, titles []uint64 // sorted
	unknown           bool     // a page has no title, or there are more names than are kept
}

// maxNames is the number of different addresses, and of titles, that are kept.
const maxNames = 64

// Add adds a page. title is 0 for a page without one.
func (n *Names) Add(address, title uint64) {
	n.unknown = n.unknown || title == 0
	if !n.unknown {
		n.addresses, n.titles = insert(n.addresses, address), insert(n.titles, title)
		n.unknown = len(n.addresses) > maxNames || len(n.titles) > maxNames
	}
	if n.unknown {
		n.addresses, n.titles = nil, nil
	}
}

func insert(to []uint64, x uint64) []uint64 {
	if i, found := slices.BinarySearch(to, x); !found {
		return slices.Insert(to, i, x)
	}
	return to
}

// different reports whether the pages of n are known to be others than those of m: all
// have titles, and no address and no title is of both.
func (n Names) different(m Names) bool {
	return n.known() && m.known() && !share(n.addresses, m.addresses) && !share(n.titles, m.titles)
}

func (n Names) known() bool { return !n.unknown && len(n.addresses) > 0 }

// Append appends the names to b. Equal bytes mean equal names.
func (n Names) Append(b []byte) []byte {
	unknown := byte(0)
	if n.unknown {
		unknown = 1
	}
	b = append(b, unknown)
	for _, list := range [][]uint64{n.addresses, n.titles} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, x := range list {
			b = binary.BigEndian.AppendUint64(b, x)
		}
	}
	return b
}

func (n Names) bytes() int { return 8 * (len(n.addresses) + len(n.titles)) }

// ParseNames parses what Append wrote at the start of b, and returns the rest. ok is
// false for other bytes.
func ParseNames(b []byte) (n Names, rest []byte, ok bool) {
	if len(b) == 0 || b[0] > 1 {
		return n, nil, false
	}
	n.unknown, b = b[0] == 1, b[1:]
	for _, list := range []*[]uint64{&n.addresses, &n.titles} {
		count, used := binary.Uvarint(b)
		if used <= 0 || count > maxNames || len(b)-used < 8*int(count) {
			return n, nil, false
		}
		b = b[used:]
		for range count {
			*list = append(*list, binary.BigEndian.Uint64(b))
			b = b[8:]
		}
	}
	return n, b, true
}
