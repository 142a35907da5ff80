package learning_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"neardup/extract"
	"neardup/extract/text"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/learning"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/verify/rarity"
)

// common gives, for each text, the pages of its sentences that stand on more than
// so many, by the definition.
func (pages sitePages) common(beyond int) map[string]map[uint64]int {
	address := func(uri string) uint64 { return rows.Hash(extract.Document{TargetURI: uri}.Page()) }
	smallest := map[[2]string]uint64{} // by site and text
	for _, p := range pages {
		key := [2]string{siteOf(p.uri), p.text}
		if old, ok := smallest[key]; !ok || address(p.uri) < old {
			smallest[key] = address(p.uri)
		}
	}
	type sentence struct {
		site string
		unit uint64
	}
	on := map[sentence]map[uint64]bool{}
	for key, a := range smallest {
		for _, s := range text.Sentences(key[1]) {
			at := sentence{key[0], rarity.UnitOf(s.Text).Key}
			if on[at] == nil {
				on[at] = map[uint64]bool{}
			}
			on[at][a] = true
		}
	}
	out := map[string]map[uint64]int{}
	for _, p := range pages {
		if out[p.text] == nil {
			out[p.text] = map[uint64]int{}
		}
		for _, s := range text.Sentences(p.text) {
			unit := rarity.UnitOf(s.Text).Key
			if n := len(on[sentence{siteOf(p.uri), unit}]); unit != 0 && siteOf(p.uri) != "" && n > beyond {
				out[p.text][unit] = max(out[p.text][unit], n)
			}
		}
	}
	return out
}

// checkCommon compares what is counted with the definition, as it is looked up
// in memory and on disk.
func (pages sitePages) checkCommon(t *testing.T, beyond int, o workspace.Options) {
	t.Helper()
	c := pipetest.MustLoad(t, fmt.Sprintf("verify.rare_pages=%d", beyond))
	w, err := workspace.Open(filepath.Join(t.TempDir(), "ws"), stages.All, c, true, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	pages.store(t, w)
	w.Options.Progress = workspace.Silent{}
	for range 2 { // as after an interruption
		sr := workspace.StartStage(context.Background(), nil, stages.All[3])
		_, err = learning.Common(w, sr, struct{}{}, new(bool))
		sr.Stop()
		if err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := results.LoadCommon(w, layout.TableCommon)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range pages.common(beyond) {
		for name, c := range map[string]*results.Common{"memory": loaded, "disk": results.OpenCommon(w, layout.TableCommon)} {
			if got, err := c.Pages(extract.TextID(body), body); err != nil || !maps.Equal(got, want) {
				t.Fatalf("%s: of %q %v (%v), want %v", name, body, got, err, want)
			}
		}
	}
}

func TestCommonSentencesAreThoseOfDifferentPages(t *testing.T) {
	random := rand.New(rand.NewPCG(51, 52))
	words := strings.Fields("Home News 12 f g 中 。 章3 . .\n \n ! ...")
	for range 40 {
		var pages sitePages
		var texts []string
		for range random.IntN(40) {
			var b strings.Builder
			for range random.IntN(12) {
				b.WriteString(words[random.IntN(len(words))] + strings.Repeat(" ", random.IntN(2)))
			}
			body := b.String()
			if len(texts) > 0 && random.IntN(4) == 0 { // one text at several addresses
				body = texts[random.IntN(len(texts))]
			}
			texts = append(texts, body)
			uri := fmt.Sprintf("http://%c.test/%d", 'a'+random.IntN(3), random.IntN(12)) // several captures of an address
			if random.IntN(10) == 0 {
				uri = fmt.Sprintf("urn:text:%d", random.IntN(12))
			}
			pages = append(pages, sitePage{uri, body, ""})
		}
		pages.checkCommon(t, 1+random.IntN(4), workspace.Options{Workers: 1 + random.IntN(3), RunRows: 1 + random.IntN(30)})
	}
}
