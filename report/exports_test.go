package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"neardup/uris"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// hostile returns a cluster of what crawls hold: no URI, no date, bytes that are no
// UTF-8, markup, formulas, control characters.
func hostile() Cluster {
	c := Cluster{ID: "c0de", Representative: "<r0>"}
	for i, uri := range []string{"http://a.example/", "", "http://b.example/\xff<script>alert(1)</script>\n\x00", "=1+1", "http://日本.example/あ?q=\"&amp;", "http://[::1]/",
		"http://x.example:99999/" + strings.Repeat("%25", 1000)} {
		m := Member{RecordID: fmt.Sprintf("<r%d>", i), URI: uri, Date: []string{"2024-09-16T06:09:12Z", "", "Tue"}[i%3], WARC: "a\xfe.warc", Offset: int64(i),
			Digest: "sha1:X", Relation: Near, Resemblance: 0.93456, Containment: 1, VerifiedAgainst: "<r0>", Bytes: 10}
		m.Capture = Capture{Document: fmt.Sprintf("%032x", i), Status: 200 * (i % 2), RecordBytes: int64(100 * (i % 3)), MediaType: "text/html", TypeSniffed: i == 3, Charset: "utf-8", TextBytes: int64(i)}
		c.Members = append(c.Members, m)
	}
	c.Members[0].Relation = Representative
	c.Size = len(c.Members)
	return c
}

func TestCDXJ(t *testing.T) {
	for _, c := range []Cluster{sample, hostile()} {
		for _, m := range c.Members {
			line, err := CDXJ(c, m)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Count(line, []byte("\n")) != 1 || line[len(line)-1] != '\n' {
				t.Fatalf("not one line: %q", line)
			}
			parts := bytes.SplitN(line, []byte(" "), 3)
			if string(parts[0]) != uris.SURT(m.URI) || string(parts[1]) != timestamp(m.Date) {
				t.Errorf("%q: key %q, timestamp %q", m.URI, parts[0], parts[1])
			}
			var fields map[string]any
			if err := json.Unmarshal(parts[2], &fields); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"url", "mime", "status", "digest", "length", "offset", "filename"} {
				if _, ok := fields[name].(string); !ok {
					t.Errorf("%q: no %s in %s", m.URI, name, parts[2])
				}
			}
			if fields["cluster"] != c.ID || fields["relation"] != string(m.Relation) {
				t.Errorf("%s", parts[2])
			}
		}
	}
	line, err := CDXJ(sample, Member{URI: "http://a.example/", RevisitOf: "<r>", Capture: Capture{MediaType: "text/html"}})
	if err != nil || !bytes.Contains(line, []byte(`"mime":"warc/revisit","status":"-","digest":"","length":"-"`)) {
		t.Errorf("%s (%v)", line, err)
	}
}

