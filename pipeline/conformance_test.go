package pipeline_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"neardup/cluster/search"
	"neardup/configs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/signature/simhash"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// The conformance suite: what every method must keep, whatever its parts. A new
// preset is a row of promises, and nothing else here.

// promises are the shares of the pairs of near copies, near by a method's own
// measure too, which it must put into one cluster.
var promises = map[string]float64{
	"default":    0.95, // the ring promises nothing; of families a paragraph long it finds all but a few
	"paper":      0.95,
	"lcs":        0.95,
	"allpairs":   1, // exact
	"ppjoin":     1,
	"ppjoinplus": 1,
	"cosine-lsh": 0.95, // as minhash-lsh
	// It finds all pairs whose sketches reach the threshold.
	"ppjoinplus-sketches": 1,
	"simhash":             1,    // the tables find what a scan finds
	"minhash-lsh":         0.95, // what it promises at the threshold; most pairs are above
	"shingling":           0.95,
	"supershingles":       0.9, // it takes as many unchanged values of a sketch in a row as make one
	"simfinder":           0.9,
	"simhash-tuned":       1,
	"simfinder-tuned":     0.9,
	"cosine":              0.9,
}

// forMethods runs a test with each preset.
func forMethods(t *testing.T, test func(t *testing.T, c configs.Config)) {
	for _, name := range configs.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := configs.Load(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			test(t, c)
		})
	}
}

// nearBy returns the method's own word on two of the texts, by nothing but them: the
// scores that a cluster of the two must show.
func nearBy(c configs.Config, texts []string) func(i, j int) (near bool, resemblance float64) {
	judge := pair.Judge{Measure: c.NewMeasure(), Rarity: c.Verify.Rarity}
	switch {
	case judge.Measure != nil:
		comparer := judge.Comparers(1)[0]
		var docs []*pair.Text
		for _, s := range texts {
			docs = append(docs, judge.Text(s, rarity.Text{}))
		}
		return func(i, j int) (bool, float64) {
			v := judge.Decide(comparer, docs[i], docs[j])
			return v.Near, v.Resemblance
		}
	case c.Fingerprints():
		scheme := c.NewScheme()
		return func(i, j int) (bool, float64) {
			x, y := scheme.Sign(nil, texts[i]), scheme.Sign(nil, texts[j])
			if len(x) == 0 || len(y) == 0 {
				return false, 0
			}
			d := simhash.Differ(x[0].Bits(), y[0].Bits())
			return d <= c.Cluster.Hamming.Distance, 1 - float64(d)/simhash.Bits
		}
	case c.Cluster.Join.Sketch > 0: // the oracle of sketches is in cluster/search
		find := c.NewSearch().(search.Scorer)
		return func(i, j int) (bool, float64) {
			s, err := find.Score(search.Two{Texts: [2]string{texts[i], texts[j]}})
			if err != nil {
				panic(err)
			}
			return s.Near, s.Similarity
		}
	default: // the presets join by Jaccard's coefficient, or the cosine, of shingles of words
		var shingles []map[string]bool
		for _, s := range texts {
			shingles = append(shingles, slowShingles(s, c.Cluster.Join.Size))
		}
		return func(i, j int) (bool, float64) {
			x, y := shingles[i], shingles[j]
			common := 0
			for s := range x {
				if y[s] {
					common++
				}
			}
			r := float64(common) / float64(max(1, len(x)+len(y)-common))
			if c.Cluster.Join.Measure == search.JoinCosine {
				r = float64(common) / math.Sqrt(float64(max(1, len(x)*len(y))))
			}
			return r >= c.Cluster.Join.Threshold, r
		}
	}
}

// slowShingles are the shingles of n words; a word is a run of letters, marks
// and numbers, and in scripts without spaces a character.
func slowShingles(text string, n int) map[string]bool {
	var spaced strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Thai):
			spaced.WriteString(" " + string(r) + " ")
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			spaced.WriteRune(r)
		default:
			spaced.WriteRune(' ')
		}
	}
	words := strings.Fields(spaced.String())
	shingles := map[string]bool{}
	if len(words) > 0 && len(words) < n {
		shingles[strings.Join(words, " ")] = true
	}
	for i := 0; i+n <= len(words); i++ {
		shingles[strings.Join(words[i:i+n], " ")] = true
	}
	return shingles
}

