package dataflow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"neardup/cluster"
	"neardup/cluster/partition"
	"neardup/configs"
	"neardup/pipeline/closing"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
)

// Component is a connected component of texts under links.
type Component struct {
	Keys   []cluster.Key // from the largest down
	Links  []partition.Link
	Scores []rows.Score // scores of the links: the text of the smaller key as seen from the other
}

// Tied is a link with the number of its component. Numbers ascend, with gaps, from
// the component with the largest key down.
type Tied struct {
	Component uint32
	rows.Link
}

// Row returns the link as a row. Rows sort by component, then as links do.
func (t Tied) Row() (key, value []byte) {
	key = binary.BigEndian.AppendUint32(nil, t.Component)
	return append(append(key, t.Leader[:]...), t.Member[:]...), layout.AppendScore(nil, t.Score)
}

// parseTied parses what Row returned.
func parseTied(e extsort.Entry) (t Tied, err error) {
	if len(e.Key) != 4+2*cluster.KeySize {
		return t, layout.Corrupt(e.Key)
	}
	t.Component = binary.BigEndian.Uint32(e.Key)
	t.Leader, t.Member = cluster.Key(e.Key[4:]), cluster.Key(e.Key[4+cluster.KeySize:])
	t.Score, err = layout.ParseScore(e.Value)
	return t, err
}

// heldLinks is how many links Components holds in memory, at under 300 bytes each. More
// are sorted in files.
var heldLinks = 1 << 17

// Components yields the components of the near pairs that link texts, by their
// largest keys, from the largest down. Pairs come by leader, then member, and are read
// once. If more than heldLinks link texts, they are read three times more, and Components
// sorts in files of the directory dir and holds one component and four bytes for each linked
// text.
func Components(dir string, near iter.Seq2[rows.Link, error], c configs.Verify) iter.Seq2[Component, error] {
	return func(yield func(Component, error) bool) {
		links, few, err := fewLinks(closing.Linking(near, c, nil))
		switch {
		case err != nil:
			yield(Component{}, err)
		case few:
			tieFew(links)
			componentsOf(withoutErrors(links))(yield)
		default:
			componentsOfMany(dir, near, c)(yield)
		}
	}
}

// fewLinks returns the links. few is false, and there are none, if they are more than heldLinks.
func fewLinks(links iter.Seq2[rows.Link, error]) (out []Tied, few bool, err error) {
	for l, err := range links {
		if n := len(out); err == nil && n > 0 && out[n-1].Leader.Compare(l.Leader) > 0 {
			err = outOfOrder(l.Leader[:])
		}
		if err != nil || len(out) == heldLinks {
			return nil, false, err
		}
		out = append(out, Tied{Link: l})
	}
	return out, true, nil
}

// tieFew sets the components of links and sorts the links by them. A component has the
// number of its first link, whose leader is its largest key.
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
		links[i].Component = forest.Of(uint32(i))
	}
	slices.SortStableFunc(links, func(a, b Tied) int { return cmp.Compare(a.Component, b.Component) })
}

func withoutErrors(links []Tied) iter.Seq2[Tied, error] {
	return func(yield func(Tied, error) bool) {
		for _, l := range links {
			if !yield(l, nil) {
				return
			}
		}
	}
}

// componentsOfMany is Components for any number of links.
func componentsOfMany(dir string, near iter.Seq2[rows.Link, error], c configs.Verify) iter.Seq2[Component, error] {
	return func(yield func(Component, error) bool) {
		sorted := extsort.New(dir)
		defer func() { _ = sorted.Close() }()
		for l, err := range Tie(dir, near, c) {
			if err == nil {
				err = sorted.Add(l.Row())
			}
			if err != nil {
				yield(Component{}, err)
				return
			}
		}
		ComponentsOf(sorted.Sorted())(yield)
	}
}

