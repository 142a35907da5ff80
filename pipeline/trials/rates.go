package trials

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"neardup/configs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/groups"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/sweep"
	"neardup/truth"
	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/tlcs"
)

// maxMates limits the texts of a set that a selected document is compared with. Of
// a larger set, so many texts at even distances stand for all.
const maxMates = 1000

// rateMeter measures the rates of section 4 of the TLCS paper, which sweep.Rates
// defines. It holds the pages and their texts in memory, about 200 bytes a page.
type rateMeter struct {
	input  string // generation of the extraction that the fields below belong to
	pages  []ratePage
	byText map[rows.TextID][]int // indexes of the pages with a text
	judged map[int]int           // index of the truth's page → index of the page

	// Measures of pairs, by the settings that they depend on; several variants
	// share them.
	pairs map[string]map[[2]rows.TextID]pairMeasure
}

// ratePage is a document: its text, and the index of its page in the truth or -1.
type ratePage struct {
	text  rows.TextID
	judge int
}

// pairMeasure holds the measurements of two texts.
type pairMeasure struct {
	near                  bool
	lengths               int // sum over both texts
	strained              int // sum over both texts
	sketchTLCS, wholeTLCS int
	has                   pairWant
}

// pairWant is a set of measurements to make.
type pairWant uint8

const (
	wantNear pairWant = 1 << iota
	wantStrained
	wantReserved
)

// loadPages reads the documents in the order of their IDs. IDs are digests, so the
// first N documents are a random sample, the same for all variants.
func (s *sweeper) loadPages() error {
	extracted, _, err := s.State(workspace.StageExtract)
	if err != nil {
		return err
	}
	m := &s.rates
	if m.byText != nil && m.input == extracted.Generation() {
		return nil
	}
	m.input, m.pages, m.byText, m.judged = extracted.Generation(), nil, map[rows.TextID][]int{}, map[int]int{}
	for stored, err := range results.Documents[groups.DocumentView](s.Workspace) {
		if err != nil {
			return err
		}
		d := stored.Row
		p := ratePage{judge: -1}
		if p.text, err = d.ParsedTextID(); err != nil {
			return err
		}
		if s.Truth != nil {
			if j, ok := s.Truth.Index(d.RecordID); ok {
				if _, taken := m.judged[j]; !taken { // of two documents with one record ID, the first counts
					p.judge, m.judged[j] = j, len(m.pages)
				}
			}
		}
		m.byText[p.text] = append(m.byText[p.text], len(m.pages))
		m.pages = append(m.pages, p)
	}
	return nil
}

// matesOf returns a function that gives for each text the other texts of its
// perhaps-similar sets, sorted. With the merging "direct" a text can be in several
// sets.
func (s *sweeper) matesOf() (func(rows.TextID) []rows.TextID, error) {
	var sets [][]rows.TextID
	in := map[rows.TextID][]int{}
	for set, err := range results.Sets(s.variants.Workspace) {
		if err != nil {
			return nil, err
		}
		var texts []rows.TextID
		for _, k := range set {
			texts = append(texts, k.ID())
			in[k.ID()] = append(in[k.ID()], len(sets))
		}
		sets = append(sets, texts)
	}
	return func(t rows.TextID) []rows.TextID {
		var mates []rows.TextID
		for _, set := range in[t] {
			mates = append(mates, sets[set]...)
		}
		slices.SortFunc(mates, rows.CompareTexts)
		return slices.DeleteFunc(slices.Compact(mates), func(m rows.TextID) bool { return m == t })
	}, nil
}

// measureRates returns the rates, and the number of judged pages that are no
// document.
func (s *sweeper) measureRates(ctx context.Context) (missing int, r sweep.Rates, err error) {
	if err := s.loadPages(); err != nil {
		return 0, r, err
	}
	if s.Truth != nil {
		missing = s.Truth.Len() - len(s.rates.judged)
	}
	if s.Sample == 0 || s.Config.Verify.Measure != configs.MeasureTLCS {
		return missing, r, nil
	}
	mates, err := s.matesOf()
	if err != nil {
		return 0, r, err
	}
	found, inSets := s.selectPages(mates)
	if err := s.measurePairs(ctx, s.wantedPairs(found, inSets, mates)); err != nil {
		return 0, r, err
	}
	r.Documents = max(len(found), len(inSets))
	r.Coverage = s.coverage(found, mates)
	s.setRates(&r, inSets, mates)
	return missing, r, nil
}

