package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"neardup/example"
	"neardup/report"
	"neardup/review/browser"
)

// These tests look at real workspaces, served by the program, with a real
// browser. Those of package review show it what a small crawl does not have.

// exportedCluster is a line of clusters.jsonl.
type exportedCluster struct {
	Cluster        string
	Representative string
	Members        []report.Member
}

// different returns how much every member differs from its representative at least.
func different(c exportedCluster) float64 {
	least := 1.0
	for _, m := range c.Members[1:] {
		least = min(least, 1-float64(m.Resemblance))
	}
	return least
}

func exportedClusters(t *testing.T, ws string) (out []exportedCluster) {
	t.Helper()
	for line := range strings.Lines(exported(t, ws, "clusters.jsonl")) {
		var c exportedCluster
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// capture returns how lists name a page: its date to the minute, and its URI.
func capture(uri, date string) string {
	return strings.Replace(date[:len("2006-01-02T15:04")], "T", " ", 1) + " " + uri
}

// listed returns the pages of a list and of what it goes on with, sorted.
func listed(b *browser.Tab) (out []string) {
	b.Helper()
	for {
		out = append(out, browser.Eval[[]string](b, `[...document.querySelectorAll("table.lists tbody tr")].map(tr =>
			tr.querySelector(".dates").textContent.trim() + " " + tr.querySelector(".main .uri").textContent)`)...)
		next := browser.Eval[string](b, `document.querySelector("a[rel=next]")?.getAttribute("href") || ""`)
		if next == "" {
			slices.Sort(out)
			return out
		}
		b.Follow("a[rel=next]", next)
	}
}

// textOf returns the text of what a selector finds.
func textOf(b *browser.Tab, selector string) string {
	b.Helper()
	return browser.Eval[string](b, fmt.Sprintf(`document.querySelector(%q).innerText.trim().replace(/\s+/g, " ")`, selector))
}

func count(b *browser.Tab, selector string) int {
	b.Helper()
	return browser.Eval[int](b, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

func TestServeInABrowser(t *testing.T) {
	browser.Need(t)
	ws := exampleWorkspace(t)
	clusters := exportedClusters(t, ws)
	chosen := slices.MaxFunc(clusters, func(a, b exportedCluster) int { return cmp.Compare(different(a), different(b)) })
	server := serve(t, ws, "127.0.0.1:0")
	b := browser.Open(t, server.url)

	// From the first page to a cluster.
	b.At("/")
	b.Follow("nav a[href='/clusters']", "/clusters")
	if n := count(b, "table.lists tbody tr"); n != len(clusters) {
		t.Errorf("%d clusters are listed, %d exported", n, len(clusters))
	}
	first := "/cluster/" + chosen.Cluster
	b.Follow("a[href='"+first+"']", first)
	var want []string
	for _, m := range chosen.Members {
		want = append(want, capture(m.URI, m.Date))
	}
	slices.Sort(want)
	if got := listed(b); !slices.Equal(got, want) {
		t.Errorf("members %q, want %q", got, want)
	}
	paths := []string{"/", "/clusters", first}

	// Two members beside each other, and each by itself.
	b.Follow("form[action='/pair'] button", "/pair/")
	pair := browser.Eval[string](b, "location.pathname")
	documents := strings.Split(pair, "/")[2:]
	paths = append(paths, pair, "/page/"+documents[0], "/search", "/audit", "/enforced")
	if n := count(b, "figure.curve polyline.line") * count(b, "figure.curve rect.region"); n == 0 {
		t.Error("no edit curve with its trustable region")
	}
	if got := textOf(b, ".outcome .badge"); got != "✓ joined" {
		t.Errorf("the outcome is %q", got)
	}
	var shown [2]string
	for i, side := range []string{"A", "B"} {
		shown[i] = browser.Eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("td.side[data-side=%s]")].map(td => { td = td.cloneNode(true); td.querySelectorAll(".vh").forEach(e => e.remove()); return td.textContent }).join("")`, side))
	}
	differences := count(b, "tr.difference")
	at := func(n int) {
		b.Until(fmt.Sprintf("document.querySelector('tr[aria-current]')?.id === 'difference-%d'", n))
	}
	if differences < 2 {
		t.Fatalf("%d differences", differences)
	}
	b.Keys("n")
	at(1)
	b.Keys("n")
	at(2)
	b.Keys("p")
	at(1)
	for i, d := range documents {
		b.At("/page/" + d)
		text := browser.Eval[string](b, "document.querySelector('.text').textContent")
		if len(text) < 500 || strings.TrimSpace(text) != strings.TrimSpace(shown[i]) {
			t.Errorf("page %d has %q, and beside the other %q", i, text, shown[i])
		}
	}
	b.Follow("a.button", first)
	searchExample(b, clusters)
	looksRight(b, paths)
	b.Close()
	server.stop()
}

// searchExample searches as people do, and holds what is found against the
// exports, and against the labels of the crawl.
func searchExample(b *browser.Tab, clusters []exportedCluster) {
	b.Helper()
	type page struct {
		host, uri, date string
		size            int
	}
	var clustered, all []page
	for _, c := range clusters {
		for _, m := range c.Members {
			u, err := url.Parse(m.URI)
			if err != nil {
				b.Fatal(err)
			}
			clustered = append(clustered, page{u.Host, m.URI, m.Date, len(c.Members)})
		}
	}
	var labels bytes.Buffer
	if err := example.WritePages(&labels); err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(labels.String()) {
		f := strings.Split(line, "\t")
		if u, err := url.Parse(f[1]); err == nil && f[4] != "robots" {
			all = append(all, page{host: u.Host, uri: f[1], date: f[2]})
		}
	}
	for _, tt := range []struct {
		form map[string]string
		of   []page
		is   func(page) bool
	}{
		{map[string]string{"uri": "recipes.example/pages/"}, all, func(p page) bool { return strings.HasPrefix(p.uri, "http://recipes.example/pages/") }},
		{map[string]string{"host": "copies.example", "min": "2"}, clustered, func(p page) bool { return p.host == "copies.example" }},
		{map[string]string{"from": "2024-09", "min": "2"}, clustered, func(p page) bool { return p.date >= "2024-09" }},
		{map[string]string{"to": "2024-03-04", "host": "garden.example", "min": "2"}, clustered, func(p page) bool { return p.host == "garden.example" && p.date < "2024-03-05" }},
		{map[string]string{"min": "3", "max": "3"}, clustered, func(p page) bool { return p.size == 3 }},
		{map[string]string{"min": "2"}, clustered, func(page) bool { return true }},
		{map[string]string{"host": "none.example"}, all, func(page) bool { return false }},
	} {
		var want []string
		for _, p := range tt.of {
			if tt.is(p) {
				want = append(want, capture(p.uri, p.date))
			}
		}
		slices.Sort(want)
		b.At("/search")
		for name, value := range tt.form {
			b.Type("main input[name="+name+"]", value)
		}
		b.Follow("form[role=search] button", "/search?")
		if got := listed(b); !slices.Equal(got, want) {
			b.Errorf("search %v finds %q, want %q", tt.form, got, want)
		}
	}
}

// looksRight holds pages against screens and colours.
func looksRight(b *browser.Tab, paths []string) {
	b.Helper()
	for _, path := range paths {
		b.Screen(1280, 900, "light")
		b.At(path)
		b.Unfold()
		b.Legible(path)
		b.Fits(path)
		light := browser.Eval[string](b, "getComputedStyle(document.documentElement).backgroundColor")
		b.Screen(1280, 900, "dark")
		b.Legible(path + ", dark")
		if dark := browser.Eval[string](b, "getComputedStyle(document.documentElement).backgroundColor"); dark == light {
			b.Errorf("%s: both backgrounds are %s", path, dark)
		}
		for _, width := range []int64{375, 320} {
			b.Screen(width, 640, "dark")
			b.Fits(path)
		}
	}
}
