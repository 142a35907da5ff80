package audit

import (
	"cmp"
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Member is a page of a cluster from which pairs are drawn.
type Member struct {
	Document    string // docID, hexadecimal
	RecordID    string
	URI         string
	Date        string
	Site        string  // empty without a site
	Text        string  // identifies its text
	Against     int     // index of the member that it was verified against; its own index if there is none
	Judged      bool    // a judgement connects it with that member
	Resemblance float64 // resemblance to that member
	Containment float64
}

// The bands of scores of a stratified sample, the least likely to be wrong first.
var bands = [...]string{"identical text", "resemblance from 0.9", "resemblance 0.7 to 0.9", "resemblance 0.5 to 0.7", "resemblance below 0.5"}

func band(i Item) int {
	switch {
	case i.Identical:
		return 0
	case i.Resemblance >= .9:
		return 1
	case i.Resemblance >= .7:
		return 2
	case i.Resemblance >= .5:
		return 3
	}
	return 4 // joined by containment, or by a method with a lower threshold
}

// Sampler draws a sample from clusters that come one at a time. It keeps the draws
// of each stratum with the smallest keys, which are hashes of the seed and the
// documents. So the sample does not depend on the order of clusters and members,
// and a larger sample with the same seed contains it.
type Sampler struct {
	design Design
	strata []kept
	buf    []byte
}

// kept holds the draws of a stratum.
type kept struct {
	population int64
	draws      draws
}

// draw is a drawn pair, drawn by a page or as a verified pair.
type draw struct {
	key   uint64
	owner string // document whose draw it is; it decides between equal keys
	item  Item
}

func compareDraws(a, b draw) int {
	return cmp.Or(cmp.Compare(a.key, b.key), strings.Compare(a.owner, b.owner))
}

// draws is a heap with the largest draw on top.
type draws []draw

func (h draws) Len() int           { return len(h) }
func (h draws) Less(i, j int) bool { return compareDraws(h[i], h[j]) > 0 }
func (h draws) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *draws) Push(x any)        { *h = append(*h, x.(draw)) }
func (h *draws) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// NewSampler returns a sampler for a valid design.
func NewSampler(d Design) *Sampler {
	s := &Sampler{design: d, strata: make([]kept, 1)}
	if d.Stratified {
		s.strata = make([]kept, 2*len(bands))
	}
	return s
}

// hash returns the seeded hash of names. It differs for each purpose.
func (s *Sampler) hash(purpose string, names ...string) uint64 {
	s.buf = binary.BigEndian.AppendUint64(append(s.buf[:0], purpose...), s.design.Seed)
	for _, name := range names {
		s.buf = append(append(s.buf, 0), name...)
	}
	sum := sha256.Sum256(s.buf)
	return binary.BigEndian.Uint64(sum[:])
}

// Add adds a cluster. Judgements cannot distinguish members with the same record
// ID, so these form no pair.
func (s *Sampler) Add(cluster string, members []Member) {
	if s.design.Population == Pages {
		s.addPages(cluster, members)
		return
	}
	for _, m := range members {
		if m.Judged || m.RecordID == members[m.Against].RecordID {
			continue // judged by people; the representative, or one with its name
		}
		i := newItem(cluster, members, &m, &members[m.Against])
		if i.Identical && s.design.Different {
			continue
		}
		stratum := 0
		if s.design.Stratified {
			if stratum = band(i); !i.SameSite {
				stratum += len(bands)
			}
		}
		s.strata[stratum].population++
		s.keep(stratum, s.hash("pair", m.Document, members[m.Against].Document), m.Document, func() Item { return i })
	}
}

// addPages lets each page draw another page of its cluster. Of pages with the same
// record ID, the one with the smallest docID counts.
func (s *Sampler) addPages(cluster string, members []Member) {
	pages := make([]*Member, len(members))
	for i := range members {
		pages[i] = &members[i]
	}
	sort.Slice(pages, func(i, j int) bool {
		a, b := pages[i], pages[j]
		return cmp.Or(strings.Compare(a.RecordID, b.RecordID), strings.Compare(a.Document, b.Document)) < 0
	})
	pages = slices.CompactFunc(pages, func(a, b *Member) bool { return a.RecordID == b.RecordID })
	sort.Slice(pages, func(i, j int) bool {
		a, b := pages[i], pages[j]
		return cmp.Or(strings.Compare(a.Text, b.Text), strings.Compare(a.Document, b.Document)) < 0
	})
	from, to := 0, 0 // pages that cannot be drawn: those of the same text, or the page itself
	for i, p := range pages {
		switch {
		case !s.design.Different:
			from, to = i, i+1
		case i == to:
			from = i
			for to < len(pages) && pages[to].Text == p.Text {
				to++
			}
		}
		others := len(pages) - (to - from)
		if others == 0 {
			continue
		}
		s.strata[0].population++
		s.keep(0, s.hash("page", p.Document), p.Document, func() Item {
			mate := int(s.hash("mate", p.Document) % uint64(others))
			if mate >= from {
				mate += to - from
			}
			return newItem(cluster, members, p, pages[mate])
		})
	}
}

