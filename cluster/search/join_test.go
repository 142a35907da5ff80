package search_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"neardup/cluster/search"
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

// Each measure joins two collections, and names their pairs by the indexes in each.
func TestJoinOfTwoCollections(t *testing.T) {
	a := []string{"there is no such text", "the ferry leaves at noon today"}
	b := []string{"the ferry leaves at noon, today", "another one", "the ferry leaves at noon today", "a third"}
	for _, tt := range []struct {
		settings []string
		want     found
	}{
		{[]string{"measure=edit", "tokens=characters", "distance=1"}, found{{1, 0}: 1, {1, 2}: 0}},
		{[]string{"measure=hamming", "distance=2"}, found{{1, 0}: 2, {1, 2}: 0}},
		{[]string{"measure=jaccard", "threshold=0.7"}, found{{1, 0}: 5. / 7, {1, 2}: 1}},
		{[]string{"measure=overlap", "threshold=5"}, found{{1, 0}: 5, {1, 2}: 6}},
	} {
		if got := joined(t, joinOf(t, tt.settings...), 2, a, b); !maps.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.settings, got, tt.want)
		}
	}
}

// Texts meet by as many keys as the merging asks for.
func TestMeetByKeys(t *testing.T) {
	for _, tt := range []struct {
		preset   string
		settings []string
		least    int
	}{{"default", nil, 1}, {"shingling", []string{"cluster.common=3"}, 3}} {
		c, err := configs.Load(tt.preset, tt.settings)
		if err != nil {
			t.Fatal(err)
		}
		for shared := range 5 {
			m := c.NewSearch().Meet(search.Two{Shared: shared})
			if m.Least != tt.least || m.Candidates != (shared >= tt.least) {
				t.Errorf("%s: %d keys in common: %+v", tt.preset, shared, m)
			}
		}
	}
}
