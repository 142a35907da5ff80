// Package browsing serves the clusters of a run for viewing and judging: lists
// through an index of its own, pages, explained pairs, and audits with their
// judgements. Its Review implements review.Archive.
package browsing

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"

	"neardup/configs"
	"neardup/extract"
	"neardup/pipeline/explaining"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/lookup"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/review"
)

// Rows of a part of a list: the default, and the limit.
const (
	usualRows = 50
	maxRows   = 200
)

// Review is a workspace that is open for browsing its clusters. Several goroutines
// may call its methods while the workspace is open.
type Review struct {
	w        *workspace.Workspace
	overview review.Overview
	places   groups.Places

	pairs   chan struct{} // has an element for each pair that is being explained
	mu      sync.Mutex
	lookups *lookup.Index // nil until the first lookup
}

// Open opens the clusters of the last run for browsing. It makes the index if there
// is none for these clusters. The error wraps ErrUsage if the run is not up to
// date.
func Open(ctx context.Context, w *workspace.Workspace) (*Review, error) {
	r, err := open(ctx, w)
	return r, w.ExplainError(err)
}

func open(ctx context.Context, w *workspace.Workspace) (*Review, error) {
	if err := w.CurrentExcept(workspace.StageVerify, workspace.Judgements); err != nil {
		return nil, err
	}
	b, err := indexClusters(ctx, w)
	if err != nil {
		return nil, err
	}
	s, err := results.StagesSummary(w)
	if err != nil {
		return nil, err
	}
	s.Clusters, s.Duplicates = b.Clusters, b.Duplicates
	places, err := results.Places(w)
	if err != nil {
		return nil, err
	}
	return &Review{w: w, pairs: make(chan struct{}, maxPairs), places: places, overview: review.Overview{Summary: s, Method: methodName(w.Config),
		First: showDate(b.First), Last: showDate(b.Last), Generation: b.Generation}}, nil
}

// methodName returns the preset that has the config's method and settings,
// otherwise scheme, search and measure.
func methodName(c configs.Config) string {
	used := func(c configs.Config) []any { return []any{c.UsedBySign(), c.UsedByCluster(), c.UsedByVerify()} }
	for _, name := range configs.Names() {
		if preset, err := configs.Load(name, nil); err == nil && reflect.DeepEqual(used(preset), used(c)) {
			return name
		}
	}
	return strings.Join([]string{c.Sign.Scheme, c.Cluster.Search, c.Verify.Measure}, ", ")
}

// Overview returns the figures of the run and its clusters.
func (r *Review) Overview(context.Context) (review.Overview, error) { return r.overview, nil }

// Clusters lists clusters, from the largest down; those of one size are ordered by
// ID.
func (r *Review) Clusters(ctx context.Context, q review.ClusterQuery) (list review.ClusterList, err error) {
	largest := uint32(math.MaxUint32)
	if q.MaxSize > 0 {
		largest = clampSize(q.MaxSize)
	}
	lower := layout.SizeKey(largest, rows.TextID{})
	_, upper := layout.PrefixBounds(layout.SizesOf(clampSize(q.MinSize)))
	keys, more, err := r.keys(lower, upper, q.After, q.Limit)
	if err != nil {
		return list, err
	}
	documents, err := r.w.DB.Seeker(layout.TableDocument)
	if err != nil {
		return list, err
	}
	defer func() { _ = documents.Close() }()
	for _, k := range keys {
		if err := ctx.Err(); err != nil {
			return list, err
		}
		id, err := layout.ParseSizeKey(k)
		if err != nil {
			return list, err
		}
		row, _, err := r.cluster(documents, id)
		if err != nil {
			return list, err
		}
		list.Clusters = append(list.Clusters, row)
	}
	if more {
		list.Next = position(keys[len(keys)-1])
	}
	return list, nil
}

