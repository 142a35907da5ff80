package cluster

import (
	"errors"
	"iter"
)

// Components emits each document that has a link, with the largest key of its connected
// component. They come from the largest key down.
//
// It contracts the graph document by document and then goes the way back, as Sibeyn does
// (External connected components, SWAT 2004), by time-forward processing: a document
// hands its component on to the largest of its smaller neighbours, and links each of
// these to the next. So each document costs as many messages as it has neighbours left.
//
// Links have the order of CloseRepresentative and are read once. Four queues of messages
// share the memory.
func Components(links iter.Seq2[Link, error], memory Memory, emit func(document, component Key) error) (err error) {
	memory.Messages /= 4
	c := contraction{neighbours: newQueue(memory), names: newQueue(memory), handed: newQueue(memory), last: newQueue(memory)}
	defer func() {
		for _, q := range []*queue{c.neighbours, c.names, c.handed, c.last} {
			err = errors.Join(err, q.close())
		}
	}()
	if err := c.contract(links); err != nil {
		return err
	}
	out := c.neighbours // which is empty
	if err := c.expand(out); err != nil {
		return err
	}
	emitted := emitting("component", func(m Message) error { return emit(m.To, m.Value) })
	for _, ok := out.next(); ok; _, ok = out.next() {
		m, err := out.pop()
		if err == nil {
			err = emitted(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// contraction is the state of Components. On the way back the order of keys is that of
// their mirrors.
type contraction struct {
	neighbours *queue // to a document: smaller ones that it is linked to
	names      *queue // to a document: the largest keys of the components handed to it; on the way back, of its own
	handed     *queue // to a document's mirror: the mirrors of those that have handed it their components
	last       *queue // to the mirror of a document that no smaller one is linked to: the largest key of its component
}

// mirror returns the key that has the opposite place in the order of keys.
func mirror(k Key) Key {
	for i := range k {
		k[i] = ^k[i]
	}
	return k
}

// contract goes down the keys and hands each component on to its smallest document.
func (c *contraction) contract(links iter.Seq2[Link, error]) error {
	next, stop := iter.Pull2(ordered("link", edges(links)))
	defer stop()
	link, err, more := next()
	for err == nil {
		x, ok := least(c.neighbours, c.names)
		if more && (!ok || link.Rep.Compare(x) < 0) {
			x, ok = link.Rep, true
		}
		if !ok {
			return nil
		}
		name := x
		if to, ok := c.names.next(); ok && to == x {
			m, err := c.names.take()
			if err != nil {
				return err
			}
			name = m.Value
		}
		var before Key
		begun := false
		for err == nil {
			n, found := Key{}, false
			if to, ok := c.neighbours.next(); ok && to == x {
				n, found = c.neighbours.heap[0].Value, true
			}
			switch {
			case more && link.Rep == x && (!found || link.Member.Compare(n) < 0):
				n, found = link.Member, true
				link, err, more = next()
			case found:
				_, err = c.neighbours.pop()
			}
			switch {
			case err != nil || !found:
			case !begun:
				begun, before = true, n
				err = errors.Join(c.names.push(Message{To: n, Value: name}), c.handed.push(Message{To: mirror(n), Value: mirror(x)}))
			case n != before:
				err = c.neighbours.push(Message{To: before, Value: n})
				before = n
			}
			if !found {
				break
			}
		}
		if err == nil && !begun {
			err = c.last.push(Message{To: mirror(x), Value: name})
		}
	}
	return err
}

// expand goes up the keys and tells each document the largest key of its component.
func (c *contraction) expand(out *queue) error {
	for {
		x, ok := least(c.names, c.last)
		if !ok {
			return nil
		}
		from := c.last
		if to, ok := c.names.next(); ok && to == x {
			from = c.names
		}
		m, err := from.pop()
		if err == nil {
			err = out.push(Message{To: mirror(x), Value: m.Value})
		}
		for to, ok := c.handed.next(); err == nil && ok && to == x; to, ok = c.handed.next() {
			var h Message
			if h, err = c.handed.pop(); err == nil {
				err = c.names.push(Message{To: h.Value, Value: m.Value})
			}
		}
		if err != nil {
			return err
		}
	}
}

// least returns the first key that messages of two queues go to.
func least(a, b *queue) (Key, bool) {
	x, ok := a.next()
	if y, also := b.next(); also && (!ok || y.Compare(x) < 0) {
		return y, true
	}
	return x, ok
}
