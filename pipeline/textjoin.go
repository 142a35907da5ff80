package pipeline

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

	setjoin "neardup/cluster/join" // join is that of keys here
	"neardup/signature/tokens"
)

// The words of JoinOptions.
var (
	JoinMeasures   = []string{"jaccard", "cosine", "overlap", "edit"}
	JoinWeights    = []string{"none", "idf"}
	JoinTokens     = []string{"words", "letters", "characters"}
	JoinAlgorithms = []string{"ppjoin", "ppjoinplus", "allpairs"}
	JoinFormats    = []string{"tsv", "jsonl", "text"}
)

const (
	maxJoinSize     = 100     // units of a token: a shorter text is filled up to as many
	maxJoinDistance = 1 << 20 // edits
)

// ErrTooManyPairs is the error of a join that finds more than may be held.
var ErrTooManyPairs = errors.New("too many similar pairs to hold in memory")

// JoinOptions say which texts are similar, and how the join finds them; it
// finds all of them whatever the second half is (neardup/cluster/join).
type JoinOptions struct {
	Measure   string
	Threshold float64 // jaccard, cosine: from 0 to 1; overlap: tokens, or their weight; edit: the greatest distance, in characters
	Weights   string  // of the tokens; not for edit
	Tokens    string  // what texts are cut into; edit takes characters
	Size      int     // consecutive units in a token; 0: 1 word, 3 characters, 2 for edit
	Repeats   bool    // multisets; edit always has them

	Algorithm string
	MaxDepth  int   // of the suffix filter of ppjoinplus
	Extra     int   // tokens by which prefixes are longer
	Bitmaps   bool  // filter by bitmaps
	Workers   int   // at the same time
	MaxPairs  int64 // that may be found, 16 bytes each
}

// Validate says which option is wrong. The message starts with its name.
func (o JoinOptions) Validate() error {
	for _, w := range []struct {
		name, value string
		known       []string
	}{
		{"measure", o.Measure, JoinMeasures}, {"weights", o.Weights, JoinWeights},
		{"tokens", o.Tokens, JoinTokens}, {"algorithm", o.Algorithm, JoinAlgorithms},
	} {
		if !slices.Contains(w.known, w.value) {
			return fmt.Errorf("%s: there is no %q; there are %s", w.name, w.value, strings.Join(w.known, ", "))
		}
	}
	edit := o.Measure == "edit"
	switch {
	case math.IsNaN(o.Threshold):
		return fmt.Errorf("threshold: %v is no number", o.Threshold)
	case edit && (o.Threshold < 0 || o.Threshold > maxJoinDistance || o.Threshold != math.Trunc(o.Threshold)):
		return fmt.Errorf("threshold: %v is not a number of edits from 0 to %d", o.Threshold, maxJoinDistance)
	case !edit && (o.Threshold <= 0 || math.IsInf(o.Threshold, 1)):
		return fmt.Errorf("threshold: %v is not above 0", o.Threshold)
	case o.Threshold > 1 && (o.Measure == "jaccard" || o.Measure == "cosine"):
		return fmt.Errorf("threshold: %v is above 1, the greatest %s there is", o.Threshold, o.Measure)
	case edit && o.Weights != "none":
		return fmt.Errorf("weights: %s is for jaccard, cosine and overlap", o.Weights)
	case edit && o.Tokens != "characters":
		return fmt.Errorf("tokens: edit is about characters, not %s", o.Tokens)
	case o.Size < 0 || o.Size > maxJoinSize:
		return fmt.Errorf("size: %d is not from 0 to %d", o.Size, maxJoinSize)
	case o.MaxDepth < 0:
		return fmt.Errorf("max-depth: %d is negative", o.MaxDepth)
	case o.Extra < 0:
		return fmt.Errorf("extra: %d is negative", o.Extra)
	case o.Extra > 0 && edit:
		return fmt.Errorf("extra: longer prefixes are for jaccard, cosine and overlap")
	case o.Extra > 0 && o.Weights != "none":
		return fmt.Errorf("extra: longer prefixes are for tokens without weights")
	case o.Workers < 0:
		return fmt.Errorf("workers: %d is negative", o.Workers)
	case o.MaxPairs < 1:
		return fmt.Errorf("max-pairs: %d is under 1", o.MaxPairs)
	}
	return nil
}

func (o JoinOptions) algorithm() setjoin.Algorithm {
	return map[string]setjoin.Algorithm{"ppjoin": setjoin.PPJoin, "ppjoinplus": setjoin.PPJoinPlus, "allpairs": setjoin.AllPairs}[o.Algorithm]
}

// SimilarPair is two texts by their places in the collections.
type SimilarPair struct {
	A, B       int32
	Similarity float64 // of edit: the distance
}

// JoinResult is what a join of one collection with itself, or of two with each
// other, found.
type JoinResult struct {
	Pairs  []SimilarPair // by A, then B; in a self-join A < B
	Counts setjoin.Counts

	a, b  []Text
	whole bool // similarities are whole numbers
}

