package sqljoin

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/cluster/ppjoin"
	"neardup/signature/tokens"
)

// The tests use the server that NEARDUP_POSTGRES names by its data source name, and
// fail if it does not answer. Without one, those of postgres are skipped.
func dsnOf(t *testing.T, engine string) string {
	t.Helper()
	switch engine {
	case "postgres":
		dsn := os.Getenv("NEARDUP_POSTGRES")
		if dsn == "" {
			t.Skip("NEARDUP_POSTGRES names no server")
		}
		return dsn
	default:
		return filepath.Join(t.TempDir(), "a database #1?.db")
	}
}

func open(t *testing.T, engine, dsn string, access Access) *Session {
	t.Helper()
	s, err := Open(context.Background(), engine, dsn, access)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// each runs a test on every engine.
func each(t *testing.T, test func(t *testing.T, engine string)) {
	for _, e := range Engines() {
		t.Run(e, func(t *testing.T) { test(t, e) })
	}
}

// every returns each way to find the pairs of o: schemes, filters and places.
func every(o ppjoin.Options) (all []Options) {
	for _, scheme := range Schemes {
		for _, algorithm := range []ppjoin.Algorithm{ppjoin.AllPairs, ppjoin.PPJoin, ppjoin.PPJoinPlus} {
			for _, verify := range Places {
				s := Options{Options: o, Scheme: scheme, Verify: verify}
				s.Algorithm = algorithm
				switch scheme {
				case Generic:
					s.Least = o.Threshold * .75
				case Longer:
					s.Extra = 2
				}
				if algorithm == ppjoin.PPJoinPlus {
					s.MaxDepth = 3
				}
				if o.Weights != nil && (scheme == Longer || algorithm == ppjoin.PPJoinPlus) || scheme == GroupBy && verify == Binary {
					continue
				}
				all = append(all, s)
			}
		}
	}
	return all
}

func byIDs(a, b ppjoin.Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) }

