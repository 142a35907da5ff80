package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"neardup/extract"
	"neardup/report"
	"neardup/uris"
)

// Clusters and pages are browsed by an index: clusters by size, their members in
// the order of exports, and all pages by SURT and by date, so that every list is
// a range of keys and nothing is read whole. A run does without it: it is made
// when first asked for, in one pass over the clusters and one over the documents,
// and again when the clusters have changed.

const (
	browseIndex   = "index/browse" // its place in tableMeta
	browseVersion = 1              // of what is in the index

	mostBuckets = 60  // of a timeline, before it is by longer times
	mostHosts   = 20  // of a cluster, by name
	mostHost    = 255 // bytes of such a name; real ones have at most 253
)

// ingestBytes are those of rows that are ingested together. It is a variable for
// tests.
var ingestBytes = 8 << 20

var browseTables = []byte{tableBrowsed, tableSize, tableMember, tableSURT, tableDate}

// browsed is what the index says of itself, and of all clusters.
type browsed struct {
	Version    int              `json:"version"`
	Generation string           `json:"generation"` // of the clusters
	Clusters   report.Clusters  `json:"clusters"`
	Redundant  report.Redundant `json:"redundant"`
	First      string           `json:"first"` // date in digits
	Last       string           `json:"last"`
}

// browsedCluster is a row of tableBrowsed. What it lacks, the document has.
type browsedCluster struct {
	Size      int      `json:"size"`
	Document  string   `json:"document"` // the representative's docID
	First     string   `json:"first"`    // dates in digits
	Last      string   `json:"last"`
	Hosts     int      `json:"hosts"`
	Identical int      `json:"identical"` // members besides the representative with its text
	Lowest    float64  `json:"lowest"`
	Timeline  []bucket `json:"timeline"`
	HostList  []bucket `json:"host_list"`
}

type bucket struct {
	Label string `json:"label"`
	Pages int    `json:"pages"`
}

// indexClusters gives what the index says of all clusters. It makes it, unless
// there is one of these clusters.
func (w *Workspace) indexClusters(ctx context.Context) (b browsed, err error) {
	s, _, err := w.state(StageVerify)
	if err != nil {
		return b, err
	}
	reason := Input
	ok, err := w.store.getJSON(metaKey(browseIndex), &b)
	switch {
	case err != nil:
		return b, err
	case !ok:
		reason = Missing
	case b.Version != browseVersion:
		reason = Outdated
	case b.Generation == s.generation():
		return b, nil
	}
	batch := w.store.batch()
	if err := errors.Join(batch.clear(browseTables...), batch.Delete(metaKey(browseIndex), nil), batch.commit()); err != nil {
		return b, err
	}
	w.o.Progress.Start("index", string(reason), "clusters and pages, for browsing")
	b, err = w.writeBrowsed(ctx)
	w.o.Progress.Stop(err)
	if err != nil {
		return b, err
	}
	b.Version, b.Generation = browseVersion, s.generation()
	batch = w.store.batch()
	return b, errors.Join(batch.setJSON(metaKey(browseIndex), b), batch.commit())
}

func (w *Workspace) writeBrowsed(ctx context.Context) (b browsed, err error) {
	bySize, places := w.store.sorter(), w.store.sorter()
	defer func() { err = errors.Join(err, bySize.close(), places.close()) }()
	if b, err = w.writeBrowsedClusters(ctx, bySize, places); err != nil {
		return b, err
	}
	if err := w.ingestSorted(ctx, bySize); err != nil {
		return b, err
	}
	return b, w.writeBrowsedPages(ctx, places)
}

// writeBrowsedClusters writes the clusters and their members. It gives bySize
// the keys of clusters by size, and places the value of each of their pages by
// docID.
func (w *Workspace) writeBrowsedClusters(ctx context.Context, bySize, places *sorter) (b browsed, err error) {
	var counts VerifyCounts
	if err := w.counts(StageVerify, &counts); err != nil {
		return b, err
	}
	w.o.Progress.Total(counts.Clusters, "clusters")
	clusters, members := orderedRows{ctx: ctx, store: w.store}, orderedRows{ctx: ctx, store: w.store}
	var sum report.Summary
	var dates dateSpan
	for c, err := range w.Clusters(ctx) {
		if err != nil {
			return b, err
		}
		sum.Add(c)
		id, err := parseTextID(c.ID)
		if err != nil {
			return b, err
		}
		row := browseCluster(c)
		dates.add(row.First)
		dates.add(row.Last)
		size := uint32(c.Size)
		if err := errors.Join(clusters.addJSON(browsedKey(id), row), bySize.add(sizeKey(size, id), nil)); err != nil {
			return b, err
		}
		placed := appendPlaced(nil, id, size)
		for i, m := range c.Members {
			document, err := parseDocument(m.Document)
			against, againstErr := parseDocument(m.AgainstDocument)
			value := browsedMember{document, against, m.Relation, float64(m.Resemblance), float64(m.Containment)}.append(nil)
			if err := errors.Join(err, againstErr, members.add(memberKey(id, uint32(i)), value), places.add(document[:], placed)); err != nil {
				return b, err
			}
		}
		w.o.Progress.Add(1)
	}
	b.Clusters, b.Redundant, b.First, b.Last = sum.Clusters, sum.Redundant, dates.first, dates.last
	return b, errors.Join(clusters.flush(), members.flush(), ctx.Err())
}

