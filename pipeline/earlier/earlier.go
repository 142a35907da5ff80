// Package earlier has what verify found in an earlier run. Where new crawls came,
// verify uses it again: the results of sets, and of components of linked texts, that
// cannot have changed, and in the others the decisions on pairs of which neither text
// changed. The state of a text tells whether it changed. Of other pairs it uses what the
// measure said of the whole texts.
package earlier

import (
	"slices"
	"sync"

	"neardup/cluster"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify/pair"
)

// Results are the results of an earlier run, and what verdicts on texts depend on.
// Workers share them. They implement dataflow.Abouts.
type Results struct {
	w      *workspace.Workspace
	judge  pair.Judge
	table  byte
	common *results.Common
	texts  *texts
	former *former // only of sets
	recent *dataflow.RecentSides
	mu     sync.Mutex
	free   []*lookups
	all    []*lookups
}

// Open returns the results of sets. changed has the texts of which sentences have other
// counts than in the run before; nil means that it can be any. The caller closes it.
func Open(w *workspace.Workspace, sr *workspace.StageRun, changed map[rows.TextID]bool) (*Results, error) {
	config, err := w.Method()
	if err != nil {
		return nil, err
	}
	common, err := results.LoadCommon(w, layout.TableCommon)
	if err != nil {
		return nil, err
	}
	texts, err := readTexts(w, sr, common, changed)
	return &Results{w: w, judge: dataflow.Judge(config), table: layout.TableSetResult, common: common, texts: texts, former: &former{}, recent: &dataflow.RecentSides{}}, err
}

// State implements dataflow.Abouts.
func (e *Results) State(id rows.TextID) (rows.State, error) {
	if i, ok := e.texts.of(id); ok {
		return e.texts.state(i), nil
	}
	s, err := e.side(id)
	if err != nil {
		return rows.State{}, err
	}
	return s.State(id), nil
}

// Length implements dataflow.Abouts.
func (e *Results) Length(id rows.TextID) (int, bool) {
	i, ok := e.texts.of(id)
	if !ok {
		return 0, false
	}
	return int(e.texts.lengths[i]), true
}

// Sentences implements dataflow.Abouts.
func (e *Results) Sentences(id rows.TextID) (pair.Sentences, error) {
	s, err := e.side(id)
	if err != nil {
		return pair.Sentences{}, err
	}
	return s.Sentences(), nil
}

// Parts returns the results of components. The caller closes them.
func (e *Results) Parts() *Results {
	return &Results{w: e.w, judge: e.judge, table: layout.TablePartResult, common: e.common, texts: e.texts, recent: e.recent}
}

// Close ends the reading.
func (e *Results) Close() {
	for _, l := range e.all {
		l.close()
	}
	e.former.close()
}

// lookups are the iterators of one worker.
type lookups struct {
	results, units, occurrences, signed *store.Seeker

	read rows.Units // memory for the units of a text
}

func (l *lookups) close() {
	for _, s := range []*store.Seeker{l.results, l.units, l.occurrences, l.signed} {
		if s != nil {
			_ = s.Close() // the lookups have reported its errors
		}
	}
}

// take returns iterators that no other worker uses. give returns them.
func (e *Results) take() (l *lookups, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.free); n > 0 {
		l, e.free = e.free[n-1], e.free[:n-1]
		return l, nil
	}
	l = &lookups{}
	for _, s := range []struct {
		to    **store.Seeker
		table byte
	}{{&l.results, e.table}, {&l.units, layout.TableUnits}, {&l.occurrences, layout.TableOccurrence}, {&l.signed, layout.TableSigned}} {
		if *s.to, err = e.w.DB.Seeker(s.table); err != nil {
			l.close()
			return nil, err
		}
	}
	e.all = append(e.all, l)
	return l, nil
}

func (e *Results) give(l *lookups) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.free = append(e.free, l)
}

// side returns what verdicts on a text depend on.
func (e *Results) side(id rows.TextID) (*dataflow.Side, error) {
	if s := e.texts.side(id); s != nil {
		return s, nil
	}
	return e.recent.Get(id, func() (*dataflow.Side, error) {
		if e.texts.missed.Add(1) == e.texts.bearable() {
			if err := e.texts.readSides(); err != nil {
				return nil, err
			}
		}
		l, err := e.take()
		if err != nil {
			return nil, err
		}
		defer e.give(l)
		return l.side(e, id)
	})
}

func (l *lookups) side(e *Results, id rows.TextID) (*dataflow.Side, error) {
	t := passedText{Text: dataflow.Text{ID: id}}
	var err error
	if t.Sites, t.Names, err = results.SitesAndNames(l.occurrences.Rows(layout.OccurrencesOf(id))); err != nil {
		return nil, err
	}
	r, ok, err := l.signed.Get(layout.SignedKey(id))
	if err == nil && !ok {
		err = layout.Corrupt(layout.SignedKey(id))
	}
	if err == nil {
		t.signed, err = r.Signed()
	}
	if err != nil {
		return nil, err
	}
	return sideOf(e.w, e.common, l.units.Get, &l.read, t)
}

