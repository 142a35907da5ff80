package static

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"neardup/report"
	"neardup/report/look"
	"neardup/screen"
)

// finding answers one question on the start page.
type finding struct {
	Question string
	Figure   string
	Of       string // what the figure is of
	Text     []string
}

// headline returns the result in one sentence.
func (s *Statistics) headline() string {
	t := s.Totals
	switch {
	case t.Pages == 0:
		return "There are no pages in this workspace."
	case t.Duplicates == 0:
		return fmt.Sprintf("There are no near-duplicates here: none of the %s was found to repeat another.", look.Plural(t.Pages, "page", "pages"))
	}
	verb := "are near-duplicates: each"
	if t.Duplicates == 1 {
		verb = "is a near-duplicate: it"
	}
	return fmt.Sprintf("Of %s, %s %s has about the main content of another page, which stands for it.",
		look.Plural(t.Pages, "page", "pages"), look.Count(t.Duplicates), verb)
}

// findings returns how much is nearly the same, what could be dropped, where, and
// how certain that is. It returns none if there are no near-duplicates.
func (s *Statistics) findings() []finding {
	if s.Totals.Duplicates == 0 {
		return nil
	}
	return []finding{s.howMuch(), s.droppable(), s.where(), s.howSure()}
}

func (s *Statistics) howMuch() finding {
	t, c := s.Totals, s.Summary.Clusters
	f := finding{Question: "How much?", Figure: look.Percent(t.Duplicates, t.Pages), Of: "of the pages are near-duplicates"}
	if t.DuplicateBytes > 0 {
		f.Text = append(f.Text, fmt.Sprintf("They take %s of %s of payload: %s.", look.Bytes(t.DuplicateBytes), look.Bytes(t.Bytes), look.Percent(t.DuplicateBytes, t.Bytes)))
	}
	f.Text = append(f.Text, fmt.Sprintf("%s with the pages that stand for them; the largest has %s. %s in none.",
		look.Plural(c.Clusters, "cluster holds them", "clusters hold them"), look.Plural(c.Largest, "page", "pages"), look.Plural(t.Pages-t.Clustered, "page is", "pages are")))
	return f
}

// droppable returns what a keep list would drop, and what would be lost.
func (s *Statistics) droppable() finding {
	k := s.Keep
	f := finding{Question: "What could be dropped?", Figure: look.Percent(k.Redundant, s.Totals.Pages), Of: "of the pages are redundant: a keep list would drop them"}
	if k.Redundant > 0 {
		f.Text = append(f.Text, fmt.Sprintf("Of %s %s nothing. What the others lose is %s of the %s of all.",
			look.Plural(k.Redundant, "redundant page", "redundant pages"), look.Plural(k.Lossless, "loses", "lose"), look.Plural(k.Lost, "character", "characters"), look.Count(k.Characters)))
	}
	if k.Review > 0 {
		f.Text = append(f.Text, fmt.Sprintf("%s to be reviewed by people; %s until then.", look.Plural(k.Review, "page is", "pages are"), map[bool]string{true: "it stays", false: "they stay"}[k.Review == 1]))
	}
	return f
}

// fewHosts is the number of hosts whose total share a finding gives.
const fewHosts = 5

func (s *Statistics) where() finding {
	weight := func(c Counts) int64 { return c.DuplicateBytes }
	whole, of := s.Totals.DuplicateBytes, "of the bytes of near-duplicates"
	if !s.Hosts.weighed() {
		weight = func(c Counts) int64 { return c.Duplicates }
		whole, of = s.Totals.Duplicates, "of the near-duplicates"
	}
	top := s.Hosts.Top[0]
	f := finding{Question: "Where?", Figure: look.Percent(weight(top.Counts), whole), Of: of + " at one host, " + screen.Characters(top.Name, 60)}
	if top.Name == "" {
		f.Of = of + " at URIs without a host"
	}
	text := fmt.Sprintf("Near-duplicates are at %s of %s.", look.Count(s.Hosts.Duplicates), look.Plural(s.Hosts.Hosts, "host", "hosts"))
	if s.Hosts.Duplicates > fewHosts {
		first := int64(0)
		for _, host := range s.Hosts.Top[:fewHosts] {
			first += weight(host.Counts)
		}
		text += fmt.Sprintf(" The first %d have %s %s.", fewHosts, look.Percent(first, whole), of)
	}
	f.Text = append(f.Text, text)
	switch {
	case s.Across.Clusters == 0:
		f.Text = append(f.Text, "No cluster has pages of several hosts.")
	case s.Within.Clusters == 0:
		f.Text = append(f.Text, "All clusters reach across hosts.")
	default:
		f.Text = append(f.Text, fmt.Sprintf("%s across hosts, with %s of the near-duplicates; the other clusters keep to one host.",
			look.Plural(s.Across.Clusters, "cluster reaches", "clusters reach"), look.Percent(s.Across.Duplicates, s.Totals.Duplicates)))
	}
	return f
}

func hostName(name string) string {
	if name == "" {
		return "(no host)"
	}
	return name
}

// of counts the pages of some relations.
func (s *Statistics) of(relations ...report.Relation) (pages int64) {
	for _, e := range s.Evidence {
		if slices.Contains(relations, e.Relation) {
			pages += e.Pages
		}
	}
	return pages
}

