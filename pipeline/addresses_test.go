package pipeline_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

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
