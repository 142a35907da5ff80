package stages

import (
	"encoding/binary"
	"errors"
	"slices"

	"neardup/cluster"
	"neardup/cluster/hamming"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/signature"
	"neardup/signature/simhash"
)

// hammingCursor is where the search goes on: in making the tables, or after all
// with scanning them, which starts over.
type hammingCursor struct {
	Signature []byte             `json:"signature,omitempty"`
	Scanning  bool               `json:"scanning,omitempty"`
	Counts    rows.HammingCounts `json:"counts"`
}

// group is the texts of one signature, told by the one with the largest key.
type group struct {
	signature signature.Signature
	key       cluster.Key
	texts     uint32
}

// clusterHamming finds the pairs of texts whose signatures differ in few bits,
// by permuted, sorted tables (Manku, Jain, Das Sarma 2007; package hamming). A
// table has each signature once; texts that share one are pairs.
func clusterHamming(w *workspace.Workspace, sr *workspace.StageRun) error {
	var at hammingCursor
	if _, err := sr.Cursor(&at); err != nil {
		return err
	}
	groups, err := countGroups(w, sr)
	if err != nil {
		return err
	}
	tables, err := hamming.Choose(simhash.Bits, w.Config.Cluster.Hamming.Distance, float64(groups), hamming.EntryStore)
	if err != nil {
		return err
	}
	keyOf, err := keyOf(w)
	if err != nil {
		return err
	}
	if !at.Scanning {
		if err := permute(w, sr, tables, keyOf, &at); err != nil {
			return err
		}
	}
	if err := scanTables(w, sr, tables, keyOf, &at.Counts); err != nil {
		return err
	}
	return countSets(w, sr, &rows.ClusterCounts{Hamming: &at.Counts})
}

// countGroups returns the number of different signatures.
func countGroups(w *workspace.Workspace, sr *workspace.StageRun) (n int64, err error) {
	var last signature.Signature
	for r, err := range w.DB.Table(store.TablePosting) {
		if err != nil {
			return 0, err
		}
		p, err := store.ParsePostingKey(r.Key())
		if err != nil {
			return 0, err
		}
		if n == 0 || p.Signature != last {
			last = p.Signature
			if n++; n&0xffff == 0 && sr.Ctx.Err() != nil {
				return 0, sr.Ctx.Err()
			}
		}
	}
	return n, nil
}

// permute writes the tables, with the pairs of texts that share a signature.
func permute(w *workspace.Workspace, sr *workspace.StageRun, tables *hamming.Tables, keyOf func(cluster.Key) cluster.Key, at *hammingCursor) error {
	if len(at.Signature) == 0 {
		if err := clearSets(w); err != nil {
			return err
		}
	}
	at.Counts.Tables = tables.Len()
	run, sets := store.FixedRun{Size: store.PermutedSize}, newSetRun(sr.Ctx, w, true)
	flush := func(next []byte) error { // the groups before next are whole
		at.Signature = next
		e, err := sr.CursorEntry(at)
		if err != nil {
			return err
		}
		err = errors.Join(sets.flush(), w.DB.Ingest(sr.Ctx, append(run.Sorted(w.Options.Workers), slices.Values([]extsort.Entry{e}))...))
		run.Clear()
		return err
	}
	var shared signature.Signature
	var members []cluster.Key
	end := func() error {
		if len(members) == 0 {
			return nil
		}
		slices.SortFunc(members, cluster.Key.Compare)
		for e := range cluster.Pairs(members, w.Config.Cluster.Hamming.AllPairs) {
			if err := sets.add(e.Rep, e.Member, 1); err != nil {
				return err
			}
		}
		var texts [4]byte
		binary.BigEndian.PutUint32(texts[:], uint32(len(members)))
		for t := range tables.Len() {
			run.Add([]byte{store.TablePermuted}, tables.AppendKey(nil, t, shared.Bits()), members[0][:], texts[:])
		}
		at.Counts.Signatures++
		at.Counts.Largest = max(at.Counts.Largest, int64(len(members)))
		members = members[:0]
		return nil
	}
	lower, upper := store.TableBounds(store.TablePosting)
	for r, err := range w.DB.Rows(append(lower, at.Signature...), upper) {
		if err != nil {
			return err
		}
		p, err := store.ParsePostingKey(r.Key())
		if err != nil {
			return err
		}
		if p.Signature != shared {
			if err := end(); err != nil {
				return err
			}
			shared = p.Signature
			if run.Len() >= w.Options.RunRows {
				if err := flush(p.Signature[:]); err != nil {
					return err
				}
			}
			if err := sr.Ctx.Err(); err != nil {
				return err
			}
		}
		members = append(members, keyOf(p.Key))
	}
	if err := end(); err != nil {
		return err
	}
	at.Scanning = true
	return flush(nil)
}

// scanTables finds the signatures that differ in few bits, and takes the pairs
// of their texts.
func scanTables(w *workspace.Workspace, sr *workspace.StageRun, tables *hamming.Tables, keyOf func(cluster.Key) cluster.Key, c *rows.HammingCounts) error {
	w.Options.Progress.Total(c.Signatures*int64(c.Tables), "signatures")
	sets := newSetRun(sr.Ctx, w, true)
	scan := hamming.NewScan(tables, func(a, b group, distance int) error {
		c.Pairs++
		return pairGroups(w, a, b, 1-float64(distance)/simhash.Bits, keyOf, sets)
	})
	n := 0
	for r, err := range w.DB.Table(store.TablePermuted) {
		if err != nil {
			return err
		}
		key, largest, texts, err := store.ParsePermutedKey(r.Key())
		if err != nil {
			return err
		}
		_, bits, err := tables.ParseKey(key)
		if err != nil {
			return err
		}
		if err := scan.Add(key, group{signature.Of(bits), largest, texts}); err != nil {
			return err
		}
		if n++; n&0xfff == 0 {
			w.Options.Progress.Add(0x1000)
			if err := sr.Ctx.Err(); err != nil {
				return err
			}
		}
	}
	return sets.flush()
}

// pairGroups takes the pairs of texts of two signatures: all of them if both
// have few texts, else those with the text of the largest key of either.
func pairGroups(w *workspace.Workspace, a, b group, score float64, keyOf func(cluster.Key) cluster.Key, sets *setRun) error {
	var members [2][]cluster.Key
	most := w.Config.Cluster.Hamming.AllPairs
	few := int(max(a.texts, b.texts)) <= most
	for i, g := range []group{a, b} {
		members[i] = []cluster.Key{g.key}
		if g.texts == 1 {
			continue
		}
		for r, err := range w.DB.Rows(store.PrefixBounds(store.Key(store.TablePosting, g.signature[:]))) {
			if err != nil {
				return err
			}
			p, err := store.ParsePostingKey(r.Key())
			if err != nil {
				return err
			}
			if id := p.Key.ID(); id != g.key.ID() {
				members[i] = append(members[i], keyOf(p.Key))
			}
		}
	}
	for i, x := range members[0] {
		for j, y := range members[1] {
			if few || i == 0 || j == 0 {
				if err := sets.add(x, y, score); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