// keys returns the keys of a part of a list, and whether more follow.
func (r *Review) keys(lower, upper []byte, after string, limit int) (keys [][]byte, more bool, err error) {
	if lower, err = behind(lower, after); err != nil || !below(lower, upper) {
		return nil, false, err
	}
	limit = clampRows(limit)
	for row, err := range r.w.DB.Rows(lower, upper) {
		if err != nil {
			return nil, false, err
		}
		if len(keys) == limit {
			return keys, true, nil
		}
		keys = append(keys, bytes.Clone(row.Key()))
	}
	return keys, false, nil
}

// cluster returns a cluster's row in a list, and its stored row.
func (r *Review) cluster(documents *store.Seeker, id rows.TextID) (row review.ClusterRow, b browsedCluster, err error) {
	ok, err := r.w.DB.GetJSON(layout.BrowsedKey(id), &b)
	if err != nil {
		return row, b, err
	}
	if !ok {
		return row, b, fmt.Errorf("%w: no cluster %x", review.ErrNotFound, id)
	}
	document, err := parseDocument(b.Document)
	if err != nil {
		return row, b, err
	}
	stored, err := results.ReadDocument[groups.DocumentView](documents, document)
	if err != nil {
		return row, b, err
	}
	d := stored.Row
	return review.ClusterRow{ID: hex.EncodeToString(id[:]), Size: b.Size, Document: b.Document,
		RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, Title: d.Title, First: showDate(b.First), Last: showDate(b.Last),
		Hosts: b.Hosts, Identical: b.Identical, Lowest: report.Score(b.Lowest)}, b, nil
}

// Cluster returns a cluster with some of its members.
func (r *Review) Cluster(ctx context.Context, id, after string, limit int) (c review.Cluster, err error) {
	cluster, err := askedID(id)
	if err != nil {
		return c, err
	}
	documents, err := r.w.DB.Seeker(layout.TableDocument)
	if err != nil {
		return c, err
	}
	defer func() { _ = documents.Close() }()
	row, b, err := r.cluster(documents, cluster)
	if err != nil {
		return c, err
	}
	c.ClusterRow = row
	for _, x := range b.Timeline {
		c.Timeline = append(c.Timeline, review.Bucket(x))
	}
	for _, x := range b.HostList {
		c.HostList = append(c.HostList, review.Bucket(x))
	}
	lower, upper := layout.PrefixBounds(layout.BrowsedMembersOf(cluster))
	if lower, err = behind(lower, after); err != nil || !below(lower, upper) {
		return c, err
	}
	c.Members, c.Next, err = r.members(ctx, documents, lower, upper, clampRows(limit))
	return c, err
}

// Contained lists the pages that are contained in others, in the order of exports.
func (r *Review) Contained(ctx context.Context, after string, limit int) (list review.ContainedList, err error) {
	lower, upper := layout.TableBounds(layout.TableHeld)
	keys, more, err := r.keys(lower, upper, after, limit)
	if err != nil {
		return list, err
	}
	for _, k := range keys {
		var b browsedContained
		if ok, err := r.w.DB.GetJSON(k, &b); err != nil || !ok {
			return list, errors.Join(err, ctx.Err())
		}
		p := b.ContainedPage
		p.InPath, p.InEntry, p.InOffset = b.InPath, b.InEntry, b.InOffset
		p.Document, p.InURI, p.InDate, p.InDocument, p.InCluster = b.Document, b.InURI, b.InDate, b.InDocument, b.InCluster
		list.Pages = append(list.Pages, p)
	}
	if more {
		list.Next = position(keys[len(keys)-1])
	}
	return list, nil
}