// selectPages selects the judged documents that have a near-duplicate, and the
// documents (judged ones, if there is a truth) whose set has another document.
func (s *sweeper) selectPages(mates func(rows.TextID) []rows.TextID) (found, inSets []int) {
	m := &s.rates
	for i, p := range m.pages {
		if s.Truth != nil && p.judge < 0 {
			continue
		}
		if len(found) < s.Sample && s.Truth != nil && len(s.nearPages(p)) > 0 {
			found = append(found, i)
		}
		if len(inSets) < s.Sample && (len(m.byText[p.text]) > 1 || len(mates(p.text)) > 0) {
			inSets = append(inSets, i)
		}
	}
	return found, inSets
}

// nearPages returns the documents that the truth labels as near-duplicates of p.
func (s *sweeper) nearPages(p ratePage) []int {
	var out []int
	for _, j := range s.Truth.Near(p.judge) {
		if q, ok := s.rates.judged[j]; ok {
			out = append(out, q)
		}
	}
	return out
}

// wantedPairs returns which measurements to make of which pairs of texts.
func (s *sweeper) wantedPairs(found, inSets []int, mates func(rows.TextID) []rows.TextID) map[[2]rows.TextID]pairWant {
	m := &s.rates
	want := map[[2]rows.TextID]pairWant{}
	for _, i := range found {
		for _, q := range s.nearPages(m.pages[i]) {
			want[textPair(m.pages[i].text, m.pages[q].text)] |= wantNear
		}
	}
	for _, i := range inSets {
		p := m.pages[i]
		for _, t := range evenly(mates(p.text), maxMates) {
			w := wantNear
			for _, q := range m.byText[t] {
				if label, ok := s.label(p, m.pages[q]); ok && label == truth.Near {
					w |= wantReserved
				} else if ok && label == truth.NotNear {
					w |= wantStrained
				}
			}
			want[textPair(p.text, t)] |= w
		}
	}
	for pair := range want {
		if pair[0] == pair[1] {
			delete(want, pair)
		}
	}
	return want
}

// label returns the truth's label of two pages. ok is false if it has none.
func (s *sweeper) label(p, q ratePage) (l truth.Label, ok bool) {
	if s.Truth == nil || p.judge < 0 || q.judge < 0 || p.judge == q.judge {
		return l, false
	}
	return s.Truth.Label(p.judge, q.judge), true
}

func textPair(a, b rows.TextID) [2]rows.TextID {
	if rows.CompareTexts(a, b) > 0 {
		a, b = b, a
	}
	return [2]rows.TextID{a, b}
}

// known returns the measurements that are valid for the config.
func (s *sweeper) known() map[[2]rows.TextID]pairMeasure {
	m := &s.rates
	key := fmt.Sprintf("%+v %+v", s.Config.Text, s.Config.Verify.Options)
	if m.pairs == nil {
		m.pairs = map[string]map[[2]rows.TextID]pairMeasure{}
	}
	if m.pairs[key] == nil {
		m.pairs[key] = map[[2]rows.TextID]pairMeasure{}
	}
	return m.pairs[key]
}

