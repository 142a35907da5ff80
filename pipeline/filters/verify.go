package filters

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/blocks"
	"neardup/pipeline/closing"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/verify/pair"
)

const keySize = cluster.KeySize

// texts returns the texts that the input compares.
func (t *task) texts(m *memory) (*dataflow.Texts, error) {
	table, err := t.table(t.rows(blocks.Compared))
	if err != nil {
		return nil, err
	}
	j := dataflow.Judge(t.Config)
	j.Memory = m
	return dataflow.NewTexts(j, func(id rows.TextID) (*pair.Text, error) {
		value, ok, err := table.Get(id[:])
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("no text %x among those to compare", id)
		}
		p, ok := parseCompared(id, value)
		if !ok {
			return nil, damaged(blocks.Compared, extsort.Entry{Key: id[:]})
		}
		x, err := dataflow.Prepare(t.Config, j, p.Text, p.frames.of, p.common.of)
		if err != nil {
			return nil, err
		}
		return x.Identified(id), nil
	}), nil
}

// eachSet yields the perhaps-similar sets of the input.
func (t *task) eachSet(yield func([]cluster.Key, error) bool) {
	var set []cluster.Key
	for e, err := range t.rows(blocks.Sets) {
		if err != nil {
			yield(nil, err)
			return
		}
		owner, member := cluster.Key(e.Key), cluster.Key(e.Key[keySize:])
		if len(set) > 0 && set[0] != owner {
			if !yield(set, nil) {
				return
			}
			set = nil
		}
		set = append(set, member)
	}
	if len(set) > 0 {
		yield(set, nil)
	}
}

// candidates yields the candidate pairs of the input.
func (t *task) candidates(yield func(rows.Candidate, error) bool) {
	for e, err := range t.rows(blocks.Sets) {
		var c rows.Candidate
		if err == nil {
			c.A, c.B, c.Score, err = layout.ParseSetKey(layout.RowOfEntry(layout.TableSet, e).Key())
		}
		if err == nil && c.A == c.B {
			continue
		}
		if !yield(c, err) || err != nil {
			return
		}
	}
}

