package results_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// What readers say of tables is what the tables say of each other: for the example, and
// two near texts with a part of both.
func TestReaders(t *testing.T) {
	var sentences []string
	for i := range 60 {
		sentences = append(sentences, fmt.Sprintf("Sentence number %d tells how house %x of the old harbour was built. ", i, i*i*i))
	}
	whole := strings.Join(sentences, "")
	texts := pipetest.WriteTexts(t, 0, []string{whole, whole + "Somebody has added this.", strings.Join(sentences[20:40], "")})
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{Workers: 2}, pipetest.Crawl(t), texts)
	w := pipetest.OpenWith(t, dir)

	// A text has as many signatures as postings.
	postings, signed := map[rows.TextID]int32{}, 0
	for r, err := range w.DB.Table(layout.TablePosting) {
		if err != nil {
			t.Fatal(err)
		}
		p, err := layout.ParsePostingKey(r.Key())
		if err != nil {
			t.Fatal(err)
		}
		postings[p.Key.ID()]++
	}
	for s, err := range results.SignedTexts(w) {
		if err != nil {
			t.Fatal(err)
		}
		if signed++; int32(s.Signatures) != postings[s.ID] {
			t.Errorf("the text %x has %d signatures and %d postings", s.ID, s.Signatures, postings[s.ID])
		}
	}
	if signed < 50 || len(postings) < 20 {
		t.Errorf("%d signed texts, %d with signatures", signed, len(postings))
	}

	// A contained page, and the page that contains it, are in the clusters that have
	// them as members.
	clusterOf := map[string]string{} // by document
	for c, err := range results.Clusters(t.Context(), w) {
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Members {
			clusterOf[m.Document] = c.ID
		}
	}
	in, apart := 0, 0
	err := results.WriteGroups(t.Context(), w, func(p report.ContainedPage) error {
		if p.Cluster != clusterOf[p.Document] || p.InCluster != clusterOf[p.InDocument] {
			t.Errorf("%s is in %q, want %q; %s, which contains it, is in %q, want %q",
				p.URI, p.Cluster, clusterOf[p.Document], p.InURI, p.InCluster, clusterOf[p.InDocument])
		}
		if p.InCluster != "" {
			in++
		} else {
			apart++
		}
		return nil
	})
	if err != nil || in == 0 || apart == 0 {
		t.Errorf("%d pages are contained in clustered pages, %d in others; %v", in, apart, err)
	}
}
