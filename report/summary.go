package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"neardup/verify"
)

// Summary holds the counts of a run. The same input and settings give the same
// summary, except for the stages' times.
type Summary struct {
	Files      int          `json:"files"`
	Unreadable int          `json:"unreadable_files"`
	Records    Records      `json:"records"`
	Texts      int64        `json:"texts"`            // distinct visible texts
	Unsigned   int64        `json:"unsigned_texts"`   // too short for a signature, so compared with no other
	Navigation int64        `json:"navigation_texts"` // left out with pages: topic
	Frames     *Frames      `json:"frames,omitempty"` // with text.frames
	Signatures int64        `json:"signatures"`
	Lists      Lists        `json:"lists"`
	Sets       Sets         `json:"sets"`
	Candidates *int64       `json:"candidate_pairs,omitempty"` // of methods whose candidates are pairs, in place of sets
	Pairs      Pairs        `json:"pairs"`
	Judged     *JudgedPairs `json:"judged,omitempty"` // if judged pairs are enforced
	Clusters   Clusters     `json:"clusters"`
	Duplicates Duplicates   `json:"near_duplicates"`

	EstimatedBy string `json:"estimated_by,omitempty"` // as in Cluster

	Contained ContainedCounts `json:"contained,omitzero"` // only with contained: apart
	Stages    []StageTime     `json:"stages"`

	part ClusterCounts // of a cluster whose last part was not added yet
}

// Records accounts for every record: Read = Documents + Duplicates + all
// Skipped.
type Records struct {
	Read       int64            `json:"read"`
	Documents  int64            `json:"documents"`
	Duplicates int64            `json:"duplicates_of_input"` // captures that another file had
	Revisits   int64            `json:"revisits"`            // documents and duplicates that are revisits
	Parsed     int64            `json:"parsed"`              // documents and duplicates whose HTML was parsed into a tree
	Skipped    map[string]int64 `json:"skipped"`             // by reason
	Kinds      map[string]int64 `json:"kinds,omitempty"`     // HTML pages by kind, without revisits
	Choices    map[string]int64 `json:"choices,omitempty"`   // soft choices made for documents and duplicates
	Clipped    int64            `json:"clipped"`             // documents and duplicates whose payload was cut
	Damaged    int64            `json:"damaged_places"`      // damaged places in files
}

// Frames counts the sentences that are on many pages of a site, and what they
// remove from the signed texts.
type Frames struct {
	Texts      int64 `json:"texts"`
	Characters int64 `json:"characters"`
	LeftOut    int64 `json:"characters_left_out"`
}

// Lists counts the signatures' lists of texts.
type Lists struct {
	Lists           int64 `json:"lists"`
	Singletons      int64 `json:"singletons"`
	DeletedFrequent int64 `json:"deleted_frequent"`
	DeletedSites    int64 `json:"deleted_few_sites"`
	Longest         int64 `json:"longest"`
}

// Sets counts the perhaps-similar sets.
type Sets struct {
	Sets    int64 `json:"sets"`
	Members int64 `json:"members"`
	Largest int64 `json:"largest"`
}

// Pairs counts the compared pairs of texts by where each ended.
type Pairs struct {
	Compared int64 `json:"compared"`
	verify.Outcomes
	OverBudget int64 `json:"over_budget,omitempty"` // pairs that verify.max_scored left out; they do not count as compared
	TooLarge   int64 `json:"too_large,omitempty"`   // groups of linked texts that were not partitioned, since they have more near pairs than verify.partition.max_links
}

// JudgedPairs counts the judged pairs that clusters have to follow.
type JudgedPairs struct {
	MustJoin    int64            `json:"must_join"` // number followed; so is MustNot
	MustNot     int64            `json:"must_not"`
	NotFollowed map[string]int64 `json:"not_followed,omitempty"` // by reason
}

// Clusters holds the counts of the clusters of at least two pages.
type Clusters struct {
	Clusters   int64              `json:"clusters"`
	Pages      int64              `json:"pages"`
	Largest    int                `json:"largest"`
	BySize     []SizeBucket       `json:"by_size"`
	ByRelation map[Relation]int64 `json:"by_relation"`
	ByScore    []ScoreBand        `json:"by_score"` // members other than the first, by resemblance to the page that they were verified against
}

// ScoreBand counts the pages with a score from From up to the next band. The band
// from 1 counts pages with the same text. Other pages with a score of 1 are in the
// next band.
type ScoreBand struct {
	From  Score `json:"from"`
	Pages int64 `json:"pages"`
}

// bands are the bands of scores. Removing a page loses the part of it that its
// match lacks, so the lower the band, the more of a page would be lost.
var bands = [...]Score{1, 0.99, 0.9, 0.8, 0.65, 0}

// SizeBucket counts the clusters of From to To pages.
type SizeBucket struct {
	From     int   `json:"from"`
	To       int   `json:"to"`
	Clusters int64 `json:"clusters"`
	Pages    int64 `json:"pages"`
}

