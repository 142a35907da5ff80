package store

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"neardup/extract"
	"neardup/pipeline/rows"
	"neardup/report"
)

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
			parse := func(key, value []byte) (got any, err error) {
				db := openTest(t)
				if err := db.db.Set(key, value, nil); err != nil {
					t.Fatal(err)
				}
				n := 0
				for r, failure := range db.Table(key[0]) {
					if failure != nil {
						t.Fatal(failure)
					}
					n++
					got, err = x.parse(r)
				}
				if n != 1 {
					t.Fatalf("%d rows", n)
				}
				return got, err
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
	db := openTest(t)
	k := SURTKey("org,example)/", "20240304061107", extract.ID{1})
	k[bytes.IndexByte(k, 0)] = '/'
	if err := db.db.Set(k, nil, nil); err != nil {
		t.Fatal(err)
	}
	for r, err := range db.Table(TableSURT) {
		if err != nil {
			t.Fatal(err)
		}
		if p, err := r.BrowsedPage(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("got %+v, %v", p, err)
		}
	}
}

// Clear deletes the rows of all its tables, and of no other.
func TestClear(t *testing.T) {
	db := openTest(t)
	b := db.Batch()
	for _, table := range []byte{TableText, TableSigned, TableSource, TableCluster} {
		for n := range 3 {
			if err := b.Set(key(table, []byte{byte(n)}), []byte{1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	b = db.Batch()
	if err := errors.Join(b.Clear(TableSigned, TableHeld, TableText, TableCluster), b.Commit()); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[byte]int64{TableText: 0, TableSigned: 0, TableHeld: 0, TableCluster: 0, TableSource: 3} {
		if n, err := db.Count(table); err != nil || n != want {
			t.Errorf("table %c has %d rows, %v, want %d", table, n, err, want)
		}
	}
}
