package sqljoin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// name is the name of a table. Statements contain it only quoted.
type name struct{ schema, table string }

func (n name) String() string {
	if n.schema == "" {
		return quoted(n.table)
	}
	return quoted(n.schema) + "." + quoted(n.table)
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// Table is a table of texts that the user names.
type Table struct {
	Name     string // the table's name, optionally after its schema and a dot
	ID, Text string // names of columns
}

// ErrName reports a name that stands for nothing, or not for what is needed.
var ErrName = errors.New("wrong name")

// ErrIDs reports rows whose IDs are missing, repeated or not fit to be written.
var ErrIDs = errors.New("ids do not name the rows")

// resolve finds a table of the user: one with exactly that name, otherwise one in
// the schema before the first dot. columns is empty if there is no such table.
func (s *Session) resolve(ctx context.Context, given string) (n name, columns []string, err error) {
	if err := s.checkName("table", given); err != nil {
		return n, nil, err
	}
	n = name{table: given}
	if columns, err = s.e.find(ctx, s.c, n); err != nil {
		return n, nil, s.failed(ctx, err)
	}
	schema, table, ok := strings.Cut(given, ".")
	if len(columns) > 0 || !ok || schema == "" || table == "" {
		return n, columns, nil
	}
	there, err := s.e.schema(ctx, s.c, schema)
	if err != nil || !there {
		if err != nil {
			err = s.failed(ctx, err)
		}
		return n, nil, err
	}
	n = name{schema, table}
	if columns, err = s.e.find(ctx, s.c, n); err != nil {
		err = s.failed(ctx, err)
	}
	return n, columns, err
}

func (s *Session) checkName(what, given string) error {
	switch limit := s.e.longestName; {
	case given == "" || strings.ContainsRune(given, 0):
		return fmt.Errorf("%w: %q is no name of a %s", ErrName, given, what)
	case limit > 0 && slices.ContainsFunc(strings.SplitN(given, ".", 2), func(part string) bool { return len(part) > limit }):
		return fmt.Errorf("%w: %s %q has more than the %d bytes of a name in %s", ErrName, what, given, limit, s.e.name)
	}
	return nil
}

// TableCounts counts the rows of a table that is read.
type TableCounts struct {
	Rows, Null, Empty int64 // all rows; rows without a text; rows with an empty text
}

// Texts emits the rows of a table that have a text: ID and text as the database
// writes them. IDs must be present and distinct, without control characters.
func (s *Session) Texts(ctx context.Context, t Table, emit func(id, text string) error) (TableCounts, error) {
	var counts TableCounts
	n, columns, err := s.resolve(ctx, t.Name)
	if err != nil {
		return counts, err
	}
	if len(columns) == 0 {
		return counts, fmt.Errorf("%w: %s: there is no table %q", ErrName, s.e.name, t.Name)
	}
	for _, column := range []string{t.ID, t.Text} {
		if !slices.Contains(columns, column) {
			return counts, fmt.Errorf("%w: table %q has no column %q; it has %s", ErrName, t.Name, column, strings.Join(columns, ", "))
		}
	}
	rows, err := s.c.QueryContext(ctx, fmt.Sprintf("SELECT CAST(%s AS TEXT), CAST(%s AS TEXT) FROM %s", quoted(t.ID), quoted(t.Text), n))
	if err != nil {
		return counts, s.failed(ctx, err)
	}
	defer rows.Close()
	ids := map[string]bool{}
	for rows.Next() {
		var id, text sql.NullString
		if err := rows.Scan(&id, &text); err != nil {
			return counts, s.failed(ctx, err)
		}
		counts.Rows++
		switch {
		case !id.Valid:
			return counts, fmt.Errorf("%w: table %q, column %q: a row has no id (NULL)", ErrIDs, t.Name, t.ID)
		case strings.ContainsFunc(id.String, unicode.IsControl): // a tab or a line end would be read as more fields or lines
			return counts, fmt.Errorf("%w: table %q, column %q: the id %q has a control character, such as a tab or a line end", ErrIDs, t.Name, t.ID, id.String)
		case ids[id.String]:
			return counts, fmt.Errorf("%w: table %q, column %q: %q is the id of more than one row", ErrIDs, t.Name, t.ID, id.String)
		}
		ids[id.String] = true
		switch {
		case !text.Valid:
			counts.Null++
		case strings.TrimSpace(text.String) == "":
			counts.Empty++
		default:
			if err := emit(id.String, text.String); err != nil {
				return counts, err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return counts, s.failed(ctx, err)
	}
	return counts, nil
}

// Row is a similar pair, by the IDs of its texts.
type Row struct {
	A, B       string
	Similarity float64
}

// CheckNew returns an error if a table of that name exists or cannot be created.
func (s *Session) CheckNew(ctx context.Context, table string) error {
	_, columns, err := s.resolve(ctx, table)
	if err == nil && len(columns) > 0 {
		err = fmt.Errorf("%w: there is a table %q already; name another, or drop it", ErrName, table)
	}
	return err
}

// Write creates a table with the columns a, b and similarity, completely or not at
// all.
func (s *Session) Write(ctx context.Context, table string, rows iter.Seq[Row]) (err error) {
	if err := s.CheckNew(ctx, table); err != nil {
		return err
	}
	n := name{table: table}
	if schema, rest, ok := strings.Cut(table, "."); ok && rest != "" {
		there, err := s.e.schema(ctx, s.c, schema)
		if err != nil {
			return s.failed(ctx, err)
		}
		if there {
			n = name{schema, rest}
		}
	}
	// Rows go to a temporary table first, so that one statement creates the final
	// one.
	for _, statement := range []string{"DROP TABLE IF EXISTS neardup_pair",
		"CREATE TEMP TABLE neardup_pair (a TEXT NOT NULL, b TEXT NOT NULL, similarity " + s.e.double + " NOT NULL)"} {
		if err := s.exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := s.e.load(ctx, s.c, "neardup_pair", []string{"a", "b", "similarity"}, func(yield func([]any) bool) {
		for r := range rows {
			if !yield([]any{r.A, r.B, r.Similarity}) {
				return
			}
		}
	}); err != nil {
		return s.failed(ctx, err)
	}
	return s.exec(ctx, fmt.Sprintf("CREATE TABLE %s AS SELECT a, b, similarity FROM neardup_pair", n))
}
