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

// cluster is what is known of the cluster whose parts come.
type cluster struct {
	hosts      map[string]int64
	duplicates int64 // bytes of members other than the first
	texts      map[string]bool
	shown      *shownCluster // nil if it is none of the largest
}

// cluster counts a cluster or a part of one, keeps it if it is one of the largest, and
// samples its pairs.
func (g *statistics) cluster(c report.Cluster) error {
	g.Summary.Add(c)
	x := &g.present
	if c.From == 0 {
		*x = cluster{hosts: map[string]int64{}, texts: map[string]bool{c.Members[0].Text: true}}
		if slices.ContainsFunc(g.largest[:], func(l largest) bool { return l.wants(c) }) {
			x.shown = newShown(c)
		}
	}
	for i, m := range c.Members {
		counts := static.Counts{Clustered: 1}
		if c.From+i > 0 {
			counts.Duplicates, counts.DuplicateBytes = 1, m.Bytes
			x.duplicates += m.Bytes
		}
		x.hosts[m.Site]++
		g.Totals.Add(counts)
		if err := g.count(m.Site, m.Date, counts); err != nil {
			return err
		}
		g.member(m)
		if x.shown != nil {
			x.shown.member(m)
		}
		if x.texts[m.Text] {
			continue
		}
		x.texts[m.Text] = true
		g.pair(pair{cluster: c.ID, documents: [2]string{m.AgainstDocument, m.Document}, texts: [2]string{m.AgainstText, m.Text}, member: m})
	}
	if c.More {
		return nil
	}
	span, kind := &g.Within, &g.largest[1]
	if len(x.hosts) > 1 {
		span, kind = &g.Across, &g.largest[2]
	}
	span.Clusters++
	span.Pages += int64(c.Size)
	span.Duplicates += int64(c.Size - 1)
	span.Bytes += x.duplicates
	if g.largest[0].wants(c) || kind.wants(c) {
		kept := x.shown.kept(x.hosts, x.duplicates)
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

// shownCluster is what is kept of a cluster, while its members come. Values of any length
// are cut.
type shownCluster struct {
	*keptCluster
	evidence     map[report.Relation]*static.Evidence
	at           map[string]int // places of the shown members, from 1, by docID
	against      []string       // docIDs, of the shown members
	least, drawn *pair          // the pair with the lowest resemblance; a random one
}

func newShown(c report.Cluster) *shownCluster {
	first := c.Members[0]
	return &shownCluster{keptCluster: &keptCluster{Cluster: static.Cluster{ID: c.ID, Size: c.Size, Page: shownPage(first), Lowest: 1}, document: first.Document},
		evidence: map[report.Relation]*static.Evidence{}, at: map[string]int{}}
}

func (k *shownCluster) member(m report.Member) {
	addEvidence(k.evidence, m)
	if _, ok := report.Month(m.Date); ok {
		date := shownDate(m.Date)
		k.First, k.Last = min(cmp.Or(k.First, date), date), max(k.Last, date)
	}
	k.Lowest = min(k.Lowest, m.Resemblance)
	if len(k.Members) == static.MaxMembers {
		return
	}
	member := static.Member{Page: shownPage(m), Bytes: m.Bytes, Relation: m.Relation, Resemblance: m.Resemblance, Containment: m.Containment}
	if len(k.Members) > 0 {
		member.Against = screen.Characters(m.VerifiedAgainst, shownText)
	}
	k.Members, k.against = append(k.Members, member), append(k.against, m.AgainstDocument)
	k.at[m.Document] = len(k.Members)
}

// kept returns what is kept, once all members have come.
func (k *shownCluster) kept(hosts map[string]int64, duplicates int64) *keptCluster {
	k.HostSum, k.Bytes = len(hosts), duplicates
	for i := 1; i < len(k.Members); i++ {
		k.Members[i].AgainstAt = k.at[k.against[i]]
	}
	for _, relation := range static.Relations {
		if e := k.evidence[relation]; e != nil {
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
	if k.least != nil {
		k.least.name = "Least alike"
		k.pairs = []pair{*k.least}
		if k.drawn.texts != k.least.texts {
			k.drawn.name = "Drawn at random"
			k.pairs = append(k.pairs, *k.drawn)
		}
	}
	return k.keptCluster
}

func shownPage(m report.Member) static.Page {
	return static.Page{RecordID: screen.Characters(m.RecordID, shownText), URI: screen.Characters(m.URI, shownText), Date: shownDate(m.Date)}
}

func shownDate(date string) string {
	return screen.Characters(date, len("2006-01-02T15:04:05.999999999Z"))
}
