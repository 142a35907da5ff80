package dataflow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// counting counts comparisons, or only alignments.
type counting struct {
	verify.Comparer
	n       *atomic.Int64
	aligned bool
}

func (c counting) Compare(a, b verify.Document) verify.Verdict {
	v := c.Comparer.Compare(a, b)
	if !c.aligned || v.Aligned() {
		c.n.Add(1)
	}
	return v
}

// verifiedSet verifies a set of texts, and returns the links, the comparisons and
// the counts.
func verifiedSet(t *testing.T, texts []string, maxScored, windows int) (map[[2]int]bool, int64, rows.VerifyCounts) {
	t.Helper()
	o := tlcsOptions
	o.Resemblance, o.Containment = 0.5, 0.9
	config := configs.Verify{Measure: configs.MeasureTLCS, Options: o, Closing: configs.ClosingPartition, Contained: configs.ContainedLeaf, MaxScored: maxScored}
	j := tlcsJudge(config)
	var keys []cluster.Key
	numbers := map[cluster.Key]int{}
	docs := map[rows.TextID]*pair.Text{}
	for i, s := range texts {
		id := rows.TextID{byte(i >> 8), byte(i)}
		key := cluster.NewKey(1, id) // ascending ids: from the largest key down
		docs[id], keys, numbers[key] = j.Text(s, rarity.Text{}), append(keys, key), i
	}
	var n atomic.Int64
	var workers []verify.Comparer
	for _, c := range j.Comparers(2) {
		workers = append(workers, counting{c, &n, false})
	}
	v := setVerifier{Judge: j, memory: &memory{room: &room{}}, config: &config, workers: workers, windows: windows,
		docs: func(id rows.TextID) (*pair.Text, error) { return docs[id], nil }}
	if err := v.verify(context.Background(), keys); err != nil {
		t.Fatal(err)
	}
	links := map[[2]int]bool{}
	for _, l := range v.links {
		links[[2]int{numbers[l.Leader], numbers[l.Member]}] = true
	}
	return links, n.Load(), v.counts
}

// strangeSentences are of words that are like no others.
func strangeSentences(rng *rand.Rand, n int) (out []string) {
	for range n {
		out = append(out, fmt.Sprintf("%x and %x, then %x", rng.Uint64(), rng.Uint64(), rng.Uint64()))
	}
	return out
}

// In a set of texts that share much and are not near, a text is compared with a
// bounded number of others, however many there are: the index lets all pass, since
// their sentences stand in too many of them, or has no room for them.
func TestComparisonsInASetAreLinear(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 17))
	for _, x := range []struct {
		name    string
		windows int // of the index
		text    func(n int, pool []string) string
	}{
		{"patchwork", 0, func(n int, pool []string) (s string) {
			for range 12 {
				s += pool[rng.IntN(n)] + ". "
			}
			return s
		}},
		{"strangers, the index is full", 2000, func(int, []string) string { return strings.Join(strangeSentences(rng, 6), ". ") }},
		{"long strangers, the index is full", 2000, func(int, []string) string { return strings.Join(strangeSentences(rng, 12), ". ") }},
	} {
		for _, n := range []int{200, 800} {
			pool := strangeSentences(rng, n)
			var texts []string
			for range n {
				texts = append(texts, x.text(n, pool))
			}
			const scored = 2
			_, compared, counts := verifiedSet(t, texts, scored, x.windows)
			all := int64(n * (n - 1) / 2)
			// Each text meets the leaders of before, and those of its chunk; workers
			// that share a member compare a wave more.
			if limit := int64(n * 2 * (ComparedTimes*scored + 8)); compared > limit {
				t.Errorf("%s: %d comparisons of %d texts, over %d", x.name, compared, n, limit)
			}
			if counts.Pairs+counts.OverBudget != all || counts.OverBudget == 0 {
				t.Errorf("%s: of %d pairs, %d are decided and %d over the budget", x.name, all, counts.Pairs, counts.OverBudget)
			}
		}
	}
}

// A text finds the leader that it is near among those that the index has no room
// for.
func TestLeadersBeyondTheIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 17))
	var texts []string
	const leaders, copies = 100, 50
	for range leaders {
		texts = append(texts, strings.Join(strangeSentences(rng, 8), ". "))
	}
	for i := range copies {
		sentences := strings.Split(texts[leaders-copies+i], ". ")
		sentences[7] = strangeSentences(rng, 1)[0]
		texts = append(texts, strings.Join(sentences, ". "))
	}
	links, compared, counts := verifiedSet(t, texts, 2, 3000)
	for i := range copies {
		if !links[[2]int{leaders - copies + i, leaders + i}] {
			t.Errorf("copy %d is not near its leader", i)
		}
	}
	if counts.OverBudget == 0 || compared > leaders*2*(ComparedTimes*2+8) {
		t.Errorf("%d comparisons, %d pairs over the budget", compared, counts.OverBudget)
	}
}

// Of the leaders that the index has no room for, a text is compared with those that
// may be near it by what all texts have in common, and not with the others.
func TestCommonSentencesBeyondTheIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 17))
	common := strangeSentences(rng, 3)
	page := func(sentences ...string) string { return strings.Join(append(sentences, common...), ". ") }
	o := tlcsOptions
	o.Resemblance, o.Containment = 0.5, 0.9
	j := tlcsJudge(configs.Verify{Options: o})
	var leaders []*pair.Text
	x := newIndex(j, &o, 8000, &memory{room: &room{}}, func(number int) (*pair.Text, error) { return leaders[number], nil })
	add := func(text string) (number int) {
		leaders = append(leaders, j.Text(text, rarity.Text{}))
		if err := x.add(leaders[len(leaders)-1]); err != nil {
			t.Fatal(err)
		}
		return len(leaders) - 1
	}
	for range 60 {
		add(page(strangeSentences(rng, 14)...))
	}
	own := strangeSentences(rng, 14)
	version := add(page(append(strangeSentences(rng, 1), own[1:]...)...))
	part := add(page())
	for range 60 {
		add(page(strangeSentences(rng, 14)...))
	}
	if x.len() > version {
		t.Fatalf("%d of %d texts are in the index", x.len(), len(leaders))
	}
	var b bounds
	x.bound(j.Text(page(own...), rarity.Text{}), &b)
	if b.thin.Longest(&o, b.text.Len()) == 0 {
		t.Fatal("the sample has no window of the common sentences")
	}
	if alike, till := x.alike(&b, x.len(), len(leaders)); !slices.Equal(alike, []int{version, part}) || till != len(leaders) {
		t.Errorf("compared with %v of the %d up to %d, want %d and %d", alike, len(leaders), till, version, part)
	}
}
