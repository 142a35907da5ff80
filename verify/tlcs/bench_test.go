package tlcs

import (
	"math/rand/v2"
	"strings"
	"testing"
)

const benchColumns = 10_240

// article draws words from a vocabulary of 3,000.
func article(rng *rand.Rand, columns int) string {
	vocabulary := rand.New(rand.NewPCG(12, 12))
	words := make([]string, 3000)
	for i := range words {
		words[i] = strings.TrimSpace(prose(vocabulary, 3+vocabulary.IntN(8), latin))
	}
	var b strings.Builder
	for b.Len() < columns {
		b.WriteString(words[rng.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()[:columns]
}

// retouched replaces about one word in n.
func retouched(rng *rand.Rand, s string, n int) string {
	words := strings.Fields(s)
	for i := range words {
		if rng.IntN(n) == 0 {
			words[i] = prose(rng, 6, latin)
		}
	}
	return strings.Join(words, " ")
}

func BenchmarkCompare(b *testing.B) {
	rng := rand.New(rand.NewPCG(13, 13))
	rounds := paper
	rounds.Rounds = 3
	page := article(rng, benchColumns)
	half := benchColumns / 2
	template := func(columns int) func() string {
		header, footer := article(rng, columns/2), article(rng, columns/2)
		return func() string { return header + article(rng, benchColumns-columns) + footer }
	}
	small, large := template(benchColumns/10), template(benchColumns*6/10)
	for _, c := range []struct {
		name string
		o    Options
		x, y string
	}{
		{"identical", paper, page, page},
		{"near/1_word_in_100", paper, page, retouched(rng, page, 100)},
		{"near/1_word_in_20", paper, page, retouched(rng, page, 20)},
		{"near/moved", rounds, page, page[half:] + page[:half]},
		{"far/template_10%", paper, small(), small()},
		{"far/template_60%", paper, large(), large()},
		{"far/shuffled", paper, page, shuffle(rng, page, 40)},
	} {
		x, y := Prepare(c.x, c.o.Window), Prepare(c.y, c.o.Window)
		cmp := NewComparer(c.o)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			v := cmp.Compare(x, y) // grows the scratch
			for b.Loop() {
				v = cmp.Compare(x, y)
			}
			if want := strings.HasPrefix(c.name, "far"); v.Near == want {
				b.Errorf("%+v", v)
			}
		})
	}
}

func BenchmarkPrepare(b *testing.B) {
	rng := rand.New(rand.NewPCG(14, 14))
	for _, c := range []struct{ name, text string }{
		{"latin", article(rng, benchColumns)},
		{"mixed", prose(rng, benchColumns, mixed)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				Prepare(c.text, paper.Window)
			}
			b.ReportMetric(float64(DocumentBytes*Prepare(c.text, paper.Window).Len()), "held-B")
		})
	}
}

// The index of a set of 1,000 pages with a template of 60%.
func BenchmarkIndex(b *testing.B) {
	rng := rand.New(rand.NewPCG(14, 14))
	template := article(rng, 1800)
	documents := make([]*Document, 1000)
	for i := range documents {
		documents[i] = Prepare(template+article(rng, 1200), paper.Window)
	}
	made := func() *Index {
		x := NewIndex(8 << 20)
		for _, d := range documents {
			x.Add(d)
		}
		return x
	}
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			made()
		}
	})
	b.Run("bound", func(b *testing.B) {
		x, bounds := made(), Bounds{}
		for b.Loop() {
			for _, d := range documents {
				x.Bound(d, &bounds)
			}
		}
	})
}
