package browsing

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"neardup/configs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/review"
	"neardup/uris"
)

// benchReview opens the workspace that NEARDUP_WORKSPACE names, the example
// crawl's without it.
func benchReview(b *testing.B) (*workspace.Workspace, *Review) {
	b.Helper()
	ctx := context.Background()
	dir := os.Getenv("NEARDUP_WORKSPACE")
	config, err := configs.Load("default", nil)
	if err != nil {
		b.Fatal(err)
	}
	if dir != "" {
		m, err := workspace.ReadManifest(dir)
		if err != nil {
			b.Fatal(err)
		}
		config = *m.Config
	}
	made := dir == ""
	if made {
		dir = filepath.Join(b.TempDir(), "ws")
	}
	w, err := workspace.Open(dir, stages.All, config, made, workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := w.Close(); err != nil {
			b.Error(err)
		}
	})
	if made {
		sources, _, err := inputs.Find(b.Context(), dir, []string{"../example/crawl.warc.gz"}, nil, pipetest.Limits)
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Run(ctx, "extract", "verify", sources); err != nil {
			b.Fatal(err)
		}
	}
	r, err := Open(ctx, w)
	if err != nil {
		b.Fatal(err)
	}
	return w, r
}

// BenchmarkBrowseIndex makes the index for browsing, and says what it takes on
// the disk.
func BenchmarkBrowseIndex(b *testing.B) {
	w, _ := benchReview(b)
	for b.Loop() {
		batch := w.DB.Batch()
		if err := batch.Delete(layout.MetaKey(browseIndex)); err != nil {
			b.Fatal(err)
		}
		if err := batch.Commit(); err != nil {
			b.Fatal(err)
		}
		if _, err := Open(context.Background(), w); err != nil {
			b.Fatal(err)
		}
	}
	size := uint64(0)
	for _, t := range browseTables {
		n, err := w.DB.DiskUsage(t)
		if err != nil {
			b.Fatal(err)
		}
		size += n
	}
	b.ReportMetric(float64(size)/1e6, "MB")
}

// BenchmarkBrowse asks for what the pages of a browser show. Lists go on from
// where they are, so that every call reads other rows.
func BenchmarkBrowse(b *testing.B) {
	w, r := benchReview(b)
	ctx := context.Background()
	var documents, hosts []string
	for c, err := range results.Clusters(ctx, w) {
		if err != nil {
			b.Fatal(err)
		}
		documents = append(documents, c.Members[0].Document, c.Members[len(c.Members)-1].Document)
		hosts = append(hosts, uris.Host(c.Members[0].URI))
		if len(hosts) == 2000 {
			break
		}
	}
	largest, err := r.Clusters(ctx, review.ClusterQuery{Limit: 1})
	if err != nil || len(hosts) == 0 {
		b.Fatal(err, len(hosts))
	}
	n := 0
	list := func(name string, part func(after string) (next string, err error)) {
		b.Run(name, func(b *testing.B) {
			after := ""
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if after, err = part(after); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1e3, "median-ms")
		})
	}
	one := func(name string, call func(document, other string) error) {
		list(name, func(string) (string, error) {
			n = (n + 2) % len(documents)
			return "", call(documents[n], documents[n+1])
		})
	}
	pages := func(name string, q review.PageQuery) {
		list(name, func(after string) (string, error) {
			q.After = after
			l, err := r.Pages(ctx, q)
			return l.Next, err
		})
	}
	list("Clusters", func(after string) (string, error) {
		l, err := r.Clusters(ctx, review.ClusterQuery{After: after})
		return l.Next, err
	})
	one("Cluster", func(document, _ string) error {
		p, err := r.Page(ctx, document)
		if err != nil {
			return err
		}
		_, err = r.Cluster(ctx, p.Cluster, "", 100)
		return err
	})
	list("largest", func(after string) (string, error) {
		c, err := r.Cluster(ctx, largest.Clusters[0].ID, after, 100)
		return c.Next, err
	})
	pages("byDate", review.PageQuery{})
	pages("byHost", review.PageQuery{Host: hosts[len(hosts)/2]})
	pages("byURI", review.PageQuery{URI: hosts[len(hosts)/3] + "/"})
	pages("rare", review.PageQuery{MinSize: 1 << 30})
	one("Page", func(document, _ string) error { _, err := r.Page(ctx, document); return err })
	one("Pair", func(document, other string) error { _, err := r.Pair(ctx, document, other); return err })
}
