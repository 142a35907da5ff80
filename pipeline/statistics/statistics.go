// Package statistics gathers the data for the report of a run.
package statistics

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"neardup/configs"
	"neardup/keep"
	"neardup/pipeline/groups"
	"neardup/pipeline/keeping"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/report/static"
	"neardup/screen"
)

const (
	topHosts   = 50
	maxPeriods = 60  // months; with more, periods are years
	maxColumns = 84  // columns of a plot of months; with more, periods are years
	shownText  = 500 // code points of a URI or another value that are kept of a page
)

// Options are the options of the statistics.
type Options struct {
	Title   string
	Samples int // number of pairs whose differences are shown
	Seed    uint64
}

// Gather gathers the data for the report of the run: totals by host and month in
// one pass over the documents, and everything else in one pass over the clusters.
// Memory does not grow with the number of pages, hosts or clusters; it holds one
// cluster at a time.
func Gather(ctx context.Context, w *workspace.Workspace, o Options) (static.Report, error) {
	if err := w.Current(workspace.StageVerify); err != nil {
		return static.Report{}, err
	}
	r, err := gather(ctx, w, o)
	return r, w.ExplainError(err)
}

func gather(ctx context.Context, w *workspace.Workspace, o Options) (_ static.Report, err error) {
	s, err := results.StagesSummary(w)
	if err != nil {
		return static.Report{}, err
	}
	s.Stages = nil
	g := &statistics{w: w, o: o, hosts: newTally(w.DB), months: newTally(w.DB), bands: make([]sample, scoreBands),
		largest: [3]largest{{limit: largestClusters}, {limit: largestOfSpan}, {limit: largestOfSpan}}}
	g.Statistics = static.Statistics{Program: "neardup " + workspace.Version(), Method: methodOf(w.Config), Seed: o.Seed, Summary: s}
	for i := range g.bands {
		g.bands[i].limit = o.Samples
	}
	defer func() { err = errors.Join(err, g.hosts.close(), g.months.close()) }()
	if err := g.documents(ctx); err != nil {
		return static.Report{}, err
	}
	rules, err := keeping.Rules(w, keep.Default(), true)
	if err != nil {
		return static.Report{}, err
	}
	g.Keep.Rules = rules.String()
	for c, err := range keeping.Clusters(ctx, w, rules) {
		if err == nil {
			for i, choice := range c.Choices {
				g.Keep.Add(choice, c.Members[i])
			}
			err = g.cluster(c.Cluster)
		}
		if err != nil {
			return static.Report{}, err
		}
	}
	if err := errors.Join(ctx.Err(), g.finish()); err != nil {
		return static.Report{}, err
	}
	return g.report(ctx)
}

// statistics is the state of Gather.
type statistics struct {
	static.Statistics
	w             *workspace.Workspace
	o             Options
	hosts, months *tally
	undated       static.Counts
	evidence      map[report.Relation]*static.Evidence
	resemblance   scoreCounts
	containment   scoreCounts
	present       cluster
	largest       [3]largest // of all clusters; of those of one host; of those of several
	bands         []sample   // samples of pairs, by resemblance
}

// count adds the counts of a page.
func (g *statistics) count(site, date string, c static.Counts) error {
	month, ok := report.Month(date)
	if !ok {
		g.undated.Add(c)
		return g.hosts.add(site, c)
	}
	return errors.Join(g.hosts.add(site, c), g.months.add(month, c))
}

// documents counts all pages.
func (g *statistics) documents(ctx context.Context) error {
	for d, err := range results.Documents[groups.DocumentView](g.w) {
		if err != nil {
			return err
		}
		c := static.Counts{Pages: 1, Bytes: d.Row.Bytes}
		g.Totals.Add(c)
		if err := g.count(d.Row.Site, d.Row.Date, c); err != nil {
			return err
		}
		if g.Totals.Pages&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// finish converts the counts for the report.
func (g *statistics) finish() error {
	for _, relation := range static.Relations {
		if e := g.evidence[relation]; e != nil {
			g.Evidence = append(g.Evidence, *e)
		}
	}
	g.Scores.Resemblance.Median, g.Scores.Resemblance.Tenth = g.resemblance.quantile(2), g.resemblance.quantile(10)
	g.Scores.Containment.Median, g.Scores.Containment.Tenth = g.containment.quantile(2), g.containment.quantile(10)
	return errors.Join(g.topHosts(), g.periods())
}

func (g *statistics) topHosts() error {
	h := &g.Hosts
	for host, err := range g.hosts.named() {
		if err != nil {
			return err
		}
		h.Hosts++
		if host.Duplicates > 0 {
			h.Duplicates++
		}
		at, _ := slices.BinarySearchFunc(h.Top, host, func(a, b static.Named) int {
			return cmp.Or(cmp.Compare(b.DuplicateBytes, a.DuplicateBytes), cmp.Compare(b.Duplicates, a.Duplicates),
				cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Name, b.Name))
		})
		h.Top = slices.Insert(h.Top, at, host)
		if len(h.Top) > topHosts {
			h.Others.Add(h.Top[topHosts].Counts)
			h.Top = h.Top[:topHosts]
		}
	}
	for i := range h.Top {
		h.Top[i].Name = screen.Characters(h.Top[i].Name, shownText)
	}
	return nil
}

// periods sets the periods: months, or years if there are many months. If there are
// many years, which only wrong clocks cause, those with the most pages are listed.
func (g *statistics) periods() error {
	p := &g.Periods
	p.Unit, p.Undated = "month", g.undated
	for month, err := range g.months.named() {
		if err != nil {
			return err
		}
		p.Periods = append(p.Periods, month)
	}
	if len(p.Periods) <= maxPeriods && p.Columns() <= maxColumns {
		return nil
	}
	p.Unit = "year"
	var years []static.Named
	for _, month := range p.Periods {
		year, _, _ := strings.Cut(month.Name, "-")
		if n := len(years); n == 0 || years[n-1].Name != year {
			years = append(years, static.Named{Name: year})
		}
		years[len(years)-1].Add(month.Counts)
	}
	if len(years) > maxPeriods {
		sort.Slice(years, func(i, j int) bool {
			a, b := years[i], years[j]
			return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Name, b.Name)) < 0
		})
		for _, year := range years[maxPeriods:] {
			p.Others.Add(year.Counts)
		}
		years = years[:maxPeriods]
		sort.Slice(years, func(i, j int) bool {
			a, b := years[i], years[j]
			return cmp.Compare(a.Name, b.Name) < 0
		})
	}
	p.Periods = years
	return nil
}

// methodOf returns the names of the parts of a method and the settings that they
// use.
func methodOf(c configs.Config) static.Method {
	parts := []string{"signatures " + c.Sign.Scheme, "search " + c.Cluster.Search, "measure " + c.Verify.Measure}
	if !c.Signs() {
		parts = parts[1:]
	}
	m := static.Method{Name: strings.Join(parts, ", ")}
	values := map[string]string{}
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		if inner, ok := v.(map[string]any); ok {
			for key, v := range inner {
				walk(strings.TrimPrefix(prefix+"."+key, "."), v)
			}
			return
		}
		values[prefix] = fmt.Sprint(v)
	}
	for _, used := range []map[string]any{c.UsedBySign(), c.UsedByCluster(), c.UsedByVerify()} {
		b, err := json.Marshal(used)
		if err != nil {
			panic(err) // settings are plain values
		}
		var plain any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber() // numbers as they are written
		_ = d.Decode(&plain)
		walk("", plain)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		m.Settings = append(m.Settings, static.Setting{Key: key, Value: values[key]})
	}
	return m
}
