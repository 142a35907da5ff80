package exports_test

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
	"neardup/pipeline/workspace"
	"neardup/report"
)

// An article that a site has at four addresses is a frame by the rule, but little else
// is on these pages: they are written whole. Frames of other pages are left out, and
// all of it is counted.
func TestCleanCorpus(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	article, menu := pipetest.Words(rng, 20), pipetest.Words(rng, 5)
	whole, want := map[string]string{}, map[string]string{}
	var sum report.Cleaned
	add := func(url, framed, own string, left bool) {
		whole[url] = strings.TrimSpace(framed + own)
		want[url] = whole[url]
		sum.Pages++
		sum.Characters += int64(len(whole[url]))
		switch {
		case !left:
			sum.Whole++
		case framed != "":
			want[url] = strings.TrimSpace(own)
			sum.Framed++
			sum.LeftOut += int64(len(whole[url]) - len(want[url]))
		}
	}
	for i := range 4 {
		add(fmt.Sprintf("http://a.example/story-%d", i), article, pipetest.Words(rng, min(i, 1)), false)
		add(fmt.Sprintf("http://b.example/%d", i), menu, pipetest.Words(rng, 20), true)
	}
	add("http://b.example/short", menu, pipetest.Words(rng, 1), false)
	add("http://c.example/", "", pipetest.Words(rng, 20), true)

	var collection bytes.Buffer
	for url, text := range whole {
		if err := json.NewEncoder(&collection).Encode(map[string]string{"id": "urn:" + url, "url": url, "text": text}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.WriteFile(t, filepath.Join(t.TempDir(), "texts.jsonl"), collection.Bytes()))
	w := pipetest.OpenWith(t, dir)
	for _, clean := range []bool{false, true} {
		var got report.Cleaned
		b := pipetest.ExportOf(t, w, exports.Options{Format: "corpus", All: true, Clean: clean, Cleaned: &got})
		pages := 0
		for d := json.NewDecoder(bytes.NewReader(b)); d.More(); pages++ {
			var p report.CorpusPage
			if err := d.Decode(&p); err != nil {
				t.Fatal(err)
			}
			if text := map[bool]string{false: whole[p.URI], true: want[p.URI]}[clean]; p.Text != text || text == "" {
				t.Errorf("clean %v, %s: %q, want %q", clean, p.URI, p.Text, text)
			}
		}
		if pages != len(whole) {
			t.Errorf("clean %v: %d pages, want %d", clean, pages, len(whole))
		}
		if clean && got != sum || !clean && got != (report.Cleaned{}) {
			t.Errorf("clean %v: %+v, want %+v", clean, got, sum)
		}
	}
}
