package page

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestRowsOnPages writes the features of pages for docs/peers/content_train.py.
// NEARDUP_PAGES is a file of JSON lines with ID, URI and HTML; NEARDUP_ROWS is
// what the written files begin with.
func TestRowsOnPages(t *testing.T) {
	in, out := os.Getenv("NEARDUP_PAGES"), os.Getenv("NEARDUP_ROWS")
	if in == "" || out == "" {
		t.Skip("NEARDUP_PAGES and NEARDUP_ROWS name no files")
	}
	pages, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	create := func(name string) (*bufio.Writer, func()) {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 1<<20)
		return w, func() {
			if err := w.Flush(); err != nil {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	rowsTo, closeRows := create(out + ".i32")
	defer closeRows()
	linesTo, closeLines := create(out + ".jsonl")
	defer closeLines()
	namesTo, closeNames := create(out + ".names")
	defer closeNames()
	if err := json.NewEncoder(namesTo).Encode(featureNames()); err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(linesTo)
	scan := bufio.NewScanner(pages)
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		var r struct{ ID, URI, HTML string }
		if err := json.Unmarshal(scan.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		s := withoutOverlays(r.HTML, 4<<20)
		all := measures(s)
		rows := make([]row, len(all))
		eachRow(s, all, func(i int, r *row) { rows[i] = *r })
		main, sure := mainText(s, all)
		if !sure {
			main = s.text
		}
		var lines, tags []string
		from := 0
		for i, b := range s.blocks {
			lines = append(lines, s.text[from:b.end])
			from = int(b.end) + 1
			tags = append(tags, tagNames[s.nodes[b.node].tag])
			if err := binary.Write(rowsTo, binary.LittleEndian, rows[i][:featureCount]); err != nil {
				t.Fatal(err)
			}
		}
		if err := enc.Encode(map[string]any{"id": r.ID, "uri": r.URI, "title": s.title, "lines": lines, "tags": tags, "main": main}); err != nil {
			t.Fatal(err)
		}
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestFeatureNamesAreAsMany(t *testing.T) {
	if n := len(featureNames()); n != featureCount || featureCount > featureRoom {
		t.Errorf("%d names of %d features, room for %d", n, featureCount, featureRoom)
	}
	for _, name := range []struct {
		at   int
		name string
	}{{atUpHalf, "up-half"}, {atSame3, "same3"}, {atLinks4, "links4"}, {atProse2, "prose2"}, {atColumns, "columns"}, {atPre, "pre"}, {atAfter8, "after8"}, {atPageDense, "page-dense"}, {atNames + kindComment, "name-comment"}} {
		if got := featureNames()[name.at]; got != name.name {
			t.Errorf("feature %d is %s, not %s", name.at, got, name.name)
		}
	}
}

// TestAlike holds the hash table against a map.
func TestAlike(t *testing.T) {
	var nodes []node
	for i := range int32(2000) {
		nodes = append(nodes, node{parent: i / 7, tag: tagDiv + tag(i%3), hash: uint32(i % 2)})
	}
	type kind struct {
		parent int32
		tag    tag
		hash   uint32
	}
	want := map[kind]int32{}
	for _, n := range nodes {
		want[kind{n.parent, n.tag, n.hash}]++
	}
	same := alike(nodes)
	for i, n := range nodes {
		if got := same.count(i); got != want[kind{n.parent, n.tag, n.hash}] {
			t.Errorf("node %d: %d, not %d", i, got, want[kind{n.parent, n.tag, n.hash}])
		}
	}
}

func TestNamesOf(t *testing.T) {
	kind := func(name string) nameBits {
		for k, n := range nameKindNames {
			if n == name {
				return 1 << k
			}
		}
		t.Fatalf("no kind %s", name)
		return 0
	}
	for class, want := range map[string]nameBits{
		"": 0, "x": 0, "zzz": 0,
		"nav": kind("nav"), "site-nav": kind("nav"), "NAV": kind("nav"),
		"commentList":       kind("comment") | kind("list"),
		"newsletter-signup": kind("subscribe"),
		"navx":              0,
	} {
		if got := namesOf(class); got != want {
			t.Errorf("%q: %b, not %b", class, got, want)
		}
	}
	if nameKindNames[kindComment] != "comment" {
		t.Errorf("kind %d is %s", kindComment, nameKindNames[kindComment])
	}
}

// featureNames are the names of the features, in their order.
func featureNames() []string {
	var names []string
	for line := range strings.Lines(strings.TrimSpace(featureList)) {
		names = append(names, strings.Fields(line)[0])
	}
	for _, kind := range nameKindNames {
		names = append(names, "name-"+kind)
	}
	return names
}
