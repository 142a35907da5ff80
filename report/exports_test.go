package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
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
		m.Title, m.Byline, m.Unsure = []string{"", "=T\xff", "日本"}[i%3], []string{"", "by\x00 M."}[i%2], i == 2
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
			if string(parts[0]) != uris.SURT(m.URI) || string(parts[1]) != indexed(m.Date) {
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
		if title := strings.ToValidUTF8(m.Title, "\uFFFD"); (r.Title == nil) != (title == "") || title != "" && *r.Title != title ||
			(r.Byline == nil) != (m.Byline == "") || m.Byline != "" && *r.Byline != m.Byline || r.Unsure != m.Unsure {
			t.Errorf("title, by-line or main_unsure of %+v: %+v", m, r)
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

// A port is no part of the host, also one that is no number.
func TestParquetHost(t *testing.T) {
	for _, port := range []string{"", ":8080", ":99999", ":port"} {
		_, rows := writeParquet(t, Cluster{ID: "c", Size: 1, Members: []Member{{RecordID: "r", URI: "http://a.recipes.example" + port + "/x"}}})
		if r := rows[0]; r.Host != "a.recipes.example" || r.TLD == nil || *r.TLD != "example" || *r.RegisteredDomain != "recipes.example" {
			t.Errorf("%q: %+v", port, r)
		}
	}
}

// Both forms of a keep list say the same, of hostile pages, too.
func TestKeepLists(t *testing.T) {
	c := hostile()
	choices := []Choice{
		{Action: ActionKeep, Why: WhyPolicy, With: 0, Compared: true, Resemblance: 1, Characters: 10},
		{Action: ActionRedundant, Why: WhyCovered, With: 0, Compared: true, Resemblance: 0.99999, Characters: 20_000, Lost: 1},
		{Action: ActionRedundant, Why: WhyCovered, With: 3, Compared: true, Resemblance: 1, Characters: 10},
		{Action: ActionKeep, Why: WhyCovers, With: 3, Compared: true, Resemblance: 1, Characters: 10},
		{Action: ActionReview, Why: WhyScore, With: 0, Compared: true, Resemblance: 0.5, Characters: 10, Lost: 5},
		{Action: ActionReview, Why: WhyClipped, With: 0, Characters: 10},
		{Action: ActionKeep, Why: WhyURI, With: 6, Compared: true, Resemblance: 1, Characters: 10},
	}
	for i := range choices {
		with := c.Members[choices[i].With]
		choices[i].Kept, choices[i].KeptURI = with.RecordID, with.URI
	}
	var table, lines bytes.Buffer
	for _, w := range []KeepWriter{NewKeepCSV(&table), NewKeepJSONL(&lines)} {
		if err := errors.Join(w.Write(c, choices), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	var sum Kept
	for i, m := range c.Members {
		sum.Add(choices[i], m)
	}
	if want := (Kept{Keep: 3, Redundant: 2, Lossless: 1, Review: 2, PayloadBytes: 20, RecordBytes: 300, Characters: 20_010, Lost: 1}); sum != want {
		t.Errorf("%+v, want %+v", sum, want)
	}
	var line struct {
		Keep, Redundant, Review []keepPage
		Sum                     Kept
	}
	if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.Sum != sum || len(line.Keep) != 3 || len(line.Redundant) != 2 || len(line.Review) != 2 {
		t.Fatalf("%s (%v)", lines.Bytes(), err)
	}
	of := map[string]keepPage{}
	for _, p := range slices.Concat(line.Keep, line.Redundant, line.Review) {
		of[p.RecordID] = p
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || !slices.Equal(rows[0], keepHeader) || len(rows) != 1+len(choices) {
		t.Fatalf("%q (%v)", rows, err)
	}
	for i, row := range rows[1:] {
		value := func(name string) string { return row[slices.Index(keepHeader, name)] }
		p, with := of[c.Members[i].RecordID], c.Members[choices[i].With]
		if value("action") != string(choices[i].Action) || value("reason") != string(p.Reason) || value("kept") != with.RecordID ||
			value("characters") != fmt.Sprint(p.Characters) || value("relation") != string(p.Relation) || value("offset") != fmt.Sprint(p.Offset) {
			t.Errorf("%q, %+v", row, p)
		}
		switch {
		case choices[i].Action == ActionKeep:
			if p.Kept != "" || value("resemblance") != "1" || value("lost") != "0" {
				t.Errorf("%q, %+v", row, p)
			}
		case !choices[i].Compared:
			if p.Lost != nil || value("resemblance")+value("lost")+value("lost_share") != "" {
				t.Errorf("%q, %+v", row, p)
			}
		default:
			if p.Kept != value("kept") || value("resemblance") != p.Resemblance.String() || value("lost") != fmt.Sprint(*p.Lost) || value("lost_share") != p.LostShare.String() {
				t.Errorf("%q, %+v", row, p)
			}
		}
	}
	if got := *of["<r1>"].Resemblance; got != 0.9999 {
		t.Errorf("a page that loses a character has a score of %v", got)
	}
	if rows[4][slices.Index(keepHeader, "uri")] != "'=1+1" {
		t.Errorf("a formula: %q", rows[4])
	}
}

func TestEdges(t *testing.T) {
	node := func(m Member) Node {
		return Node{Document: m.Document, RecordID: m.RecordID, URI: m.URI, Date: m.Date, Cluster: "c", Path: m.Path, Entry: m.Entry, Offset: m.Offset}
	}
	c := hostile()
	var edges []Edge
	for _, m := range c.Members[1:] {
		edges = append(edges, Edge{Source: node(c.Members[0]), Target: node(m), Relation: Near, Resemblance: 0.93456, Containment: 0.5})
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
	if w := NewParquet(full{}); w.Write(c) == nil && w.Close() == nil {
		t.Error("parquet: no error")
	}
	for name, w := range map[string]KeepWriter{"keep": NewKeepCSV(full{}), "keep-jsonl": NewKeepJSONL(full{})} {
		if err := w.Write(c, slices.Repeat([]Choice{{Action: ActionKeep}}, c.Size)); err == nil && w.Close() == nil {
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
	if err := json.Unmarshal(b, &fields); err != nil || fields["document"] != nil || fields["Document"] != nil || fields["Capture"] != nil || len(fields) != 11 {
		t.Errorf("%s", b)
	}
}

// Long texts are told by most of their pieces, mixed ones not at all; nothing is no
// language.
func TestLanguage(t *testing.T) {
	english := "The archive keeps what people wrote on their pages, and whoever comes later may read it again. "
	german := "Das Archiv bewahrt auf, was Menschen auf ihre Seiten geschrieben haben, und wer später kommt, kann es wieder lesen. "
	for text, want := range map[string]string{
		english: "en", german: "de", strings.Repeat(english, 500): "en", strings.Repeat(english, 500) + strings.Repeat(german, 20): "en",
		strings.Repeat(english, 100) + strings.Repeat(german, 90): "", "": "", "12345 67890": "", "日本語の文章です。これはページの本文です。": "ja", strings.Repeat("這是一個檔案館。", 200): "zh",
	} {
		if got := languageOf(text); got != want {
			t.Errorf("%.40q of %d bytes: %q, want %q", text, len(text), got, want)
		}
	}
}

// Where several languages fit alike, Whatlanggo returns any of them.
func TestLanguageIsNotAGuess(t *testing.T) {
	for _, text := range []string{"a x", "MM true", "SS TimeValue", "open data"} {
		for range 30 {
			if got := languageOf(text); got != "" {
				t.Fatalf("%q: %q", text, got)
			}
		}
	}
}

// The files are those that parquet.GenericWriter writes of the same structs.
func TestParquetIsTheLibrarys(t *testing.T) {
	clusters := []Cluster{hostile(), sample}
	many := Cluster{ID: "many"}
	for i := range parquetRows + 1000 { // more than a row group
		many.Members = append(many.Members, Member{RecordID: fmt.Sprint(i), URI: fmt.Sprintf("http://%d.example/?q=%d", i%7, i)})
	}
	clusters = append(clusters, many)
	options := []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.CreatedBy("neardup", "", ""), parquet.MaxRowsPerRowGroup(parquetRows)}
	var got, want bytes.Buffer
	w, by := NewChosenParquet(&got), parquet.NewGenericWriter[chosenRow](&want, options...)
	lost := 12
	for _, c := range clusters {
		c.Members = slices.Clone(c.Members)
		for i := range c.Members {
			m := &c.Members[i]
			m.Chosen = &Chosen{Action: ActionKeep, Reason: WhyPolicy}
			if i%2 == 1 {
				m.Chosen = &Chosen{Action: ActionRedundant, Reason: WhyCovered, Kept: "<r0>", Resemblance: new(Score), Lost: &lost}
			}
			if _, err := by.Write([]chosenRow{chosenOf(parquetOf(c, *m), m.Chosen)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), by.Close()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("rows of members: %d and %d bytes, not the same", got.Len(), want.Len())
	}

	got.Reset()
	want.Reset()
	cw, cby := NewCorpusParquet(&got), parquet.NewGenericWriter[CorpusPage](&want, options...)
	for i := range 1000 {
		p := NewCorpusPage(sample, sample.Members[0], ActionKeep, strings.Repeat(fmt.Sprint(i, " "), i%50*(i%50)))
		if err := cw.Page(p); err != nil {
			t.Fatal(err)
		}
		if _, err := cby.Write([]CorpusPage{p}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(cw.Close(), cby.Close()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("pages of a corpus: %d and %d bytes, not the same", got.Len(), want.Len())
	}
}
