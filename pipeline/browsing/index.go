package browsing

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
	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/uris"
)

// Browsing uses an index of its own: clusters by size, their members in the order
// of exports, and all pages by SURT and by date, so that every list is a range of
// keys and nothing is read as a whole. A run does not make it. It is made on first
// use, in one pass over the clusters and one over the documents, and again after
// the clusters changed.

const (
	browseIndex   = "index/browse" // its key in tableMeta
	browseVersion = 6              // version of the index. 2: relations are numbered as in scores. 3: contained pages. 4: their places. 5: only identical members have the same text. 6: hosts without odd ports

	maxBuckets = 60  // of a timeline; with more, they cover longer times
	maxHosts   = 20  // hosts of a cluster that are named
	maxHost    = 255 // bytes of such a name; real ones have at most 253
)

// ingestBytes is the size of rows that are ingested together. It is a variable for
// tests.
var ingestBytes = 8 << 20

var browseTables = []byte{layout.TableBrowsed, layout.TableSize, layout.TableMember, layout.TableHeld, layout.TableSURT, layout.TableDate}

// browsed is the stored row about the index and all clusters.
type browsed struct {
	Version    int               `json:"version"`
	Generation string            `json:"generation"` // generation of the clusters
	Clusters   report.Clusters   `json:"clusters"`
	Duplicates report.Duplicates `json:"redundant"`
	First      string            `json:"first"` // date in digits
	Last       string            `json:"last"`
}

// browsedCluster is a row of TableBrowsed. The document has the rest.
type browsedCluster struct {
	Size      int      `json:"size"`
	Document  string   `json:"document"` // docID of the representative
	First     string   `json:"first"`    // dates in digits
	Last      string   `json:"last"`
	Hosts     int      `json:"hosts"`
	Identical int      `json:"identical"` // members other than the representative with its text
	Lowest    float64  `json:"lowest"`
	Timeline  []bucket `json:"timeline"`
	HostList  []bucket `json:"host_list"`
}

type bucket struct {
	Label string `json:"label"`
	Pages int    `json:"pages"`
}

// indexClusters returns the row about all clusters. It makes the index unless there
// is one for these clusters.
func indexClusters(ctx context.Context, w *workspace.Workspace) (b browsed, err error) {
	s, _, err := w.State(workspace.StageVerify)
	if err != nil {
		return b, err
	}
	reason := workspace.Input
	ok, err := w.DB.GetJSON(layout.MetaKey(browseIndex), &b)
	switch {
	case err != nil:
		return b, err
	case !ok:
		reason = workspace.Missing
	case b.Version != browseVersion:
		reason = workspace.Outdated
	case b.Generation == s.Generation():
		return b, nil
	}
	batch := w.DB.Batch()
	if err := errors.Join(batch.Clear(browseTables...), batch.Delete(layout.MetaKey(browseIndex)), batch.Commit()); err != nil {
		return b, err
	}
	w.Options.Progress.Start("index", string(reason), "clusters and pages, for browsing")
	b, err = writeBrowsed(ctx, w)
	w.Options.Progress.Stop(err)
	if err != nil {
		return b, err
	}
	b.Version, b.Generation = browseVersion, s.Generation()
	batch = w.DB.Batch()
	return b, errors.Join(batch.SetJSON(layout.MetaKey(browseIndex), b), batch.Commit())
}

func writeBrowsed(ctx context.Context, w *workspace.Workspace) (b browsed, err error) {
	bySize, places := extsort.New(w.DB.Tmp), extsort.New(w.DB.Tmp)
	defer func() { err = errors.Join(err, bySize.Close(), places.Close()) }()
	if b, err = writeBrowsedClusters(ctx, w, bySize, places); err != nil {
		return b, err
	}
	if err := errors.Join(ingestSorted(ctx, w, bySize), writeBrowsedContained(ctx, w)); err != nil {
		return b, err
	}
	return b, writeBrowsedPages(ctx, w, places)
}

