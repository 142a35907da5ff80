package stages

import (
	"errors"
	"slices"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/signature"
)

// maxSiteDocs is the number of documents of one text that count for its sites.
const maxSiteDocs = 16

// clusterCursor is where the clustering goes on: at the list of Signature, or
// after all lists with the merging, which starts over.
type clusterCursor struct {
	Signature []byte             `json:"signature,omitempty"`
	Merging   bool               `json:"merging,omitempty"`
	Counts    cluster.ListCounts `json:"counts"`
}

func runCluster(w *workspace.Workspace, sr *workspace.StageRun) error {
	switch w.Config.Cluster.Search {
	case configs.SearchHamming:
		return clusterHamming(w, sr)
	case configs.SearchJoin:
		return clusterJoin(w, sr)
	}
	var at clusterCursor
	if _, err := sr.Cursor(&at); err != nil {
		return err
	}
	if !at.Merging {
		if err := lists(w, sr, &at); err != nil {
			return err
		}
	}
	counts := rows.ClusterCounts{Lists: at.Counts}
	merge := mergeEdges
	if w.Config.Cluster.Pairs() {
		merge = tallyEdges
	}
	if err := merge(w, sr, &counts); err != nil {
		return err
	}
	return countSets(w, sr, &counts)
}

// countSets counts the perhaps-similar sets, and ends the clustering.
func countSets(w *workspace.Workspace, sr *workspace.StageRun, c *rows.ClusterCounts) error {
	for set, err := range results.Sets(w, nil) {
		if err != nil {
			return err
		}
		c.Sets++
		c.Members += int64(len(set))
		c.Largest = max(c.Largest, int64(len(set)))
	}
	return sr.SetCounts(c)
}

// lists scans the signature lists in order and writes their edges.
func lists(w *workspace.Workspace, sr *workspace.StageRun, at *clusterCursor) error {
	var signed rows.SignCounts
	if err := w.Counts(workspace.StageSign, &signed); err != nil {
		return err
	}
	w.Options.Progress.Total(signed.Signatures-at.Counts.Postings, "signatures")
	keyOf, err := keyOf(w)
	if err != nil {
		return err
	}
	edges := store.FixedRun{Size: edgeSize(w)}
	before := at.Counts
	flush := func(cursor clusterCursor, counts cluster.ListCounts) error {
		cursor.Counts = before
		cursor.Counts.Add(counts)
		*at = cursor
		e, err := sr.CursorEntry(cursor)
		if err != nil {
			return err
		}
		err = w.DB.Ingest(sr.Ctx, append(edges.Sorted(w.Options.Workers), slices.Values([]extsort.Entry{e}))...)
		edges.Clear()
		return err
	}
	postings := func(yield func(cluster.Posting, error) bool) {
		lower, upper := store.TableBounds(store.TablePosting)
		n := int64(0)
		for r, err := range w.DB.Rows(append(lower, at.Signature...), upper) {
			var p cluster.Posting
			if err == nil {
				p, err = store.ParsePostingKey(r.Key())
				p.Key = keyOf(p.Key)
			}
			if n++; err == nil && n&0xffff == 0 {
				w.Options.Progress.Add(0x10000)
				err = sr.Ctx.Err()
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
	counts, err := dataflow.Edges(postings, w.Config.Cluster, func(members []cluster.Key) (bool, error) { return Concentrated(w, members) }, dataflow.EdgeSink{
		Edge: func(e dataflow.Edge) error {
			edges.Add([]byte{store.TableEdge}, e.Rep[:], e.Member[:], e.Signature[:edges.Size-store.EdgeSize])
			return nil
		},
		Whole: func(next signature.Signature, counts cluster.ListCounts) error {
			if edges.Len() < w.Options.RunRows {
				return nil
			}
			return flush(clusterCursor{Signature: next[:]}, counts)
		},
	})
	if err != nil {
		return err
	}
	return flush(clusterCursor{Merging: true}, counts)
}

// Concentrated reports whether the members of a list stand on few sites.
func Concentrated(w *workspace.Workspace, members []cluster.Key) (bool, error) {
	var sites []uint64
	for _, k := range members {
		id := k.ID()
		n := 0
		for r, err := range w.DB.Rows(store.PrefixBounds(store.Key(store.TableOccurrence, id[:]))) {
			if err != nil {
				return false, err
			}
			o, err := r.Occurrence()
			if err != nil {
				return false, err
			}
			if o.Site != rows.NoSite {
				sites = append(sites, o.Site)
			}
			if n++; n == maxSiteDocs {
				break
			}
		}
	}
	return cluster.Concentrated(sites, w.Config.Cluster.SiteShare, w.Config.Cluster.Sites), nil
}

// mergeEdges makes the perhaps-similar sets of the edges.
func mergeEdges(w *workspace.Workspace, sr *workspace.StageRun, c *rows.ClusterCounts) error {
	b := w.DB.Batch()
	if err := errors.Join(b.Clear(store.TableSet), b.Commit()); err != nil {
		return err
	}
	w.Options.Progress.Total(c.Lists.Edges, "edges")
	edges := func(yield func(cluster.Edge, error) bool) {
		for e, err := range storedEdges(w, sr) {
			c.Edges++
			if !yield(e, err) {
				return
			}
		}
	}
	members := store.FixedRun{Size: 1 + 2*cluster.KeySize}
	flush := func() error {
		err := w.DB.Ingest(sr.Ctx, members.Sorted(w.Options.Workers)...)
		members.Clear()
		return err
	}
	err := dataflow.Sets(edges, w.Config.Cluster, extsort.Messages(w.DB.Tmp), func(m cluster.Membership) error {
		members.Add([]byte{store.TableSet}, m.Set[:], m.Member[:])
		if members.Len() < w.Options.RunRows {
			return nil
		}
		return flush()
	})
	return errors.Join(err, flush())
}

// keyOf returns the keys that texts have in clustering: those that they were
// signed with, or those of their page quality.
func keyOf(w *workspace.Workspace) (func(cluster.Key) cluster.Key, error) {
	quality, err := quality(w)
	if err != nil || quality == nil {
		return func(k cluster.Key) cluster.Key { return k }, err
	}
	return func(k cluster.Key) cluster.Key { return cluster.NewKey(quality[k.ID()], k.ID()) }, nil
}

// quality returns the best page quality of each text; nil without a file. In
// memory: 24 bytes a line and 20 a scored text, doubled by the maps.
func quality(w *workspace.Workspace) (map[rows.TextID]float32, error) {
	path := w.Config.Cluster.Quality
	if path == "" {
		return nil, nil
	}
	pages, err := results.ReadQualities(path)
	if err != nil {
		return nil, err
	}
	scores := map[rows.TextID]float32{}
	for stored, err := range results.DocumentRows[results.DocumentView](w) {
		if err != nil {
			return nil, err
		}
		d := stored.Row
		if score, ok := pages.Of(d.TargetURI); ok {
			id, err := d.ParsedTextID()
			if err != nil {
				return nil, err
			}
			scores[id] = max(scores[id], score)
		}
	}
	return scores, nil
}

// edgeSize returns the size of a key of store.TableEdge. A method that counts
// common signatures has one key for each, which ends with the signature.
func edgeSize(w *workspace.Workspace) int {
	if w.Config.Cluster.Pairs() && w.Config.Cluster.Common > 1 {
		return store.EdgeSize + len(signature.Signature{})
	}
	return store.EdgeSize
}
