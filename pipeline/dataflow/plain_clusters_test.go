package dataflow_test

import (
	"iter"

	"neardup/cluster"
	"neardup/pipeline/rows"
)

// verdicts implements closing.Verdicts.
type verdicts struct {
	links, parts iter.Seq2[rows.Link, error]
	shared       iter.Seq2[rows.TextID, error]
	score        func(leader, member cluster.Key) (rows.Score, error)
}

func (v verdicts) Links() iter.Seq2[rows.Link, error] { return v.links }

func (v verdicts) Parts() iter.Seq2[rows.Link, error] { return v.parts }

func (v verdicts) Shared() iter.Seq2[rows.TextID, error] { return v.shared }

func (v verdicts) Score(leader, member cluster.Key) (rows.Score, error) {
	return v.score(leader, member)
}

// enforced implements closing.Enforced.
type enforced struct {
	*clusters
	key   func(rows.TextID) cluster.Key
	on    map[rows.TextID][]rows.Occurrence
	score func(a, b rows.TextID, larger, smaller cluster.Key) (rows.Score, error)
}

func (e enforced) Members(representative rows.TextID) iter.Seq2[rows.Cluster, error] {
	return func(yield func(rows.Cluster, error) bool) {
		for _, row := range e.rows {
			if row.Cluster == representative && !yield(row, nil) {
				return
			}
		}
	}
}

func (e enforced) Key(t rows.TextID) (cluster.Key, error) { return e.key(t), nil }

func (e enforced) Shared(t rows.TextID) (bool, error) { return len(e.on[t]) > 1, nil }

func (e enforced) Score(a, b rows.TextID) (rows.Score, error) {
	larger, smaller := e.key(a), e.key(b)
	if larger.Compare(smaller) > 0 {
		larger, smaller = smaller, larger
	}
	return e.score(a, b, larger, smaller)
}

// clusters implements closing.Moved. What was changed shows only when it is flushed.
type clusters struct {
	of      map[rows.TextID]rows.TextID
	rows    map[[2]rows.TextID]rows.Cluster
	pending []func()
}

func (c *clusters) Assign(row rows.Cluster) error {
	c.pending = append(c.pending, func() {
		c.of[row.Member] = row.Cluster
		c.rows[[2]rows.TextID{row.Cluster, row.Member}] = row
	})
	return nil
}

func (c *clusters) Remove(row rows.Cluster) error {
	c.pending = append(c.pending, func() {
		delete(c.of, row.Member)
		delete(c.rows, [2]rows.TextID{row.Cluster, row.Member})
	})
	return nil
}

// Former does nothing: the stages do not read it again.
func (c *clusters) Former(rows.TextID, *rows.TextID) error { return nil }

func (c *clusters) Flush() error {
	for _, change := range c.pending {
		change()
	}
	c.pending = nil
	return nil
}

func (c *clusters) Of(t rows.TextID) (rows.TextID, bool, error) {
	representative, ok := c.of[t]
	return representative, ok, nil
}
