package exports_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"neardup/keep"
	"neardup/pipeline/exports"
	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// pagesOfMany are pages of which many have one text, some as revisits, captured at the
// same time or not, with texts that contain others.
func pagesOfMany(rng *rand.Rand) (records [][]byte) {
	text := func(sentences int) string { return pipetest.Words(rng, sentences) }
	texts := []string{text(40)}
	texts = append(texts, texts[0]+text(2), texts[0]+text(60), text(30)) // near, containing, another
	texts = append(texts, texts[3]+text(1), text(2)+texts[3])
	for i := range 60 {
		id := fmt.Sprintf("page-%d", i)
		records = append(records, pipetest.Archived("response", id, fmt.Sprintf("http://site%d.example/%d", i%7, i%11), 1+rng.IntN(3), pipetest.OkHTML+"<p>"+texts[rng.IntN(len(texts))]))
	}
	return records
}

// Clusters that come in parts are those that come whole, in all exports.
func TestParts(t *testing.T) {
	defer func(n int) { groups.PartPages = n }(groups.PartPages)
	rng := rand.New(rand.NewPCG(7, 8))
	revisits, _ := pipetest.Revisits()
	dir := filepath.Join(t.TempDir(), "ws")
	settings := []string{"verify.containment=0.8", "sign.smallest=1"}
	pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{}, pipetest.Crawl(t), pipetest.WriteRecords(t, append(revisits, pagesOfMany(rng)...)...))
	w := pipetest.OpenWith(t, dir, settings...)
	files := func() (all [][]byte) {
		to := t.TempDir()
		if _, err := exports.WriteAllTo(t.Context(), w, to, func(report.Cluster) {}); err != nil {
			t.Fatal(err)
		}
		for _, name := range exports.Files {
			b, err := os.ReadFile(filepath.Join(to, name))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b)
		}
		rules := keep.Default()
		rules.AllowLostURIs, rules.Every = true, keep.Day
		for _, format := range []string{"parquet", "csv", "contained", "cdxj", "keep", "keep-jsonl", "edges", "graphml", "corpus"} {
			all = append(all, pipetest.ExportOf(t, w, exports.Options{Format: format}))
		}
		for _, format := range []string{"jsonl", "keep", "keep-jsonl", "corpus"} {
			all = append(all, pipetest.ExportOf(t, w, exports.Options{Format: format, All: true, Keep: &rules}))
		}
		text := pipetest.ExportOf(t, w, exports.Options{Format: "text"})
		all = append(all, regexp.MustCompile(` +`).ReplaceAll(text, []byte(" "))) // columns are as wide as a part needs
		return all
	}
	shown := func() []report.Cluster {
		_, largest, err := exports.WriteAll(t.Context(), w, 8)
		if err != nil {
			t.Fatal(err)
		}
		return largest
	}
	want, wantGroups, wantShown := files(), collected(t, w), shown()
	beside := 0
	for _, c := range wantShown {
		beside += len(c.Contained)
	}
	contained, many := 0, 0
	for _, g := range wantGroups {
		contained += len(g.Contained)
		if g.Size > 9 {
			many++
		}
	}
	if contained == 0 || many < 2 || beside == 0 {
		t.Fatalf("%d contained pages, %d of them beside the largest clusters, and %d clusters of many pages tell little", contained, beside, many)
	}
	defer func(n int) { extsort.Bytes = n }(extsort.Bytes)
	for _, n := range []int{1, 2, 3, 9} {
		if groups.PartPages = n; n == 2 {
			extsort.Bytes = 2000
		}
		for i, got := range files() {
			if !bytes.Equal(got, want[i]) {
				t.Errorf("export %d in parts of %d pages: %s, want %s", i, n, got, want[i])
			}
		}
		if got := collected(t, w); !reflect.DeepEqual(got, wantGroups) {
			t.Errorf("in parts of %d pages: %v, want %v", n, got, wantGroups)
		}
		for _, do := range []string{"written", "updated"} {
			if do == "written" {
				if err := os.RemoveAll(w.Path("exports")); err != nil {
					t.Fatal(err)
				}
			}
			got := shown()
			for i, c := range wantShown {
				if i >= len(got) || got[i].ID != c.ID || got[i].Size != c.Size || !reflect.DeepEqual(got[i].Contained, c.Contained) || !reflect.DeepEqual(got[i].Members, c.Members[:min(n, c.Size)]) {
					t.Errorf("%s in parts of %d pages, cluster %d shown: %v, want %v", do, n, i, got, c)
				}
			}
		}
		parts := 0
		for c, err := range results.GroupParts(t.Context(), w) {
			if parts++; err != nil || len(c.Members) > n {
				t.Fatalf("%d members in a part of %d: %v", len(c.Members), n, err)
			}
		}
		for stop := range parts { // any number of parts may be read
			i := 0
			for _, err := range results.GroupParts(t.Context(), w) {
				if i++; err != nil {
					t.Fatal(err)
				}
				if i > stop {
					break
				}
			}
		}
		for left := 0; ; left += 3 {
			ctx := &pipetest.Countdown{Context: context.Background(), Left: left}
			ended := true
			for _, err := range results.GroupParts(ctx, w) {
				ended = err == nil
			}
			if ended {
				break
			}
		}
	}
}

func collected(t *testing.T, w *workspace.Workspace) (all []report.Cluster) {
	t.Helper()
	for c, err := range results.Groups(t.Context(), w) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}
