// Package explain explains why a config's method finds two texts near or not. It
// shows the result of each step, in numbers that the steps themselves computed. It
// knows only the texts and the config. Package pipeline/explaining adds what
// happened to the pair in a workspace.
//
// Lengths and positions are in code points, widths in columns.
package explain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"neardup/cluster/search"
	"neardup/configs"
	"neardup/extract/text"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/rarity"
	"neardup/verify/tlcs"
)

// Explanation is an explanation as plain data. docs/format.md describes the
// fields.
type Explanation struct {
	Method     Method     `json:"method"`
	Texts      [2]Text    `json:"texts"`
	Outcome    Outcome    `json:"outcome"`
	Signatures Signatures `json:"signatures"`
	TLCS       *TLCS      `json:"tlcs,omitempty"` // only of the measure tlcs
	Score      Score      `json:"score"`
	Rarity     *Rarity    `json:"rarity,omitempty"` // if rarity is checked
	Regained   *Regained  `json:"regained,omitempty"`
	Decision   Decision   `json:"decision"`
	Run        *Run       `json:"run,omitempty"` // only of pages of a workspace
	Diff       Diff       `json:"diff"`
}

// Method names the parts of the config's method.
type Method struct {
	Scheme   string                    `json:"scheme"`
	Search   string                    `json:"search"`
	Merge    string                    `json:"merge,omitempty"` // only of the search by keys
	Measure  string                    `json:"measure"`
	Settings map[string]map[string]any `json:"settings"` // the settings that it uses, by section and key
}

// Page is a page of a workspace.
type Page struct {
	RecordID string `json:"record_id"`
	URI      string `json:"uri"`
	Date     string `json:"date"`
	WARC     string `json:"warc"`
	Path     string `json:"path"` // of the file, as in exports
	Entry    string `json:"entry,omitempty"`
	Offset   int64  `json:"offset"`
	TextID   string `json:"text_id"`
	Title    string `json:"title,omitempty"`
	Byline   string `json:"byline,omitempty"`
	Unsure   bool   `json:"main_unsure,omitempty"` // the main content is uncertain, so the text is all visible text
}

// Side is one of the two texts.
type Side struct {
	Page     *Page          // the page of a workspace; nil for a file
	File     string         // name of the file
	Stored   string         // the text as extracted
	Signed   []string       // the readings that are signed; nil: Compared
	Compared string         // the reading that is scored
	Pages    map[uint64]int // number of pages of a site that have a common sentence, by the key of its unit
}

// Text describes one of the texts.
type Text struct {
	Page       *Page  `json:"page,omitempty"`
	File       string `json:"file,omitempty"`
	Extracted  int    `json:"extracted_characters"` // length of the whole text
	Characters int    `json:"characters"`           // length of the compared part: up to text.max_columns, and for some pairs without the frame, or with only a part of it
	Columns    int    `json:"columns"`
	Lines      int    `json:"lines"`
	Sentences  int    `json:"sentences"`
	Unframed   bool   `json:"-"` // the compared part is without the frame, or has only what it regained of it
	Regained   bool   `json:"-"` // it regained some of the frame
	Cut        bool   `json:"-"` // it ends at text.max_columns
}

// Score is the measure's score, also if an earlier check rejects the pair.
type Score struct {
	Known       bool         `json:"known"` // false if only a whole run can tell, or if there is nothing to compare
	Resemblance report.Score `json:"resemblance"`
	Containment report.Score `json:"containment"`     // of the shorter text in the longer
	Whole       report.Score `json:"whole,omitempty"` // only of tlcs: resemblance by the whole LCS

	// Thresholds; nil if there is none.
	LeastResemblance *float64 `json:"least_resemblance,omitempty"`
	LeastContainment *float64 `json:"least_containment,omitempty"`
	LeastWhole       *float64 `json:"least_whole,omitempty"` // for a pair that reaches the resemblance
	Note             string   `json:"note,omitempty"`        // what the score measures, or why it is unknown
}

