// Package keeping chooses which pages of a workspace's clusters to keep. It
// compares the stored texts of pages with those of the pages that are kept in their
// place.
package keeping

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"neardup/audit"
	"neardup/keep"
	"neardup/pipeline/preferences"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Rules returns the rules ready for use. The workspace adds judged pairs, page scores, if
// the policy needs them, and with storedHosts its preferred hosts, behind those of the rules.
func Rules(w *workspace.Workspace, r keep.Rules, storedHosts bool) (keep.Rules, error) {
	all, err := w.Preferences()
	if err != nil {
		return r, err
	}
	r.From = nil
	if r.Policy == keep.Quality {
		scores, err := preferences.ScoresOf(w)
		if err != nil {
			return r, err
		}
		if scores == nil {
			return r, fmt.Errorf("%w: --policy quality needs scores of pages: add them with neardup prefer scores FILE, or run with --set cluster.quality=FILE", workspace.ErrUsage)
		}
		r.Score = func(uri string) (float64, error) {
			score, _, err := scores.Of(uri)
			return float64(score), err
		}
		r.From = listed(all, workspace.KindScores)
	}
	if storedHosts {
		hosts, err := preferences.Hosts(w)
		if err != nil {
			return r, err
		}
		r.Hosts = r.Hosts.Then(hosts...)
		r.From = append(r.From, listed(all, workspace.KindHosts)...)
	}
	if r.Judged, err = judged(w); err != nil {
		return r, err
	}
	if err := r.Validate(); err != nil {
		return r, fmt.Errorf("%w: %w", workspace.ErrUsage, err)
	}
	return r, nil
}

// judged returns the pairs that people enforce as different, and those about which they
// disagree.
func judged(w *workspace.Workspace) (keep.Judged, error) {
	pairs, err := w.EnforcedPairs()
	out := keep.Judged{}
	for _, p := range pairs {
		if p.Verdict != audit.True {
			out[p.A], out[p.B] = append(out[p.A], p.B), append(out[p.B], p.A)
		}
	}
	return out, err
}

// listed returns the lists of one kind, for exports.
func listed(all []workspace.Preference, kind workspace.PreferenceKind) (out []report.Preference) {
	for _, p := range workspace.OfKind(all, kind) {
		out = append(out, report.Preference{Name: p.Name, Kind: string(p.Kind), SHA256: p.SHA256, Digest: p.Digest})
	}
	return out
}

// Cluster is a cluster, or a part of one, with the choice for each member.
type Cluster struct {
	report.Cluster
	Choices []report.Choice
}

// Clusters yields the clusters of at least two pages, by ID; those of many pages in parts.
// Workers compare the texts of several clusters concurrently.
func Clusters(ctx context.Context, w *workspace.Workspace, r keep.Rules) iter.Seq2[Cluster, error] {
	return clusters(ctx, w, r, false, nil)
}

// Archived is Clusters without the pages of text collections, so that none of them is
// kept in place of a capture.
func Archived(ctx context.Context, w *workspace.Workspace, r keep.Rules) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		sources, err := w.Sources()
		if err != nil {
			yield(Cluster{}, err)
			return
		}
		collections := map[string]bool{}
		for _, s := range sources {
			if s.IsCollection() {
				collections[s.ID()] = true
			}
		}
		clusters(ctx, w, r, false, func(m report.Member) bool { return collections[m.Source] })(yield)
	}
}

// ByAction is Clusters where the parts of a cluster come by action, in the order of
// report.Actions.
func ByAction(ctx context.Context, w *workspace.Workspace, r keep.Rules) iter.Seq2[Cluster, error] {
	return clusters(ctx, w, r, true, nil)
}

// heldPages is how many pages of clusters are in memory while these wait for a worker, or
// for clusters before them.
const heldPages = 131072

// heldOf returns how many pages of one cluster may be, of the about five for each worker.
func heldOf(workers int) int { return max(64, heldPages/(5*workers+1)) }

// job is a cluster to choose from.
type job struct {
	Cluster
	large *large // in place of it, if it has many pages
}

// clusters yields the clusters without the pages for which without, if any, is true.
func clusters(ctx context.Context, w *workspace.Workspace, r keep.Rules, byAction bool, without func(report.Member) bool) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		var open open
		jobs := func(yield func(*job, error) bool) {
			var j *job
			for c, err := range results.GroupParts(ctx, w) {
				if err == nil && c.Size == 0 {
					continue
				}
				if without != nil {
					c.Members = slices.DeleteFunc(c.Members, without)
				}
				switch {
				case c.From == 0 && (c.More || c.Size > heldOf(w.Options.Workers)):
					j = &job{large: open.new(w.DB.Tmp, r)}
				case c.From == 0:
					j = &job{Cluster: Cluster{Cluster: c}}
				}
				if err == nil && j.large != nil {
					err = j.large.add(c)
				}
				if err == nil && c.More {
					continue
				}
				if !yield(j, err) || err != nil {
					return
				}
			}
		}
		var many sync.Mutex // for one cluster of many pages at a time
		worker := func(ctx context.Context) func(*job) error {
			t := newTexts(ctx, w)
			return func(j *job) (err error) {
				if j.large != nil {
					if j.large.places*uint64(w.Options.Workers) > heldPages {
						many.Lock()
						defer many.Unlock()
					}
					return j.large.choose(ctx, t)
				}
				j.Choices, err = r.Choose(j.Cluster.Cluster, t)
				return err
			}
		}
		err := queue.Ordered(ctx, w.Options.Workers, jobs, worker, func(j *job) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if j.large == nil {
				if !yield(j.Cluster, nil) {
					return errStopped
				}
				return nil
			}
			for c, err := range j.large.parts(ctx, byAction) {
				if err != nil {
					return err
				}
				if !yield(c, nil) {
					return errStopped
				}
			}
			return open.drop(j.large)
		})
		if closeErr := open.close(); err != errStopped && errors.Join(err, closeErr) != nil {
			yield(Cluster{}, errors.Join(err, closeErr))
		}
	}
}

// errStopped ends the work when the caller wants no more clusters.
var errStopped = errors.New("stopped")
