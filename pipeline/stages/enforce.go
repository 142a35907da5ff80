package stages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"

	"neardup/audit"
	"neardup/cluster"
	"neardup/cluster/judged"
	"neardup/pipeline/closing"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// maxWarned limits the pairs that a warning names because they are not followed.
const maxWarned = 8

// closingAgain returns the cursor of a verification that only has to close again.
func closingAgain(s workspace.StageState) (any, error) {
	at := verifyCursor{Closing: true}
	err := json.Unmarshal(s.Counts, &at.Counts)
	return at, err
}

// enforced reads what Enforce needs from the workspace. It implements
// closing.Enforced.
type enforced struct {
	w      *workspace.Workspace
	ctx    context.Context
	once   sync.Once
	scores *results.TextScores
	err    error // of loading them
}

func newEnforced(ctx context.Context, w *workspace.Workspace) *enforced {
	return &enforced{w: w, ctx: ctx}
}

func (e *enforced) close() error { return e.scores.Close() }

// enforce makes the clusters follow the judged pairs. It stores the outcome of each
// and returns their counts, or nil if there are no pairs.
func (c *closer) enforce(pairs []workspace.EnforcedPair) (_ *report.JudgedPairs, err error) {
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
		if i&0xff == 0 && c.sr.Ctx.Err() != nil {
			return nil, c.sr.Ctx.Err()
		}
	}
	e := newEnforced(c.sr.Ctx, c.w)
	defer func() { err = errors.Join(err, e.close()) }()
	outcomes, err := closing.Enforce(texts, e, c)
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

// count counts a pair by its state. The first ones that are not followed are also
// named.
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

// textsOf finds the texts of a pair's pages. state is the reason why the pair
// cannot be followed, or empty.
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

// Members implements closing.Enforced.
func (e *enforced) Members(representative rows.TextID) iter.Seq2[rows.Cluster, error] {
	return func(yield func(rows.Cluster, error) bool) {
		for r, err := range e.w.DB.Rows(layout.PrefixBounds(layout.ClusterOf(representative))) {
			var row rows.Cluster
			if err == nil {
				row, err = r.Cluster()
			}
			if err == nil {
				err = e.ctx.Err()
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// Key implements closing.Enforced.
func (e *enforced) Key(t rows.TextID) (cluster.Key, error) {
	k, err := keyOfText(e.w, t)
	if err != nil {
		return k, err
	}
	e.once.Do(func() { e.scores, e.err = results.LoadTextScores(e.ctx, e.w) })
	if e.err != nil {
		return k, e.err
	}
	k, err = e.scores.Key(k)
	return k, errors.Join(err, e.ctx.Err())
}

// keyOfText returns the key that a text was signed with, also if it has no
// signature.
func keyOfText(w *workspace.Workspace, t rows.TextID) (k cluster.Key, err error) {
	var signatures uint32
	for r, err := range w.DB.Rows(layout.PrefixBounds(layout.SignedKey(t))) {
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

// Shared implements closing.Enforced.
func (e *enforced) Shared(t rows.TextID) (bool, error) {
	n := 0
	for _, err := range e.w.DB.Rows(layout.PrefixBounds(layout.OccurrencesOf(t))) {
		if err != nil {
			return false, err
		}
		if n++; n == 2 {
			return true, nil
		}
	}
	return false, nil
}

// Score implements closing.Enforced. It returns the verdict on two texts if they
// have one. Otherwise it returns their scores whatever the thresholds, or none
// where only a whole run can compute them.
func (e *enforced) Score(a, b rows.TextID) (s rows.Score, err error) {
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
