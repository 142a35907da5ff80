package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"neardup/audit"
	"neardup/cluster"
	"neardup/cluster/judged"
	"neardup/configs"
	"neardup/report"
)

// Why a judged pair is not followed, besides what package judged says.
const (
	pairFollowed     = "followed"
	pairPending      = "pending" // the clusters are of before it
	pairDisagreed    = "judges-disagree"
	pairMissing      = "missing"      // the workspace has no page of such a record id
	pairAmbiguous    = "ambiguous"    // more than maxNamedTexts texts have one
	pairLeftOut      = "left-out"     // a page is left out by text.pages
	pairSameText     = "same-text"    // both have one text, which cannot be parted
	pairContradicted = "contradicted" // other pairs part what it joins
)

// maxWarned is the number of pairs that a warning names because they are not
// followed.
const maxWarned = 8

// closingAgain is the cursor of a verification that has only the closing to do.
func closingAgain(s stageState) (any, error) {
	at := verifyCursor{Closing: true}
	err := json.Unmarshal(s.Counts, &at.Counts)
	return at, err
}

// judgedOutcome is what the closing made of an enforced pair.
type judgedOutcome struct {
	Verdict audit.Verdict `json:"verdict"`
	State   string        `json:"state"`
}

// enforcer makes clusters follow judged pairs. It implements judged.Clusters.
type enforcer struct {
	*closer
	rows  map[textID]clusterRow // of the clusters that are being changed
	keyOf func() (func(cluster.Key) cluster.Key, error)
}

// enforce makes the clusters follow the pairs, and says of each what became of
// it; nil if there are none.
func (c *closer) enforce(pairs []enforcedPair) (*report.JudgedPairs, error) {
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
		if states[i] = state; state == pairFollowed {
			texts, places = append(texts, t), append(places, i)
		}
		if i&0xff == 0 && c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
	}
	e := &enforcer{closer: c, rows: map[textID]clusterRow{}, keyOf: sync.OnceValues(c.w.keyOf)}
	outcomes, err := judged.Enforce(texts, e)
	if err != nil {
		return nil, err
	}
	for i, o := range outcomes {
		switch o {
		case judged.SameText:
			states[places[i]] = pairSameText
		case judged.Contradicted:
			states[places[i]] = pairContradicted
		}
	}
	sum := &report.JudgedPairs{}
	for i, p := range pairs {
		if err := c.b.setJSON(outcomeKey(p.Pair), judgedOutcome{p.Verdict, states[i]}); err != nil {
			return nil, err
		}
		if c.b.Len() >= commitBytes {
			if err := c.flush(); err != nil {
				return nil, err
			}
		}
		c.count(sum, p, states[i])
	}
	return sum, c.flush()
}

// count counts a pair, and names it if it is one of the first that are not
// followed.
func (c *closer) count(sum *report.JudgedPairs, p enforcedPair, state string) {
	switch {
	case state == pairFollowed && p.Verdict == audit.True:
		sum.MustJoin++
	case state == pairFollowed:
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
			c.w.o.Progress.Warn("judged pair not followed", "reason", state, "a", oneLine(p.A), "b", oneLine(p.B))
		}
	}
}

// textsOf finds the texts of the pages of a pair; state says why it cannot be
// followed, if so.
func (c *closer) textsOf(p enforcedPair) (out judged.Pair, state string, err error) {
	if p.Verdict == audit.Unknown {
		return out, pairDisagreed, nil
	}
	out.Join = p.Verdict == audit.True
	for _, page := range []struct {
		name  string
		texts *[]textID
	}{{p.A, &out.A}, {p.B, &out.B}} {
		texts, more, err := c.w.textsNamed(page.name)
		switch {
		case err != nil:
			return out, "", err
		case more:
			return out, pairAmbiguous, nil
		case len(texts) == 0:
			return out, pairMissing, nil
		}
		for _, t := range texts {
			left, err := c.w.leftOut(t)
			if err != nil {
				return out, "", err
			}
			if left && out.Join {
				return out, pairLeftOut, nil
			}
		}
		*page.texts = texts
	}
	return out, pairFollowed, nil
}

// textsNamed gives the texts of the pages that have a record id; more tells that
// there are too many.
func (w *Workspace) textsNamed(recordID string) (texts []textID, more bool, err error) {
	pages, more, err := w.named(byRecordID, recordID, "", func(d found) bool { return d.RecordID == recordID })
	for _, d := range pages {
		t, err := d.textID()
		if err != nil {
			return nil, false, err
		}
		texts = append(texts, t)
	}
	slices.SortFunc(texts, compareTexts)
	texts = slices.Compact(texts)
	return texts, more || len(texts) > maxNamedTexts, err
}

