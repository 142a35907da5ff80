package sqljoin

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"sync"

	driverpkg "modernc.org/sqlite"

	"neardup/cluster/ppjoin"
)

// sqlite is embedded in the program. Without a data source name the database is in
// memory. Its temporary tables are in unnamed files.
var sqlite = engine{
	name: "sqlite",
	open: func(_ context.Context, dsn string, access Access) (*sql.DB, error) {
		registered.Do(register)
		if registerError != nil {
			return nil, registerError
		}
		if dsn == "" {
			return sql.Open("sqlite", ":memory:")
		}
		mode := map[Access]string{ReadTables: "ro", WriteTables: "rwc"}[access]
		path := url.URL{Path: dsn}
		return sql.Open("sqlite", "file:"+path.EscapedPath()+"?mode="+mode+"&_pragma=busy_timeout(5000)")
	},
	prepare: func(ctx context.Context, c *sql.Conn) error {
		// Reading the schema shows whether the file is a database at all.
		for _, statement := range []string{"SELECT COUNT(*) FROM sqlite_schema", "PRAGMA temp_store = FILE", "CREATE TEMP TABLE neardup_session (x)",
			"PRAGMA temp.cache_size = -65536"} {
			if _, err := c.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	},
	load: func(ctx context.Context, c *sql.Conn, table string, columns []string, rows iter.Seq[[]any]) (err error) {
		tx, err := c.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, tx.Rollback())
			}
		}()
		const together = 64 // rows of one statement
		statement := func(rows int) string {
			row := ",(?" + strings.Repeat(",?", len(columns)-1) + ")"
			return "INSERT INTO " + table + "(" + strings.Join(columns, ",") + ") VALUES " + strings.Repeat(row, rows)[1:]
		}
		many, err := tx.PrepareContext(ctx, statement(together))
		if err != nil {
			return err
		}
		defer many.Close()
		var values []any
		for row := range rows {
			if values = append(values, row...); len(values) == together*len(columns) {
				if _, err := many.ExecContext(ctx, values...); err != nil {
					return err
				}
				values = values[:0]
			}
		}
		if len(values) > 0 {
			if _, err := tx.ExecContext(ctx, statement(len(values)/len(columns)), values...); err != nil {
				return err
			}
		}
		return tx.Commit()
	},
	find: func(ctx context.Context, c *sql.Conn, t name) ([]string, error) {
		schema := sql.NullString{String: t.schema, Valid: t.schema != ""}
		return scanNames(ctx, c, "SELECT name FROM pragma_table_xinfo(?, ?)", t.table, schema)
	},
	schema: func(ctx context.Context, c *sql.Conn, name string) (bool, error) {
		found, err := scanNames(ctx, c, "SELECT name FROM pragma_database_list WHERE lower(name) = lower(?)", name)
		return len(found) > 0, err
	},
	tokens: "BLOB",
	suffix: "neardup_suffix",
	least:  "min",
	double: "REAL",
	keyed:  " WITHOUT ROWID",
	vector: func(tokens []uint32) any {
		b := make([]byte, 0, 4*len(tokens))
		for _, t := range tokens {
			b = binary.LittleEndian.AppendUint32(b, t)
		}
		return b
	},
}

var (
	registered    sync.Once
	registerError error
)

// register defines the suffix filter as a function of the database.
func register() {
	registerError = driverpkg.RegisterDeterministicScalarFunction("neardup_suffix", 4, func(_ *driverpkg.FunctionContext, args []driver.Value) (driver.Value, error) {
		var sets [2][]uint32
		var numbers [2]int64
		for i := range 2 {
			b, isBlob := args[i].([]byte)
			n, isNumber := args[i+2].(int64)
			if !isBlob && args[i] != nil || !isNumber || len(b)%4 != 0 {
				return nil, fmt.Errorf("neardup_suffix(%T, %T, %T, %T): want tokens, tokens, limit and depth", args[0], args[1], args[2], args[3])
			}
			for ; len(b) > 0; b = b[4:] {
				sets[i] = append(sets[i], binary.LittleEndian.Uint32(b))
			}
			numbers[i] = n
		}
		return int64(ppjoin.SuffixDistance(sets[0], sets[1], int(numbers[0]), int(numbers[1]))), nil
	})
}

// scanNames returns the rows of a query for one text.
func scanNames(ctx context.Context, c *sql.Conn, query string, args ...any) (names []string, err error) {
	rows, err := c.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n string
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	return names, rows.Err()
}
