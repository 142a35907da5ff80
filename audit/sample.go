package audit

import (
	"cmp"
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Member is a page of a cluster, as a sample is drawn from it.
type Member struct {
	Document    string // docID in hexadecimal
	RecordID    string
	URI         string
	Date        string
	Site        string  // empty: it has none
	Text        string  // names its text
	Against     int     // place of the member that it was verified against; its own: none
	Judged      bool    // a judgement put it beside that one
	Resemblance float64 // to that one
	Containment float64
}

// The bands of scores of a stratified sample, from the least likely to be wrong.
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

// Sampler draws a sample from clusters that come one at a time. It keeps those
// draws of each stratum whose keys, hashes of seed and documents, are smallest:
// the sample does not depend on the order of clusters and members, and that of a
// larger size and the same seed contains it.
type Sampler struct {
	design Design
	strata []kept
	buf    []byte
}

// kept are the draws of a stratum.
type kept struct {
	population int64
	draws      draws
}

// draw is a pair that was drawn: from a page, or as a verified pair.
type draw struct {
	key   uint64
	owner string // document whose draw it is; tells equal keys apart
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

// NewSampler makes a sampler of a design that was checked.
func NewSampler(d Design) *Sampler {
	s := &Sampler{design: d, strata: make([]kept, 1)}
	if d.Stratified {
		s.strata = make([]kept, 2*len(bands))
	}
	return s
}

// hash returns the seeded hash of names, for one purpose of several.
func (s *Sampler) hash(purpose string, names ...string) uint64 {
	s.buf = binary.BigEndian.AppendUint64(append(s.buf[:0], purpose...), s.design.Seed)
	for _, name := range names {
		s.buf = append(append(s.buf, 0), name...)
	}
	sum := sha256.Sum256(s.buf)
	return binary.BigEndian.Uint64(sum[:])
}

// Add adds a cluster. Members of one record id cannot be told apart by those
// who read the judgements, so they are no pair.
func (s *Sampler) Add(cluster string, members []Member) {
	if s.design.Population == Pages {
		s.addPages(cluster, members)
		return
	}
	for _, m := range members {
		if m.Judged || m.RecordID == members[m.Against].RecordID {
			continue // by people; the representative, or one that is named as it is
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

// addPages has each page draw another of its cluster. One page of each record id
// counts, that with the smallest docID.
func (s *Sampler) addPages(cluster string, members []Member) {
	pages := make([]*Member, len(members))
	for i := range members {
		pages[i] = &members[i]
	}
	slices.SortFunc(pages, func(a, b *Member) int {
		return cmp.Or(strings.Compare(a.RecordID, b.RecordID), strings.Compare(a.Document, b.Document))
	})
	pages = slices.CompactFunc(pages, func(a, b *Member) bool { return a.RecordID == b.RecordID })
	slices.SortFunc(pages, func(a, b *Member) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), strings.Compare(a.Document, b.Document))
	})
	from, to := 0, 0 // the pages that are not drawn: of one text, or the page alone
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

// keep keeps a draw if its key is among the smallest. These are twice the size,
// because two pages may draw each other.
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

// newItem makes the item of two pages of a cluster.
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

// Sample gives the strata that pairs can be drawn from, and the sample in the
// order in which it is to be judged. That is another random order, so that what
// is judged first is a sample, too.
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
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(order[a.Pair], order[b.Pair]), strings.Compare(a.A, b.A), strings.Compare(a.B, b.B))
	})
	return strata, items
}

// distinct returns up to as many pairs of a stratum as are asked for, from the
// smallest key on, each once, with the number of draws that come before the
// first of any further pair. The mean over these draws is then one over pages
// drawn at random.
func (s *Sampler) distinct(stratum int, seen map[Pair]bool) (out []Item) {
	sorted := slices.SortedFunc(slices.Values(s.strata[stratum].draws), compareDraws)
	at := map[Pair]int{}
	for _, d := range sorted {
		if i, ok := at[d.item.Pair]; ok {
			out[i].Draws++
			continue
		}
		if seen[d.item.Pair] {
			continue // in another stratum, of other documents with these record ids
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

// allocate shares n among strata: one after another gets one, as long as it has
// any. A larger n gives none less.
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
