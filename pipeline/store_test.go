package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/cluster"
	"neardup/extract"
	"neardup/signature"
)

func openTest(t *testing.T) *Workspace {
	t.Helper()
	w, err := Open(t.TempDir()+"/ws", AllStages, mustLoad(t), true, Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func TestKeysRoundTrip(t *testing.T) {
	id := extract.ID{1, 2, 3}
	for _, file := range []string{"a.warc.gz", "", "with\x01bytes", "ünïcode"} {
		gotID, gotFile, offset, err := parseDocumentKey(documentKey(id, file, 1<<40))
		if err != nil || gotID != id || gotFile != file || offset != 1<<40 {
			t.Errorf("document key of %q: %v %q %d %v", file, gotID, gotFile, offset, err)
		}
	}
	a, b := cluster.NewKey(112, textID{1}), cluster.NewKey(3, textID{2})
	if x, y, err := parsePairKey(pairKey(tableEdge, a, b)); err != nil || x != a || y != b {
		t.Error("pair key", x, y, err)
	}
	p := cluster.Posting{Signature: signature.Signature{9}, Key: a}
	if got, err := parsePostingKey(appendPosting(nil, p.Signature, p.Key)); err != nil || got != p {
		t.Error("posting key", got, err)
	}
	s := score{Contains, 0.25, 1}
	if got, err := parseScore(s.append(nil)); err != nil || got != s {
		t.Error("score", got, err)
	}
	o := occurrence{site: 1 << 60, address: 7, navigation: true}
	if v := o.append(nil); len(v) != occurrenceSize {
		t.Errorf("an occurrence of %d bytes", len(v))
	}
	for _, bad := range [][]byte{{}, {tableDocument}, bytes.Repeat([]byte{1}, 30)} {
		if _, _, _, err := parseDocumentKey(bad); err == nil {
			t.Errorf("document key %x passed", bad)
		}
		if _, err := parsePostingKey(bad); err == nil {
			t.Errorf("posting key %x passed", bad)
		}
		if _, _, err := parsePairKey(bad); err == nil {
			t.Errorf("pair key %x passed", bad)
		}
		if _, err := parseSightingKey(bad); err == nil {
			t.Errorf("sighting key %x passed", bad)
		}
	}
}

func TestPrefixBounds(t *testing.T) {
	for _, tt := range []struct{ prefix, upper []byte }{
		{[]byte{1, 2}, []byte{1, 3}},
		{[]byte{1, 0xff}, []byte{2}},
		{[]byte{1, 0xff, 0xff}, []byte{2}},
		{[]byte{0xff}, nil},
	} {
		prefix := bytes.Clone(tt.prefix)
		if lower, upper := prefixBounds(prefix); !bytes.Equal(lower, tt.prefix) || !bytes.Equal(upper, tt.upper) {
			t.Errorf("%x: %x to %x", tt.prefix, lower, upper)
		}
	}
}

func TestIngestAddsToWhatIsThere(t *testing.T) {
	w := openTest(t)
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[string]bool{}
	for range 5 {
		run := fixedRun{size: 3}
		for range 200 {
			k := []byte{tableEdge, byte(rng.IntN(40)), byte(rng.IntN(40))}
			want[string(k)] = true
			run.add(k)
		}
		if err := w.store.ingest(context.Background(), append(run.sorted(3), slices.Values([]entry{{metaKey("cursor"), []byte{1}}}))...); err != nil {
			t.Fatal(err)
		}
	}
	n, err := w.store.count(tableEdge)
	if err != nil || n != int64(len(want)) {
		t.Errorf("%d rows, want %d (%v)", n, len(want), err)
	}
	if err := w.store.ingest(context.Background(), append(new(fixedRun).sorted(2), sortEntries(nil))...); err != nil {
		t.Errorf("nothing to ingest: %v", err)
	}
}

// Keys are compared by their leading bytes first: they must come in the order
// of all their bytes, whether those decide or not, and however many there are.
func TestFixedRunIsSortedWithoutRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{1, 3, 9, 10, postingSize} {
		run := fixedRun{size: size}
		for _, n := range []int{0, 1, chunkKeys, 3*chunkKeys + 7, 500} {
			var want [][]byte
			run.clear()
			for range n {
				k := make([]byte, size)
				k[0] = tablePosting
				for i := 1 + rng.IntN(size); i < size; i++ {
					k[i] = byte(rng.IntN(256)) >> rng.IntN(9)
				}
				want = append(want, k)
				run.add(k[:1], k[1:])
			}
			if run.len() != n {
				t.Errorf("%d keys of %d", run.len(), n)
			}
			slices.SortFunc(want, bytes.Compare)
			want = slices.CompactFunc(want, bytes.Equal)
			for parts := range 5 {
				var got [][]byte
				sorted := run.sorted(parts + 1)
				for _, part := range sorted {
					for e := range part {
						got = append(got, e.key)
					}
				}
				if !slices.EqualFunc(got, want, bytes.Equal) || len(sorted) > parts+1 {
					t.Errorf("%d keys of %d bytes in %d parts: another order", n, size, len(sorted))
				}
			}
		}
	}
}

func TestSpillGivesRunsBack(t *testing.T) {
	spill := fileSpill{t.TempDir()}
	rng := rand.New(rand.NewPCG(3, 4))
	var want []cluster.Message
	for range 5000 {
		want = append(want, cluster.Message{To: cluster.NewKey(rng.Float32(), textID{byte(rng.Int())}), Value: cluster.NewKey(1, textID{byte(rng.Int())})})
	}
	slices.SortFunc(want, func(a, b cluster.Message) int { return cmp.Or(a.To.Compare(b.To), a.Value.Compare(b.Value)) })
	run, err := spill.Write(slices.Values(want))
	if err != nil {
		t.Fatal(err)
	}
	var got []cluster.Message
	for {
		m, ok, err := run.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		got = append(got, m)
	}
	if !slices.Equal(got, want) {
		t.Error("another run came back")
	}
	if err := run.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadQuality(t *testing.T) {
	got, err := readQuality(strings.NewReader("http://a.example/\t0.5\n\nhttp://b.example/ \t 7\n"))
	if err != nil || len(got) != 2 || got[uriHash("http://b.example/")] != 7 {
		t.Errorf("%v %v", got, err)
	}
	for _, bad := range []string{"http://a.example/ 1\n", "http://a.example/\tmuch\n", "http://a.example/\t-1\n", "http://a.example/\tNaN\n"} {
		if _, err := readQuality(strings.NewReader("u\t1\n" + bad)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestReadSourceList(t *testing.T) {
	got, err := ReadSourceList(strings.NewReader("# crawls\na.warc.gz\n\n  b.warc \n"))
	if err != nil || !slices.Equal(got, []string{"a.warc.gz", "b.warc"}) {
		t.Errorf("%q %v", got, err)
	}
	if _, err := ReadSourceList(io.LimitReader(zeros{}, 4<<20)); err == nil {
		t.Error("an endless name passed")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