// Of implements judged.Clusters.
func (e *enforcer) Of(t textID) (textID, bool, error) { return e.w.clusterOf(t) }

// Texts implements judged.Clusters.
func (e *enforcer) Texts(representative textID) (out []judged.Text, err error) {
	for r, err := range e.w.store.rows(prefixBounds(join(tableCluster, representative[:]))) {
		if err != nil {
			return nil, err
		}
		row, err := parseClusterRow(r)
		if err != nil {
			return nil, err
		}
		e.rows[row.member] = row
		out = append(out, judged.Text{ID: row.member, Cluster: row.cluster, Against: row.against})
	}
	return out, e.ctx.Err()
}

// Key implements judged.Clusters: the key that the text would have in clustering.
func (e *enforcer) Key(t textID) (cluster.Key, error) {
	k, err := e.w.keyOfText(t)
	if err != nil {
		return k, err
	}
	in, err := e.keyOf()
	if err != nil {
		return k, err
	}
	return in(k), e.ctx.Err()
}

// keyOfText is the key that a text was signed with, also if it has no signature.
func (w *Workspace) keyOfText(t textID) (k cluster.Key, err error) {
	var signatures uint32
	for r, err := range w.store.rows(prefixBounds(signedKey(t))) {
		if err != nil {
			return k, err
		}
		s, err := r.signed()
		if err != nil {
			return k, err
		}
		signatures = s.signatures
	}
	var compared string
	if w.config.Sign.Scheme != configs.SchemeRing { // whose weight is that of the signatures
		stored, err := w.text(t)
		if err != nil {
			return k, err
		}
		if compared, _, err = w.comparedText(t, stored); err != nil {
			return k, err
		}
	}
	return cluster.NewKey(w.weight(compared, int(signatures)), t), nil
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
		if was && !alone && old.cluster == t.Cluster && old.against == t.Against {
			continue
		}
		if err := e.replace(t, old, was, alone); err != nil {
			return err
		}
	}
	clear(e.rows)
	return e.flush()
}

// shared tells whether several pages have the text.
func (e *enforcer) shared(t textID) (bool, error) {
	n := 0
	for _, err := range e.w.store.rows(prefixBounds(join(tableOccurrence, t[:]))) {
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
func (e *enforcer) replace(t judged.Text, old clusterRow, was, alone bool) error {
	var former []byte
	if was {
		former = old.cluster[:]
		if old.cluster == old.member {
			e.clusters--
		}
		if err := errors.Join(e.b.Delete(clusterKey(old.cluster, t.ID), nil), e.b.Delete(assignedKey(t.ID), nil)); err != nil {
			return err
		}
	}
	if !was || alone || old.cluster != t.Cluster {
		if err := e.b.set(formerKey(t.ID), former); err != nil {
			return err
		}
	}
	if alone {
		return nil
	}
	if t.ID == t.Cluster {
		return e.begin(t.ID)
	}
	s, err := e.score(t)
	if err != nil {
		return err
	}
	return e.assign(t.Cluster, t.ID, t.Against, s)
}

// score is that of a text and what it is against now: its verdict, that of the
// other turned around, or, of a judged pair, whatever the measure gives.
func (e *enforcer) score(t judged.Text) (score, error) {
	if old, ok := e.rows[t.ID]; ok && old.against == t.Against {
		return old.score, nil
	}
	if old, ok := e.rows[t.Against]; ok && old.against == t.ID && old.member != t.ID {
		s := old.score
		s.Relation = s.Relation.inverse()
		return s, nil
	}
	s, err := e.measured(t.ID, t.Against)
	s.Relation = Judged
	return s, err
}

// measured is what the measure gives for two texts: their verdict if they have
// one, else their scores whatever the thresholds, or none where only a whole run
// can tell.
func (e *enforcer) measured(a, b textID) (s score, err error) {
	var keys [2]cluster.Key
	for i, t := range []textID{a, b} {
		if keys[i], err = e.Key(t); err != nil {
			return s, err
		}
	}
	if keys[0].Compare(keys[1]) > 0 {
		keys[0], keys[1] = keys[1], keys[0]
	}
	v, ok, err := e.w.store.get(pairKey(tableVerdict, keys[0], keys[1]))
	if err != nil {
		return s, err
	}
	if ok {
		return parseScore(v)
	}
	if s.Resemblance, s.Containment, ok, err = e.w.scored(a, b); err != nil {
		return s, fmt.Errorf("judged pair: %w", err)
	}
	if !ok {
		s = score{}
	}
	return s, nil
}
