package stages

import (
	"errors"
	"iter"
	"maps"
	"slices"

	"neardup/cluster"
	"neardup/cluster/search"
	"neardup/pipeline/bloom"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/signature"
)

// Where new crawls came, sign notes the postings that it adds and removes, and cluster
// makes only the rows of their lists again. The note is good only from one finished
// clustering to the next: if a run was interrupted in between, or anything else
// happened to the workspace, cluster reads all postings.

// noteOfChanges is the name of the row that says between which states the postings in
// TableChanged changed.
const noteOfChanges = "changed"

type changesNote struct {
	Clusters   string `json:"clusters"`   // generation of cluster before
	Signatures string `json:"signatures"` // generation of sign after
}

// changes records changed postings. A nil one records nothing.
type changes struct {
	clusters string
	postings store.Tally
	run      layout.FixedRun
}

// recordChanges returns a record if sign begins to add to what cluster has read. It
// drops the record of an earlier run.
func recordChanges(w *workspace.Workspace, sr *workspace.StageRun) (*changes, error) {
	b := w.DB.Batch()
	err := errors.Join(b.Clear(layout.TableChanged), b.Delete(layout.MetaKey(noteOfChanges)), b.Commit())
	if err != nil || !updates(w.Config, sr.Scores) || sr.Extended == nil {
		return nil, err
	}
	s, ok, err := w.State(workspace.StageCluster)
	if err != nil || !ok || !s.Done || s.Input != sr.Extended.Generation() {
		return nil, err
	}
	t, ok := sr.Tally(layout.TablePosting)
	if !ok {
		return nil, nil
	}
	return &changes{clusters: s.Generation(), postings: t, run: layout.FixedRun{Size: layout.ChangedSize}}, nil
}

// add adds keys of TableChanged.
func (c *changes) add(changed []byte) {
	if c == nil {
		return
	}
	for row := range slices.Chunk(changed, layout.ChangedSize) {
		c.run.Add(row)
		if posting, removed := layout.ChangedPosting(row); removed {
			c.postings.Remove(posting)
		} else {
			c.postings.Add(posting)
		}
	}
}

// sorted returns what was added since the last call.
func (c *changes) sorted(parts int) []iter.Seq[extsort.Entry] {
	if c == nil {
		return nil
	}
	run := c.run
	c.run = layout.FixedRun{Size: run.Size}
	return run.Sorted(parts)
}

// note ends the record.
func (c *changes) note(w *workspace.Workspace, sr *workspace.StageRun) error {
	if c == nil {
		return nil
	}
	sr.Known(layout.TablePosting, c.postings.Contents())
	b := w.DB.Batch()
	return errors.Join(b.SetJSON(layout.MetaKey(noteOfChanges), changesNote{c.clusters, sr.State.Generation()}), b.Commit())
}

