// Package textjoin finds the similar pairs of one or two collections of texts,
// without a workspace.
package textjoin

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"neardup/cluster/search"
	"neardup/pipeline/results"
	"neardup/pipeline/sqljoin"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/screen"
)

// Formats are the formats of Result.Write.
var Formats = []string{"tsv", "jsonl", "text"}

// ErrTooManyPairs reports more pairs than may be held in memory.
var ErrTooManyPairs = errors.New("too many similar pairs to hold in memory")

// Options choose which texts are similar, and bound the join.
type Options struct {
	search.Join
	Workers  int   // number of concurrent workers
	MaxPairs int64 // limit of the pairs, at 16 bytes each
}

// Validate returns an error that begins with the name of the wrong option.
func (o Options) Validate() error {
	if err := o.Join.Validate(); err != nil {
		return err
	}
	if o.Workers < 0 {
		return fmt.Errorf("workers: %d is negative", o.Workers)
	}
	if o.MaxPairs < 1 {
		return fmt.Errorf("max-pairs: %d is under 1", o.MaxPairs)
	}
	return nil
}

// Pair is a pair of texts, by their indexes in the collections.
type Pair struct {
	A, B       int32
	Similarity float64 // of edit and hamming: the distance
}

// Result is the result of joining one collection with itself, or two with each
// other.
type Result struct {
	Pairs  []Pair // by ID of A, ID of B, A, B; in a self-join A < B
	Counts search.JoinCounts

	bands    bool // candidates share a band of min-hashes
	a, b     []Text
	whole    bool            // similarities are whole numbers
	database *sqljoin.Counts // of a join in a database, in place of Counts
}

// Join finds the similar pairs of one or two collections, as Read returns them.
// With one collection, pairs are ordered by ID, the smaller one first; with two, A
// is of the first. The result depends neither on the number of workers nor on the
// order in which the texts were read.
func Join(ctx context.Context, o Options, collections ...[]Text) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, fmt.Errorf("%w: %w", workspace.ErrUsage, err)
	}
	r, texts, emit, err := newResult(o, collections)
	if err != nil {
		return Result{}, err
	}
	if r.Counts, err = o.Similar(ctx, o.Workers, texts, emit); err != nil {
		return Result{}, err
	}
	r.sort()
	return *r, nil
}

// newResult returns a result without pairs, the texts to join, and the function
// that receives their pairs.
func newResult(o Options, collections [][]Text) (*Result, [][]string, func(a, b int, similarity, share float64) error, error) {
	r := &Result{bands: o.Algorithm == search.JoinLSH, a: collections[0], b: collections[len(collections)-1]}
	r.whole = o.Measure == search.JoinEdit || o.Measure == search.JoinHamming || o.Measure == search.JoinOverlap && o.Weights == search.JoinUnweighted
	var texts [][]string
	for _, c := range collections {
		if len(c) > math.MaxInt32 {
			return nil, nil, nil, fmt.Errorf("%d texts in a collection, at most %d can be joined", len(c), math.MaxInt32)
		}
		var s []string
		for _, t := range c {
			s = append(s, t.Text)
		}
		texts = append(texts, s)
	}
	emit := func(a, b int, similarity, _ float64) error {
		if int64(len(r.Pairs)) == o.MaxPairs {
			return fmt.Errorf("%w: over %d", ErrTooManyPairs, o.MaxPairs)
		}
		r.Pairs = append(r.Pairs, Pair{int32(a), int32(b), similarity})
		return nil
	}
	return r, texts, emit, nil
}

