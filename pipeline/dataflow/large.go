package dataflow

import (
	"context"
	"errors"
	"iter"

	"neardup/cluster"
	"neardup/pipeline/closing"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
)

// Large has the links of components that are too large to be partitioned, in files.
type Large struct {
	links *extsort.Sorter
	n     int64
}

// NewLarge returns a Large without links. It sorts in files of the directory dir. The
// caller closes it.
func NewLarge(dir string) *Large { return &Large{links: extsort.New(dir)} }

// Close removes the files.
func (x *Large) Close() error { return x.links.Close() }

func (x *Large) add(links ...closing.Tied) error {
	for _, l := range links {
		if err := x.links.Add(l.Row()); err != nil {
			return err
		}
		x.n++
	}
	return nil
}

// Stars makes clusters of the components by the closing rule "representative": a text
// joins the largest representative that it has a link to. So each member is verified
// against its representative, and a component of any size takes only the given memory.
// emit gets links from representatives to members, with their scores.
func (x *Large) Stars(ctx context.Context, memory cluster.Memory, counts *rows.PartitionCounts, emit func([]rows.Link) error) error {
	if x.n == 0 {
		return nil
	}
	next, stop := iter.Pull2(closing.TiedLinks(x.links.Sorted()))
	defer stop()
	scored, scoredStop := iter.Pull2(closing.TiedLinks(x.links.Sorted())) // the same links, behind
	defer scoredStop()
	l, err, more := next()
	for err == nil && more {
		component := l.Component
		links := func(yield func(cluster.Link, error) bool) {
			for ; more && err == nil && l.Component == component; l, err, more = next() {
				if !yield(cluster.Link{Leader: l.Leader, Member: l.Member}, ctx.Err()) {
					return
				}
			}
			if err != nil {
				yield(cluster.Link{}, err)
			}
		}
		closeErr := cluster.CloseRepresentative(links, memory, func(a cluster.Assignment) error {
			for {
				s, err, more := scored()
				if err == nil && !more {
					err = layout.Corrupt(a.Member[:])
				}
				if err != nil {
					return err
				}
				if s.Component == component && s.Leader == a.Cluster && s.Member == a.Member {
					return errors.Join(ctx.Err(), emit([]rows.Link{s.Link}))
				}
			}
		})
		if closeErr != nil {
			return closeErr
		}
		counts.Add(rows.PartitionCounts{Components: 1, TooLarge: 1})
	}
	return err
}
