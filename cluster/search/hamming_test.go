package search

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"neardup/cluster"
	"neardup/signature"
)

// Of two signatures with many texts, the text with the largest key of each is paired with
// all of the other. Work for each pair of texts would take minutes.
func TestPairsOfManyTexts(t *testing.T) {
	const n = 300_000
	members := map[signature.Signature][]cluster.Key{}
	of := func(s uint64) group {
		keys := make([]cluster.Key, n)
		for i := range keys {
			keys[i][0] = byte(s)
			binary.BigEndian.PutUint32(keys[i][4:], uint32(i))
		}
		members[signature.Of(s)] = keys
		return group{signature.Of(s), keys[0], n}
	}
	a, b := of(1), of(2)
	in := Input{Members: func(s signature.Signature) ([]cluster.Key, error) { return members[s], nil }}
	pairs := 0
	out := Sink{Pair: func(x, y cluster.Key, _ float64) error {
		if pairs++; x != a.key && y != b.key {
			t.Fatal("neither is the text with the largest key")
		}
		return nil
	}}
	h := Hamming{Distance: 3, AllPairs: 50}
	if err := h.pairs(t.Context(), in, a, b, 1, out); err != nil || pairs != 2*n-1 {
		t.Errorf("%d pairs, %v", pairs, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.pairs(ctx, in, a, b, 1, out); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

// A text without a signature has no distance to another.
func TestDistance(t *testing.T) {
	one := []signature.Signature{signature.Of(6)}
	if d, ok := (Two{Signatures: [2][]signature.Signature{one, {signature.Of(5)}}}).distance(); d != 2 || !ok {
		t.Errorf("distance %d, %v", d, ok)
	}
	for _, none := range [][2][]signature.Signature{{one, nil}, {nil, one}} {
		if _, ok := (Two{Signatures: none}).distance(); ok {
			t.Errorf("%v have a distance", none)
		}
	}
}
