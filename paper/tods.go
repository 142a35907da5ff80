package paper

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"neardup/report"
	"neardup/report/figure"
)

// TODS has the tables of section 8.1 of the TODS paper (Xiao and others, 2011) for a
// collection of texts. Times are processor milliseconds of one goroutine.
type TODS struct {
	Name   string       `json:"name"`
	Tokens string       `json:"tokens"` // what a token is
	Texts  int          `json:"texts"`  // with different tokens, and with any
	Table1 []Candidates `json:"table1"`
	Table3 []Bands      `json:"table3"`
	Table4 []Depth      `json:"table4"`
	Table7 []Samples    `json:"table7"`
}

// Cost is how many candidates an algorithm has, and its time without making tokens.
type Cost struct {
	Candidates   int64   `json:"candidates"`
	Milliseconds float64 `json:"ms"`
}

// Candidates is a row of table I.
type Candidates struct {
	Threshold  float64 `json:"threshold"`
	AllPairs   Cost    `json:"allpairs"`
	PPJoin     Cost    `json:"ppjoin"`
	PPJoinPlus Cost    `json:"ppjoinplus"` // MAXDEPTH 2
	Similar    int64   `json:"similar"`
}

// Bands is a row of table III: a number of min-hashes in a band. Time includes
// making them.
type Bands struct {
	Measure string `json:"measure"`
	Rows    int    `json:"rows"`
	Bands   int    `json:"bands"`
	Cost
	Recall  *float64 `json:"recall,omitempty"` // nil if nothing is similar
	Fastest bool     `json:"fastest"`
}

// Depth is a row of table IV.
type Depth struct {
	Depth int `json:"max_depth"`
	Cost
	Similar int64 `json:"similar"`
}

// Samples is a row of table VII.
type Samples struct {
	Threshold float64  `json:"threshold"`
	Similar   int64    `json:"similar"`                // |Rqp|
	Precision *float64 `json:"sp_precision,omitempty"` // of sp; nil if it finds nothing
	Recall    *float64 `json:"sp_recall,omitempty"`    // nil if nothing is similar
	RecallQL  *float64 `json:"ql_recall,omitempty"`
	QA        float64  `json:"qa_ms"`
	QP        float64  `json:"qp_ms"`
	SP        float64  `json:"sp_ms"`
	Sketching float64  `json:"sketching_ms"` // time to make sketches of tokens
	QL        float64  `json:"ql_ms"`        // with the min-hashes
}

// WriteJSON writes the tables as indented JSON.
func (t TODS) WriteJSON(w io.Writer) error { return writeJSON(w, t) }

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func milliseconds(ms float64) string { return strconv.FormatFloat(ms, 'f', 1, 64) }

func (c Cost) text() string { return whole(c.Candidates) + " (" + milliseconds(c.Milliseconds) + ")" }

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Figures returns the tables by the names of their files.
func (t TODS) Figures() map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{"table1.svg": t.table1().WriteSVG, "table3.svg": t.table3().WriteSVG,
		"table4.svg": t.table4().WriteSVG, "table7.svg": t.table7().WriteSVG}
}

func (t TODS) table1() figure.Table {
	out := figure.Table{Header: []string{"t", "All-Pairs", "ppjoin", "ppjoin+ (MAXDEPTH = 2)", "join result"}}
	for _, r := range t.Table1 {
		out.Rows = append(out.Rows, []string{number(r.Threshold), r.AllPairs.text(), r.PPJoin.text(), r.PPJoinPlus.text(), whole(r.Similar)})
	}
	return out
}

func (t TODS) table3() figure.Table {
	out := figure.Table{Header: []string{"measure", "k", "l", "candidates", "recall", "ms", "fastest"}}
	for _, r := range t.Table3 {
		fastest := ""
		if r.Fastest {
			fastest = "yes"
		}
		out.Rows = append(out.Rows, []string{r.Measure, strconv.Itoa(r.Rows), strconv.Itoa(r.Bands), whole(r.Candidates), known(r.Recall), milliseconds(r.Milliseconds), fastest})
	}
	return out
}

func (t TODS) table4() figure.Table {
	out := figure.Table{Header: []string{"MAXDEPTH", "candidates", "ms", "join result"}}
	for _, r := range t.Table4 {
		out.Rows = append(out.Rows, []string{strconv.Itoa(r.Depth), whole(r.Candidates), milliseconds(r.Milliseconds), whole(r.Similar)})
	}
	return out
}

func (t TODS) table7() figure.Table {
	out := figure.Table{Header: []string{"t", "pairs", "precision", "recall", "ql: recall", "qa, ms", "qp, ms", "sp, ms", "sketches, ms", "ql, ms"}}
	for _, r := range t.Table7 {
		out.Rows = append(out.Rows, []string{number(r.Threshold), whole(r.Similar), known(r.Precision), known(r.Recall), known(r.RecallQL),
			milliseconds(r.QA), milliseconds(r.QP), milliseconds(r.SP), milliseconds(r.Sketching), milliseconds(r.QL)})
	}
	return out
}

// WritePage writes the page in Markdown. The tables are also files beside it.
func (t TODS) WritePage(w io.Writer) error {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format, a...) }
	p("# Section 8.1 of the TODS paper, on %s\n\n", t.Name)
	p("%d texts with different sets of tokens (%s). Times are processor ms of one goroutine, without making tokens. %s\n\n", t.Texts, t.Tokens, report.Terms)
	p("## Table I\n\nCandidates (ms), by Jaccard similarity.\n\n%s\n", t.table1().Markdown())
	p("## Table III\n\nLSH for a recall of 95%% at .8: l bands of k min-hashes. Candidates are verified. The paper chooses the k that is fastest: 3 to 6. For cosine l is that of the square of the threshold. Min-hashes know no weights, so for weighted cosine the recall is not promised.\n\n%s\n", t.table3().Markdown())
	p("## Table IV\n\nppjoin+ at .8. The paper: the optimal MAXDEPTH is from 2 to 5.\n\n%s\n", t.table4().Markdown())
	p("## Table VII\n\nqa, qp: All-Pairs and ppjoin+ on all tokens. sp: ppjoin+ on sketches of 32 shingles of 4 bytes, at the same threshold; precision and recall are its. ql: LSH with k = 5 for a recall of 95%%, verified, with the time of its min-hashes. The paper: precision .04 to .29, recall .25 to .30.\n\n%s", t.table7().Markdown())
	_, err := io.WriteString(w, b.String())
	return err
}
