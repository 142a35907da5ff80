package shorttexts

import (
	"context"
	"crypto/sha256"
	"runtime"
	"slices"
	"time"

	"neardup/configs"
	"neardup/paper"
	"neardup/pipeline/costs"
	"neardup/signature"
	scheme "neardup/signature/terms"
	"neardup/verify"
	"neardup/verify/terms"
)

// Text is a text of a collection, with the IDs that have it.
type Text struct {
	Text string
	IDs  []string
}

// Collection is a collection of short texts.
type Collection struct {
	Name  string
	Texts []Text // different ones
}

// Settings of section 4 of the SimFinder paper, where it has them.
const (
	firstDegree  = 0.50 // of figures 1 and 2
	degreeStep   = 0.05
	intervals    = 10
	perInterval  = 200        // pairs that are judged
	leastPlain   = 0.3        // pairs below this plain degree are not looked at
	maxGram      = 6          // of figures 3 and 4
	maxPotential = 10_000_000 // pairs that remark 2 is measured with
	growthFirst  = 1000       // texts that are signed before time is measured, to load the dictionary
)

var (
	atMost = []int{3, 4, 5, 6, 8, 10, 12}                  // features, of figures 5 and 6
	beyond = []int{0, 1, 2, 3, 4, 6, 8, paper.AllFeatures} // features beyond k
	parts  = []int{10, 25, 50, 100}                        // percent, of figures 7 to 10
	dayOf  = func(id string) (day int, ok bool) {          // of an ID that begins with a day, 2024-12-31
		t, err := time.Parse(time.DateOnly, id[:min(len(id), len(time.DateOnly))])
		return int(t.Unix() / (24 * 60 * 60)), err == nil
	}
)

// Asked is a pair to be judged.
type Asked struct{ A, B Text }

// simFinder measures a collection. All work is done by one goroutine.
type simFinder struct {
	ctx     context.Context
	place   int    // of the collection
	texts   []Text // in an arbitrary order, so that the first tenth is like the rest
	weights scheme.Weighing
	scheme  scheme.Options
	measure terms.Options
}

// SimFinder returns the figures of section 4 of the SimFinder paper for one
// collection or two, with the settings of a config, and the pairs to be judged for
// figures 1 and 2.
func SimFinder(ctx context.Context, c configs.Config, collections []Collection, j Judgements, begin func(what string, place, of int)) (out paper.SimFinder, asked []Asked, err error) {
	for i, of := range collections {
		s := &simFinder{ctx: ctx, place: i, texts: slices.Clone(of.Texts), weights: c.Text.Terms, scheme: c.Sign.Terms, measure: c.Verify.Terms}
		slices.SortFunc(s.texts, func(a, b Text) int {
			x, y := sha256.Sum256([]byte(a.Text)), sha256.Sum256([]byte(b.Text))
			return slices.Compare(x[:], y[:])
		})
		if s.weights.Frequencies == scheme.OfCollection {
			counter := scheme.NewCounter(s.weights)
			for _, t := range s.texts {
				counter.Add(t.Text)
			}
			s.weights.Collection = scheme.NewFrequencies(counter.All())
		}
		s.scheme.Weighing, s.measure.Weighing = s.weights, s.weights
		result := paper.ShortTexts{Name: of.Name, Texts: len(s.texts)}
		steps := []struct {
			name string
			do   func() error
		}{
			{"figures 1, 2", func() (err error) {
				var more []Asked
				more, err = s.degrees(&result, j)
				asked = append(asked, more...)
				return err
			}},
			{"figures 7 to 10", func() error { return s.growth(&result) }},
		}
		if i == 0 {
			steps = append(steps, struct {
				name string
				do   func() error
			}{"figures 3 to 6, remark 2", func() error { return s.recall(&out) }})
		}
		for n, step := range steps {
			begin(step.name, n+1, len(steps))
			if err := step.do(); err != nil {
				return out, nil, err
			}
		}
		out.Collections = append(out.Collections, result)
	}
	t := c.Text.Terms
	out.Judged, out.Threshold, out.Gram, out.Extra, out.FeatureOrder = j.by(), c.Verify.Terms.Threshold, c.Sign.Terms.Gram, c.Sign.Terms.Extra, c.Sign.Terms.Order
	out.Equation, out.Frequencies = "Equation 1", t.Frequencies
	if t.Long {
		out.Equation = "Equation 2"
	}
	out.Equation += ", heaviest: " + t.Heaviest + ", scale: " + t.Scale
	return out, asked, nil
}

// compared is texts prepared for a measure.
type compared struct {
	docs []verify.Document
	c    verify.Comparer
}

func (s *simFinder) prepare(o terms.Options, texts []Text) compared {
	m := terms.New(o)
	c := compared{make([]verify.Document, len(texts)), m.Comparer()}
	for i, t := range texts {
		c.docs[i] = m.Prepare(t.Text)
	}
	return c
}

func (c compared) of(i, j int) verify.Verdict { return c.c.Compare(c.docs[i], c.docs[j]) }

// sign returns the fingerprints of texts.
func (s *simFinder) sign(o scheme.Options, texts []Text) [][]signature.Signature {
	signer := scheme.New(o)
	out := make([][]signature.Signature, len(texts))
	for i, t := range texts {
		out[i] = signer.Sign(nil, t.Text)
	}
	return out
}

