package pipetest

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"neardup/keep"
	"neardup/pipeline/exports"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/uris"
)

// ExportOf returns an export of the workspace in dir.
func ExportOf(t *testing.T, w *workspace.Workspace, o exports.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := exports.Write(context.Background(), w, o, &b); err != nil {
		t.Fatalf("%s: %v", o.Format, err)
	}
	return b.Bytes()
}

type page struct{ id, uri, cluster, relation string }

func CheckFormats(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	of := map[page]int{}
	cluster := map[string]string{} // by record id
	for line := range strings.Lines(string(ExportOf(t, w, exports.Options{Format: "jsonl"}))) {
		var c report.Cluster
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Members {
			of[page{m.RecordID, m.URI, c.ID, string(m.Relation)}]++
			if cluster[m.RecordID] != "" {
				t.Errorf("%s is in two clusters", m.RecordID)
			}
			cluster[m.RecordID] = c.ID
		}
	}
	if len(of) < 10 {
		t.Fatalf("%d pages in clusters", len(of))
	}
	same := func(format string, pages []page) {
		t.Helper()
		got := map[page]int{}
		for _, p := range pages {
			got[p]++
		}
		if !reflect.DeepEqual(got, of) {
			t.Errorf("%s has %d pages, want %d", format, len(pages), len(of))
		}
	}

	b := ExportOf(t, w, exports.Options{Format: "parquet"})
	type row struct {
		ID       string `parquet:"record_id"`
		URI      string `parquet:"url"`
		Cluster  string `parquet:"cluster"`
		Relation string `parquet:"relation"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var pages []page
	for _, r := range rows {
		pages = append(pages, page{r.ID, r.URI, r.Cluster, r.Relation})
	}
	same("parquet", pages)

	lines := slices.Collect(strings.Lines(string(ExportOf(t, w, exports.Options{Format: "cdxj"}))))
	if !slices.IsSorted(lines) {
		t.Error("cdxj is not sorted")
	}
	pages = nil
	for _, line := range lines {
		var c struct {
			URL, Cluster, Relation string
			ID                     string `json:"record_id"`
		}
		if err := json.Unmarshal([]byte(line[strings.IndexByte(line, '{'):]), &c); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(line, uris.SURT(c.URL)+" 2024") {
			t.Errorf("the key of %s", line)
		}
		pages = append(pages, page{c.ID, c.URL, c.Cluster, c.Relation})
	}
	same("cdxj", pages)

	for _, policy := range keep.Policies {
		if policy == keep.Quality {
			continue
		}
		rules := keep.Default()
		rules.Policy = policy
		var sum report.Kept
		table, err := csv.NewReader(bytes.NewReader(ExportOf(t, w, exports.Options{Format: "keep", Keep: &rules, Kept: &sum}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		pages = nil
		for _, line := range table[1:] {
			pages = append(pages, page{line[9], line[10], line[0], line[19]})
		}
		same("keep", pages)
		clusters := map[string]bool{}
		for _, c := range cluster {
			clusters[c] = true
		}
		if int(sum.Keep) < len(clusters) || int(sum.Keep+sum.Redundant+sum.Review) != len(of) || sum.PayloadBytes <= 0 || sum.RecordBytes <= 0 {
			t.Errorf("%s: %+v", policy, sum)
		}
	}
	checkEdges(t, w, cluster)
}

// checkEdges checks that the edges inside clusters connect each cluster, and that
// they are those of the database.
func checkEdges(t *testing.T, w *workspace.Workspace, clusters map[string]string) {
	t.Helper()
	type edge struct {
		Source, Target, Relation string
		SourceCluster            string `json:"source_cluster"`
		TargetCluster            string `json:"target_cluster"`
	}
	var edges []edge
	near := 0
	parent := map[string]string{}
	var root func(string) string
	root = func(id string) string {
		if up := parent[id]; up != "" {
			return root(up)
		}
		return id
	}
	d := json.NewDecoder(bytes.NewReader(ExportOf(t, w, exports.Options{Format: "edges"})))
	for d.More() {
		var e edge
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		edges = append(edges, e)
		if e.Relation != "identical" && e.Relation != "judged" {
			near++
		}
		if e.SourceCluster != clusters[e.Source] || e.TargetCluster != clusters[e.Target] {
			t.Errorf("clusters of %+v", e)
		}
		if a, b := root(e.Source), root(e.Target); e.SourceCluster == e.TargetCluster && a != b {
			parent[a] = b
		}
	}
	stored := 0
	for _, err := range results.VerifiedPairs(w) {
		if err != nil {
			t.Fatal(err)
		}
		stored++
	}
	if near != stored || near == 0 {
		t.Errorf("%d near pairs, the database has %d", near, stored)
	}
	roots := map[string]string{}
	for id, c := range clusters {
		if r := root(id); roots[c] == "" {
			roots[c] = r
		} else if roots[c] != r {
			t.Errorf("cluster %s is not connected", c)
		}
	}
	if table := ExportOf(t, w, exports.Options{Format: "edges-csv"}); bytes.Count(table, []byte("\n")) != 1+len(edges) {
		t.Errorf("edges-csv has not %d edges", len(edges))
	}
	var graph struct {
		Nodes []struct {
			ID string `xml:"id,attr"`
		} `xml:"graph>node"`
		Edges []struct {
			Source string `xml:"source,attr"`
			Target string `xml:"target,attr"`
		} `xml:"graph>edge"`
	}
	if err := xml.Unmarshal(ExportOf(t, w, exports.Options{Format: "graphml"}), &graph); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, n := range graph.Nodes {
		if ids[n.ID] {
			t.Errorf("two nodes %s", n.ID)
		}
		ids[n.ID] = true
	}
	for _, e := range graph.Edges {
		if !ids[e.Source] || !ids[e.Target] {
			t.Errorf("no node for %+v", e)
		}
	}
	if len(graph.Edges) != len(edges) || len(ids) < len(clusters) {
		t.Errorf("graph of %d nodes and %d edges, want %d edges", len(ids), len(graph.Edges), len(edges))
	}
}
