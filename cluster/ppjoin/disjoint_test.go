package ppjoin

import (
	"context"
	"errors"
	"testing"
)

// A search that is ended says so, though all records share a token, so that there is no
// pair to emit.
func TestDisjointEnds(t *testing.T) {
	var c Collection
	for i := range uint32(100) {
		c.Tokens = append(c.Tokens, 0, i+1)
		c.Ends = append(c.Ends, len(c.Tokens))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := disjoint(ctx, []Collection{c}, Options{Measure: Hamming, Threshold: 9}, func(Pair) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
