// Package explain explains why a config's method finds two texts near or not:
// what each step made of them, in numbers that the steps themselves computed.
// It knows only the texts and the config. Package pipeline adds what became of
// the pair in a workspace.
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

	"neardup/configs"
	"neardup/extract/text"
	"neardup/report"
	"neardup/signature/simhash"
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
	TLCS       *TLCS      `json:"tlcs,omitempty"` // with the measure tlcs
	Score      Score      `json:"score"`
	Rarity     *Rarity    `json:"rarity,omitempty"` // if it is checked
	Decision   Decision   `json:"decision"`
	Run        *Run       `json:"run,omitempty"` // for pages of a workspace
	Diff       Diff       `json:"diff"`
}

// Method has the parts of the config's method.
type Method struct {
	Scheme   string                    `json:"scheme"`
	Search   string                    `json:"search"`
	Merge    string                    `json:"merge,omitempty"` // of the search by keys
	Measure  string                    `json:"measure"`
	Settings map[string]map[string]any `json:"settings"` // settings that it uses, by section and key
}

// Page is a page of a workspace.
type Page struct {
	RecordID string `json:"record_id"`
	URI      string `json:"uri"`
	Date     string `json:"date"`
	WARC     string `json:"warc"`
	Offset   int64  `json:"offset"`
	TextID   string `json:"text_id"`
	Title    string `json:"title,omitempty"`
}

// Side is one of the two texts to explain.
type Side struct {
	Page     *Page          // page of a workspace; nil for a file
	File     string         // name
	Stored   string         // the text as extracted
	Signed   []string       // the readings that are signed; nil: Compared
	Compared string         // the reading that is scored
	Pages    map[uint64]int // pages of a site that have a common sentence, by the key of its unit
}

// Text describes one of the texts.
type Text struct {
	Page       *Page  `json:"page,omitempty"`
	File       string `json:"file,omitempty"`
	Extracted  int    `json:"extracted_characters"` // of the text as extracted
	Characters int    `json:"characters"`           // of the part that is compared: up to text.max_columns, without the frame if the two are of different sites
	Columns    int    `json:"columns"`
	Lines      int    `json:"lines"`
	Sentences  int    `json:"sentences"`
}

// Score is the score by the measure, even if an earlier check rejects the pair.
type Score struct {
	Known       bool         `json:"known"` // false if only a whole run can tell, or if there is nothing to compare
	Resemblance report.Score `json:"resemblance"`
	Containment report.Score `json:"containment"`     // of the shorter in the longer
	Whole       report.Score `json:"whole,omitempty"` // of tlcs: resemblance by the whole LCS

	// The thresholds; nil if there is none.
	LeastResemblance *float64 `json:"least_resemblance,omitempty"`
	LeastContainment *float64 `json:"least_containment,omitempty"`
	LeastWhole       *float64 `json:"least_whole,omitempty"` // for a pair that reaches the resemblance
	Note             string   `json:"note,omitempty"`        // what the score measures, or why it is unknown
}

// Decision is the decision of the measure and the check of rarity: the result
// of verifying the pair, if it gets that far.
type Decision struct {
	Known    bool   `json:"known"`
	Near     bool   `json:"near"`
	Relation string `json:"relation,omitempty"` // for a near pair: near, a-in-b or b-in-a
	EndedBy  Filter `json:"ended_by,omitempty"` // for any other pair
}

// Filter is the check that ended a pair.
type Filter string

// The filters in their order. Those up to ByCandidates, and ByLeaders,
// ByClosing and ByJudgement, need a workspace.
const (
	ByPages      Filter = "pages"      // a text that only navigation pages have
	BySignatures Filter = "signatures" // no signature in common, or too few
	ByLists      Filter = "lists"      // lists of all common signatures are deleted
	BySets       Filter = "sets"       // different perhaps-similar sets
	ByCandidates Filter = "candidates" // the search did not give the pair
	ByLeaders    Filter = "leaders"    // not compared, because one had joined another leader of the set
	ByLength     Filter = "length"
	BySketch     Filter = "sketch"
	ByDistance   Filter = "distance"
	ByScore      Filter = "score"
	ByRarity     Filter = "rarity"
	ByClosing    Filter = "closing"   // near, but the closing rule parts them
	ByJudgement  Filter = "judgement" // judged pairs part them
)

// Outcome is the explanation in short.
type Outcome struct {
	Joined  bool   `json:"joined"` // in one cluster; for files: near
	EndedBy Filter `json:"ended_by,omitempty"`
	Why     string `json:"why"`
}

// Search scores two texts for a config whose search is its measure.
type Search func(a, b string) (SearchScore, error)

// SearchScore is the score of a search for two texts by themselves.
type SearchScore struct {
	Known, Near bool
	Scored      bool
	Similarity  float64
}