// writeBrowsedClusters writes the clusters and their members. It fills bySize with
// the keys of clusters by size, and places with the value of each of their pages by
// docID.
func writeBrowsedClusters(ctx context.Context, w *workspace.Workspace, bySize, places *extsort.Sorter) (b browsed, err error) {
	var counts rows.VerifyCounts
	if err := w.Counts(workspace.StageVerify, &counts); err != nil {
		return b, err
	}
	w.Options.Progress.Total(counts.Clusters, "clusters")
	clusters, members := orderedRows{ctx: ctx, store: w.DB}, orderedRows{ctx: ctx, store: w.DB}
	var sum report.Summary
	var dates dateSpan
	var present *browsing
	for c, err := range results.GroupParts(ctx, w) {
		if err != nil {
			return b, err
		}
		if c.Size == 0 {
			continue
		}
		sum.Add(c)
		id, err := layout.ParseTextID(c.ID)
		if err != nil {
			return b, err
		}
		if c.From == 0 {
			present = newBrowsing(c)
		}
		present.add(c.Members)
		size := uint32(c.Size)
		placed := layout.AppendPlaced(nil, id, size)
		for i, m := range c.Members {
			document, err := parseDocument(m.Document)
			against, againstErr := parseDocument(m.AgainstDocument)
			value := layout.BrowsedMember{Document: document, Against: against,
				Score: rows.Score{Relation: m.Relation, Resemblance: float64(m.Resemblance), Containment: float64(m.Containment)}}.Append(nil)
			if err := errors.Join(err, againstErr, members.add(layout.MemberKey(id, uint32(c.From+i)), value), places.Add(document[:], placed)); err != nil {
				return b, err
			}
		}
		if c.More {
			continue
		}
		row := present.row()
		dates.add(row.First)
		dates.add(row.Last)
		if err := errors.Join(clusters.addJSON(layout.BrowsedKey(id), row), bySize.Add(layout.SizeKey(size, id), nil)); err != nil {
			return b, err
		}
		w.Options.Progress.Add(1)
	}
	b.Clusters, b.Duplicates, b.First, b.Last = sum.Clusters, sum.Duplicates, dates.first, dates.last
	return b, errors.Join(clusters.flush(), members.flush(), ctx.Err())
}

// parseDocument parses a docID that this program wrote.
func parseDocument(s string) (extract.ID, error) {
	id, err := layout.ParseTextID(s)
	return extract.ID(id), err
}

// browsing makes the row of a cluster while its members come.
type browsing struct {
	browsedCluster
	dates  dateSpan
	months map[int]int
	hosts  map[string]int
}

func newBrowsing(c report.Cluster) *browsing {
	return &browsing{browsedCluster: browsedCluster{Size: c.Size, Document: c.Members[0].Document, Lowest: 1}, months: map[int]int{}, hosts: map[string]int{}}
}

func (b *browsing) add(members []report.Member) {
	for _, m := range members {
		b.Lowest = min(b.Lowest, float64(m.Resemblance))
		if m.Relation == report.Identical {
			b.Identical++
		}
		if date := pageDate(m.Date); date != noDate {
			b.dates.add(date)
			b.months[monthOf(date)]++
		}
		if host := uris.Host(m.URI); host != "" {
			b.hosts[host]++
		}
	}
}

// row returns the row, once all members have come.
func (b *browsing) row() browsedCluster {
	b.First, b.Last, b.Timeline = b.dates.first, b.dates.last, timeline(b.months)
	b.Hosts = len(b.hosts)
	for _, host := range slices.SortedFunc(maps.Keys(b.hosts), func(x, y string) int {
		return cmp.Or(cmp.Compare(b.hosts[y], b.hosts[x]), cmp.Compare(x, y))
	})[:min(maxHosts, len(b.hosts))] {
		b.HostList = append(b.HostList, bucket{host[:min(maxHost, len(host))], b.hosts[host]})
	}
	return b.browsedCluster
}

