package stages

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"neardup/audit"
	"neardup/cluster"
	"neardup/cluster/judged"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// maxWarned is the number of pairs that a warning names because they are not
// followed.
const maxWarned = 8

// closingAgain returns the cursor of a verification that has only the closing
// to do.
func closingAgain(s workspace.StageState) (any, error) {
	at := verifyCursor{Closing: true}
	err := json.Unmarshal(s.Counts, &at.Counts)
	return at, err
}

// enforcer makes clusters follow judged pairs. It implements judged.Clusters.
type enforcer struct {
	*closer
	rows  map[rows.TextID]rows.Cluster // of the clusters that are being changed
	keyOf func() (func(cluster.Key) cluster.Key, error)
}

// enforce makes the clusters follow the pairs, and says of each what became of
// it; nil if there are none.
func (c *closer) enforce(pairs []workspace.EnforcedPair) (*report.JudgedPairs, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	states := make([]string, len(pairs))
	var texts []judged.Pair
	var places []int
	for i, p := range pairs {
		t, state, err := c.textsOf(p)
		if err != nil {
			return nil, err
		}
		if states[i] = state; state == results.PairFollowed {
			texts, places = append(texts, t), append(places, i)
		}
		if i&0xff == 0 && c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
	}
	e := &enforcer{closer: c, rows: map[rows.TextID]rows.Cluster{}, keyOf: sync.OnceValues(func() (func(cluster.Key) cluster.Key, error) { return keyOf(c.w) })}
	outcomes, err := judged.Enforce(texts, e)
	if err != nil {
		return nil, err
	}
	for i, o := range outcomes {
		switch o {
		case judged.SameText:
			states[places[i]] = results.PairSameText
		case judged.Contradicted:
			states[places[i]] = results.PairContradicted
		}
	}
	sum := &report.JudgedPairs{}
	for i, p := range pairs {
		if err := c.b.SetJSON(workspace.OutcomeKey(p.Pair), results.JudgedOutcome{Verdict: p.Verdict, State: states[i]}); err != nil {
			return nil, err
		}
		if c.b.Len() >= workspace.CommitBytes {
			if err := c.Flush(); err != nil {
				return nil, err
			}
		}
		c.count(sum, p, states[i])
	}
	return sum, c.Flush()
}

// count counts a pair, and names it if it is one of the first that are not
// followed.
func (c *closer) count(sum *report.JudgedPairs, p workspace.EnforcedPair, state string) {
	switch {
	case state == results.PairFollowed && p.Verdict == audit.True:
		sum.MustJoin++
	case state == results.PairFollowed:
		sum.MustNot++
	default:
		if sum.NotFollowed == nil {
			sum.NotFollowed = map[string]int64{}
		}
		sum.NotFollowed[state]++
		n := int64(0)
		for _, of := range sum.NotFollowed {
			n += of
		}
		if n <= maxWarned {
			c.w.Options.Progress.Warn("judged pair not followed", "reason", state, "a", results.OneLine(p.A), "b", results.OneLine(p.B))
		}
	}
}

// textsOf finds the texts of the pages of a pair; state says why it cannot be
// followed, if so.
func (c *closer) textsOf(p workspace.EnforcedPair) (out judged.Pair, state string, err error) {
	if p.Verdict == audit.Unknown {
		return out, results.PairDisagreed, nil
	}
	out.Join = p.Verdict == audit.True
	for _, page := range []struct {
		name  string
		texts *[]rows.TextID
	}{{p.A, &out.A}, {p.B, &out.B}} {
		texts, more, err := results.TextsNamed(c.w, page.name)
		switch {
		case err != nil:
			return out, "", err
		case more:
			return out, results.PairAmbiguous, nil
		case len(texts) == 0:
			return out, results.PairMissing, nil
		}
		for _, t := range texts {
			left, err := results.LeftOut(c.w, t)
			if err != nil {
				return out, "", err
			}
			if left && out.Join {
				return out, results.PairLeftOut, nil
			}
		}
		*page.texts = texts
	}
	return out, results.PairFollowed, nil
}

// Texts implements judged.Clusters.
func (e *enforcer) Texts(representative rows.TextID) (out []judged.Text, err error) {
	for r, err := range e.w.DB.Rows(store.PrefixBounds(store.Key(store.TableCluster, representative[:]))) {
		if err != nil {
			return nil, err
		}
		row, err := results.ParseClusterRow(r)
		if err != nil {
			return nil, err
		}
		e.rows[row.Member] = row
		out = append(out, judged.Text{ID: row.Member, Cluster: row.Cluster, Against: row.Against})
	}
	return out, e.ctx.Err()
}

