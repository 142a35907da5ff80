package store

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
)

// Each way to write a row of a watched table is seen, after first was called, and no
// other table.
func TestWatch(t *testing.T) {
	watched, other := byte('c'), byte('p')
	row := func(table byte, end byte) []byte { return append([]byte{table, end}, make([]byte, 40)...) }
	commit := func(db *DB, how func(b Batch) error) error {
		b := db.Batch()
		return errors.Join(how(b), b.Commit())
	}
	run := func(keys ...[]byte) func(yield func(extsort.Entry) bool) {
		return func(yield func(extsort.Entry) bool) {
			for _, k := range keys {
				if !yield(extsort.Entry{Key: k}) {
					return
				}
			}
		}
	}
	for name, x := range map[string]struct {
		write func(db *DB, key []byte) error
		lost  bool
	}{
		"set":      {func(db *DB, key []byte) error { return commit(db, func(b Batch) error { return b.Set(key, nil) }) }, false},
		"set JSON": {func(db *DB, key []byte) error { return commit(db, func(b Batch) error { return b.SetJSON(key, 1) }) }, false},
		"delete":   {func(db *DB, key []byte) error { return commit(db, func(b Batch) error { return b.Delete(key) }) }, false},
		"ingest":   {func(db *DB, key []byte) error { return db.Ingest(t.Context(), run(key)) }, false},
		"ingest sorted": {func(db *DB, key []byte) error {
			return db.IngestSorted(t.Context(), withoutErrors(run(key)))
		}, false},
		"replace": {func(db *DB, key []byte) error {
			_, err := db.Replace(t.Context(), key[0], withoutErrors(run(row(key[0], 1), key)))
			return err
		}, false},
		"replace and drop": {func(db *DB, key []byte) error {
			if err := commit(db, func(b Batch) error { return errors.Join(b.Set(row(key[0], 1), nil), b.Set(key, nil)) }); err != nil {
				return err
			}
			db.changes.rows = map[layout.RowID]struct{}{}
			_, err := db.Replace(t.Context(), key[0], withoutErrors(run(row(key[0], 1))))
			return err
		}, false},
		"replace a range": {func(db *DB, key []byte) error {
			lower, upper := layout.TableBounds(key[0])
			return db.ReplaceRange(t.Context(), lower, upper, withoutErrors(run(key)), extsort.Entry{Key: layout.MetaKey("beside")})
		}, true},
		"delete a range": {func(db *DB, key []byte) error {
			return commit(db, func(b Batch) error { return b.DeleteRange(key, append(key, 0)) })
		}, true},
		"clear": {func(db *DB, key []byte) error { return db.Clear(key[0]) }, true},
		"too many": {func(db *DB, key []byte) error {
			return commit(db, func(b Batch) error {
				for i := range byte(3) {
					key[3] = i
					if err := b.Set(key, nil); err != nil {
						return err
					}
				}
				return nil
			})
		}, true},
	} {
		for table, seen := range map[byte]bool{watched: true, other: false} {
			db := openTest(t)
			if err := commit(db, func(b Batch) error { return b.Set(row(table, 1), nil) }); err != nil {
				t.Fatal(err)
			}
			first := 0
			db.Watch(string(watched)+"d", 2, func() error { first++; return nil })
			key := row(table, 9)
			if err := x.write(db, key); err != nil {
				t.Fatal(name, err)
			}
			got, ok := db.Changed()
			if want := seen && x.lost; ok == want || first > 0 != seen || first > 1 {
				t.Errorf("%s, table %c: known %v, want %v; first was called %d times", name, table, ok, !want, first)
			}
			if want := []layout.RowID{layout.RowID(key[:17])}; ok && seen && !slices.Equal(slices.Collect(maps.Keys(got)), want) || !seen && len(got) > 0 {
				t.Errorf("%s, table %c: %q, want %q", name, table, got, want)
			}
		}
	}
}

// Nothing is written if the call before the first write fails.
func TestWatchFails(t *testing.T) {
	db, failure := openTest(t), errors.New("no")
	db.Watch("c", 2, func() error { return failure })
	b := db.Batch()
	if err := b.Set([]byte("c1"), nil); !errors.Is(err, failure) || b.Count() > 0 {
		t.Errorf("%v, %d writes", err, b.Count())
	}
	if err := db.Clear('c'); err != nil { // it is empty
		t.Error(err)
	}
	if err := db.Ingest(t.Context(), slices.Values([]extsort.Entry{{Key: []byte("c1")}})); !errors.Is(err, failure) {
		t.Error(err)
	}
}