// browsedContained is a row of TableHeld: a page that is contained in another.
type browsedContained struct {
	report.ContainedPage
	Document   string `json:"document"`
	InURI      string `json:"in_uri"`
	InPath     string `json:"in_path"`
	InEntry    string `json:"in_entry,omitempty"`
	InOffset   int64  `json:"in_offset"`
	InDate     string `json:"in_date"`
	InDocument string `json:"in_document"`
	InCluster  string `json:"in_cluster,omitempty"`
}

// writeBrowsedContained writes the pages that are contained in others, in the order
// of exports.
func writeBrowsedContained(ctx context.Context, w *workspace.Workspace) error {
	var counts rows.VerifyCounts
	if err := w.Counts(workspace.StageVerify, &counts); err != nil || counts.Contained.Texts == 0 {
		return err
	}
	held, n := orderedRows{ctx: ctx, store: w.DB}, uint64(0)
	err := results.WriteGroups(ctx, w, func(p report.ContainedPage) error {
		n++
		return held.addJSON(layout.HeldKey(n), browsedContained{p, p.Document, p.InURI, p.InPath, p.InEntry, p.InOffset, p.InDate, p.InDocument, p.InCluster})
	})
	return errors.Join(err, held.flush())
}

// writeBrowsedPages writes all pages by SURT and by date, with their values from
// places.
func writeBrowsedPages(ctx context.Context, w *workspace.Workspace, places *extsort.Sorter) (err error) {
	var counts results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &counts); err != nil {
		return err
	}
	w.Options.Progress.Total(counts.Documents, "pages")
	bySURT, byDate := extsort.New(w.DB.Tmp), extsort.New(w.DB.Tmp)
	defer func() { err = errors.Join(err, bySURT.Close(), byDate.Close()) }()
	next, stop := iter.Pull2(places.Sorted())
	defer stop()
	place, err, more := next()
	if err != nil {
		return err
	}
	n := 0
	for d, err := range results.Documents[groups.DocumentView](w) {
		if err != nil {
			return err
		}
		var value []byte
		if more && bytes.Equal(place.Key, d.ID[:]) {
			value = bytes.Clone(place.Value)
			if place, err, more = next(); err != nil {
				return err
			}
		}
		date := pageDate(d.Row.Date)
		if err := errors.Join(bySURT.Add(layout.SURTKey(uris.SURT(d.Row.TargetURI), date, d.ID), value), byDate.Add(layout.DateKey(date, d.ID), value)); err != nil {
			return err
		}
		if n++; n&0xfff == 0 {
			w.Options.Progress.Add(0x1000)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	if more {
		return fmt.Errorf("no document: %w", layout.Corrupt(place.Key))
	}
	return errors.Join(ingestSorted(ctx, w, bySURT), ingestSorted(ctx, w, byDate))
}

// ingestSorted ingests the rows of a sorter. No two have the same key.
func ingestSorted(ctx context.Context, w *workspace.Workspace, s *extsort.Sorter) error {
	rows := orderedRows{ctx: ctx, store: w.DB}
	for e, err := range s.Sorted() {
		if err := errors.Join(err, rows.add(e.Key, e.Value)); err != nil {
			return err
		}
	}
	return rows.flush()
}

// orderedRows ingests rows that come in the order of their keys, in portions that
// do not overlap and so need no merging later.
type orderedRows struct {
	ctx   context.Context
	store *store.DB
	rows  []extsort.Entry
	bytes int
}

// add adds a copy of a row.
func (o *orderedRows) add(key, value []byte) error {
	o.rows = append(o.rows, extsort.Entry{Key: bytes.Clone(key), Value: bytes.Clone(value)})
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
	err := o.store.Ingest(o.ctx, slices.Values(o.rows))
	clear(o.rows)
	o.rows, o.bytes = o.rows[:0], 0
	return err
}