// Join finds the similar pairs of one or two collections of ReadTexts. With
// one, they are by id, the smaller first; with two, A is of the first. Neither
// workers nor the order in which the texts were read change them. It may leave
// a goroutine behind when ctx ends, which ends with the next pair that is
// found.
func Join(ctx context.Context, o JoinOptions, collections ...[]Text) (JoinResult, error) {
	if err := o.Validate(); err != nil {
		return JoinResult{}, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	r := JoinResult{a: collections[0], b: collections[len(collections)-1]}
	r.whole = o.Measure == "edit" || o.Measure == "overlap" && o.Weights == "none"
	var texts [][]string
	for _, c := range collections {
		if len(c) > math.MaxInt32 {
			return r, fmt.Errorf("%d texts in a collection, at most %d can be joined", len(c), math.MaxInt32)
		}
		var s []string
		for _, t := range c {
			s = append(s, t.Text)
		}
		texts = append(texts, s)
	}
	emit := func(a, b int, similarity float64) error {
		if int64(len(r.Pairs)) == o.MaxPairs {
			return fmt.Errorf("%w: over %d", ErrTooManyPairs, o.MaxPairs)
		}
		r.Pairs = append(r.Pairs, SimilarPair{int32(a), int32(b), similarity})
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() {
		var err error
		if o.Measure == "edit" {
			r.Counts, err = o.joinEdit(texts, emit)
		} else {
			r.Counts, err = o.joinSets(texts, emit)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return JoinResult{}, err
		}
	case <-ctx.Done():
		return JoinResult{}, ctx.Err()
	}
	slices.SortFunc(r.Pairs, func(x, y SimilarPair) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return r, nil
}

func (o JoinOptions) joinEdit(texts [][]string, emit func(a, b int, similarity float64) error) (setjoin.Counts, error) {
	e := setjoin.EditOptions{Distance: int(o.Threshold), Q: o.Size, Algorithm: o.algorithm(), MaxDepth: o.MaxDepth,
		Bitmaps: o.Bitmaps, Workers: o.Workers}
	each := func(p setjoin.EditPair) error { return emit(p.A, p.B, float64(p.Distance)) }
	if len(texts) == 1 {
		return setjoin.SelfEdit(texts[0], e, each)
	}
	return setjoin.BetweenEdit(texts[0], texts[1], e, each)
}

func (o JoinOptions) joinSets(texts [][]string, emit func(a, b int, similarity float64) error) (setjoin.Counts, error) {
	weighted := o.Weights != "none"
	t := tokens.Options{Size: o.Size, Repeats: o.Repeats, Alone: !o.Repeats && !weighted, Workers: o.Workers}
	t.Unit = map[string]tokens.Unit{"words": tokens.Words, "letters": tokens.Letters, "characters": tokens.Characters}[o.Tokens]
	if t.Size == 0 && t.Unit == tokens.Characters {
		t.Size = 3
	}
	records, err := tokens.Make(t, texts...)
	if err != nil {
		return setjoin.Counts{}, err
	}
	var cs []setjoin.Collection
	for _, r := range records {
		cs = append(cs, setjoin.Collection(r))
	}
	if o.Repeats {
		cs = setjoin.Multiset(cs...)
	}
	s := setjoin.Options{Threshold: o.Threshold, Algorithm: o.algorithm(), MaxDepth: o.MaxDepth, Extra: o.Extra,
		Bitmaps: o.Bitmaps, Workers: o.Workers}
	s.Measure = map[string]setjoin.Measure{"jaccard": setjoin.Jaccard, "cosine": setjoin.Cosine, "overlap": setjoin.Overlap}[o.Measure]
	if weighted {
		s.Weights = setjoin.IDF(cs...)
	}
	each := func(p setjoin.Pair) error { return emit(p.A, p.B, p.Similarity) }
	if len(cs) == 1 {
		return setjoin.Self(cs[0], s, each)
	}
	return setjoin.Between(cs[0], cs[1], s, each)
}

// Write writes the pairs in a format of JoinFormats: the ids of both and their
// similarity, as a line with tabs or a JSON object; text has the beginnings of
// both texts, too.
func (r JoinResult) Write(w io.Writer, format string) error {
	if !slices.Contains(JoinFormats, format) {
		return fmt.Errorf("%w: format: there is no %q; there are %s", ErrUsage, format, strings.Join(JoinFormats, ", "))
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
			fmt.Fprintf(&line, "%s  %s  %s\n  %s\n  %s\n\n", s, x.ID, y.ID, beginning(x.Text), beginning(y.Text))
		}
		if _, err := b.Write(line.Bytes()); err != nil {
			return err
		}
	}
	return b.Flush()
}

// number writes a similarity with six digits, or as the whole number it is.
func (r JoinResult) number(similarity float64) string {
	if r.whole {
		return strconv.FormatFloat(similarity, 'f', 0, 64)
	}
	return strconv.FormatFloat(similarity, 'f', 6, 64)
}

// beginning is the first 200 characters of a text in one line.
func beginning(text string) string {
	s := text[:min(len(text), 200*utf8.UTFMax)]
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	for i := range s {
		if utf8.RuneCountInString(s[:i]) == 200 {
			return s[:i] + " ..."
		}
	}
	if len(text) > 200*utf8.UTFMax {
		s += " ..."
	}
	return s
}

// WriteSummary writes what was read and what each filter left, for people.
func (r JoinResult) WriteSummary(w io.Writer, read ...ExtractCounts) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, n int64, note string) { fmt.Fprintf(t, "%s\t%d\t  %s\n", name, n, note) }
	for i, c := range read {
		name := "records read"
		if len(read) > 1 {
			name = fmt.Sprintf("records of collection %d", i+1)
		}
		var damaged string
		if c.Damaged > 0 {
			damaged = fmt.Sprintf("%d damaged places", c.Damaged)
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
	c := r.Counts
	row("different", c.Distinct, "of the texts, as sets of tokens; equal ones are joined once")
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
	row("pairs", c.Pairs, "with those of equal texts")
	return t.Flush()
}
