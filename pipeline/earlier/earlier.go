// Package earlier has what verify found in an earlier run. Where new crawls came,
// verify uses it again: the results of sets, and of components of linked texts, on
// whose texts everything that a verdict depends on is as it was. The digest of a text
// is computed anew in each run, so no stage has to tell another what changed.
package earlier

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"sync"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify/pair"
)

// Results are the results of an earlier run, and what verdicts on texts depend on.
// Workers share them.
type Results struct {
	w      *workspace.Workspace
	table  byte
	reader *results.Reader
	quick  *quick // nil if there are no results
	recent *dataflow.RecentSides
	mu     sync.Mutex
	free   []*lookups
	all    []*lookups
}

// maxQuick limits the texts whose short digests are held in memory, at 16 bytes each.
// Where there are more, results have no quick digests.
const maxQuick = 4 << 20

// quick has the short digests of texts. The first 8 bytes of a text's ID stand for it.
type quick struct{ texts, digests []uint64 }

// of returns the short digest of a text.
func (q *quick) of(id rows.TextID) (uint64, bool) {
	i, ok := results.Find(q.texts, binary.BigEndian.Uint64(id[:]))
	if !ok || i > 0 && q.texts[i-1] == q.texts[i] || i+1 < len(q.texts) && q.texts[i+1] == q.texts[i] {
		return 0, false
	}
	return q.digests[i], true
}

// quickDigests reads what verdicts on each text depend on, in one pass. Looking it up
// for each set costs several times as much.
func quickDigests(ctx context.Context, w *workspace.Workspace, reader *results.Reader) (*quick, error) {
	q := &quick{}
	next, stop := iter.Pull2(results.SignedTexts(w))
	defer stop()
	s, err, more := next()
	for t, terr := range results.TextsWithUnits(w) {
		for more && err == nil && rows.CompareTexts(s.ID, t.ID) < 0 {
			s, err, more = next()
		}
		if err := errors.Join(err, terr, ctx.Err()); err != nil {
			return nil, err
		}
		if !more || s.ID != t.ID {
			continue // the text is not compared
		}
		if len(q.texts) == maxQuick {
			return &quick{}, nil
		}
		side, ok, err := dataflow.NewSide(w.Config, dataflow.Text{ID: t.ID, Sites: t.Sites(), Names: t.Names}, t.Units, s.Signed, reader.Commonness)
		if err != nil {
			return nil, err
		}
		if ok {
			q.texts, q.digests = append(q.texts, binary.BigEndian.Uint64(t.ID[:])), append(q.digests, side.Quick())
		}
	}
	return q, nil
}

// Open returns the results of sets. The caller closes them.
func Open(ctx context.Context, w *workspace.Workspace) (*Results, error) {
	reader, err := results.LoadReader(w)
	if err != nil {
		return nil, err
	}
	e := &Results{w: w, table: layout.TableSetResult, reader: reader, recent: &dataflow.RecentSides{}}
	for _, table := range []byte{layout.TableSetResult, layout.TablePartResult} {
		for _, err := range w.DB.Table(table) {
			if err == nil {
				e.quick, err = quickDigests(ctx, w, reader)
			}
			return e, err
		}
	}
	return e, nil
}

// quickOf returns the short digest of a text. A text that fails has none, and fails
// again when its set is verified.
func (e *Results) quickOf(id rows.TextID) (uint64, bool) {
	if e.quick != nil {
		return e.quick.of(id)
	}
	s, ok, err := e.side(id)
	if err != nil || !ok {
		return 0, false
	}
	return s.Quick(), true
}

// Parts returns the results of components. The caller closes them.
func (e *Results) Parts() *Results {
	return &Results{w: e.w, table: layout.TablePartResult, reader: e.reader, quick: e.quick, recent: e.recent}
}

// Close ends the reading.
func (e *Results) Close() {
	for _, l := range e.all {
		for _, s := range []*store.Seeker{l.results, l.units, l.occurrences, l.signed} {
			_ = s.Close()
		}
	}
}