// names is how many of the first texts of a set may have named what it was before. A
// new text that is the largest names the set anew.
const names = 4

// result returns the states of the texts of a set or component, and its earlier result if
// it can be used again. Otherwise it returns the decisions on some of its texts.
// Of very many texts it returns no states and decisions: these are hardly ever few enough to
// be noted.
func (e *Results) result(keys []cluster.Key, of [16]byte) (states []rows.State, x *layout.Result, recall *dataflow.Recall, err error) {
	if len(keys) > dataflow.MostDecided {
		return nil, nil, dataflow.NewRecall(e.judge, e, nil), nil
	}
	if states, err = dataflow.StatesOf(keys, e); err != nil {
		return nil, nil, nil, err
	}
	if x, err = e.stored(keys[0]); err != nil {
		return nil, nil, nil, err
	}
	// What the weights of a set that screens say of texts without a decision counts, too.
	screened := e.table == layout.TableSetResult && dataflow.Screens(e.w.Config.Verify, len(keys))
	if x != nil && x.Of == of && (!screened || slices.Equal(x.States, states)) {
		same, err := dataflow.Unchanged(e.judge, e, x.States, x.Decided, states)
		if err != nil || same {
			return states, x, nil, err
		}
	}
	for _, k := range keys[1:min(names, len(keys))] {
		if x != nil {
			break
		}
		if x, err = e.stored(k); err != nil {
			return nil, nil, nil, err
		}
	}
	noted, err := e.noted(keys, x)
	return states, nil, dataflow.NewRecall(e.judge, e, states, noted...), err
}

// stored returns the result of an earlier run, or nil.
func (e *Results) stored(name cluster.Key) (x *layout.Result, err error) {
	l, err := e.take()
	if err != nil {
		return nil, err
	}
	defer e.give(l)
	r, ok, err := l.results.GetNext(layout.ResultKey(e.table, name))
	if err != nil || !ok {
		return nil, err
	}
	found, err := r.Result()
	return &found, err
}

// Texts returns the texts, ready for comparison.
func (e *Results) Texts() *dataflow.Texts {
	return dataflow.NewTexts(e.judge, func(id rows.TextID) (*pair.Text, error) {
		s, err := e.side(id)
		if err != nil {
			return nil, err
		}
		stored, err := results.TextOf(e.w, id)
		if err != nil {
			return nil, err
		}
		return s.Prepare(e.w.Config, e.judge, stored), nil
	})
}

// Set implements dataflow.KnownSets.
func (e *Results) Set(set []cluster.Key) (r dataflow.SetResult, recall *dataflow.Recall, err error) {
	if err := e.former.begin(e.w.DB); err != nil {
		return r, nil, err
	}
	var x *layout.Result
	if r.States, x, recall, err = e.result(set, [16]byte{}); x == nil {
		return r, recall, err
	}
	r.Known, r.Stored, r.Counts, r.Decided = true, slices.Equal(x.States, r.States), x.Counts, x.Decided
	for _, d := range x.Decided {
		if d.Verdict.Near {
			r.Links = append(r.Links, rows.Link{Leader: set[d.A], Member: set[d.B], Score: d.Score()})
		}
	}
	return r, nil, err
}

// Part implements dataflow.KnownParts.
func (e *Results) Part(c dataflow.Component) (r dataflow.PartResult, recall *dataflow.Recall, err error) {
	var x *layout.Result
	r.Of = c.Digest()
	if r.States, x, recall, err = e.result(c.Keys, r.Of); x == nil {
		return r, recall, err
	}
	r.Known, r.Stored, r.Counts, r.Decided, r.Parts = true, slices.Equal(x.States, r.States), x.Counts, x.Decided, x.Links
	return r, nil, err
}

// Keep replaces the results behind the name after, up to last or to the end.
func (e *Results) Keep(b store.Batch, after []byte, last *cluster.Key, now map[cluster.Key]*layout.Result) error {
	for r, err := range e.w.DB.Rows(layout.ResultsBetween(e.table, after, last)) {
		var name cluster.Key
		if err == nil {
			name, err = r.ResultName()
		}
		if err == nil {
			if _, stays := now[name]; !stays {
				err = b.Delete(layout.ResultKey(e.table, name))
			}
		}
		if err != nil {
			return err
		}
	}
	for name, x := range now {
		if x == nil { // it is there already
			continue
		}
		if err := b.Set(layout.ResultKey(e.table, name), x.Value()); err != nil {
			return err
		}
	}
	return nil
}
