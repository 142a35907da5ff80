package review_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"neardup/audit"
	"neardup/review"
	"neardup/uris"
)

// fakeAuditor keeps samples and judgements in memory.
type fakeAuditor struct {
	mu         sync.Mutex
	archive    *fake
	audits     map[string]*fakeAudit
	judgements map[audit.Pair]map[string]audit.Judgement
	change     func(*audit.Result) // nil: results are as they are
}

type fakeAudit struct {
	audit.Audit
	items []audit.Item
}

func (f *fakeAuditor) Audits(context.Context) (all []audit.Audit, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.audits)) {
		all = append(all, f.audits[name].Audit)
	}
	return all, nil
}

func (f *fakeAuditor) Draw(_ context.Context, name string, d audit.Design) (audit.Audit, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.audits[name] != nil {
		return audit.Audit{}, fmt.Errorf("%w: there is an audit %s already", review.ErrRefused, name)
	}
	a := &fakeAudit{Audit: audit.Audit{Name: name, Design: d, Generation: "1", Current: true, Drawn: "2026-01-05T10:00:00Z",
		Strata: []audit.Stratum{{Name: "same site", Population: 900}, {Name: "two sites", Population: 300}}}}
	rng := rand.New(rand.NewPCG(d.Seed, 1))
	drawn := map[audit.Pair]bool{}
	for tries := 0; len(a.items) < d.Size && tries < 100*d.Size; tries++ {
		c := f.archive.clusters[rng.IntN(len(f.archive.clusters))]
		x, y := c.members[rng.IntN(len(c.members))], c.members[rng.IntN(len(c.members))]
		if y.record < x.record {
			x, y = y, x
		}
		if x == y || drawn[audit.NewPair(x.record, y.record)] {
			continue
		}
		drawn[audit.NewPair(x.record, y.record)] = true
		item := audit.Item{Pair: audit.NewPair(x.record, y.record), Documents: [2]string{x.document, y.document}, URIs: [2]string{x.uri, y.uri},
			Dates: [2]string{x.date, y.date}, Cluster: c.row.ID, Draws: 1, SameSite: uris.Host(x.uri) == uris.Host(y.uri), Resemblance: float64(y.member.Resemblance)}
		if !item.SameSite {
			item.Stratum = 1
		}
		a.Strata[item.Stratum].Sampled++
		a.items = append(a.items, item)
	}
	a.Size = len(a.items)
	f.audits[name] = a
	return a.Audit, nil
}

func (f *fakeAuditor) find(name string) (*fakeAudit, error) {
	if a := f.audits[name]; a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("audit %s: %w", name, review.ErrNotFound)
}

func (f *fakeAuditor) Audit(_ context.Context, name string) (audit.Audit, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, err := f.find(name)
	if err != nil {
		return audit.Audit{}, err
	}
	return a.Audit, nil
}

func (f *fakeAuditor) Item(_ context.Context, name string, i int) (audit.Item, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, err := f.find(name)
	if err != nil {
		return audit.Item{}, err
	}
	if i < 0 || i >= len(a.items) {
		return audit.Item{}, fmt.Errorf("item %d: %w", i, review.ErrNotFound)
	}
	return a.items[i], nil
}

func (f *fakeAuditor) Judge(_ context.Context, j audit.Judgement) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.judgements[j.Pair] == nil {
		f.judgements[j.Pair] = map[string]audit.Judgement{}
	}
	j.Time = "2026-01-05T11:00:00Z"
	f.judgements[j.Pair][j.Judge] = j
	return nil
}

func (f *fakeAuditor) Withdraw(_ context.Context, p audit.Pair, judge string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.judgements[p], judge)
	return nil
}

func (f *fakeAuditor) Judgements(_ context.Context, p audit.Pair) (out []audit.Judgement, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.judgements[p])) {
		out = append(out, f.judgements[p][name])
	}
	return out, nil
}

func (f *fakeAuditor) Progress(_ context.Context, name, judge string) (p audit.Progress, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, err := f.find(name)
	if err != nil {
		return p, err
	}
	p = audit.Progress{Size: a.Size, Next: -1}
	for i, item := range a.items {
		v := f.judgements[item.Pair][judge].Verdict
		p.Given = append(p.Given, v)
		switch {
		case v != "":
			p.Judged++
		case p.Next < 0:
			p.Next = i
		}
	}
	return p, nil
}

