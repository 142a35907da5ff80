package keep_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/keep"
	"neardup/report"
)

// words compares texts by words, by the textbook table.
type words struct{ compared int }

func (words) Length(text string) (int, error) { return len(strings.Fields(text)), nil }

func (w *words) Common(a, b string, _ int) (int, error) {
	w.compared++
	return common(a, b), nil
}

func (w *words) Score(a, b string) (int, bool, error) { return common(a, b), true, nil }

// DifferentSubjects goes by the words that begin with #.
func (w *words) DifferentSubjects(a, b string) (bool, error) {
	subject := func(s string) string {
		return strings.Join(slices.DeleteFunc(strings.Fields(s), func(word string) bool { return !strings.HasPrefix(word, "#") }), " ")
	}
	return subject(a) != subject(b), nil
}

func common(a, b string) int {
	x, y := strings.Fields(a), strings.Fields(b)
	row := make([]int, len(y)+1)
	for i := range x {
		left := 0
		for j := range y {
			above := row[j+1]
			switch {
			case x[i] == y[j]:
				row[j+1] = left + 1
			case row[j] > above:
				row[j+1] = row[j]
			}
			left = above
		}
	}
	return row[len(y)]
}

// crawl returns a cluster of texts that are near each other in chains, with few
// URIs, hosts and months, and revisits.
func crawl(rnd *rand.Rand, n int) report.Cluster {
	c := report.Cluster{ID: "c"}
	text := strings.Fields("a b c d e f g h i j k l m n o p q r s t")
	for i := range n {
		if rnd.IntN(3) > 0 {
			text = slices.Clone(text)
			text[rnd.IntN(len(text))] = fmt.Sprint("w", rnd.IntN(6))
		}
		m := report.Member{RecordID: fmt.Sprintf("<%d>", i), URI: fmt.Sprintf("http://%c.example/%d", 'a'+rune(rnd.IntN(3)), rnd.IntN(1+n/2)),
			Date: fmt.Sprintf("2024-%02d-%02dT00:00:00Z", 1+rnd.IntN(3), 1+rnd.IntN(28)), Relation: report.Near}
		m.Document, m.Text, m.TextBytes = fmt.Sprintf("%032x", i), strings.Join(text, " "), int64(len(text))
		switch rnd.IntN(12) {
		case 0:
			m.URI = ""
		case 1:
			m.Clipped = true
		case 2:
			m.Date = []string{"no date", "2020"}[rnd.IntN(2)]
		case 3:
			if i > 0 && c.Members[i-1].RevisitOf == "" {
				m.Text, m.RevisitOf = c.Members[i-1].Text, c.Members[i-1].RecordID
			}
		case 4:
			m.Relation = report.Linked
		}
		c.Members = append(c.Members, m)
	}
	c.Members[0].Relation = report.Representative
	c.Size = n
	return c
}

func randomRules(rnd *rand.Rand) keep.Rules {
	r := keep.Default()
	r.Policy = keep.Policies[rnd.IntN(3)]
	r.Resemblance = []float64{0.5, 0.7, 0.9, 1}[rnd.IntN(4)]
	r.MaxLost = []int{-1, -1, 0, 1, 3}[rnd.IntN(5)]
	r.Contained, r.SameURI, r.SameHost, r.AllowLostURIs = rnd.IntN(4) == 0, rnd.IntN(4) == 0, rnd.IntN(4) == 0, rnd.IntN(2) == 0
	r.Every = []keep.Period{keep.Always, keep.Always, keep.Day, keep.Month, keep.Year}[rnd.IntN(5)]
	r.MinText = []int{0, 200}[rnd.IntN(2)]
	if rnd.IntN(3) == 0 {
		r.Exempt = keep.NewPatterns("http://a.example/*")
	}
	return r
}

// randomJudged judges some pairs of pages to be different, also of pages that are elsewhere.
func randomJudged(rnd *rand.Rand, c report.Cluster) keep.Judged {
	out := keep.Judged{}
	for range rnd.IntN(4) {
		a, b := c.Members[rnd.IntN(len(c.Members))].RecordID, c.Members[rnd.IntN(len(c.Members))].RecordID
		if rnd.IntN(4) == 0 {
			b = "<elsewhere>"
		}
		if a != b {
			out[a], out[b] = append(out[a], b), append(out[b], a)
		}
	}
	return out
}

