package cluster

import (
	"fmt"
	"iter"
)

// Membership puts a document into a perhaps-similar set. The set is named by the
// representative that starts it, which is itself a member.
type Membership struct{ Set, Member Key }

// The TLCS paper, section 3.1, on merging: "The lists with the same
// representative will be merged into a single list. Then we sort all the lists
// according to their representatives in descending order. Begin from the first
// list, find the lists whose representatives exist in this list and merge them
// into it. The final lists are the perhaps-similar sets." Lists are merged, so a
// document stands in every final list that has one of its lists. Whether documents
// that arrive by merging count as existing in the list is not stated. MergeLists
// follows them and MergeDirect does not: these are the two readings.
// MergeFollowing is ours: it follows, and leaves a document only in the first of
// its final lists, so that pairs which share signatures can stand apart. None
// computes connected components: a list within reach of two sets goes only to the
// larger one.
//
// All take edges sorted by Rep, then Member, from the largest key down, and read
// them once by time-forward processing (Chiang et al., External-memory graph
// algorithms, SODA 1995): what a list learns about a smaller key waits for that
// key in a priority queue. Repeated edges are ignored. Errors of the edges, the
// spill and emit are returned wrapped.

// MergeLists merges with following. A representative starts a set if and only if
// no larger starter reaches it over edges. Otherwise its list goes to the largest
// starter that does. All documents of a list go where it goes, so two that share a
// signature are in one set. Memberships are as those of MergeDirect.
func MergeLists(edges iter.Seq2[Edge, error], memory Memory, emit func(Membership) error) error {
	emit = emitting("membership", emit)
	var set Key // set of the current list
	return sweep("edge", edges, memory, visitor{
		key: func(x, starter Key, ok bool) (Key, bool, error) {
			if set = starter; ok {
				return set, true, nil
			}
			set = x
			return set, true, emit(Membership{x, x})
		},
		member: func(m Key) error { return emit(Membership{set, m}) },
	})
}

// MergeDirect merges without following. A representative starts a set if and only
// if no larger starter has it in its own list. Otherwise its list goes to the
// largest starter that has it. Memberships of a set come scattered and may
// repeat. A document may be in several sets.
func MergeDirect(edges iter.Seq2[Edge, error], memory Memory, emit func(Membership) error) error {
	emit = emitting("membership", emit)
	var set Key // set of the current list
	return sweep("edge", edges, memory, visitor{
		key: func(x, starter Key, ok bool) (Key, bool, error) {
			if ok {
				set = starter
				return Key{}, false, nil
			}
			set = x
			return x, true, emit(Membership{x, x})
		},
		member: func(m Key) error { return emit(Membership{set, m}) },
	})
}

// MergeFollowing merges with following. Each document belongs to one set: that of
// the largest starter from which edges lead to it. Each membership comes once,
// from the largest Member down.
func MergeFollowing(edges iter.Seq2[Edge, error], memory Memory, emit func(Membership) error) error {
	emit = emitting("membership", emit)
	return sweep("edge", edges, memory, visitor{
		key: func(x, set Key, ok bool) (Key, bool, error) {
			if !ok {
				set = x
			}
			return set, true, emit(Membership{set, x})
		},
	})
}

// visitor has the functions that a sweep calls.
type visitor struct {
	// key is called once for every key that has edges to members or was sent a
	// value, from the largest down. value is the largest value sent to it; ok is
	// false if there was none. The sweep sends what key returns to x's members if
	// send is set.
	key func(x, value Key, ok bool) (sent Key, send bool, err error)
	// member, which may be nil, is called for x's members, after key(x).
	member func(m Key) error
}

// sweep goes down the keys of a graph whose edges lead from larger to smaller
// keys, and sends values along the edges.
func sweep(what string, edges iter.Seq2[Edge, error], memory Memory, v visitor) (err error) {
	q := newQueue(memory)
	defer func() {
		if closed := q.close(); err == nil {
			err = closed
		}
	}()
	var (
		rep, value  Key
		begun, send bool
	)
	for e, err := range ordered(what, edges) {
		if err != nil {
			return err
		}
		if !begun || e.Rep != rep {
			begun, rep = true, e.Rep
			to, ok := q.next()
			for ; ok && to.Compare(rep) < 0; to, ok = q.next() {
				if err := deliver(q, v); err != nil {
					return err
				}
			}
			var m Message
			if ok = ok && to == rep; ok {
				if m, err = q.take(); err != nil {
					return err
				}
			}
			if value, send, err = v.key(rep, m.Value, ok); err != nil {
				return err
			}
		}
		if v.member != nil {
			if err := v.member(e.Member); err != nil {
				return err
			}
		}
		if send {
			if err := q.push(Message{To: e.Member, Value: value}); err != nil {
				return err
			}
		}
	}
	for _, ok := q.next(); ok; _, ok = q.next() {
		if err := deliver(q, v); err != nil {
			return err
		}
	}
	return nil
}

// deliver visits the next key in the queue, which has no edges of its own.
func deliver(q *queue, v visitor) error {
	m, err := q.take()
	if err == nil {
		_, _, err = v.key(m.To, m.Value, true)
	}
	return err
}

// ordered yields edges without repetitions. It ends with an error if they are out
// of order or lead to a larger key.
func ordered(what string, edges iter.Seq2[Edge, error]) iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		var last Edge
		begun := false
		for e, err := range edges {
			order := last.Rep.Compare(e.Rep)
			if order == 0 {
				order = last.Member.Compare(e.Member)
			}
			switch {
			case err != nil:
				err = fmt.Errorf("cluster: read %ss: %w", what, err)
			case begun && order > 0:
				err = fmt.Errorf("cluster: %ss out of order: %x to %x after %x to %x", what, e.Rep, e.Member, last.Rep, last.Member)
			case e.Rep.Compare(e.Member) >= 0:
				err = fmt.Errorf("cluster: %s from %x to %x does not lead to a smaller key", what, e.Rep, e.Member)
			case begun && order == 0:
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
			begun, last = true, e
		}
	}
}