// update brings the rows of the search up to date with the postings that changed. ok
// is false if all rows have to be made again.
func (c *clustering) update(u search.Updater) (ok bool, err error) {
	w, was := c.w, c.sr.Extended
	var note changesNote
	var before rows.ClusterCounts
	if was == nil {
		return false, nil
	}
	if ok, err = w.DB.GetJSON(layout.MetaKey(noteOfChanges), &note); err != nil || !ok {
		return false, err
	}
	if err := was.DecodeCounts(&before); err != nil {
		return false, err
	}
	if note != (changesNote{was.Generation(), c.sr.State.Input}) || was.Tables[string(rune(layout.TableSearch))].Rows != before.Edges || before.Edges == 0 {
		return false, nil
	}
	c.at.Counts = search.Counts{ListCounts: before.Lists}
	by := map[string]int64{} // the changes of rows
	b := w.DB.Batch()
	postings, err := w.DB.Seeker(layout.TablePosting)
	if err != nil {
		return false, err
	}
	defer func() { _ = postings.Close() }()
	in := c.in
	in.Members = func(s signature.Signature) ([]cluster.Key, error) {
		return c.keysOf(postings.FewRows(layout.PostingsOf(s)))
	}
	filter, err := bloom.Read(w.DB)
	if err != nil {
		return false, err
	}
	changes := search.Changes{Postings: c.changed(), Long: c.long()}
	full := false
	if filter != nil { // what it is asked for has postings now, or had some
		changes.Had = func(s signature.Signature) bool {
			had := filter.Has(s)
			full = full || !had && !filter.Add(s)
			return had
		}
	}
	enough := errors.New("too many rows change")
	ok, err = u.Update(in, changes, search.ChangeSink{
		Row: func(row []byte, n int) error {
			if by[string(row)] += int64(n); len(by) > w.Options.RunRows {
				return enough
			}
			return nil
		},
		Long: func(s signature.Signature, l *cluster.LongList) error {
			if l == nil {
				return b.Delete(layout.LongKey(s))
			}
			return b.Set(layout.LongKey(s), layout.LongValue(*l))
		},
	}, &c.at.Counts)
	if err != nil || !ok {
		if errors.Is(err, enough) {
			err = nil
		}
		return false, errors.Join(err, b.Close())
	}
	if filter == nil { // because captures were withdrawn
		err = c.makeFilter()
	} else {
		if full {
			filter = nil
		}
		// If this is interrupted before the rows are up to date, the filter has too many
		// signatures, which does no harm.
		err = c.sr.Replace(w.DB, layout.TableFilter, filter.Rows())
	}
	if err != nil {
		return false, err
	}
	if err := c.addLists(b, by); err != nil {
		return false, err
	}
	c.at.Rows, c.at.Merging = was.Tables[string(rune(layout.TableSearch))].Rows, true
	return true, errors.Join(b.Clear(layout.TableChanged), b.Delete(layout.MetaKey(noteOfChanges)), c.sr.SetCursor(b, c.at), b.Commit())
}

// makeFilter makes the filter of all signatures that have postings.
func (c *clustering) makeFilter() error {
	f := bloom.New(c.at.Counts.Lists)
	var last signature.Signature
	n := 0
	for r, err := range c.w.DB.Table(layout.TablePosting) {
		if f == nil {
			break
		}
		var p cluster.Posting
		if err == nil {
			p, err = layout.ParsePostingKey(r.Key())
		}
		if n++; err == nil && n&0xffff == 0 {
			err = c.sr.Ctx.Err()
		}
		if err != nil {
			return err
		}
		if (n == 1 || p.Signature != last) && !f.Add(p.Signature) {
			f = nil
		}
		last = p.Signature
	}
	return c.sr.Replace(c.w.DB, layout.TableFilter, f.Rows())
}

// addLists changes the numbers of lists that give rows.
func (c *clustering) addLists(b store.Batch, by map[string]int64) error {
	there, err := c.w.DB.Seeker(layout.TableSearch)
	if err != nil {
		return err
	}
	defer func() { _ = there.Close() }()
	for _, row := range slices.Sorted(maps.Keys(by)) {
		if by[row] == 0 {
			continue
		}
		key, n := layout.SearchKey([]byte(row)), int64(0)
		r, ok, err := there.Get(key)
		if ok {
			n, err = r.Lists()
		}
		if err != nil {
			return err
		}
		switch n += by[row]; {
		case n < 0:
			return layout.Corrupt(key)
		case n == 0:
			err = b.Delete(key)
		default:
			err = b.Set(key, layout.ListsValue(n))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changed yields the postings that changed.
func (c *clustering) changed() iter.Seq2[search.Changed, error] {
	return func(yield func(search.Changed, error) bool) {
		for r, err := range c.w.DB.Table(layout.TableChanged) {
			var p search.Changed
			if err == nil {
				p.Posting, p.Removed, err = r.Changed()
			}
			if err == nil {
				err = c.sr.Ctx.Err()
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// long yields the long lists.
func (c *clustering) long() iter.Seq2[search.LongList, error] {
	return func(yield func(search.LongList, error) bool) {
		for r, err := range c.w.DB.Table(layout.TableLong) {
			var l search.LongList
			if err == nil {
				l.Signature, l.LongList, err = r.Long()
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}
