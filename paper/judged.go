package paper

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"neardup/audit"
	"neardup/compare"
	"neardup/truth"
)

// Page is a page of a collection, with its cluster by each method.
type Page struct {
	RecordID string // without duplicates
	Site     string // empty without a site
	Text     int32  // identifies its text
	Clusters []int32
}

// DrawOptions say how many pairs of pages are judged for table 1.
type DrawOptions struct {
	Pages int    `json:"pages"` // number of pages drawn from the results of the methods
	Each  int    `json:"each"`  // pairs to be judged of each cell of a page
	Seed  uint64 `json:"seed"`  // of the hashes that draw
}

// Drawn is a sample of pages from the results of several methods, with the
// near-duplicates that each method announces for them. Section 4 of the TLCS paper
// has all of these judged. A chain of a comparator may announce hundreds, so
// here the near-duplicates of a page are divided into cells, by the methods that
// announce them and by whether they are of its site, and of each cell at most Each
// are judged. They stand for their cell, so that the numbers of true near-duplicates
// are estimated without bias, and are exact if the cells are small. Pages with the
// same text need no judge.
type Drawn struct {
	DrawOptions
	Population int // pages in the results of any method
	methods    []string
	pages      []drawnPage
}

type drawnPage struct {
	recordID string
	cells    []cell
}

// cell has the near-duplicates of a page that the same methods announce.
type cell struct {
	by        uint // a bit for each method
	sameSite  bool
	identical bool // they have the text of the page
	size      int
	pairs     []audit.Pair // those to be judged
}

// key returns the hash that decides about names. The smallest hashes are drawn.
func (o DrawOptions) key(names ...string) [sha256.Size]byte {
	b := binary.BigEndian.AppendUint64(nil, o.Seed)
	for _, name := range names {
		b = append(append(b, 0), name...)
	}
	return sha256.Sum256(b)
}

// smallest returns the n of all with the smallest hashes, in their order.
func smallest(all []string, n int, key func(string) [sha256.Size]byte) []string {
	keys := make(map[string][sha256.Size]byte, len(all))
	for _, s := range all {
		keys[s] = key(s)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		x, y := keys[a], keys[b]
		return cmp.Or(slices.Compare(x[:], y[:]), strings.Compare(a, b)) < 0
	})
	return all[:min(n, len(all))]
}

// Draw draws pages that any of the methods has in a cluster with another page.
func Draw(methods []string, pages []Page, o DrawOptions) *Drawn {
	d := &Drawn{DrawOptions: o, methods: methods}
	byID := map[string]*Page{}
	members := make([]map[int32][]*Page, len(methods))
	for m := range methods {
		members[m] = map[int32][]*Page{}
		for i := range pages {
			byID[pages[i].RecordID] = &pages[i]
			if c := pages[i].Clusters[m]; c != compare.None {
				members[m][c] = append(members[m][c], &pages[i])
			}
		}
	}
	var found []string
	for i, p := range pages {
		if slices.ContainsFunc(p.Clusters, func(c int32) bool { return c != compare.None }) && len(d.announced(&pages[i], members)) > 0 {
			found = append(found, p.RecordID)
		}
	}
	d.Population = len(found)
	for _, id := range smallest(found, o.Pages, func(id string) [sha256.Size]byte { return o.key(id) }) {
		d.pages = append(d.pages, drawnPage{id, d.cells(byID[id], d.announced(byID[id], members))})
	}
	return d
}

// announced returns the near-duplicates of a page, each with the methods that
// announce it.
func (d *Drawn) announced(p *Page, members []map[int32][]*Page) map[*Page]uint {
	by := map[*Page]uint{}
	for m, c := range p.Clusters {
		if c == compare.None {
			continue
		}
		for _, q := range members[m][c] {
			if q != p {
				by[q] |= 1 << m
			}
		}
	}
	return by
}

func (d *Drawn) cells(p *Page, announced map[*Page]uint) (out []cell) {
	type kind struct {
		by                  uint
		sameSite, identical bool
	}
	in := map[kind][]string{}
	for q, by := range announced {
		k := kind{by, p.Site != "" && p.Site == q.Site, p.Text == q.Text}
		in[k] = append(in[k], q.RecordID)
	}
	for k, others := range in {
		c := cell{by: k.by, sameSite: k.sameSite, identical: k.identical, size: len(others)}
		if !k.identical {
			for _, q := range smallest(others, d.Each, func(q string) [sha256.Size]byte { return d.key(p.RecordID, q) }) {
				c.pairs = append(c.pairs, audit.NewPair(p.RecordID, q))
			}
		}
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return cmp.Or(cmp.Compare(a.by, b.by), compareBools(a.sameSite, b.sameSite), compareBools(a.identical, b.identical)) < 0
	})
	return out
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Labels returns the pairs to be judged, with the judgements that given has of them.
// The order is another random one.
func (d *Drawn) Labels(given audit.Labels, drawn string) audit.Labels {
	known := map[audit.Pair]audit.LabelledPair{}
	for _, p := range given.Pairs {
		known[p.Pair] = p
	}
	at := map[audit.Pair]int{}
	var pairs []audit.LabelledPair
	for _, p := range d.pages {
		for _, c := range p.cells {
			for _, pair := range c.pairs {
				if i, ok := at[pair]; ok {
					pairs[i].Draws++
					continue
				}
				at[pair] = len(pairs)
				pairs = append(pairs, audit.LabelledPair{Pair: pair, Draws: 1, SameSite: c.sameSite, Judgements: known[pair].Judgements})
			}
		}
	}
	sort.Slice(pairs, func(i, j int) bool {
		a, b := pairs[i], pairs[j]
		x, y := d.key("order", a.A, a.B), d.key("order", b.A, b.B)
		return cmp.Or(slices.Compare(x[:], y[:]), strings.Compare(a.A, b.A), strings.Compare(a.B, b.B)) < 0
	})
	if len(pairs) == 0 {
		return audit.Labels{}
	}
	a := audit.Audit{Name: "table1", Design: audit.Design{Population: audit.Methods, Size: len(pairs), Seed: d.Seed}, Drawn: drawn, Size: len(pairs),
		Strata: []audit.Stratum{{Name: string(audit.Methods), Population: int64(len(pairs)), Sampled: len(pairs)}}}
	if given.Audit != nil && given.Audit.Design.Population == audit.Methods {
		a.Name, a.Drawn = given.Audit.Name, given.Audit.Drawn
	}
	return audit.Labels{Audit: &a, Pairs: pairs}
}

