package keeping

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/keep"
	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/report"
)

// letters compares texts that are given as hexadecimal IDs: those that differ in their
// last digit only have nine of ten code points in common.
type letters struct{}

func (letters) Length(string) (int, error) { return 10, nil }

func (letters) Common(a, b string, _ int) (int, error) {
	switch {
	case a == b:
		return 10, nil
	case a[:31] == b[:31]:
		return 9, nil
	}
	return 0, nil
}

func (l letters) Score(a, b string) (int, bool, error) {
	n, err := l.Common(a, b, 0)
	return n, true, err
}

func (letters) DifferentSubjects(string, string) (bool, error) { return false, nil }

// manyPages returns a cluster of few texts, URIs and days, with revisits of pages of
// other URIs and of pages that are not there.
func manyPages(rng *rand.Rand, n int) report.Cluster {
	c := report.Cluster{ID: "c", Size: n, Contained: []report.ContainedPage{{RecordID: "<in>"}}}
	for i := range n {
		m := report.Member{RecordID: fmt.Sprintf("<%d>", i), URI: fmt.Sprintf("http://%c.example/%d", 'a'+rune(rng.IntN(3)), rng.IntN(1+n/4)),
			Date: fmt.Sprintf("2024-01-%02dT00:00:00Z", 1+rng.IntN(3)), Relation: report.Near, Resemblance: report.Score(rng.Float64()), Title: "\xff"}
		m.Document, m.Text, m.TextBytes = fmt.Sprintf("%032x", i), fmt.Sprintf("%031x%x", rng.IntN(1+n/20), rng.IntN(3)), int64(rng.IntN(9))
		switch of := rng.IntN(8); {
		case of == 0 && i > 0:
			if capture := c.Members[rng.IntN(i)]; capture.RevisitOf == "" {
				m.Text, m.RevisitOf = capture.Text, capture.RecordID
			}
		case of == 1 && rng.IntN(4) == 0:
			m.RevisitOf = "<lost>"
		case of == 2:
			m.Clipped = rng.IntN(4) == 0
		case of == 3:
			m.RecordID = "<one>" // several have it
		}
		c.Members = append(c.Members, m)
	}
	c.Members[0].Relation = report.Representative
	return c
}

func rulesOf(rng *rand.Rand) keep.Rules {
	r := keep.Default()
	r.Policy, r.Resemblance, r.MaxLost = keep.Policies[rng.IntN(3)], 0.7+0.3*float64(rng.IntN(2)), -1
	r.SameURI, r.SameHost, r.AllowLostURIs = rng.IntN(4) == 0, rng.IntN(4) == 0, rng.IntN(2) == 0
	r.Every = []keep.Period{keep.Always, keep.Day}[rng.IntN(2)]
	if rng.IntN(4) == 0 {
		r.Exempt = keep.NewPatterns("http://a.example/*")
	}
	r.Judged = keep.Judged{}
	for range rng.IntN(3) {
		a, b := fmt.Sprintf("<%d>", rng.IntN(60)), fmt.Sprintf("<%d>", rng.IntN(60))
		r.Judged[a], r.Judged[b] = append(r.Judged[a], b), append(r.Judged[b], a)
	}
	return r
}

