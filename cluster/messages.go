package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Message is what a document or cluster sends to a document with a smaller key,
// which is visited later.
type Message struct{ To, Value Key }

// Compare orders messages by To, then Value, each from the largest key to the
// smallest.
func (m Message) Compare(o Message) int {
	if c := m.To.Compare(o.To); c != 0 {
		return c
	}
	return m.Value.Compare(o.Value)
}

// Spill keeps sorted runs of messages outside memory.
type Spill interface {
	// Write stores the messages of run, each once and ascending by
	// Message.Compare, and returns a reader at the first. Earlier runs may be
	// read while run is written.
	Write(run iter.Seq[Message]) (Run, error)
}

// Run reads one run back. It is closed once, after its last message or when the
// work is broken off. Its storage is not needed after that.
type Run interface {
	Next() (m Message, ok bool, err error)
	Close() error
}

// Memory limits the messages in memory, 44 bytes each. Further ones go to Spill. At
// most 64 runs are open at a time.
type Memory struct {
	Messages int   // less than 1 counts as 1
	Spill    Spill // nil: all messages stay in memory
}

const (
	maxRuns  = 64
	inMemory = -1
)

// entry is a message in memory or the head of a run.
type entry struct {
	Message
	run int32 // index into runs, or inMemory
}

func (e *entry) before(o *entry) bool {
	// The first bytes nearly always decide.
	if x, y := binary.BigEndian.Uint64(e.To[:]), binary.BigEndian.Uint64(o.To[:]); x != y {
		return x < y
	}
	return e.Compare(o.Message) < 0
}

// queue is an external priority queue. Messages in memory and the heads of runs
// share one binary heap. If there are too many messages in memory, they become a
// run. If there are too many runs, the whole queue becomes one. After an error the
// queue can only be closed.
type queue struct {
	memory Memory
	heap   []entry
	runs   []Run // nil where one has ended
	open   int   // runs that have not ended, each with its head in heap
}

func newQueue(m Memory) *queue {
	m.Messages = max(1, m.Messages)
	return &queue{memory: m}
}

func (q *queue) push(m Message) error {
	if q.memory.Spill != nil && len(q.heap)-q.open >= q.memory.Messages {
		if err := q.spill(); err != nil {
			return err
		}
	}
	q.add(entry{m, inMemory})
	return nil
}

// next returns the key that the smallest message goes to.
func (q *queue) next() (to Key, ok bool) {
	if len(q.heap) == 0 {
		return Key{}, false
	}
	return q.heap[0].To, true
}

// take removes all messages to the next key and returns the first, which has the
// largest value. The queue must not be empty.
func (q *queue) take() (Message, error) {
	first, err := q.pop()
	for err == nil && len(q.heap) > 0 && q.heap[0].To == first.To {
		_, err = q.pop()
	}
	return first, err
}

// pop removes the smallest message. The queue must not be empty.
func (q *queue) pop() (Message, error) {
	top := q.heap[0]
	if top.run != inMemory {
		m, ok, err := q.runs[top.run].Next()
		switch {
		case err != nil:
			return Message{}, fmt.Errorf("cluster: read spilled messages: %w", err)
		case ok && m.Compare(top.Message) <= 0:
			return Message{}, errors.New("cluster: spilled messages came back out of order")
		case ok:
			q.heap[0].Message = m
			q.down(0)
			return top.Message, nil
		}
		if err := q.end(top.run); err != nil {
			return Message{}, err
		}
	}
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	if last > 1 {
		q.down(0)
	}
	return top.Message, nil
}

// spill writes the messages in memory as one run.
func (q *queue) spill() error {
	if q.open >= maxRuns {
		return q.compact()
	}
	heads := 0
	for i := range q.heap {
		if q.heap[i].run != inMemory {
			q.heap[heads], q.heap[i] = q.heap[i], q.heap[heads]
			heads++
		}
	}
	out := q.heap[heads:]
	slices.SortFunc(out, func(a, b entry) int { return a.Compare(b.Message) })
	run, err := q.memory.Spill.Write(func(yield func(Message) bool) {
		for i := range out {
			if (i == 0 || out[i].Message != out[i-1].Message) && !yield(out[i].Message) {
				return
			}
		}
	})
	if err != nil {
		return fmt.Errorf("cluster: spill messages: %w", err)
	}
	q.heap = q.heap[:heads]
	slices.SortFunc(q.heap, func(a, b entry) int { return a.Compare(b.Message) }) // sorted is a heap
	return q.start(run)
}

// compact writes all messages, including those of the runs, as one run.
func (q *queue) compact() error {
	var failed error
	run, err := q.memory.Spill.Write(func(yield func(Message) bool) {
		var last Message
		for first := true; len(q.heap) > 0; first = false {
			m, err := q.pop()
			if err != nil {
				failed = err
				return
			}
			if (first || m != last) && !yield(m) {
				return
			}
			last = m
		}
	})
	if err != nil {
		return fmt.Errorf("cluster: spill messages: %w", err)
	}
	if err := q.start(run); failed == nil {
		failed = err
	}
	return failed
}

// start adds a new run.
func (q *queue) start(run Run) error {
	i := slices.Index(q.runs, nil)
	if i < 0 {
		i = len(q.runs)
		q.runs = append(q.runs, nil)
	}
	q.runs[i] = run
	q.open++
	m, ok, err := run.Next()
	if err != nil {
		return fmt.Errorf("cluster: read spilled messages: %w", err)
	}
	if !ok {
		return q.end(int32(i))
	}
	q.add(entry{m, int32(i)})
	return nil
}

// end closes a run.
func (q *queue) end(i int32) error {
	run := q.runs[i]
	q.runs[i] = nil
	q.open--
	if err := run.Close(); err != nil {
		return fmt.Errorf("cluster: close spilled messages: %w", err)
	}
	return nil
}

// close closes the open runs and returns the first error.
func (q *queue) close() error {
	var first error
	for i := range q.runs {
		if q.runs[i] != nil {
			if err := q.end(int32(i)); first == nil {
				first = err
			}
		}
	}
	return first
}

func (q *queue) add(e entry) {
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
}

// down moves the entry at i down to its place in the heap.
func (q *queue) down(i int) {
	e := q.heap[i]
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			break
		}
		if child+1 < len(q.heap) && q.heap[child+1].before(&q.heap[child]) {
			child++
		}
		if !q.heap[child].before(&e) {
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	q.heap[i] = e
}