// Duplicates counts the members of clusters other than the first. Which of them can
// go is decided by a keep list, which compares each page with the one that is kept
// in its place.
type Duplicates struct {
	Pages int64 `json:"pages"`
	Bytes int64 `json:"bytes"` // payload bytes
}

// StageTime is the time and memory of a stage.
type StageTime struct {
	Stage   string  `json:"stage"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"`
	Rate    float64 `json:"pages_per_second"`
}

// ClusterCounts is what a cluster adds to a summary.
type ClusterCounts struct {
	Size      int64                 // pages; 0: a cluster of none, which adds nothing
	Bytes     int64                 // payload bytes of its members but the first
	Relations [len(relations)]int64 // members by relation
	Scores    [len(bands)]int64     // members but the first by band of scores
}

// relations are the relations that ClusterCounts counts, in its order.
var relations = [...]Relation{Representative, Identical, Near, Alike, Contained, Contains, Linked, Judged}

// Add adds what another part of the cluster adds.
func (n *ClusterCounts) Add(o ClusterCounts) {
	n.Size += o.Size
	n.Bytes += o.Bytes
	for i := range o.Relations {
		n.Relations[i] += o.Relations[i]
	}
	for i := range o.Scores {
		n.Scores[i] += o.Scores[i]
	}
}

// Counts counts a cluster, or a part of one; the first part has its size.
func (c Cluster) Counts() (n ClusterCounts) {
	if c.From == 0 {
		n.Size = int64(c.Size)
	}
	for i, m := range c.Members {
		if r := slices.Index(relations[:], m.Relation); r >= 0 {
			n.Relations[r]++
		}
		if c.From+i > 0 {
			n.Bytes += m.Bytes
			n.Scores[bandOf(m)]++
		}
	}
	return n
}

// bandOf returns the index of a member's band. Texts that differ may have a score of
// 1: alike ones, and those that are the same without their frames.
func bandOf(m Member) int {
	const last = len(bands) - 1
	if m.Relation == Identical {
		return 0
	}
	if i := slices.IndexFunc(bands[1:last], func(from Score) bool { return m.Resemblance >= from }); i >= 0 {
		return 1 + i
	}
	return last
}

// Add counts a cluster, or a part of one.
func (s *Summary) Add(c Cluster) {
	if s.part.Add(c.Counts()); !c.More {
		s.AddCounts(s.part)
		s.part = ClusterCounts{}
	}
}

// AddCounts adds the counts of a cluster.
func (s *Summary) AddCounts(n ClusterCounts) {
	if n.Size == 0 {
		return
	}
	c := &s.Clusters
	c.Clusters++
	c.Pages += n.Size
	c.Largest = max(c.Largest, int(n.Size))
	if c.ByRelation == nil {
		c.ByRelation = map[Relation]int64{}
	}
	for i, members := range n.Relations {
		if members > 0 {
			c.ByRelation[relations[i]] += members
		}
	}
	if n.Size > 1 && c.ByScore == nil {
		for _, from := range bands {
			c.ByScore = append(c.ByScore, ScoreBand{From: from})
		}
	}
	for i, members := range n.Scores {
		if members > 0 {
			c.ByScore[i].Pages += members
		}
		s.Duplicates.Pages += members
	}
	s.Duplicates.Bytes += n.Bytes
	from := 2
	for 2*from <= int(n.Size) {
		from *= 2
	}
	i, found := slices.BinarySearchFunc(c.BySize, from, func(b SizeBucket, from int) int { return b.From - from })
	if !found {
		c.BySize = slices.Insert(c.BySize, i, SizeBucket{From: from, To: 2*from - 1})
	}
	c.BySize[i].Clusters++
	c.BySize[i].Pages += n.Size
}

// String returns a description of the band.
func (b ScoreBand) String() string {
	switch b.From {
	case 1:
		return "with the same text"
	case 0:
		return "less alike, or contained"
	}
	return fmt.Sprintf("resemblance from %v", float64(b.From))
}

// WriteJSON writes the summary as indented JSON.
func (s Summary) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(s)
}

// byName returns the sum of counts, and each count with its name.
func byName(counts map[string]int64) (sum int64, each []string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		sum += counts[name]
		each = append(each, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return sum, each
}

// Terms is the last line of texts for people. It names the document that explains
// their words.
const Terms = "Terms: docs/glossary.md"

// WriteText writes the summary for people.
func (s Summary) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, n any, notes ...string) {
		fmt.Fprintf(t, "%s\t%v\t", name, n)
		fmt.Fprintln(t, "  "+strings.Join(notes, ", "))
	}
	s.texts(row)
	s.candidates(row)
	s.verdicts(row)
	s.clusters(row)
	for _, st := range s.Stages {
		row(st.Stage, fmt.Sprintf("%.1f s", st.Seconds), fmt.Sprintf("%.1f s of processor time", st.CPU), fmt.Sprintf("%.0f pages/s", st.Rate))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", Terms)
	return err
}