// count adds a verdict. The interval is a rough one: the real one is package audit's.
func count(i *audit.Interval, v audit.Verdict) {
	switch v {
	case audit.True:
		i.True++
	case audit.False:
		i.False++
	}
	if n := float64(i.True + i.False); n > 0 {
		i.Value = float64(i.True) / n
		i.Low, i.High = max(0, i.Value-1/(n+1)), min(1, i.Value+1/(n+1))
	}
}

func (f *fakeAuditor) Result(_ context.Context, name string) (r audit.Result, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, err := f.find(name)
	if err != nil {
		return r, err
	}
	r = audit.Result{Audit: a.Audit, Strata: make([]audit.Interval, len(a.Strata))}
	for _, given := range f.judgements {
		for _, j := range given {
			if j.Cause != "" {
				r.Causes = []audit.CauseResult{{Cause: j.Cause, Pairs: 2, Share: 0.25}}
			}
		}
	}
	judges := map[string]*audit.JudgeResult{}
	for i, item := range a.items {
		verdicts := map[audit.Verdict]bool{}
		for name, j := range f.judgements[item.Pair] {
			if judges[name] == nil {
				judges[name] = &audit.JudgeResult{Judge: name}
			}
			count(&judges[name].Overall, j.Verdict)
			if j.Verdict == audit.Unknown {
				judges[name].Unknown++
			}
			verdicts[j.Verdict] = true
		}
		if len(verdicts) == 0 {
			continue
		}
		r.Judged++
		if len(verdicts) > 1 {
			r.Disputed = append(r.Disputed, i)
			r.Unknown++
			continue
		}
		for v := range verdicts {
			if v == audit.Unknown {
				r.Unknown++
			}
			count(&r.Overall, v)
			count(&r.Strata[item.Stratum], v)
			if item.SameSite {
				count(&r.SameSite, v)
			} else {
				count(&r.CrossSite, v)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(judges)) {
		j := judges[name]
		j.True, j.False = j.Overall.True, j.Overall.False
		r.Judges = append(r.Judges, *j)
	}
	if len(r.Judges) > 1 {
		r.Agreement = &audit.Agreement{Pairs: r.Judged, Observed: 1 - float64(len(r.Disputed))/float64(max(1, r.Judged)), Alpha: 0.71}
	}
	if f.change != nil {
		f.change(&r)
	}
	return r, nil
}

func (f *fakeAuditor) Labels(ctx context.Context, name string) (audit.Labels, error) {
	a, err := f.find(name)
	if err != nil {
		return audit.Labels{}, err
	}
	given := make([][]audit.Judgement, len(a.items))
	for i, it := range a.items {
		given[i], _ = f.Judgements(ctx, it.Pair)
	}
	return audit.NewLabels(a.Audit, a.items, given), nil
}

func (f *fakeAuditor) Truth(_ context.Context, name string) (pages, pairs []byte, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, err := f.find(name)
	if err != nil {
		return nil, nil, err
	}
	var p, q bytes.Buffer
	for i, item := range a.items {
		fmt.Fprintf(&p, "p%d\t%s\n", i, item.A)
		for _, j := range f.judgements[item.Pair] {
			fmt.Fprintf(&q, "%s\t%s\t%s\n", item.A, item.B, j.Verdict)
		}
	}
	return p.Bytes(), q.Bytes(), nil
}

func (f *fakeAuditor) Enforced(_ context.Context, after string, limit int) (l review.EnforcedList, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, err := begin(after)
	if err != nil {
		return l, err
	}
	byRecord := map[string]*fakePage{}
	for _, p := range f.archive.pages {
		byRecord[p.record] = p
	}
	var all []review.EnforcedPair
	for p, given := range f.judgements {
		one := review.EnforcedPair{Pair: p, State: "pending"}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if j := given[name]; j.Enforce && j.Verdict != audit.Unknown {
				one.Verdict, one.Judges = j.Verdict, append(one.Judges, name)
			}
		}
		for i, record := range [2]string{p.A, p.B} {
			if page := byRecord[record]; page != nil {
				one.Documents[i], one.URIs[i] = page.document, page.uri
			}
		}
		if len(one.Judges) > 0 {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b review.EnforcedPair) int { return bytes.Compare([]byte(a.A+a.B), []byte(b.A+b.B)) })
	for i := from; i < len(all); i++ {
		if len(l.Pairs) == limit {
			l.Next = strconv.Itoa(i)
			break
		}
		l.Pairs = append(l.Pairs, all[i])
	}
	return l, nil
}
