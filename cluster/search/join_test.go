package search_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"neardup/configs"
)

// A join ends with its context, and emits nothing after that.
func TestJoinIsInterrupted(t *testing.T) {
	texts := slices.Repeat([]string{"all of them are alike"}, 100)
	config, err := configs.Load("ppjoin", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	emitted := 0
	_, err = config.Cluster.Join.Similar(ctx, 2, [][]string{texts}, func(int, int, float64, float64) error {
		emitted++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || emitted != 1 {
		t.Errorf("%v after %d pairs", err, emitted)
	}
}