// rowWriter writes a row of the summary: a name, a number and notes.
type rowWriter func(name string, n any, notes ...string)

// note returns the number of something as a note, or none if there is nothing.
func note(n int64, what string) []string {
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d %s", n, what)}
}

// Places returns a number of damaged places in words.
func Places(n int64) string {
	if n == 1 {
		return "1 damaged place"
	}
	return fmt.Sprintf("%d damaged places", n)
}

// texts writes what was read.
func (s Summary) texts(row rowWriter) {
	_, kinds := byName(s.Records.Kinds)
	row("files", s.Files, note(int64(s.Unreadable), "unreadable")...)
	var damaged []string
	if s.Records.Damaged > 0 {
		damaged = []string{Places(s.Records.Damaged)}
	}
	row("records read", s.Records.Read, damaged...)
	row("= documents", s.Records.Documents, slices.Concat(note(s.Records.Revisits, "revisits"), kinds,
		note(s.Records.Clipped, "clipped"), note(s.Records.Parsed, "read by way of a tree"))...)
	row("+ duplicates of input", s.Records.Duplicates)
	skipped, reasons := byName(s.Records.Skipped)
	row("+ skipped", skipped, reasons...)
	if choices, kinds := byName(s.Records.Choices); choices > 0 {
		row("soft choices", choices, kinds...)
	}
	row("distinct texts", s.Texts, append(note(s.Navigation, "of navigation pages only: left out"),
		note(s.Unsigned, "too short for a signature")...)...)
	if m := s.Frames; m != nil && m.Texts > 0 {
		row("texts with a frame", m.Texts, fmt.Sprintf("frames are %.1f%% of all characters", 100*float64(m.LeftOut)/float64(max(m.Characters, 1))))
	}
}

// candidates writes what was compared with what.
func (s Summary) candidates(row rowWriter) {
	row("signatures", s.Signatures)
	row("signature lists", s.Lists.Lists, append(note(s.Lists.DeletedFrequent, "deleted as frequent"),
		note(s.Lists.DeletedSites, "deleted as frequent on few sites")...)...)
	if s.Candidates != nil {
		row("candidate pairs", *s.Candidates)
	} else {
		row("perhaps-similar sets", s.Sets.Sets, fmt.Sprintf("%d texts", s.Sets.Members), fmt.Sprintf("the largest has %d", s.Sets.Largest))
	}
}

// verdicts writes what comparisons and judges decided.
func (s Summary) verdicts(row rowWriter) {
	row("pairs compared", s.Pairs.Compared, note(s.Pairs.OverBudget, "left out by verify.max_scored")...)
	row("rejected by length", s.Pairs.ByLength)
	row("rejected by sketch", s.Pairs.BySketch)
	row("rejected by distance", s.Pairs.ByDistance)
	row("rejected by score", s.Pairs.ByScore)
	row("rejected by rarity", s.Pairs.ByRarity)
	row("rejected by title", s.Pairs.ByTitle)
	row("near", s.Pairs.Near, note(s.Pairs.TooLarge, "groups of linked texts not partitioned, by verify.partition.max_links")...)
	if s.EstimatedBy != "" {
		row("scores", "are", "estimates, by "+s.EstimatedBy)
	}
	if j := s.Judged; j != nil {
		row("judged pairs followed", j.MustJoin+j.MustNot, slices.Concat(note(j.MustJoin, "joined"), note(j.MustNot, "parted"))...)
		if not, reasons := byName(j.NotFollowed); not > 0 {
			row("not followed", not, reasons...)
		}
	}
}

// clusters writes what became of it.
func (s Summary) clusters(row rowWriter) {
	row("clusters", s.Clusters.Clusters, fmt.Sprintf("%d pages", s.Clusters.Pages), fmt.Sprintf("the largest has %d", s.Clusters.Largest))
	for _, b := range s.Clusters.BySize {
		size := fmt.Sprintf("of %d pages", b.From)
		if b.To > b.From && b.From > 2 {
			size = fmt.Sprintf("of %d to %d pages", b.From, b.To)
		} else if b.From == 2 {
			size = "of 2 or 3 pages"
		}
		row(size, b.Clusters)
	}
	row("near-duplicates", s.Duplicates.Pages, fmt.Sprintf("%.1f MB, all pages of clusters but one of each", float64(s.Duplicates.Bytes)/1e6))
	for _, b := range s.Clusters.ByScore {
		if b.Pages > 0 {
			row(b.String(), b.Pages)
		}
	}
	if c := s.Contained; c.Pages > 0 {
		row("contained pages", c.Pages, "in a page of another cluster or of none; in no cluster by that")
	}
}