// Key implements judged.Clusters: the key that the text would have in clustering.
func (e *enforcer) Key(t rows.TextID) (cluster.Key, error) {
	k, err := keyOfText(e.w, t)
	if err != nil {
		return k, err
	}
	in, err := e.keyOf()
	if err != nil {
		return k, err
	}
	return in(k), e.ctx.Err()
}

// keyOfText returns the key that a text was signed with, also if it has no
// signature.
func keyOfText(w *workspace.Workspace, t rows.TextID) (k cluster.Key, err error) {
	var signatures uint32
	for r, err := range w.DB.Rows(store.PrefixBounds(store.SignedKey(t))) {
		if err != nil {
			return k, err
		}
		s, err := r.Signed()
		if err != nil {
			return k, err
		}
		signatures = s.Signatures
	}
	var compared string
	if !w.Config.WeighsBySignatures() {
		stored, err := results.TextOf(w, t)
		if err != nil {
			return k, err
		}
		r, err := results.OpenReader(w).Readings(t, stored)
		if err != nil {
			return k, err
		}
		compared = r.Own
	}
	return cluster.NewKey(dataflow.Weight(w.Config, compared, int(signatures)), t), nil
}

// Replace implements judged.Clusters. It writes what is other than before.
func (e *enforcer) Replace(texts []judged.Text) error {
	for i, t := range texts {
		old, was := e.rows[t.ID]
		alone := t.ID == t.Cluster && (i+1 == len(texts) || texts[i+1].Cluster != t.Cluster) && (i == 0 || texts[i-1].Cluster != t.Cluster)
		if alone {
			shared, err := e.shared(t.ID)
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
	return e.Flush()
}

// shared reports whether several pages have the text.
func (e *enforcer) shared(t rows.TextID) (bool, error) {
	n := 0
	for _, err := range e.w.DB.Rows(store.PrefixBounds(store.Key(store.TableOccurrence, t[:]))) {
		if err != nil {
			return false, err
		}
		if n++; n == 2 {
			return true, nil
		}
	}
	return false, nil
}

// replace writes the place of a text that was elsewhere, or nowhere, and keeps
// where; alone means that it is in no cluster now.
func (e *enforcer) replace(t judged.Text, old rows.Cluster, was, alone bool) error {
	var former []byte
	if was {
		former = old.Cluster[:]
		if old.Cluster == old.Member {
			e.clusters--
		}
		if err := errors.Join(e.b.Delete(store.ClusterKey(old.Cluster, t.ID)), e.b.Delete(store.AssignedKey(t.ID))); err != nil {
			return err
		}
	}
	if !was || alone || old.Cluster != t.Cluster {
		if err := e.b.Set(store.FormerKey(t.ID), former); err != nil {
			return err
		}
	}
	if alone {
		return nil
	}
	if t.ID == t.Cluster {
		return e.Assign(dataflow.Begun(t.ID))
	}
	s, err := e.score(t)
	if err != nil {
		return err
	}
	return e.Assign(rows.Cluster{Cluster: t.Cluster, Member: t.ID, Against: t.Against, Score: s})
}

// score returns the score of a text and the one it is against now: its verdict,
// that of the other turned around, or, of a judged pair, whatever the measure
// gives.
func (e *enforcer) score(t judged.Text) (rows.Score, error) {
	if old, ok := e.rows[t.ID]; ok && old.Against == t.Against {
		return old.Score, nil
	}
	if old, ok := e.rows[t.Against]; ok && old.Against == t.ID && old.Member != t.ID {
		s := old.Score
		s = s.Inverse()
		return s, nil
	}
	s, err := e.measured(t.ID, t.Against)
	s.Relation = report.Judged
	return s, err
}

// measured returns what the measure gives for two texts: their verdict if they
// have one, else their scores whatever the thresholds, or none where only a
// whole run can tell.
func (e *enforcer) measured(a, b rows.TextID) (s rows.Score, err error) {
	var keys [2]cluster.Key
	for i, t := range []rows.TextID{a, b} {
		if keys[i], err = e.Key(t); err != nil {
			return s, err
		}
	}
	if keys[0].Compare(keys[1]) > 0 {
		keys[0], keys[1] = keys[1], keys[0]
	}
	s, ok, err := results.VerdictOn(e.w, keys[0], keys[1])
	if err != nil || ok {
		return s, err
	}
	if s.Resemblance, s.Containment, ok, err = Scored(e.w, a, b); err != nil {
		return s, fmt.Errorf("judged pair: %w", err)
	}
	if !ok {
		s = rows.Score{}
	}
	return s, nil
}