// wordPairs returns the keys of the baseline: "texts with at least two continuous
// words in common are compared with each other", words that weigh nothing left out.
func (s *simFinder) wordPairs() [][][2]uint64 {
	weigher := scheme.NewWeigher(s.weights)
	out := make([][][2]uint64, len(s.texts))
	for i, t := range s.texts {
		all := weigher.Append(nil, t.Text)
		for j := 1; j < len(all); j++ {
			out[i] = append(out[i], [2]uint64{all[j-1].Hash, all[j].Hash})
		}
		if len(all) == 1 {
			out[i] = append(out[i], [2]uint64{all[0].Hash})
		}
	}
	return out
}

// candidates calls pair with each two texts that have a key in common, once.
func candidates[K comparable](ctx context.Context, keys [][]K, pair func(i, j int)) error {
	lists := map[K][]int32{}
	seen := make([]int, len(keys))
	for i, of := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, k := range of {
			list := lists[k]
			for _, j := range list {
				if int(j) != i && seen[j] != i+1 {
					seen[j] = i + 1
					pair(int(j), i)
				}
			}
			if len(list) == 0 || int(list[len(list)-1]) != i {
				lists[k] = append(list, int32(i))
			}
		}
	}
	return nil
}

// found is what a search finds: near pairs, and the texts in them.
type found struct {
	pairs    map[pair]bool
	texts    map[int]bool
	compared int64
}

func find[K comparable](ctx context.Context, c compared, keys [][]K) (found, error) {
	f := found{map[pair]bool{}, map[int]bool{}, 0}
	err := candidates(ctx, keys, func(i, j int) {
		f.compared++
		if c.of(i, j).Near {
			f.pairs[pair{i, j}], f.texts[i], f.texts[j] = true, true, true
		}
	})
	return f, err
}

// recall makes the measurements of figures 3 to 6, and of remark 2.
func (s *simFinder) recall(out *paper.SimFinder) error {
	c := s.prepare(s.measure, s.texts)
	baseline, err := find(s.ctx, c, s.wordPairs())
	if err != nil {
		return err
	}
	out.Baseline = baseline.compared
	point := func(value int, change func(*scheme.Options)) (paper.Recall, error) {
		o := s.scheme
		change(&o)
		f, err := find(s.ctx, c, s.sign(o, s.texts))
		both := 0
		for p := range f.pairs {
			if baseline.pairs[p] {
				both++
			}
		}
		return paper.Recall{Value: value, Compared: f.compared, Recall: float64(len(f.texts)) / float64(max(1, len(baseline.texts))),
			Pairs: float64(both) / float64(max(1, len(baseline.pairs)))}, err
	}
	for _, figure := range []struct {
		values []int
		change func(o *scheme.Options, n int)
		to     *[]paper.Recall
	}{
		{numbers(maxGram), func(o *scheme.Options, n int) { o.Gram, o.Extra, o.MaxFeatures = n, n, 0 }, &out.Grams},
		{atMost, func(o *scheme.Options, n int) { o.MaxFeatures = max(n, o.Gram) }, &out.AtMost},
		{beyond, func(o *scheme.Options, n int) { o.Extra, o.MaxFeatures = n, 0 }, &out.Beyond},
	} {
		for _, n := range figure.values {
			r, err := point(n, func(o *scheme.Options) { figure.change(o, n) })
			if err != nil {
				return err
			}
			*figure.to = append(*figure.to, r)
		}
	}
	return s.transitivity(c, &out.Transitivity)
}

func numbers(n int) (out []int) {
	for i := range n {
		out = append(out, i+1)
	}
	return out
}

// transitivity makes the measurements of remark 2.
func (s *simFinder) transitivity(c compared, out *paper.Transitivity) error {
	keys := s.sign(s.scheme, s.texts)
	all, err := find(s.ctx, c, keys)
	if err != nil {
		return err
	}
	out.Without = all.compared
	in := numbers(len(s.texts))
	for i := range in {
		in[i] = i
	}
	root := func(i int) int {
		for in[i] != i {
			in[i] = in[in[i]]
			i = in[i]
		}
		return i
	}
	if err := candidates(s.ctx, keys, func(i, j int) {
		if root(i) == root(j) {
			return
		}
		out.With++
		if c.of(i, j).Near {
			in[root(i)] = root(j)
		}
	}); err != nil {
		return err
	}
	near := make([][]int, len(s.texts))
	for p := range all.pairs {
		near[p.a] = append(near[p.a], p.b)
		near[p.b] = append(near[p.b], p.a)
	}
	potential := map[pair]bool{}
	for _, of := range near {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		slices.Sort(of)
		for x, b := range of {
			for _, a := range of[:x] {
				if len(potential) < maxPotential {
					potential[pair{a, b}] = true
				}
			}
		}
	}
	out.Potential = int64(len(potential))
	for p := range potential {
		if !c.of(p.a, p.b).Near {
			out.Below++
		}
	}
	return nil
}

// growth makes the measurements of figures 7 to 10.
func (s *simFinder) growth(out *paper.ShortTexts) error {
	s.sign(s.scheme, s.texts[:min(len(s.texts), growthFirst)])
	for _, percent := range parts {
		part := s.texts[:len(s.texts)*percent/100]
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		begun := costs.CPUSeconds()
		keys, c := s.sign(s.scheme, part), s.prepare(s.measure, part)
		f, err := find(s.ctx, c, keys)
		if err != nil {
			return err
		}
		g := paper.Growth{Texts: len(part), Seconds: costs.CPUSeconds() - begun, Compared: f.compared, Near: int64(len(f.pairs))}
		f = found{}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(keys)
		runtime.KeepAlive(c)
		g.Bytes = max(0, int64(after.HeapAlloc)-int64(before.HeapAlloc))
		out.Growth = append(out.Growth, g)
	}
	return nil
}
