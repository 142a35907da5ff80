package pipeline

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"neardup/cluster"
	"neardup/report"
	"neardup/uris"
)

// exportOf is an export of the workspace in dir.
func exportOf(t *testing.T, w *Workspace, o ExportOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := w.ExportWith(context.Background(), o, &b); err != nil {
		t.Fatalf("%s: %v", o.Format, err)
	}
	return b.Bytes()
}

func openWith(t *testing.T, dir string, settings ...string) *Workspace {
	t.Helper()
	w, err := Open(dir, AllStages, mustLoad(t, settings...), false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// spilling makes sorters write files whatever they sort.
func spilling(t *testing.T) {
	old := sorterBytes
	sorterBytes = 300
	t.Cleanup(func() { sorterBytes = old })
}

// All formats have the same pages, each in one cluster.
func TestFormatsAgree(t *testing.T) {
	for _, settings := range [][]string{nil, {"verify.closing=transitive"}, {"verify.contained=links", "verify.containment=0.5"}, {"verify.resemblance=0.2", "verify.whole=0"}} {
		t.Run(strings.Join(settings, " "), func(t *testing.T) {
			dir := t.TempDir()
			runAll(t, dir, mustLoad(t, settings...), Options{}, crawl(t))
			w := openWith(t, dir, settings...)
			checkFormats(t, w)
			before := allFormats(t, w)
			spilling(t)
			for format, b := range allFormats(t, w) {
				if !bytes.Equal(b, before[format]) {
					t.Errorf("%s: other bytes with little memory", format)
				}
			}
		})
	}
}

func allFormats(t *testing.T, w *Workspace) map[string][]byte {
	out := map[string][]byte{}
	for _, format := range Formats {
		if format != "wacz" {
			out[format] = exportOf(t, w, ExportOptions{Format: format})
		}
	}
	return out
}

type page struct{ id, uri, cluster, relation string }

func checkFormats(t *testing.T, w *Workspace) {
	t.Helper()
	of := map[page]int{}
	cluster := map[string]string{} // by record id
	for line := range strings.Lines(string(exportOf(t, w, ExportOptions{Format: "jsonl"}))) {
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

	b := exportOf(t, w, ExportOptions{Format: "parquet"})
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

	lines := slices.Collect(strings.Lines(string(exportOf(t, w, ExportOptions{Format: "cdxj"}))))
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

	for _, policy := range report.KeepPolicies {
		if policy == report.KeepQuality {
			continue
		}
		var sum report.Kept
		table, err := csv.NewReader(bytes.NewReader(exportOf(t, w, ExportOptions{Format: "keep", Keep: policy, Kept: &sum}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		pages = nil
		for _, line := range table[1:] {
			pages = append(pages, page{line[3], line[4], line[0], line[11]})
		}
		same("keep", pages)
		clusters := map[string]bool{}
		for _, c := range cluster {
			clusters[c] = true
		}
		if int(sum.Keep) != len(clusters) || int(sum.Keep+sum.Redundant+sum.Review) != len(of) || sum.PayloadBytes <= 0 || sum.RecordBytes <= 0 {
			t.Errorf("%s: %+v", policy, sum)
		}
	}
	checkEdges(t, w, cluster)
}

// checkEdges checks that the edges inside clusters connect each of them, and
// that they are those of the database.
func checkEdges(t *testing.T, w *Workspace, clusters map[string]string) {
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
	d := json.NewDecoder(bytes.NewReader(exportOf(t, w, ExportOptions{Format: "edges"})))
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
	for _, err := range w.nearPairs() {
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
	if table := exportOf(t, w, ExportOptions{Format: "edges-csv"}); bytes.Count(table, []byte("\n")) != 1+len(edges) {
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
	if err := xml.Unmarshal(exportOf(t, w, ExportOptions{Format: "graphml"}), &graph); err != nil {
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

// Gathering gives what looking up every page gives.
func TestGatherIsALookupOfEachPage(t *testing.T) {
	dir := t.TempDir()
	file := crawl(t)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := write(t, filepath.Join(t.TempDir(), "again.warc.gz"), b) // every document in two files, of which the first by name counts
	runAll(t, dir, mustLoad(t), Options{}, file, again)
	w := openWith(t, dir)
	var texts []wantedText
	for r, err := range w.store.table(tableOccurrence) {
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := parseOccurrenceKey(r.key())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(texts); n == 0 || texts[n-1].text != text {
			texts = append(texts, wantedText{cluster.ID{15: text[0] % 4}, text}) // groups that mix the texts
		}
	}
	finder, err := w.store.pageFinder()
	if err != nil {
		t.Fatal(err)
	}
	defer finder.close()
	var want []textPages
	for _, text := range texts {
		p := textPages{wantedText: text}
		for r, err := range finder.occurrences.rows(join(tableOccurrence, text.text[:])) {
			if err != nil {
				t.Fatal(err)
			}
			_, d, err := parseOccurrenceKey(r.key())
			if err != nil {
				t.Fatal(err)
			}
			m, err := finder.page(d)
			if err != nil {
				t.Fatal(err)
			}
			p.pages = append(p.pages, m)
		}
		slices.SortFunc(p.pages, func(a, b report.Member) int {
			if c := report.FalseFirst(a.RevisitOf != "", b.RevisitOf != ""); c != 0 {
				return c
			}
			return comparePages(a, b)
		})
		want = append(want, p)
	}
	slices.SortFunc(want, func(a, b textPages) int {
		if c := compareTexts(a.group, b.group); c != 0 {
			return c
		}
		return compareTexts(a.text, b.text)
	})
	for range 2 {
		gathered, err := w.store.gather(context.Background(), func(yield func(wantedText, error) bool) {
			for _, text := range texts {
				if !yield(text, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for p, err := range pagesOf(context.Background(), gathered) {
			if err != nil || i == len(want) || !reflect.DeepEqual(p, want[i]) {
				t.Fatalf("text %d: got %+v (%v)", i, p, err)
			}
			if strings.HasPrefix(p.pages[0].WARC, "crawl") {
				t.Errorf("of two files %s was shown", p.pages[0].WARC)
			}
			i++
		}
		if i != len(want) {
			t.Errorf("%d texts, want %d", i, len(want))
		}
		if err := gathered.close(); err != nil {
			t.Error(err)
		}
		spilling(t)
	}
}

// countdown is a context that is cancelled when it was asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// An export that is cancelled, or finds the disk full, at any moment leaves what
// was there, and no file beside it.
func TestExportsAreWholeOrNotAtAll(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	wacz := writeWACZ(t, filepath.Join(t.TempDir(), "a.wacz"), crawl(t))
	runAll(t, dir, mustLoad(t), Options{}, wacz)
	w := openWith(t, dir)
	spilling(t)
	path := filepath.Join(out, "export")
	check := func(what string, err, want error) {
		t.Helper()
		b, readErr := os.ReadFile(path)
		if !errors.Is(err, want) || readErr != nil || string(b) != "before" {
			t.Errorf("%s: %v; the file that was there has %d bytes (%v)", what, err, len(b), readErr)
		}
		for _, d := range []string{out, w.store.tmp} {
			if files, err := os.ReadDir(d); err != nil || len(files) > 1 || len(files) == 1 && files[0].Name() != "export" {
				t.Errorf("%s: left %v (%v)", what, files, err)
			}
		}
	}
	for _, format := range Formats {
		if strings.HasPrefix(format, "summary") {
			continue
		}
		o := ExportOptions{Format: format, WACZ: wacz}
		if format != "wacz" {
			o.WACZ = ""
		}
		write(t, path, []byte("before"))
		asked := &countdown{context.Background(), 1 << 30}
		size := &counter{Writer: io.Discard}
		if err := w.ExportWith(asked, o, size); err != nil {
			t.Fatal(format, err)
		}
		most := 1<<30 - asked.left
		for _, left := range []int{0, 1, most / 2, most - 1} {
			err := ExportFile(path, func(out io.Writer) error {
				return w.ExportWith(&countdown{context.Background(), left}, o, out)
			})
			check(fmt.Sprintf("%s cancelled at check %d of %d", format, left, most), err, context.Canceled)
		}
		for _, room := range []int{0, 100, size.n / 2, size.n - 1} {
			err := ExportFile(path, func(out io.Writer) error {
				return w.ExportWith(context.Background(), o, &counter{Writer: out, room: room, bounded: true})
			})
			check(fmt.Sprintf("%s with room for %d of %d bytes", format, room, size.n), err, errNoRoom)
		}
	}
}

var errNoRoom = errors.New("no room")

// counter counts bytes, and takes no more than there is room for.
type counter struct {
	io.Writer
	n, room int
	bounded bool
}

func (c *counter) Write(p []byte) (int, error) {
	if c.bounded && c.n+len(p) > c.room {
		return 0, errNoRoom
	}
	c.n += len(p)
	return c.Writer.Write(p)
}
