package judged

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"neardup/cluster"
)

// counted counts what is asked of a world, and fails at the question failing, if
// there is one.
type counted struct {
	*world
	asked, loaded, keys, failing int
}

var errAsked = errors.New("asked")

func (c *counted) ask() error {
	if c.asked++; c.asked == c.failing {
		return errAsked
	}
	return nil
}

func (c *counted) Of(t cluster.ID) (cluster.ID, bool, error) {
	if err := c.ask(); err != nil {
		return t, false, err
	}
	return c.world.Of(t)
}

func (c *counted) Texts(t cluster.ID) ([]Text, error) {
	if err := c.ask(); err != nil {
		return nil, err
	}
	out, err := c.world.Texts(t)
	c.loaded += len(out)
	return out, err
}

func (c *counted) Key(t cluster.ID) (cluster.Key, error) {
	if err := c.ask(); err != nil {
		return cluster.Key{}, err
	}
	c.keys++
	return c.world.Key(t)
}

func (c *counted) Replace(texts []Text) error {
	if err := c.ask(); err != nil {
		return err
	}
	return c.world.Replace(texts)
}

// Clusters in which nothing can change are not asked for their texts, and keys
// only where they decide.
func TestEnforceAsksForLittle(t *testing.T) {
	const clusters = "a b c\nd e f\ng h i j\nk l"
	for _, test := range []struct {
		pairs        string
		loaded, keys int
	}{
		{"b=c a|d d|g", 0, 0},
		{"k|a k=l", 0, 0},
		{"b|c", 3, 2},
		{"a|c", 3, 0},
		{"h=b", 7, 2},
		{"l=x", 2, 0},
		{"x=y", 0, 2},
	} {
		c := &counted{world: parse(clusters)}
		if _, err := Enforce(pairsOf(test.pairs), c); err != nil {
			t.Fatal(err)
		}
		if c.loaded != test.loaded || c.keys != test.keys || (c.loaded == 0 && c.keys == 0) != (c.replaced == 0) {
			t.Errorf("%s: %d texts, %d keys, %d times replaced", test.pairs, c.loaded, c.keys, c.replaced)
		}
	}
}

func TestEnforceErrors(t *testing.T) {
	const clusters, pairs = "a b c\nd e f", "b=e b|c x=y"
	whole := &counted{world: parse(clusters)}
	if _, err := Enforce(pairsOf(pairs), whole); err != nil {
		t.Fatal(err)
	}
	for i := range whole.asked {
		if _, err := Enforce(pairsOf(pairs), &counted{world: parse(clusters), failing: i + 1}); !errors.Is(err, errAsked) {
			t.Errorf("question %d: %v", i+1, err)
		}
	}
	for what, texts := range map[string][]Text{
		"against a text that is not there":    {{id("a"), id("a"), id("a")}, {id("b"), id("a"), id("x")}},
		"against a text of another cluster":   {{id("a"), id("a"), id("a")}, {id("b"), id("a"), id("c")}, {id("c"), id("c"), id("c")}},
		"in a cluster that is not there":      {{id("a"), id("a"), id("a")}, {id("b"), id("x"), id("a")}},
		"in a circle":                         {{id("a"), id("a"), id("a")}, {id("b"), id("a"), id("c")}, {id("c"), id("a"), id("b")}},
		"a judged text in no cluster at hand": {{id("c"), id("c"), id("c")}, {id("d"), id("c"), id("c")}},
	} {
		key := (&world{}).Key
		if _, _, err := follow(texts, pairsOf("a|b"), key); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func BenchmarkEnforce(b *testing.B) {
	const n = 100_000
	for _, shape := range []string{"star", "chain"} {
		b.Run(shape, func(b *testing.B) {
			var texts []Text
			name := func(i int) cluster.ID { return id(fmt.Sprintf("%06d", i)) }
			for i := range n {
				against := name(0)
				if shape == "chain" {
					against = name(max(0, i-1))
				}
				texts = append(texts, Text{name(i), name(0), against})
			}
			var pairs []Pair
			rng := rand.New(rand.NewPCG(35, 36))
			for range 1000 {
				pairs = append(pairs, Pair{[]cluster.ID{name(rng.IntN(n))}, []cluster.ID{name(rng.IntN(n))}, rng.IntN(2) == 0}.normal())
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := follow(texts, pairs, (&world{}).Key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