// members returns the first members in a range of keys, and the position after them
// if more follow.
func (r *Review) members(ctx context.Context, documents *store.Seeker, lower, upper []byte, limit int) (members []report.Member, next string, err error) {
	pages := map[extract.ID]report.Member{} // that members were verified against, often the same
	var last []byte
	for row, err := range r.w.DB.Rows(lower, upper) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, "", err
		}
		if len(members) == limit {
			return members, position(last), nil
		}
		last = append(last[:0], row.Key()...)
		b, err := row.BrowsedMember()
		if err != nil {
			return nil, "", err
		}
		d, err := results.ReadDocument[groups.DocumentView](documents, b.Document)
		if err != nil {
			return nil, "", err
		}
		against, ok := pages[b.Against]
		if !ok {
			a, err := results.ReadDocument[groups.DocumentView](documents, b.Against)
			if err != nil {
				return nil, "", err
			}
			against = a.Row.Member(a.ID, a.Source, a.Offset)
			pages[b.Against] = against
		}
		m := d.Row.Member(d.ID, d.Source, d.Offset)
		m.Path, m.Entry = r.places.Of(m.Source)
		m.Relation, m.VerifiedAgainst, m.AgainstDocument, m.AgainstText = b.Relation, against.RecordID, against.Document, against.Text
		m.Resemblance, m.Containment = report.Score(b.Resemblance), report.Score(b.Containment)
		members = append(members, m)
	}
	return members, "", nil
}

// maxPairs limits the pairs that are explained at a time: two long pages take 100 MB.
const maxPairs = 2

// Pair explains two pages like neardup explain. It waits while other pairs are explained.
func (r *Review) Pair(ctx context.Context, a, b string) (p review.Pair, err error) {
	p.Documents = [2]string{a, b}
	var pages [2]results.Found
	for i, id := range p.Documents {
		if pages[i], err = r.document(id); err != nil {
			return p, err
		}
		p.Documents[i] = pages[i].Id.String()
	}
	select {
	case r.pairs <- struct{}{}:
		defer func() { <-r.pairs }()
	case <-ctx.Done():
		return p, ctx.Err()
	}
	p.Explanation, p.Texts, err = explaining.Found(ctx, r.w, pages)
	return p, err
}

// document returns the document with the ID in a request.
func (r *Review) document(asked string) (d results.Found, err error) {
	id, err := askedID(asked)
	if err != nil {
		return d, err
	}
	documents, err := r.w.DB.Seeker(layout.TableDocument)
	if err != nil {
		return d, err
	}
	s, ok, err := results.LookUpDocument[rows.Document](documents, extract.ID(id))
	if err := errors.Join(err, documents.Close()); err != nil {
		return d, err
	}
	if !ok {
		return d, fmt.Errorf("%w: no page %s", review.ErrNotFound, extract.ID(id))
	}
	return results.Found{Id: s.ID, Document: s.Row, Source: s.Source, Offset: s.Offset}, nil
}

// askedID parses the ID of a text or a document in a request.
func askedID(s string) (id rows.TextID, err error) {
	if len(s) == hex.EncodedLen(len(id)) {
		if _, err := hex.Decode(id[:], []byte(s)); err == nil {
			return id, nil
		}
	}
	return id, fmt.Errorf("%w: %s is no id", review.ErrNotFound, results.OneLine(s))
}

// position returns the position of a key, after which a list continues.
func position(key []byte) string { return base64.RawURLEncoding.EncodeToString(layout.Position(key)) }

// behind returns the key at which a list that began at lower continues. A position
// of another list leads to some place in this one, never outside.
func behind(lower []byte, after string) ([]byte, error) {
	if after == "" {
		return lower, nil
	}
	key, err := base64.RawURLEncoding.DecodeString(after)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is not a position in a list", review.ErrNotFound, results.OneLine(after))
	}
	key = layout.BehindPosition(lower, key)
	if bytes.Compare(key, lower) < 0 {
		return lower, nil
	}
	return key, nil
}

// below reports whether a range can contain keys.
func below(lower, upper []byte) bool { return bytes.Compare(lower, upper) < 0 }

func clampRows(n int) int {
	if n <= 0 {
		return usualRows
	}
	return min(n, maxRows)
}

func clampSize(n int) uint32 { return uint32(max(0, min(int64(n), math.MaxUint32))) }