// Every list keeps what its rules promise.
func TestNoPageIsDroppedAgainstTheRules(t *testing.T) {
	redundant := 0
	for seed := range uint64(800) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		c, r := crawl(rnd, 1+rnd.IntN(40)), randomRules(rnd)
		payloads := rnd.IntN(4) == 0
		for i := range c.Members {
			if payloads {
				c.Members[i].Digest = fmt.Sprint("sha1:", rnd.IntN(3))
			}
			switch rnd.IntN(14) {
			case 0:
				c.Members[i].Derived = true
			case 1:
				c.Members[i].RecordID = c.Members[rnd.IntN(i+1)].RecordID
			}
		}
		r.Judged = randomJudged(rnd, c)
		choices, err := r.Choose(c, &words{})
		if err != nil {
			t.Fatal(err)
		}
		fail := func(i int, format string, args ...any) {
			t.Fatalf("seed %d, %+v, page %d %+v: %+v: %s", seed, r, i, c.Members[i], choices[i], fmt.Sprintf(format, args...))
		}
		left, first := map[string]int{}, map[string]bool{}
		for i, m := range c.Members {
			if choices[i].Why == report.WhyPolicy {
				if first[r.Group(m)] {
					fail(i, "a second page that is the first of its group")
				}
				first[r.Group(m)] = true
			}
			if choices[i].Action != report.ActionRedundant && !m.Derived {
				left[m.URI]++
			}
		}
		for i, m := range c.Members {
			x := choices[i]
			if x.Characters != len(strings.Fields(m.Text)) {
				fail(i, "characters")
			}
			kept := c.Members[x.With]
			same := common(m.Text, kept.Text)
			switch x.Action {
			case report.ActionKeep:
				if x.With != i || x.Lost != 0 {
					fail(i, "a kept page stands for itself")
				}
				continue
			case report.ActionReview:
				if r.Group(m) != r.Group(kept) {
					fail(i, "compared with a page of another group")
				}
				if choices[x.With].Action != report.ActionKeep && choices[x.With].Why != report.WhyPolicy {
					fail(i, "compared with a page that is not kept")
				}
				if x.Why == report.WhyLittle && (m.Digest == "" || m.TextBytes >= int64(r.MinText)) {
					fail(i, "the page has more text, or no digest")
				}
				if x.Lost != x.Characters-same || x.Resemblance != report.Score(keep.Resemblance(len(strings.Fields(kept.Text)), x.Characters, same)) {
					fail(i, "scores")
				}
				continue
			}
			redundant++
			score := keep.Resemblance(len(strings.Fields(kept.Text)), x.Characters, same)
			switch {
			case choices[x.With].Action == report.ActionRedundant:
				fail(i, "%s is not kept", kept.RecordID)
			case x.Lost != x.Characters-same || x.Resemblance != report.Score(score):
				fail(i, "scores, want %v", score)
			case score < r.Resemblance && !(r.Contained && float64(same) >= r.Resemblance*float64(x.Characters)):
				fail(i, "resemblance %v", score)
			case r.MaxLost >= 0 && x.Lost > r.MaxLost:
				fail(i, "loses too much")
			case m.Clipped || kept.Clipped:
				fail(i, "clipped")
			case kept.Derived && !m.Derived:
				fail(i, "text that was made from a capture stands for it")
			case m.TextBytes < int64(r.MinText) && m.Digest != kept.Digest:
				fail(i, "little text, and another payload")
			case m.RecordID == kept.RecordID:
				fail(i, "the list cannot tell them apart")
			case r.SameURI && (m.URI != kept.URI || m.URI == ""):
				fail(i, "another URI")
			case r.SameHost && (m.URI == "" || strings.Split(m.URI, "/")[2] != strings.Split(kept.URI, "/")[2]):
				fail(i, "another host")
			case r.Every != keep.Always && (m.Date == "no date" || len(m.Date) < map[keep.Period]int{keep.Year: 4, keep.Month: 7, keep.Day: 10}[r.Every] || m.Date[:map[keep.Period]int{keep.Year: 4, keep.Month: 7, keep.Day: 10}[r.Every]] != kept.Date[:map[keep.Period]int{keep.Year: 4, keep.Month: 7, keep.Day: 10}[r.Every]]):
				fail(i, "another period")
			case len(r.Exempt.Written()) > 0 && strings.HasPrefix(m.URI, "http://a.example/"):
				fail(i, "exempt")
			case slices.ContainsFunc(c.Members, func(o report.Member) bool { return slices.Contains(r.Judged[m.RecordID], o.RecordID) }):
				fail(i, "judged to be different from another page")
			case !r.AllowLostURIs && m.URI != "" && left[m.URI] == 0 && (!m.Derived || slices.ContainsFunc(c.Members, func(o report.Member) bool { return o.URI == m.URI && !o.Derived })):
				fail(i, "its URI is lost")
			case kept.RevisitOf != "" && (m.RevisitOf != kept.RevisitOf || m.Text != kept.Text):
				fail(i, "a revisit stands for it")
			}
			for j, revisit := range c.Members {
				if revisit.RevisitOf == m.RecordID && choices[j].Action != report.ActionRedundant {
					fail(i, "%s repeats it, and stays", revisit.RecordID)
				}
			}
		}
	}
	if redundant < 2_000 {
		t.Errorf("%d redundant pages: too few to tell anything", redundant)
	}
}

