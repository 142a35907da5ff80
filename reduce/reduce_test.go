package reduce

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/extract"
)

// records reads a table: type, id, what it is concurrent to, URI. All have one date.
func records(table string) (out []Record) {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		r := Record{Description: extract.Description{Type: f[0], RecordID: f[1], URI: f[3], Date: "2024-01-01T00:00:00Z"}, Offset: int64(len(out)) * 10, Size: 10}
		if f[2] != "-" {
			r.ConcurrentTo = strings.Split(f[2], ",")
		}
		out = append(out, r)
	}
	return out
}

func TestCompanions(t *testing.T) {
	for _, x := range []struct {
		name, table, dropped, want string
	}{
		{"as warcio writes it", "response a - u\nrequest b a u\nresponse c - v\nrequest d c v", "a", "b"},
		{"as Wget writes it", "request b - u\nresponse a b u\nrequest d - v\nresponse c d v", "c", "d"},
		{"as Heritrix writes it", "response a - u\nrequest b a u\nmetadata c a u", "a", "b c"},
		{"metadata of the request", "response a - u\nrequest b a u\nmetadata c b u", "a", "b c"},
		{"far apart", "response a - u\nresponse x - v\nresponse y - w\nrequest b a u", "a", "b"},
		{"of two captures, one of which stays", "response a - u\nresponse x - u\nrequest b a,x u", "a", ""},
		{"of two captures that go", "response a - u\nresponse x - u\nrequest b a,x u", "a x", "b"},
		{"beside it, without names", "request b - u\nresponse a - u\nmetadata c - u\nrequest d - v\nresponse x - v", "a", "b c"},
		{"between two captures of a URI", "response a - u\nrequest b - u\nresponse x - u", "a", ""},
		{"not beside it", "response a - u\nresponse x - v\nrequest b - u", "a", ""},
		{"named, but not here", "response a - u\nrequest b z u", "a", ""},
		{"of a capture that stays", "response a - u\nrequest b a u", "", ""},
		{"warcinfo and other kinds stay", "warcinfo i - -\nresponse a - u\nwarcinfo j a u", "a", ""},
		{"a circle", "request b c u\nmetadata c b u\nresponse a b u", "a", "b c"},
		{"itself", "request b b u\nresponse a - u", "a", ""},
	} {
		rs := records(x.table)
		dropped := strings.Fields(x.dropped)
		var got []string
		for i, of := range Companions(rs, func(i int) bool { return slices.Contains(dropped, rs[i].RecordID) }) {
			if of >= 0 {
				got = append(got, rs[i].RecordID)
				if !slices.Contains(dropped, rs[of].RecordID) {
					t.Errorf("%s: %s belongs to %s, which stays", x.name, rs[i].RecordID, rs[of].RecordID)
				}
			}
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s: %v, want %s", x.name, got, x.want)
		}
	}
}

// companionsByDefinition is Companions, record by record along each link.
func companionsByDefinition(records []Record, dropped func(i int) bool) []int {
	names := func(i, j int) bool {
		return records[j].RecordID != "" && slices.Contains(records[i].ConcurrentTo, records[j].RecordID)
	}
	of := make([]int, len(records))
	for i, r := range records {
		if of[i] = -1; !r.Accompanies() {
			continue
		}
		named := len(r.ConcurrentTo) > 0 || slices.ContainsFunc(records, func(o Record) bool { return slices.Contains(o.ConcurrentTo, r.RecordID) })
		var found []int
		if named {
			seen := map[int]bool{i: true}
			for todo := []int{i}; len(todo) > 0; todo = todo[1:] {
				for j := range records {
					if seen[j] || !names(todo[0], j) && !names(j, todo[0]) {
						continue
					}
					seen[j] = true
					if records[j].Captures() {
						found = append(found, j)
					} else if records[j].Accompanies() {
						todo = append(todo, j)
					}
				}
			}
			slices.Sort(found)
		} else {
			for _, step := range []int{-1, 1} {
				for j := i + step; j >= 0 && j < len(records) && r.URI != "" && records[j].URI == r.URI; j += step {
					if records[j].Captures() {
						found = append(found, j)
					}
					if !records[j].Accompanies() {
						break
					}
				}
			}
			slices.Sort(found)
		}
		if len(found) > 0 && !slices.ContainsFunc(found, func(c int) bool { return !dropped(c) }) {
			of[i] = found[0]
		}
	}
	return of
}