// measurePairs makes the measurements that are not known yet.
func (s *sweeper) measurePairs(ctx context.Context, want map[[2]rows.TextID]pairWant) error {
	known := s.known()
	var todo [][2]rows.TextID
	for pair, w := range want {
		if known[pair].has&w != w {
			todo = append(todo, pair)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	// Pairs of one text are adjacent, so that it is prepared only once.
	sort.Slice(todo, func(i, j int) bool {
		a, b := todo[i], todo[j]
		return cmp.Or(rows.CompareTexts(a[0], b[0]), rows.CompareTexts(a[1], b[1])) < 0
	})
	s.Options.Progress.Start("measure", string(workspace.Missing), "rates")
	s.Options.Progress.Total(int64(len(todo)), "pairs")
	measured := make([]pairMeasure, len(todo))
	docs, err := stages.NewTexts(s.Workspace)
	if err != nil {
		return err
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range s.Options.Workers {
		g.Go(func() (err error) {
			p := newPairMeter(s.Workspace, docs)
			for i := int(next.Add(1) - 1); i < len(todo); i = int(next.Add(1) - 1) {
				if measured[i], err = p.measure(todo[i], want[todo[i]]|known[todo[i]].has); err != nil {
					return err
				}
				s.Options.Progress.Add(1)
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
			return nil
		})
	}
	err = g.Wait()
	s.Options.Progress.Stop(err)
	for i, pair := range todo {
		if err == nil {
			known[pair] = measured[i]
		}
	}
	return err
}

// pairMeter measures pairs of texts.
type pairMeter struct {
	w               *workspace.Workspace
	docs            *dataflow.Texts
	comparer        verify.Comparer
	sketched, whole *tlcs.Comparer
}

func newPairMeter(w *workspace.Workspace, docs *dataflow.Texts) *pairMeter {
	whole := w.Config.Verify.Options
	whole.Window = 1 // a window of 1 removes nothing that could match
	return &pairMeter{w, docs, docs.Judge.Measure.Comparer(), tlcs.NewComparer(w.Config.Verify.Options), tlcs.NewComparer(whole)}
}

func (p *pairMeter) measure(texts [2]rows.TextID, want pairWant) (m pairMeasure, err error) {
	var docs [2]*pair.Text
	var d [2]*tlcs.Document
	for i := range docs {
		if docs[i], err = p.docs.Get(texts[i]); err != nil {
			return m, err
		}
	}
	decided := p.docs.Judge.Decide(p.comparer, docs[0], docs[1])
	for i := range d {
		d[i] = decided.Texts[i].Scored().(*tlcs.Document)
	}
	m.has = want
	m.lengths = d[0].Len() + d[1].Len()
	m.near = decided.Near
	if want&wantStrained != 0 {
		x, y := p.sketched.SketchLengths(d[0], d[1])
		m.strained = m.lengths - x - y
	}
	if want&wantReserved != 0 {
		m.sketchTLCS = p.sketched.TLCSLength(d[0], d[1])
		for i := range d {
			d[i] = tlcs.Prepare(decided.Texts[i].Compared(), 1)
		}
		m.wholeTLCS = p.whole.TLCSLength(d[0], d[1])
	}
	return m, nil
}

// mean averages values; it is nil if there are none.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) { m.sum += x; m.n++ }

func (m *mean) value() *float64 {
	if m.n == 0 {
		return nil
	}
	x := m.sum / float64(m.n)
	return &x
}

// coverage returns the coverage rate of the selected pages.
func (s *sweeper) coverage(selected []int, mates func(rows.TextID) []rows.TextID) *float64 {
	known := s.known()
	var rate mean
	for _, i := range selected {
		p := s.rates.pages[i]
		set := mates(p.text)
		inSet, everywhere := 1, 1 // the page itself
		for _, q := range s.nearPages(p) {
			t := s.rates.pages[q].text
			if t == p.text {
				inSet++
				everywhere++
				continue
			}
			if !known[textPair(p.text, t)].near {
				continue
			}
			everywhere++
			if _, ok := slices.BinarySearchFunc(set, t, rows.CompareTexts); ok {
				inSet++
			}
		}
		rate.add(float64(inSet) / float64(everywhere))
	}
	return rate.value()
}

// setRates fills in the rates about the documents of a set.
func (s *sweeper) setRates(r *sweep.Rates, selected []int, mates func(rows.TextID) []rows.TextID) {
	known := s.known()
	var trustable, byLabels, strained, reserved, precise, recalled mean
	for _, i := range selected {
		p := s.rates.pages[i]
		near, all := 0, 0        // by the measurement; p and pages with its text included
		labelled, judged := 1, 1 // by the labels
		right, announced := 0, 0 // of those that the measurement finds
		for _, t := range append(evenly(mates(p.text), maxMates), p.text) {
			pair := known[textPair(p.text, t)]
			n := len(s.rates.byText[t])
			all += n
			if pair.near || t == p.text {
				near += n
			}
			for _, q := range s.rates.byText[t] {
				label, ok := s.label(p, s.rates.pages[q])
				if found := pair.near || t == p.text; ok && found && label != truth.Unjudged {
					announced++
					if label == truth.Near {
						right++
					}
				}
				switch {
				case !ok:
				case label == truth.Near:
					labelled++
					judged++
					if t != p.text && pair.wholeTLCS > 0 {
						reserved.add(float64(pair.sketchTLCS) / float64(pair.wholeTLCS))
					}
				case label == truth.NotNear:
					judged++
					if t != p.text {
						strained.add(float64(pair.strained) / float64(pair.lengths))
					}
				}
			}
		}
		trustable.add(float64(near) / float64(all))
		byLabels.add(float64(labelled) / float64(judged))
		if announced > 0 {
			precise.add(float64(right) / float64(announced))
		}
		if labelled > 1 {
			recalled.add(float64(right) / float64(labelled-1))
		}
	}
	r.Trustable, r.StrainAway, r.Reserve = trustable.value(), strained.value(), reserved.value()
	if s.Truth != nil {
		r.TrustableByLabels = byLabels.value()
		r.SetPrecision, r.SetRecall = precise.value(), recalled.value()
	}
}