// A page to review is compared with the first page of its own group, also where this stays
// because a revisit of another group refers to it.
func TestReviewedBesideItsOwnGroup(t *testing.T) {
	member := func(id, host, day, text string, relation report.Relation) report.Member {
		return report.Member{RecordID: id, URI: "http://" + host + ".example/", Date: "2024-01-" + day, Relation: relation,
			Capture: report.Capture{Document: id, Text: text}}
	}
	c := report.Cluster{ID: "c", Members: []report.Member{
		member("<first>", "first", "09", "a b c d", report.Representative),
		member("<other>", "b", "01", "k l m n", report.Linked),
		member("<repeated>", "a", "02", "a b c d", report.Near),
		member("<reviewed>", "a", "03", "e f g h", report.Near),
		member("<revisit>", "b", "04", "a b c d", report.Near),
	}}
	for _, i := range []int{1, 2, 3} {
		c.Members[i].Clipped = true
	}
	c.Members[4].RevisitOf = "<repeated>"
	c.Size = len(c.Members)
	r := keep.Default()
	r.SameURI = true
	choices, err := r.Choose(c, &words{})
	if err != nil {
		t.Fatal(err)
	}
	if x := choices[3]; x.Action != report.ActionReview || x.Kept != "<repeated>" || x.KeptURI != "http://a.example/" {
		t.Errorf("%+v", x)
	}
}

