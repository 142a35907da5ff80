package closing

import (
	"errors"
	"iter"

	"neardup/pipeline/rows"
	"neardup/report"
)

// Apart emits each text that is contained in a text of another cluster, with its
// best host: the text that holds the greatest share of it; among equals, the one
// with the largest key. They come by host, then text, from the largest key down. of
// returns the cluster of a text. near yields near pairs in any order; only those by
// containment count. Apart sorts in files of the directory dir.
func Apart(dir string, near iter.Seq2[rows.Link, error], of func(rows.TextID) (rows.TextID, bool, error), to func(rows.Contained) error) (err error) {
	hosts := newHosts(dir)
	defer func() { err = errors.Join(err, hosts.close()) }()
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
		if err := hosts.add(l); err != nil {
			return err
		}
	}
	for l, err := range hosts.best(false) {
		if err != nil {
			return err
		}
		c := rows.Contained{Host: l.host.ID(), Text: l.text.ID(), Score: rows.Score{Relation: report.Contained, Resemblance: l.resemblance, Containment: l.share}}
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
