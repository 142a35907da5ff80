package pipeline_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"neardup/keep"
	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/workspace"
)

// A page of which each capture has another line is a cluster, at however many addresses
// visitors come to it. Pages that differ in a field of their own are not: what they share is
// what their site has.
func TestVisitsOfOnePage(t *testing.T) {
	for _, c := range []struct {
		field string
		want  int
	}{{"replytocom=%d", 12}, {"PHPSESSID=%024d", 12}, {"id=%d", 0}} {
		words := pipetest.Scripts(rand.New(rand.NewPCG(1, 12)))[0]
		story, web := strings.Join(words(12*12), " "), ""
		for i := range 12 {
			uri := fmt.Sprintf("http://site.example/story?"+c.field, i)
			web += pipetest.PageRecord(uri, "2025-01-01T00:00:00Z", "<title>The story</title><p>"+story+"<p>"+strings.Join(words(12), " "), 0)
		}
		dir := t.TempDir()
		path := pipetest.WriteFile(t, filepath.Join(dir, "crawl.warc"), []byte(web))
		clusters := pipetest.RunAll(t, filepath.Join(dir, "ws"), pipetest.MustLoad(t), workspace.Options{}, path)
		if _, members := pipetest.ClustersOf(t, clusters); len(members) != c.want || bytes.Count(clusters, []byte("\n")) > 1 {
			t.Errorf("%s: %d pages in clusters, want %d: %s", c.field, len(members), c.want, clusters)
		}
	}
}

// Two data sheets of one site are in one cluster by a page of another site, which both
// resemble. Neither is redundant because of the other.
func TestSubjectsAreKept(t *testing.T) {
	says := strings.Join(pipetest.Scripts(rand.New(rand.NewPCG(3, 4)))[0](900), " ")
	sheet := func(site, model, end string) string {
		return pipetest.PageRecord("http://"+site+".example/"+model, "2025-01-01T00:00:00Z", "<title>Pump "+model+"</title><p>This is the pump "+model+". "+says+" Order "+model+end, 0)
	}
	dir := t.TempDir()
	path := pipetest.WriteFile(t, filepath.Join(dir, "crawl.warc"), []byte(sheet("one", "X1951", " here.")+sheet("one", "X7147", " here.")+sheet("two", "X1951", " now.")))
	config := pipetest.MustLoad(t)
	clusters := pipetest.RunAll(t, filepath.Join(dir, "ws"), config, workspace.Options{}, path)
	if _, members := pipetest.ClustersOf(t, clusters); len(members) != 3 || bytes.Count(clusters, []byte("\n")) != 1 {
		t.Fatalf("%d pages in clusters: %s", len(members), clusters)
	}
	rules := keep.Default()
	rules.AllowLostURIs = true
	var kept string
	in(t, filepath.Join(dir, "ws"), config, func(w *workspace.Workspace) error {
		kept = string(pipetest.ExportOf(t, w, exports.Options{Format: "keep", Keep: &rules}))
		return nil
	})
	redundant := 0
	for line := range strings.Lines(kept) {
		if strings.Contains(line, ",redundant,") {
			if redundant++; strings.Contains(line, "X7147") {
				t.Error(line)
			}
		}
	}
	if redundant != 1 {
		t.Errorf("%d pages are redundant, want one X1951: %s", redundant, kept)
	}
}
