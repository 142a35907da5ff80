package trials

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"neardup/compare"
	"neardup/configs"
	"neardup/paper"
	"neardup/pipeline/costs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/sweep"
	"neardup/truth"
	"neardup/verify/pair"
	"neardup/verify/tlcs"
)

// PaperOptions are the options of Paper.
type PaperOptions struct {
	Name        string // name of the collection
	Base        configs.Config
	Truth       *truth.Truth
	TruthDigest string
	Sample      int
	Recall      float64 // wanted recall within sets, for figure 8; the paper's is 0.90
	Draw        paper.DrawOptions
	Begin       func(name string, place, of int)
}

// Values that section 4 of the TLCS paper varies. Its figures 6 and 8 have more
// points.
const (
	rotations  = "sign.rotations=1,2,3,4,6,8,12,16"
	windows    = "verify.window=1,2,4,6,8,12,16,24,32,48,64,100"
	timedTexts = 150 // all pairs of so many texts are timed
)

var slopes = []float64{0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2}

// baseline is the method against which table 1 of the TLCS paper has recall.
const baseline = "simhash"

// Paper makes the measurements of section 4 of the TLCS paper, with base in place
// of its settings. Like Compare it can be interrupted. drawn are the pages whose
// near-duplicates are to be judged for table 1. pair is a near pair of texts for figure
// 4, empty if there is none.
func Paper(ctx context.Context, w *workspace.Workspace, sources []inputs.Source, o PaperOptions) (out paper.Report, drawn *paper.Drawn, pair [2]string, err error) {
	out = paper.Report{Name: o.Name, Sample: o.Sample, Recall: o.Recall}
	names := []string{"paper", "cosine", baseline}
	plan, err := compare.NewPlan(o.Base, names, nil, false)
	if err != nil {
		return out, nil, pair, err
	}
	methods, failure := Compare(ctx, w, sources, CompareOptions{Plan: plan, Truth: o.Truth, TruthDigest: o.TruthDigest, Baseline: baseline, Begin: o.Begin,
		clustered: func(c *clusterings) error {
			pages, err := c.pagesOfMethods(w)
			drawn = paper.Draw(names, pages, o.Draw)
			return err
		}})
	if failure != nil && !errors.Is(failure, workspace.ErrInputFailure) {
		return out, drawn, pair, failure
	}
	out.Truth, out.Table1 = methods.Truth, methods.Methods
	swept := func(vary string) ([]sweep.Result, error) {
		plan, err := sweep.NewPlan(o.Base, []string{vary}, false)
		if err != nil {
			return nil, err
		}
		s, err := Sweep(ctx, w, nil, SweepOptions{Plan: plan, Truth: o.Truth, TruthDigest: o.TruthDigest, Sample: o.Sample, Repeat: 1, Begin: o.Begin})
		if err != nil && !errors.Is(err, workspace.ErrInputFailure) {
			return nil, err
		}
		return s.Results, nil
	}
	own, err := swept(rotations)
	if err != nil {
		return out, drawn, pair, err
	}
	base := own[0]
	out.Figure6 = own[1:]
	if own, err = swept(windows); err != nil {
		return out, drawn, pair, err
	}
	out.Figure7 = own[1:]

	s := &sweeper{variants: newVariants(w, 1), SweepOptions: SweepOptions{Truth: o.Truth, Sample: o.Sample}}
	if err := s.begin(o.Base, nil); err != nil {
		return out, drawn, pair, err
	}
	err = s.each([]configs.Config{o.Base}, func(int, int) error {
		o.Begin("figure 8, table 2", 1, 1)
		if err := s.runForCost(ctx); err != nil && !errors.Is(err, workspace.ErrInputFailure) {
			return err
		}
		if out.Figure8, err = s.slopes(ctx, o.Recall); err != nil {
			return err
		}
		if pair, err = s.middling(); err != nil {
			return err
		}
		return s.table2(ctx, &out.Table2)
	})
	if err != nil {
		return out, drawn, pair, err
	}
	out.Table2.Pairs, out.Table2.Seconds, out.Table2.Without2 = base.Counts.Pairs, verifySeconds(base), verifySeconds(out.Figure7[0])
	if r := base.Rates.TrustableByLabels; r != nil {
		out.Table2.AfterStep1 = *r
	}
	out.Table2.AfterStep3 = methods.Methods[0].Table1.Precision.Value
	return out, drawn, pair, failure
}

// verifySeconds returns the processor time of verify, in seconds.
func verifySeconds(r sweep.Result) float64 {
	i := slices.IndexFunc(r.Stages, func(c sweep.Cost) bool { return c.Stage == workspace.StageVerify })
	return r.Stages[i].CPU
}