// Decision is the decision of the measure and the check of rarity: the verdict on
// the pair if it is verified.
type Decision struct {
	Known    bool   `json:"known"`
	Near     bool   `json:"near"`
	Relation string `json:"relation,omitempty"` // of a near pair: near, alike, a-in-b or b-in-a
	EndedBy  Filter `json:"ended_by,omitempty"` // of any other pair

	// OtherPages is the smallest resemblance of near pairs of different pages of one
	// site. It is nil for other pairs.
	OtherPages *float64 `json:"other_pages,omitempty"`

	// OtherSubjects reports whether the two are of one site, at different URIs, and about
	// different subjects.
	OtherSubjects bool `json:"other_subjects,omitempty"`

	// OtherNumbers reports whether the two are of different pages of different sites that
	// say other numbers.
	OtherNumbers bool `json:"other_numbers,omitempty"`
}

// Filter is the check that ended a pair.
type Filter string

// The filters in order. Those up to ByCandidates, and ByLeaders, ByClosing and
// ByJudgement, need a workspace.
const (
	ByPages      Filter = "pages"      // only navigation pages have one of the texts
	BySignatures Filter = "signatures" // no common signatures, or too few
	ByLists      Filter = "lists"      // the lists of all common signatures are deleted
	BySets       Filter = "sets"       // the texts are in different perhaps-similar sets
	ByCandidates Filter = "candidates" // the search did not find the pair
	ByLeaders    Filter = "leaders"    // not compared, because one had joined another leader of the set
	ByLength     Filter = "length"
	BySketch     Filter = "sketch"
	ByDistance   Filter = "distance"
	ByScore      Filter = "score"
	ByRarity     Filter = "rarity"
	ByTitle      Filter = "title"     // different pages of one site that are not nearly equal or of different subjects, or of different sites that say other numbers
	ByClosing    Filter = "closing"   // near, but the closing rule separates them
	ByJudgement  Filter = "judgement" // judged pairs separate them
)

// Alike reports whether the sentences of the two made them near, and not the scores of
// their characters.
func (d Decision) Alike() bool { return d.Relation == string(report.Alike) }

// AsksTitles reports whether titles and addresses count for the decision.
func (d Decision) AsksTitles() bool { return d.OtherPages != nil || d.OtherSubjects || d.OtherNumbers }

// Outcome is the summary of the explanation.
type Outcome struct {
	Joined  bool   `json:"joined"` // in one cluster; for files: near
	EndedBy Filter `json:"ended_by,omitempty"`
	Why     string `json:"why"`
}

// Between is what the workspace knows of a pair besides its texts.
type Between struct {
	Weighed    bool // what the two share is weighed by its rarity
	OtherPages bool // the two are of different pages of one site (pair.Judge.OtherPages)

	OtherSubjects bool // the two are of one site and about different subjects (pair.Judge.OtherSubjects)
	OtherNumbers  bool // the two are of different pages of different sites (pair.Judge.OtherNumbers)

	Again *Again // nil: there was no second comparison
}

// Pair explains two texts.
func Pair(c configs.Config, a, b Side, between Between) (Explanation, error) {
	e := Explanation{Method: methodOf(c)}
	for i, s := range []Side{a, b} {
		e.Texts[i] = textOf(s, c.Text.MaxColumns)
		e.Texts[i].Regained = between.decidedAgain() && between.Again.Regains[i]
	}
	find := c.NewSearch()
	two := TwoOf(c, a, b)
	e.Signatures = signatures(c, two, find.Meet(two))
	var t *tlcs.Trace // trace of the measure, if it aligns texts
	if m := c.NewMeasure(); m != nil {
		t = e.byMeasure(c, m, a, b, between)
	} else if err := e.bySearch(find, TwoOf(c, Side{Compared: a.Compared}, Side{Compared: b.Compared})); err != nil {
		return e, err
	}
	if t == nil {
		plain := tlcs.NewComparer(aligner).Trace(tlcs.Prepare(a.Compared, aligner.Window), tlcs.Prepare(b.Compared, aligner.Window))
		t = &plain
	}
	e.Diff = diff(*t, [2][]rune{[]rune(a.Compared), []rune(b.Compared)}, e.TLCS != nil && c.Verify.Trustable)
	e.Outcome = e.fromDecision(c.Verify.Contained == configs.ContainedApart)
	return e, nil
}

