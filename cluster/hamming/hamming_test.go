package hamming

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/signature/simhash"
)

// linear compares every fingerprint with every other.
func linear(prints []uint64, width, distance int) map[Pair]bool {
	out := map[Pair]bool{}
	mask := ^uint64(0) >> (64 - width)
	for i, x := range prints {
		for j, y := range prints[:i] {
			if d := bits.OnesCount64((x ^ y) & mask); d <= distance {
				out[Pair{j, i, d}] = true
			}
		}
	}
	return out
}

// prints is n random fingerprints and as many near to others.
func prints(r *rand.Rand, n, width, distance int) []uint64 {
	var out []uint64
	for range n {
		out = append(out, r.Uint64())
	}
	for range n {
		x := out[r.IntN(len(out))]
		for range r.IntN(distance + 3) {
			x ^= 1 << r.IntN(width)
		}
		out = append(out, x)
	}
	return out
}

func check(t *testing.T, tables *Tables, all []uint64) {
	t.Helper()
	name := fmt.Sprintf("width %d, distance %d, %d blocks", tables.width, tables.distance, len(tables.blocks))
	want := linear(all, tables.width, tables.distance)
	got := slices.Collect(tables.Pairs(all))
	seen := map[Pair]bool{}
	for _, p := range got {
		if seen[p] {
			t.Fatalf("%s: %v is there twice", name, p)
		}
		seen[p] = true
	}
	if !maps.Equal(seen, want) {
		t.Fatalf("%s: %d pairs, want %d", name, len(seen), len(want))
	}
	if !slices.Equal(got, slices.Collect(tables.Pairs(all))) {
		t.Fatalf("%s: another order the second time", name)
	}

	type entry struct {
		key []byte
		id  int
	}
	var entries []entry
	for table := range tables.Len() {
		for i, p := range all {
			entries = append(entries, entry{tables.AppendKey(nil, table, p), i})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	seen = map[Pair]bool{}
	s := NewScan(tables, func(a, b, distance int) error {
		p := Pair{min(a, b), max(a, b), distance}
		if seen[p] {
			t.Fatalf("%s: the scan has %v twice", name, p)
		}
		seen[p] = true
		return nil
	})
	for _, e := range entries {
		if err := s.Add(e.key, e.id); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(seen, want) {
		t.Fatalf("%s: the scan has %d pairs, want %d", name, len(seen), len(want))
	}
}

func TestPairsAreThoseOfALinearScan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range [][3]int{
		{64, 3, 4}, {64, 3, 6}, {64, 5, 6}, {64, 5, 8}, {64, 0, 1}, {64, 0, 4}, {64, 1, 64}, {64, 1, 2}, {64, 12, 13},
		{1, 0, 1}, {2, 1, 2}, {8, 2, 3}, {8, 2, 8}, {13, 3, 5}, {16, 4, 7}, {32, 3, 5}, {33, 4, 6}, {63, 2, 5}, {8, 7, 8},
	} {
		tables, err := newTables(c[0], c[1], c[2])
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 40, 400} {
			if n == 400 && (c[0] < 32 || tables.Len() > 100) {
				continue
			}
			check(t, tables, prints(r, n, c[0], c[1]))
		}
	}
}

// All fingerprints of a width, so that no difference of blocks is missed.
func TestAllFingerprints(t *testing.T) {
	all := make([]uint64, 256)
	for i := range all {
		all[i] = uint64(i)
	}
	for distance := range 8 {
		for blocks := distance + 1; blocks <= 8; blocks++ {
			tables, err := newTables(8, distance, blocks)
			if err != nil {
				t.Fatal(err)
			}
			check(t, tables, all)
		}
	}
}

// Another order of the fingerprints gives the same pairs.
func TestOrderDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	tables, _ := newTables(64, 3, 5)
	all := prints(r, 500, 64, 3)
	order := r.Perm(len(all))
	shuffled := make([]uint64, len(all))
	for i, j := range order {
		shuffled[i] = all[j]
	}
	want := map[Pair]bool{}
	for p := range tables.Pairs(all) {
		want[p] = true
	}
	got := map[Pair]bool{}
	for p := range tables.Pairs(shuffled) {
		a, b := order[p.A], order[p.B]
		got[Pair{min(a, b), max(a, b), p.Distance}] = true
	}
	if !maps.Equal(got, want) {
		t.Error("other pairs in another order")
	}
}

