// Package sqljoin finds all pairs of records whose similarity is at least a
// threshold, in a relational database: the joins of section 7 of the PPJoin paper
// (C. Xiao, W. Wang, X. Lin, J. X. Yu, G. Wang, Efficient Similarity Joins for Near
// Duplicate Detection, TODS 2011). It finds the same pairs as package ppjoin.
//
// All tables of a join are temporary tables of its session. They disappear with the
// session, however it ends.
package sqljoin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// engine is a database with the SQL that differs between databases.
type engine struct {
	name string
	dsn  string // description of a data source name; empty: none is needed

	open func(ctx context.Context, dsn string, access Access) (*sql.DB, error)
	// prepare sets up a session and defines the suffix filter (algorithm 5) as the
	// function neardup_suffix.
	prepare func(ctx context.Context, c *sql.Conn) error
	// load fills a table.
	load func(ctx context.Context, c *sql.Conn, table string, columns []string, rows iter.Seq[[]any]) error
	// find returns the columns of a table, or none if it does not exist.
	find func(ctx context.Context, c *sql.Conn, t name) ([]string, error)
	// schema reports whether a schema exists.
	schema func(ctx context.Context, c *sql.Conn, name string) (bool, error)

	longestName int    // bytes; 0: no limit
	tokens      string // type of a list of tokens
	suffix      string // call of neardup_suffix
	least       string // function that returns the smaller of two numbers
	double      string // type of floating-point numbers
	keyed       string // clause after a table whose rows are stored in the order of its primary key
	vector      func(tokens []uint32) any
}

// engines lists all engines, the default first.
var engines = []*engine{&sqlite, &postgres}

// Engines returns the names of the engines.
func Engines() (names []string) {
	for _, e := range engines {
		names = append(names, e.name)
	}
	return names
}

// NeedsDSN describes the data source name of an engine. It is empty if the engine
// needs none.
func NeedsDSN(engine string) string {
	for _, e := range engines {
		if e.name == engine {
			return e.dsn
		}
	}
	return ""
}

// Access is how a session uses the user's tables.
type Access int

// Kinds of access.
const (
	ReadTables  Access = iota // it reads tables, if any, and uses temporary ones of its own
	WriteTables               // it also creates a table
)

// Session is a connection to a database, for one goroutine.
type Session struct {
	e  *engine
	db *sql.DB
	c  *sql.Conn
}

// Open connects to the database that dsn names.
func Open(ctx context.Context, engine, dsn string, access Access) (*Session, error) {
	for _, e := range engines {
		if e.name != engine {
			continue
		}
		if e.dsn != "" && dsn == "" {
			return nil, fmt.Errorf("%s: no data source name; it is %s", e.name, e.dsn)
		}
		db, err := e.open(ctx, dsn, access)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
		s := &Session{e: e, db: db}
		if s.c, err = db.Conn(ctx); err == nil {
			err = e.prepare(ctx, s.c)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: cannot use the database: %w", e.name, err), s.Close())
		}
		return s, nil
	}
	return nil, fmt.Errorf("there is no engine %q; there are %s", engine, strings.Join(Engines(), ", "))
}

// Close ends the session and drops all its tables.
func (s *Session) Close() error {
	var err error
	if s.c != nil {
		if err = s.c.Close(); errors.Is(err, sql.ErrConnDone) {
			err = nil // a stopped query has ended the session
		}
	}
	return errors.Join(err, s.db.Close())
}

func (s *Session) exec(ctx context.Context, statement string) error {
	if _, err := s.c.ExecContext(ctx, statement); err != nil {
		return s.failed(ctx, err)
	}
	return nil
}

// failed adds the engine to an error, or returns the context's error if it has
// ended.
func (s *Session) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s: %w", s.e.name, err)
}

func (s *Session) count(ctx context.Context, table string) (n int64, err error) {
	if err = s.c.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
		err = s.failed(ctx, err)
	}
	return n, err
}