// keep keeps a draw if its key is among the smallest. It keeps twice as many as the
// size, because two pages may draw each other.
func (s *Sampler) keep(stratum int, key uint64, owner string, item func() Item) {
	h := &s.strata[stratum].draws
	d := draw{key: key, owner: owner}
	if len(*h) < 2*s.design.Size {
		d.item = item()
		heap.Push(h, d)
	} else if compareDraws(d, (*h)[0]) < 0 {
		d.item = item()
		(*h)[0] = d
		heap.Fix(h, 0)
	}
}

// newItem returns the item of two pages of a cluster.
func newItem(cluster string, members []Member, p, q *Member) Item {
	i := Item{Pair: NewPair(p.RecordID, q.RecordID), Cluster: cluster, Draws: 1,
		SameSite: p.Site != "" && p.Site == q.Site, Identical: p.Text == q.Text}
	for _, m := range [2]*Member{p, q} {
		other := p
		if m == p {
			other = q
		}
		if members[m.Against].Text == other.Text {
			i.Resemblance, i.Containment = m.Resemblance, m.Containment
		}
	}
	if i.Identical {
		i.Resemblance, i.Containment = 1, 1
	}
	if recordID(p.RecordID) != i.A {
		p, q = q, p
	}
	i.Documents = [2]string{p.Document, q.Document}
	i.URIs = [2]string{p.URI, q.URI}
	i.Dates = [2]string{p.Date, q.Date}
	i.Sites = [2]string{p.Site, q.Site}
	return i
}

// Sample returns the strata, and the sample in the order of judging. That is
// another random order, so that the pairs judged first are a sample, too.
func (s *Sampler) Sample() ([]Stratum, []Item) {
	seen := map[Pair]bool{}
	drawn := make([][]Item, len(s.strata))
	available := make([]int, len(s.strata))
	for h := range s.strata {
		drawn[h] = s.distinct(h, seen)
		available[h] = len(drawn[h])
	}
	var strata []Stratum
	var items []Item
	for h, n := range allocate(available, s.design.Size) {
		if s.strata[h].population == 0 {
			continue
		}
		st := Stratum{Name: string(s.design.Population), Population: s.strata[h].population, Sampled: n}
		if s.design.Stratified {
			st.SameSite = h < len(bands)
			st.Name = fmt.Sprintf("%s, %s", map[bool]string{true: "same site", false: "other site"}[st.SameSite], bands[h%len(bands)])
		}
		for _, i := range drawn[h][:n] {
			i.Stratum = len(strata)
			items = append(items, i)
		}
		strata = append(strata, st)
	}
	order := map[Pair]uint64{}
	for _, i := range items {
		order[i.Pair] = s.hash("order", i.A, i.B)
	}
	sort.Slice(items, func(i, j int) bool {
		a, b := items[i], items[j]
		return cmp.Or(cmp.Compare(order[a.Pair], order[b.Pair]), strings.Compare(a.A, b.A), strings.Compare(a.B, b.B)) < 0
	})
	return strata, items
}

// distinct returns at most the given number of distinct pairs of a stratum, from
// the smallest key up. It counts the draws of each that precede the first draw of
// any further pair. So the mean over these draws is a mean over random pages.
func (s *Sampler) distinct(stratum int, seen map[Pair]bool) (out []Item) {
	sorted := slices.SortedFunc(slices.Values(s.strata[stratum].draws), compareDraws)
	at := map[Pair]int{}
	for _, d := range sorted {
		if i, ok := at[d.item.Pair]; ok {
			out[i].Draws++
			continue
		}
		if seen[d.item.Pair] {
			continue // already drawn in another stratum, from other documents with these record IDs
		}
		if len(out) == s.design.Size {
			break
		}
		seen[d.item.Pair] = true
		at[d.item.Pair] = len(out)
		out = append(out, d.item)
	}
	return out
}

// allocate divides n among strata. Each gets one in turn, as long as it has pairs.
// A larger n gives no stratum less.
func allocate(available []int, n int) []int {
	out := make([]int, len(available))
	for given := true; given && n > 0; {
		given = false
		for h := range out {
			if n > 0 && out[h] < available[h] {
				out[h]++
				n--
				given = true
			}
		}
	}
	return out
}
