package layout

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/extract"
	"neardup/pipeline/rows"
	"neardup/report"
	"neardup/signature"
	"neardup/verify"
	"neardup/verify/pair"
)

// row is an iterator that stands on one row.
type row struct{ key, value []byte }

func (r row) Key() []byte                  { return r.key }
func (r row) ValueAndErr() ([]byte, error) { return r.value, nil }

// Each row is parsed as it was written, and one of another size is corrupt.
func TestRowsRoundTrip(t *testing.T) {
	a, b, c := rows.TextID{1, 2}, rows.TextID{3, 4}, rows.TextID{5, 6}
	d := extract.ID{7, 8}
	outcome := bytes.Repeat([]byte{9}, 16)
	s := rows.Score{Relation: report.Near, Resemblance: 0.25, Containment: 0.5}
	date := "20240304061107"
	type kept struct {
		Outcome              string
		Text, Representative rows.TextID
	}
	for name, x := range map[string]struct {
		key, value []byte
		parse      func(Row) (any, error)
		want       any
		any        bool // the value may have another size
	}{
		"cluster": {ClusterKey(a, b), ClusterValue(rows.Cluster{Against: c, Score: s}),
			func(r Row) (any, error) { return r.Cluster() }, rows.Cluster{Cluster: a, Member: b, Against: c, Score: s}, false},
		"representative": {AssignedKey(a), b[:], func(r Row) (any, error) {
			text, representative, err := r.Representative()
			return [2]rows.TextID{text, representative}, err
		}, [2]rows.TextID{a, b}, false},
		"kept": {key(TableKept, outcome, a[:]), b[:], func(r Row) (any, error) {
			outcome, text, representative, err := r.Kept()
			return kept{string(outcome), text, representative}, err
		}, kept{string(outcome), a, b}, false},
		"page by SURT": {SURTKey("org,example)/", date, d), AppendPlaced(nil, a, 3),
			func(r Row) (any, error) { return r.BrowsedPage() }, BrowsedPage{"org,example)/", date, d, a, 3}, false},
		"page without SURT": {SURTKey("", date, d), nil,
			func(r Row) (any, error) { return r.BrowsedPage() }, BrowsedPage{Date: date, Document: d}, false},
		"page by date": {DateKey(date, d), AppendPlaced(nil, a, 3),
			func(r Row) (any, error) { return r.BrowsedPage() }, BrowsedPage{"", date, d, a, 3}, false},
		"name": {key(TableName, outcome, []byte(date), d[:]), nil,
			func(r Row) (any, error) { return ParseNameKey(r.Key()) }, d, true},
		"JSON": {SourceKey("a"), []byte(`{"a":1}`), func(r Row) (any, error) {
			var v map[string]int
			err := r.JSON(&v)
			return v, err
		}, map[string]int{"a": 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			parse := func(key, value []byte) (any, error) {
				return x.parse(RowOf(row{key, value}))
			}
			if got, err := parse(x.key, x.value); err != nil || !reflect.DeepEqual(got, x.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, x.want)
			}
			damaged := map[string][2][]byte{"key without its end": {x.key[:min(17, len(x.key)-1)], x.value}}
			if !x.any {
				damaged["longer value"] = [2][]byte{x.key, append(bytes.Clone(x.value), 'x')}
			}
			if x.key[0] == TableSource {
				delete(damaged, "key without its end")
			}
			for what, row := range damaged {
				if got, err := parse(row[0], row[1]); !errors.Is(err, ErrCorrupt) {
					t.Errorf("%s: got %+v, %v", what, got, err)
				}
			}
		})
	}
}

