package ring

import (
	"crypto/md5"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/extract/text"
	"neardup/signature"
)

// checkTrace computes every signature from what is said to have made it.
func checkTrace(t *testing.T, o Options, doc []text.Sentence) (whole bool, few int) {
	t.Helper()
	s := newSigner(o)
	trace, want := s.Trace(doc), newSigner(o).Sign(nil, doc)
	origins := trace.Origins
	doc = readings(o, doc)
	var made []signature.Signature
	for _, origin := range origins {
		made = append(made, origin.Signature)
		if origin.Whole {
			whole = true
			if len(origin.Sentences) != len(doc) || len(origins) != 1 {
				t.Fatalf("%+v: %+v of %d sentences", o, origins, len(doc))
			}
			continue
		}
		if origin.Few {
			few++
			var sums []string
			for _, i := range origin.Sentences {
				sum := md5.Sum([]byte(doc[i].Text))
				sums = append(sums, string(sum[:]))
			}
			if md5.Sum([]byte(strings.Join(sums, ""))) != origin.Signature || !slices.IsSorted(sums) {
				t.Fatalf("%+v: %+v is not of its sentences", o, origin)
			}
			continue
		}
		if len(origin.Sentences) != o.Smallest {
			t.Fatalf("%+v: %d sentences in %+v", o, len(origin.Sentences), origin)
		}
		last := new(big.Int).SetInt64(-1)
		var sums [128]int64
		for _, i := range origin.Sentences {
			if !slices.Contains(trace.Counted, i) {
				t.Fatalf("%+v: sentence %d does not count", o, i)
			}
			sum := md5.Sum([]byte(doc[i].Text))
			v := new(big.Int).SetBytes(slices.Concat(sum[origin.Rotation:], sum[:origin.Rotation]))
			if class := new(big.Int).Mod(v, big.NewInt(int64(o.Modulus))).Int64(); int(class) != origin.Class {
				t.Fatalf("%+v: sentence %d is of class %d, not of %+v", o, i, class, origin)
			}
			if v.Cmp(last) <= 0 {
				t.Fatalf("%+v: sentence %d is out of order in %+v", o, i, origin)
			}
			last = v
			weight := int64(1)
			if o.Weight == Log {
				weight = int64(math.Round(1024 * (1 + math.Log(float64(doc[i].Columns)))))
			}
			for bit := range sums {
				sums[bit] += (2*int64(v.Bit(bit)) - 1) * weight
			}
		}
		v := new(big.Int)
		for bit, sum := range sums {
			if sum > 0 {
				v.SetBit(v, bit, 1)
			}
		}
		if got := signature.Signature(v.FillBytes(make([]byte, 16))); got != origin.Signature {
			t.Fatalf("%+v: %+v makes %x", o, origin, got)
		}
	}
	slices.SortFunc(made, compare)
	if made = slices.Compact(made); !slices.Equal(made, want) {
		t.Fatalf("%+v: traced %x, signed %x", o, made, want)
	}
	if again := s.Sign(nil, doc); !slices.Equal(again, want) {
		t.Fatalf("%+v: signed %x after the trace, want %x", o, again, want)
	}
	return whole, few
}

func TestTrace(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	wholes, fews := 0, 0
	for range 200 {
		o := Options{1 + r.IntN(16), 1 + r.IntN(20), 1 + r.IntN(9), r.IntN(60), 1 + r.IntN(6), []string{Log, None}[r.IntN(2)], []string{Whole, Abandon}[r.IntN(2)], r.IntN(40), r.IntN(2) == 0}
		whole, few := checkTrace(t, o, document(r, r.IntN(120)))
		if whole {
			wholes++
		}
		fews += few
	}
	if wholes == 0 || fews == 0 {
		t.Errorf("%d documents had a signature of all their sentences; %d signatures were of few", wholes, fews)
	}
}

func TestCounted(t *testing.T) {
	doc := []text.Sentence{{Text: "a", Columns: 17}, {Text: "b", Columns: 16}, {Text: "a", Columns: 17}, {Text: "c", Columns: 30}}
	if got := len(newSigner(paper).Trace(doc).Counted); got != 2 {
		t.Errorf("%d sentences count, want 2", got)
	}
	short := paper
	short.Few, doc = 8, append(doc, text.Sentence{Text: "d", Columns: 2})
	if got := newSigner(short).Trace(doc).Counted; !slices.Equal(got, []int{0, 1, 3}) {
		t.Errorf("with few: sentences %d count, want 0, 1 and 3", got)
	}
}
