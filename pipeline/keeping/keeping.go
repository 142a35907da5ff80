// Package keeping chooses which pages of a workspace's clusters to keep. It
// compares the stored texts of pages with those of the pages that are kept in their
// place.
package keeping

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"neardup/keep"
	"neardup/pipeline/preferences"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Rules returns the rules ready for use. The workspace adds page scores, if the policy
// needs them, and with storedHosts its preferred hosts, behind those of the rules.
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
	if err := r.Validate(); err != nil {
		return r, fmt.Errorf("%w: %w", workspace.ErrUsage, err)
	}
	return r, nil
}

// listed returns the lists of one kind, for exports.
func listed(all []workspace.Preference, kind workspace.PreferenceKind) (out []report.Preference) {
	for _, p := range workspace.OfKind(all, kind) {
		out = append(out, report.Preference{Name: p.Name, Kind: string(p.Kind), SHA256: p.SHA256, Digest: p.Digest})
	}
	return out
}

// Cluster is a cluster with the choice for each member.
type Cluster struct {
	report.Cluster
	Choices []report.Choice
}

// Clusters yields the clusters of at least two pages, by ID. Workers compare the
// texts of several clusters concurrently.
func Clusters(ctx context.Context, w *workspace.Workspace, r keep.Rules) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		jobs := func(yield func(*Cluster, error) bool) {
			for c, err := range results.Clusters(ctx, w) {
				if !yield(&Cluster{Cluster: c}, err) {
					return
				}
			}
		}
		worker := func(ctx context.Context) func(*Cluster) error {
			t := newTexts(ctx, w)
			return func(c *Cluster) (err error) {
				c.Choices, err = r.Choose(c.Cluster, t)
				return err
			}
		}
		err := queue.Ordered(ctx, w.Options.Workers, jobs, worker, func(c *Cluster) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(*c, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(Cluster{}, err)
		}
	}
}

// errStopped ends the work when the caller wants no more clusters.
var errStopped = errors.New("stopped")
