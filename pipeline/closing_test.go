package pipeline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// notices are pages that hold the same short notice, the notice itself, and
// near-duplicates of one page.
func notices() [][]byte {
	random := rand.New(rand.NewPCG(9, 9))
	sentence := func() string {
		words := make([]string, 12)
		for i := range words {
			words[i] = fmt.Sprintf("w%d", random.IntN(50_000))
		}
		return strings.Join(words, " ") + ". "
	}
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(sentence())
		}
		return b.String()
	}
	notice := text(40)
	var records [][]byte
	page := func(id, body string) {
		records = append(records, pipetest.Archived("response", id, "http://"+id+".example/", 1, pipetest.OkHTML+"<p>"+body))
	}
	page("notice", notice)
	for i := range 5 {
		page(fmt.Sprintf("page-%d", i), text(50)+notice)
	}
	base := text(50)
	for i := range 3 {
		page(fmt.Sprintf("near-%d", i), base+notice+sentence())
	}
	return records
}

// clusterMembers runs the records and returns the members of each cluster.
func clusterMembers(t *testing.T, records [][]byte, settings ...string) map[string][]report.Member {
	t.Helper()
	out := map[string][]report.Member{}
	clusters := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t, settings...), workspace.Options{}, pipetest.WriteRecords(t, records...))
	for line := range bytes.Lines(clusters) {
		var c report.Cluster
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		out[c.ID] = c.Members
	}
	return out
}

// A notice that many pages contain joins one of them, and glues none together.
func TestContainmentDoesNotSwallow(t *testing.T) {
	records := notices()
	linked := clusterMembers(t, records, "verify.contained=links", "verify.containment=0.8", "sign.smallest=1", "verify.closing=transitive")
	if len(linked) != 1 {
		t.Fatalf("with links: %d clusters, want all pages in one", len(linked))
	}
	for _, closing := range []string{"transitive", "representative"} {
		leaf := clusterMembers(t, records, "verify.contained=leaf", "verify.containment=0.8", "sign.smallest=1", "verify.closing="+closing)
		near, withNotice := 0, 0
		for id, members := range leaf {
			pages := map[string]bool{}
			for _, m := range members {
				pages[strings.TrimSuffix(m.URI, ".example/")] = true
				if m.URI == "http://notice.example/" {
					withNotice++
					if m.Relation != report.Contained || m.Containment < 0.8 || m.Resemblance >= 0.5 {
						t.Errorf("%s: the notice is %+v", closing, m)
					}
				}
			}
			if pages["http://near-0"] && pages["http://near-1"] && pages["http://near-2"] {
				near++
				delete(pages, "http://notice")
				if len(pages) != 3 {
					t.Errorf("%s: cluster %s of the near pages: %v", closing, id, pages)
				}
			} else if len(pages) != 2 {
				t.Errorf("%s: cluster %s: %v", closing, id, pages)
			}
		}
		if near != 1 || withNotice != 1 {
			t.Errorf("%s: %d clusters of the near pages, the notice is in %d: %v", closing, near, withNotice, leaf)
		}
	}
}

// Groups of linked texts with more near pairs than max_links are not partitioned: nothing
// is verified for a partition, and each member is near its representative.
func TestTooLargeToPartition(t *testing.T) {
	chains := pipetest.WriteTexts(t, 0, pipetest.Chains(rand.New(rand.NewPCG(3, 4)), 3, 40))
	for links, large := range map[int]int64{1: 3, 0: 0, 100_000: 0} {
		dir, settings := filepath.Join(t.TempDir(), "ws"), []string{fmt.Sprintf("verify.partition.max_links=%d", links)}
		pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{}, chains)
		w := pipetest.OpenWith(t, dir, settings...)
		s, err := results.Summary(t.Context(), w)
		if err != nil || s.Pairs.TooLarge != large || s.Clusters.Clusters < 4 {
			t.Errorf("%d links: %v, %d groups were too large, want %d; %d clusters", links, err, s.Pairs.TooLarge, large, s.Clusters.Clusters)
		}
		if checked := pipetest.RowsOf(t, w, layout.TableChecked); (checked == "") != (large > 0) {
			t.Errorf("%d links: pairs were verified for a partition: %v", links, checked != "")
		}
		for l, err := range results.ScoredPairs(w, layout.TablePart) {
			if err != nil {
				t.Fatal(err)
			}
			s, ok, err := results.VerdictOn(w, l.Leader, l.Member)
			if l.Leader.Compare(l.Member) > 0 {
				s, ok, err = results.VerdictOn(w, l.Member, l.Leader)
				s = s.Inverse()
			}
			if err != nil || !ok || s != l.Score {
				t.Errorf("%d links: %v, the verdict on %x and %x is %v, of the member %v", links, err, l.Leader, l.Member, s, l.Score)
			}
		}
	}
}

