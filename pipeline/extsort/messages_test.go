package extsort

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/cluster"
)

func TestSpilledRunsComeBackAsTheyWere(t *testing.T) {
	message := func(i int) (m cluster.Message) {
		binary.BigEndian.PutUint32(m.To[:], uint32(i))
		binary.BigEndian.PutUint32(m.Value[:], ^uint32(i))
		return m
	}
	for _, n := range []int{0, 1, 6553, 6554, 30000} { // around and over the buffer of 256 KiB
		run, err := fileSpill{t.TempDir()}.Write(func(yield func(cluster.Message) bool) {
			for i := range n {
				if !yield(message(i)) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if m, ok, err := run.Next(); err != nil || !ok || m != message(i) {
				t.Fatalf("of %d messages, %d is %v, %v, %v", n, i, m, ok, err)
			}
		}
		if _, ok, err := run.Next(); ok || err != nil {
			t.Errorf("of %d messages: one more, or %v", n, err)
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSpillGivesRunsBack(t *testing.T) {
	spill := fileSpill{t.TempDir()}
	rng := rand.New(rand.NewPCG(3, 4))
	var want []cluster.Message
	for range 5000 {
		want = append(want, cluster.Message{To: cluster.NewKey(rng.Float32(), cluster.ID{byte(rng.Int())}), Value: cluster.NewKey(1, cluster.ID{byte(rng.Int())})})
	}
	slices.SortFunc(want, func(a, b cluster.Message) int { return cmp.Or(a.To.Compare(b.To), a.Value.Compare(b.Value)) })
	run, err := spill.Write(slices.Values(want))
	if err != nil {
		t.Fatal(err)
	}
	var got []cluster.Message
	for {
		m, ok, err := run.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		got = append(got, m)
	}
	if !slices.Equal(got, want) {
		t.Error("another run came back")
	}
	if err := run.Close(); err != nil {
		t.Error(err)
	}
}