// lookups are the iterators of one worker.
type lookups struct {
	results, units, occurrences, signed *store.Seeker

	read rows.Units // memory for the units of a text
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
func (e *Results) side(id rows.TextID) (*dataflow.Side, bool, error) {
	return e.recent.Get(id, func() (*dataflow.Side, bool, error) {
		l, err := e.take()
		if err != nil {
			return nil, false, err
		}
		defer e.give(l)
		return l.side(e, id)
	})
}

func (l *lookups) side(e *Results, id rows.TextID) (*dataflow.Side, bool, error) {
	t := dataflow.Text{ID: id}
	units := &l.read
	*units = rows.Units{Both: units.Both[:0], Plain: units.Plain[:0], Exact: units.Exact[:0], Columns: units.Columns[:0], PlainOf: units.PlainOf[:0]}
	var signed rows.Signed
	var err error
	if t.Sites, t.Names, err = results.SitesAndNames(l.occurrences.Rows(layout.OccurrencesOf(id))); err != nil {
		return nil, false, err
	}
	for r, err := range l.units.Rows(layout.UnitsKey(id)) {
		if err := errors.Join(err, r.Units(units)); err != nil {
			return nil, false, err
		}
	}
	for r, err := range l.signed.Rows(layout.SignedKey(id)) {
		if err == nil {
			signed, err = r.Signed()
		}
		if err != nil {
			return nil, false, err
		}
	}
	return dataflow.NewSide(e.w.Config, t, *units, signed, e.reader.Commonness)
}

// sides returns the side of a text.
type sides func(rows.TextID) (*dataflow.Side, bool, error)

// names is how many of the first texts of a set may have named what it was before. A
// new text that is the largest names the set anew.
const names = 4

// result returns the digest of a set or component, and the earlier result if it can
// be used again. Otherwise it returns what the measure said of some of its texts.
func (e *Results) result(keys []cluster.Key, quick dataflow.Digest, digest func(configs.Config, sides) (dataflow.Digest, error)) (d dataflow.Digest, x *layout.Result, said []pair.Measured, err error) {
	if x, err = e.stored(keys[0]); err != nil {
		return d, nil, nil, err
	}
	if x != nil && quick != (dataflow.Digest{}) && x.Quick == quick {
		return x.Digest, x, nil, nil
	}
	d, err = digest(e.w.Config, e.side)
	if err != nil || x != nil && d != (dataflow.Digest{}) && x.Digest == d {
		return d, x, nil, err
	}
	for _, k := range keys[1:min(names, len(keys))] {
		if x != nil {
			break
		}
		if x, err = e.stored(k); err != nil {
			return d, nil, nil, err
		}
	}
	if x != nil {
		said = x.Measured
	}
	return d, nil, said, nil
}

// stored returns the result of an earlier run, or nil.
func (e *Results) stored(name cluster.Key) (x *layout.Result, err error) {
	l, err := e.take()
	if err != nil {
		return nil, err
	}
	defer e.give(l)
	for r, err := range l.results.Rows(layout.ResultKey(e.table, name)) {
		if err != nil {
			return nil, err
		}
		found, err := r.Result()
		if err != nil {
			return nil, err
		}
		x = &found
	}
	return x, nil
}

// Texts returns the texts, ready for comparison.
func (e *Results) Texts() (*dataflow.Texts, error) {
	config, err := e.w.Method()
	if err != nil {
		return nil, err
	}
	j := dataflow.Judge(config)
	return dataflow.NewTexts(j, func(id rows.TextID) (*pair.Text, error) {
		s, ok, err := e.side(id)
		if err != nil {
			return nil, err
		}
		if !ok {
			t, err := e.reader.Prepare(j, id)
			if err == nil {
				t.Identified(id)
			}
			return t, err
		}
		stored, err := results.TextOf(e.w, id)
		if err != nil {
			return nil, err
		}
		return s.Prepare(config, j, stored).Identified(id), nil
	}), nil
}

// Set implements dataflow.KnownSets.
func (e *Results) Set(set []cluster.Key) (r dataflow.SetResult, err error) {
	r.Quick = dataflow.QuickDigest(set, e.quickOf, nil)
	d, x, said, err := e.result(set, r.Quick, func(c configs.Config, of sides) (dataflow.Digest, error) { return dataflow.SetDigest(c, set, of) })
	if r.Digest, r.Measured = d, said; x != nil {
		r.Known, r.Stored, r.Links, r.Counts, r.Measured = true, x.Quick == r.Quick, x.Links, x.Counts, x.Measured
	}
	return r, err
}

// Part implements dataflow.KnownParts.
func (e *Results) Part(c dataflow.Component) (r dataflow.PartResult, err error) {
	r.Quick = dataflow.QuickDigest(c.Keys, e.quickOf, c.Verdicts())
	d, x, said, err := e.result(c.Keys, r.Quick, func(config configs.Config, of sides) (dataflow.Digest, error) { return c.Digest(config, of) })
	if r.Digest, r.Measured = d, said; x != nil {
		r.Known, r.Stored, r.Checked, r.Parts, r.Counts, r.Measured = true, x.Quick == r.Quick, x.Checked, x.Links, x.Counts, x.Measured
	}
	return r, err
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
		v, err := x.Value()
		if err := errors.Join(err, b.Set(layout.ResultKey(e.table, name), v)); err != nil {
			return err
		}
	}
	return nil
}
