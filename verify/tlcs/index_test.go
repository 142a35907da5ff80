package tlcs

import (
	"math/rand/v2"
	"testing"
)

// indexed makes documents that share templates and paragraphs.
func indexed(rng *rand.Rand, n, window int) []*Document {
	var parts []string
	for range 12 {
		parts = append(parts, prose(rng, 40+rng.IntN(200), latin))
	}
	var docs []*Document
	for range n {
		s := ""
		for range rng.IntN(6) {
			s += parts[rng.IntN(len(parts))]
			if rng.IntN(2) == 0 {
				s += prose(rng, 20+rng.IntN(300), mixed)
			}
		}
		docs = append(docs, Prepare(s, window))
	}
	return docs
}

// A pair that the index rejects is one that Compare rejects, for the same
// reason; and the pairs that it has to leave are few.
func TestIndexRejectsWhatCompareRejects(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rejected, left, needless, strangers, unsure := 0, 0, 0, 0, 0
	for range 30 {
		o := Options{Window: 1 + rng.IntN(16), Blocks: 8, Slope: 0.1, Resemblance: 0.3 + 0.7*rng.Float64(),
			Containment: 0.5 + 0.6*rng.Float64(), Whole: 0.7 * rng.Float64(), Trustable: true, Rounds: 1 + rng.IntN(3)}
		docs := indexed(rng, 60, o.Window)
		x := NewIndex(1 << 20)
		for _, d := range docs[:40] {
			x.Add(d)
		}
		if x.Len() != 40 {
			t.Fatalf("%d documents", x.Len())
		}
		c := NewComparer(o)
		var b Bounds
		for _, d := range docs {
			x.Bound(d, &b)
			reach := b.Reach(&o, d.Len())
			for i, other := range docs[:40] {
				stage := b.Rejects(&o, i, d.Len(), other.Len())
				v := c.Compare(other, d)
				if byLength := reach.Rejects(other.Len()); b.Kept(i) == 0 && byLength != None {
					strangers++
					if byLength != stage {
						t.Fatalf("%+v: lengths %d and %d are rejected by %v, the bounds: %v", o, d.Len(), other.Len(), byLength, stage)
					}
				} else if b.Kept(i) == 0 && stage != None {
					unsure++
				}
				switch {
				case stage == None:
					left++
					if v.Rejected == BySketch {
						needless++
					}
				case stage != v.Rejected:
					t.Fatalf("%+v: rejected by %v, Compare: %+v", o, stage, v)
				default:
					rejected++
				}
			}
		}
	}
	t.Logf("%d rejected, %d left, %d of them rejected by their sketches", rejected, left, needless)
	t.Logf("%d without windows of their own in common are rejected by length alone, %d are not", strangers, unsure)
	if rejected < 3*needless || strangers < 3*unsure {
		t.Error("the index hardly helps")
	}
}

// Bounds are exact where no window stands in many documents.
func TestBoundsOfFewDocumentsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	o := Options{Window: 8, Blocks: 8, Slope: 0.1, Resemblance: 1e-9, Containment: 1e-9, Trustable: true, Rounds: 1}
	docs := indexed(rng, commonFrom, o.Window)
	x := NewIndex(1 << 20)
	for _, d := range docs {
		x.Add(d)
	}
	c := NewComparer(o)
	var b Bounds
	for _, d := range docs {
		x.Bound(d, &b)
		for i, other := range docs {
			v := c.Compare(other, d)
			want := v.SketchB
			if a, _ := order(other, d); a == d {
				want = v.SketchA
			}
			if d.Len() == 0 || other.Len() == 0 {
				want = 0
			}
			if got := b.common + int(b.each[i]); got != want {
				t.Fatalf("bound %d, the sketch has %d", got, want)
			}
		}
	}
}

func TestFullIndexStopsTakingDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x := NewIndex(2000)
	for range 20 {
		x.Add(Prepare(prose(rng, 300, latin), 16))
	}
	if x.Len() == 0 || x.Len() == 20 || x.used > 2000 {
		t.Errorf("%d documents with %d windows", x.Len(), x.used)
	}
}
