package container

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// What a record takes of its file, read alone at its offset, is that record;
// and the sizes of all records of a sound file are the file.
func TestReaderTellsTheSizeOfRecords(t *testing.T) {
	records := []string{record("one"), record(""), record(strings.Repeat("three ", 40000)), record("four")}
	for name, c := range map[string]struct {
		file  string
		sizes []int64 // nil: known, whatever they are
	}{
		"plain":               {file: strings.Join(records, "")},
		"a member each":       {file: members(records...)},
		"one member":          {members(strings.Join(records, "")), []int64{0, 0, 0, 0}},
		"two in a member":     {members(records[0], records[1]+records[2], records[3]), []int64{int64(len(member(records[0], 6))), 0, 0, int64(len(member(records[3], 6)))}},
		"damage behind one":   {members(records[0]) + "garbage" + members(records[1]), []int64{0, int64(len(member(records[1], 6)))}},
		"the last is clipped": {members(records[0]) + members(records[2])[:200], []int64{int64(len(member(records[0], 6))), 0}},
	} {
		r, err := openRecords(strings.NewReader(c.file), Position{}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int64
		sum := int64(0)
		for {
			raw, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				continue // damage
			}
			sizes = append(sizes, raw.Size)
			sum += raw.Size
			if raw.Size == 0 {
				continue
			}
			alone, err := openRecords(strings.NewReader(c.file[raw.Offset:raw.Offset+raw.Size]), Position{}, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			again, err := alone.Next()
			if err != nil || string(again.Block) != string(raw.Block) || again.Clipped {
				t.Errorf("%s: the record at %d is not what its size says (%v)", name, raw.Offset, err)
			}
			if _, err := alone.Next(); err != io.EOF {
				t.Errorf("%s: more follows the record at %d: %v", name, raw.Offset, err)
			}
		}
		if c.sizes == nil && (sum != int64(len(c.file)) || len(sizes) != len(records)) || c.sizes != nil && fmt.Sprint(sizes) != fmt.Sprint(c.sizes) {
			t.Errorf("%s: sizes %v of %d bytes, want %v", name, sizes, len(c.file), c.sizes)
		}
	}
}
