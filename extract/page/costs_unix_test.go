//go:build unix

package page

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"neardup/extract/internal/testkit"
)

// TestSearchForCosts looks for the pages under 1 MB that cost the most:
//
//	go test ./extract/page -run TestSearchForCosts -v -search 300s -search-goal time
var (
	searchTime = flag.Duration("search", time.Second, "how long to look for costly pages")
	searchGoal = flag.String("search-goal", "memory", "what they cost: memory or time")
	searchKeep = flag.String("search-keep", "", "file for the page found")
)

// parts are what pages are made of; # becomes a number that no other has.
var costParts = []string{
	"<b>", "<b id=#>", "</b>", "<i>", "<font color=#>", "<nobr>", "<a href=/#>", "</a>", "<em><u><s><tt>", "</i></em>",
	"<p>", "<p>x</p>", "<div>", "</div>", "<div class=cookie>", "<div class=content id=n#>", "<div style=display:none>", "<section><article><main>", "</article>", "<aside><nav>",
	"<table>", "<table>x", "<tr>", "<td>", "</td>", "</tr>", "</table>", "<tbody><caption>", "<ul><li>", "<li>", "</ul>", "<dl><dt><dd>",
	"<select><option>", "<option>", "</select>", "<button>", "<form>", "<input type=hidden value=#>", "<textarea>", "</textarea>",
	"<template>", "</template>", "<svg><g>", "</svg>", "<foreignObject>", "<math><mi>", "<annotation-xml>", "<script>", "</script>", "<style>", "</style>", "<noscript>", "<iframe>", "<object><applet>", "<marquee>",
	"<h1>Title #</h1>", "<title>t", "</title>", "<!--", "-->", "<![CDATA[", "<?", "<!doctype html>", "<html><body>", "<frameset>", "</body></html>",
	"word ", "Sentence number # stands here. ", "by A. Writer, 3 May 2021 ", "x", "<", "&amp;", "&#x3b1;", "&notin", "\u0000", "中文字符。", "\u00a0", "\u200b", "\n", " ", "<br>", "<a b c d e f g h>", "<x-#>", "<b/", "</", "<img alt=#>", "<p hidden>", "<span aria-hidden=true>",
}

// costGene is a part, or two, and how often they stand in a row.
type costGene struct{ part, other, times int }

// pageOf makes a page of genes, of at most size bytes.
func pageOf(genes []costGene, size int) string {
	var b strings.Builder
	n := 0
	for _, g := range genes {
		for range g.times {
			s := costParts[g.part] + costParts[g.other]
			if strings.Contains(s, "#") {
				n++
				s = strings.ReplaceAll(s, "#", fmt.Sprint(n))
			}
			if b.Len()+len(s) > size {
				return b.String()
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

func randomGene(rng *rand.Rand) costGene {
	g := costGene{rng.IntN(len(costParts)), rng.IntN(len(costParts)), 1 << rng.IntN(20)}
	if rng.IntN(2) == 0 {
		g.other = slices.Index(costParts, "\n") // none, nearly
	}
	return g
}

// changed are genes with one or two changes.
func changed(rng *rand.Rand, genes []costGene) []costGene {
	out := slices.Clone(genes)
	for range 1 + rng.IntN(2) {
		i := rng.IntN(len(out))
		switch rng.IntN(6) {
		case 0:
			out = slices.Insert(out, i, randomGene(rng))
		case 1:
			if len(out) > 1 {
				out = slices.Delete(out, i, i+1)
			}
		case 2:
			out[i].times = max(1, out[i].times*(1+rng.IntN(8))/(1+rng.IntN(8)))
		case 3:
			out[i].part = rng.IntN(len(costParts))
		case 4:
			out[i].other = rng.IntN(len(costParts))
		default:
			j := rng.IntN(len(out))
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}

// A page of under 1 MB takes bounded memory: a search for one that takes the most,
// by changing the costliest so far, finds none that takes more. The bound is that
// of trees with what is read of one.
func TestSearchForCosts(t *testing.T) {
	testkit.Sequential(t)
	const size, bound = 999_000, 640 << 20
	o := options
	o.Clean, o.Overlays = CleanMain, OverlaysDrop
	r := NewReader(o)
	cost := func(genes []costGene) float64 {
		page := pageOf(genes, size)
		if *searchGoal == "time" {
			before := processorSeconds(t)
			r.Read(page, "", 4<<20)
			return processorSeconds(t) - before
		}
		return float64(heapPeak(func() { r.Read(page, "", 4<<20) }))
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	var best []costGene
	var most float64
	tried := 0
	for end := time.Now().Add(*searchTime); time.Now().Before(end) || tried == 0; {
		// Several climbs: a new one when the last has found nothing for long.
		here := []costGene{randomGene(rng), randomGene(rng), randomGene(rng)}
		is := cost(here)
		for since := 0; since < 60 && time.Now().Before(end); since++ {
			next := changed(rng, here)
			c := cost(next)
			if tried++; c > is*1.02 {
				here, is, since = next, c, 0
			}
			if c > most {
				best, most = next, c
			}
		}
		tried++
	}
	describe := ""
	for _, g := range best {
		describe += fmt.Sprintf("%d times %q; ", g.times, costParts[g.part]+costParts[g.other])
	}
	t.Logf("%d pages, seed %d; the costliest takes %.4g (%s): %s", tried, seed, most, *searchGoal, describe)
	if *searchKeep != "" {
		if err := os.WriteFile(*searchKeep, []byte(pageOf(best, size)), 0o644); err != nil {
			t.Error(err)
		}
	}
	if *searchGoal != "time" && most > bound {
		t.Errorf("over %d MB", bound>>20)
	}
}
