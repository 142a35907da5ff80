package docs

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"neardup/compare"
	"neardup/configs"
	"neardup/explain"
	"neardup/report"
	"neardup/sweep"
	"neardup/truth"
)

var (
	gap     = regexp.MustCompile(` {2,}`)
	plurals = regexp.MustCompile(`s\b`) // "pairs" is explained by "pair"
	named   = regexp.MustCompile(`(?:Filter +|Verdict\w+ +|Relation +)= "([a-z-]+)"`)
	phrase  = regexp.MustCompile(`[a-z]+(?: [a-z]+)*`)

	// What explanations print as a label: before a number, before a colon, before a number
	// and a comma, at the beginning of a line, or behind two numbers.
	labels = []*regexp.Regexp{
		regexp.MustCompile(`^ +([A-Za-z][A-Za-z, -]*?)  +-?[0-9]`),
		regexp.MustCompile(`^ {2,4}(?:no |found )?([A-Za-z][A-Za-z -]*?)(?: of round [0-9]+| [0-9a-f]{8}, [0-9]+ texts)?: `),
		regexp.MustCompile(`\b([a-z]+) [0-9]+, ([a-z]+) [0-9]+, ([a-z]+): `),
		regexp.MustCompile(`^([a-z]{2}[a-z ]*?)(?:  | \()`),
		regexp.MustCompile(`^ +[0-9]+ (?:and|of) [0-9]+ ([a-z]+)`),
	}
	// The header of a table in an explanation.
	header = regexp.MustCompile(`^ +[A-Za-z]+(?: +[A-Za-z]+){2,}$`)
)

// glossary returns the terms that the tables of the glossary explain.
func glossary(t *testing.T) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	terms := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for term := range strings.SplitSeq(cells[1], ", ") {
				terms[plain(term)] = true
			}
		}
	}
	return terms
}

// plain returns a term as it is compared: whatever its case and number.
func plain(term string) string {
	term, _, _ = strings.Cut(term, "(")
	return plurals.ReplaceAllString(strings.TrimSpace(strings.ToLower(strings.ReplaceAll(term, "`", ""))), "")
}

// explains reports whether the glossary has a term, or each of several.
func explains(known map[string]bool, terms string) bool {
	for term := range strings.SplitSeq(terms, ", ") {
		if !known[plain(term)] {
			return false
		}
	}
	return true
}

// headers returns the cells of the first lines of tables, and what stands above them.
func headers(text string) (terms []string) {
	begins := true
	for line := range strings.Lines(strings.ReplaceAll(text, sweep.Legend, "")) {
		line = strings.TrimSpace(line)
		if begins && !strings.HasPrefix(line, "ratios: ") {
			terms = append(terms, gap.Split(line, -1)...)
		}
		begins = line == "" || begins && !gap.MatchString(line)
	}
	return terms
}

// labelled returns the labels of an explanation, and the headers of its tables.
func labelled(text string) (terms []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		for _, label := range labels {
			if m := label.FindStringSubmatch(line); m != nil {
				terms = append(terms, m[1:]...)
			}
		}
		if header.MatchString(line) && gap.MatchString(strings.TrimSpace(line)) {
			terms = append(terms, gap.Split(strings.TrimSpace(line), -1)...)
		}
	}
	return terms
}

// told returns the words of an answer to a lookup, those between numbers together.
func told(text string) (terms []string) {
	for _, term := range phrase.FindAllString(text, -1) {
		if term = strings.TrimPrefix(strings.TrimPrefix(term, "no "), "the "); term != "of" && term != "and" {
			terms = append(terms, strings.TrimPrefix(term, "and "))
		}
	}
	return terms
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each term that sweep, compare, explain and lookup print is in the glossary. Package
// report tests the summary.
func TestGlossaryHasWhatIsPrinted(t *testing.T) {
	one := 1.0
	rates := sweep.Rates{}
	for i := range reflect.TypeFor[sweep.Rates]().NumField() {
		if f := reflect.ValueOf(&rates).Elem().Field(i); f.Kind() == reflect.Pointer {
			f.Set(reflect.ValueOf(&one))
		}
	}
	stages := []sweep.Cost{{Stage: "extract"}, {Stage: "sign"}, {Stage: "cluster"}, {Stage: "verify"}}
	swept := sweep.Sweep{Results: []sweep.Result{{Rates: rates, Scores: &truth.Scores{}, Stages: stages}}}
	method := compare.Method{Scores: &truth.Scores{}, Stages: stages, Table1: &compare.Table1{}}
	compared := compare.Comparison{Truth: &sweep.TruthUse{}, Baseline: "x", Methods: []compare.Method{method, method},
		Curves: []compare.Curve{{Key: "-"}}}
	explained := ""
	goldens, err := filepath.Glob("../cmd/neardup/testdata/golden/explain.*.txt")
	if err != nil || len(goldens) < 4 {
		t.Fatalf("%d explanations, %v", len(goldens), err)
	}
	for _, name := range goldens {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		explained += string(text)
	}
	for _, method := range configs.Names() {
		c, err := configs.Load(method, nil)
		if err != nil {
			t.Fatal(err)
		}
		side := explain.Side{Stored: "The same text of a page.\nIt is not short, and it says the same thing twice.\n"}
		side.Compared = side.Stored
		e, err := explain.Pair(c, side, side, explain.Between{})
		if err != nil {
			t.Fatal(err)
		}
		explained += written(t, func(w io.Writer) error { return e.WriteText(w, explain.Style{Width: 100}) })
	}
	answer := report.Answer{Matches: []report.Match{{Relation: report.Near}}, Work: report.LookupWork{OverBudget: 1}}
	printed := map[string][]string{
		"sweep":   headers(written(t, swept.WriteText)),
		"compare": headers(written(t, compared.WriteText)),
		"explain": labelled(explained),
		"lookup":  told(written(t, answer.WriteText)),
	}
	for command, file := range map[string]string{"explain": "../explain/explain.go", "lookup": "../report/answer.go", "relations": "../report/report.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(source), -1) {
			printed[command] = append(printed[command], m[1])
		}
	}
	known := glossary(t)
	for command, least := range map[string]int{"sweep": 35, "compare": 40, "explain": 60, "lookup": 12, "relations": 8} {
		if n := len(printed[command]); n < least {
			t.Errorf("%s: only %d terms are found in what it prints: %q", command, n, printed[command])
		}
		missing := map[string]bool{}
		for _, term := range printed[command] {
			if len(term) > 1 && strings.Trim(term, "0123456789.") != "" && !explains(known, term) && !missing[term] {
				missing[term] = true
				t.Errorf("%s prints %q, and glossary.md has no such term", command, term)
			}
		}
	}
}
