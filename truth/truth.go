// Package truth reads labelled pages and scores clusters against them. The
// format is specified in docs/format.md, "Labelled pages".
package truth

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Similarities that separate the labels.
const (
	nearFrom     = 0.8 // from here on a pair is near
	judgedBelow  = 0.5 // below, and if it is not listed, a pair is not near
	fieldsOfPage = 6
	maxLine      = 1 << 20
)

// Label is the label of a pair of judged pages.
type Label uint8

// The labels of pairs.
const (
	NotNear  Label = iota // no near-duplicates
	Near                  // near-duplicates
	Unjudged              // neither; it does not count
)

// Page is a judged page. It has the two fields of its line that are needed here.
type Page struct {
	RecordID string // with angle brackets
	Site     string
}

// Truth is a set of judged pages and the labels of their pairs. Pages are
// numbered in the order of their file.
type Truth struct {
	pages  []Page
	index  map[string]int
	labels map[[2]int]Label // smaller page first; missing pairs are NotNear
	near   [][]int          // near-duplicates of each page
}

// Read reads the pages and the pairs of a truth. Errors name the line.
func Read(pages, pairs io.Reader) (*Truth, error) {
	t := &Truth{index: map[string]int{}, labels: map[[2]int]Label{}}
	if err := lines(pages, t.addPage); err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	if len(t.pages) == 0 {
		return nil, errors.New("pages: there are none")
	}
	t.near = make([][]int, len(t.pages))
	if err := lines(pairs, t.addPair); err != nil {
		return nil, fmt.Errorf("pairs: %w", err)
	}
	return t, nil
}

// lines calls add with the tab-separated fields of each line.
func lines(r io.Reader, add func(fields []string) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	n := 0
	for sc.Scan() {
		line := sc.Text()
		if n++; n == 1 { // a byte order mark is no part of the first record id
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if err := add(strings.Split(line, "\t")); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	return nil
}

func (t *Truth) addPage(f []string) error {
	if len(f) != fieldsOfPage {
		return fmt.Errorf("%d fields, want %d: record id, URI, date, site, kind, label", len(f), fieldsOfPage)
	}
	id := recordID(f[0])
	if id == "<>" {
		return errors.New("no record id")
	}
	if _, ok := t.index[id]; ok {
		return fmt.Errorf("%s is there twice", id)
	}
	t.index[id] = len(t.pages)
	t.pages = append(t.pages, Page{RecordID: id, Site: f[3]})
	return nil
}

func (t *Truth) addPair(f []string) error {
	both := len(f) == 4 && f[3] == "both"
	if len(f) != 3 && !both {
		return errors.New(`want two record ids, their similarity, and nothing or "both"`)
	}
	var p [2]int
	for i := range p {
		var ok bool
		if p[i], ok = t.index[recordID(f[i])]; !ok {
			return fmt.Errorf("%s is none of the pages", f[i])
		}
	}
	switch a, b := recordID(f[0]), recordID(f[1]); {
	case a == b:
		return fmt.Errorf("%s is paired with itself", a)
	case a > b:
		return fmt.Errorf("%s and %s: the smaller record id comes first", a, b)
	}
	similarity, err := strconv.ParseFloat(f[2], 64)
	if err != nil || !(similarity >= 0 && similarity <= 1) {
		return fmt.Errorf("similarity %q, want a number from 0 to 1", f[2])
	}
	if both && similarity >= nearFrom {
		return fmt.Errorf(`"both" with similarity %s: it is for pairs below %v`, f[2], nearFrom)
	}
	key := pairOf(p[0], p[1])
	if _, ok := t.labels[key]; ok {
		return fmt.Errorf("%s and %s are there twice", f[0], f[1])
	}
	switch {
	case similarity >= nearFrom:
		t.labels[key] = Near
		t.near[p[0]] = append(t.near[p[0]], p[1])
		t.near[p[1]] = append(t.near[p[1]], p[0])
	case both || similarity >= judgedBelow:
		t.labels[key] = Unjudged
	default:
		t.labels[key] = NotNear
	}
	return nil
}

// recordID returns a record ID with angle brackets, whether it is written with them
// or not.
func recordID(s string) string { return "<" + strings.Trim(s, "<>") + ">" }

func pairOf(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// Len returns the number of judged pages.
func (t *Truth) Len() int { return len(t.pages) }

// Page returns the i-th judged page.
func (t *Truth) Page(i int) Page { return t.pages[i] }

// Index returns the index of the judged page with a record ID.
func (t *Truth) Index(id string) (i int, ok bool) {
	i, ok = t.index[recordID(id)]
	return i, ok
}

// Label returns the label of the pair of pages a and b, which must differ.
func (t *Truth) Label(a, b int) Label { return t.labels[pairOf(a, b)] }

// Near returns the near-duplicates of page i in the order of the pairs' file.
// The caller must not change it.
func (t *Truth) Near(i int) []int { return t.near[i] }
