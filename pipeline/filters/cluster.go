package filters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"neardup/cluster"
	"neardup/cluster/search"
	"neardup/configs"
	"neardup/pipeline/blocks"
	"neardup/pipeline/extsort"
	"neardup/signature"
)

// lists makes the edges of signature lists.
func (t *task) lists() error {
	pages := pageLists{limit: t.Config.Cluster.MaxList + 1, of: map[cluster.Key][]cluster.Page{}}
	mapper, ok := t.Config.NewSearch().(search.Mapper)
	if !ok {
		return errors.New("the search reads no signatures")
	}
	var counts search.Counts
	in := search.Input{
		Postings: pages.follow(t.rows(blocks.Postings)),
		Concentrated: func(members []cluster.Key) (bool, error) {
			var all []cluster.Page
			for _, k := range members {
				all = append(all, pages.of[k]...)
			}
			k := t.Config.Cluster
			return cluster.Concentrated(all, k.SiteList, k.SiteShare, k.Sites), nil
		},
	}
	err := mapper.Map(in, search.RowSink{
		Row:   func(row []byte) error { return t.out.PutTo(blocks.Edges, t.edgeTarget(row), row, nil) },
		Whole: func(signature.Signature) error { return nil },
	}, &counts)
	return errors.Join(err, t.count(counts))
}

// edgeTarget returns the partition of an edge. Lists are merged by one task. Pairs are
// counted by their larger key.
func (t *task) edgeTarget(row []byte) uint32 {
	if t.Config.Pairs() {
		return blocks.Edges.Target(row, t.Partitions)
	}
	return 0
}

// pageLists has the pages of the members of the list that postings are read of.
type pageLists struct {
	limit int // members
	of    map[cluster.Key][]cluster.Page
}

// follow yields postings. While one is yielded that begins a list, the members are
// still those of the list before, which ends then.
func (s *pageLists) follow(postings iter.Seq2[extsort.Entry, error]) iter.Seq2[cluster.Posting, error] {
	return func(yield func(cluster.Posting, error) bool) {
		var list signature.Signature
		for e, err := range postings {
			var p cluster.Posting
			var pages []cluster.Page
			if err == nil {
				p = cluster.Posting{Signature: signature.Signature(e.Key), Key: cluster.Key(e.Key[len(list):])}
				for b := e.Value; len(b) >= 16; b = b[16:] {
					pages = append(pages, cluster.Page{Site: binary.BigEndian.Uint64(b), Address: binary.BigEndian.Uint64(b[8:])})
				}
			}
			if !yield(p, err) || err != nil {
				return
			}
			if p.Signature != list {
				list = p.Signature
				clear(s.of)
			}
			if len(pages) > 0 && len(s.of) < s.limit {
				s.of[p.Key] = pages
			}
		}
	}
}

// sets makes perhaps-similar sets, or candidate pairs, and says which partition
// compares each text.
func (t *task) sets() error {
	edges := func(yield func([]byte, error) bool) {
		for e, err := range t.rows(blocks.Edges) {
			if !yield(e.Key, err) || err != nil {
				return
			}
		}
	}
	add := func(set, member cluster.Key) error {
		target := blocks.Sets.Target(set[:], t.Partitions)
		return errors.Join(t.out.PutTo(blocks.Sets, target, slices.Concat(set[:], member[:]), nil), t.compares(target, member))
	}
	left := t.Config.Cluster.MaxPairs
	var counts search.Counts
	err := t.Config.NewSearch().Find(t.ctx, search.Input{Rows: edges, Memory: extsort.Messages(t.Temp), Workers: t.Workers}, search.Sink{
		Member: func(m cluster.Membership) error { return add(m.Set, m.Member) },
		Pair: func(a, b cluster.Key, _ float64) error {
			if left--; left < 0 {
				return overPairs(t.Config)
			}
			if a.Compare(b) > 0 {
				a, b = b, a
			}
			return errors.Join(add(a, a), add(a, b))
		},
	}, &counts)
	return errors.Join(err, t.count(counts))
}

// overPairs returns the error of too many candidate pairs.
func overPairs(c configs.Config) error {
	return fmt.Errorf("over %d candidate pairs in one partition: raise cluster.max_pairs, or ask for more in common", c.Cluster.MaxPairs)
}

// compares says that a partition compares a text.
func (t *task) compares(partition uint32, member cluster.Key) error {
	id := member.ID()
	return t.out.Put(blocks.Members, binary.BigEndian.AppendUint32(id[:], partition), nil)
}