// chosenInParts returns what is chosen from a cluster that comes in parts of n pages.
func chosenInParts(t *testing.T, c report.Cluster, r keep.Rules, n int, byAction bool) (whole Cluster) {
	t.Helper()
	var open open
	x := open.new(t.TempDir(), r)
	for from := 0; from < c.Size; from += n {
		part := c
		part.From, part.Members, part.More = from, c.Members[from:min(from+n, c.Size)], from+n < c.Size
		if part.More {
			part.Contained = nil
		}
		if err := x.add(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.choose(t.Context(), letters{}); err != nil {
		t.Fatal(err)
	}
	for part, err := range x.parts(t.Context(), byAction) {
		if err != nil || part.From != len(whole.Members) || len(part.Members) > groups.PartPages || len(part.Members) != len(part.Choices) || part.More != (part.From+len(part.Members) < c.Size) {
			t.Fatalf("%+v: %v", part, err)
		}
		part.Members, part.Choices = append(whole.Members, part.Members...), append(whole.Choices, part.Choices...)
		whole = part
	}
	whole.From = 0
	if err := open.drop(x); err != nil || len(open.all) != 0 {
		t.Fatal(err)
	}
	return whole
}

// From clusters that come in parts the same is chosen as from whole ones. Where they are
// too large for that, what is redundant has the kept page in its place, and no URI is
// lost, nor a capture that a revisit needs.
func TestLarge(t *testing.T) {
	defer func(parts, chosen, bytes int) { groups.PartPages, chosenPages, extsort.Bytes = parts, chosen, bytes }(groups.PartPages, chosenPages, extsort.Bytes)
	redundant, wouldBe, across := 0, 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 20))
		c, r := manyPages(rng, 1+rng.IntN(60)), rulesOf(rng)
		groups.PartPages, chosenPages, extsort.Bytes = 1+rng.IntN(9), c.Size, 100+rng.IntN(10_000)
		want, err := r.Choose(c, letters{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i].With = 0 // tells nothing after packing
		}
		got := chosenInParts(t, c, r, groups.PartPages, false)
		if !reflect.DeepEqual(got, Cluster{c, want}) {
			t.Fatalf("seed %d: chosen %+v, want %+v", seed, got, Cluster{c, want})
		}
		got = chosenInParts(t, c, r, groups.PartPages, true)
		for _, action := range report.Actions {
			for i, m := range c.Members {
				if want[i].Action != action {
					continue
				}
				if !reflect.DeepEqual(got.Members[0], m) || got.Choices[0] != want[i] {
					t.Fatalf("seed %d: by action %+v, want %+v", seed, got.Members[0], m)
				}
				got.Members, got.Choices = got.Members[1:], got.Choices[1:]
			}
		}

		chosenPages = 1 + rng.IntN(20)
		got = chosenInParts(t, c, r, groups.PartPages, false)
		if !reflect.DeepEqual(got.Cluster, c) {
			t.Fatalf("seed %d: %+v, want %+v", seed, got, c)
		}
		byURI := make([]int, c.Size)
		for i := range byURI {
			byURI[i] = i
		}
		slices.SortStableFunc(byURI, func(a, b int) int {
			return cmp.Or(strings.Compare(r.Group(c.Members[a]), r.Group(c.Members[b])), strings.Compare(c.Members[a].URI, c.Members[b].URI))
		})
		partOf := func(i int) int { return slices.Index(byURI, i) / chosenPages }
		left, captures := map[string]bool{}, map[string]bool{}
		for i, m := range c.Members {
			if got.Choices[i].Action == report.ActionRedundant {
				continue
			}
			left[m.URI] = true
			if m.RevisitOf == "" {
				captures[fmt.Sprint(partOf(i), m.Text)] = true
			}
		}
		for i, revisit := range c.Members { // those that refer to none need a capture of their text in each part that has some
			for j, m := range c.Members {
				if revisit.RevisitOf == "<lost>" && got.Choices[i].Action != report.ActionRedundant && m.Text == revisit.Text && m.RevisitOf == "" && !captures[fmt.Sprint(partOf(j), m.Text)] {
					t.Fatalf("seed %d: no capture stays for %+v in part %d", seed, revisit, partOf(j))
				}
			}
		}
		for i, m := range c.Members {
			choice := got.Choices[i]
			if want[i].Action == report.ActionRedundant {
				wouldBe++
			}
			if choice.Action != report.ActionRedundant {
				continue
			}
			redundant++
			stays := slices.IndexFunc(c.Members, func(o report.Member) bool { // record IDs are not unique
				j := slices.IndexFunc(c.Members, func(p report.Member) bool { return p.Document == o.Document })
				return o.RecordID == choice.Kept && o.URI == choice.KeptURI && got.Choices[j].Action != report.ActionRedundant && r.Group(o) == r.Group(m)
			})
			if stays < 0 || !r.AllowLostURIs && !left[m.URI] || m.Clipped || len(r.Exempt.Written()) > 0 && strings.HasPrefix(m.URI, "http://a.") {
				t.Fatalf("seed %d, %+v: %+v is redundant by %+v", seed, r, m, choice)
			}
			if common, _ := (letters{}).Common(c.Members[stays].Text, m.Text, 0); c.Members[stays].RecordID != "<one>" && choice.Lost != 10-common {
				t.Fatalf("seed %d: %+v loses %d characters", seed, m, choice.Lost)
			}
			if of := func(o report.Member) bool { return o.RecordID == m.RecordID && o.Document != m.Document }; slices.ContainsFunc(c.Members, of) {
				t.Fatalf("seed %d: %+v shares its record ID", seed, m)
			}
			if of := func(o report.Member) bool { return slices.Contains(r.Judged[m.RecordID], o.RecordID) }; slices.ContainsFunc(c.Members, of) {
				t.Fatalf("seed %d: %+v is judged", seed, m)
			}
			for j, revisit := range c.Members {
				if revisit.RevisitOf != m.RecordID {
					continue
				}
				if across++; got.Choices[j].Action != report.ActionRedundant {
					t.Fatalf("seed %d: %+v repeats %+v, and stays", seed, revisit, m)
				}
			}
		}
	}
	if redundant < wouldBe/4 || redundant < 1000 || across < 10 {
		t.Errorf("%d redundant pages of %d that could be, %d with revisits: too few to tell anything", redundant, wouldBe, across)
	}
}
