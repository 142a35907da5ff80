package cluster

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"neardup/signature"
)

func sig(s string) (out signature.Signature) {
	copy(out[:], s)
	return out
}

func TestLists(t *testing.T) {
	for _, test := range []struct {
		name   string
		o      ListOptions
		lists  string
		edges  string // in the order of their emission
		counts ListCounts
	}{
		{
			name:  "the largest key represents",
			o:     ListOptions{MaxList: 3},
			lists: "1: c a b\n2: b\n3: d c",
			edges: "a-b a-c c-d",
			counts: ListCounts{
				Postings: 6, Lists: 3, Singletons: 1, Edges: 3, Longest: 3, OfLongest: 1,
			},
		},
		{
			name:   "repetitions",
			o:      ListOptions{MaxList: 2},
			lists:  "1: a a a a\n2: b a b a b b\n3: c c a c a",
			edges:  "a-b a-c",
			counts: ListCounts{Postings: 15, Lists: 3, Singletons: 1, Edges: 2, Longest: 6, OfLongest: 1},
		},
		{
			name:   "too frequent",
			o:      ListOptions{MaxList: 2, SiteList: 1},
			lists:  "1: c a b\n2: a b b a c c\n3: b c",
			edges:  "b-c",
			counts: ListCounts{Postings: 11, Lists: 3, DeletedFrequent: 2, DeletedPostings: 9, Edges: 1, Longest: 6, OfLongest: 1},
		},
		{
			name:   "concentrated: lists with x are, if long enough",
			o:      ListOptions{MaxList: 4, SiteList: 2},
			lists:  "1: a x\n2: b x a a\n3: c b a\n4: a b c d x",
			edges:  "a-x a-b a-c",
			counts: ListCounts{Postings: 14, Lists: 4, DeletedFrequent: 1, DeletedSites: 1, DeletedPostings: 9, Edges: 3, Longest: 5, OfLongest: 1},
		},
		{
			name:   "two of the longest",
			o:      ListOptions{MaxList: 2},
			lists:  "1: a b\n2: c\n3: b c",
			edges:  "a-b b-c",
			counts: ListCounts{Postings: 5, Lists: 3, Singletons: 1, Edges: 2, Longest: 2, OfLongest: 2},
		},
		{name: "nothing", o: ListOptions{MaxList: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			concentrated := func(members []Key) (bool, error) {
				if len(members) <= test.o.SiteList || !slices.IsSortedFunc(members, Key.Compare) {
					t.Errorf("asked about %d members", len(members))
				}
				return slices.Contains(members, doc("x")), nil
			}
			l := NewLists(test.o, concentrated, func(e Edge) error {
				got = append(got, name(e.Rep)+"-"+name(e.Member))
				return nil
			})
			heads, members := parse(test.lists)
			for i, h := range heads {
				for _, m := range members[i] {
					if err := l.Add(Posting{sig(h), doc(m)}); err != nil {
						t.Fatal(err)
					}
				}
				if n := l.Counts().Lists; n != int64(i) {
					t.Errorf("%d lists have ended at signature %s", n, h)
				}
			}
			if err := l.Flush(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(got, " "); got != test.edges {
				t.Errorf("edges %q, want %q", got, test.edges)
			}
			if l.Counts() != test.counts {
				t.Errorf("counts %+v, want %+v", l.Counts(), test.counts)
			}
		})
	}
}

// Random lists against maps, in any order and with repetitions, and however
// often they are taken up anew between two signatures.
func TestListsEqualTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		o := ListOptions{MaxList: 2 + r.IntN(12), SiteList: r.IntN(6)}
		concentrated := func(members []Key) (bool, error) { return members[0][19]%2 == 0, nil }
		var postings []Posting
		lists := map[signature.Signature]map[Key]bool{}
		for range r.IntN(200) {
			p := Posting{sig(fmt.Sprint(r.IntN(12))), NewKey(float32(r.IntN(3)), ID{15: byte(r.IntN(20))})}
			postings = append(postings, p)
			if lists[p.Signature] == nil {
				lists[p.Signature] = map[Key]bool{}
			}
			lists[p.Signature][p.Key] = true
		}
		slices.SortStableFunc(postings, func(a, b Posting) int { return cmp.Compare(string(a.Signature[:]), string(b.Signature[:])) })

		var want []Edge
		for _, list := range lists {
			keys := slices.SortedFunc(maps.Keys(list), Key.Compare)
			if c, _ := concentrated(keys); len(keys) > o.MaxList || o.SiteList > 0 && len(keys) > o.SiteList && c {
				continue
			}
			for _, m := range keys[1:] {
				want = append(want, Edge{keys[0], m})
			}
		}
		slices.SortFunc(want, compareEdges)

		var got []Edge
		var counts ListCounts
		again := func() *Lists {
			return NewLists(o, concentrated, func(e Edge) error { got = append(got, e); return nil })
		}
		l := again()
		for i, p := range postings {
			if i > 0 && p.Signature != postings[i-1].Signature && r.IntN(3) == 0 {
				if err := l.Flush(); err != nil {
					t.Fatal(err)
				}
				counts.Add(l.Counts())
				l = again()
			}
			if err := l.Add(p); err != nil {
				t.Fatal(err)
			}
			if len(l.keys) > o.MaxList+1 {
				t.Fatalf("holds %d keys", len(l.keys))
			}
		}
		if err := l.Flush(); err != nil {
			t.Fatal(err)
		}
		counts.Add(l.Counts())
		slices.SortFunc(got, compareEdges)
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if counts.Postings != int64(len(postings)) || counts.Lists != int64(len(lists)) || counts.Edges != int64(len(want)) {
			t.Fatalf("counts %+v of %d postings, %d lists, %d edges", counts, len(postings), len(lists), len(want))
		}
	}
}

