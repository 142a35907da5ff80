package closing

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"neardup/cluster"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
)

// Tied is a link with its component, which is named by its largest key.
type Tied struct {
	Component cluster.Key
	rows.Link
}

// Row returns the link as a row. Rows sort by component, from the largest key down, then
// as links do.
func (t Tied) Row() (key, value []byte) {
	return slices.Concat(t.Component[:], t.Leader[:], t.Member[:]), layout.AppendScore(nil, t.Score)
}

// parseTied parses what Row returned.
func parseTied(e extsort.Entry) (t Tied, err error) {
	if len(e.Key) != 3*cluster.KeySize {
		return t, layout.Corrupt(e.Key)
	}
	t.Component, t.Leader, t.Member = cluster.Key(e.Key), cluster.Key(e.Key[cluster.KeySize:]), cluster.Key(e.Key[2*cluster.KeySize:])
	t.Score, err = layout.ParseScore(e.Value)
	return t, err
}

// HeldLinks is how many links ByComponent holds in memory, at under 300 bytes each. More
// are sorted in files.
var HeldLinks = 1 << 17

// ByComponent yields links by their components, from the one with the largest key down,
// and those of a component by leader, then member. So they come, and are read once. If
// they are more than HeldLinks, they are read twice more, and sorted in files of the
// directory dir.
func ByComponent(dir string, links iter.Seq2[rows.Link, error]) iter.Seq2[Tied, error] {
	return func(yield func(Tied, error) bool) {
		held, few, err := fewLinks(links)
		switch {
		case err != nil:
			yield(Tied{}, err)
			return
		case few:
			tieFew(held)
			for _, l := range held {
				if !yield(l, nil) {
					return
				}
			}
			return
		}
		sorted := extsort.New(dir)
		defer func() { _ = sorted.Close() }()
		for l, err := range Tie(dir, links) {
			if err == nil {
				err = sorted.Add(l.Row())
			}
			if err != nil {
				yield(Tied{}, err)
				return
			}
		}
		TiedLinks(sorted.Sorted())(yield)
	}
}

// fewLinks returns the links. few is false, and there are none, if they are more than HeldLinks.
func fewLinks(links iter.Seq2[rows.Link, error]) (out []Tied, few bool, err error) {
	for l, err := range links {
		if n := len(out); err == nil && n > 0 && out[n-1].Leader.Compare(l.Leader) > 0 {
			err = outOfOrder(l.Leader[:])
		}
		if err != nil || len(out) == HeldLinks {
			return nil, false, err
		}
		out = append(out, Tied{Link: l})
	}
	return out, true, nil
}

// tieFew sets the components of links and sorts the links by them. The first link of a
// component has its largest key.
func tieFew(links []Tied) {
	forest := cluster.NewDisjoint(len(links))
	first := make(map[cluster.Key]uint32, len(links)) // of each text, its first link
	for i, l := range links {
		for _, k := range [2]cluster.Key{l.Leader, l.Member} {
			if at, ok := first[k]; ok {
				forest.Unite(at, uint32(i))
			} else {
				first[k] = uint32(i)
			}
		}
	}
	for i := range links {
		links[i].Component = links[forest.Of(uint32(i))].Leader
	}
	slices.SortStableFunc(links, func(a, b Tied) int { return a.Component.Compare(b.Component) })
}

// TiedLinks yields links from their rows.
func TiedLinks(sorted iter.Seq2[extsort.Entry, error]) iter.Seq2[Tied, error] {
	return func(yield func(Tied, error) bool) {
		for e, err := range sorted {
			var l Tied
			if err == nil {
				l, err = parseTied(e)
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// Tie yields links with their components, in the order of the links. These come by leader,
// then member, and are read twice. Tie sorts keys in files of the directory dir.
func Tie(dir string, links iter.Seq2[rows.Link, error]) iter.Seq2[Tied, error] {
	return func(yield func(Tied, error) bool) {
		next, stop := iter.Pull2(links)
		defer stop()
		l, err, more := next()
		stopped := errors.New("no more are wanted")
		end := cluster.Components(keysOf(links), extsort.Messages(dir), func(text, component cluster.Key) error {
			for ; more && err == nil && l.Leader == text; l, err, more = next() {
				if !yield(Tied{component, l}, nil) {
					return stopped
				}
			}
			return err
		})
		if end == nil && more {
			end = cmp.Or(err, outOfOrder(l.Leader[:]))
		}
		if end != nil && !errors.Is(end, stopped) {
			yield(Tied{}, end)
		}
	}
}

func outOfOrder(key []byte) error { return fmt.Errorf("near pairs out of order at %x", key) }
