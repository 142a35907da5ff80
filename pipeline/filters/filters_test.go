package filters

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"neardup/cluster"
	"neardup/configs"
	"neardup/extract"
	"neardup/pipeline/blocks"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/verify"
)

// entry is a row of a dataset.
type entry struct {
	layout     blocks.Layout
	key, value string
}

// run runs a filter on rows. It returns the rows that the filter writes, without counts.
func run(t *testing.T, name string, in []entry) (out []entry) {
	t.Helper()
	return runWith(t, configs.Config{}, name, in)
}

func runWith(t *testing.T, c configs.Config, name string, in []entry) (out []entry) {
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
	if err := f.Run(t.Context(), &input, &output, Options{Config: c, Partitions: 1, Temp: t.TempDir(), Workers: 2}); err != nil {
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

// The filter verify takes a verdict of the measure from its input if both texts are the
// same, and asks the measure if one is not. It writes those that it used.
func TestRecall(t *testing.T) {
	c, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "Sentence %x of this text says that kite %x is red. ", 7919*i, 104729*i)
	}
	x, y := cluster.NewKey(2, rows.TextID{2}), cluster.NewKey(1, rows.TextID{1})
	input := func(one, other string) []entry {
		in := []entry{{blocks.Sets, string(x[:]) + string(x[:]), ""}, {blocks.Sets, string(x[:]) + string(y[:]), ""}}
		for id, text := range map[rows.TextID]string{{2}: one, {1}: other} {
			p := &placed{Text: dataflow.Text{ID: id, Text: text}}
			in = append(in, entry{blocks.Compared, string(id[:]), string(appendCompared(p))})
		}
		return in
	}
	text, more := b.String(), b.String()+"One more."
	in := input(text, more)
	of := func(l blocks.Layout, out []entry) (of []entry) {
		for _, e := range out {
			if e.layout == l {
				of = append(of, e)
			}
		}
		return of
	}
	asked := runWith(t, c, "verify", in)
	measured := of(blocks.Measured, asked)
	if len(measured) != 1 || len(of(blocks.Verdicts, asked)) != 1 {
		t.Fatalf("the measure gives %v", asked)
	}
	if recalled := runWith(t, c, "verify", append(slices.Clone(in), measured...)); !slices.Equal(recalled, asked) {
		t.Errorf("recalled %v, want %v", recalled, asked)
	}
	far := measured[0]
	far.value = string(layout.AppendVerdict(nil, verify.Verdict{Rejected: verify.ByScore}))
	if got := runWith(t, c, "verify", append(slices.Clone(in), far)); !slices.Equal(got, []entry{far}) {
		t.Errorf("with another verdict recalled, got %v", got)
	}
	for _, changed := range [][]entry{input(text+"And one.", more), input(text, more+"And one.")} { // another reading of one text
		want := runWith(t, c, "verify", changed)
		if got := runWith(t, c, "verify", append(slices.Clone(changed), far)); !slices.Equal(got, want) || len(of(blocks.Verdicts, got)) != 1 {
			t.Errorf("with a verdict on another text, got %v, want %v", got, want)
		}
	}
}

// A text whose units are missing is an error, not a text without sentences.
func TestTextWithoutUnits(t *testing.T) {
	id := strings.Repeat("a", 16)
	for _, name := range []string{"sign", "rarity-sightings"} {
		var in bytes.Buffer
		w := blocks.NewWriter(&in, 1)
		other := strings.Repeat("b", 16)
		if err := errors.Join(w.Put(blocks.Texts, []byte(id), []byte("The kite is red.")),
			w.Put(blocks.Units, []byte(other), layout.UnitsValue(dataflow.UnitsOf("The kite is blue."))), w.Close()); err != nil {
			t.Fatal(err)
		}
		f, _ := Find(name)
		c, err := configs.Load("default", nil)
		if err != nil {
			t.Fatal(err)
		}
		err = f.Run(t.Context(), &in, io.Discard, Options{Config: c, Partitions: 1, Temp: t.TempDir(), Workers: 1})
		if err == nil || !strings.Contains(err.Error(), "no units of text 6161") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A token goes back to its texts with their number, unless only one text has it.
func TestSharedTokens(t *testing.T) {
	var in, want []entry
	for token, texts := range [][]byte{{1}, {1, 2}, {3}, {1, 2, 3}} {
		name := binary.BigEndian.AppendUint64(nil, uint64(token))
		for _, x := range texts {
			id := rows.TextID{x}
			key := cluster.NewKey(float32(x), id)
			in = append(in, entry{blocks.Tokens, string(name) + string(key[:]), "\x00\x00\x00\x07"})
			if n := len(texts); n > 1 {
				want = append(want, entry{blocks.SharedTokens, string(id[:]) + string([]byte{0, 0, 0, byte(n)}) + string(name), string(key[:4]) + "\x00\x00\x00\x07"})
			}
		}
	}
	slices.SortFunc(want, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	if got := run(t, "shared-tokens", in); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// More similar pairs than cluster.max_pairs end a join with an error that names the
// setting. As many as that do not.
func TestJoinLimit(t *testing.T) {
	record := "\x00\x00\x00\x02" + strings.Repeat("\x00", 7) + "\x01" + strings.Repeat("\x00", 7) + "\x02"
	for limit, want := range map[int64]string{2: "cluster.max_pairs", 3: ""} {
		c, err := configs.Load("ppjoin", []string{fmt.Sprintf("cluster.max_pairs=%d", limit)})
		if err != nil {
			t.Fatal(err)
		}
		var in bytes.Buffer
		w := blocks.NewWriter(&in, 1)
		var keys []cluster.Key
		for i := range byte(3) {
			id := rows.TextID{i}
			if err := w.Put(blocks.Joined, id[:], []byte(record)); err != nil {
				t.Fatal(err)
			}
			for _, k := range keys {
				if err := w.Put(blocks.Candidates, slices.Concat(k[:], newKey(id)), nil); err != nil {
					t.Fatal(err)
				}
			}
			keys = append(keys, cluster.Key(newKey(id)))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, _ := Find("join")
		err = f.Run(t.Context(), &in, io.Discard, Options{Config: c, Partitions: 1, Temp: t.TempDir(), Workers: 1})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func newKey(id rows.TextID) []byte {
	k := cluster.NewKey(1, id)
	return k[:]
}