// parseDocument reads a docID that this program wrote.
func parseDocument(s string) (extract.ID, error) {
	id, err := parseTextID(s)
	return extract.ID(id), err
}

func browseCluster(c report.Cluster) browsedCluster {
	b := browsedCluster{Size: c.Size, Document: c.Members[0].Document, Lowest: 1}
	var dates dateSpan
	months, hosts := map[int]int{}, map[string]int{}
	for _, m := range c.Members {
		b.Lowest = min(b.Lowest, float64(m.Resemblance))
		if m.Relation == report.Identical {
			b.Identical++
		}
		if date := pageDate(m.Date); date != noDate {
			dates.add(date)
			months[monthOf(date)]++
		}
		if host := uris.Host(m.URI); host != "" {
			hosts[host]++
		}
	}
	b.First, b.Last, b.Timeline = dates.first, dates.last, timeline(months)
	b.Hosts = len(hosts)
	for _, host := range slices.SortedFunc(maps.Keys(hosts), func(a, b string) int {
		return cmp.Or(cmp.Compare(hosts[b], hosts[a]), cmp.Compare(a, b))
	})[:min(mostHosts, len(hosts))] {
		b.HostList = append(b.HostList, bucket{host[:min(mostHost, len(host))], hosts[host]})
	}
	return b
}

// writeBrowsedPages writes all pages by SURT and by date, with the value that
// places has of them.
func (w *Workspace) writeBrowsedPages(ctx context.Context, places *sorter) (err error) {
	var counts ExtractCounts
	if err := w.counts(StageExtract, &counts); err != nil {
		return err
	}
	w.o.Progress.Total(counts.Documents, "pages")
	bySURT, byDate := w.store.sorter(), w.store.sorter()
	defer func() { err = errors.Join(err, bySURT.close(), byDate.close()) }()
	next, stop := iter.Pull2(places.sorted())
	defer stop()
	place, err, more := next()
	if err != nil {
		return err
	}
	n, last := 0, []byte(nil)
	for r, err := range w.store.table(tableDocument) {
		if err != nil {
			return err
		}
		id, _, _, err := parseDocumentKey(r.key())
		if err != nil {
			return err
		}
		if bytes.Equal(id[:], last) {
			continue // another file that holds it
		}
		last = append(last[:0], id[:]...)
		var d struct {
			TargetURI string `json:"uri"`
			Date      string `json:"date"`
		}
		if err := r.json(&d); err != nil {
			return err
		}
		var value []byte
		if more && bytes.Equal(place.key, id[:]) {
			value = bytes.Clone(place.value)
			if place, err, more = next(); err != nil {
				return err
			}
		}
		date := pageDate(d.Date)
		if err := errors.Join(bySURT.add(surtKey(uris.SURT(d.TargetURI), date, id), value), byDate.add(dateKey(date, id), value)); err != nil {
			return err
		}
		if n++; n&0xfff == 0 {
			w.o.Progress.Add(0x1000)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	if more {
		return fmt.Errorf("no document: %w", corrupt(place.key))
	}
	return errors.Join(w.ingestSorted(ctx, bySURT), w.ingestSorted(ctx, byDate))
}

// ingestSorted ingests what was sorted, of which no two have the same key.
func (w *Workspace) ingestSorted(ctx context.Context, s *sorter) error {
	rows := orderedRows{ctx: ctx, store: w.store}
	for e, err := range s.sorted() {
		if err := errors.Join(err, rows.add(e.key, e.value)); err != nil {
			return err
		}
	}
	return rows.flush()
}

// orderedRows ingests rows that come in the order of their keys, some at a time:
// these do not overlap, and so need no merging later.
type orderedRows struct {
	ctx   context.Context
	store *store
	rows  []entry
	bytes int
}

// add adds a row, of which it keeps a copy.
func (o *orderedRows) add(key, value []byte) error {
	o.rows = append(o.rows, entry{bytes.Clone(key), bytes.Clone(value)})
	const perRow = 48
	if o.bytes += len(key) + len(value) + perRow; o.bytes < ingestBytes {
		return nil
	}
	return o.flush()
}

func (o *orderedRows) addJSON(key []byte, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return o.add(key, value)
}

func (o *orderedRows) flush() error {
	if err := o.ctx.Err(); err != nil {
		return err
	}
	err := o.store.ingest(o.ctx, slices.Values(o.rows))
	clear(o.rows)
	o.rows, o.bytes = o.rows[:0], 0
	return err
}