// sort sorts the pairs by their IDs. Several texts may have one ID; their pairs are
// then sorted by the texts, as these are in a collection.
func (r *Result) sort() {
	slices.SortFunc(r.Pairs, func(x, y Pair) int {
		if c := compareIDs(r.a, x.A, y.A); c != 0 {
			return c
		}
		if c := compareIDs(r.b, x.B, y.B); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
}

func compareIDs(of []Text, i, j int32) int {
	if i == j {
		return 0
	}
	return cmp.Compare(of[i].ID, of[j].ID)
}

// Write writes the pairs in one of Formats. tsv and jsonl have the IDs of both
// texts and their similarity, as a line with tabs or a JSON object; text also has
// the beginnings of both texts.
func (r Result) Write(w io.Writer, format string) error {
	if !slices.Contains(Formats, format) {
		return fmt.Errorf("%w: format: there is no %q; there are %s", workspace.ErrUsage, format, strings.Join(Formats, ", "))
	}
	b := bufio.NewWriterSize(w, 256<<10)
	var line bytes.Buffer
	object := json.NewEncoder(&line)
	object.SetEscapeHTML(false)
	for _, p := range r.Pairs {
		x, y, s := r.a[p.A], r.b[p.B], r.number(p.Similarity)
		line.Reset()
		switch format {
		case "tsv":
			fmt.Fprintf(&line, "%s\t%s\t%s\n", x.ID, y.ID, s)
		case "jsonl":
			if err := object.Encode(struct {
				A          string      `json:"a"`
				B          string      `json:"b"`
				Similarity json.Number `json:"similarity"`
			}{x.ID, y.ID, json.Number(s)}); err != nil {
				return err
			}
		default:
			fmt.Fprintf(&line, "%s  %s  %s\n  %s\n  %s\n\n", s, screen.Printable(x.ID), screen.Printable(y.ID), beginning(x.Text), beginning(y.Text))
		}
		if _, err := b.Write(line.Bytes()); err != nil {
			return err
		}
	}
	return b.Flush()
}

// number returns a similarity with six digits, or as a whole number if all are.
func (r Result) number(similarity float64) string {
	if r.whole {
		return strconv.FormatFloat(similarity, 'f', 0, 64)
	}
	return strconv.FormatFloat(similarity, 'f', 6, 64)
}

// beginning returns the first 200 characters of a text on one line, to show.
func beginning(text string) string {
	const limit, more = 200, "…"
	from := text[:min(len(text), (limit+1)*utf8.UTFMax)] // one more character, to know whether the text goes on
	s := screen.Text(strings.Join(strings.Fields(strings.ToValidUTF8(from, "")), " "), limit)
	if len(from) < len(text) && !strings.HasSuffix(s, more) { // white space took the room
		s += more
	}
	return s
}

// WriteSummary writes the counts of what was read and of what each filter left, as
// text.
func (r Result) WriteSummary(w io.Writer, read ...results.ExtractCounts) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, n int64, note string) { fmt.Fprintf(t, "%s\t%d\t  %s\n", name, n, note) }
	for i, c := range read {
		name := "records read"
		if len(read) > 1 {
			name = fmt.Sprintf("records of collection %d", i+1)
		}
		var damaged string
		if c.Damaged > 0 {
			damaged = report.Places(c.Damaged)
		}
		row(name, c.Records, damaged)
		row("= texts", c.Documents, "")
		row("+ duplicates of input", c.Duplicates, "")
		skipped, reasons := int64(0), []string{}
		for _, reason := range slices.Sorted(maps.Keys(c.Skipped)) {
			skipped += c.Skipped[reason]
			reasons = append(reasons, fmt.Sprintf("%s %d", reason, c.Skipped[reason]))
		}
		row("+ skipped", skipped, strings.Join(reasons, ", "))
	}
	if r.database != nil {
		r.writeDatabaseSummary(t)
		return t.Flush()
	}
	c := r.Counts
	row("different", c.Distinct, "of the texts, as sets of tokens; equal ones are joined once")
	if r.bands {
		row("band keys", c.Postings, "")
		row("candidates", c.Candidates, "pairs that share a band of min-hashes")
		row("similar", c.Similar, "")
		row("pairs", c.Pairs, "with those of equal texts")
		return t.Flush()
	}
	row("probing", c.Probing, "have enough tokens that others have")
	row("postings", c.Postings, "tokens in the index")
	row("scanned", c.Scanned, "postings met")
	row("pairs with a token in both prefixes", c.Prefix, "")
	row("left by the positional filter", c.Positional, "")
	row("by the bitmaps", c.Bitmap, "")
	row("by the suffix filter", c.Suffix, "")
	row("candidates", c.Candidates, "when the prefixes were read")
	row("verified", c.Verified, "")
	row("similar", c.Similar, "")
	if c.Short > 0 {
		row("besides", c.Short, "so small that they are similar without a common token")
	}
	row("pairs", c.Pairs, "with those of equal texts")
	return t.Flush()
}