// slopes makes the measurements of figure 8.
func (s *sweeper) slopes(ctx context.Context, recall float64) (out []paper.Slope, err error) {
	if err := s.loadPages(); err != nil {
		return nil, err
	}
	mates, err := s.matesOf()
	if err != nil {
		return nil, err
	}
	_, selected := s.selectPages(mates)
	var met []paper.Pair // without their scores
	var texts [][2]rows.TextID
	for _, i := range selected {
		p := s.rates.pages[i]
		for _, t := range append(evenly(mates(p.text), maxMates), p.text) {
			for _, q := range s.rates.byText[t] {
				if label, ok := s.label(p, s.rates.pages[q]); ok && label != truth.Unjudged {
					met = append(met, paper.Pair{Document: i, Near: label == truth.Near})
					texts = append(texts, textPair(p.text, t))
				}
			}
		}
	}
	different := slices.Clone(texts)
	sort.Slice(different, func(i, j int) bool {
		a, b := different[i], different[j]
		return cmp.Or(rows.CompareTexts(a[0], b[0]), rows.CompareTexts(a[1], b[1])) < 0
	})
	different = slices.Compact(different)
	for _, slope := range slopes {
		scores, err := s.scoresAt(ctx, slope, different)
		if err != nil {
			return nil, err
		}
		for i := range met {
			met[i].Score = scores[texts[i]]
		}
		point := paper.AtRecall(met, recall)
		point.Slope = slope
		out = append(out, point)
	}
	return out, nil
}

// scoresAt returns the resemblances of pairs at a slope. That of a text with itself
// is 1.
func (s *sweeper) scoresAt(ctx context.Context, slope float64, pairs [][2]rows.TextID) (map[[2]rows.TextID]float64, error) {
	docs, err := stages.NewTexts(s.Workspace)
	if err != nil {
		return nil, err
	}
	o := s.Config.Verify.Options
	o.Slope = slope
	scores := make([]float64, len(pairs))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range s.Options.Workers {
		g.Go(func() error {
			c := tlcs.NewComparer(o)
			for i := int(next.Add(1) - 1); i < len(pairs) && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				if scores[i] = 1; pairs[i][0] == pairs[i][1] {
					continue
				}
				var d [2]*tlcs.Document
				for side, t := range pairs[i] {
					text, err := docs.Get(t)
					if err != nil {
						return err
					}
					d[side] = text.Scored().(*tlcs.Document)
				}
				scores[i] = c.Score(d[0], d[1]).Resemblance
			}
			return ctx.Err()
		})
	}
	err = g.Wait()
	out := map[[2]rows.TextID]float64{}
	for i, p := range pairs {
		out[p] = scores[i]
	}
	return out, err
}

// middling returns the near pair whose resemblance is closest to the middle between
// the threshold and 1; among equals, the first. If nearly all of two texts is
// equal, figure 4 shows little.
func (s *sweeper) middling() (out [2]string, err error) {
	middle, best := (1+s.Config.Verify.Resemblance)/2, 2.0
	var pair [2]rows.TextID
	for l, err := range results.NearPairs(s.Workspace) {
		if err != nil {
			return out, err
		}
		if d := max(l.Score.Resemblance-middle, middle-l.Score.Resemblance); d < best {
			best, pair = d, [2]rows.TextID{l.Leader.ID(), l.Member.ID()}
		}
	}
	if best > 1 {
		return out, nil
	}
	c, err := results.OpenReader(s.Workspace).Compare(pair[0], pair[1])
	return c.Texts, err
}

// table2 times all pairs of some texts, in succession.
func (s *sweeper) table2(ctx context.Context, t *paper.Table2) error {
	docs, err := stages.NewTexts(s.Workspace)
	if err != nil {
		return err
	}
	var all []rows.TextID
	for id := range s.rates.byText {
		all = append(all, id)
	}
	slices.SortFunc(all, rows.CompareTexts)
	var texts []*pair.Text
	for _, id := range evenly(all, timedTexts) {
		text, err := docs.Get(id)
		if err != nil {
			return err
		}
		texts = append(texts, text)
	}
	c := docs.Judge.Comparers(1)[0]
	begun, clock := costs.CPUSeconds(), time.Now()
	for i, a := range texts {
		for _, b := range texts[:i] {
			docs.Judge.Decide(c, a, b)
			t.Timed++
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	seconds := costs.CPUSeconds() - begun
	if seconds <= 0 { // unknown on this system
		seconds = time.Since(clock).Seconds()
	}
	t.Texts, t.AllPairs = len(all), int64(len(all))*int64(len(all)-1)/2
	if t.Timed > 0 {
		t.Without1 = seconds * float64(t.AllPairs) / float64(t.Timed)
	}
	return nil
}
