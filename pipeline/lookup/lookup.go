// Package lookup finds for a page, which need not be in the workspace, what the
// workspace has of it: the same text, near texts, texts that contain it or are
// contained in it. Each comes with its verdict and the pages that have it.
//
// The page is read, signed and judged as in a run, with the frames, rarities and
// signature lists of the archive as they are; a lookup does not change the archive.
// So its verdict on two texts is that of a run over the archive and the page, with
// two exceptions: sentences that the page itself would make common, and lists that
// it would make too long. But a lookup compares only texts that share a signature with
// the page, and a run also some that share signatures with a third text only.
package lookup

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"neardup/cluster"
	"neardup/cluster/search"
	"neardup/configs"
	"neardup/extract"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extractors"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/signature"
	"neardup/verify"
	"neardup/verify/pair"
)

// Bounds of a lookup.
const (
	maxPostings  = 1 << 18 // members of signature lists that are read
	maxDatedRows = 256     // pages of a match whose dates are read
	maxPages     = 10_000  // pages of a match that are counted
	maxUnscored  = 256     // texts that are compared if the config sets no limit
	maxSplits    = 1 << 16 // lists whose concentration is cached
	usualMatches = 10
	maxWaiting   = 16 // waiting lookups for each one at work
)

// ErrBusy reports that too many lookups are waiting.
var ErrBusy = errors.New("too many lookups at once")

// Index looks up pages in a workspace. Several goroutines may call its methods
// while the workspace is open.
type Index struct {
	w       *workspace.Workspace
	reader  *results.Reader
	texts   *dataflow.Texts
	state   report.ArchiveState
	limit   int // maxPostings; smaller in tests
	workers chan *worker
	waiting atomic.Int64

	mu     sync.Mutex
	splits map[signature.Signature]bool // of long lists: whether few sites hold them
}

// worker has what one running lookup needs for itself.
type worker struct {
	x         *Index
	extractor *extract.Extractor
	signer    *dataflow.Signer
	comparer  verify.Comparer
	postings  *store.Seeker
	documents *store.Seeker
	pages     *store.Seeker
}

// Open opens the workspace for lookups. The error wraps workspace.ErrUsage if its
// run is not up to date, or if its method does not find candidates by shared
// signatures.
func Open(w *workspace.Workspace) (*Index, error) {
	x, err := open(w)
	return x, w.ExplainError(err)
}

func open(w *workspace.Workspace) (*Index, error) {
	if w.Config.Cluster.Search != configs.SearchKeys || w.Config.NewMeasure() == nil {
		return nil, fmt.Errorf("%w: lookups need cluster.search: %s and a measure; this workspace has %s and %s",
			workspace.ErrUsage, configs.SearchKeys, w.Config.Cluster.Search, w.Config.Verify.Measure)
	}
	if err := w.CurrentExcept(workspace.StageVerify, workspace.Judgements); err != nil {
		return nil, err
	}
	reader, err := results.LoadReader(w)
	if err != nil {
		return nil, err
	}
	config, err := w.Method()
	if err != nil {
		return nil, err
	}
	j := dataflow.Judge(config)
	x := &Index{w: w, reader: reader, limit: maxPostings, splits: map[signature.Signature]bool{}, workers: make(chan *worker, w.Options.Workers),
		texts: dataflow.NewTexts(j, func(id rows.TextID) (*pair.Text, error) { return reader.Prepare(j, id) })}
	if x.state, err = archiveState(w); err != nil {
		return nil, err
	}
	for range w.Options.Workers {
		wk, err := x.newWorker()
		if err != nil {
			return nil, errors.Join(err, x.Close())
		}
		x.workers <- wk
	}
	return x, nil
}

func archiveState(w *workspace.Workspace) (a report.ArchiveState, err error) {
	s, _, err := w.State(workspace.StageVerify)
	if err != nil {
		return a, err
	}
	var c results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &c); err != nil {
		return a, err
	}
	a = report.ArchiveState{Generation: s.Generation(), Documents: c.Documents, Texts: c.Texts}
	if info, err := os.Stat(w.Path("manifest.json")); err == nil { // also rewritten by a run that has nothing to do
		a.AsOf = info.ModTime().UTC().Format(time.RFC3339)
	}
	return a, nil
}

func (x *Index) newWorker() (*worker, error) {
	config, err := x.w.Method()
	if err != nil {
		return nil, err
	}
	wk := &worker{x: x, extractor: extractors.New(config.Extract), signer: dataflow.NewSigner(config, x.reader.Frames),
		comparer: x.texts.Judge.Measure.Comparer()}
	for _, s := range []struct {
		table byte
		to    **store.Seeker
	}{{layout.TablePosting, &wk.postings}, {layout.TableDocument, &wk.documents}, {layout.TableOccurrence, &wk.pages}} {
		if *s.to, err = x.w.DB.Seeker(s.table); err != nil {
			return nil, errors.Join(err, wk.close())
		}
	}
	return wk, nil
}