// The designs of Manku and others, section 3.1, for 64 bits and distance 3.
func TestDesignsOfThePaper(t *testing.T) {
	for _, c := range []struct{ blocks, tables, least, most int }{
		{4, 4, 16, 16},
		{5, 10, 25, 26},
		{6, 20, 31, 33},
	} {
		d, err := newTables(64, simhash.DistanceManku, c.blocks)
		if err != nil {
			t.Fatal(err)
		}
		least, most := 64, 0
		for i := range d.Len() {
			least, most = min(least, d.Prefix(i)), max(most, d.Prefix(i))
		}
		if d.Len() != c.tables || least != c.least || most != c.most {
			t.Errorf("%d blocks: %d tables, prefixes %d to %d; want %+v", c.blocks, d.Len(), least, most, c)
		}
	}
}

func TestKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, c := range [][3]int{{64, 5, 7}, {64, 0, 1}, {1, 0, 1}, {9, 2, 4}, {61, 3, 5}} {
		d, _ := newTables(c[0], c[1], c[2])
		mask := ^uint64(0) >> (64 - c[0])
		for range 300 {
			table, x, y := r.IntN(d.Len()), r.Uint64(), r.Uint64()
			if r.IntN(2) == 0 {
				y = x ^ 1<<r.IntN(64)
			}
			key := d.AppendKey([]byte("k"), table, x)[1:]
			gotTable, got, err := d.ParseKey(key)
			if err != nil || gotTable != table || got != x&mask || len(key) != d.KeySize() {
				t.Fatalf("%v: %x comes back as %x of %d, %v", c, x, got, gotTable, err)
			}
			other := d.AppendKey(nil, table, y)
			from, to := d.Range(table, x)
			in := bytes.Compare(from, other) <= 0 && bytes.Compare(other, to) <= 0
			lead := uint64(0) // the blocks that lead, from the definition
			for i, b := range d.blocks {
				if d.tables[table].left>>i&1 == 0 {
					lead |= b
				}
			}
			if in != ((x^y)&lead == 0) || bits.OnesCount64(lead) != d.Prefix(table) {
				t.Fatalf("%v, table %d: the range of %x has %x: %v", c, table, x, y, in)
			}
		}
	}
}

