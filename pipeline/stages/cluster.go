package stages

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"unicode/utf8"

	"neardup/cluster"
	"neardup/cluster/search"
	"neardup/pipeline/bloom"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/preferences"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/signature"
)

// clusterCursor is the place where the clustering continues: while it makes the
// rows of the search, at the signature Next; after that, in the finding, which
// starts over.
type clusterCursor struct {
	Next    []byte        `json:"next,omitempty"`
	Read    int64         `json:"read,omitempty"` // postings read
	Rows    int64         `json:"rows,omitempty"` // rows emitted
	Merging bool          `json:"merging,omitempty"`
	Counts  search.Counts `json:"counts"`
}

// runCluster finds the perhaps-similar sets or candidate pairs: from the search's
// rows if the search has some, otherwise from the texts.
func runCluster(w *workspace.Workspace, sr *workspace.StageRun) (err error) {
	var at clusterCursor
	if _, err := sr.Cursor(&at); err != nil {
		return err
	}
	if !at.Merging && len(at.Next) == 0 {
		at = clusterCursor{} // the recorded counts are not valid
	}
	if err := preferences.KeepFile(sr.Ctx, w); err != nil {
		return err
	}
	c := &clustering{w: w, sr: sr, at: &at}
	if err := c.begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.scores.Close()) }()
	find := w.Config.NewSearch()
	mapper, maps := find.(search.Mapper)
	if maps && !at.Merging {
		updated := false
		if u, ok := find.(search.Updater); ok {
			var err error
			if updated, err = c.update(u); err != nil {
				return err
			}
		}
		if !updated {
			if err := c.mapRows(mapper); err != nil {
				return err
			}
		}
	}
	if err := c.find(find); err != nil {
		return err
	}
	return countSets(w, sr, &rows.ClusterCounts{Lists: at.Counts.ListCounts, Edges: at.Counts.Edges, Hamming: at.Counts.Hamming, Join: at.Counts.Join})
}

// clustering runs a search over the tables of a workspace.
type clustering struct {
	w  *workspace.Workspace
	sr *workspace.StageRun
	at *clusterCursor
	in search.Input

	scores *results.TextScores
}

func (c *clustering) begin() (err error) {
	if c.scores, err = results.LoadTextScores(c.sr.Ctx, c.w); err != nil {
		return err
	}
	c.in = search.Input{
		Postings:     c.postings(nil),
		Different:    sync.OnceValues(c.different),
		Members:      c.members,
		Concentrated: func(members []cluster.Key) (bool, error) { return Concentrated(c.w, members) },
		Texts:        c.texts,
		Memory:       extsort.Messages(c.w.DB.Tmp),
		Workers:      c.w.Options.Workers,
	}
	return nil
}

// countSets counts the perhaps-similar sets and ends the clustering.
func countSets(w *workspace.Workspace, sr *workspace.StageRun, c *rows.ClusterCounts) error {
	for set, err := range results.Sets(w) {
		if err != nil {
			return err
		}
		c.Sets++
		c.Members += int64(len(set))
		c.Largest = max(c.Largest, int64(len(set)))
	}
	return sr.SetCounts(c)
}