func writeParquet(t *testing.T, clusters ...Cluster) ([]byte, []parquetRow) {
	t.Helper()
	var b bytes.Buffer
	w := NewParquet(&b)
	for _, c := range clusters {
		if err := w.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[parquetRow](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), rows
}

func TestParquet(t *testing.T) {
	c := hostile()
	first, rows := writeParquet(t, c, sample)
	again, _ := writeParquet(t, c, sample)
	if !bytes.Equal(first, again) {
		t.Error("the same clusters give other bytes")
	}
	if len(rows) != c.Size+len(sample.Members) {
		t.Fatalf("%d rows", len(rows))
	}
	for i, m := range c.Members {
		r := rows[i]
		if r.Cluster != c.ID || r.RecordID != m.RecordID || r.SURT != uris.SURT(m.URI) || r.Relation != string(m.Relation) || r.RecordOffset != m.Offset ||
			r.URL != strings.ToValidUTF8(m.URI, "\uFFFD") || r.ContentDigest != "X" || r.TextBytes != m.TextBytes {
			t.Errorf("%+v of %+v", r, m)
		}
		if (r.FetchStatus != nil) != (m.Status > 0) || (r.RecordLength != nil) != (m.RecordBytes > 0) || (r.FetchTime != nil) != (i%3 == 0) || (r.MimeType == nil) != m.TypeSniffed {
			t.Errorf("nulls of %+v", r)
		}
	}
	if rows[1].Resemblance != 0.9346 {
		t.Errorf("resemblance %v is not as in the other formats", rows[1].Resemblance)
	}
	if _, none := writeParquet(t); len(none) != 0 {
		t.Error("rows of no clusters")
	}
}

// Large values end a row group, so that it fits into memory.
func TestParquetRowGroupsAreBounded(t *testing.T) {
	c := Cluster{ID: "c", Size: 2}
	for i := range 2000 {
		c.Members = append(c.Members, Member{RecordID: fmt.Sprint(i), URI: "http://a.example/" + strings.Repeat(string(rune('a'+i%26)), 16<<10)})
	}
	b, rows := writeParquet(t, c)
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(rows) != 2000 {
		t.Fatal(len(rows), err)
	}
	if n := len(f.RowGroups()); n < 4 {
		t.Errorf("%d row groups of 100 MB", n)
	}
}

func TestDomains(t *testing.T) {
	s := func(p *string) string {
		if p == nil {
			return "-"
		}
		return *p
	}
	for host, want := range map[string]string{
		"www.example.co.uk": "uk example.co.uk example.co.uk", "a.b.blogspot.com": "com blogspot.com b.blogspot.com",
		"x.s3.amazonaws.com": "com amazonaws.com x.s3.amazonaws.com", "192.0.2.1": "- - -", "::1": "- - -", "": "- - -",
		"com": "com - -", "co.uk": "uk - -", "a.b.recipes.example": "example recipes.example recipes.example", "localhost": "localhost - -",
	} {
		tld, registered, private := domains(host)
		if got := s(tld) + " " + s(registered) + " " + s(private); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// kept returns what a keep list of a cluster says, as CSV and as JSON lines, which
// must say the same.
func kept(t *testing.T, k Keep, c Cluster) (id string, actions map[string]Action) {
	t.Helper()
	var table, lines bytes.Buffer
	var sums [2]Kept
	for _, w := range []Writer{NewKeepCSV(&table, k, &sums[0]), NewKeepJSONL(&lines, k, &sums[1])} {
		if err := w.Write(c); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	actions = map[string]Action{}
	r := csv.NewReader(&table)
	header, err := r.Read()
	if err != nil || !slices.Equal(header, keepHeader) {
		t.Fatal(header, err)
	}
	for {
		line, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		actions[line[3]] = Action(line[1])
		id = line[2]
	}
	var line keepLine
	if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if sums[0] != sums[1] || line.Sum != sums[0] || line.Keep.RecordID != id ||
		len(line.Redundant) != int(sums[0].Redundant) || len(line.Review) != int(sums[0].Review) || 1+len(line.Redundant)+len(line.Review) != len(c.Members) {
		t.Errorf("CSV and JSON differ: %+v, %s", sums[0], lines.Bytes())
	}
	return id, actions
}

func TestKeep(t *testing.T) {
	member := func(id, uri, date string, r Relation, text int64, revisit string) Member {
		return Member{RecordID: id, URI: uri, Date: date, Relation: r, RevisitOf: revisit, Bytes: 10, Capture: Capture{TextBytes: text, RecordBytes: 3}}
	}
	c := Cluster{ID: "c", Members: []Member{
		member("rep", "http://www.a.example/", "2024-02-01T00:00:00Z", Representative, 50, ""),
		member("early", "http://b.example/", "2024-01-01T00:00:00Z", Near, 40, ""),
		member("late", "http://sub.c.example/", "2024-09-01T00:00:00Z", Near, 60, ""),
		member("same", "http://d.example/", "2024-01-01T00:00:00Z", Identical, 50, ""),
		member("part", "http://c.example/", "2020-01-01T00:00:00Z", Contained, 5, ""),
		member("whole", "http://c.example/", "2019-01-01T00:00:00Z", Contains, 500, ""),
		member("far", "http://c.example/", "2018-01-01T00:00:00Z", Linked, 500, ""),
		member("again", "http://c.example/", "2017-01-01T00:00:00Z", Near, 500, "<late>"),
	}}
	c.Size = len(c.Members)
	quality := func(uri string) float64 {
		return map[string]float64{"http://d.example/": 2, "http://c.example/": 9}[uri]
	}
	for _, x := range []struct {
		keep Keep
		want string
	}{
		{Keep{Policy: KeepEarliest}, "early"},
		{Keep{Policy: KeepLatest}, "late"},
		{Keep{Policy: KeepLongest}, "late"},
		{Keep{Policy: KeepQuality, Quality: quality}, "same"},
		{Keep{Policy: KeepEarliest, Hosts: []string{"C.example"}}, "late"},                   // also of a subdomain, but not by containment only
		{Keep{Policy: KeepEarliest, Hosts: []string{"nowhere.example", "a.example"}}, "rep"}, // the second, where the first has none
		{Keep{Policy: KeepLatest, Hosts: []string{"d.example", "b.example"}}, "same"},
		{Keep{Policy: KeepEarliest, Hosts: []string{"ple"}}, "early"}, // no part of a label
	} {
		id, actions := kept(t, x.keep, c)
		if id != x.want {
			t.Errorf("%+v keeps %s, want %s", x.keep, id, x.want)
		}
		for _, m := range c.Members {
			want := ActionRedundant
			switch {
			case m.RecordID == x.want:
				want = ActionKeep
			case m.RecordID == "whole" || m.RecordID == "far":
				want = ActionReview
			}
			if actions[m.RecordID] != want {
				t.Errorf("%+v: %s of %s, want %s", x.keep, actions[m.RecordID], m.RecordID, want)
			}
		}
	}
	var sum Kept
	if err := NewKeepCSV(io.Discard, Keep{Policy: KeepEarliest}, &sum).Write(c); err != nil || sum != (Kept{1, 5, 2, 50, 15}) {
		t.Errorf("%+v (%v)", sum, err)
	}
	// The order of the cluster does not matter.
	slices.Reverse(c.Members[1:])
	if id, _ := kept(t, Keep{Policy: KeepEarliest}, c); id != "early" {
		t.Errorf("in another order %s is kept", id)
	}
}

func TestEdges(t *testing.T) {
	node := func(m Member) Node { return Node{m.Document, m.RecordID, m.URI, m.Date, "c"} }
	c := hostile()
	var edges []Edge
	for _, m := range c.Members[1:] {
		edges = append(edges, Edge{node(c.Members[0]), node(m), Near, 0.93456, 0.5})
	}
	var lines, table, graph bytes.Buffer
	g, err := NewGraphML(&graph)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Members {
		if err := g.Node(node(m)); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []EdgeWriter{NewEdgesJSONL(&lines), NewEdgesCSV(&table), g} {
		for _, e := range edges {
			if err := w.Edge(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	d := json.NewDecoder(&lines)
	for _, e := range edges {
		var l edgeLine
		if err := d.Decode(&l); err != nil || l.Target != e.Target.RecordID || l.Resemblance != 0.9346 || l.TargetCluster != "c" {
			t.Errorf("%+v (%v)", l, err)
		}
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 1+len(edges) || rows[3][8] != "'=1+1" {
		t.Errorf("%q (%v)", rows, err)
	}
	var doc struct {
		Nodes []struct {
			ID   string `xml:"id,attr"`
			Data []struct {
				Key   string `xml:"key,attr"`
				Value string `xml:",chardata"`
			} `xml:"data"`
		} `xml:"graph>node"`
		Edges []struct {
			Source string `xml:"source,attr"`
			Target string `xml:"target,attr"`
		} `xml:"graph>edge"`
	}
	if err := xml.Unmarshal(graph.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Nodes) != c.Size || len(doc.Edges) != len(edges) || doc.Nodes[2].Data[1].Value != "http://b.example/\uFFFD<script>alert(1)</script>\n\uFFFD" ||
		doc.Edges[0].Source != "n"+c.Members[0].Document || doc.Edges[0].Target != doc.Nodes[1].ID {
		t.Errorf("%+v", doc)
	}
}

// A writer that fails stops every format.
func TestExportsReportFailure(t *testing.T) {
	c := hostile()
	for name, w := range map[string]Writer{"parquet": NewParquet(full{}), "keep": NewKeepCSV(full{}, Keep{}, new(Kept)), "keep-jsonl": NewKeepJSONL(full{}, Keep{}, new(Kept))} {
		if err := w.Write(c); err == nil && w.Close() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, w := range map[string]EdgeWriter{"edges": NewEdgesJSONL(full{}), "edges-csv": NewEdgesCSV(full{}), "graphml": &GraphML{full{}}} {
		if err := w.Edge(Edge{}); err == nil && w.Close() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// What only some formats show is not in the others.
func TestCaptureIsNotInJSON(t *testing.T) {
	b, err := json.Marshal(Member{Capture: Capture{Document: "d", Status: 200}})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil || fields["document"] != nil || fields["Document"] != nil || fields["Capture"] != nil || len(fields) != 10 {
		t.Errorf("%s", b)
	}
}