// A SURT ends at a zero byte; a row without it is corrupt.
func TestRowOfSURTWithoutEnd(t *testing.T) {
	k := SURTKey("org,example)/", "20240304061107", extract.ID{1})
	k[bytes.IndexByte(k, 0)] = '/'
	if p, err := RowOf(row{key: k}).BrowsedPage(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %+v, %v", p, err)
	}
}

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
	o.Title.Key, o.Title.Words = 5, []uint32{1 << 30, 1 << 31}
	v := OccurrenceValue(o)
	if got, err := ParseOccurrence(nil, v); err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("occurrence %+v, %v", got, err)
	}
	for i := range v {
		if _, err := ParseOccurrence(v[:1], v[:i]); (err == nil) != (i == occurrenceSize || i == occurrenceSize+4) {
			t.Errorf("%d bytes of an occurrence: %v", i, err)
		}
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

// A verdict is parsed as it was written. Other bytes are none.
func TestVerdictRoundTrip(t *testing.T) {
	for _, v := range []verify.Verdict{{}, {Near: true, Resemblance: 0.5, Containment: 1}, {Near: true, Contained: true, Containment: 0.25},
		{Near: true, Alike: true}, {Rejected: verify.ByScore, Resemblance: 1e-9}} {
		b := AppendVerdict(nil, v)
		if got, err := ParseVerdict(b); err != nil || got != v {
			t.Errorf("got %+v, %v, want %+v", got, err, v)
		}
		for _, damaged := range [][]byte{b[1:], append(slices.Clone(b), 0), append([]byte{verdictFlags}, b[1:]...)} {
			if _, err := ParseVerdict(damaged); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%x is taken for a verdict", damaged)
			}
		}
	}
}

// A result is parsed as it was written. One that is cut off is none.
func TestResultRoundTrip(t *testing.T) {
	key := func(n byte) cluster.Key { return cluster.NewKey(float32(n), [16]byte{n}) }
	link := func(a, b byte) rows.Link {
		return rows.Link{Leader: key(a), Member: key(b), Score: rows.Score{Relation: report.Near, Resemblance: .75, Containment: .5}}
	}
	for _, x := range []Result{
		{Of: [16]byte{1}},
		{States: []rows.State{{ID: [16]byte{3}, Fixed: 4, Weights: 5}, {ID: [16]byte{2}, Fixed: 1 << 63}},
			Counts: rows.VerifyCounts{Sets: 1, Pairs: 300, OverBudget: 7, Outcomes: verify.Outcomes{BySketch: 2, Near: 1}, Partition: rows.PartitionCounts{Components: 1, Largest: 9}},
			Decided: []rows.Decided{{A: 0, B: 1, Weighing: pair.Weighing{Whole: 17, Own: 33}, Verdict: verify.Verdict{Near: true, Resemblance: .75, Containment: 1}, Relation: report.Near,
				Whole: &verify.Verdict{Near: true, Resemblance: .75, Containment: 1}},
				{A: 1, B: 0, Bounded: true}, {B: 1, Verdict: verify.Verdict{Rejected: verify.ByTitle}, Whole: &verify.Verdict{Near: true, Contained: true, Resemblance: .5, Containment: .9}}, {B: 1, Verdict: verify.Verdict{Near: true, Alike: true, Contained: true, Containment: .5}, Relation: report.Contains}},
			Links: []rows.Link{link(3, 2), link(2, 1)}},
		{States: []rows.State{{ID: [16]byte{5}}, {ID: [16]byte{4}}, {ID: [16]byte{3}}, {ID: [16]byte{2}}, {ID: [16]byte{1}}},
			Screening: rows.Screening{From: 2, Leaders: []int{0, 1, 3}, Common: []uint64{7, 0, 1 << 63}, Left: []rows.Left{{Leader: 0, Member: 2, Rare: 1}, {Leader: 1, Member: 2, Rare: 1 << 40}, {Leader: 3, Member: 4, Rare: 300}}}},
	} {
		v := x.Value()
		k := ResultKey(TableSetResult, key(3))
		got, err := RowOf(row{k, v}).Result()
		if len(x.States) == 0 {
			x.States = []rows.State{}
		}
		if len(x.Decided) == 0 {
			x.Decided = []rows.Decided{}
		}
		if err != nil || !reflect.DeepEqual(got, x) {
			t.Errorf("got %+v, %v, want %+v", got, err, x)
		}
		for n := range v {
			if short, err := RowOf(row{k, v[:n]}).Result(); err == nil && len(short.Links) == len(x.Links) {
				t.Errorf("%d of %d bytes are taken for a result", n, len(v))
			}
		}
		for range 2000 { // nothing that is read crashes
			damaged := slices.Clone(v)
			damaged[rand.IntN(len(v))] = byte(rand.IntN(256))
			_, _ = RowOf(row{k, damaged}).Result()
		}
	}
}
