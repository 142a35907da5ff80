package cluster

import (
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// Random pushes and pops, each message to a key after the last popped as in a
// sweep, against a sorted slice.
func TestQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, limit := range []int{0, 1, 2, 7, 50} {
		spill := &memorySpill{}
		q := newQueue(Memory{Messages: limit, Spill: spill})
		var want []Message
		at := 0 // keys before it are done with
		for step := range 2000 {
			if r.IntN(5) > 0 && step < 1500 || len(want) == 0 {
				m := Message{number3(at + r.IntN(999-at)), number3(r.IntN(4))}
				if err := q.push(m); err != nil {
					t.Fatal(err)
				}
				want = append(want, m)
				continue
			}
			slices.SortFunc(want, Message.Compare)
			if to, ok := q.next(); !ok || to != want[0].To {
				t.Fatalf("next is %s, want %s", name(to), name(want[0].To))
			}
			first := want[0]
			var got Message
			var err error
			if r.IntN(2) == 0 {
				got, err = q.take()
				want = slices.DeleteFunc(want, func(m Message) bool { return m.To == first.To })
			} else {
				got, err = q.pop()
				want = want[1:]
				for len(want) > 0 && want[0] == first { // the queue may have dropped repetitions, or not
					want = want[1:]
				}
				for err == nil && len(q.heap) > 0 && q.heap[0].Message == first {
					_, err = q.pop()
				}
			}
			if err != nil || got != first {
				t.Fatalf("got %s from %s, %v; want %s from %s", name(got.To), name(got.Value), err, name(first.To), name(first.Value))
			}
			if len(q.heap)-q.open > max(1, limit) {
				t.Fatalf("%d messages in memory", len(q.heap)-q.open)
			}
		}
		if err := q.close(); err != nil || spill.open != 0 {
			t.Errorf("limit %d: %d runs left open, %v", limit, spill.open, err)
		}
		if spill.writes == 0 || spill.most > maxRuns+1 {
			t.Errorf("limit %d: %d runs written, %d open at once", limit, spill.writes, spill.most)
		}
	}
}

func TestQueueCompacts(t *testing.T) {
	spill := &memorySpill{}
	q := newQueue(Memory{Messages: 1, Spill: spill})
	for i := range 200 {
		if err := q.push(Message{To: number3(i % 100)}); err != nil { // each twice
			t.Fatal(err)
		}
	}
	if spill.open > maxRuns || q.open != spill.open {
		t.Errorf("%d runs open, the queue knows of %d", spill.open, q.open)
	}
	for i := range 100 {
		if m, err := q.take(); err != nil || m.To != number3(i) {
			t.Fatalf("%d: %s, %v", i, name(m.To), err)
		}
	}
	if _, ok := q.next(); ok || spill.open != 0 {
		t.Errorf("something is left, or %d runs are open", spill.open)
	}
}

// Wherever the spill fails, the error comes out and no run stays open.
func TestSpillErrors(t *testing.T) {
	edges := randomEdges(rand.New(rand.NewPCG(11, 12)), 60, 250)
	for what, work := range map[string]func(m Memory) error{
		"direct": func(m Memory) error {
			return MergeDirect(each(edges), m, func(Membership) error { return nil })
		},
		"following": func(m Memory) error {
			return MergeFollowing(each(edges), m, func(Membership) error { return nil })
		},
		"representative": func(m Memory) error {
			return CloseRepresentative(each(linksOf(edges)), m, func(Assignment) error { return nil })
		},
	} {
		whole := &memorySpill{}
		if err := work(Memory{Messages: 3, Spill: whole}); err != nil || whole.operations < 100 || whole.open != 0 {
			t.Fatalf("%s: %d operations, %d runs open, %v", what, whole.operations, whole.open, err)
		}
		for at := 1; at <= whole.operations; at++ {
			spill := &memorySpill{failAt: at}
			if err := work(Memory{Messages: 3, Spill: spill}); !errors.Is(err, errSpill) || spill.open != 0 {
				t.Errorf("%s: operation %d failed: %v, %d runs open", what, at, err, spill.open)
			}
		}
	}
}

// badSpill gives runs back in the wrong order.
type badSpill struct{ memorySpill }

func (s *badSpill) Write(run iter.Seq[Message]) (Run, error) {
	r, err := s.memorySpill.Write(run)
	if err == nil {
		slices.Reverse(r.(*memoryRun).messages)
	}
	return r, err
}

func TestSpillOutOfOrder(t *testing.T) {
	q := newQueue(Memory{Messages: 2, Spill: &badSpill{}})
	for i := range 3 {
		if err := q.push(Message{To: number3(i)}); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	for range 3 {
		if err == nil {
			_, err = q.pop()
		}
	}
	if err == nil {
		t.Error("no error")
	}
}
