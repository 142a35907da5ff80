package checking

import (
	"bytes"
	"errors"

	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// signatures checks that the number of postings is the number of signatures of the
// texts.
func (c *checker) signatures() error {
	var signatures, postings int64
	for r, err := range c.w.DB.Table(layout.TableSigned) {
		if err != nil {
			return err
		}
		s, err := r.Signed()
		if err != nil {
			return err
		}
		c.Rows++
		signatures += int64(s.Signatures)
	}
	for r, err := range c.w.DB.Table(layout.TablePosting) {
		if err == nil {
			_, err = layout.ParsePostingKey(r.Key())
		}
		if err != nil {
			return err
		}
		if postings++; postings&0xffff == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
	}
	c.Rows += postings
	if s, ok, err := c.w.State(workspace.StageSign); err != nil || !ok || !s.Done {
		if err == nil {
			c.note("numbers of signatures, because signing is not done")
		}
		return err
	}
	if signatures != postings {
		c.problem("there are %d signatures, but texts were signed with %d", postings, signatures)
	}
	return nil
}

// verified checks what verify has written, if it is done: until then some of its tables
// may be of this run, and others of the run before.
func (c *checker) verified() error {
	done, err := c.done(workspace.StageVerify)
	switch {
	case err != nil:
		return err
	case !done:
		c.note("verdicts and clusters, because verifying is not done")
		return nil
	}
	if err := c.pairs(); err != nil {
		return err
	}
	return c.clusters()
}

// pairs checks that verdicts and sets can be parsed and refer to existing texts.
func (c *checker) pairs() error {
	signed := func(k rows.TextID) error {
		_, ok, err := c.w.DB.Get(layout.SignedKey(k))
		if err == nil && !ok {
			c.problem("a verdict names the text %x, which is not signed", k)
		}
		return err
	}
	for _, table := range []byte{layout.TableVerdict, layout.TableChecked, layout.TablePart} {
		for l, err := range results.ScoredPairs(c.w, table) {
			if err := errors.Join(err, c.ctx.Err()); err != nil {
				return err
			}
			c.Rows++
			if err := errors.Join(signed(l.Leader.ID()), signed(l.Member.ID())); err != nil {
				return err
			}
			if !isShare(l.Score.Resemblance) || !isShare(l.Score.Containment) {
				c.problem("the verdict on %x and %x has impossible scores", l.Leader, l.Member)
			}
		}
	}
	return nil
}

// isShare reports whether x is from 0 to 1, which NaN is not.
func isShare(x float64) bool { return x >= 0 && x <= 1 }

// clusters checks that each clustered text is in exactly one cluster, with its
// representative, and is verified against a member of it.
func (c *checker) clusters() error {
	n := int64(0)
	for r, err := range c.w.DB.Table(layout.TableCluster) {
		if err := errors.Join(err, c.ctx.Err()); err != nil {
			return err
		}
		row, err := r.Cluster()
		if err != nil {
			return err
		}
		c.Rows++
		n++
		for _, t := range []rows.TextID{row.Member, row.Against, row.Cluster} {
			in, ok, err := results.ClusterOf(c.w, t)
			if err != nil {
				return err
			}
			if !ok || in != row.Cluster {
				c.problem("the text %x of the cluster %x is not recorded in that cluster", t, row.Cluster)
			}
		}
	}
	assigned, err := c.w.DB.Count(layout.TableAssigned)
	if err == nil && assigned != n {
		c.problem("%d texts are in clusters, but clusters have %d", assigned, n)
	}
	if err != nil {
		return err
	}
	contained, hosts := int64(0), int64(0)
	for r, err := range c.w.DB.Table(layout.TableContained) {
		if err != nil {
			return err
		}
		row, err := r.Contained()
		if err != nil {
			return err
		}
		c.Rows++
		contained++
		v, ok, err := c.w.DB.Get(layout.HostKey(row.Text))
		if err != nil {
			return err
		}
		if !ok || !bytes.Equal(v, layout.HostValue(row)) {
			c.problem("the text %x is contained in another text than is recorded", row.Text)
		}
	}
	if hosts, err = c.w.DB.Count(layout.TableHost); err == nil && hosts != contained {
		c.problem("%d texts have a host, but hosts have %d", hosts, contained)
	}
	return err
}