// links yields the rows of a dataset of pairs.
func (t *task) links(l blocks.Layout) iter.Seq2[rows.Link, error] {
	return func(yield func(rows.Link, error) bool) {
		for e, err := range t.rows(l) {
			var x rows.Link
			if err == nil {
				x, err = link(e)
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

func link(e extsort.Entry) (x rows.Link, err error) {
	x.Leader, x.Member = cluster.Key(e.Key), cluster.Key(e.Key[keySize:])
	x.Score, err = layout.ParseScore(e.Value)
	return x, err
}

func (t *task) putLinks(l blocks.Layout, links []rows.Link) error {
	for _, x := range links {
		if err := t.out.Put(l, slices.Concat(x.Leader[:], x.Member[:]), layout.AppendScore(nil, x.Score)); err != nil {
			return err
		}
	}
	return nil
}

func (t *task) verify() error {
	m, err := t.remember()
	if err != nil {
		return err
	}
	texts, err := t.texts(m)
	if err != nil {
		return err
	}
	var counts rows.VerifyCounts
	if t.Config.Pairs() {
		none := func(func(rows.Link, error) bool) {}
		err = dataflow.VerifyPairs(t.ctx, t.candidates, none, texts, t.Config.Verify, t.Workers, func(v dataflow.VerifiedPairs) error {
			counts.Add(v.Counts)
			return t.putLinks(blocks.Verdicts, v.Links)
		})
	} else {
		err = dataflow.VerifySets(t.ctx, t.eachSet, texts, t.Config.Verify, t.Workers, nil, nil, nil, func(v dataflow.VerifiedSets) error {
			for _, r := range v.Sets {
				counts.Add(r.Counts)
				if err := t.putLinks(blocks.Verdicts, r.Links); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	return errors.Join(m.write(t), t.count(counts))
}

// scores returns the scores of a dataset of pairs, for lookups.
func (t *task) scores(l blocks.Layout) (func(leader, member cluster.Key) (rows.Score, bool, error), error) {
	table, err := t.table(t.rows(l))
	return func(leader, member cluster.Key) (s rows.Score, ok bool, err error) {
		value, ok, err := table.Get(slices.Concat(leader[:], member[:]))
		if err == nil && ok {
			s, err = layout.ParseScore(value)
		}
		return s, ok, err
	}, err
}

// components sends the links of each component to one partition, and says that this
// partition compares its texts.
func (t *task) components() error {
	for l, err := range closing.Tie(t.Temp, closing.Linking(t.links(blocks.Verdicts), t.Config.Verify)) {
		if err != nil {
			return err
		}
		key, value := l.Row()
		target := blocks.Linked.Target(key, t.Partitions)
		if err := errors.Join(t.out.PutTo(blocks.Linked, target, key, value), t.compares(target, l.Leader), t.compares(target, l.Member)); err != nil {
			return err
		}
	}
	return nil
}

func (t *task) part() error {
	m, err := t.remember()
	if err != nil {
		return err
	}
	texts, err := t.texts(m)
	if err != nil {
		return err
	}
	var counts rows.VerifyCounts
	large := dataflow.NewLarge(t.Temp)
	defer func() { _ = large.Close() }()
	err = dataflow.Part(t.ctx, dataflow.ComponentsOf(t.rows(blocks.Linked), t.Config.Verify, large), texts, t.Config.Verify, t.Workers, nil, func(v dataflow.Parted) error {
		for _, r := range v.Components {
			counts.Add(r.Counts)
			counts.Partition.Add(r.Counts.Partition)
			if err := errors.Join(t.putLinks(blocks.Checked, r.Checked()), t.putLinks(blocks.Parts, r.Parts)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = large.Stars(t.ctx, extsort.Messages(t.Temp), &counts.Partition, func(parts []rows.Link) error { return t.putLinks(blocks.Parts, parts) })
	}
	if err != nil {
		return err
	}
	return errors.Join(m.write(t), t.count(counts))
}

// checked leaves out the near pairs that have a verdict from a set. Sets may have given
// a verdict to pairs that link nothing.
func (t *task) checked() error {
	verdicts := newCursor(t.rows(blocks.Verdicts))
	defer verdicts.stop()
	for e, err := range t.rows(blocks.Checked) {
		if err != nil {
			return err
		}
		x, err := link(e)
		if err != nil {
			return err
		}
		known := false
		err = verdicts.of(e.Key, func(extsort.Entry) error {
			known = x.Score.Relation != ""
			return nil
		})
		if err == nil && !known {
			err = t.out.Put(blocks.Checked, e.Key, e.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// close makes clusters, and finds the texts that others only contain.
func (t *task) close() error {
	c := &closer{t: t, pending: extsort.New(t.Temp)}
	defer func() { _ = c.pending.Close() }()
	var err, err2 error
	c.verdicts, err = t.scores(blocks.Verdicts)
	c.checked, err2 = t.scores(blocks.Checked)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if err := closing.Close(c, t.Config.Verify, t.Temp, c); err != nil {
		return err
	}
	if t.Config.Verify.Contained != configs.ContainedApart {
		return nil
	}
	near := func(yield func(rows.Link, error) bool) {
		for _, l := range []blocks.Layout{blocks.Verdicts, blocks.Checked} {
			for x, err := range t.links(l) {
				if err == nil && x.Score.Relation == "" {
					continue
				}
				if !yield(x, err) || err != nil {
					return
				}
			}
		}
	}
	return closing.Apart(t.Temp, near, c.Of, func(x rows.Contained) error {
		err := errors.Join(t.out.Put(blocks.Contained, layout.ContainedKey(x.Group, x.Host, x.Text)[1:], layout.ContainedValue(x)),
			t.out.Put(blocks.Hosts, x.Text[:], layout.HostValue(x)))
		if x.Group == x.Host {
			err = errors.Join(err, t.out.Put(blocks.LoneHosts, x.Host[:], nil))
		}
		return err
	})
}

// closer is the input and the output of closing.Close.
type closer struct {
	t                 *task
	verdicts, checked func(leader, member cluster.Key) (rows.Score, bool, error)

	pending *extsort.Sorter  // assignments since the last Flush: text → representative
	flushed []*extsort.Table // those before
}

// Links implements closing.Verdicts.
func (c *closer) Links() iter.Seq2[rows.Link, error] { return c.t.links(blocks.Verdicts) }

// Parts implements closing.Verdicts.
func (c *closer) Parts() iter.Seq2[rows.Link, error] { return c.t.links(blocks.Parts) }

// Shared implements closing.Verdicts.
func (c *closer) Shared() iter.Seq2[rows.TextID, error] {
	return func(yield func(rows.TextID, error) bool) {
		for e, err := range c.t.rows(blocks.Shared) {
			var id rows.TextID
			copy(id[:], e.Key)
			if !yield(id, err) || err != nil {
				return
			}
		}
	}
}

// Score implements closing.Verdicts.
func (c *closer) Score(leader, member cluster.Key) (rows.Score, error) {
	s, ok, err := c.verdicts(leader, member)
	if err == nil && !ok {
		if s, ok, err = c.checked(leader, member); ok && s.Relation == "" {
			ok = false
		}
	}
	if err == nil && !ok {
		err = fmt.Errorf("no verdict on %x and %x", leader, member)
	}
	return s, err
}

// Assign implements closing.Clusters.
func (c *closer) Assign(row rows.Cluster) error {
	return errors.Join(c.pending.Add(row.Member[:], row.Cluster[:]),
		c.t.out.Put(blocks.Assigned, row.Member[:], row.Cluster[:]),
		c.t.out.Put(blocks.Clusters, slices.Concat(row.Cluster[:], row.Member[:]), layout.ClusterValue(row)))
}

// Flush implements closing.Clusters.
func (c *closer) Flush() error {
	table, err := c.t.table(c.pending.Sorted())
	if err != nil {
		return err
	}
	c.flushed = append(c.flushed, table)
	err = c.pending.Close()
	c.pending = extsort.New(c.t.Temp)
	return err
}

// Of implements closing.Clusters.
func (c *closer) Of(text rows.TextID) (representative rows.TextID, ok bool, err error) {
	for _, table := range c.flushed {
		value, ok, err := table.Get(text[:])
		if err != nil || ok {
			copy(representative[:], value)
			return representative, ok, err
		}
	}
	return representative, false, nil
}
