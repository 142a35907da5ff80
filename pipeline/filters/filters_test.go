package filters

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"neardup/cluster"
	"neardup/extract"
	"neardup/pipeline/blocks"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/rows"
)

// entry is a row of a dataset.
type entry struct {
	layout     blocks.Layout
	key, value string
}

// run runs a filter on rows. It returns the rows that the filter writes, without counts.
func run(t *testing.T, name string, in []entry) (out []entry) {
	t.Helper()
	var input, output bytes.Buffer
	w := blocks.NewWriter(&input, 1)
	for _, e := range in {
		if err := w.Put(e.layout, []byte(e.key), []byte(e.value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, ok := Find(name)
	if !ok {
		t.Fatalf("no filter %s", name)
	}
	if err := f.Run(t.Context(), &input, &output, Options{Partitions: 1, Temp: t.TempDir(), Workers: 2}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	r := blocks.NewReader(&output)
	for {
		frame, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range frame.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			if frame.Layout.Letter != blocks.Counts.Letter {
				out = append(out, entry{frame.Layout, string(e.Key), string(e.Value)})
			}
		}
	}
}

// Sort gives each row once, in order, whatever the order of the input.
func TestSort(t *testing.T) {
	id := func(c string) string { return strings.Repeat(c, 16) }
	a, b, c := entry{blocks.Texts, id("a"), "one"}, entry{blocks.Texts, id("b"), ""}, entry{blocks.Texts, id("c"), "three"}
	for _, in := range [][]entry{{a, b, c}, {c, b, a, b, c}, {b, b, c, a}} {
		if got := run(t, "sort", in); !slices.Equal(got, []entry{a, b, c}) {
			t.Errorf("%v becomes %v", in, got)
		}
	}
}

// Captures keeps the documents that a revisit asks for, all their rows, and no others.
func TestCaptures(t *testing.T) {
	document := func(id, record string) entry {
		var d rows.Document
		d.RecordID, d.TargetURI, d.Date = record, "http://a.example/"+record, "2024-03-04T06:11:07Z"
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return entry{blocks.Documents, strings.Repeat(id, 16) + "a.warc\x00\x00\x00\x00\x00\x00\x00\x00\x01", string(b)}
	}
	documents := []entry{document("a", "<urn:1>"), document("b", "<urn:2>"), document("c", "<urn:3>"), document("d", "<urn:4>")}
	again := documents[2]
	again.key = again.key[:16] + "b" + again.key[17:]
	for _, asked := range [][]int{nil, {0}, {2}, {1, 2}, {3}, {0, 1, 2, 3}} {
		in, want := append(slices.Clone(documents), again), []entry(nil)
		for _, i := range asked {
			var d rows.Document
			if err := json.Unmarshal([]byte(documents[i].value), &d); err != nil {
				t.Fatal(err)
			}
			k := d.Keys()[0]
			in, want = append(in, entry{blocks.Wanted, string(k[:]), ""}), append(want, documents[i])
			if i == 2 {
				want = append(want, again)
			}
		}
		if got := run(t, "captures", in); !slices.Equal(got, want) {
			t.Errorf("of %v asked, got %v", asked, got)
		}
	}
}

// A text that is sent to be compared is parsed as it was sent. Bytes that are cut or
// have impossible lengths are no text, and no panic.
func TestComparedRoundTrip(t *testing.T) {
	p := &placed{Text: dataflow.Text{ID: rows.TextID{1}, Text: "The kite is red.", Sites: []uint64{3, 1 << 60}}, frames: pagesOf{5: 6}, common: pagesOf{7: 300, 8: 1}}
	b := appendCompared(p)
	got, ok := parseCompared(p.ID, b)
	if !ok || got.Text.Text != p.Text.Text || got.ID != p.ID || !slices.Equal(got.Sites, p.Sites) || got.frames[5] != 6 || got.common[7] != 300 || got.common[8] != 1 {
		t.Errorf("got %+v, %v", got, ok)
	}
	for n := range b {
		if _, ok := parseCompared(p.ID, b[:n]); ok {
			t.Errorf("%d bytes of %d are taken for a text", n, len(b))
		}
	}
	if _, ok := parseCompared(p.ID, append(slices.Clone(b), 0)); ok {
		t.Error("a byte more is taken for a text")
	}
	huge := binary.AppendUvarint(nil, 1<<40)
	for what, b := range map[string][]byte{"characters": huge, "sites": append([]byte{0}, huge...)} {
		if _, ok := parseCompared(p.ID, append(b, "some bytes"...)); ok {
			t.Errorf("a text of 2^40 %s is taken", what)
		}
	}
}

// A set's own row is no candidate.
func TestCandidates(t *testing.T) {
	x, y := cluster.NewKey(2, rows.TextID(extract.ID{1})), cluster.NewKey(1, rows.TextID(extract.ID{2}))
	var in bytes.Buffer
	w := blocks.NewWriter(&in, 1)
	for _, member := range []cluster.Key{x, y} {
		if err := w.Put(blocks.Sets, append(x[:], member[:]...), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := Filter{Name: "candidates", run: func(task *task) error {
		n := 0
		for c, err := range task.candidates {
			if n++; err != nil || c.A != x || c.B != y {
				t.Errorf("got %+v, %v", c, err)
			}
		}
		if n != 1 {
			t.Errorf("%d candidates", n)
		}
		return nil
	}}
	if err := f.Run(t.Context(), &in, io.Discard, Options{Partitions: 1, Temp: t.TempDir(), Workers: 1}); err != nil {
		t.Fatal(err)
	}
}