// Pair explains two texts. It calls search if the config has no measure of its
// own. weighed tells whether what the two share is weighed by its rarity.
func Pair(c configs.Config, a, b Side, weighed bool, search Search) (Explanation, error) {
	e := Explanation{Method: methodOf(c)}
	for i, s := range []Side{a, b} {
		e.Texts[i] = Text{Page: s.Page, File: s.File, Extracted: utf8.RuneCountInString(s.Stored),
			Characters: utf8.RuneCountInString(s.Compared), Columns: text.Columns(s.Compared), Lines: lines(s.Compared),
			Sentences: len(text.Sentences(s.Compared))}
	}
	e.Signatures = signatures(c, a, b)
	var t *tlcs.Trace // trace of the measure, if that aligns texts
	if m := c.NewMeasure(); m != nil {
		t = e.byMeasure(c, m, a, b, weighed)
	} else if err := e.bySearch(c, a, b, search); err != nil {
		return e, err
	}
	if t == nil {
		plain := tlcs.NewComparer(aligner).Trace(tlcs.Prepare(a.Compared, aligner.Window), tlcs.Prepare(b.Compared, aligner.Window))
		t = &plain
	}
	e.Diff = diff(*t, [2][]rune{[]rune(a.Compared), []rune(b.Compared)}, e.TLCS != nil && c.Verify.Trustable)
	e.Outcome = e.fromDecision()
	return e, nil
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
	if m.Search == configs.SearchKeys {
		m.Merge = c.Cluster.Merge
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
func (e *Explanation) bySearch(c configs.Config, a, b Side, search Search) error {
	s, err := search(a.Compared, b.Compared)
	if err != nil {
		return err
	}
	e.Score = Score{Known: s.Scored, Resemblance: report.Score(s.Similarity), Containment: report.Score(s.Similarity)}
	j := c.Cluster.Join
	switch {
	case c.Cluster.Search == configs.SearchHamming:
		e.Score.Note = "share of bits that agree"
		e.Score.LeastResemblance = least(1 - float64(c.Cluster.Hamming.Distance)/simhash.Bits)
	case j.Measure == configs.JoinEdit:
		e.Score.Note = "edit distance over the longer text's length; the distance has the limit"
	case j.Measure == configs.JoinOverlap:
		e.Score.Note = "share of the union of tokens; their number has the threshold"
	default:
		e.Score.Note = j.Measure + " of the tokens"
		e.Score.LeastResemblance = least(j.Threshold)
	}
	if !s.Scored {
		e.Score.Note = "not known from two texts alone"
	}
	e.Decision = Decision{Known: s.Known, Near: s.Near}
	switch {
	case !s.Known:
	case s.Near:
		e.Decision.Relation = "near"
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

// least returns a threshold, or nil for one above 1, which is never reached.
func least(t float64) *float64 {
	if t > 1 {
		return nil
	}
	return &t
}

// byMeasure decides as the stage does, by package pair.
func (e *Explanation) byMeasure(c configs.Config, m verify.Measure, a, b Side, weighed bool) *tlcs.Trace {
	var v, score verify.Verdict
	var t *tlcs.Trace
	switch c.Verify.Measure {
	case configs.MeasureTLCS:
		var trace tlcs.Trace
		v, score, trace = e.byTLCS(c.Verify.Options, a.Compared, b.Compared)
		t = &trace
	default:
		comparer := m.Comparer()
		v = comparer.Compare(m.Prepare(a.Compared), m.Prepare(b.Compared))
		score = v
		e.Score.LeastResemblance = thresholdOf(c)
		e.Score.Note = c.Verify.Measure
		if c.Verify.Measure == configs.MeasureShingles {
			e.Score.LeastContainment = least(c.Verify.Shingles.Containment)
		}
	}
	e.Score.Known = a.Compared != "" && b.Compared != ""
	e.Score.Resemblance, e.Score.Containment = report.Score(score.Resemblance), report.Score(score.Containment)
	decided := v
	if weighed && c.Verify.RarePages > 0 {
		var evidence rarity.Evidence
		e.Rarity, evidence = rarityOf(c.Verify.Rarity, a, b)
		decided = pair.Judge{Measure: m, Rarity: c.Verify.Rarity}.Outcome(evidence, v)
	}
	d := Decision{Known: true, Near: decided.Near, EndedBy: endedBy(decided)}
	if decided.Near {
		d.Relation = map[pair.Relation]string{pair.Near: "near", pair.Contains: "a-in-b", pair.Contained: "b-in-a"}[pair.RelationOf(decided, e.Texts[0].Characters, e.Texts[1].Characters)]
	}
	e.Decision = d
	return t
}

func endedBy(d verify.Verdict) Filter {
	switch d.Rejected {
	case verify.ByRarity:
		return ByRarity
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

// fromDecision returns the outcome without a run.
func (e *Explanation) fromDecision() Outcome {
	d := e.Decision
	o := Outcome{Joined: d.Near, EndedBy: d.EndedBy}
	switch {
	case !d.Known:
		o.Why = "two texts by themselves do not tell"
	case d.Near && !e.Signatures.Enough:
		o.Why = "near, but their signatures would not bring them together"
		o.Joined, o.EndedBy = false, BySignatures
	case d.Near:
		o.Why = "near: " + Relations[d.Relation]
	default:
		o.Why = "not near: " + e.Reason(d.EndedBy)
	}
	return o
}

// Relations are the relations of a Decision in words.
var Relations = map[string]string{
	"near":   "resemblance reaches its threshold",
	"a-in-b": "a is contained in b",
	"b-in-a": "b is contained in a",
}

// Curved reports whether there is an edit curve to draw.
func (e *Explanation) Curved() bool { return e.TLCS != nil && len(e.TLCS.Rounds) > 0 }

// WriteJSON writes the explanation as indented JSON. It escapes characters that
// do not show, or that change what is around them, because people read JSON on
// terminals, too.
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
			_, _ = escaped.WriteRune(r) // a failed write fails Flush
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
// align texts.
var aligner = tlcs.Options{Window: 16, Blocks: 1, Resemblance: 1, Containment: 1, Rounds: 1}
