package statistics

import (
	"cmp"
	"math"
	"slices"

	"neardup/report"
	"neardup/report/static"
	"neardup/screen"
)

const (
	largestClusters = 100 // clusters with a page of their own in the report
	largestOfSpan   = 5   // of these, clusters of one host, and of several
	hostsOfCluster  = 20
)

// cluster counts a cluster, keeps it if it is one of the largest, and samples its
// pairs.
func (g *statistics) cluster(c report.Cluster) error {
	g.Summary.Add(c)
	hosts := map[string]int64{}
	var duplicates int64 // bytes of members other than the first
	for i, m := range c.Members {
		counts := static.Counts{Clustered: 1}
		if i > 0 {
			counts.Duplicates, counts.DuplicateBytes = 1, m.Bytes
			duplicates += m.Bytes
		}
		hosts[m.Site]++
		g.Totals.Add(counts)
		if err := g.count(m.Site, m.Date, counts); err != nil {
			return err
		}
		g.member(m)
	}
	span, kind := &g.Within, &g.largest[1]
	if len(hosts) > 1 {
		span, kind = &g.Across, &g.largest[2]
	}
	span.Clusters++
	span.Pages += int64(c.Size)
	span.Duplicates += int64(c.Size - 1)
	span.Bytes += duplicates
	g.pairs(c)
	if g.largest[0].wants(c) || kind.wants(c) {
		kept := g.shown(c, hosts, duplicates)
		g.largest[0].add(kept)
		kind.add(kept)
	}
	return nil
}

// member counts a page by its relation and scores.
func (g *statistics) member(m report.Member) {
	if g.evidence == nil {
		g.evidence = map[report.Relation]*static.Evidence{}
	}
	addEvidence(g.evidence, m)
	if m.Relation == report.Representative || m.Relation == report.Identical {
		return
	}
	g.Scores.Pages++
	for _, s := range []struct {
		score  report.Score
		counts *scoreCounts
		bins   *[static.Bins]static.Bin
	}{
		{m.Resemblance, &g.resemblance, &g.Scores.Resemblance.Bins},
		{m.Containment, &g.containment, &g.Scores.Containment.Bins},
	} {
		s.counts.add(s.score)
		bin := &s.bins[bucket(s.score, static.Bins)]
		switch m.Relation {
		case report.Linked, report.Judged:
			bin.Linked++
		case report.Contained, report.Contains:
			bin.Contained++
		default:
			bin.Near++
		}
	}
}

func addEvidence(all map[report.Relation]*static.Evidence, m report.Member) {
	e := all[m.Relation]
	if e == nil {
		e = &static.Evidence{Relation: m.Relation}
		all[m.Relation] = e
	}
	e.Pages++
	e.Bytes += m.Bytes
}

// scoreCounts counts scores by their four decimals.
type scoreCounts struct {
	of  [scoreSteps + 1]int64
	all int64
}

const scoreSteps = 10_000

func (s *scoreCounts) add(x report.Score) {
	s.of[whole(math.Round(float64(x)*scoreSteps), scoreSteps)]++
	s.all++
}

// quantile returns the smallest score that at least an n-th of all scores do not
// exceed, or 0 if there are none.
func (s *scoreCounts) quantile(n int64) report.Score {
	below := int64(0)
	for i, count := range s.of {
		if below += count; count > 0 && n*below >= s.all {
			return report.Score(float64(i) / scoreSteps)
		}
	}
	return 0
}

// bucket returns the index of the score's bucket, of n equal ones. A score of 1
// belongs to the last one.
func bucket(s report.Score, n int) int { return whole(float64(s)*float64(n), n-1) }

// whole returns x without its fraction, limited to 0 to limit, since damage may
// give any number.
func whole(x float64, limit int) int {
	switch {
	case !(x > 0):
		return 0
	case x >= float64(limit):
		return limit
	}
	return int(x)
}

// largest holds the largest clusters added, ordered by size, then by ID.
type largest struct {
	limit int
	of    []*keptCluster
}

func (l *largest) place(size int, id string) int {
	at, _ := slices.BinarySearchFunc(l.of, size, func(k *keptCluster, size int) int {
		return cmp.Or(cmp.Compare(size, k.Size), cmp.Compare(k.ID, id))
	})
	return at
}

func (l *largest) wants(c report.Cluster) bool { return l.place(c.Size, c.ID) < l.limit }

func (l *largest) add(k *keptCluster) {
	if at := l.place(k.Size, k.ID); at < l.limit {
		l.of = slices.Insert(l.of, at, k)
		l.of = l.of[:min(len(l.of), l.limit)]
	}
}

// keptCluster is a cluster that may get a page, with the pairs whose differences
// are shown there.
type keptCluster struct {
	static.Cluster
	document string // docID of the representative
	pairs    []pair
}

// shown returns what is kept of a cluster. Values of any length are cut.
func (g *statistics) shown(c report.Cluster, hosts map[string]int64, duplicates int64) *keptCluster {
	k := &keptCluster{Cluster: static.Cluster{ID: c.ID, Size: c.Size, Page: shownPage(c.Members[0]), HostSum: len(hosts),
		Bytes: duplicates, Lowest: 1}, document: c.Members[0].Document}
	at := map[string]int{}
	evidence := map[report.Relation]*static.Evidence{}
	for i, m := range c.Members {
		addEvidence(evidence, m)
		if _, ok := report.Month(m.Date); ok {
			date := shownDate(m.Date)
			k.First, k.Last = min(cmp.Or(k.First, date), date), max(k.Last, date)
		}
		k.Lowest = min(k.Lowest, m.Resemblance)
		if i < static.MaxMembers {
			at[m.Document] = i + 1
		}
	}
	for i, m := range c.Members[:min(len(c.Members), static.MaxMembers)] {
		member := static.Member{Page: shownPage(m), Bytes: m.Bytes, Relation: m.Relation, Resemblance: m.Resemblance, Containment: m.Containment}
		if i > 0 {
			member.Against, member.AgainstAt = screen.Characters(m.VerifiedAgainst, shownText), at[m.AgainstDocument]
		}
		k.Members = append(k.Members, member)
	}
	for _, relation := range static.Relations {
		if e := evidence[relation]; e != nil {
			k.By = append(k.By, *e)
		}
	}
	for host, pages := range hosts {
		named := static.Named{Name: host, Counts: static.Counts{Clustered: pages}}
		i, _ := slices.BinarySearchFunc(k.Hosts, named, func(a, b static.Named) int {
			return cmp.Or(cmp.Compare(b.Clustered, a.Clustered), cmp.Compare(a.Name, b.Name))
		})
		if i < hostsOfCluster {
			k.Hosts = slices.Insert(k.Hosts, i, named)
			k.Hosts = k.Hosts[:min(len(k.Hosts), hostsOfCluster)]
		}
	}
	for i := range k.Hosts {
		k.Hosts[i].Name = screen.Characters(k.Hosts[i].Name, shownText)
	}
	k.pairs = g.pairsOf(c)
	return k
}

func shownPage(m report.Member) static.Page {
	return static.Page{RecordID: screen.Characters(m.RecordID, shownText), URI: screen.Characters(m.URI, shownText), Date: shownDate(m.Date)}
}

func shownDate(date string) string {
	return screen.Characters(date, len("2006-01-02T15:04:05.999999999Z"))
}