// expected returns the pairs of package ppjoin.
func expected(t *testing.T, o ppjoin.Options, cs []ppjoin.Collection) (pairs []ppjoin.Pair) {
	t.Helper()
	o.Algorithm, o.MaxDepth = ppjoin.PPJoinPlus, 2
	emit := func(p ppjoin.Pair) error { pairs = append(pairs, p); return nil }
	var err error
	if len(cs) == 1 {
		_, err = ppjoin.Self(context.Background(), cs[0], o, emit)
	} else {
		_, err = ppjoin.Between(context.Background(), cs[0], cs[1], o, emit)
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(pairs, byIDs)
	return pairs
}

// same compares the pairs of a join with those of package ppjoin.
func same(t *testing.T, s *Session, o Options, cs []ppjoin.Collection, want []ppjoin.Pair) Counts {
	t.Helper()
	var got []ppjoin.Pair
	counts, err := s.Find(context.Background(), o, cs, func(p ppjoin.Pair) error { got = append(got, p); return nil })
	w := o.Weights != nil
	o.Weights = nil
	if err != nil {
		t.Fatalf("%+v, weights %v: %v", o, w, err)
	}
	slices.SortFunc(got, byIDs)
	if !slices.EqualFunc(got, want, func(p, q ppjoin.Pair) bool {
		return p.A == q.A && p.B == q.B && math.Abs(p.Similarity-q.Similarity) < 1e-9*max(1, q.Similarity)
	}) {
		t.Fatalf("%+v, weights %v: %d pairs, want %d", o, w, len(got), len(want))
	}
	if counts.Pairs != int64(len(got)) || counts.Similar > counts.Suffix || counts.Suffix > counts.Candidates {
		t.Errorf("%+v: %+v of %d pairs", o, counts, len(got))
	}
	return counts
}

// family makes records of which some are changed copies of others.
func family(r *rand.Rand, n, universe, size int) (c ppjoin.Collection) {
	for i := range n {
		var s []uint32
		if i > 0 && r.IntN(2) == 0 {
			s = slices.Clone(c.Record(r.IntN(i)))
			for range r.IntN(4) {
				if len(s) > 0 && r.IntN(2) == 0 {
					s = slices.Delete(s, 0, 1)
				} else {
					s = append(s, uint32(r.IntN(universe)))
				}
			}
		} else {
			for range r.IntN(size + 1) {
				s = append(s, uint32(float64(universe)*math.Pow(r.Float64(), 3)))
			}
		}
		add(&c, s...)
	}
	return c
}

func add(c *ppjoin.Collection, tokens ...uint32) {
	c.Tokens = append(c.Tokens, tokens...)
	c.Ends = append(c.Ends, len(c.Tokens))
}

// TestEngines is the conformance suite: every engine, scheme, filter and place
// finds the pairs of package ppjoin, of one collection and of two, by every
// measure, with and without weights.
func TestEngines(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	a, b := family(r, 90, 120, 16), family(r, 50, 120, 16)
	for i := range 15 {
		add(&b, a.Record(4*i)...)
	}
	each(t, func(t *testing.T, engine string) {
		s := open(t, engine, dsnOf(t, engine), WriteTables)
		for _, cs := range [][]ppjoin.Collection{{a}, {a, b}} {
			for _, m := range []struct {
				measure    ppjoin.Measure
				thresholds []float64
			}{{ppjoin.Jaccard, []float64{.5, .8}}, {ppjoin.Cosine, []float64{.8}}, {ppjoin.Overlap, []float64{4}}} {
				for _, threshold := range m.thresholds {
					for i, weights := range []*ppjoin.Weights{nil, ppjoin.IDF(cs...)} {
						o := ppjoin.Options{Measure: m.measure, Threshold: threshold, Weights: weights}
						want := expected(t, o, cs)
						if len(want) == 0 {
							t.Fatalf("measure %d at %v, weights %d: no pairs, it tells nothing", m.measure, threshold, i)
						}
						for _, way := range every(o) {
							same(t, s, way, cs, want)
						}
					}
				}
			}
		}
	})
}

// TestSmallWeights: weights that rounding to masses changes a lot have the
// similarities of package ppjoin.
func TestSmallWeights(t *testing.T) {
	c := ppjoin.Collection{Tokens: []uint32{0, 1, 0, 0, 1, 2, 1, 2, 3, 4, 3}, Ends: []int{2, 3, 6, 8, 10, 11}}
	o := ppjoin.Options{Measure: ppjoin.Cosine, Threshold: 1e-8, Weights: ppjoin.Given([]float64{1e-7, 2e-7, 4e-7, 1e-170, 1e-170})}
	want := []ppjoin.Pair{{A: 0, B: 1, Similarity: math.Sqrt(1. / 5)}, {A: 0, B: 2, Similarity: math.Sqrt(5. / 21)}, {A: 0, B: 3, Similarity: math.Sqrt(4. / 25)},
		{A: 1, B: 2, Similarity: math.Sqrt(1. / 21)}, {A: 2, B: 3, Similarity: math.Sqrt(20. / 21)}, {A: 4, B: 5, Similarity: math.Sqrt(.5)}}
	each(t, func(t *testing.T, engine string) {
		s := open(t, engine, dsnOf(t, engine), WriteTables)
		for _, way := range every(o) {
			same(t, s, way, []ppjoin.Collection{c}, want)
		}
	})
}

// Real text: the lines of the changelog, and each with a word changed.
func TestEnginesOnText(t *testing.T) {
	page, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for line := range strings.Lines(string(page)) {
		texts = append(texts, line, strings.ReplaceAll(line, " the ", " a "))
	}
	records, err := tokens.Make(tokens.Options{Unit: tokens.Characters, Size: 3}, texts)
	if err != nil {
		t.Fatal(err)
	}
	cs := []ppjoin.Collection{ppjoin.Collection(records[0])}
	each(t, func(t *testing.T, engine string) {
		s := open(t, engine, dsnOf(t, engine), WriteTables)
		for _, weights := range []*ppjoin.Weights{nil, ppjoin.IDF(cs...)} {
			o := ppjoin.Options{Threshold: .8, Weights: weights}
			want := expected(t, o, cs)
			if len(want) < 20 {
				t.Fatalf("%d pairs tell nothing", len(want))
			}
			for _, way := range []Options{{Options: o, Scheme: Prefix, Verify: Database}, {Options: o, Scheme: Generic, Least: .6, Verify: Binary}} {
				same(t, s, way, cs, want)
			}
		}
	})
}

// TestFilters: the positional and the suffix filter remove candidates, in the
// database as many as outside, and longer prefixes do.
func TestFilters(t *testing.T) {
	c := []ppjoin.Collection{family(rand.New(rand.NewPCG(23, 24)), 400, 150, 30)}
	o := ppjoin.Options{Threshold: .7}
	want := expected(t, o, c)
	each(t, func(t *testing.T, engine string) {
		s := open(t, engine, dsnOf(t, engine), WriteTables)
		counts := map[string]Counts{}
		for _, way := range every(o) {
			counts[fmt.Sprint(way.Scheme, way.Algorithm, way.Verify)] = same(t, s, way, c, want)
		}
		of := func(scheme Scheme, a ppjoin.Algorithm) Counts {
			x, y := counts[fmt.Sprint(scheme, a, Database)], counts[fmt.Sprint(scheme, a, Binary)]
			if scheme != GroupBy && (x.Candidates != y.Candidates || x.Suffix != y.Suffix || x.Similar != y.Similar) {
				t.Errorf("%s, algorithm %d: in the database %+v, outside %+v", scheme, a, x, y)
			}
			return x
		}
		for _, scheme := range Schemes {
			all, positional, suffix := of(scheme, ppjoin.AllPairs), of(scheme, ppjoin.PPJoin), of(scheme, ppjoin.PPJoinPlus)
			if all.Candidates <= positional.Candidates || positional.Candidates != suffix.Candidates || suffix.Suffix >= suffix.Candidates {
				t.Errorf("%s: All-Pairs %+v, ppjoin %+v, ppjoin+ %+v", scheme, all, positional, suffix)
			}
		}
		prefix, generic, longer := of(Prefix, ppjoin.PPJoin), of(Generic, ppjoin.PPJoin), of(Longer, ppjoin.PPJoin)
		if prefix.Candidates != generic.Candidates || prefix.Prefixes >= generic.Prefixes || prefix.Prefixes >= longer.Prefixes ||
			prefix.Candidates <= longer.Candidates {
			t.Errorf("prefix %+v, generic %+v, longer %+v", prefix, generic, longer)
		}
	})
}

// TestSuffixFunction: the suffix filter of a database is algorithm 3 of package
// ppjoin.
func TestSuffixFunction(t *testing.T) {
	each(t, func(t *testing.T, engine string) {
		s := open(t, engine, dsnOf(t, engine), WriteTables)
		r := rand.New(rand.NewPCG(25, 26))
		if err := s.exec(context.Background(), "CREATE TEMP TABLE test_sets (x "+s.e.tokens+", y "+s.e.tokens+", most INTEGER, depth INTEGER, want INTEGER)"); err != nil {
			t.Fatal(err)
		}
		if err := s.e.load(context.Background(), s.c, "test_sets", []string{"x", "y", "most", "depth", "want"}, func(yield func([]any) bool) {
			for range 2000 {
				var sets [2][]uint32
				for i := range sets {
					for v := range uint32(30) {
						if r.IntN(3) == 0 {
							sets[i] = append(sets[i], v)
						}
					}
				}
				most, depth := r.IntN(24), r.IntN(6)
				want := ppjoin.SuffixDistance(sets[0], sets[1], most, depth)
				if !yield([]any{s.e.vector(sets[0]), s.e.vector(sets[1]), int64(most), int64(depth), int64(want)}) {
					return
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		var rows, wrong int
		if err := s.c.QueryRowContext(context.Background(), "SELECT COUNT(*), COALESCE(SUM(CASE WHEN "+s.e.suffix+"(x, y, most, depth) = want THEN 0 ELSE 1 END), 0) FROM test_sets").Scan(&rows, &wrong); err != nil {
			t.Fatal(err)
		}
		if rows != 2000 || wrong > 0 {
			t.Errorf("%d of %d distances differ", wrong, rows)
		}
	})
}
