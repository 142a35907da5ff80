package sqljoin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"neardup/cluster/ppjoin"
)

// do runs statements of a test in a session of their own.
func do(t *testing.T, engine, dsn string, statements ...string) {
	t.Helper()
	s := open(t, engine, dsn, WriteTables)
	for _, statement := range statements {
		if err := s.exec(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// all returns the names of the tables of a database, of all sessions.
func all(t *testing.T, engine, dsn string) []string {
	t.Helper()
	s, err := Open(context.Background(), engine, dsn, WriteTables)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	query := "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
	if engine == "postgres" {
		query = "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
	}
	names, err := scanNames(context.Background(), s.c, query)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// hostile are names that need quoting, or would do harm without.
var hostile = []string{"plain", "Select", `a "quoted" name`, "it's; DROP TABLE plain; --", "with.a.dot", "日本 語", "a`b[c]", "%s$1?"}

func TestTables(t *testing.T) {
	each(t, func(t *testing.T, engine string) {
		dsn := dsnOf(t, engine)
		ctx := context.Background()
		drop := []string{`DROP TABLE IF EXISTS "main.other"`}
		for _, n := range hostile {
			drop = append(drop, "DROP TABLE IF EXISTS "+quoted(n), "DROP TABLE IF EXISTS "+quoted(n+" out"))
		}
		do(t, engine, dsn, drop...)
		t.Cleanup(func() { do(t, engine, dsn, drop...) })
		for _, n := range hostile {
			do(t, engine, dsn, fmt.Sprintf("CREATE TABLE %s (%s INTEGER, %s TEXT)", quoted(n), quoted(n+"1"), quoted(n+"2")),
				fmt.Sprintf("INSERT INTO %s VALUES (1, 'one'), (2, NULL), (3, ''), (4, '  '), (5, 'it''s \"five\"')", quoted(n)))
		}
		s := open(t, engine, dsn, WriteTables)
		for _, n := range hostile {
			got := map[string]string{}
			counts, err := s.Texts(ctx, Table{n, n + "1", n + "2"}, func(id, text string) error { got[id] = text; return nil })
			if want := map[string]string{"1": "one", "5": `it's "five"`}; err != nil || !maps.Equal(got, want) || counts != (TableCounts{5, 1, 2}) {
				t.Errorf("table %s: %v, %+v, %v", n, got, counts, err)
			}
			for bad, table := range map[string]Table{
				"there is no table":   {n + "x", n + "1", n + "2"},
				`no column "rowidx"`:  {n, "rowidx", n + "2"},
				`no column "1 FROM x`: {n, n + "1", "1 FROM x; --"},
				"no name of a table":  {"", "a", "b"},
				"no name of a  table": {"a\x00b", "a", "b"},
			} {
				if _, err := s.Texts(ctx, table, nil); !errors.Is(err, ErrName) || !strings.Contains(err.Error(), strings.ReplaceAll(bad, "  ", " ")) {
					t.Errorf("%+v: %v, want %s", table, err, bad)
				}
			}
			rows := []Row{{"1", "5", .8125}, {`'; DROP TABLE plain; --`, "x\ty\nz\r\\N\\", 1}}
			if err := s.Write(ctx, n+" out", slices.Values(rows)); err != nil {
				t.Fatal(err)
			}
			if err := s.CheckNew(ctx, n+" out"); !errors.Is(err, ErrName) || !strings.Contains(err.Error(), "already") {
				t.Errorf("%s out: %v", n, err)
			}
			if err := s.Write(ctx, n, slices.Values(rows)); !errors.Is(err, ErrName) {
				t.Errorf("%s is written over: %v", n, err)
			}
			lines, err := scanNames(ctx, s.c, "SELECT a || '|' || b || '|' || similarity FROM "+quoted(n+" out")+" ORDER BY similarity")
			if want := []string{"1|5|0.8125", `'; DROP TABLE plain; --|x` + "\ty\nz\r\\N\\|1"}; err != nil || len(lines) != 2 || lines[0] != want[0] || strings.TrimSuffix(lines[1], ".0") != want[1] {
				t.Errorf("%s out: %q, %v", n, lines, err)
			}
		}
		if err := s.Write(ctx, "main.other", slices.Values([]Row{{"a", "b", 1}})); engine == "sqlite" && err != nil {
			t.Error(err)
		}
		if engine == "sqlite" && !slices.Contains(all(t, engine, dsn), "other") {
			t.Error("a schema before the name is not one")
		}
	})
}

func TestIDs(t *testing.T) {
	each(t, func(t *testing.T, engine string) {
		dsn := dsnOf(t, engine)
		drop := "DROP TABLE IF EXISTS neardup_test_ids"
		do(t, engine, dsn, drop, "CREATE TABLE neardup_test_ids (id TEXT, again TEXT, split TEXT, text TEXT)",
			"INSERT INTO neardup_test_ids VALUES ('a', 'same', 'b', 'one'), (NULL, 'same', 'x\ty\n\x1b', 'two')")
		t.Cleanup(func() { do(t, engine, dsn, drop) })
		s := open(t, engine, dsn, ReadTables)
		for column, want := range map[string]string{"id": `column "id": a row has no id (NULL)`, "again": `column "again": "same" is the id of more than one row`,
			"split": `column "split": the id "x\ty\n\x1b" has a control character`} {
			_, err := s.Texts(context.Background(), Table{"neardup_test_ids", column, "text"}, func(string, string) error { return nil })
			if !errors.Is(err, ErrIDs) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	file := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(file, []byte(strings.Repeat("no database\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	port := func(l net.Listener) string { return fmt.Sprint(l.Addr().(*net.TCPAddr).Port) }
	for _, x := range []struct {
		engine, dsn string
		want        string
	}{
		{"mysql", "", `there is no engine "mysql"; there are sqlite, postgres`},
		{"postgres", "", "postgres: no data source name; it is postgres://"},
		{"postgres", "postgres://host:5/?sslmode=maybe", `postgres: pq: wrong value for "sslmode"`},
		{"postgres", "host=127.0.0.1 user=x password=secret port=" + port(closed), "postgres: cannot use the database: dial tcp 127.0.0.1:" + port(closed)},
		{"postgres", "host=127.0.0.1 user=x password=secret connect_timeout=1 port=" + port(l), "postgres: cannot use the database: read tcp 127.0.0.1:"},
		{"sqlite", filepath.Join(t.TempDir(), "missing.db"), "sqlite: cannot use the database: unable to open database file"},
		{"sqlite", file, "sqlite: cannot use the database: file is not a database"},
	} {
		s, err := Open(context.Background(), x.engine, x.dsn, ReadTables)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), x.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s %q: %v, want %s...", x.engine, x.dsn, err, x.want)
		}
	}
}

// TestNothingIsLeft: neither a join that ends nor one that is stopped or killed
// leaves a table.
func TestNothingIsLeft(t *testing.T) {
	if os.Getenv("NEARDUP_TEST_KILLED") != "" {
		killed(t)
		return
	}
	each(t, func(t *testing.T, engine string) {
		dsn := dsnOf(t, engine)
		before := all(t, engine, dsn)
		c := []ppjoin.Collection{many(3000)}
		o := Options{Options: ppjoin.Options{Threshold: .5}, Scheme: GroupBy, Verify: Database}
		s, err := Open(context.Background(), engine, dsn, WriteTables)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(300*time.Millisecond, cancel)
		if _, err := s.Find(ctx, o, c, func(ppjoin.Pair) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if s, err = Open(context.Background(), engine, dsn, WriteTables); err != nil {
			t.Fatal(err)
		}
		stopped := errors.New("enough")
		if _, err := s.Find(context.Background(), o, []ppjoin.Collection{many(50)}, func(ppjoin.Pair) error { return stopped }); !errors.Is(err, stopped) {
			t.Errorf("stopped by emit: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}

		dir := t.TempDir()
		child := exec.Command(os.Args[0], "-test.run", "^TestNothingIsLeft$")
		child.Env = append(os.Environ(), "NEARDUP_TEST_KILLED="+engine, "NEARDUP_TEST_DSN="+dsn, "TMPDIR="+dir, "SQLITE_TMPDIR="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // the tables are there
			t.Fatal(err)
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
		var left []string
		for range 100 { // a server takes a moment to notice
			if left = all(t, engine, dsn); slices.Equal(left, before) {
				break
			}
			time.Sleep(200 * time.Millisecond)
		}
		if !slices.Equal(left, before) {
			t.Errorf("tables %v, before %v", left, before)
		}
		if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) > 0 {
			t.Errorf("files are left: %v, %v", files, err)
		}
	})
}

// many returns records that nearly all are candidates.
func many(n int) (c ppjoin.Collection) {
	for i := range n {
		add(&c, 1, 2, 3, 4, uint32(5+i))
	}
	return c
}

// killed is a process in the middle of a join.
func killed(t *testing.T) {
	s := open(t, os.Getenv("NEARDUP_TEST_KILLED"), os.Getenv("NEARDUP_TEST_DSN"), WriteTables)
	o := Options{Options: ppjoin.Options{Threshold: .5}, Scheme: Prefix, Verify: Binary}
	_, err := s.Find(context.Background(), o, []ppjoin.Collection{many(400)}, func(ppjoin.Pair) error {
		fmt.Println("in the middle")
		time.Sleep(time.Minute)
		return nil
	})
	t.Fatal(err)
}
