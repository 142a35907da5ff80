package pipeline

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"neardup/cluster"
	"neardup/cluster/ppjoin"
	"neardup/configs"
	"neardup/signature"
)

const (
	queueMessages = 1 << 20 // messages kept in memory while merging, 44 bytes each
	maxSiteDocs   = 16      // documents of one text that count for its sites
)

// ClusterCounts sums up the clustering.
type ClusterCounts struct {
	Lists   cluster.ListCounts `json:"lists"`
	Edges   int64              `json:"edges"` // distinct
	Sets    int64              `json:"sets"`
	Members int64              `json:"members"`
	Largest int64              `json:"largest_set"`

	Hamming *HammingCounts `json:"hamming,omitempty"`
	Join    *ppjoin.Counts `json:"join,omitempty"`
}

// clusterCursor is where the clustering goes on: at the list of Signature, or
// after all lists with the merging, which starts over.
type clusterCursor struct {
	Signature []byte             `json:"signature,omitempty"`
	Merging   bool               `json:"merging,omitempty"`
	Counts    cluster.ListCounts `json:"counts"`
}

func (w *Workspace) cluster(sr *stageRun) error {
	switch w.config.Cluster.Search {
	case configs.SearchHamming:
		return w.clusterHamming(sr)
	case configs.SearchJoin:
		return w.clusterJoin(sr)
	}
	var at clusterCursor
	if _, err := sr.cursor(&at); err != nil {
		return err
	}
	if !at.Merging {
		if err := w.lists(sr, &at); err != nil {
			return err
		}
	}
	counts := ClusterCounts{Lists: at.Counts}
	merge := w.merge
	if w.config.Cluster.Pairs() {
		merge = w.tally
	}
	if err := merge(sr, &counts); err != nil {
		return err
	}
	return w.countSets(sr, &counts)
}

// countSets counts the perhaps-similar sets, and ends the clustering.
func (w *Workspace) countSets(sr *stageRun, c *ClusterCounts) error {
	for set, err := range w.sets(nil) {
		if err != nil {
			return err
		}
		c.Sets++
		c.Members += int64(len(set))
		c.Largest = max(c.Largest, int64(len(set)))
	}
	return sr.setCounts(c)
}

// lists scans the signature lists in order and writes their edges.
func (w *Workspace) lists(sr *stageRun, at *clusterCursor) error {
	var signed SignCounts
	if err := w.counts(StageSign, &signed); err != nil {
		return err
	}
	w.o.Progress.Total(signed.Signatures-at.Counts.Postings, "signatures")
	keyOf, err := w.keyOf()
	if err != nil {
		return err
	}
	edges := fixedRun{size: w.edgeSize()}
	options := cluster.ListOptions{MaxList: w.config.Cluster.MaxList, SiteList: w.config.Cluster.SiteList}
	if w.config.Cluster.Pairs() {
		options.AllPairs = w.config.Cluster.AllPairs
	}
	var list signature.Signature // of the edges that come
	lists := cluster.NewLists(options, w.concentrated, func(e cluster.Edge) error {
		edges.add([]byte{tableEdge}, e.Rep[:], e.Member[:], list[:edges.size-edgeSize])
		return nil
	})
	before := at.Counts
	flush := func(cursor clusterCursor) error {
		cursor.Counts = before
		cursor.Counts.Add(lists.Counts())
		*at = cursor
		e, err := sr.cursorEntry(cursor)
		if err != nil {
			return err
		}
		err = w.store.ingest(sr.ctx, append(edges.sorted(w.o.Workers), slices.Values([]entry{e}))...)
		edges.clear()
		return err
	}
	lower, upper := tableBounds(tablePosting)
	n := int64(0)
	for r, err := range w.store.rows(append(lower, at.Signature...), upper) {
		if err != nil {
			return err
		}
		p, err := parsePostingKey(r.key())
		if err != nil {
			return err
		}
		p.Key = keyOf(p.Key)
		if err := lists.Add(p); err != nil {
			return err
		}
		list = p.Signature
		if edges.len() >= w.o.runRows && lists.Counts().Postings == n {
			// p is the first of its list: all edges are of lists before it.
			if err := flush(clusterCursor{Signature: p.Signature[:]}); err != nil {
				return err
			}
		}
		if n++; n&0xffff == 0 {
			w.o.Progress.Add(0x10000)
			if err := sr.ctx.Err(); err != nil {
				return err
			}
		}
	}
	if err := lists.Flush(); err != nil {
		return err
	}
	return flush(clusterCursor{Merging: true})
}

// noSite is the hash of a page without a site: a line of a text collection.
var noSite = hash("")

