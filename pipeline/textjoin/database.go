package textjoin

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"time"

	"neardup/cluster/ppjoin"
	"neardup/extract"
	"neardup/pipeline/results"
	"neardup/pipeline/sqljoin"
	"neardup/pipeline/workspace"
)

// Database holds how a database finds candidates (package sqljoin).
type Database struct {
	Scheme string
	Least  float64 // with the scheme generic: threshold of the table's prefixes
	Verify string  // where candidates are filtered and verified
}

// The schemes, and the places of verification.
var (
	Schemes = func() (names []string) {
		for _, s := range sqljoin.Schemes {
			names = append(names, string(s))
		}
		return names
	}()
	Places = sqljoin.Places
)

// Schemes that have flags of their own.
const (
	SchemeGeneric = string(sqljoin.Generic)
	SchemeLonger  = string(sqljoin.Longer)
	SchemeGroupBy = string(sqljoin.GroupBy)
)

// Reasons why rows of a table give no text.
const (
	reasonNull  extract.Reason = "null-text"
	reasonEmpty extract.Reason = extract.ReasonNoText
)

// ReadTable reads the texts of a table. It holds at most max bytes of IDs and
// texts; if there are more, it returns ErrTooMuchText.
func ReadTable(ctx context.Context, s *sqljoin.Session, t sqljoin.Table, max int64) ([]Text, results.ExtractCounts, error) {
	var texts []Text
	held := int64(0)
	read, err := s.Texts(ctx, t, func(id, text string) error {
		if held += int64(len(id) + len(text)); held > max {
			return fmt.Errorf("%w: over %d bytes", ErrTooMuchText, max)
		}
		texts = append(texts, Text{id, text})
		return nil
	})
	if err != nil {
		return nil, results.ExtractCounts{}, err
	}
	slices.SortFunc(texts, func(a, b Text) int { return cmp.Compare(a.ID, b.ID) })
	counts := results.ExtractCounts{Documents: int64(len(texts))}
	counts.Records = read.Rows
	counts.Skipped = map[string]int64{}
	for reason, n := range map[extract.Reason]int64{reasonNull: read.Null, reasonEmpty: read.Empty} {
		if n > 0 {
			counts.Skipped[string(reason)] = n
		}
	}
	return texts, counts, nil
}

// JoinIn is Join in a database.
func JoinIn(ctx context.Context, s *sqljoin.Session, d Database, o Options, collections ...[]Text) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, fmt.Errorf("%w: %w", workspace.ErrUsage, err)
	}
	r, texts, emit, err := newResult(o, collections)
	if err != nil {
		return Result{}, err
	}
	cs, join, err := o.Records(ctx, o.Workers, texts)
	if err != nil {
		return Result{}, err
	}
	counts, err := s.Find(ctx, sqljoin.Options{Options: join, Scheme: sqljoin.Scheme(d.Scheme), Least: d.Least, Verify: d.Verify}, cs, func(p ppjoin.Pair) error {
		return emit(p.A, p.B, p.Similarity, 0)
	})
	if err != nil {
		return Result{}, err
	}
	r.database = &counts
	r.sort()
	return *r, nil
}

// Rows yields the pairs with the IDs of their texts.
func (r Result) Rows() iter.Seq[sqljoin.Row] {
	return func(yield func(sqljoin.Row) bool) {
		for _, p := range r.Pairs {
			if !yield(sqljoin.Row{A: r.a[p.A].ID, B: r.b[p.B].ID, Similarity: p.Similarity}) {
				return
			}
		}
	}
}

func (r Result) writeDatabaseSummary(t io.Writer) {
	c := r.database
	row := func(name string, n int64, took time.Duration, note string) {
		seconds := ""
		if took > 0 {
			seconds = fmt.Sprintf("%.2f s", math.Ceil(took.Seconds()*100)/100)
		}
		if seconds != "" && note != "" {
			note = ", " + note
		}
		fmt.Fprintf(t, "%s\t%d\t  %s%s\n", name, n, seconds, note)
	}
	row("different", c.Distinct, 0, "of the texts, as sets of tokens; equal ones are joined once")
	row("tokens", c.Tokens, c.Load, "in a table, ordered")
	row("tokens of prefixes", c.Prefixes, c.Index, "in a table")
	row("candidates", c.Candidates, c.Find, "")
	row("left by the suffix filter", c.Suffix, 0, "")
	row("similar", c.Similar, c.Decide, "")
	row("pairs", c.Pairs, 0, "with those of equal texts")
}
