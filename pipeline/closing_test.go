package pipeline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"neardup/pipeline/internal/pipetest"
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
