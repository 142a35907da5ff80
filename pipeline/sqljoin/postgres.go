package sqljoin

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"
)

// connectTimeout limits the wait for a server if the data source name sets no
// limit.
const connectTimeout = 10 * time.Second

var postgres = engine{
	name: "postgres",
	dsn:  "postgres://USER@HOST:PORT/DATABASE, or host=... port=... user=... dbname=...",
	open: func(_ context.Context, dsn string, _ Access) (*sql.DB, error) {
		config, err := pq.NewConfig(dsn)
		if err != nil {
			return nil, err
		}
		if config.ConnectTimeout == 0 {
			config.ConnectTimeout = connectTimeout
		}
		if config.SSLMode == "" { // as in the programs of PostgreSQL
			config.SSLMode = pq.SSLModePrefer
		}
		connector, err := pq.NewConnectorConfig(config)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(connector), nil
	},
	prepare: func(ctx context.Context, c *sql.Conn) error {
		// The first setting ends a query soon after its client is gone; servers
		// before version 14 do not know it. The second turns off compilation, which
		// costs more than it saves.
		_, _ = c.ExecContext(ctx, "SET client_connection_check_interval = '2s'")
		for _, statement := range []string{"SET jit = off", "SET work_mem = '64MB'", "SET client_min_messages = error", suffixFunction} {
			if _, err := c.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	},
	load: func(ctx context.Context, c *sql.Conn, table string, columns []string, rows iter.Seq[[]any]) (err error) {
		tx, err := c.BeginTx(ctx, nil) // pq copies only in a transaction
		if err != nil {
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, tx.Rollback())
			}
		}()
		// The driver's own statement takes many rows at a time.
		if err := c.Raw(func(conn any) error {
			return copyRows(ctx, conn, "COPY "+table+" ("+strings.Join(columns, ",")+") FROM STDIN", rows)
		}); err != nil {
			return err
		}
		return tx.Commit()
	},
	find: func(ctx context.Context, c *sql.Conn, t name) ([]string, error) {
		return scanNames(ctx, c, `SELECT attname::text FROM pg_attribute
			WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`, t.String())
	},
	schema: func(ctx context.Context, c *sql.Conn, name string) (bool, error) {
		found, err := scanNames(ctx, c, "SELECT nspname::text FROM pg_namespace WHERE nspname = $1", name)
		return len(found) > 0, err
	},
	longestName: 63,
	tokens:      "INTEGER[]",
	suffix:      "pg_temp.neardup_suffix",
	least:       "LEAST",
	double:      "DOUBLE PRECISION",
	vector: func(tokens []uint32) any {
		v := []byte{'{'}
		for i, t := range tokens {
			if i > 0 {
				v = append(v, ',')
			}
			v = strconv.AppendUint(v, uint64(t), 10)
		}
		return string(append(v, '}'))
	},
}

// copyRows sends rows in the text format of COPY.
func copyRows(ctx context.Context, conn any, statement string, rows iter.Seq[[]any]) (err error) {
	preparer, ok := conn.(driver.ConnPrepareContext)
	if !ok {
		return fmt.Errorf("%T prepares no statements", conn)
	}
	prepared, err := preparer.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, prepared.Close()) }() // which waits for the server
	in, ok := prepared.(interface {
		CopyData(ctx context.Context, lines string) (driver.Result, error)
	})
	if !ok {
		return fmt.Errorf("%T takes no rows", prepared)
	}
	const together = 32 << 10 // bytes
	lines := make([]byte, 0, 2*together)
	send := func() error {
		if ctx.Err() != nil || len(lines) == 0 {
			return ctx.Err()
		}
		// It ends the last line itself. With a context it starts a goroutine.
		_, err := in.CopyData(context.Background(), string(lines[:len(lines)-1]))
		lines = lines[:0]
		return err
	}
	for row := range rows {
		if lines = appendRow(lines, row); len(lines) >= together {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return send()
}

// appendRow appends a row in the text format of COPY.
func appendRow(b []byte, row []any) []byte {
	for i, v := range row {
		if i > 0 {
			b = append(b, '\t')
		}
		switch v := v.(type) {
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case float64:
			b = strconv.AppendFloat(b, v, 'g', -1, 64)
		case string:
			for i := range len(v) {
				switch c := v[i]; c {
				case '\\':
					b = append(b, `\\`...)
				case '\t':
					b = append(b, `\t`...)
				case '\n':
					b = append(b, `\n`...)
				case '\r':
					b = append(b, `\r`...)
				default:
					b = append(b, c)
				}
			}
		default:
			panic(fmt.Sprintf("sqljoin: a column of %T", v))
		}
	}
	return append(b, '\n')
}

// suffixFunction is algorithm 3 of the PPJoin paper, like suffix in package ppjoin.
// The function belongs to the session.
const suffixFunction = `
CREATE OR REPLACE FUNCTION pg_temp.neardup_suffix(x INTEGER[], y INTEGER[], lim INTEGER, depth INTEGER) RETURNS INTEGER
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	nx INTEGER := COALESCE(cardinality(x), 0);
	ny INTEGER := COALESCE(cardinality(y), 0);
	diff INTEGER := abs(nx - ny);
	mid INTEGER;
	w INTEGER;
	o INTEGER;
	l INTEGER;
	r INTEGER;
	m INTEGER;
	missing INTEGER := 1;
	after INTEGER;
	hl INTEGER;
	hr INTEGER;
BEGIN
	IF depth < 1 OR nx = 0 OR ny = 0 OR diff > lim THEN
		RETURN diff;
	END IF;
	mid := (ny + 1) / 2; -- from 1
	w := y[mid];
	o := (lim - diff) / 2;
	l := mid - 1 - o; -- places before w, from 0
	r := mid - 1 + o;
	IF nx < ny THEN l := l - diff; ELSE r := r + diff; END IF;
	l := GREATEST(l, 0);
	r := LEAST(r, nx);
	IF l > r OR l > 0 AND x[l] >= w OR r < nx AND x[r + 1] < w THEN
		RETURN lim + 1;
	END IF;
	WHILE l < r LOOP
		m := (l + r) / 2;
		IF x[m + 1] < w THEN l := m + 1; ELSE r := m; END IF;
	END LOOP;
	after := l + 1;
	IF l < nx AND x[l + 1] = w THEN
		missing := 0;
		after := l + 2;
	END IF;
	hr := abs((nx - after + 1) - (ny - mid));
	IF abs(l - (mid - 1)) + hr + missing > lim THEN
		RETURN abs(l - (mid - 1)) + hr + missing;
	END IF;
	hl := pg_temp.neardup_suffix(x[1:l], y[1:mid - 1], lim - hr - missing, depth - 1);
	IF hl + hr + missing > lim THEN
		RETURN hl + hr + missing;
	END IF;
	RETURN hl + missing + pg_temp.neardup_suffix(x[after:nx], y[mid + 1:ny], lim - hl - missing, depth - 1);
END $$`
