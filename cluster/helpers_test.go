package cluster

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
)

// Documents are named in tests: all weigh the same, so that a name earlier in
// the alphabet is a larger key.
func doc(name string) Key {
	var id ID
	copy(id[:], name)
	return NewKey(1, id)
}

func name(k Key) string {
	id := k.ID()
	return strings.TrimRight(string(id[:]), "\x00")
}

// parse reads lines "a: b c".
func parse(s string) (heads []string, members [][]string) {
	for line := range strings.Lines(s) {
		if head, rest, ok := strings.Cut(line, ":"); ok {
			heads = append(heads, strings.TrimSpace(head))
			members = append(members, strings.Fields(rest))
		}
	}
	return heads, members
}

// edgesOf reads lines "representative: members".
func edgesOf(s string) []Edge {
	var out []Edge
	heads, members := parse(s)
	for i, h := range heads {
		for _, m := range members[i] {
			out = append(out, Edge{doc(h), doc(m)})
		}
	}
	return out
}

func compareEdges(a, b Edge) int {
	if c := a.Rep.Compare(b.Rep); c != 0 {
		return c
	}
	return a.Member.Compare(b.Member)
}

func linksOf(edges []Edge) []Link {
	var out []Link
	for _, e := range edges {
		out = append(out, Link{e.Rep, e.Member})
	}
	return out
}

// each returns a sequence of values without errors.
func each[T any](s []T) iter.Seq2[T, error] { return failing(s, nil) }

// failing returns a sequence that ends with err, if there is one.
func failing[T any](s []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range s {
			if !yield(v, nil) {
				return
			}
		}
		if err != nil {
			var zero T
			yield(zero, err)
		}
	}
}

// grouped writes sorted lines "head: members".
type grouped map[string][]string

func (g grouped) add(head, member string) { g[head] = append(g[head], member) }

func (g grouped) String() string {
	var lines []string
	for head, members := range g {
		lines = append(lines, head+": "+strings.Join(slices.Compact(slices.Sorted(slices.Values(members))), " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// randomEdges makes a sorted graph of n documents, with repetitions.
func randomEdges(r *rand.Rand, n, edges int) []Edge {
	var out []Edge
	for range edges {
		a, b := r.IntN(n), r.IntN(n)
		if a != b {
			out = append(out, Edge{number3(min(a, b)), number3(max(a, b))})
		}
	}
	slices.SortFunc(out, compareEdges)
	return out
}

func number3(i int) Key { return doc(fmt.Sprintf("%03d", i)) }

// fuzzEdges makes a sorted graph of up to 32 documents of the bytes.
func fuzzEdges(b []byte) []Edge {
	var out []Edge
	for ; len(b) >= 2; b = b[2:] {
		if x, y := int(b[0]%32), int(b[1]%32); x != y {
			out = append(out, Edge{number3(min(x, y)), number3(max(x, y))})
		}
	}
	slices.SortFunc(out, compareEdges)
	return out
}

// memorySpill keeps runs in memory, counts those that are open, and fails at
// the operation number failAt, if that is not 0.
type memorySpill struct {
	writes, open, most int
	operations, failAt int
}

var errSpill = errors.New("spill failed")

func (s *memorySpill) fail() error {
	if s.operations++; s.operations == s.failAt {
		return errSpill
	}
	return nil
}

func (s *memorySpill) Write(run iter.Seq[Message]) (Run, error) {
	s.writes++
	if err := s.fail(); err != nil {
		return nil, err
	}
	messages := slices.Collect(run)
	if !slices.IsSortedFunc(messages, Message.Compare) {
		return nil, errors.New("run is not sorted")
	}
	if len(slices.Compact(slices.Clone(messages))) != len(messages) {
		return nil, errors.New("run repeats itself")
	}
	s.open++
	s.most = max(s.most, s.open)
	return &memoryRun{spill: s, messages: messages}, nil
}

type memoryRun struct {
	spill    *memorySpill
	messages []Message
	closed   bool
}

func (r *memoryRun) Next() (m Message, ok bool, err error) {
	if err := r.spill.fail(); err != nil || len(r.messages) == 0 {
		return Message{}, false, err
	}
	m, r.messages = r.messages[0], r.messages[1:]
	return m, true, nil
}

func (r *memoryRun) Close() error {
	if r.closed {
		return errors.New("run closed twice")
	}
	r.closed = true
	r.spill.open--
	return r.spill.fail()
}
