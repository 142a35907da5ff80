package cluster

import (
	"cmp"
	"maps"
	"slices"
	"sort"
)

// Leaves finds the documents that join a cluster only because one of its members
// contains them. Containment says less than resemblance: a short notice on a
// thousand pages must not unite these pages (the TLCS paper's second source of
// false positives). So a contained document joins one that contains it, and
// unites nothing.
//
// Leaves takes under 100 bytes for each contained document.
type Leaves struct {
	best  map[Key]Leaf
	hosts map[Key]bool
}

// Leaf is a contained document with the one that contains it.
type Leaf struct {
	Contained, Host Key
	Share           float64 // share of Contained that is in Host
	Resemblance     float64
}

// Add records that a document contains another.
func (l *Leaves) Add(leaf Leaf) {
	if l.best == nil {
		l.best, l.hosts = map[Key]Leaf{}, map[Key]bool{}
	}
	l.hosts[leaf.Host] = true
	if old, ok := l.best[leaf.Contained]; !ok ||
		cmp.Or(cmp.Compare(leaf.Share, old.Share), old.Host.Compare(leaf.Host)) > 0 {
		l.best[leaf.Contained] = leaf
	}
}

// Best returns each contained document with the document that holds the greatest
// share of it; among equals, the one with the largest key. They are sorted by Host,
// then Contained, from the largest key down.
func (l *Leaves) Best() []Leaf {
	out := slices.Collect(maps.Values(l.best))
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return cmp.Or(a.Host.Compare(b.Host), a.Contained.Compare(b.Contained)) < 0
	})
	return out
}

// All returns the leaves: those of Best that contain no other document.
func (l *Leaves) All() []Leaf {
	return slices.DeleteFunc(l.Best(), func(x Leaf) bool { return l.hosts[x.Contained] })
}
