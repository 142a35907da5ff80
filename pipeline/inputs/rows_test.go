package inputs

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"neardup/extract/container"
)

func fullSource(n int) Source {
	return Source{Path: fmt.Sprintf("/crawls/%d\xff.warc", n), Name: "a", State: Pending, Position: container.Position{Offset: int64(n)},
		Counts: RecordCounts{Records: 7, Skipped: map[string]int64{"a": 1}, Kinds: map[string]int64{"topic": 2}, Choices: map[string]int64{"charset": 3}},
		Ended:  []EndedRun{{URI: "http://a.example/", Deaths: 1}}, Digested: &Digested{Bytes: 1, State: []byte{1, 2}}}
}

// A source is that of its row whenever it is asked for, whatever callers did to the one
// before.
func TestRows(t *testing.T) {
	var rows Rows
	for round := range 9 {
		for n := range 3 {
			want := fullSource(n)
			want.Counts.Records += int64(round / 3) // each row is read three times
			row, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := rows.Source([]byte{byte(n)}, row)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d: %+v, %v, want %+v", round, got, err, want)
			}
			got.Counts.Skipped["a"]++
			got.Counts.Kinds["topic"]++
			got.Counts.Choices["charset"]++
			got.Ended[0].URI = ""
			got.Digested.Bytes++
			got.Digested.State[0]++
		}
	}
	if _, err := rows.Source([]byte{9}, []byte("{")); err == nil {
		t.Error("a broken row has a source")
	}
}

// A copy shares no map, slice or pointer with its source, also of fields to come.
func TestCloneSharesNothing(t *testing.T) {
	s := fullSource(1)
	var compare func(path string, a, b reflect.Value)
	compare = func(path string, a, b reflect.Value) {
		switch a.Kind() {
		case reflect.Struct:
			for i := range a.NumField() {
				if f := a.Type().Field(i); f.Name != "cause" && f.Name != "shared" { // no row has these
					compare(path+"."+f.Name, a.Field(i), b.Field(i))
				}
			}
		case reflect.Map, reflect.Slice, reflect.Pointer:
			if a.IsNil() || a.UnsafePointer() == b.UnsafePointer() {
				t.Errorf("%s is shared, or not set", path)
			}
			switch a.Kind() {
			case reflect.Pointer:
				compare(path, a.Elem(), b.Elem())
			case reflect.Slice:
				for i := range a.Len() {
					compare(path, a.Index(i), b.Index(i))
				}
			}
		}
	}
	compare("Source", reflect.ValueOf(s), reflect.ValueOf(s.clone()))
}

// What is remembered is bounded.
func TestRowsAreBounded(t *testing.T) {
	var rows Rows
	row, err := json.Marshal(Source{Path: "/a", Error: strings.Repeat("x", 1<<18)})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		if s, err := rows.Source([]byte{byte(n)}, row); err != nil || s.Path != "/a" {
			t.Fatal(s, err)
		}
	}
	if _, err := rows.Source([]byte{0}, row[:len(row)-1]); err == nil {
		t.Error("a broken row has a source")
	}
	if _, err := rows.Source([]byte{0}, append([]byte(" "), row...)); err != nil {
		t.Error(err)
	}
	if rows.bytes > rememberedBytes || rows.bytes < rememberedBytes/2 || rows.bytes != len(rows.known)*len(row)+1 {
		t.Errorf("%d bytes of %d rows are remembered", rows.bytes, len(rows.known))
	}
}