// textOf describes a text of which at most limit columns are compared.
func textOf(s Side, limit int) Text {
	t := Text{Page: s.Page, File: s.File, Extracted: utf8.RuneCountInString(s.Stored),
		Characters: utf8.RuneCountInString(s.Compared), Columns: text.Columns(s.Compared), Lines: lines(s.Compared),
		Sentences: len(text.Sentences(s.Compared)), Unframed: s.Compared != text.Cut(s.Stored, limit)}
	const widest = 2 // columns of a character
	t.Cut = limit > 0 && t.Characters < t.Extracted && t.Columns > limit-widest
	return t
}

func methodOf(c configs.Config) Method {
	m := Method{Scheme: c.Sign.Scheme, Search: c.Cluster.Search, Measure: c.Verify.Measure, Settings: map[string]map[string]any{}}
	for _, used := range []map[string]any{c.UsedBySign(), c.UsedByCluster(), c.UsedByVerify()} {
		for section, settings := range used {
			if m.Settings[section] == nil {
				m.Settings[section] = map[string]any{}
			}
			if settings, ok := settings.(map[string]any); ok {
				maps.Copy(m.Settings[section], settings)
			}
		}
	}
	if merge, ok := m.Settings["cluster"]["merge"].(json.RawMessage); ok {
		_ = json.Unmarshal(merge, &m.Merge) // a setting whose value is a string
	}
	return m
}

func lines(s string) int {
	if s == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1
}

// bySearch decides as the search does. It does not check rarity.
func (e *Explanation) bySearch(find search.Search, two search.Two) error {
	scorer, ok := find.(search.Scorer)
	if !ok {
		return fmt.Errorf("search %s scores no pairs", e.Method.Search)
	}
	s, err := scorer.Score(two)
	if err != nil {
		return err
	}
	e.Score = Score{Known: s.Scored, Resemblance: report.Score(s.Similarity), Containment: report.Score(s.Similarity),
		LeastResemblance: least(s.Least), Note: s.Measure}
	if !s.Scored {
		e.Score.Note = "not known from two texts alone"
	}
	e.Decision = Decision{Known: s.Known, Near: s.Near}
	switch {
	case !s.Known:
	case s.Near:
		e.Decision.Relation = string(report.Near)
	default:
		e.Decision.EndedBy = ByScore
	}
	return nil
}

// thresholdOf returns the setting that trades the method's precision for its
// recall.
func thresholdOf(c configs.Config) *float64 {
	key, _ := c.Threshold()
	value, err := c.Value(key)
	var t float64
	if err != nil || json.Unmarshal(value, &t) != nil {
		return nil
	}
	return least(t)
}

// least returns a threshold, or nil if it is above 1 and never reached.
func least(t float64) *float64 {
	if t > 1 {
		return nil
	}
	return &t
}

// byMeasure decides as the stage verify does, by package pair.
func (e *Explanation) byMeasure(c configs.Config, m verify.Measure, a, b Side, between Between) *tlcs.Trace {
	var v, score verify.Verdict
	var t *tlcs.Trace
	if aligner, ok := m.(tlcs.Aligner); ok {
		var trace tlcs.Trace
		v, score, trace = e.byTLCS(aligner.Options(), a.Compared, b.Compared)
		t = &trace
	} else {
		comparer := m.Comparer()
		v = comparer.Compare(m.Prepare(a.Compared), m.Prepare(b.Compared))
		score = v
		e.Score.LeastResemblance = thresholdOf(c)
		e.Score.Note = c.Verify.Measure
		if m, ok := m.(verify.Containing); ok {
			e.Score.LeastContainment = least(m.LeastContainment())
		}
	}
	e.Score.Known = a.Compared != "" && b.Compared != ""
	e.Score.Resemblance, e.Score.Containment = report.Score(score.Resemblance), report.Score(score.Containment)
	decided, judge := v, pair.Judge{Measure: m, Rarity: c.Verify.Judging()}
	if between.Weighed && c.Verify.RarePages > 0 {
		var evidence rarity.Evidence
		e.Rarity, evidence = rarityOf(judge.Rarity, a, b)
		decided = judge.Outcome(evidence, v)
	}
	if between.Again != nil {
		e.again(c, m, *between.Again)
	}
	d := Decision{Known: true}
	if between.OtherPages || between.OtherSubjects || between.OtherNumbers {
		decided = judge.OfOtherPages(decided, e.Texts[0].Characters, e.Texts[1].Characters, between.OtherSubjects || between.OtherNumbers)
		d.OtherSubjects, d.OtherNumbers = between.OtherSubjects, between.OtherNumbers
	}
	if between.OtherPages {
		d.OtherPages = &judge.Rarity.OtherPages
	}
	d.Near, d.EndedBy = decided.Near, endedBy(decided)
	if decided.Near {
		d.Relation = RelationOf(report.RelationOf(decided, e.Texts[0].Characters, e.Texts[1].Characters))
	}
	e.Decision = d
	return t
}

