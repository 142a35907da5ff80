package stages

import (
	"errors"
	"sync"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// Where new crawls came, verify uses the results of an earlier run again: those of
// sets, and of components of linked texts, on whose texts everything that a verdict
// depends on is as it was. The digest of a text is computed anew in each run, so no
// stage has to tell another what changed.

// earlier has the results of an earlier run. Workers share it.
type earlier struct {
	w      *workspace.Workspace
	table  byte
	reader *results.Reader
	mu     sync.Mutex
	free   []*lookups
	all    []*lookups
}

// lookups are the iterators of one worker.
type lookups struct{ results, units, occurrences, signed *store.Seeker }

// newEarlier returns the results of a table. The caller closes it.
func newEarlier(w *workspace.Workspace, table byte, reader *results.Reader) *earlier {
	return &earlier{w: w, table: table, reader: reader}
}

func (e *earlier) close() {
	for _, l := range e.all {
		for _, s := range []*store.Seeker{l.results, l.units, l.occurrences, l.signed} {
			_ = s.Close()
		}
	}
}

// take returns iterators that no other worker uses. give returns them.
func (e *earlier) take() (l *lookups, err error) {
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
	}{{&l.results, e.table}, {&l.units, store.TableUnits}, {&l.occurrences, store.TableOccurrence}, {&l.signed, store.TableSigned}} {
		if *s.to, err = e.w.DB.Seeker(s.table); err != nil {
			return nil, err
		}
	}
	e.all = append(e.all, l)
	return l, nil
}

func (e *earlier) give(l *lookups) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.free = append(e.free, l)
}

// side returns what verdicts on a text depend on.
func (l *lookups) side(e *earlier, id rows.TextID) (*dataflow.Side, bool, error) {
	t := dataflow.Text{ID: id}
	var units rows.Units
	var signed rows.Signed
	var err error
	if t.Sites, t.Names, err = results.SitesAndNames(l.occurrences.Rows(store.OccurrencesOf(id))); err != nil {
		return nil, false, err
	}
	for r, err := range l.units.Rows(store.UnitsKey(id)) {
		if err := errors.Join(err, r.Units(&units)); err != nil {
			return nil, false, err
		}
	}
	for r, err := range l.signed.Rows(store.SignedKey(id)) {
		if err == nil {
			signed, err = r.Signed()
		}
		if err != nil {
			return nil, false, err
		}
	}
	return dataflow.NewSide(e.w.Config, t, units, signed, e.reader.Commonness)
}

// sides returns the side of a text.
type sides func(rows.TextID) (*dataflow.Side, bool, error)

// result returns the digest of a set or component and the earlier result, if it has
// one of the same digest.
func (e *earlier) result(name cluster.Key, digest func(configs.Config, sides) (dataflow.Digest, error)) (d dataflow.Digest, x *store.Result, err error) {
	l, err := e.take()
	if err != nil {
		return d, nil, err
	}
	defer e.give(l)
	d, err = digest(e.w.Config, func(t rows.TextID) (*dataflow.Side, bool, error) { return l.side(e, t) })
	if err != nil || d == (dataflow.Digest{}) {
		return d, nil, err
	}
	for r, err := range l.results.Rows(store.ResultKey(e.table, name)) {
		if err != nil {
			return d, nil, err
		}
		if x, err := r.Result(); err != nil || x.Digest == d {
			return d, &x, err
		}
	}
	return d, nil, nil
}

// set implements dataflow.KnownSets.
func (e *earlier) set(set []cluster.Key) (r dataflow.SetResult, err error) {
	d, x, err := e.result(set[0], func(c configs.Config, of sides) (dataflow.Digest, error) { return dataflow.SetDigest(c, set, of) })
	if r.Digest = d; x != nil {
		r.Known, r.Links, r.Counts = true, x.Links, x.Counts
	}
	return r, err
}

// part implements dataflow.KnownParts.
func (e *earlier) part(c dataflow.Component) (r dataflow.PartResult, err error) {
	d, x, err := e.result(c.Keys[0], func(config configs.Config, of sides) (dataflow.Digest, error) { return c.Digest(config, of) })
	if r.Digest = d; x != nil {
		r.Known, r.Checked, r.Parts, r.Counts = true, x.Checked, x.Links, x.Counts
	}
	return r, err
}

// keep replaces the results behind the name after, up to last or to the end.
func (e *earlier) keep(b store.Batch, after []byte, last *cluster.Key, now map[cluster.Key]*store.Result) error {
	for r, err := range e.w.DB.Rows(store.ResultsBetween(e.table, after, last)) {
		var name cluster.Key
		if err == nil {
			name, err = r.ResultName()
		}
		if err == nil {
			if _, stays := now[name]; !stays {
				err = b.Delete(store.ResultKey(e.table, name))
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
		v, err := x.Value()
		if err := errors.Join(err, b.Set(store.ResultKey(e.table, name), v)); err != nil {
			return err
		}
	}
	return nil
}
