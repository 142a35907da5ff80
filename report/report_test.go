package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"neardup/verify"
)

var sample = Cluster{ID: "0e58", Size: 3, Representative: "<urn:a>", Members: []Member{
	{RecordID: "<urn:a>", URI: "http://a.example/?x=1&y=<2>", Date: "2024-01-01T00:00:00Z", WARC: "a.warc.gz", Path: "in/a.wacz", Entry: "archive/a.warc.gz", Offset: 7,
		Digest: "sha1:AA", Relation: Representative, Resemblance: 1, Containment: 1, VerifiedAgainst: "<urn:a>", Bytes: 10},
	{RecordID: "<urn:b>", URI: "http://b.example/", Date: "=1+1", WARC: "-b.warc.gz", Path: "-b.warc.gz", Offset: 1 << 40,
		Digest: "sha1:BB", Relation: Near, Resemblance: 0.930049, Containment: 2. / 3, VerifiedAgainst: "<urn:a>", Bytes: 20, Title: "=T\nU", Byline: "by M. · 3 May", Unsure: true},
	{RecordID: "<urn:c>", URI: "http://c.example/", Date: "2024-01-02T00:00:00Z", WARC: "c, d.warc.gz",
		Digest: "@x", Relation: Linked, Resemblance: 0.5, Containment: 1, VerifiedAgainst: "<urn:b>", Bytes: 30},
}}

