package dataflow

import (
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// Of sets that take much memory one goes on at a time. The others wait for it when they
// have read their first text. The results are the same.
func TestLargeSetsTakeTurns(t *testing.T) {
	defer func(n int) { smallSet = n }(smallSet)
	config := configs.Verify{Measure: configs.MeasureTLCS, Options: tlcsOptions, Closing: configs.ClosingTransitive, Contained: configs.ContainedLinks}
	j := tlcsJudge(config)
	var sets [][]cluster.Key
	texts, setOf := map[rows.TextID]string{}, map[rows.TextID]int{}
	for i := range 8 {
		keys, of := family(rand.New(rand.NewPCG(uint64(i), 30)), 80)
		for n, k := range keys {
			id := k.ID()
			id[15], id[14] = byte(i), byte(n) // in one set only
			texts[id], setOf[id] = of[k.ID()], i
			keys[n] = cluster.NewKey(k.Weight(), id)
		}
		sets = append(sets, keys)
	}
	verify := func(small int, read func(set int, text rows.TextID)) (results []SetResult) {
		smallSet = small
		cached := NewTexts(j, func(id rows.TextID) (*pair.Text, error) {
			read(setOf[id], id)
			return j.Text(texts[id], rarity.Text{}), nil
		})
		err := VerifySets(t.Context(), func(yield func([]cluster.Key, error) bool) {
			for _, s := range sets {
				if !yield(s, nil) {
					return
				}
			}
		}, cached, config, 4, nil, nil, nil, func(v VerifiedSets) error {
			results = append(results, v.Sets...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	want := verify(1<<30, func(int, rows.TextID) {})
	var mu sync.Mutex
	reads := map[int]map[rows.TextID]bool{}
	at, turns := -1, 0
	got := verify(1, func(set int, id rows.TextID) {
		mu.Lock()
		defer mu.Unlock()
		if reads[set] == nil {
			reads[set] = map[rows.TextID]bool{}
		}
		if reads[set][id] = true; len(reads[set]) == 1 || set == at {
			return
		}
		if at >= 0 && len(reads[at]) < len(sets[at]) {
			t.Errorf("set %d goes on while set %d has read %d of %d texts", set, at, len(reads[at]), len(sets[at]))
		}
		at = set
		turns++
	})
	if turns != len(sets) {
		t.Errorf("%d sets took turns, of %d", turns, len(sets))
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("sets that take turns have other results")
	}
}

// A set counts the texts of its present chunk and its index, and takes all workers once
// these are large.
func TestMemoryOfASet(t *testing.T) {
	defer func(n int) { smallSet = n }(smallSet)
	keys, texts := family(rand.New(rand.NewPCG(3, 31)), 6*chunkSize)
	large := func(small int) (is bool) {
		smallSet = small
		config := configs.Verify{Measure: configs.MeasureTLCS, Options: tlcsOptions, Closing: configs.ClosingTransitive, Contained: configs.ContainedLinks}
		j := tlcsJudge(config)
		v := &setVerifier{Judge: j, memory: &memory{room: &room{}}, config: &config, workers: j.Comparers(1),
			docs: func(id rows.TextID) (*pair.Text, error) { return j.Text(texts[id], rarity.Text{}), nil },
			all: func() []verify.Comparer {
				is = true
				return j.Comparers(2)
			}}
		if err := v.verify(t.Context(), keys); err != nil {
			t.Fatal(err)
		}
		return is
	}
	chunk, index := 0, 0
	for first := 0; first < len(keys); first += chunkSize {
		bytes := 0
		for _, k := range keys[first:min(first+chunkSize, len(keys))] {
			text := tlcsJudge(configs.Verify{Options: tlcsOptions}).Text(texts[k.ID()], rarity.Text{})
			bytes += text.Bytes()
			index += 2 * windowBytes * text.Len()
		}
		chunk = max(chunk, bytes)
	}
	for _, tt := range []struct {
		small int
		want  bool
	}{{chunk / 2, true}, {index, true}, {index + chunk, false}} { // all are in the index, beside the texts of a chunk
		if got := large(tt.small); got != tt.want {
			t.Errorf("of a chunk of %d bytes and an index of %d, with %d: large %t", chunk, index, tt.small, got)
		}
	}
}