// Judged has the figures of table 1 by the judges of a sample.
type Judged struct {
	DrawOptions `json:"draw"`
	Population  int              `json:"population"` // pages that could have been drawn
	Drawn       int              `json:"drawn"`
	Pairs       int              `json:"pairs"`     // to be judged
	Decided     int              `json:"decided"`   // judged true or false
	Undecided   int              `json:"undecided"` // judged unknown, or by judges who are divided
	Methods     []compare.Table1 `json:"methods"`   // in the order of the report's table 1
}

// text describes the sample.
func (j *Judged) text() string {
	return fmt.Sprintf("By judges, who read the texts: %d pages were drawn of the %d in the results of any method (seed %d). Of the near-duplicates of a page with another text, divided by the methods that announce them and by site, up to %d of each kind were drawn, and stand for the others. Of these %d pairs, %d are decided, %d undecided (unknown, or judges divided) and %d not judged.",
		j.Drawn, j.Population, j.Seed, j.Each, j.Pairs, j.Decided, j.Undecided, j.Pairs-j.Decided-j.Undecided)
}

// estimate is the estimated number of announced and of true near-duplicates of a
// page by a method.
type estimate struct{ announced, found float64 }

// figures returns the estimates of a page's near-duplicates by each method. A cell
// without a decided pair does not count.
func (p drawnPage) figures(methods int, verdicts map[audit.Pair]audit.Verdict, sameSite bool) []estimate {
	out := make([]estimate, methods)
	for _, c := range p.cells {
		yes, no := 0, 0
		for _, pair := range c.pairs {
			switch verdicts[pair] {
			case audit.True:
				yes++
			case audit.False:
				no++
			}
		}
		share := 1.0
		switch {
		case sameSite && !c.sameSite || !c.identical && yes+no == 0:
			continue
		case !c.identical:
			share = float64(yes) / float64(yes+no)
		}
		for m := range out {
			if c.by&(1<<m) != 0 {
				out[m].announced += float64(c.size)
				out[m].found += float64(c.size) * share
			}
		}
	}
	return out
}

// Judge returns the figures by judgements. The last method is the baseline.
func (d *Drawn) Judge(given audit.Labels) *Judged {
	out := &Judged{DrawOptions: d.DrawOptions, Population: d.Population, Drawn: len(d.pages)}
	verdicts := map[audit.Pair]audit.Verdict{}
	for _, p := range d.Labels(given, "").Pairs {
		out.Pairs++
		v := p.Verdict()
		verdicts[p.Pair] = v
		switch {
		case v != audit.Unknown:
			out.Decided++
		case len(p.Judgements) > 0:
			out.Undecided++
		}
	}
	out.Methods = make([]compare.Table1, len(d.methods))
	for _, sameSite := range []bool{false, true} {
		var of [][]estimate
		for _, p := range d.pages {
			of = append(of, p.figures(len(d.methods), verdicts, sameSite))
		}
		for m := range out.Methods {
			precision, recall, found := averages(of, m, len(d.methods)-1)
			t := &out.Methods[m]
			if sameSite {
				t.PrecisionIn, t.RecallIn, t.FoundIn = precision, recall, found
			} else {
				t.Precision, t.Recall, t.Found = precision, recall, found
			}
		}
	}
	return out
}

// averages returns the figures of a method over pages: the precision over those for
// which it announces something, the recall ratio over those of which the baseline
// finds something, and the ratio of all that is found.
func averages(of [][]estimate, m, baseline int) (precision, recall, found truth.Average) {
	var all, base float64
	for _, p := range of {
		e, b := p[m], p[baseline]
		if e.announced > 0 {
			precision.Value += e.found / e.announced
			precision.Pages++
		}
		if b.found > 0 {
			recall.Value += e.found / b.found
			recall.Pages++
		}
		if e.found+b.found > 0 {
			found.Pages++
		}
		all, base = all+e.found, base+b.found
	}
	if precision.Pages > 0 {
		precision.Value /= float64(precision.Pages)
	}
	if recall.Pages > 0 {
		recall.Value /= float64(recall.Pages)
	}
	if base == 0 {
		return precision, recall, truth.Average{}
	}
	found.Value = all / base
	return precision, recall, found
}