func TestJSONL(t *testing.T) {
	var b bytes.Buffer
	w := NewJSONL(&b)
	for range 2 {
		if err := w.Write(sample); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(b.String(), "\n")
	if len(lines) != 3 || lines[0] != lines[1] || lines[2] != "" {
		t.Fatalf("want two equal lines: %q", lines)
	}
	want := `{"cluster":"0e58","size":3,"representative":"<urn:a>","members":[` +
		`{"record_id":"<urn:a>","uri":"http://a.example/?x=1&y=<2>","date":"2024-01-01T00:00:00Z","warc":"a.warc.gz","path":"in/a.wacz","entry":"archive/a.warc.gz","offset":7,` +
		`"digest":"sha1:AA","relation":"representative","resemblance":1,"containment":1,"verified_against":"<urn:a>"},` +
		`{"record_id":"<urn:b>","uri":"http://b.example/","date":"=1+1","title":"=T\nU","byline":"by M. · 3 May","main_unsure":true,"warc":"-b.warc.gz","path":"-b.warc.gz","offset":1099511627776,` +
		`"digest":"sha1:BB","relation":"near","resemblance":0.93,"containment":0.6667,"verified_against":"<urn:a>"},` +
		`{"record_id":"<urn:c>","uri":"http://c.example/","date":"2024-01-02T00:00:00Z","warc":"c, d.warc.gz","path":"","offset":0,` +
		`"digest":"@x","relation":"linked","resemblance":0.5,"containment":1,"verified_against":"<urn:b>"}]}` + "\n"
	if lines[0] != want {
		t.Errorf("got  %swant %s", lines[0], want)
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	w := NewCSV(&b)
	sample := sample
	sample.EstimatedBy = "bits"
	if err := errors.Join(w.Write(sample), w.Close()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 || !reflect.DeepEqual(rows[0], csvHeader) {
		t.Fatalf("%d rows: %q", len(rows), rows)
	}
	want := []string{"0e58", "3", "<urn:a>", "<urn:b>", "http://b.example/", "'=1+1", "'-b.warc.gz", "'-b.warc.gz", "", "1099511627776", "sha1:BB",
		"near", "0.93", "0.6667", "<urn:a>", "", "'=T\nU", "by M. · 3 May", "true", "bits"}
	if !reflect.DeepEqual(rows[2], want) {
		t.Errorf("got  %q\nwant %q", rows[2], want)
	}
	if rows[1][19] != "" || rows[3][6] != "c, d.warc.gz" || rows[3][10] != "'@x" || rows[1][7] != "in/a.wacz" || rows[1][8] != "archive/a.warc.gz" {
		t.Errorf("%q", rows[3])
	}

	b.Reset()
	if err := NewCSV(&b).Close(); err != nil || !strings.HasPrefix(b.String(), "cluster,size,") {
		t.Errorf("no clusters: %q %v", b.String(), err)
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, sample, 2); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cluster 0e58, 3 pages\n", "representative", "resemblance 0.93", "... and 1 more\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "c.example") {
		t.Error("more members than asked for")
	}
}

func TestSummaryAdds(t *testing.T) {
	var s Summary
	sized := func(n int) Cluster {
		c := Cluster{Size: n}
		for i := range n {
			m := Member{Relation: Near, Bytes: 10}
			if i == 0 {
				m.Relation = Representative
			}
			c.Members = append(c.Members, m)
		}
		return c
	}
	for _, n := range []int{70, 2, 3, 4, 7, 8, 3} {
		s.Add(sized(n))
	}
	want := []SizeBucket{{2, 3, 3, 8}, {4, 7, 2, 11}, {8, 15, 1, 8}, {64, 127, 1, 70}}
	if !reflect.DeepEqual(s.Clusters.BySize, want) {
		t.Errorf("by size %+v, want %+v", s.Clusters.BySize, want)
	}
	if s.Clusters.Clusters != 7 || s.Clusters.Pages != 97 || s.Clusters.Largest != 70 || s.Duplicates != (Duplicates{90, 900}) {
		t.Errorf("%+v %+v", s.Clusters, s.Duplicates)
	}
	if s.Clusters.ByRelation[Representative] != 7 || s.Clusters.ByRelation[Near] != 90 {
		t.Errorf("%v", s.Clusters.ByRelation)
	}
}

func TestSummaryFormats(t *testing.T) {
	s := Summary{Files: 2, Unreadable: 1, Records: Records{Read: 10, Documents: 5, Duplicates: 2,
		Skipped: map[string]int64{"request": 2, "http-status": 1},
		Choices: map[string]int64{"type-sniffed": 3, "mojibake": 2}, Damaged: 4},
		Frames: &Frames{Texts: 7, Characters: 1000, LeftOut: 255},
		Stages: []StageTime{{Stage: "extract", Seconds: 2, CPU: 3, Rate: 2.5}}}
	s.Add(sample)
	var text, js bytes.Buffer
	if err := errors.Join(s.WriteText(&text), s.WriteJSON(&js)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 unreadable", "4 damaged places", "http-status 1, request 2", "mojibake 2, type-sniffed 3", "of 2 or 3 pages",
		"frames are 25.5% of all characters", "3.0 s of processor time", "\nTerms: docs/glossary.md\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	var back Summary
	if err := json.Unmarshal(js.Bytes(), &back); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("JSON does not read back: %v", err)
	}
}

// The glossary has each word on the left of the summary.
func TestGlossaryHasTheSummary(t *testing.T) {
	glossary, err := os.ReadFile("../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	one := regexp.MustCompile(`s\b`) // "pairs" is explained by "pair"
	known := one.ReplaceAllString(strings.ToLower(string(glossary)), "")
	s := Summary{Records: Records{Choices: map[string]int64{"mojibake": 2}}, Frames: &Frames{Texts: 7, Characters: 1000, LeftOut: 255},
		Judged: &JudgedPairs{MustJoin: 1, NotFollowed: map[string]int64{"missing": 1}}, Contained: ContainedCounts{Texts: 1, Pages: 1}}
	s.Add(sample)
	candidates := int64(3)
	other := s
	other.Candidates = &candidates
	var text bytes.Buffer
	if err := errors.Join(s.WriteText(&text), other.WriteText(&text)); err != nil {
		t.Fatal(err)
	}
	label, terms := regexp.MustCompile(`^ *(?:[=+] )?([a-z][a-z -]*?)  +[0-9]`), 0
	for line := range strings.Lines(text.String()) {
		m := label.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		terms++
		if !strings.Contains(known, one.ReplaceAllString(m[1], "")) {
			t.Errorf("docs/glossary.md has no %q", m[1])
		}
	}
	if terms < 30 {
		t.Errorf("%d words in\n%s", terms, text.String())
	}
}

// No score below 1 is shown as 1, and the bands hold each member but the first. Only
// identical members have the same text, whatever the score of the others.
func TestScoresDoNotOversell(t *testing.T) {
	for s, want := range map[Score]string{1: "1.00 1", 0.99999: "0.99 0.9999", 0.996: "0.99 0.996", 0.994: "0.99 0.994", 0.5: "0.50 0.5", 0: "0.00 0"} {
		if got := s.Short() + " " + s.String(); got != want {
			t.Errorf("%v: %s, want %s", float64(s), got, want)
		}
	}
	var s Summary
	c := Cluster{Members: []Member{{}}}
	for _, r := range []Score{1, 1, 0.9999, 0.99, 0.98, 0.9, 0.85, 0.7, 0.65, 0.2, 0, Score(math.NaN())} {
		c.Members = append(c.Members, Member{Relation: Near, Resemblance: r})
	}
	for _, r := range []Relation{Identical, Alike, Linked, Judged} {
		c.Members = append(c.Members, Member{Relation: r, Resemblance: 1})
	}
	c.Size = len(c.Members)
	s.Add(c)
	want := []ScoreBand{{1, 1}, {0.99, 7}, {0.9, 2}, {0.8, 1}, {0.65, 2}, {0, 3}}
	if !reflect.DeepEqual(s.Clusters.ByScore, want) {
		t.Errorf("%+v, want %+v", s.Clusters.ByScore, want)
	}
}

func TestRelationOf(t *testing.T) {
	for _, tt := range []struct {
		v             verify.Verdict
		first, second int
		want, inverse Relation
	}{
		{verify.Verdict{}, 10, 10, Near, Near},
		{verify.Verdict{}, 10, 5, Near, Near},
		{verify.Verdict{}, 5, 10, Near, Near},
		{verify.Verdict{Contained: true}, 10, 10, Near, Near},
		{verify.Verdict{Contained: true}, 10, 9, Contained, Contains},
		{verify.Verdict{Contained: true}, 9, 10, Contains, Contained},
		{verify.Verdict{Alike: true}, 10, 5, Alike, Alike},
	} {
		got, turned := RelationOf(tt.v, tt.first, tt.second), RelationOf(tt.v, tt.second, tt.first)
		if got != tt.want || turned != tt.inverse || got.Inverse() != turned {
			t.Errorf("%+v, lengths %d and %d: %s, and %s the other way", tt.v, tt.first, tt.second, got, turned)
		}
	}
}