func TestListsErrors(t *testing.T) {
	stop := errors.New("stop")
	edge := func(Edge) error { return nil }
	fill := func(l *Lists, signatures string) (err error) {
		for i, s := range strings.Fields(signatures) {
			if s == "flush" {
				err = l.Flush()
			} else {
				err = l.Add(Posting{sig(s), number3(i)})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	o := ListOptions{MaxList: 5, SiteList: 1}
	if err := fill(NewLists(o, nil, edge), "1 1 2 3 flush flush 4"); err != nil {
		t.Errorf("in order: %v", err)
	}
	for _, order := range []string{"1 2 1", "1 flush 1", "2 flush 1"} {
		if err := fill(NewLists(o, nil, edge), order); err == nil {
			t.Errorf("%s: no error", order)
		}
	}
	if err := fill(NewLists(o, nil, func(Edge) error { return stop }), "1 1 2"); !errors.Is(err, stop) {
		t.Errorf("emit: %v", err)
	}
	if err := fill(NewLists(o, func([]Key) (bool, error) { return false, stop }, edge), "1 1 2"); !errors.Is(err, stop) {
		t.Errorf("concentrated: %v", err)
	}
}

func TestConcentrated(t *testing.T) {
	for _, test := range []struct {
		sites string // a letter for each page; a capital is another capture of the last page of its site
		most  int
		share float64
		few   int
		want  bool
	}{
		{"", 0, 0, 1, false},
		{"a", 0, 1, 1, true},
		{"a", 1, 1, 1, false},
		{"ab", 1, 0.5, 1, true},
		{"aaabbc", 5, 0.5, 1, true},
		{"aaabbc", 6, 0.5, 1, false},
		{"aaabbc", 5, 0.51, 1, false},
		{"cabaab", 5, 0.83, 2, true},
		{"cabaab", 5, 0.84, 2, false},
		{"cabaab", 5, 1, 9, true},
		{"cabaab", 5, 0.1, 0, false},
		{strings.Repeat("a", 7) + "bcdefghijk" + strings.Repeat("l", 83), 99, 0.83, 1, true}, // 0.83*100 > 83 in floating point
		{"a" + strings.Repeat("A", 999), 1, 0.1, 1, false},                                   // a page that is crawled each day
		{"aA", 0, 1, 1, true},
		{"aaAAAbcd", 4, 0.5, 1, false}, // two pages of five
		{"aaAAAbcd", 4, 0.4, 1, true},
	} {
		var pages []Page
		for i, c := range test.sites {
			p := Page{Site: uint64(unicode.ToLower(c)), Address: uint64(i)}
			for j := len(pages) - 1; j >= 0 && unicode.IsUpper(c); j-- {
				if pages[j].Site == p.Site {
					p = pages[j]
					break
				}
			}
			pages = append(pages, p)
		}
		before := slices.Clone(pages)
		if got := Concentrated(pages, test.most, test.share, test.few); got != test.want || !slices.Equal(pages, before) {
			t.Errorf("%q: the first %d hold %v of more than %d: %v", test.sites, test.few, test.share, test.most, got)
		}
	}
}

func BenchmarkLists(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	var postings []Posting
	for s := uint64(0); len(postings) < 1<<20; s++ {
		for n := 1 + r.IntN(1+r.IntN(8)); n > 0; n-- {
			var p Posting
			binary.BigEndian.PutUint64(p.Signature[:], s)
			binary.BigEndian.PutUint64(p.Key[:], r.Uint64())
			postings = append(postings, p)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		l := NewLists(ListOptions{MaxList: 10000, SiteList: 400}, nil, func(Edge) error { return nil })
		for _, p := range postings {
			if err := l.Add(p); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(postings))/b.Elapsed().Seconds(), "postings/s")
}

func TestPairs(t *testing.T) {
	var keys []Key
	for i := range 5 {
		keys = append(keys, NewKey(float32(10-i), ID{byte(i)}))
	}
	for _, tt := range []struct{ n, most, want int }{{0, 9, 0}, {1, 9, 0}, {5, 9, 10}, {5, 5, 10}, {5, 4, 4}, {5, 0, 4}, {2, 0, 1}} {
		seen := map[Edge]bool{}
		for e := range Pairs(keys[:tt.n], tt.most) {
			if e.Rep.Compare(e.Member) >= 0 || seen[e] || tt.n > tt.most && e.Rep != keys[0] {
				t.Errorf("%+v: %v", tt, e)
			}
			seen[e] = true
		}
		if len(seen) != tt.want {
			t.Errorf("%+v: %d pairs", tt, len(seen))
		}
	}
}
