package audit

import (
	"maps"
	"math"
	"slices"
)

// z is the quantile of the normal distribution for a 95% interval.
const z = 1.959963984540054

// wilson returns the score interval of a share p of n (Wilson, Probable inference,
// the law of succession, and statistical inference, JASA 22, 1927).
func wilson(p, n float64) (low, high float64) {
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, min(p, centre-half)), min(1, max(p, centre+half))
}

// Evaluate returns the result of a sample's judgements. judgements[i] are those of
// items[i], at most one per judge.
func Evaluate(a Audit, items []Item, judgements [][]Judgement) Result {
	r := Result{Audit: a}
	verdicts := make([]Verdict, len(items))
	byJudge := map[string][]Verdict{}
	var units [][]Verdict
	for i, given := range judgements {
		if len(given) == 0 {
			continue
		}
		var unit []Verdict
		for _, j := range given {
			if byJudge[j.Judge] == nil {
				byJudge[j.Judge] = make([]Verdict, len(items))
			}
			byJudge[j.Judge][i] = j.Verdict
			unit = append(unit, j.Verdict)
		}
		units = append(units, unit)
		verdicts[i] = majority(unit)
		r.Judged++
		if verdicts[i] == Unknown {
			r.Unknown++
		}
		if slices.ContainsFunc(unit, func(v Verdict) bool { return v != unit[0] }) {
			r.Disputed = append(r.Disputed, i)
		}
	}
	e := estimator{a, items}
	r.Overall = e.estimate(verdicts, all)
	r.SameSite = e.estimate(verdicts, sameSite)
	r.CrossSite = e.estimate(verdicts, crossSite)
	for h := range a.Strata {
		r.Strata = append(r.Strata, e.estimate(verdicts, part{
			item:    func(i *Item) bool { return i.Stratum == h },
			stratum: func(s int, _ *Stratum) bool { return s == h },
		}))
	}
	for _, name := range slices.Sorted(maps.Keys(byJudge)) {
		j := JudgeResult{Judge: name, Overall: e.estimate(byJudge[name], all)}
		for _, v := range byJudge[name] {
			switch v {
			case True:
				j.True++
			case False:
				j.False++
			case Unknown:
				j.Unknown++
			}
		}
		r.Judges = append(r.Judges, j)
	}
	r.Agreement = agreement(units)
	r.causes(items, verdicts, judgements)
	return r
}

// causes sets the shares of the causes of false positives.
func (r *Result) causes(items []Item, verdicts []Verdict, judgements [][]Judgement) {
	weights, pairs, total := map[Cause]float64{}, map[Cause]int{}, 0.0
	decided := make([]float64, len(r.Audit.Strata)) // draws
	for i, v := range verdicts {
		if s := items[i].Stratum; v != Unknown && s < len(decided) {
			decided[s] += float64(items[i].Draws)
		}
	}
	for i, v := range verdicts {
		if v != False {
			continue
		}
		cause := causeOf(judgements[i])
		if cause == "" {
			r.Uncaused++
			continue
		}
		weight := float64(items[i].Draws)
		if s := items[i].Stratum; s < len(decided) {
			weight *= float64(r.Audit.Strata[s].Population) / decided[s]
		}
		weights[cause] += weight
		pairs[cause]++
		total += weight
	}
	for _, cause := range Causes {
		if pairs[cause] > 0 {
			r.Causes = append(r.Causes, CauseResult{cause, pairs[cause], weights[cause] / total})
		}
	}
}

// causeOf returns the cause that most judges of a false pair name. It is empty if
// none does, or if several are named equally often.
func causeOf(given []Judgement) (cause Cause) {
	votes := map[Cause]int{}
	for _, j := range given {
		if j.Cause != "" {
			votes[j.Cause]++
		}
	}
	most := 0
	for _, c := range Causes {
		switch n := votes[c]; {
		case n > most:
			most, cause = n, c
		case n == most && n > 0:
			cause = ""
		}
	}
	return cause
}

// majority returns the verdict of most judges who say true or false. It is Unknown
// if they are evenly divided, or if nobody says either.
func majority(verdicts []Verdict) Verdict {
	n := 0
	for _, v := range verdicts {
		switch v {
		case True:
			n++
		case False:
			n--
		}
	}
	switch {
	case n > 0:
		return True
	case n < 0:
		return False
	}
	return Unknown
}

// part is a part of a sample to estimate: some of the items, and their strata.
type part struct {
	item    func(*Item) bool
	stratum func(int, *Stratum) bool
}

var (
	all       = part{func(*Item) bool { return true }, func(int, *Stratum) bool { return true }}
	sameSite  = part{func(i *Item) bool { return i.SameSite }, func(_ int, s *Stratum) bool { return s.SameSite }}
	crossSite = part{func(i *Item) bool { return !i.SameSite }, func(_ int, s *Stratum) bool { return !s.SameSite }}
)

type estimator struct {
	audit Audit
	items []Item
}

// tally has the decided pairs of a stratum, weighted by draws. Pairs of unequal
// weight make a sample of size (sum of draws)² / (sum of draws²) (Kish, Survey
// sampling, 1965).
type tally struct{ yes, draws, squares float64 }

// estimate returns the precision of a part. A stratum counts by its number of pairs
// (stratified sampling; a sample that is not stratified is one stratum). The
// interval is Wilson's for an effective sample size, after Korn and Graubard
// (Confidence intervals for proportions with small expected number of positive
// counts estimated from survey data, Survey Methodology 24, 1998): the size of the
// simple random sample with the same variance. They estimate the variance, which
// shows hardly any if nearly all pairs are true. We take its upper bound, p(1-p)
// max(W/n) over the shares W of strata and the numbers n of pairs judged in them:
// the sum of W²p(1-p)/n over strata is at most that, whatever the p of each. So the
// interval is rather too wide.
func (e estimator) estimate(verdicts []Verdict, of part) Interval {
	out := Interval{High: 1}
	strata := make([]tally, max(1, len(e.audit.Strata)))
	for i := range e.items {
		item := &e.items[i]
		if v := verdicts[i]; !of.item(item) || v != True && v != False {
			continue
		} else if v == True {
			out.True++
			strata[item.Stratum].yes += float64(item.Draws)
		} else {
			out.False++
		}
		draws := float64(item.Draws)
		strata[item.Stratum].draws += draws
		strata[item.Stratum].squares += draws * draws
	}
	var covered, missing float64
	for h := range e.audit.Strata {
		s := &e.audit.Strata[h]
		switch population := e.weight(s); {
		case e.audit.Design.Stratified && !of.stratum(h, s):
		case strata[h].draws > 0:
			covered += population
		default:
			missing += population
			if e.audit.Design.Stratified {
				out.Missing = append(out.Missing, h)
			}
		}
	}
	if covered == 0 {
		return out
	}
	var most float64
	for h := range e.audit.Strata {
		t := strata[h]
		if t.draws == 0 {
			continue
		}
		share := e.weight(&e.audit.Strata[h]) / covered
		n := t.draws * t.draws / t.squares
		out.Value += share * t.yes / t.draws
		most = max(most, share/n)
	}
	out.Value = min(1, out.Value)
	low, high := wilson(out.Value, 1/most)
	known := covered / (covered + missing)
	out.Low, out.High = known*low, known*high+(1-known)
	return out
}

func (e estimator) weight(s *Stratum) float64 {
	if !e.audit.Design.Stratified {
		return 1
	}
	return float64(s.Population)
}