// A revisit is covered by another one only if both repeat one capture.
func TestRevisitsOfTwoCaptures(t *testing.T) {
	member := func(id, host, of string) report.Member {
		return report.Member{RecordID: id, URI: "http://" + host + ".example/", RevisitOf: of, Relation: report.Identical, Capture: report.Capture{Document: id, Text: "a b c d"}}
	}
	c := report.Cluster{ID: "c", Size: 5, Members: []report.Member{member("<1>", "a", ""), member("<2>", "b", ""), member("<3>", "c", "<1>"), member("<4>", "c", "<2>"), member("<5>", "c", "<2>")}}
	r := keep.Default()
	r.SameHost, r.AllowLostURIs = true, true
	choices, err := r.Choose(c, &words{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []report.Action{report.ActionKeep, report.ActionKeep, report.ActionKeep, report.ActionKeep, report.ActionRedundant} {
		if choices[i].Action != want {
			t.Errorf("%s: %+v, want %s", c.Members[i].RecordID, choices[i], want)
		}
	}
}

// Captures that revisits of other parts refer to stay, or all captures of a text if none
// is the one.
func TestChoosePart(t *testing.T) {
	member := func(id, text string) report.Member {
		return report.Member{RecordID: id, URI: "http://a.example/", Relation: report.Near, Capture: report.Capture{Document: id, Text: text}}
	}
	c := report.Cluster{ID: "c", Size: 4, Members: []report.Member{member("<1>", "a b c d"), member("<2>", "a b c d"), member("<3>", "a b c d"), member("<4>", "a b c e")}}
	r := keep.Default()
	r.Resemblance, r.MaxLost = 0.5, -1
	for _, tt := range []struct{ of, text, want string }{{"<3>", "a b c d", "[keep redundant keep redundant]"}, {"<4>", "a b c e", "[keep redundant redundant keep]"},
		{"<lost>", "a b c e", "[keep redundant redundant keep]"}, {"<4>", "a", "[keep redundant redundant redundant]"}} {
		choices, err := r.ChoosePart(c, keep.Elsewhere{Revisits: []report.Member{{RevisitOf: tt.of, Capture: report.Capture{Text: tt.text}}}}, &words{})
		if err != nil {
			t.Fatal(err)
		}
		var got []report.Action
		for _, x := range choices {
			got = append(got, x.Action)
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// The order of the members does not matter.
func TestChoicesDoNotDependOnOrder(t *testing.T) {
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		c, r := crawl(rnd, 2+rnd.IntN(40)), randomRules(rnd)
		choices := func() map[string]string {
			got, err := r.Choose(c, &words{})
			if err != nil {
				t.Fatal(err)
			}
			of := map[string]string{}
			for i, m := range c.Members {
				x := got[i]
				with := c.Members[x.With].RecordID
				x.With = 0
				of[m.RecordID] = fmt.Sprint(x, with)
			}
			return of
		}
		want := choices()
		rnd.Shuffle(len(c.Members), func(i, j int) { c.Members[i], c.Members[j] = c.Members[j], c.Members[i] })
		if got := choices(); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

// No set that has the page preferred by the policy is smaller: all are tried.
func TestTheSmallestSetIsKept(t *testing.T) {
	further := 0
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		c := crawl(rnd, 2+rnd.IntN(10))
		for i := range c.Members {
			m := &c.Members[i]
			m.RevisitOf, m.Clipped, m.Relation = "", false, report.Near
		}
		r := keep.Default()
		r.Resemblance, r.MaxLost, r.AllowLostURIs = 0.7, -1, rnd.IntN(2) == 0
		choices, err := r.Choose(c, &words{})
		if err != nil {
			t.Fatal(err)
		}
		kept, first := 0, 0
		for i, x := range choices {
			if x.Action != report.ActionRedundant {
				kept++
			}
			if x.Why == report.WhyPolicy {
				first = i
			}
		}
		near := func(i, j int) bool {
			a, b := c.Members[i].Text, c.Members[j].Text
			return keep.Resemblance(20, 20, common(a, b)) >= r.Resemblance
		}
		best := len(c.Members)
		for set := range uint(1) << len(c.Members) {
			if set>>first&1 == 0 {
				continue
			}
			size, covered, uris := 0, true, map[string]bool{}
			for i, m := range c.Members {
				if set>>i&1 == 1 {
					size++
					uris[m.URI] = true
				}
			}
			for i, m := range c.Members {
				found := r.AllowLostURIs || m.URI == "" || uris[m.URI]
				for j := 0; found && j <= len(c.Members); j++ {
					if j == len(c.Members) {
						found = false
					} else if set>>j&1 == 1 && near(i, j) {
						break
					}
				}
				covered = covered && found
			}
			if covered {
				best = min(best, size)
			}
		}
		if kept != best {
			t.Fatalf("seed %d: %d pages stay, %d are enough: %+v", seed, kept, best, choices)
		}
		if best > 1 {
			further++
		}
	}
	if further < 30 {
		t.Errorf("%d clusters need a second page: too few to tell anything", further)
	}
}

// Of a large cluster the work is linear in its texts, and the promises hold: one page
// stands for hundreds.
func TestLargeCluster(t *testing.T) {
	c := report.Cluster{ID: "c"}
	for i := range 2000 {
		m := report.Member{RecordID: fmt.Sprintf("<%04d>", i), URI: "http://a.example/", Date: fmt.Sprintf("2024-01-01T00:%02d:%02dZ", i/60, i%60), Relation: report.Near}
		m.Document = fmt.Sprintf("%032x", i)
		m.Text = strings.Repeat(fmt.Sprintf("t%d ", i%4), 40) + fmt.Sprint("page", i)
		c.Members = append(c.Members, m)
	}
	r := keep.Default()
	r.Resemblance, r.MaxLost = 0.9, -1
	w := &words{}
	choices, err := r.Choose(c, w)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, x := range choices {
		if x.Action == report.ActionKeep {
			kept++
		}
	}
	if kept != 4 || w.compared > 64*2000 {
		t.Errorf("%d pages are kept after %d comparisons", kept, w.compared)
	}
}

func TestPolicies(t *testing.T) {
	member := func(id, uri, date string, r report.Relation, text int64, revisit string) report.Member {
		return report.Member{RecordID: id, URI: uri, Date: date, Relation: r, RevisitOf: revisit, Capture: report.Capture{TextBytes: text, Text: "one text"}}
	}
	c := report.Cluster{ID: "c", Members: []report.Member{
		member("rep", "http://www.a.example/", "2024-02-01T00:00:00Z", report.Representative, 50, ""),
		member("early", "http://b.example/", "2024-01-01T00:00:00Z", report.Near, 40, ""),
		member("late", "http://sub.c.example/", "2024-09-01T00:00:00Z", report.Near, 60, ""),
		member("same", "http://d.example/", "2024-01-01T00:00:00Z", report.Identical, 50, ""),
		member("part", "http://c.example/", "2020-01-01T00:00:00Z", report.Contained, 5, ""),
		member("whole", "http://c.example/", "2019-01-01T00:00:00Z", report.Contains, 500, ""),
		member("far", "http://c.example/", "2018-01-01T00:00:00Z", report.Linked, 500, ""),
		member("again", "http://c.example/", "2017-01-01T00:00:00Z", report.Near, 500, "late"),
		member("undated", "http://e.example/", "", report.Near, 30, ""),
		member("no date", "http://e.example/", "9999-99-99T00:00:00Z", report.Near, 30, ""),
	}}
	quality := func(uri string) (float64, error) {
		return map[string]float64{"http://d.example/": 2, "http://c.example/": 9}[uri], nil
	}
	unread := errors.New("scores cannot be read")
	if _, err := (keep.Rules{Policy: keep.Quality, Score: func(string) (float64, error) { return 0, unread }}).Choose(c, &words{}); err != unread {
		t.Errorf("without scores: %v", err)
	}
	for _, x := range []struct {
		rules keep.Rules
		want  string
	}{
		{keep.Rules{Policy: keep.Earliest}, "early"},
		{keep.Rules{Policy: keep.Latest}, "late"},
		{keep.Rules{Policy: keep.Longest}, "late"},
		{keep.Rules{Policy: keep.Quality, Score: quality}, "same"},
		{keep.Rules{Policy: keep.Earliest, Hosts: keep.Hosts{}.Then("C.example")}, "late"},                   // also of a subdomain, but not by containment only
		{keep.Rules{Policy: keep.Earliest, Hosts: keep.Hosts{}.Then("nowhere.example", "a.example")}, "rep"}, // the second, where the first has none
		{keep.Rules{Policy: keep.Latest, Hosts: keep.Hosts{}.Then("d.example", "b.example")}, "same"},
		{keep.Rules{Policy: keep.Earliest, Hosts: keep.Hosts{}.Then("ple")}, "early"}, // no part of a label
	} {
		x.rules.Resemblance, x.rules.MaxLost, x.rules.AllowLostURIs = 1, -1, true
		for i, m := range c.Members {
			if m.Relation == report.Contained || m.Relation == report.Contains || m.Relation == report.Linked {
				c.Members[i].Text = "another " + m.RecordID // or it is the same
			}
		}
		choices, err := x.rules.Choose(c, &words{})
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range c.Members {
			if kept := choices[i].Why == report.WhyPolicy; kept != (m.RecordID == x.want) {
				t.Errorf("%+v: %s: %+v, want %s", x.rules, m.RecordID, choices[i], x.want)
			}
		}
	}
}

// Of two pages of one address and text, the second stays only because a revisit that stays
// refers to it, and the list says so.
func TestWhyTheSecondStays(t *testing.T) {
	page := func(id, uri, date, of string) report.Member {
		return report.Member{RecordID: id, URI: uri, Date: date, RevisitOf: of, Relation: report.Identical, Capture: report.Capture{Document: id, Text: "a b c"}}
	}
	c := report.Cluster{Size: 3, Members: []report.Member{page("first", "http://a/", "2020-01-01", ""), page("second", "http://a/", "2020-01-02", ""), page("again", "http://b/", "2020-01-03", "second")}}
	c.Members[0].Relation = report.Representative
	choices, err := keep.Default().Choose(c, &words{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []report.Why{report.WhyPolicy, report.WhyRevisited, report.WhyURI} {
		if choices[i].Action != report.ActionKeep || choices[i].Why != want {
			t.Errorf("%s: %+v, want %s", c.Members[i].RecordID, choices[i], want)
		}
	}
}

func TestPattern(t *testing.T) {
	for _, x := range []struct {
		pattern, uri string
		want         bool
	}{
		{"http://a.example/", "http://a.example/", true}, {"a.example/", "https://a.example/", true}, {"https://a.example/", "http://a.example/", false},
		{"*.example/*", "http://a.b.example/x?y=z", true}, {"a.example/*/end", "http://a.example/end", false}, {"a.example/*end", "http://a.example/end", true},
		{"a.example/?q=1", "http://a.example/xq=1", false}, {"*a*b*", "http://xaxbx/", true}, {"*b*a", "ba", true}, {"ab*ba", "aba", false}, {"*", "", true}, {"", "http://x/", false},
		{"A.example/x", "http://a.Example/X", true}, {"urn:text:*", "urn:text:https://a.example/", true}, {"a.example/", "urn:text:https://a.example/", true},
		{"a.example", "http://a.example/x/y", true}, {"a.example", "https://A.example", true}, {"a.example", "http://a.example:8080/", true}, {"a.example", "http://a.example?q", true},
		{"a.example", "http://a.example.org/", false}, {"a.example", "http://www.a.example/", false}, {"http://a.example", "http://a.example/x", true}, {"http://a.example", "https://a.example/x", false}, {"http://", "http:///x", false}, {"müller.test", "http://xn--mller-kva.test/a", true}, {"http://MÜLLER.test/*", "http://xn--mller-kva.test/a", true},
		{"*.xn--mller-kva.test/*", "http://a.müller.test/ü", true}, {"müller.test/ü", "http://xn--mller-kva.test/ü", true}, {"muller.test", "http://xn--mller-kva.test/a", false}, {"*ü*", "http://a.test/ü", true},
		{"a.example", "http://user:pw@a.example:81/w", true}, {"a.example", "http://a.example./y", true}, {"a.example", "http://%61.example/y", true}, {"a.example", "//a.example/y", true}, {"a.example", "http:/a.example/y", true},
		{"a.example/*", "http://a.example/x?y=z", true}, {"a.example/*", "http://user@a.example./x?y=z", true}, {"a.example/x", "http://a.example:81/x", true}, {"a.example:80/x", "http://a.example:81/x", false},
		{"a.example", "http://a.example:99999/x", true}, {"a.example", "http://a.example:port/x", true}, {"a.example/*", "http://a.example:99999/x", true}, {"http://a.example/x", "http://a.example:99999/x", true}, {"http://a.example:80/x", "http://a.example:99999/x", false},
		{"http://a.example:*/x", "http://u@a.example:81/x", true}, {"http://a.example:8*/x", "http://u@a.example:99999/x", false}, {"2001:db8::1", "http://[2001:db8::1]:99999/", true}, {"[2001:db8::1]", "http://[2001:db8::1]:99999/", true},
		{"a.example/x?y=*", "http://a.example/x?y=z", true}, {"a.example/x?y=*", "http://a.example/x?z=y", false}, {"*.a.example", "http://b.a.example/x", true}, {"*.a.example", "http://a.example/x", false}, {"a.example/x", "http://a.example/x/y", false},
	} {
		if got := keep.NewPatterns(x.pattern).Has(x.uri); got != x.want {
			t.Errorf("%q %q: %v", x.pattern, x.uri, got)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, change := range []func(*keep.Rules){
		func(r *keep.Rules) { r.Policy = "newest" }, func(r *keep.Rules) { r.Policy = keep.Quality }, func(r *keep.Rules) { r.Resemblance = 0 },
		func(r *keep.Rules) { r.Resemblance = 1.1 }, func(r *keep.Rules) { r.Every = "week" },
	} {
		r := keep.Default()
		if r.Validate() != nil {
			t.Fatal("the default is not valid")
		}
		if change(&r); r.Validate() == nil {
			t.Errorf("%+v is valid", r)
		}
	}
}

// Pages about different subjects are not redundant because of each other.
func TestSubjectsStay(t *testing.T) {
	page := func(id, text string) report.Member {
		return report.Member{RecordID: "<" + id + ">", URI: "http://a.example/" + id, Date: "2024-01-0" + id + "T00:00:00Z", Relation: report.Near,
			Capture: report.Capture{Document: id, Text: text, TextBytes: 900}}
	}
	const says = " a b c d e f g h i j k l m n o p q r s t u v w x y z"
	c := report.Cluster{ID: "c", Size: 3, Members: []report.Member{page("1", "#m6"+says), page("2", "#m8"+says), page("3", "#m6"+says+" too")}}
	c.Members[0].Relation = report.Representative
	r := keep.Default()
	r.Resemblance, r.AllowLostURIs = 0.8, true
	choices, err := r.Choose(c, &words{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []report.Action{report.ActionKeep, report.ActionReview, report.ActionRedundant} {
		if choices[i].Action != want {
			t.Errorf("page %d: %+v, want %v", i+1, choices[i], want)
		}
	}
}