// TestLookUp: the ranges of all tables have each fingerprint near to one that
// is looked up (section 3.1, steps 1 and 2).
func TestLookUp(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, width := range []int{8, 16, 31, 32, 48, 64} {
		for distance := range 6 {
			for _, blocks := range []int{distance + 1, distance + 2, distance + 4} {
				d, err := newTables(width, distance, min(blocks, width))
				if err != nil {
					t.Fatal(err)
				}
				all := prints(r, 100, width, distance)
				keys := make([]string, 0, len(all)*d.Len())
				for table := range d.Len() {
					for _, p := range all {
						keys = append(keys, string(d.AppendKey(nil, table, p)))
					}
				}
				slices.Sort(keys)
				mask := ^uint64(0) >> (64 - width)
				for range 40 {
					x := all[r.IntN(len(all))] ^ 1<<r.IntN(width)
					want, got := map[uint64]bool{}, map[uint64]bool{}
					for _, p := range all {
						if bits.OnesCount64((p^x)&mask) <= distance {
							want[p&mask] = true
						}
					}
					for table := range d.Len() {
						from, to := d.Range(table, x)
						at, _ := slices.BinarySearch(keys, string(from))
						for ; at < len(keys) && keys[at] <= string(to); at++ {
							_, p, err := d.ParseKey([]byte(keys[at]))
							if err != nil {
								t.Fatal(err)
							}
							if bits.OnesCount64((p^x)&mask) <= distance {
								got[p] = true
							}
						}
					}
					if !maps.Equal(got, want) {
						t.Fatalf("width %d, distance %d, %d blocks: %d found, want %d", width, distance, blocks, len(got), len(want))
					}
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range [][3]int{{0, 0, 1}, {65, 3, 5}, {64, -1, 4}, {64, 64, 64}, {64, 3, 3}, {8, 3, 9}, {64, 20, 40}} {
		if _, err := newTables(c[0], c[1], c[2]); err == nil {
			t.Errorf("newTables(%v) has no error", c)
		}
	}
	for _, c := range [][2]int{{0, 0}, {65, 1}, {64, 64}, {64, -1}, {8, 8}} {
		if _, err := Choose(c[0], c[1], 1e6, EntryMemory); err == nil {
			t.Errorf("Choose(%v) has no error", c)
		}
	}
	d, _ := newTables(60, 3, 5)
	for _, key := range []string{"", "\x00\x00", "\x00\x0a12345678", "\x00\x001234567\x01", "\x00\x00123456789"} {
		if _, _, err := d.ParseKey([]byte(key)); err == nil {
			t.Errorf("key %x has no error", key)
		}
		if err := NewScan[int](d, nil).Add([]byte(key), 1); err == nil {
			t.Errorf("adding key %x has no error", key)
		}
	}
	fail := errors.New("full")
	s := NewScan(d, func(a, b string, distance int) error { return fail })
	if err := s.Add(d.AppendKey(nil, 1, 7), "a"); err != nil {
		t.Error(err)
	}
	if err := s.Add(d.AppendKey(nil, 0, 7), "b"); err == nil {
		t.Error("keys out of order have no error")
	}
	s = NewScan(d, func(a, b string, distance int) error { return fail })
	_ = s.Add(d.AppendKey(nil, 0, 7), "a")
	if err := s.Add(d.AppendKey(nil, 0, 7), "b"); !errors.Is(err, fail) {
		t.Errorf("%v, want %v", err, fail)
	}
	for range d.Pairs([]uint64{1, 1, 1}) { // stops when asked to
		break
	}
}

func TestCandidates(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	d, _ := newTables(64, 3, 4)
	all := make([]uint64, 3000)
	for i := range all {
		all[i] = r.Uint64()
	}
	n := 0
	for i := range d.Len() {
		lead := ^uint64(0) << (64 - d.Prefix(i))
		seen := map[uint64]int{}
		for _, p := range all {
			k := d.tables[i].permute(p) & lead
			n += seen[k]
			seen[k]++
		}
	}
	want := d.Candidates(3000) // 274.6, standard deviation its root
	if math.Abs(float64(n)-want) > 4.5*math.Sqrt(want) {
		t.Errorf("%d comparisons, expected %v", n, want)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range [][2]int{{64, 3}, {64, simhash.Distance}, {64, 0}, {32, 2}, {8, 3}, {64, 31}} {
		for _, n := range []float64{0, 1e3, 1e6, 1e8} {
			for _, entry := range []float64{EntryMemory, EntryStore} {
				least, blocks := math.Inf(1), 0
				for z := c[1] + 1; z <= c[0] && binomial(z, c[1]) <= 5000; z++ {
					d, err := newTables(c[0], c[1], z)
					if err != nil {
						t.Fatal(err)
					}
					if cost := float64(d.Len())*n*entry + d.Candidates(n); cost < least {
						least, blocks = cost, z
					}
				}
				got, err := Choose(c[0], c[1], n, entry)
				if err != nil || len(got.blocks) != blocks {
					t.Errorf("%v, %v fingerprints: %d blocks, want %d (%v)", c, n, len(got.blocks), blocks, err)
				}
			}
		}
	}
}

func FuzzPairs(f *testing.F) {
	f.Add([]byte(""), uint8(64), uint8(3), uint8(5))
	f.Add([]byte("aaaaaaaaaaaaaaabaaaaaaacabcdefgh"), uint8(64), uint8(5), uint8(7))
	f.Add(make([]byte, 80), uint8(7), uint8(2), uint8(7))
	f.Fuzz(func(t *testing.T, data []byte, width, distance, blocks uint8) {
		d, err := newTables(int(width), int(distance), int(blocks))
		if err != nil || d.Len() > 500 {
			return
		}
		var all []uint64
		for ; len(data) >= 8 && len(all) < 60; data = data[8:] {
			all = append(all, binary.BigEndian.Uint64(data))
		}
		check(t, d, all)
	})
}

// BenchmarkPairs is random fingerprints, of which one in ten has a near one.
func BenchmarkPairs(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, distance := range []int{simhash.DistanceManku, simhash.Distance} {
		for _, n := range []int{10_000, 200_000} {
			all := make([]uint64, n)
			for i := range all {
				all[i] = r.Uint64()
				if i%10 == 9 {
					all[i] = all[i-1] ^ 1<<r.IntN(64) ^ 1<<r.IntN(64)
				}
			}
			d, err := Choose(64, distance, float64(n), EntryMemory)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("distance %d/%d", distance, n), func(b *testing.B) {
				found := 0
				for b.Loop() {
					found = 0
					for range d.Pairs(all) {
						found++
					}
				}
				b.ReportMetric(float64(found), "pairs")
				b.ReportMetric(float64(d.Len()), "tables")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n)/float64(d.Len()), "ns/entry")
			})
		}
	}
}
