package explaining

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/explain"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
)

// explainable are texts that every filter ends a pair of: near copies, chains of
// them, texts in others, pages of one template about different things.
func explainable(rng *rand.Rand) (texts []string) {
	texts, _ = pipetest.Planted(rng, 5)
	texts = append(texts, pipetest.Chains(rng, 2, 7)...)
	english := pipetest.Scripts(rng)[0]
	part := strings.Join(english(200), "")
	texts = append(texts, part, strings.Join(english(500), "")+"\n"+part, strings.Join(english(40), "")+part)
	moved := english(150)
	texts = append(texts, strings.Join(moved, ""), strings.Join(append(slices.Clone(moved[len(moved)/2:]), moved[:len(moved)/2]...), ""))
	body := english(200)
	for _, name := range []string{"circle", "square", "arrow", "raster", "border"} {
		page := "Reference\nThe " + name + "\n" + strings.Join(body, "") + "\n"
		for range 4 {
			page += "Call " + name + " before anything else is drawn. "
		}
		texts = append(texts, page+strings.Join(english(40), ""))
	}
	return append(texts, texts[0], "short", "tiny text")
}

// writePages writes the texts as pages of one site.
func writePages(t *testing.T, texts []string) string {
	t.Helper()
	var b bytes.Buffer
	for i, s := range texts {
		line, err := json.Marshal(map[string]string{"id": pipetest.TextURN(i), "text": s, "url": fmt.Sprintf("http://site.test/%d", i)})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return pipetest.WriteFile(t, filepath.Join(t.TempDir(), "texts.jsonl"), b.Bytes())
}

// akin reports for every two texts whether they have 40 bytes in a row in common.
func akin(texts []string) map[[2]int]bool {
	const window = 40
	in := map[string][]int{}
	for i, s := range texts {
		for at := range max(0, len(s)-window+1) {
			w := s[at : at+window]
			if of := in[w]; len(of) == 0 || of[len(of)-1] != i {
				in[w] = append(of, i)
			}
		}
	}
	pairs := map[[2]int]bool{}
	for _, of := range in {
		for n, j := range of {
			for _, i := range of[:n] {
				pairs[[2]int{i, j}] = true
			}
		}
	}
	return pairs
}

// others is the number of unrelated pairs for each one that is explained.
const others = 8

// explainAll runs all stages over the texts and explains the pairs that have text or
// a cluster in common. Of the others, nearly all of which end by the same filter, it
// explains each eighth, from another one for each remainder.
func explainAll(t *testing.T, c configs.Config, texts []string, remainder int, check func(i, j int, joined bool, e explain.Explanation)) rows.VerifyCounts {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	clusterOf, _ := pipetest.ClustersOf(t, pipetest.RunAll(t, dir, c, workspace.Options{}, writePages(t, texts)))
	w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	related, n := akin(texts), 0
	for i := range texts {
		for j := range i {
			x := clusterOf[pipetest.TextURN(j)]
			joined := x != 0 && x == clusterOf[pipetest.TextURN(i)]
			if n++; !joined && !related[[2]int{j, i}] && n%others != remainder%others {
				continue
			}
			e, err := Pages(context.Background(), w, pipetest.TextURN(j), pipetest.TextURN(i))
			if err != nil {
				t.Fatal(err)
			}
			check(j, i, joined, e)
		}
	}
	var v rows.VerifyCounts
	if err := w.Counts(workspace.StageVerify, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The explanation of every pair agrees with what the run did: with its clusters,
// with the verdicts it kept, and, all pairs together, with the counts of its
// filters.
func TestExplanationsAgreeWithTheRun(t *testing.T) {
	if testing.Short() || pipetest.Raced {
		t.Skip("explains thousands of pairs, one after another")
	}
	var all [][]string // a preset and settings over it
	for _, name := range configs.Names() {
		all = append(all, []string{name})
	}
	strict := []string{"verify.resemblance=0.91", "verify.containment=2", "verify.rare_pages=0"} // several leaders in a set
	all = append(all, []string{"default", "cluster.merge=following"}, []string{"default", "verify.contained=links"},
		[]string{"default", "verify.closing=transitive"}, []string{"default", "verify.closing=leaders"}, []string{"paper", "verify.closing=representative"}, []string{"default", "cluster.merge=pairs"},
		[]string{"default", "verify.rare_pages=1"},
		append([]string{"default"}, strict...), append([]string{"default", "cluster.merge=following"}, strict...),
		append([]string{"paper"}, strict...))
	for remainder, v := range all {
		t.Run(strings.Join(v, " "), func(t *testing.T) {
			t.Parallel()
			checkExplanations(t, pipetest.MustLoadPreset(t, v[0], v[1:]...), explainable(rand.New(rand.NewPCG(21, 22))), remainder)
		})
	}
}

// drift are texts of which each is the one before with some sentences changed:
// lists overlap, so that merging makes sets that overlap too.
func drift(rng *rand.Rand, n int) (texts []string) {
	english := pipetest.Scripts(rng)[0]
	sentences := english(220)
	for range n {
		for range 1 + rng.IntN(3) {
			sentences[rng.IntN(len(sentences))] = english(4)[0]
		}
		texts = append(texts, strings.Join(sentences[:len(sentences)-rng.IntN(len(sentences)/3)], ""))
	}
	return texts
}

// With sets that overlap, a text leads in one and has joined a leader in another.
func TestExplanationsOfOverlappingSets(t *testing.T) {
	if pipetest.Raced {
		t.Skip("explains thousands of pairs, one after another")
	}
	rng := rand.New(rand.NewPCG(3, 9))
	several, parted := 0, 0
	for range 3 {
		c := pipetest.MustLoad(t, "verify.resemblance=0.8", "verify.containment=2", "verify.rare_pages=0", "verify.trustable=false", "sign.modulus=3")
		texts := drift(rng, 24)
		n, _ := checkExplanations(t, c, texts, 0)
		several += n
		if err := c.Set([]string{"cluster.merge=following"}); err != nil {
			t.Fatal(err)
		}
		_, ended := checkExplanations(t, c, texts, 0)
		parted += ended[explain.BySets]
	}
	if several == 0 || parted == 0 {
		t.Errorf("%d pairs were in two sets, %d in different ones", several, parted)
	}
}

// checkExplanations gives the number of pairs that are in several sets, and what
// ended the pairs.
func checkExplanations(t *testing.T, c configs.Config, texts []string, remainder int) (several int, ended map[explain.Filter]int) {
	var got rows.VerifyCounts
	ended = map[explain.Filter]int{}
	want := explainAll(t, c, texts, remainder, func(i, j int, joined bool, e explain.Explanation) {
		r, d := e.Run, e.Decision
		fail := func(what string) {
			t.Helper()
			t.Errorf("%d and %d, joined %v: %s: outcome %+v, decision %+v, run %+v", i, j, joined, what, e.Outcome, d, r)
		}
		if e.Outcome.Joined != joined || joined != (e.Outcome.EndedBy == "") {
			fail("other outcome")
		}
		if r.SameText != (texts[i] == texts[j]) {
			fail("same text")
		}
		if r.SameText {
			return // not compared
		}
		ended[e.Outcome.EndedBy]++
		common := 0
		for _, s := range r.Sets {
			if s.Has == [2]bool{true, true} {
				common++
			}
		}
		if common > 1 {
			several++
		}
		if v := r.Verdict; v != nil {
			resemblance, containment := e.Score.Resemblance, e.Score.Containment
			if d.Relation == "alike" {
				resemblance, containment = e.Rarity.PlainResemblance, e.Rarity.PlainContainment
			}
			if !d.Near || v.Relation != d.Relation || r.Compared == 0 ||
				c.NewMeasure() != nil && (v.Resemblance.String() != resemblance.String() || v.Containment.String() != containment.String()) {
				fail("another verdict was kept")
			}
		} else if r.Compared > 0 && d.Near && !(joined && c.Verify.Closing != configs.ClosingRepresentative) {
			fail("compared, near, and no verdict was kept")
		}
		if joined && r.Verdict == nil {
			checkChain(t, e)
		}
		if slices.Index(texts, texts[i]) != i || slices.Index(texts, texts[j]) != j {
			return // counted already: the text is compared once
		}
		for range r.Compared {
			switch d.EndedBy {
			case "":
				got.AddDecision(pair.Decision{Verdict: verify.Verdict{Near: true}})
			default:
				got.Pairs++
				*map[explain.Filter]*int64{explain.ByLength: &got.ByLength, explain.BySketch: &got.BySketch,
					explain.ByDistance: &got.ByDistance, explain.ByScore: &got.ByScore, explain.ByRarity: &got.ByRarity, explain.ByTitle: &got.ByTitle}[d.EndedBy]++
			}
		}
	})
	t.Logf("ended by %v; the run: %+v", ended, want)
	want.Sets, want.Clusters, want.Contained = 0, 0, report.ContainedCounts{}
	whole := c.Verify.Closing == configs.ClosingRepresentative || c.Verify.Closing == configs.ClosingTransitive && !c.Pairs() && want.OverBudget == 0
	if got != want && whole {
		t.Errorf("all pairs together: %+v, the run has %+v", got, want)
	}
	return several, ended
}

// checkChain follows a chain from a to b.
func checkChain(t *testing.T, e explain.Explanation) {
	t.Helper()
	chain := e.Run.Chain
	if len(chain) < 2 || len(chain) != e.Run.Steps || chain[0].From.TextID != e.Texts[0].Page.TextID ||
		chain[len(chain)-1].To.TextID != e.Texts[1].Page.TextID {
		t.Errorf("chain %+v from %+v to %+v", chain, e.Texts[0].Page, e.Texts[1].Page)
		return
	}
	for i, s := range chain[1:] {
		if s.From != chain[i].To || s.Resemblance == 0 {
			t.Errorf("chain breaks at %d: %+v", i+1, chain)
		}
	}
}

func TestExplanationsEndByEveryFilter(t *testing.T) {
	if testing.Short() || pipetest.Raced {
		t.Skip("explains thousands of pairs, one after another")
	}
	ended := map[explain.Filter]bool{}
	for remainder, c := range []configs.Config{
		pipetest.MustLoad(t, "verify.rare_pages=1", "verify.all_pairs=0"), pipetest.MustLoad(t, "cluster.max_list=2"), pipetest.MustLoad(t, "cluster.merge=pairs", "cluster.common=40"),
		pipetest.MustLoadPreset(t, "minhash-lsh"), pipetest.MustLoadPreset(t, "ppjoin"),
		pipetest.MustLoad(t, "verify.resemblance=0.97", "verify.containment=2", "verify.rare_pages=0", "verify.rounds=1"),
		pipetest.MustLoad(t, "verify.resemblance=0.9", "verify.containment=0.6", "verify.rare_pages=0", "text.frames=0"),
	} {
		explainAll(t, c, explainable(rand.New(rand.NewPCG(21, 22))), remainder, func(_, _ int, _ bool, e explain.Explanation) {
			ended[e.Outcome.EndedBy] = true
			if e.Outcome.Why == "" {
				t.Errorf("no reason: %+v", e.Outcome)
			}
		})
	}
	for _, f := range []explain.Filter{"", explain.BySignatures, explain.ByLists, explain.ByLeaders, explain.ByLength,
		explain.BySketch, explain.ByDistance, explain.ByScore, explain.ByRarity, explain.ByClosing} {
		if !ended[f] {
			t.Errorf("no pair ended by %q: %v", f, ended)
		}
	}
}

func TestExplainNavigationPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	links := "<a href=/a>One</a><br><a href=/b>Two</a><br><a href=/c>Three</a><br><a href=/d>Four</a>"
	file := pipetest.WriteRecords(t, pipetest.Archived("response", "1", "http://x.example/nav", 1, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+links),
		pipetest.Archived("response", "2", "http://x.example/nav", 2, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+links))
	c := pipetest.MustLoad(t, "text.pages=topic")
	pipetest.RunAll(t, dir, c, workspace.Options{}, file)
	w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	e, err := Pages(context.Background(), w, "http://x.example/nav@2020-01-01", "http://x.example/nav@2020-01-02")
	if err != nil {
		t.Fatal(err)
	}
	if e.Outcome.Joined || e.Outcome.EndedBy != explain.ByPages || !e.Run.SameText {
		t.Errorf("%+v, %+v", e.Outcome, e.Run)
	}
}

// Two pages of one site with other titles and URIs end by these, unless less
// resemblance is asked for.
func TestExplainOtherPages(t *testing.T) {
	english := pipetest.Scripts(rand.New(rand.NewPCG(5, 6)))[0]
	body := strings.Join(english(60), "")
	page := func(id string) []byte {
		return pipetest.Archived("response", id, "http://x.example/"+id, 1, pipetest.OkHTML+"<title>About "+id+"</title><p>"+body+strings.Join(english(12), ""))
	}
	file := pipetest.WriteRecords(t, page("menus"), page("toolbars"))
	for _, other := range []float64{0.9, 0.5} {
		dir := filepath.Join(t.TempDir(), "ws")
		c := pipetest.MustLoad(t, "extract.clean=none", fmt.Sprintf("verify.other_pages=%v", other))
		pipetest.RunAll(t, dir, c, workspace.Options{}, file)
		w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var counts rows.VerifyCounts
		e, err := Pages(context.Background(), w, "http://x.example/menus", "http://x.example/toolbars")
		if err := errors.Join(err, w.Counts(workspace.StageVerify, &counts), w.Close()); err != nil {
			t.Fatal(err)
		}
		if r := e.Score.Resemblance; r < 0.6 || r > 0.89 || e.Decision.OtherPages == nil || *e.Decision.OtherPages != other {
			t.Fatalf("resemblance %v, %+v", r, e.Decision)
		}
		want := explain.Outcome{Joined: other == 0.5}
		if !want.Joined {
			want.EndedBy = explain.ByTitle
		}
		if e.Outcome.Joined != want.Joined || e.Outcome.EndedBy != want.EndedBy || e.Decision.EndedBy != want.EndedBy || !want.Joined && !strings.Contains(e.Outcome.Why, "different titles and URIs") {
			t.Errorf("other_pages %v: %+v, %+v", other, e.Outcome, e.Decision)
		}
		if counts.ByTitle == 1 == want.Joined {
			t.Errorf("other_pages %v: counted %+v", other, counts)
		}
	}
}

// Two pages of one site end by their titles, however equal they are, if each is about a
// word or number of its title that the other hardly says.
func TestExplainOtherSubjects(t *testing.T) {
	body := strings.Join(pipetest.Scripts(rand.New(rand.NewPCG(5, 6)))[0](60), "")
	page := func(id, says string) []byte {
		return pipetest.Archived("response", id, "http://x.example/"+id, 1, pipetest.OkHTML+"<title>About "+id+"</title><p>"+body+"They show "+says+".")
	}
	for _, tt := range []struct {
		ids, says [2]string
		subjects  bool
	}{
		{[2]string{"menus", "toolbars"}, [2]string{"menus", "toolbars"}, true},
		{[2]string{"menus", "toolbars"}, [2]string{"menus", "menus and toolbars"}, false},
		{[2]string{"M6", "M8"}, [2]string{"M6", "M8"}, true},
		{[2]string{"M6", "M8"}, [2]string{"M6", "M6"}, false},
	} {
		dir := filepath.Join(t.TempDir(), "ws")
		c := pipetest.MustLoad(t, "extract.clean=none")
		pipetest.RunAll(t, dir, c, workspace.Options{}, pipetest.WriteRecords(t, page(tt.ids[0], tt.says[0]), page(tt.ids[1], tt.says[1])))
		w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Pages(context.Background(), w, "http://x.example/"+tt.ids[0], "http://x.example/"+tt.ids[1])
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		if r := e.Score.Resemblance; r < 0.95 || e.Decision.OtherSubjects != tt.subjects || e.Decision.Near == tt.subjects || e.Outcome.Joined == tt.subjects {
			t.Errorf("%q: resemblance %v, %+v, %+v", tt.says, r, e.Decision, e.Outcome)
		}
		if tt.subjects && (e.Outcome.EndedBy != explain.ByTitle || e.Decision.EndedBy != explain.ByTitle || !strings.Contains(e.Outcome.Why, "a word or number of its title")) {
			t.Errorf("%q: %+v, %+v", tt.says, e.Decision, e.Outcome)
		}
	}
}

// Two pages of different sites end by their titles, however equal they are, if they say
// other numbers.
func TestExplainOtherNumbers(t *testing.T) {
	body := strings.Join(pipetest.Scripts(rand.New(rand.NewPCG(5, 6)))[0](180), "")
	// report says a number in each third sentence, article all in one.
	report := func(numbers string) (text string) {
		said, words := strings.Split(numbers, ", "), strings.Fields(strings.ReplaceAll(body, ".", ""))
		for i := range 3 * len(said) {
			text += strings.Join(words[6*i:6*i+6], " ")
			if i%3 == 0 {
				text += " in " + said[i/3] + " of them"
			}
			text += ". "
		}
		return text
	}
	article := func(numbers string) string { return body + "They count " + numbers + "." }
	page := func(id, text string) []byte {
		return pipetest.Archived("response", id, "http://"+id+".example/", 1, pipetest.OkHTML+"<title>About "+id+"</title><p>"+text)
	}
	for _, tt := range []struct {
		text    func(numbers string) string
		numbers string
		apart   bool
	}{
		{report, "21, 22, 23, 24, 25, 26, 27, 28", true},
		{report, "11, 12, 13, 14, 25, 26, 27, 28", false},
		{article, "21, 22, 23, 24, 25, 26, 27, 28", false}, // a copy beside other figures
	} {
		dir := filepath.Join(t.TempDir(), "ws")
		c := pipetest.MustLoad(t, "extract.clean=none")
		pipetest.RunAll(t, dir, c, workspace.Options{}, pipetest.WriteRecords(t, page("menus", tt.text("11, 12, 13, 14, 15, 16, 17, 18")), page("toolbars", tt.text(tt.numbers))))
		w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Pages(context.Background(), w, "http://menus.example/", "http://toolbars.example/")
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		if r := e.Score.Resemblance; r < 0.8 || e.Decision.OtherNumbers != tt.apart || e.Decision.Near == tt.apart || e.Outcome.Joined == tt.apart || e.Decision.OtherPages != nil {
			t.Errorf("%s: resemblance %v, %+v, %+v", tt.numbers, r, e.Decision, e.Outcome)
		}
		if tt.apart && (e.Outcome.EndedBy != explain.ByTitle || e.Decision.EndedBy != explain.ByTitle || !strings.Contains(e.Outcome.Why, "other numbers")) {
			t.Errorf("%s: %+v, %+v", tt.numbers, e.Decision, e.Outcome)
		}
	}
}

// Texts of different sites of which one has the article of the other in its frame are
// explained by the comparison that decides, and by what came of the other one.
func TestExplainRegained(t *testing.T) {
	lines := func(kind string, from, to int) (s string) {
		for i := from; i < to; i++ {
			s += fmt.Sprintf("The %s %c%c was told in town like %s by all. ", kind, 'a'+i/26, 'a'+i%26, strings.Repeat(string(rune('a'+i%26)), 5+i/26))
		}
		return s
	}
	others := func(n int) (s string) {
		for i := range n {
			s += fmt.Sprintf("Nobody on the island %c%c knows %s any more. ", 'a'+i/26, 'a'+i%26, strings.Repeat(string(rune('a'+i%26))+" ", 20+i/26))
		}
		return s
	}
	article := lines("story", 0, 40)
	for _, tt := range []struct {
		name      string
		addresses int    // of the article on the small site
		more      string // of the copy
		whole     string // verify.whole
		decides   bool
		scored    bool // the second comparison, which does not decide
		relation  string
	}{
		{"near", 6, "", "0.6", true, false, "near"},
		{"too common", 7, "", "0.6", false, false, ""},
		{"other text", 3, others(38), "0.6", false, true, ""},
		{"other text, aligned", 3, others(10), "0.8", true, false, ""},
		{"contains the other", 3, lines("comment", 0, 6) + others(50), "0.6", false, true, "a-in-b"},
	} {
		var tsv strings.Builder
		fmt.Fprintf(&tsv, "http://two.example/copy\t%s%s\n", article, tt.more)
		for v := range tt.addresses {
			fmt.Fprintf(&tsv, "http://one.example/story?v=%d\t%s%s\n", v, article, lines("comment", 6*v, 6*v+6))
		}
		dir, c := filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t, "verify.whole="+tt.whole)
		pipetest.RunAll(t, dir, c, workspace.Options{}, pipetest.WriteFile(t, filepath.Join(t.TempDir(), "crawl.tsv"), []byte(tsv.String())))
		w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Pages(context.Background(), w, "http://one.example/story?v=0", "http://two.example/copy")
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		r, regained := e.Regained, e.Texts[0].Regained
		if r == nil || r.Decides != tt.decides || regained != tt.decides || e.Texts[1].Regained || (r.Score != nil) != tt.scored || e.Decision.Relation != tt.relation {
			t.Fatalf("%s: %+v, %+v, %+v", tt.name, r, e.Texts, e.Decision)
		}
		if near := tt.relation == "near"; near != (e.Rarity != nil) || near && (e.Rarity.LeastResemblance != 0.45 || e.Rarity.Resemblance != r.Rare) {
			t.Errorf("%s: %+v, %+v", tt.name, r, e.Rarity)
		}
		if little := r.Rare < 0.45; little != (tt.name == "too common") || r.Rare == 0 || r.LeastRare != 0.45 {
			t.Errorf("%s: %+v", tt.name, r)
		}
		if s := r.Score; s != nil && (s.Resemblance >= 0.5 || s.Resemblance <= e.Score.Resemblance) {
			t.Errorf("%s: %+v, and without frames %+v", tt.name, *s, e.Score)
		}
		if v := e.Run.Verdict; (v != nil) != (tt.relation != "") || v != nil && (v.Relation != tt.relation || v.Resemblance.String() != e.Score.Resemblance.String()) {
			t.Errorf("%s: the run has %+v, and %+v is explained", tt.name, v, e.Score)
		}
	}
}

func TestExplainOfStaleStages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	texts := explainable(rand.New(rand.NewPCG(1, 1)))[:2]
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.WriteLines(t, texts))
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t, "verify.slope=0.3"), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	e, err := Pages(context.Background(), w, pipetest.TextURN(0), pipetest.TextURN(1))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(e.Run.Stale, "verify is not up to date") || e.Outcome.Why == "" || e.TLCS.Slope != 0.3 {
		t.Errorf("%+v, %+v", e.Run, e.Outcome)
	}
	for _, name := range []string{"urn:text:7", "http://none.example/", "", "@", "<>", "\x1b[31m"} {
		if _, err := Pages(context.Background(), w, pipetest.TextURN(0), name); !errors.Is(err, workspace.ErrUsage) || strings.Contains(fmt.Sprint(err), "\x1b") {
			t.Errorf("%q: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.DB.GetJSON(layout.MetaKey(results.NamesIndex), new(string)); err != nil {
		t.Fatal(err)
	}
	b := w.DB.Batch()
	if err := errors.Join(b.Delete(layout.MetaKey(results.NamesIndex)), b.Commit()); err != nil {
		t.Fatal(err)
	}
	if _, err := Pages(ctx, w, pipetest.TextURN(0), pipetest.TextURN(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Pages(context.Background(), w, pipetest.TextURN(0), pipetest.TextURN(1)); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// Pages are found by what people call them, and the index follows the
// extraction.
func TestFindPage(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t)
	page := func(id, uri string, day int) []byte {
		return pipetest.Archived("response", id, uri, day, pipetest.OkHTML+"<p>Page "+id+" has this text.")
	}
	check := func(want map[string]string) {
		t.Helper()
		w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{RunRows: 3})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		for name, id := range want {
			got, err := results.FindPage(context.Background(), w, name)
			if id == "" && !errors.Is(err, workspace.ErrUsage) || id != "" && (err != nil || got.RecordID != "<urn:test:"+id+">") {
				t.Errorf("%s: %q, %v, want %q", name, got.RecordID, err, id)
			}
		}
	}
	first := pipetest.WriteRecords(t, page("1", "http://x.example/p?q=1", 1), page("2", "http://x.example/p?q=1", 2),
		page("3", "https://x.example/p?q=1", 3), page("4", "http://X.example/only#part", 4), page("5", "http://x.example/at@2024", 5),
		page("6", "http://x.example/both", 6), page("6", "http://x.example/both", 7))
	pipetest.RunAll(t, dir, c, workspace.Options{}, first)
	check(map[string]string{
		"urn:test:4": "4", "<urn:test:4>": "4", "urn:test:4@2020": "4", "urn:test:4@2021": "",
		"http://X.example/only#part": "4", "http://x.example/only": "4", "https://x.example/only": "4", "x.example/only": "4", "X.example/only": "4",
		"http://x.example/only@2020-01-04T00:00:00Z": "4", "20200104000000/http://x.example/only": "4", "20200105000000/http://x.example/only": "",
		"http://x.example/p?q=1": "", "http://x.example/p?q=1@2020": "", "http://x.example/p?q=1@2020-01-01": "1", "http://x.example/p?q=1@20200102": "2",
		"https://x.example/p?q=1": "3", "http://x.example/p?q=1@20200103": "3", "x.example/p?q=1": "",
		"http://x.example/at@2024": "5", "http://x.example/at@2024@2020": "5",
		"urn:test:6": "", "urn:test:6@20200107": "6", "http://x.example/both@2020-01-06": "6",
		"http://x.example/p": "", "http://x.example/P?q=1": "", "http://x.example/later": "",
	})
	pipetest.RunAll(t, dir, c, workspace.Options{}, first, pipetest.WriteRecords(t, page("7", "http://x.example/later", 7)))
	check(map[string]string{"http://x.example/later": "7", "urn:test:4": "4", "http://x.example/p?q=1": ""})
}

func TestExplainFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		return pipetest.WriteFile(t, filepath.Join(dir, name), []byte(content))
	}
	text := strings.Join(pipetest.Scripts(rand.New(rand.NewPCG(2, 2)))[0](200), "")
	a, b := file("a.txt", text), file("b.html", "<!DOCTYPE html><title>x</title><body><p>"+text+"</p></body>")
	e, err := Files(pipetest.MustLoad(t), a, b)
	if err != nil || !e.Outcome.Joined || e.Texts[0].Characters != e.Texts[1].Characters || e.Score.Resemblance != 1 {
		t.Errorf("%+v, %+v, %v", e.Outcome, e.Texts, err)
	}
	if e, err = Files(pipetest.MustLoad(t), a, file("empty.txt", "")); err != nil || e.Outcome.Joined || e.Score.Known || e.Curved() {
		t.Errorf("%+v, %v", e.Outcome, err)
	}
	for _, bad := range []string{filepath.Join(dir, "none"), dir, file("x.pdf", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")} {
		if _, err := Files(pipetest.MustLoad(t), a, bad); !errors.Is(err, workspace.ErrUsage) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, name := range configs.Names() {
		e, err := Files(pipetest.MustLoadPreset(t, name), a, b)
		if err != nil || !e.Outcome.Joined || !slices.ContainsFunc(e.Diff.Segments, func(s explain.Segment) bool { return s.Kind == explain.Same || s.Kind == explain.Trusted }) {
			t.Errorf("%s: %+v, %v", name, e.Outcome, err)
		}
	}
}

// Rows of another version of the stages are not up to date, and not damaged.
func TestExplainAnOlderVersion(t *testing.T) {
	z, err := zip.OpenReader(filepath.Join("..", "workspace", "testdata", "format1.zip"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	if err := errors.Join(os.CopyFS(dir, z), z.Close()); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Pages(t.Context(), w, "<urn:uuid:00000000-0000-4000-8000-000000000002>", "<urn:uuid:00000000-0000-4000-8000-000000000001>")
	if err := errors.Join(err, w.Close()); !errors.Is(err, workspace.ErrUsage) || errors.Is(err, layout.ErrCorrupt) {
		t.Error(err)
	}
}