// mapRows writes the rows of the search and commits them together with the cursor.
func (c *clustering) mapRows(m search.Mapper) error {
	w := c.w
	var signed rows.SignCounts
	if err := w.Counts(workspace.StageSign, &signed); err != nil {
		return err
	}
	if len(c.at.Next) == 0 {
		*c.at = clusterCursor{}
		b := w.DB.Batch()
		err := errors.Join(b.Clear(layout.TableSearch, layout.TableLong, layout.TableChanged, layout.TableFilter), b.Delete(layout.MetaKey(noteOfChanges)), b.Commit())
		if err != nil {
			return err
		}
	}
	w.Options.Progress.Total(signed.Signatures-c.at.Read, "signatures")
	_, counted := m.(search.Updater)
	var filter *bloom.Filter
	if counted && len(c.at.Next) == 0 { // otherwise the first signatures were seen before an interruption
		filter = bloom.New(signed.Signatures)
	}
	run := layout.NewSearchRun(m.RowSize(), counted)
	var long []extsort.Entry
	flush := func() error {
		e, err := c.sr.CursorEntry(c.at)
		if err != nil {
			return err
		}
		runs := run.Sorted(w.Options.Workers)
		if counted && c.at.Rows > int64(run.Len()) { // rows may be there already
			if err := c.sum(runs); err != nil {
				return err
			}
		}
		runs = append(runs, slices.Values([]extsort.Entry{e}), slices.Values(long))
		err = w.DB.Ingest(c.sr.Ctx, runs...)
		run.Clear()
		long = long[:0]
		return err
	}
	in := c.in
	read := c.at.Read
	in.Postings = func(yield func(cluster.Posting, error) bool) {
		var last *signature.Signature
		for p, err := range c.postings(c.at.Next) {
			if read++; err == nil && read&0xffff == 0 {
				w.Options.Progress.Add(0x10000)
				err = c.sr.Ctx.Err()
			}
			if filter != nil && err == nil && (last == nil || p.Signature != *last) {
				if last = &p.Signature; !filter.Add(p.Signature) {
					filter = nil
				}
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
	err := m.Map(in, search.RowSink{
		Row: func(row []byte) error {
			run.AddSearched(row)
			c.at.Rows++
			return nil
		},
		Whole: func(next signature.Signature) error {
			if run.Len() < w.Options.RunRows {
				return nil
			}
			c.at.Next, c.at.Read = next[:], read-1
			return flush()
		},
		Long: func(s signature.Signature, l cluster.LongList) error {
			long = append(long, extsort.Entry{Key: layout.LongKey(s), Value: layout.LongValue(l)})
			return nil
		},
	}, &c.at.Counts)
	if err != nil {
		return err
	}
	if err := c.sr.Replace(w.DB, layout.TableFilter, filter.Rows()); err != nil {
		return err
	}
	c.at.Next, c.at.Read, c.at.Merging = nil, read, true
	return flush()
}

// sum adds to rows the lists that gave them before.
func (c *clustering) sum(runs []iter.Seq[extsort.Entry]) error {
	there, err := c.w.DB.Seeker(layout.TableSearch)
	if err != nil {
		return err
	}
	defer func() { _ = there.Close() }()
	before := map[string]int64{}
	for i, run := range runs {
		for e := range run {
			r, ok, err := there.Get(e.Key)
			if ok {
				before[string(e.Key)], err = r.Lists()
			}
			if err != nil {
				return err
			}
		}
		runs[i] = func(yield func(extsort.Entry) bool) {
			for e := range run {
				if n, ok := before[string(e.Key)]; ok {
					more, _ := layout.ParseLists(e.Value)
					e.Value = layout.ListsValue(n + more)
				}
				if !yield(e) {
					return
				}
			}
		}
	}
	return nil
}

// Concentrated reports whether the pages of a list's members are many, of few sites.
func Concentrated(w *workspace.Workspace, members []cluster.Key) (bool, error) {
	var pages []cluster.Page
	for _, k := range members {
		id := k.ID()
		n := 0
		for r, err := range w.DB.Rows(layout.PrefixBounds(layout.OccurrencesOf(id))) {
			if err != nil {
				return false, err
			}
			o, err := r.Occurrence()
			if err != nil {
				return false, err
			}
			if o.Site != rows.NoSite {
				pages = append(pages, cluster.Page{Site: o.Site, Address: o.Address})
			}
			if n++; n == dataflow.MaxSiteDocs {
				break
			}
		}
	}
	k := w.Config.Cluster
	return cluster.Concentrated(pages, k.SiteList, k.SiteShare, k.Sites), nil
}

// find writes what the search finds. After an interruption it starts over.
func (c *clustering) find(find search.Search) error {
	w := c.w
	in := c.in
	if _, maps := find.(search.Mapper); maps {
		w.Options.Progress.Total(c.at.Rows, "rows")
		in.Rows = c.rows()
	}
	sets := newSetRun(c.sr, w, find.Emits())
	if err := find.Find(c.sr.Ctx, in, search.Sink{Member: sets.member, Pair: sets.pair}, &c.at.Counts); err != nil {
		return err
	}
	return sets.end()
}

// rows yields the rows of the search, in order.
func (c *clustering) rows() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		read := int64(0)
		var all store.Tally
		for r, err := range c.w.DB.Table(layout.TableSearch) {
			if read++; err == nil && read&0xfff == 0 {
				c.w.Options.Progress.Add(0x1000)
				err = c.sr.Ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			all.Add(r.Key())
			if !yield(r.Searched(), nil) {
				return
			}
		}
		c.sr.Known(layout.TableSearch, all.Contents())
	}
}

// postings yields the postings in order, from a signature on.
func (c *clustering) postings(from []byte) iter.Seq2[cluster.Posting, error] {
	return func(yield func(cluster.Posting, error) bool) {
		for r, err := range c.w.DB.Rows(layout.PostingsFrom(from)) {
			var p cluster.Posting
			if err == nil {
				p, err = layout.ParsePostingKey(r.Key())
			}
			if err == nil {
				p.Key, err = c.scores.Key(p.Key)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// different returns the number of distinct signatures.
func (c *clustering) different() (n int64, err error) {
	var last signature.Signature
	for p, err := range c.in.Postings {
		if err != nil {
			return 0, err
		}
		if n == 0 || p.Signature != last {
			last = p.Signature
			if n++; n&0xffff == 0 && c.sr.Ctx.Err() != nil {
				return 0, c.sr.Ctx.Err()
			}
		}
	}
	return n, nil
}

// members returns the texts that have a signature.
func (c *clustering) members(s signature.Signature) ([]cluster.Key, error) {
	return c.keysOf(c.w.DB.Rows(layout.PrefixBounds(layout.PostingsOf(s))))
}

// keysOf returns the keys of the texts of postings.
func (c *clustering) keysOf(postings iter.Seq2[layout.Row, error]) (keys []cluster.Key, err error) {
	for r, err := range postings {
		if err != nil {
			return nil, err
		}
		p, err := layout.ParsePostingKey(r.Key())
		if err == nil {
			p.Key, err = c.scores.Key(p.Key)
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, p.Key)
	}
	return keys, nil
}

// texts yields the texts that are compared.
func (c *clustering) texts(yield func(search.Text, error) bool) {
	if err := c.eachText(func(t search.Text) bool { return yield(t, nil) }); err != nil {
		yield(search.Text{}, err)
	}
}

func (c *clustering) eachText(yield func(search.Text) bool) error {
	w := c.w
	var signed rows.SignCounts
	if err := w.Counts(workspace.StageSign, &signed); err != nil {
		return err
	}
	w.Options.Progress.Total(signed.Texts, "texts")
	reader, err := results.LoadFrames(w)
	if err != nil {
		return err
	}
	n := int64(0)
	for r, err := range w.DB.Table(layout.TableSigned) {
		if err != nil {
			return err
		}
		id, err := r.TextID()
		if err != nil {
			return err
		}
		stored, ok, err := w.DB.Get(layout.TextKey(id))
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("no text: %w", layout.Corrupt(layout.TextKey(id)))
		}
		readings, err := reader.Readings(id, string(stored))
		if err != nil {
			return err
		}
		text := readings.Own
		k, err := c.scores.Key(cluster.NewKey(float32(utf8.RuneCountInString(text)), id))
		if err != nil {
			return err
		}
		if !yield(search.Text{Key: k, Text: text}) {
			return nil
		}
		if n++; n&0xfff == 0 {
			w.Options.Progress.Add(0x1000)
			if err := c.sr.Ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}
