package words

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 60 {
		var hashes []uint64
		want := map[uint64]int{}
		for range n {
			h := r.Uint64() >> (40 + r.IntN(23))
			hashes = append(hashes, h)
			want[h]++
		}
		var got []uint64
		for h, n := range Counted(hashes) {
			if want[h] != n {
				t.Fatalf("%d is there %d times, counted %d", h, want[h], n)
			}
			got = append(got, h)
		}
		if len(got) != len(want) || !slices.IsSorted(got) {
			t.Fatalf("%v: want each of %v once, ascending", got, want)
		}
		for range Counted(hashes) { // stops when asked to
			break
		}
	}
}

func TestWeigher(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		want uint32
	}{
		{Count, 1, 1}, {Count, 7, 7}, {Count, 1 << 40, math.MaxUint32},
		{One, 1, 1}, {One, 1 << 40, 1},
		{Log, 1, 1024}, {Log, 2, 1734}, {Log, 10, 3382}, {Log, 1 << 40, 23737}, // 1024 times 1.693147…, 3.302585…, 23.180709…
	} {
		weigh, err := Weigher(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := weigh(c.n); got != c.want {
			t.Errorf("%s of %d is %d, want %d", c.name, c.n, got, c.want)
		}
	}
	for _, name := range []string{"", "Log", "tf"} {
		if _, err := Weigher(name); err == nil {
			t.Errorf("there is a weight %q", name)
		}
	}
}

// No logarithm up to 2^20 comes so near to a tie that its rounding depends on
// the last places of math.Log.
func TestLogIsFarFromTies(t *testing.T) {
	for n := 2; n <= 1<<20; n++ {
		x := unit * (1 + math.Log(float64(n)))
		if f := x - math.Floor(x); math.Abs(f-.5) < 1e-9 {
			t.Errorf("1 + ln(%d) is %v/1024", n, x)
		}
	}
}