// concentrated tells whether the members of a list stand on few sites.
func (w *Workspace) concentrated(members []cluster.Key) (bool, error) {
	var sites []uint64
	for _, k := range members {
		id := k.ID()
		n := 0
		for r, err := range w.store.rows(prefixBounds(join(tableOccurrence, id[:]))) {
			if err != nil {
				return false, err
			}
			o, err := r.occurrence()
			if err != nil {
				return false, err
			}
			if o.site != noSite {
				sites = append(sites, o.site)
			}
			if n++; n == maxSiteDocs {
				break
			}
		}
	}
	return cluster.Concentrated(sites, w.config.Cluster.SiteShare, w.config.Cluster.Sites), nil
}

// merge makes the perhaps-similar sets of the edges.
func (w *Workspace) merge(sr *stageRun, c *ClusterCounts) error {
	b := w.store.batch()
	if err := errors.Join(b.clear(tableSet), b.commit()); err != nil {
		return err
	}
	w.o.Progress.Total(c.Lists.Edges, "edges")
	edges := func(yield func(cluster.Edge, error) bool) {
		for r, err := range w.store.table(tableEdge) {
			var e cluster.Edge
			if err == nil {
				e.Rep, e.Member, err = parsePairKey(r.key())
			}
			if c.Edges++; err == nil && c.Edges&0xffff == 0 {
				w.o.Progress.Add(0x10000)
				err = sr.ctx.Err()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
	merge := cluster.MergeFollowing
	if w.config.Cluster.Merge == configs.MergeDirect {
		merge = cluster.MergeDirect
	}
	members := fixedRun{size: 1 + 2*cluster.KeySize}
	flush := func() error {
		err := w.store.ingest(sr.ctx, members.sorted(w.o.Workers)...)
		members.clear()
		return err
	}
	err := merge(edges, w.queueMemory(), func(m cluster.Membership) error {
		members.add([]byte{tableSet}, m.Set[:], m.Member[:])
		if members.len() < w.o.runRows {
			return nil
		}
		return flush()
	})
	if err := errors.Join(err, flush()); err != nil {
		return err
	}
	return nil
}

// sets gives the members of each perhaps-similar set, from the largest key
// down, the first of them the set's own; from the set behind after on. Each
// slice is the caller's.
func (w *Workspace) sets(after []byte) iter.Seq2[[]cluster.Key, error] {
	return func(yield func([]cluster.Key, error) bool) {
		lower, upper := tableBounds(tableSet)
		if after != nil {
			_, lower = prefixBounds(join(tableSet, after))
		}
		var set []cluster.Key
		for r, err := range w.store.rows(lower, upper) {
			var owner, member cluster.Key
			if err == nil {
				owner, member, _, err = parseSetKey(r.key())
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(set) > 0 && set[0] != owner {
				if !yield(set, nil) {
					return
				}
				set = nil
			}
			set = append(set, member)
		}
		if len(set) > 0 {
			yield(set, nil)
		}
	}
}

// keyOf gives the keys that texts have in clustering: those that they were
// signed with, or those of their page quality.
func (w *Workspace) keyOf() (func(cluster.Key) cluster.Key, error) {
	quality, err := w.quality()
	if err != nil || quality == nil {
		return func(k cluster.Key) cluster.Key { return k }, err
	}
	return func(k cluster.Key) cluster.Key { return cluster.NewKey(quality[k.ID()], k.ID()) }, nil
}

// quality reads the file of page qualities and gives the best of each text's
// pages; nil without a file. In memory: 24 bytes a line and 20 a scored text,
// doubled by the maps.
func (w *Workspace) quality() (map[textID]float32, error) {
	path := w.config.Cluster.Quality
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cluster.quality: %w", err)
	}
	defer func() { _ = f.Close() }()
	byURI, err := readQuality(f)
	if err != nil {
		return nil, fmt.Errorf("cluster.quality: %s: %w", path, err)
	}
	scores := map[textID]float32{}
	for r, err := range w.store.table(tableDocument) {
		if err != nil {
			return nil, err
		}
		var d storedDocument
		if err := r.json(&d); err != nil {
			return nil, err
		}
		if score, ok := byURI[uriHash(d.TargetURI)]; ok {
			id, err := d.textID()
			if err != nil {
				return nil, err
			}
			scores[id] = max(scores[id], score)
		}
	}
	return scores, nil
}

func uriHash(uri string) [16]byte {
	sum := sha256.Sum256([]byte(uri))
	return [16]byte(sum[:16])
}

func readQuality(r io.Reader) (map[[16]byte]float32, error) {
	scores := map[[16]byte]float32{}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for line := 1; sc.Scan(); line++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		uri, value, ok := strings.Cut(sc.Text(), "\t")
		score, err := strconv.ParseFloat(strings.TrimSpace(value), 32)
		if !ok || err != nil || !(score >= 0) {
			return nil, fmt.Errorf("line %d: want URI<TAB>score, the score a number of at least 0", line)
		}
		scores[uriHash(strings.TrimSpace(uri))] = float32(score)
	}
	return scores, sc.Err()
}

// qualityDigest makes a changed quality file a changed option.
func qualityDigest(path string) string {
	if path == "" {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err.Error()
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
