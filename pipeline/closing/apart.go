package closing

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"

	"neardup/cluster"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
	"neardup/report"
)

// Apart emits each text that is contained in a text of another cluster, with its
// best host: the text that holds the greatest share of it; among equals, the one
// with the largest key. They come by host, then text, from the largest key down. of
// returns the cluster of a text. near yields near pairs in any order; only those by
// containment count. Apart sorts in files of the directory dir.
func Apart(dir string, near iter.Seq2[rows.Link, error], of func(rows.TextID) (rows.TextID, bool, error), to func(rows.Contained) error) (err error) {
	byText, byHost := extsort.New(dir), extsort.New(dir)
	defer func() { err = errors.Join(err, byText.Close(), byHost.Close()) }()
	for l, err := range near {
		if err != nil {
			return err
		}
		if l.Score.Relation != report.Contained && l.Score.Relation != report.Contains {
			continue
		}
		a, in, err := of(l.Leader.ID())
		b, also, err2 := of(l.Member.ID())
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if in && also && a == b {
			continue
		}
		if err := byText.Add(hostRow(leaf(l))); err != nil {
			return err
		}
	}
	var last []byte
	for e, err := range byText.Sorted() {
		if err != nil {
			return err
		}
		text, share, host := e.Key[:cluster.KeySize], e.Key[cluster.KeySize:][:8], e.Key[cluster.KeySize+8:]
		if bytes.Equal(text, last) {
			continue // a host that is not the best
		}
		last = append(last[:0], text...)
		if err := byHost.Add(slices.Concat(host, text), slices.Concat(share, e.Value)); err != nil {
			return err
		}
	}
	for e, err := range byHost.Sorted() {
		if err != nil {
			return err
		}
		c := rows.Contained{Host: cluster.Key(e.Key).ID(), Text: cluster.Key(e.Key[cluster.KeySize:]).ID(),
			Score: rows.Score{Relation: report.Contained, Resemblance: descending(e.Value[8:]), Containment: descending(e.Value)}}
		group, in, err := of(c.Host)
		if err != nil {
			return err
		}
		if c.Group = group; !in {
			c.Group = c.Host
		}
		if c.Cluster, _, err = of(c.Text); err != nil {
			return err
		}
		if err := to(c); err != nil {
			return err
		}
	}
	return nil
}

// hostRow returns a row that sorts by text, then by the share of it from the greatest
// down, then by host.
func hostRow(l cluster.Leaf) (key, value []byte) {
	key = appendDescending(append(key, l.Contained[:]...), l.Share)
	return append(key, l.Host[:]...), appendDescending(nil, l.Resemblance)
}

// appendDescending appends a score so that bytes sort from the greatest down.
func appendDescending(b []byte, score float64) []byte {
	return binary.BigEndian.AppendUint64(b, ^math.Float64bits(score))
}

func descending(b []byte) float64 { return math.Float64frombits(^binary.BigEndian.Uint64(b)) }
