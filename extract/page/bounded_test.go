package page

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"neardup/extract/internal/testkit"
)

// formattingBomb is a page whose paragraphs open n formatting elements again, by
// way of the tree.
func formattingBomb(n, paragraphs int) string {
	var b strings.Builder
	b.WriteString("<title>bomb</title><table>x</table><p>")
	for i := range n {
		fmt.Fprintf(&b, "<b id=%d>", i)
	}
	return b.String() + strings.Repeat("<p>x</p>", paragraphs)
}

// heapPeak is the most bytes that the heap holds more while work runs.
func heapPeak(work func()) uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
	before, peak := read(), uint64(0)
	done := make(chan struct{})
	go func() { work(); close(done) }()
	for {
		peak = max(peak, read())
		select {
		case <-done:
			return peak - min(before, peak)
		default:
			time.Sleep(time.Millisecond)
		}
	}
}

func TestTreesAreBounded(t *testing.T) {
	testkit.Sequential(t)
	r := NewReader(options)
	for _, c := range []struct {
		name, page, text string
		flat             bool
	}{
		{"formatting elements in each paragraph", formattingBomb(480, 40_000), "x\nx\nx", true},
		{"formatting elements with attributes", strings.ReplaceAll(formattingBomb(200, 40_000), "<b ", "<b "+strings.Repeat("a b c d ", 50)), "x\nx\nx", true},
		{"foster-parented text", "<title>t</title>" + strings.Repeat("<table>x", 2<<20), "x\nx\nx", true},
		{"a long comment", "<table>x</table><p>before<!--" + strings.Repeat(" <p> ", 3<<20) + "-->after", "beforeafter", false},
		{"a long script", "<table>x</table><p>before<script>" + strings.Repeat("a<b>c;", 3<<20) + "</script>after", "beforeafter", false},
		{"a large page", "<table>x</table>" + strings.Repeat("<p>some words that stand in a paragraph, <b>as usual</b></p>", 50_000), "as usual\nsome words", false},
		{"few formatting elements", formattingBomb(5, 10_000), "x\nx\nx", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got Text
			peak := heapPeak(func() { got = r.Read(c.page, "", 4<<20) })
			t.Logf("%d bytes, %d MiB", len(c.page), peak>>20)
			if got.Flat != c.flat || !strings.Contains(got.Text, c.text) {
				t.Errorf("flat %v: %.100q", got.Flat, got.Text)
			}
			if peak > 3*maxTree {
				t.Errorf("%d MiB of memory", peak>>20)
			}
		})
	}
}

// Trees of all workers together are bounded, too.
func TestTreesOfAllWorkersAreBounded(t *testing.T) {
	testkit.Sequential(t)
	r := NewReader(options)
	page := formattingBomb(480, 40_000)
	peak := heapPeak(func() {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() { r.Read(page, "", 4<<20) })
		}
		group.Wait()
	})
	t.Logf("%d MiB", peak>>20)
	if peak > 3*maxTree {
		t.Errorf("%d MiB of memory", peak>>20)
	}
}

// The bound gives the parser a page bit by bit, and the tree is the same.
func TestBoundedTreeIsTheSame(t *testing.T) {
	pages := append(append([]string{formattingBomb(20, 50), strings.Repeat("<p>é "+strings.Repeat("long ", 700), 20)}, scanned...), unscanned...)
	for _, page := range pages {
		want, err := html.Parse(strings.NewReader(page))
		var got *html.Node
		boundedErr := withTree(page, func(root *html.Node) { got = root })
		if (err == nil) != (boundedErr == nil) || err == nil && rendered(t, got) != rendered(t, want) {
			t.Errorf("%.200q: another tree, %v and %v", page, err, boundedErr)
		}
	}
}

func rendered(t *testing.T, n *html.Node) string {
	t.Helper()
	var b strings.Builder
	if err := html.Render(&b, n); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What the bound reads of the parser is there. A new version of x/net may change it.
func TestParserShowsItsFormattingElements(t *testing.T) {
	b := &boundedPage{page: "<b id=1><i><p>" + strings.Repeat("x ", treeStep)}
	var most int64
	option := reflect.MakeFunc(reflect.TypeFor[html.ParseOption](), func(args []reflect.Value) []reflect.Value {
		b.parser = args[0].Elem()
		return nil
	}).Interface().(html.ParseOption)
	if _, err := html.ParseWithOptions(looking{b, &most}, option); err != nil {
		t.Fatal(err)
	}
	if want := 2*nodeBytes + attributeBytes; most != want {
		t.Errorf("%d bytes, want %d", most, want)
	}
}

// looking notes what the bound sees.
type looking struct {
	*boundedPage
	most *int64
}

func (l looking) Read(p []byte) (int, error) {
	*l.most = max(*l.most, l.formatting())
	return l.boundedPage.Read(p)
}