// ComponentsOf yields the components whose rows come sorted, each row once.
func ComponentsOf(sorted iter.Seq2[extsort.Entry, error]) iter.Seq2[Component, error] {
	return componentsOf(func(yield func(Tied, error) bool) {
		for e, err := range sorted {
			var l Tied
			if err == nil {
				l, err = parseTied(e)
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	})
}

// componentsOf yields the components of links that are sorted by them.
func componentsOf(sorted iter.Seq2[Tied, error]) iter.Seq2[Component, error] {
	return func(yield func(Component, error) bool) {
		var links []Tied // of one component
		for l, err := range sorted {
			if err != nil {
				yield(Component{}, err)
				return
			}
			if len(links) > 0 && links[0].Component != l.Component {
				if !yield(componentOf(links), nil) {
					return
				}
				links = links[:0]
			}
			links = append(links, l)
		}
		if len(links) > 0 {
			yield(componentOf(links), nil)
		}
	}
}

// componentOf returns the component with these links, which are sorted.
func componentOf(links []Tied) (c Component) {
	for _, l := range links {
		c.Keys = append(c.Keys, l.Leader, l.Member)
	}
	slices.SortFunc(c.Keys, cluster.Key.Compare)
	c.Keys = slices.Clip(slices.Compact(c.Keys))
	place := func(k cluster.Key) int32 {
		i, _ := slices.BinarySearchFunc(c.Keys, k, cluster.Key.Compare)
		return int32(i)
	}
	for _, l := range links {
		c.Links = append(c.Links, partition.Link{Pair: partition.Pair{A: place(l.Leader), B: place(l.Member)}, Resemblance: l.Score.Resemblance})
		c.Scores = append(c.Scores, l.Score)
	}
	return c
}

// Tie yields the near pairs that link texts, each with the number of its component.
// Pairs come by leader, then member, and are read three times. Tie sorts keys in files
// of the directory dir: a text has its place among the sorted keys as its number, and
// a component has the number of its largest key. So all that memory holds is a forest
// of these numbers.
func Tie(dir string, near iter.Seq2[rows.Link, error], c configs.Verify) iter.Seq2[Tied, error] {
	return func(yield func(Tied, error) bool) {
		keys := extsort.New(dir)
		defer func() { _ = keys.Close() }()
		links := closing.Linking(near, c, nil)
		forest, err := forestOf(dir, links, keys)
		if err != nil {
			yield(Tied{}, err)
			return
		}
		of := number(keys.Sorted())
		defer of.stop()
		for l, err := range links {
			t := Tied{Link: l}
			if err == nil {
				t.Component, err = of.key(l.Leader[:])
			}
			if err == nil {
				t.Component = forest.Of(t.Component)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// forestOf returns the components of links as sets of numbers. It adds the keys of
// their texts to keys, in whose order they have their numbers.
func forestOf(dir string, links iter.Seq2[rows.Link, error], keys *extsort.Sorter) (cluster.Disjoint, error) {
	for l, err := range links {
		if err := errors.Join(err, keys.Add(l.Leader[:], nil), keys.Add(l.Member[:], nil)); err != nil {
			return nil, err
		}
	}
	leaders := extsort.New(dir) // member → the number of its leader
	defer func() { _ = leaders.Close() }()
	of := number(keys.Sorted())
	defer of.stop()
	for l, err := range links {
		var n uint32
		if err == nil {
			n, err = of.key(l.Leader[:])
		}
		if err == nil {
			err = leaders.Add(l.Member[:], binary.BigEndian.AppendUint32(nil, n))
		}
		if err != nil {
			return nil, err
		}
	}
	n, err := of.count()
	if err != nil {
		return nil, err
	}
	forest := cluster.NewDisjoint(n)
	of = number(keys.Sorted())
	defer of.stop()
	for e, err := range leaders.Sorted() {
		var n uint32
		if err == nil {
			n, err = of.key(e.Key)
		}
		if err != nil {
			return nil, err
		}
		forest.Unite(n, binary.BigEndian.Uint32(e.Value))
	}
	return forest, nil
}

// numbered numbers sorted keys from 0.
type numbered struct {
	next func() (extsort.Entry, error, bool)
	stop func()
	at   []byte // the present key; nil before the first
	n    int64  // its number
}

func number(keys iter.Seq2[extsort.Entry, error]) *numbered {
	n := &numbered{n: -1}
	n.next, n.stop = iter.Pull2(keys)
	return n
}

// step goes to the next key.
func (n *numbered) step() (more bool, err error) {
	for {
		e, err, more := n.next()
		if err != nil || !more {
			return false, err
		}
		if n.at != nil && bytes.Equal(e.Key, n.at) {
			continue
		}
		if n.at, n.n = append(n.at[:0], e.Key...), n.n+1; n.n > math.MaxUint32 {
			return false, errors.New("more than 2^32 texts have links")
		}
		return true, nil
	}
}

// key returns the number of a key. Keys ascend from call to call.
func (n *numbered) key(k []byte) (uint32, error) {
	for !bytes.Equal(n.at, k) {
		if more, err := n.step(); err != nil || !more {
			return 0, cmp.Or(err, outOfOrder(k))
		}
	}
	return uint32(n.n), nil
}

func outOfOrder(key []byte) error { return fmt.Errorf("near pairs out of order at %x", key) }

// count returns the number of all keys.
func (n *numbered) count() (int, error) {
	for {
		if more, err := n.step(); err != nil || !more {
			return int(n.n + 1), err
		}
	}
}
