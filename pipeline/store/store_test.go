package store

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/extract"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
	"neardup/report"
	"neardup/signature"
)

func openTest(t *testing.T) *DB {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "db"), nil, panics{}, func() { t.Error("disk full") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// panics is a logger that ends the test with what the database cannot survive.
type panics struct{}

func (panics) Infof(string, ...any)              {}
func (panics) Errorf(string, ...any)             {}
func (panics) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func TestKeysRoundTrip(t *testing.T) {
	id := extract.ID{1, 2, 3}
	for _, file := range []string{"a.warc.gz", "", "with\x01bytes", "ünïcode"} {
		gotID, gotFile, offset, err := ParseDocumentKey(DocumentKey(id, file, 1<<40))
		if err != nil || gotID != id || gotFile != file || offset != 1<<40 {
			t.Errorf("document key of %q: %v %q %d %v", file, gotID, gotFile, offset, err)
		}
	}
	a, b := cluster.NewKey(112, rows.TextID{1}), cluster.NewKey(3, rows.TextID{2})
	if x, y, err := parsePairKey(PairKey(TableSet, a, b)); err != nil || x != a || y != b {
		t.Error("pair key", x, y, err)
	}
	p := cluster.Posting{Signature: signature.Signature{9}, Key: a}
	if got, err := ParsePostingKey(AppendPosting(nil, p.Signature, p.Key)); err != nil || got != p {
		t.Error("posting key", got, err)
	}
	s := rows.Score{Relation: report.Contains, Resemblance: 0.25, Containment: 1}
	if got, err := ParseScore(AppendScore(nil, s)); err != nil || got != s {
		t.Error("score", got, err)
	}
	o := rows.Occurrence{Site: 1 << 60, Address: 7, Navigation: true}
	if v := OccurrenceValue(o); len(v) != occurrenceSize {
		t.Errorf("an occurrence of %d bytes", len(v))
	}
	for _, bad := range [][]byte{{}, {0x80}, {2, 1}, bytes.Repeat([]byte{0xff}, 12)} {
		if _, _, ok := ParseAround(bad); ok {
			t.Errorf("ParseAround accepts %x", bad)
		}
	}
	if m, around, ok := ParseAround(AroundValue("\x01\x80", "a\nb")); m != "\x01\x80" || around != "a\nb" || !ok {
		t.Errorf("ParseAround: %q, %q, %v", m, around, ok)
	}
	for _, bad := range [][]byte{{}, {TableDocument}, bytes.Repeat([]byte{1}, 30)} {
		if _, _, _, err := ParseDocumentKey(bad); err == nil {
			t.Errorf("document key %x passed", bad)
		}
		if _, err := ParsePostingKey(bad); err == nil {
			t.Errorf("posting key %x passed", bad)
		}
		if _, _, err := parsePairKey(bad); err == nil {
			t.Errorf("pair key %x passed", bad)
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
		if lower, upper := PrefixBounds(prefix); !bytes.Equal(lower, tt.prefix) || !bytes.Equal(upper, tt.upper) {
			t.Errorf("%x: %x to %x", tt.prefix, lower, upper)
		}
	}
}

func TestIngestAddsToWhatIsThere(t *testing.T) {
	db := openTest(t)
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[string]bool{}
	for range 5 {
		run := FixedRun{Size: 3}
		for range 200 {
			k := []byte{TableSet, byte(rng.IntN(40)), byte(rng.IntN(40))}
			want[string(k)] = true
			run.Add(k)
		}
		if err := db.Ingest(context.Background(), append(run.Sorted(3), slices.Values([]extsort.Entry{{Key: MetaKey("cursor"), Value: []byte{1}}}))...); err != nil {
			t.Fatal(err)
		}
	}
	n, err := db.Count(TableSet)
	if err != nil || n != int64(len(want)) {
		t.Errorf("%d rows, want %d (%v)", n, len(want), err)
	}
	if err := db.Ingest(context.Background(), append(new(FixedRun).Sorted(2), SortEntries(nil))...); err != nil {
		t.Errorf("nothing to ingest: %v", err)
	}
}

// Keys are compared by their leading bytes first: they must come in the order
// of all their bytes, whether those decide or not, and however many there are.
func TestFixedRunIsSortedWithoutRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{1, 3, 9, 10, PostingSize} {
		run := FixedRun{Size: size}
		for _, n := range []int{0, 1, chunkKeys, 3*chunkKeys + 7, 500} {
			var want [][]byte
			run.Clear()
			for range n {
				k := make([]byte, size)
				k[0] = TablePosting
				for i := 1 + rng.IntN(size); i < size; i++ {
					k[i] = byte(rng.IntN(256)) >> rng.IntN(9)
				}
				want = append(want, k)
				run.Add(k[:1], k[1:])
			}
			if run.Len() != n {
				t.Errorf("%d keys of %d", run.Len(), n)
			}
			slices.SortFunc(want, bytes.Compare)
			want = slices.CompactFunc(want, bytes.Equal)
			for parts := range 5 {
				var got [][]byte
				sorted := run.Sorted(parts + 1)
				for _, part := range sorted {
					for e := range part {
						got = append(got, e.Key)
					}
				}
				if !slices.EqualFunc(got, want, bytes.Equal) || len(sorted) > parts+1 {
					t.Errorf("%d keys of %d bytes in %d parts: another order", n, size, len(sorted))
				}
			}
		}
	}
}
