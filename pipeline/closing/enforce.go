package closing

import (
	"iter"

	"neardup/cluster"
	"neardup/cluster/judged"
	"neardup/pipeline/rows"
	"neardup/report"
)

// Enforced is the input of Enforce.
type Enforced interface {
	// Members yields the texts of a cluster.
	Members(representative rows.TextID) iter.Seq2[rows.Cluster, error]
	// Key returns the key of a text in clustering, also if it was not clustered.
	Key(rows.TextID) (cluster.Key, error)
	// Shared reports whether several pages have a text.
	Shared(rows.TextID) (bool, error)
	// Score returns the score of the first text against the second: their verdict,
	// or else the measure's scores whatever the thresholds.
	Score(text, against rows.TextID) (rows.Score, error)
}

// Moved is the output of Enforce: the clusters that it changes.
type Moved interface {
	Clusters
	// Remove takes a text out of its cluster.
	Remove(rows.Cluster) error
	// Former records the cluster that the method had put a text into; nil means
	// none.
	Former(text rows.TextID, cluster *rows.TextID) error
}

// Enforce makes clusters follow judged pairs, and returns the outcome of each pair.
// The rules are in package judged.
func Enforce(pairs []judged.Pair, from Enforced, to Moved) ([]judged.Outcome, error) {
	return judged.Enforce(pairs, &enforcer{from, to, map[rows.TextID]rows.Cluster{}})
}

// enforcer implements judged.Clusters.
type enforcer struct {
	from Enforced
	to   Moved
	rows map[rows.TextID]rows.Cluster // rows of the clusters that are being changed
}

// Of implements judged.Clusters.
func (e *enforcer) Of(t rows.TextID) (rows.TextID, bool, error) { return e.to.Of(t) }

// Texts implements judged.Clusters.
func (e *enforcer) Texts(representative rows.TextID) (out []judged.Text, err error) {
	for row, err := range e.from.Members(representative) {
		if err != nil {
			return nil, err
		}
		e.rows[row.Member] = row
		out = append(out, judged.Text{ID: row.Member, Cluster: row.Cluster, Against: row.Against})
	}
	return out, nil
}

// Key implements judged.Clusters.
func (e *enforcer) Key(t rows.TextID) (cluster.Key, error) { return e.from.Key(t) }

// Replace implements judged.Clusters. It writes only the places that changed.
func (e *enforcer) Replace(texts []judged.Text) error {
	for i, t := range texts {
		old, was := e.rows[t.ID]
		alone := t.ID == t.Cluster && (i+1 == len(texts) || texts[i+1].Cluster != t.Cluster) && (i == 0 || texts[i-1].Cluster != t.Cluster)
		if alone {
			shared, err := e.from.Shared(t.ID)
			if err != nil {
				return err
			}
			if alone = !shared; alone && !was {
				continue
			}
		}
		if was && !alone && old.Cluster == t.Cluster && old.Against == t.Against {
			continue
		}
		if err := e.replace(t, old, was, alone); err != nil {
			return err
		}
	}
	clear(e.rows)
	return e.to.Flush()
}

// replace writes the new place of a text. old is its place before, if was is set.
// alone means that it is in no cluster now.
func (e *enforcer) replace(t judged.Text, old rows.Cluster, was, alone bool) error {
	var former *rows.TextID
	if was {
		former = &old.Cluster
		if err := e.to.Remove(old); err != nil {
			return err
		}
	}
	if !was || alone || old.Cluster != t.Cluster {
		if err := e.to.Former(t.ID, former); err != nil {
			return err
		}
	}
	if alone {
		return nil
	}
	if t.ID == t.Cluster {
		return e.to.Assign(begun(t.ID))
	}
	s, err := e.score(t)
	if err != nil {
		return err
	}
	return e.to.Assign(rows.Cluster{Cluster: t.Cluster, Member: t.ID, Against: t.Against, Score: s})
}

// score returns the score of a text and the text that it is now scored against.
// This is its verdict, the inverse of the other's verdict, or, for a judged pair,
// the measure's scores whatever the thresholds.
func (e *enforcer) score(t judged.Text) (rows.Score, error) {
	if old, ok := e.rows[t.ID]; ok && old.Against == t.Against {
		return old.Score, nil
	}
	if old, ok := e.rows[t.Against]; ok && old.Against == t.ID && old.Member != t.ID {
		return old.Score.Inverse(), nil
	}
	s, err := e.from.Score(t.ID, t.Against)
	s.Relation = report.Judged
	return s, err
}