func endedBy(d verify.Verdict) Filter {
	switch d.Rejected {
	case verify.ByRarity:
		return ByRarity
	case verify.ByTitle:
		return ByTitle
	case verify.ByLength:
		return ByLength
	case verify.BySketch:
		return BySketch
	case verify.ByDistance:
		return ByDistance
	case verify.ByScore:
		return ByScore
	}
	return ""
}

// fromDecision returns the outcome without a run. apart means that containment
// alone puts no text into a cluster.
func (e *Explanation) fromDecision(apart bool) Outcome {
	d := e.Decision
	o := Outcome{Joined: d.Near, EndedBy: d.EndedBy}
	switch {
	case !d.Known:
		o.Why = "two texts by themselves do not tell"
	case d.Near && !e.Signatures.Enough:
		o.Why = "near, but their signatures would not bring them together"
		o.Joined, o.EndedBy = false, BySignatures
	case d.Near && OnlyContained(d.Relation) && apart:
		o.Why = Relations[d.Relation] + ", and would be in no cluster with it by that (verify.contained: apart)"
		o.Joined, o.EndedBy = false, ByClosing
	case d.Near:
		o.Why = "near: " + Relations[d.Relation]
	default:
		o.Why = "not near: " + e.Reason(d.EndedBy)
	}
	return o
}

// RelationOf returns the relation of a Decision: that of b, seen from a, with both
// named.
func RelationOf(r report.Relation) string {
	switch r {
	case report.Contained:
		return bInA
	case report.Contains:
		return aInB
	}
	return string(r)
}

// Relations are the relations of a Decision in words.
var Relations = map[string]string{
	string(report.Near):  "resemblance reaches its threshold",
	string(report.Alike): "they have the same sentences but for numbers and a few others",
	aInB:                 "a is contained in b",
	bInA:                 "b is contained in a",
}

const aInB, bInA = "a-in-b", "b-in-a"

// OnlyContained reports whether a relation of a Decision means that the texts are
// near only because one contains the other.
func OnlyContained(relation string) bool { return relation == aInB || relation == bInA }

// Curved reports whether there is an edit curve to draw.
func (e *Explanation) Curved() bool { return e.TLCS != nil && len(e.TLCS.Rounds) > 0 }

// WriteJSON writes the explanation as indented JSON. It escapes invisible
// characters and those that change the display of others, because people read JSON
// on terminals, too.
func (e *Explanation) WriteJSON(w io.Writer) error {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	if err := out.Encode(e); err != nil {
		return err
	}
	escaped := bufio.NewWriter(w)
	for _, r := range b.String() { // JSON has such characters in strings only
		switch {
		case r < utf8.RuneSelf && r != 0x7f || strconv.IsGraphic(r):
			_, _ = escaped.WriteRune(r) // Flush reports a failed write
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(escaped, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(escaped, `\u%04x`, r)
		}
	}
	return escaped.Flush()
}

// aligner aligns texts by the LCS of their sketches, for measures that do not
// align.
var aligner = tlcs.Options{Window: 16, Blocks: 1, Resemblance: 1, Containment: 1, Rounds: 1}
