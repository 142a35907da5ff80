package sqljoin

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// connectTimeout limits the wait for a server if the data source name sets no
// limit.
const connectTimeout = 10 * time.Second

var postgres = engine{
	name: "postgres",
	dsn:  "postgres://USER@HOST:PORT/DATABASE, or host=... port=... user=... dbname=...",
	open: func(_ context.Context, dsn string, _ Access) (*sql.DB, error) {
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, err
		}
		if config.ConnectTimeout == 0 {
			config.ConnectTimeout = connectTimeout
		}
		return stdlib.OpenDB(*config), nil
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
	load: func(ctx context.Context, c *sql.Conn, table string, columns []string, rows iter.Seq[[]any]) error {
		return c.Raw(func(driverConn any) error {
			connection, ok := driverConn.(*stdlib.Conn)
			if !ok {
				return fmt.Errorf("%T is no connection of pgx", driverConn)
			}
			next, stop := iter.Pull(rows)
			defer stop()
			_, err := connection.Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
				row, ok := next()
				if !ok {
					return nil, nil
				}
				return row, ctx.Err()
			}))
			return err
		})
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
		v := make([]int32, len(tokens))
		for i, t := range tokens {
			v[i] = int32(t)
		}
		return v
	},
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