func (wk *worker) close() (err error) {
	for _, s := range []*store.Seeker{wk.postings, wk.documents, wk.pages} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// Close closes the index. No lookup may be running.
func (x *Index) Close() (err error) {
	close(x.workers)
	for wk := range x.workers {
		err = errors.Join(err, wk.close())
	}
	return err
}

// take waits for a free worker and passes it to do.
func (x *Index) take(ctx context.Context, do func(*worker) error) error {
	if x.waiting.Add(1) > int64(cap(x.workers)*(1+maxWaiting)) {
		x.waiting.Add(-1)
		return ErrBusy
	}
	defer x.waiting.Add(-1)
	select {
	case wk := <-x.workers:
		defer func() { x.workers <- wk }()
		return do(wk)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer looks up a document and returns at most limit matches; 0 means the default
// number.
func (wk *worker) answer(ctx context.Context, d extract.Document, limit int) (a report.Answer, err error) {
	x, config := wk.x, wk.x.w.Config
	id := rows.TextID(extract.TextID(d.Text))
	a = report.Answer{Verdict: report.VerdictNew, Archive: x.state, Matches: []report.Match{}, Page: report.AskedPage{
		URI: d.TargetURI, RecordID: d.RecordID, Date: d.Date, Title: d.Title, TextID: hex.EncodeToString(id[:]),
		Characters: utf8.RuneCountInString(d.Text), Unsure: d.Choices&extract.ChoiceMainUnsure != 0}}
	_, known, err := x.w.DB.Get(layout.TextKey(id))
	if err != nil {
		return a, err
	}
	leftOut := config.Text.Pages == configs.PagesTopic && d.IsNavigation()
	if known && leftOut {
		leftOut, err = results.LeftOut(x.w, id)
	}
	if err != nil || leftOut {
		a.Verdict = report.VerdictLeftOut
		return a, err
	}
	// A text that the archive has is also on its sites there.
	t := dataflow.Text{ID: id, Text: d.Text}
	if known {
		if t, err = x.reader.Text(id, d.Text); err != nil {
			return a, err
		}
	}
	if site := rows.Hash(d.Site); site != rows.NoSite && !slices.Contains(t.Sites, site) {
		t.Sites = append(t.Sites, site)
		slices.Sort(t.Sites)
	}
	o := rows.OccurrenceOf(d)
	t.Names.Add(o.Address, o.Title)
	row, signed, err := wk.signer.Sign(nil, t)
	if err != nil {
		return a, err
	}
	a.Page.Signatures = int(row.Signatures)
	candidates, err := wk.candidates(ctx, signed, id, &a.Work)
	if err != nil {
		return a, err
	}
	found, err := wk.compare(ctx, t, signed, candidates, &a.Work)
	if err != nil {
		return a, err
	}
	if known {
		found = append([]match{{id: id, shared: len(signed), Score: rows.Score{Relation: report.Identical, Resemblance: 1, Containment: 1}}}, found...)
	}
	if len(found) > 0 {
		if a.Verdict = string(found[0].Relation); found[0].Relation == report.Alike {
			a.Verdict = report.VerdictNear
		}
	}
	for _, m := range found[:min(len(found), cmp.Or(limit, usualMatches))] {
		shown, err := wk.show(m, d)
		if err != nil {
			return a, err
		}
		a.Matches = append(a.Matches, shown)
	}
	// A text that is only contained in another is not in its cluster for that,
	// unless the settings say so.
	if len(found) > 0 && (found[0].Relation == report.Identical || config.Verify.Links(found[0].Relation.Resembles()) || config.Verify.Contained == configs.ContainedLeaf) {
		a.Cluster = a.Matches[0].Cluster
	}
	return a, nil
}

// candidate is a text that shares signatures with the page.
type candidate struct {
	key    cluster.Key
	shared int
}

// candidates returns the texts that share enough signatures with the page in lists
// that are not deleted, those that share the most first.
func (wk *worker) candidates(ctx context.Context, signed []cluster.Posting, self rows.TextID, work *report.LookupWork) ([]candidate, error) {
	config := wk.x.w.Config.Cluster
	shared := map[cluster.Key]int{}
	left := wk.x.limit
	for _, p := range signed {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if left <= 0 {
			work.Unread++
			continue
		}
		members, err := wk.members(p.Signature, min(left, config.MaxList+1))
		if err != nil {
			return nil, err
		}
		left -= len(members)
		switch {
		case len(members) == 0:
			continue
		case len(members) > config.MaxList:
			work.Deleted++
			continue
		case left <= 0:
			work.Unread++ // the list may be longer
			continue
		}
		if split, err := wk.x.concentrated(p.Signature, members); err != nil {
			return nil, err
		} else if split {
			work.Deleted++
			continue
		}
		work.Lists++
		for _, k := range members {
			if k.ID() != self {
				shared[k]++
			}
		}
	}
	least := 1
	if config.Merge == search.MergePairs {
		least = config.Common
	}
	var out []candidate
	for k, n := range shared {
		if n >= least {
			out = append(out, candidate{k, n})
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return cmp.Or(cmp.Compare(b.shared, a.shared), a.key.Compare(b.key)) < 0
	})
	work.Candidates = len(out)
	return out, nil
}

// members returns at most limit of the texts that have a signature.
func (wk *worker) members(s signature.Signature, limit int) (keys []cluster.Key, err error) {
	for r, err := range wk.postings.Rows(layout.PostingsOf(s)) {
		if err != nil {
			return nil, err
		}
		p, err := layout.ParsePostingKey(r.Key())
		if err != nil {
			return nil, err
		}
		if keys = append(keys, p.Key); len(keys) == limit {
			break
		}
	}
	return keys, nil
}

// concentrated reports whether a run deletes a list because few sites hold it. The
// answer for a long list takes time and is asked for again and again, so it is
// cached.
func (x *Index) concentrated(s signature.Signature, members []cluster.Key) (bool, error) {
	config := x.w.Config.Cluster
	if config.SiteList == 0 || len(members) <= config.SiteList {
		return false, nil
	}
	x.mu.Lock()
	split, ok := x.splits[s]
	x.mu.Unlock()
	if ok {
		return split, nil
	}
	split, err := stages.Concentrated(x.w, members)
	if err != nil {
		return false, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.splits) < maxSplits {
		x.splits[s] = split
	}
	return split, nil
}

// match is a text that is near the page. Its score is that of the text as seen from
// the page.
type match struct {
	id     rows.TextID
	shared int
	rows.Score
}

// compare judges the page against the candidates, within the bounds for one text in
// a set. The best match comes first: near ones, then those by containment.
func (wk *worker) compare(ctx context.Context, t dataflow.Text, signed []cluster.Posting, candidates []candidate, work *report.LookupWork) (found []match, err error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	x := wk.x
	page, err := x.reader.PrepareText(x.texts.Judge, t)
	if err != nil {
		return nil, err
	}
	limit := dataflow.MaxScored(x.w.Config.Verify, page.Len())
	if limit == 0 {
		limit = maxUnscored
	}
	key, scored := signed[0].Key, 0
	for i, c := range candidates {
		if scored == limit || i == dataflow.ComparedTimes*limit {
			work.OverBudget = len(candidates) - i
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		other, err := x.texts.Get(c.key.ID())
		if err != nil {
			return nil, err
		}
		// As in a run, the text with the larger key comes first.
		pageFirst := key.Compare(c.key) < 0
		first, second := other, page
		if pageFirst {
			first, second = page, other
		}
		d := x.texts.Judge.Decide(wk.comparer, first, second)
		work.Compared++
		if d.Aligned() {
			scored++
		}
		if d.Near {
			s := dataflow.ScoreOf(d) // of the second, as seen from the first
			if pageFirst {
				s = s.Inverse()
			}
			found = append(found, match{c.key.ID(), c.shared, s})
		}
	}
	sort.SliceStable(found, func(i, j int) bool {
		a, b := found[i], found[j]
		rank := func(m match) (int, float64) {
			if m.Relation.Resembles() {
				return 0, m.Resemblance
			}
			return 1, m.Containment
		}
		kindA, a1 := rank(a)
		kindB, b1 := rank(b)
		return cmp.Or(cmp.Compare(kindA, kindB), cmp.Compare(b1, a1), rows.CompareTexts(a.id, b.id)) < 0
	})
	return found, nil
}

// show reads the archive's data about a match.
func (wk *worker) show(m match, asked extract.Document) (out report.Match, err error) {
	out = report.Match{Relation: m.Relation, Resemblance: report.Score(m.Resemblance), Containment: report.Score(m.Containment),
		Shared: m.shared, TextID: hex.EncodeToString(m.id[:])}
	if c, ok, err := results.ClusterOf(wk.x.w, m.id); err != nil {
		return out, err
	} else if ok {
		out.Cluster = hex.EncodeToString(c[:])
	}
	address, same := rows.Hash(asked.Page()), false
	for r, err := range wk.pages.Rows(layout.OccurrencesOf(m.id)) {
		if err != nil {
			return out, err
		}
		if out.Pages == maxPages {
			out.More = true
			break
		}
		out.Pages++
		if out.Pages > maxDatedRows {
			out.Partial = true
			continue
		}
		_, id, err := layout.ParseOccurrenceKey(r.Key())
		if err != nil {
			return out, err
		}
		page, err := r.SitePage()
		if err != nil {
			return out, err
		}
		stored, err := results.ReadDocument[groups.DocumentView](wk.documents, id)
		if err != nil {
			return out, err
		}
		d := stored.Row
		if d.Date != "" && (out.Earliest == "" || d.Date < out.Earliest) {
			out.Earliest = d.Date
		}
		out.Latest = max(out.Latest, d.Date)
		here := asked.TargetURI != "" && page.Address == address
		if out.Pages > 1 && (same && !here || same == here && d.Date <= out.Date) {
			continue
		}
		same = here
		out.RecordID, out.URI, out.Date, out.Title = d.RecordID, d.TargetURI, d.Date, d.Title
	}
	if out.Pages == 0 {
		return out, fmt.Errorf("a text without pages: %w", layout.Corrupt(m.id[:]))
	}
	return out, nil
}