// A method finds of near copies at least what it promises, and shows for each member the score that the two texts have.
func TestMethodsKeepTheirPromises(t *testing.T) {
	if pipetest.Raced {
		t.Skip("the goroutines are those of TestMethodsGiveTheSameBytes")
	}
	forMethods(t, func(t *testing.T, c configs.Config) {
		promise, ok := promises[filepath.Base(t.Name())]
		if !ok {
			t.Fatal("no promise: add a row")
		}
		texts, family := pipetest.Planted(rand.New(rand.NewPCG(7, 8)), 24)
		clusterOf, members := pipetest.ClustersOf(t, pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), c, workspace.Options{}, pipetest.WriteTexts(t, 0, texts)))
		near := nearBy(c, texts)
		pairs, found, symmetric := 0, 0, true
		for i := range texts {
			for j := range i {
				yes, r := near(i, j)
				again, back := near(j, i)
				symmetric = symmetric && yes == again && r == back
				if !yes || family[i] != family[j] {
					continue
				}
				pairs++
				if x := clusterOf[pipetest.TextURN(i)]; x != 0 && x == clusterOf[pipetest.TextURN(j)] {
					found++
				}
			}
		}
		if !symmetric {
			t.Error("the score depends on the order of the two texts")
		}
		if pairs < 20 || float64(found) < promise*float64(pairs) {
			t.Errorf("found %d of %d pairs that are near", found, pairs)
		}
		for _, m := range members {
			if m.Relation == report.Representative {
				continue
			}
			var i, j int
			if _, err := fmt.Sscanf(m.RecordID+m.VerifiedAgainst, "<urn:text:%d><urn:text:%d>", &i, &j); err != nil {
				t.Fatalf("%q, %q: %v", m.RecordID, m.VerifiedAgainst, err)
			}
			if yes, r := near(i, j); !yes || report.Score(r).String() != m.Resemblance.String() {
				t.Errorf("%d and %d are in a cluster at %v; their score is %v, near: %v", i, j, m.Resemblance, r, yes)
			}
		}
	})
}

// The same texts give the same bytes, in whatever order they come, in one go or
// in several, with any number of workers.
func TestMethodsGiveTheSameBytes(t *testing.T) {
	families := 20
	if pipetest.Raced {
		families = 12
	}
	forMethods(t, func(t *testing.T, c configs.Config) {
		rng := rand.New(rand.NewPCG(9, 10))
		texts, _ := pipetest.Planted(rng, families)
		texts = append(texts, texts[0], texts[1], "") // twice, and nothing
		half := len(texts) / 2
		a, b := pipetest.WriteTexts(t, 0, texts[:half]), pipetest.WriteTexts(t, half, texts[half:])
		want := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), c, workspace.Options{Workers: 1}, a, b)
		if !bytes.Contains(want, []byte(`"near"`)) || !bytes.Contains(want, []byte(`"identical"`)) {
			t.Fatalf("there is nothing to compare: %s", want)
		}
		check := func(what string, got []byte) {
			t.Helper()
			if !bytes.Equal(got, want) {
				t.Errorf("%s: other clusters", what)
			}
		}
		check("many workers, other order", pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), c, workspace.Options{Workers: 4, RunRows: 64}, b, a))
		later := filepath.Join(t.TempDir(), "ws")
		pipetest.RunAll(t, later, c, workspace.Options{Workers: 2}, b)
		check("one after another", pipetest.RunAll(t, later, c, workspace.Options{Workers: 2}, a))

		rounds := 3
		if testing.Short() {
			rounds = 1
		}
		for round := range rounds {
			dir := filepath.Join(t.TempDir(), "ws")
			for range 1 + round {
				pipetest.RunInterrupted(t, dir, c, 1+rng.Int64N(60), workspace.Options{Workers: 1 + rng.IntN(3), RunRows: 20 + rng.IntN(200)}, a, b)
			}
			check(fmt.Sprintf("interrupted, round %d", round), pipetest.RunAll(t, dir, c, workspace.Options{}, a, b))
		}
	})
}

// Texts that are empty, tiny, huge or strange are taken; equal ones are joined,
// and none only because they are short.
func TestMethodsTakeAnyText(t *testing.T) {
	if pipetest.Raced {
		t.Skip("the goroutines are those of TestMethodsGiveTheSameBytes")
	}
	rng := rand.New(rand.NewPCG(11, 12))
	huge := pipetest.Scripts(rng)[0](400_000)
	changed := append([]string{}, huge...)
	changed[len(changed)/2] = "Here is a sentence that was not there. "
	tiny := []string{"a", "b", "7", "42", "一", "二", "中文", "ก", "ข", "😀", "👩‍👩‍👧", "!!!", "x y", "x z", "The", "I am", "מה", "שלום"}
	texts := append(tiny[:len(tiny):len(tiny)], "",
		strings.Join(huge, ""), strings.Join(changed, ""), // a pair
		strings.Repeat("spam ", 200_000), strings.Repeat("a", 1<<20), strings.Repeat("，", 1<<18),
		strings.Repeat("eggs and spam. ", 50_000)+"\xff\xfe\x00\x01", "\xc3\x28 \xa0\xa1 \xe2\x28\xa1 \xf0\x28\x8c\x28")
	twice := pipetest.Scripts(rng)
	for _, script := range twice {
		s := strings.Join(script(30), "")
		texts = append(texts, s, s)
	}
	forMethods(t, func(t *testing.T, c configs.Config) {
		path := pipetest.WriteTexts(t, 0, texts)
		clusterOf, _ := pipetest.ClustersOf(t, pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), c, workspace.Options{Workers: 2}, path))
		of := func(i int) int { return clusterOf[pipetest.TextURN(i)] }
		if i := len(tiny) + 1; of(i) == 0 || of(i) != of(i+1) {
			t.Error("two huge texts that differ in a sentence are in no cluster")
		}
		for i := range tiny {
			for j := range i {
				if x := of(i); x != 0 && x == of(j) {
					t.Errorf("%q and %q are in one cluster", tiny[i], tiny[j])
				}
			}
		}
		for i := len(texts) - 2*len(twice); i < len(texts); i += 2 {
			if of(i) == 0 || of(i) != of(i+1) {
				t.Errorf("two equal texts are in no cluster: %.40q", texts[i])
			}
		}
	})
}