func (s *Statistics) howSure() finding {
	duplicates := s.Totals.Duplicates
	same, near, contained := s.of(report.Identical), s.of(report.Near, report.Alike), s.of(report.Contained)
	f := finding{Question: "How sure?", Figure: look.Percent(same, duplicates), Of: "of the near-duplicates have exactly the text of the page that stands for them"}
	judged := s.judged()
	if judged != nil {
		f.Figure = share(judged.Value)
		pairs := "pairs"
		if judged.Different {
			pairs = "pairs whose texts differ"
		}
		f.Of = fmt.Sprintf("of a sample of %s are right, as people judged them: %s, 95%% interval %s to %s", pairs, look.Plural(judged.Pairs, "pair", "pairs"), share(judged.Low), share(judged.High))
		if judged.Missing > 0 {
			f.Text = append(f.Text, fmt.Sprintf("In %s nothing is judged: the share is that of the others, and the interval allows for all there being right and all wrong.", look.Plural(judged.Missing, "stratum", "strata")))
		}
		f.Text = append(f.Text, look.Percent(same, duplicates)+" of the near-duplicates have exactly the text of the page that stands for them.")
	}
	if near+contained > 0 {
		f.Text = append(f.Text, fmt.Sprintf("%s were compared with it and are near it%s. Where texts differ, the median resemblance is %s; the tenth that is least alike has %s or less.",
			look.Percent(near+contained, duplicates), containedOf(contained, duplicates), twoDecimals(s.Scores.Resemblance.Median), twoDecimals(s.Scores.Resemblance.Tenth)))
	}
	if review := s.of(report.Contains, report.Linked, report.Judged); review > 0 {
		f.Text = append(f.Text, fmt.Sprintf("%s (%s) should be looked at before anything is dropped: they have more than the page that stands for them, were compared with another one only, or are there because people say so.",
			look.Plural(review, "page", "pages"), look.Percent(review, duplicates)))
	}
	if judged == nil {
		f.Text = append(f.Text, "Scores are the method's own. No sample of these clusters was judged by people, so how many are right is not measured.")
	}
	return f
}

func containedOf(contained, duplicates int64) string {
	if contained == 0 {
		return ""
	}
	return fmt.Sprintf(", or contained in it (%s)", look.Percent(contained, duplicates))
}

// judged returns the best audit of these clusters, or nil if there is none. It
// prefers one that covers all strata, then one of all pairs instead of only those
// with different texts, then the largest.
func (s *Statistics) judged() (best *Audit) {
	for i, a := range s.Audits {
		if !a.Outdated && a.Pairs > 0 && (best == nil || cmp.Or(report.FalseFirst(a.Missing > 0, best.Missing > 0),
			report.FalseFirst(a.Different, best.Different), cmp.Compare(best.Pairs, a.Pairs)) < 0) {
			best = &s.Audits[i]
		}
	}
	return best
}

func share(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }

func twoDecimals(s report.Score) string { return s.Short() }

// steps are the steps of a funnel.
type steps struct {
	Unit  string
	Steps []step
}

// step is a number of things that a step leaves, or removes.
type step struct {
	Name  string
	Count int64
	Lost  bool
	Note  string
}

// funnel returns the steps from records to texts, and from pairs to near pairs.
func (s *Statistics) funnel() (records, pairs steps) {
	sum := s.Summary
	skipped := int64(0)
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(sum.Records.Skipped)) {
		skipped += sum.Records.Skipped[reason]
		reasons = append(reasons, reason+" "+look.Count(sum.Records.Skipped[reason]))
	}
	out := sum.Unsigned + sum.Navigation
	records = steps{"records, pages, texts", []step{
		{"records read", sum.Records.Read, false, look.Plural(sum.Files, "file", "files")},
		{"no pages", skipped, true, "skipped: " + strings.Join(reasons, ", ")},
		{"met again", sum.Records.Duplicates, true, "the same capture in another file"},
		{"pages", sum.Records.Documents, false, revisits(sum.Records.Revisits)},
		{"same text", sum.Records.Documents - sum.Texts, true, "pages whose text another page has: identical, with nothing to compare"},
		{"texts", sum.Texts, false, "distinct visible texts"},
		{"left out", out, true, fmt.Sprintf("too short for a signature %s, of navigation pages only %s", look.Count(sum.Unsigned), look.Count(sum.Navigation))},
		{"texts compared", sum.Texts - out, false, "those that can meet another"},
	}}
	p := sum.Pairs
	pairs = steps{"pairs of texts", []step{
		{"pairs compared", p.Compared, false, s.candidates()},
		{"by length", p.ByLength, true, "their lengths rule the thresholds out"},
		{"by sketch", p.BySketch, true, "what they have in common cannot reach the thresholds"},
		{"by distance", p.ByDistance, true, "too many edits"},
		{"by score", p.ByScore, true, "scored, and under the thresholds"},
		{"by rarity", p.ByRarity, true, "the same text, but for most of it text that stands all over their sites"},
		{"by title", p.ByTitle, true, "different pages of one site, and not nearly equal or of different subjects; or of different sites, with other numbers"},
		{"near pairs", p.Near, false, "of which clusters are made"},
	}}
	for _, f := range []*steps{&records, &pairs} {
		f.Steps = slices.DeleteFunc(f.Steps, func(s step) bool { return s.Lost && s.Count == 0 })
	}
	return records, pairs
}

func revisits(n int64) string {
	if n == 0 {
		return "read from them"
	}
	return fmt.Sprintf("read from them; %s repeat the capture of another record", look.Count(n))
}

// candidates describes where the pairs come from.
func (s *Statistics) candidates() string {
	if n := s.Summary.Candidates; n != nil {
		return look.Plural(*n, "candidate pair", "candidate pairs") + " were found by signatures or tokens in common"
	}
	sets := s.Summary.Sets
	return fmt.Sprintf("inside %s, which have %s; the largest has %s", look.Plural(sets.Sets, "perhaps-similar set", "perhaps-similar sets"),
		look.Plural(sets.Members, "text", "texts"), look.Count(sets.Largest))
}