// Records of few IDs, which name each other at random, belong together as the definition
// says.
func TestCompanionsByDefinition(t *testing.T) {
	types := []string{"response", "resource", "request", "request", "metadata", "warcinfo"}
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		ids := []string{"", "a", "b", "c", "d", "e", "f", "g", "h"}[:2+rnd.IntN(7)]
		rs := make([]Record, rnd.IntN(12))
		for i := range rs {
			rs[i].Type, rs[i].RecordID, rs[i].URI = types[rnd.IntN(len(types))], ids[rnd.IntN(len(ids))], []string{"u", "v"}[rnd.IntN(2)]
			for range max(0, rnd.IntN(4)-1) {
				rs[i].ConcurrentTo = append(rs[i].ConcurrentTo, ids[1+rnd.IntN(len(ids)-1)])
			}
		}
		drops := rnd.Uint32()
		dropped := func(i int) bool { return rs[i].Captures() && drops>>i&1 == 1 }
		if got, want := Companions(rs, dropped), companionsByDefinition(rs, dropped); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v of %+v", seed, got, want, rs)
		}
	}
}

// Many records of one ID that all name it cost no more than as many others, and so do
// many of one address that name nothing.
func TestCompanionsOfOneID(t *testing.T) {
	rs := make([]Record, 200_000)
	for i := range rs {
		rs[i].Type, rs[i].RecordID = []string{"request", "response"}[i%2], "a"
		rs[i].ConcurrentTo = []string{"a"}
	}
	for i, of := range Companions(rs, func(int) bool { return true }) {
		if want := []int{1, -1}[i%2]; of != want {
			t.Fatalf("record %d belongs to %d, want %d", i, of, want)
		}
	}
	for i := range rs {
		rs[i] = Record{Description: extract.Description{Type: "request", URI: "u"}}
	}
	for i, of := range Companions(rs, func(int) bool { return true }) {
		if of != -1 {
			t.Fatalf("record %d belongs to %d", i, of)
		}
	}
}

// What is left is the bytes outside the ranges, wherever reading starts.
func TestWithout(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		b := make([]byte, rnd.IntN(200))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		var ranges []Range
		var want []byte
		from := 0
		for from < len(b) {
			start := from + rnd.IntN(len(b)-from+1)
			end := start + rnd.IntN(len(b)-start+1)
			want = append(want, b[from:start]...)
			ranges = append(ranges, Range{int64(start), int64(end)})
			from = end
			if rnd.IntN(4) == 0 {
				break
			}
		}
		want = append(want, b[from:]...)
		w := NewWithout(bytes.NewReader(b), int64(len(b)), ranges)
		if got, err := io.ReadAll(io.NewSectionReader(w, 0, w.Size())); err != nil || !bytes.Equal(got, want) || w.Size() != int64(len(want)) {
			t.Fatalf("seed %d: %d bytes, want %d (%v)", seed, len(got), len(want), err)
		}
		if len(want) > 0 {
			at := rnd.IntN(len(want))
			p := make([]byte, rnd.IntN(len(want)+10))
			n, err := w.ReadAt(p, int64(at))
			if !bytes.Equal(p[:n], want[at:min(len(want), at+len(p))]) || (n < len(p)) != (err == io.EOF) {
				t.Fatalf("seed %d: %d bytes at %d (%v)", seed, n, at, err)
			}
		}
	}
	w := NewWithout(strings.NewReader("short"), 10, nil)
	if _, err := w.ReadAt(make([]byte, 10), 0); err != io.ErrUnexpectedEOF {
		t.Errorf("a file that has become shorter: %v", err)
	}
}