// A notice that many pages contain is in no cluster by that: it stands beside them, once,
// in the page with the largest share.
func TestContainedApart(t *testing.T) {
	settings := []string{"verify.containment=0.8", "sign.smallest=1"}
	for _, closing := range []string{"partition", "transitive", "representative"} {
		t.Run(closing, func(t *testing.T) {
			settings := append([]string{"verify.closing=" + closing}, settings...)
			input := pipetest.WriteRecords(t, notices()...)
			without, with := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "ws")
			plain := pipetest.RunAll(t, without, pipetest.MustLoad(t, append(settings, "verify.containment=1.01")...), workspace.Options{}, input)
			c := pipetest.MustLoad(t, settings...)
			pipetest.RunAll(t, with, c, workspace.Options{}, input)
			w := pipetest.OpenWith(t, with, settings...)
			var clusters []string
			for line := range bytes.Lines(pipetest.ExportOf(t, w, exports.Options{Format: "jsonl"})) {
				var c report.Cluster
				if err := json.Unmarshal(line, &c); err != nil {
					t.Fatal(err)
				}
				clusters = append(clusters, c.ID)
				for _, m := range c.Members {
					if m.URI == "http://notice.example/" {
						t.Errorf("the notice is a member: %+v", m)
					}
				}
			}
			if len(clusters) != 1 || bytes.Count(plain, []byte("\n")) != 1 || !bytes.Contains(plain, []byte(clusters[0])) {
				t.Errorf("clusters %q, without containment %s", clusters, plain)
			}
			lines := pipetest.ExportOf(t, w, exports.Options{Format: "contained"})
			var p map[string]any
			if err := json.Unmarshal(lines, &p); err != nil { // one line
				t.Fatalf("%v: %s", err, lines)
			}
			if p["uri"] != "http://notice.example/" || p["containment"].(float64) < 0.8 || p["resemblance"].(float64) >= 0.5 || p["in_uri"] == p["uri"] || p["pages"] != 1.0 {
				t.Errorf("%s", lines)
			}
			edges := 0
			for line := range bytes.Lines(pipetest.ExportOf(t, w, exports.Options{Format: "edges"})) {
				if bytes.Contains(line, []byte(`"relation":"contained"`)) && bytes.Contains(line, []byte(`"target_uri":"http://notice.example/"`)) {
					edges++
				}
			}
			if edges < 5 {
				t.Errorf("%d edges to the notice", edges)
			}
			if s, err := results.Summary(t.Context(), w); err != nil || s.Contained != (report.ContainedCounts{Texts: 1, Pages: 1}) {
				t.Errorf("counted %+v", s.Contained)
			}
		})
	}
}

// Two pages of one site that differ in title and URI are near only if they are nearly
// equal. A page that was captured again keeps its URI or its title.
func TestOtherPages(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	text := func(sentences int) string { return pipetest.Words(random, sentences) }
	base := text(40)
	page := func(id, uri, title, body string) []byte {
		return pipetest.Archived("response", id, uri, 1, pipetest.OkHTML+"<title>"+title+"</title><p>"+body)
	}
	first := page("first", "http://site.example/rtrim", "The function RTrim", base+text(8))
	for _, tt := range []struct {
		name, uri, title, body string
		settings               []string
		joined                 bool
	}{
		{"another page", "http://site.example/ltrim", "The function LTrim", base + text(8), nil, false},
		{"another page, nearly equal", "http://site.example/ltrim", "The function LTrim", base + text(1), []string{"verify.other_pages=0.8"}, true},
		{"no check", "http://site.example/ltrim", "The function LTrim", base + text(8), []string{"verify.other_pages=0"}, true},
		{"the same URI", "http://site.example/rtrim", "RTrim, explained", base + text(8), nil, true},
		{"the same title", "http://site.example/print/rtrim", "The function RTrim", base + text(8), nil, true},
		{"the same title but for a number", "http://site.example/print/rtrim", "(3) The Function RTrim", base + text(8), nil, true},
		{"no title", "http://site.example/ltrim", "", base + text(8), nil, true},
		{"another site", "http://other.example/ltrim", "The function LTrim", base + text(8), nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clusters := clusterMembers(t, [][]byte{first, page("second", tt.uri, tt.title, tt.body)}, append(tt.settings, "extract.clean=none")...)
			if joined := len(clusters) == 1; joined != tt.joined {
				t.Errorf("in one cluster: %v", joined)
			}
		})
	}
}
