package pipeline

import (
	"encoding/binary"
	"errors"
	"slices"

	"neardup/cluster"
	"neardup/cluster/hamming"
	"neardup/signature"
	"neardup/signature/simhash"
)

// HammingCounts sums up a search for signatures that differ in few bits.
type HammingCounts struct {
	Signatures int64 `json:"signatures"` // that differ
	Tables     int   `json:"tables"`
	Pairs      int64 `json:"signature_pairs"` // within the distance, of signatures that differ
	Largest    int64 `json:"largest_group"`   // texts of one signature
}

// hammingCursor is where the search goes on: in making the tables, or after all
// with scanning them, which starts over.
type hammingCursor struct {
	Signature []byte        `json:"signature,omitempty"`
	Scanning  bool          `json:"scanning,omitempty"`
	Counts    HammingCounts `json:"counts"`
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
func (w *Workspace) clusterHamming(sr *stageRun) error {
	var at hammingCursor
	if _, err := sr.cursor(&at); err != nil {
		return err
	}
	groups, err := w.countGroups(sr)
	if err != nil {
		return err
	}
	tables, err := hamming.Choose(simhash.Bits, w.config.Cluster.Hamming.Distance, float64(groups), hamming.EntryStore)
	if err != nil {
		return err
	}
	keyOf, err := w.keyOf()
	if err != nil {
		return err
	}
	if !at.Scanning {
		if err := w.permute(sr, tables, keyOf, &at); err != nil {
			return err
		}
	}
	if err := w.scanTables(sr, tables, keyOf, &at.Counts); err != nil {
		return err
	}
	return w.countSets(sr, &ClusterCounts{Hamming: &at.Counts})
}

// countGroups is the number of different signatures.
func (w *Workspace) countGroups(sr *stageRun) (n int64, err error) {
	var last signature.Signature
	for r, err := range w.store.table(tablePosting) {
		if err != nil {
			return 0, err
		}
		p, err := parsePostingKey(r.key())
		if err != nil {
			return 0, err
		}
		if n == 0 || p.Signature != last {
			last = p.Signature
			if n++; n&0xffff == 0 && sr.ctx.Err() != nil {
				return 0, sr.ctx.Err()
			}
		}
	}
	return n, nil
}

// permute writes the tables, with the pairs of texts that share a signature.
func (w *Workspace) permute(sr *stageRun, tables *hamming.Tables, keyOf func(cluster.Key) cluster.Key, at *hammingCursor) error {
	if len(at.Signature) == 0 {
		if err := w.clearSets(); err != nil {
			return err
		}
	}
	at.Counts.Tables = tables.Len()
	rows, sets := fixedRun{size: permutedSize}, w.newSetRun(sr.ctx, true)
	flush := func(next []byte) error { // the groups before next are whole
		at.Signature = next
		e, err := sr.cursorEntry(at)
		if err != nil {
			return err
		}
		err = errors.Join(sets.flush(), w.store.ingest(sr.ctx, append(rows.sorted(w.o.Workers), slices.Values([]entry{e}))...))
		rows.clear()
		return err
	}
	var shared signature.Signature
	var members []cluster.Key
	end := func() error {
		if len(members) == 0 {
			return nil
		}
		slices.SortFunc(members, cluster.Key.Compare)
		for e := range cluster.Pairs(members, w.config.Cluster.Hamming.AllPairs) {
			if err := sets.add(e.Rep, e.Member, 1); err != nil {
				return err
			}
		}
		var texts [4]byte
		binary.BigEndian.PutUint32(texts[:], uint32(len(members)))
		for t := range tables.Len() {
			rows.add([]byte{tablePermuted}, tables.AppendKey(nil, t, shared.Bits()), members[0][:], texts[:])
		}
		at.Counts.Signatures++
		at.Counts.Largest = max(at.Counts.Largest, int64(len(members)))
		members = members[:0]
		return nil
	}
	lower, upper := tableBounds(tablePosting)
	for r, err := range w.store.rows(append(lower, at.Signature...), upper) {
		if err != nil {
			return err
		}
		p, err := parsePostingKey(r.key())
		if err != nil {
			return err
		}
		if p.Signature != shared {
			if err := end(); err != nil {
				return err
			}
			shared = p.Signature
			if rows.len() >= w.o.runRows {
				if err := flush(p.Signature[:]); err != nil {
					return err
				}
			}
			if err := sr.ctx.Err(); err != nil {
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
func (w *Workspace) scanTables(sr *stageRun, tables *hamming.Tables, keyOf func(cluster.Key) cluster.Key, c *HammingCounts) error {
	w.o.Progress.Total(c.Signatures*int64(c.Tables), "signatures")
	sets := w.newSetRun(sr.ctx, true)
	scan := hamming.NewScan(tables, func(a, b group, distance int) error {
		c.Pairs++
		return w.pairGroups(a, b, 1-float64(distance)/simhash.Bits, keyOf, sets)
	})
	n := 0
	for r, err := range w.store.table(tablePermuted) {
		if err != nil {
			return err
		}
		key, largest, texts, err := parsePermutedKey(r.key())
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
			w.o.Progress.Add(0x1000)
			if err := sr.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return sets.flush()
}

// pairGroups takes the pairs of texts of two signatures: all of them if both
// have few texts, else those with the text of the largest key of either.
func (w *Workspace) pairGroups(a, b group, score float64, keyOf func(cluster.Key) cluster.Key, sets *setRun) error {
	var members [2][]cluster.Key
	most := w.config.Cluster.Hamming.AllPairs
	few := int(max(a.texts, b.texts)) <= most
	for i, g := range []group{a, b} {
		members[i] = []cluster.Key{g.key}
		if g.texts == 1 {
			continue
		}
		for r, err := range w.store.rows(prefixBounds(join(tablePosting, g.signature[:]))) {
			if err != nil {
				return err
			}
			p, err := parsePostingKey(r.key())
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
