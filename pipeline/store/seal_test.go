package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
)

// fill writes some batches and runs into a new database, which it closes if
// closed is set; else the files are those of a process that was killed.
func fill(t *testing.T, dir string, closed bool) {
	t.Helper()
	db, err := Open(dir, nil, panics{}, func() { t.Error("disk full") })
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		b := db.Batch()
		if err := errors.Join(b.Set(layout.MetaKey(fmt.Sprint(i)), []byte("value")), b.Commit()); err != nil {
			t.Fatal(err)
		}
		if i%4 == 0 {
			id := rows.TextID{byte(i)}
			run := SortEntries([]extsort.Entry{{Key: layout.SignedKey(id), Value: []byte("abcd")}})
			if err := db.Ingest(context.Background(), run); err != nil {
				t.Fatal(err)
			}
		}
	}
	if closed {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	killed := filepath.Join(t.TempDir(), "db")
	copyFiles(t, dir, killed)
	if err := errors.Join(db.Close(), os.RemoveAll(dir)); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, killed, dir)
}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// contents returns the files of a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

// openCopy opens a copy of the database and closes it. It returns the keys, and
// whether opening failed and left all files as they were.
func openCopy(t *testing.T, files map[string]string) (keys string, unsealed bool, err error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "db")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	db, err := Open(dir, nil, panics{}, func() { t.Error("disk full") })
	if err != nil {
		for name, content := range contents(t, dir) {
			if content != files[name] && name != sealName {
				t.Errorf("%s is changed by a database that cannot be opened", name)
			}
		}
		if left := len(contents(t, dir)); left < len(files) {
			t.Errorf("%d of %d files are left", left, len(files))
		}
		return "", false, err
	}
	for _, table := range []byte{layout.MetaKey("")[0], layout.TableSigned} {
		for r, rowErr := range db.Table(table) {
			if rowErr != nil {
				t.Fatal(rowErr)
			}
			keys += fmt.Sprintf("%x ", r.Key())
		}
	}
	return keys, db.Unsealed, db.Close()
}

// Each byte of the files that Pebble trusts is changed, each of these files is
// cut at each place, and removed: the database is not opened as another one.
func TestSealNoticesDamage(t *testing.T) {
	for _, closed := range []bool{true, false} {
		dir := filepath.Join(t.TempDir(), "db")
		fill(t, dir, closed)
		whole := contents(t, dir)
		want, unsealed, err := openCopy(t, whole)
		if err != nil || unsealed || strings.Count(want, " ") != 50 {
			t.Fatalf("undamaged: %q, unsealed %v, %v", want, unsealed, err)
		}
		tried := map[string]int{}
		try := func(what, name, content string, gone bool) {
			t.Helper()
			damaged := map[string]string{}
			for n, c := range whole {
				damaged[n] = c
			}
			if damaged[name] = content; gone {
				delete(damaged, name)
			}
			tried[strings.TrimRight(strings.SplitN(name, "-", 2)[0], "0123456789")]++
			got, _, err := openCopy(t, damaged)
			if err == nil && got != want {
				t.Errorf("%s of %s (closed: %v): %d rows, want %d, and no error", what, name, closed, strings.Count(got, " "), strings.Count(want, " "))
			}
			if err != nil && !errors.Is(err, layout.ErrCorrupt) {
				t.Errorf("%s of %s: %v", what, name, err)
			}
			if err == nil && gone {
				t.Errorf("%s: nobody misses it", name)
			}
		}
		step := 7
		if testing.Short() {
			step = 61
		}
		for name, content := range whole {
			if !isSealed(name) {
				continue
			}
			try("loss", name, "", true)
			for at := 0; at < min(len(content), 4<<10); at += step {
				b := []byte(content)
				b[at] ^= 1 << (at % 8)
				try(fmt.Sprintf("bit of byte %d", at), name, string(b), false)
				try(fmt.Sprintf("cut at %d", at), name, content[:at], false)
			}
		}
		t.Log(tried)
	}
}

// Without its seal a database is opened, and says so; next time it has one. A
// database that has lost its marker is not begun anew.
func TestUnsealed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	fill(t, dir, true)
	for name, content := range map[string]string{"none": "", "empty": "\x00", "damaged": strings.Replace(contents(t, dir)[sealName], "0", "1", 1)} {
		files := contents(t, dir)
		if files[sealName] = content; name == "none" {
			delete(files, sealName)
		}
		if keys, unsealed, err := openCopy(t, files); err != nil || !unsealed || strings.Count(keys, " ") != 50 {
			t.Errorf("%s: unsealed %v, %q, %v", name, unsealed, keys, err)
		}
		for file := range files {
			if strings.HasPrefix(file, "marker.manifest.") {
				delete(files, file)
			}
		}
		if _, _, err := openCopy(t, files); !errors.Is(err, layout.ErrCorrupt) {
			t.Errorf("%s, without its marker: %v", name, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, sealName)); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		db, err := Open(dir, nil, panics{}, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if db.Unsealed != (i == 0) {
			t.Errorf("time %d: unsealed %v", i, db.Unsealed)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSealRoundTrip(t *testing.T) {
	many := map[string]prefix{}
	for i := range 300 {
		many[fmt.Sprintf("%06d.log", i)] = prefix{int64(i) << 33, uint32(i) << 20}
	}
	for _, files := range []map[string]prefix{{}, {"MANIFEST-000001": {123, 0xabcdef}}, many} {
		b := appendSeal(nil, files)
		got, err := parseSeal(append(b, bytes.Repeat([]byte("x"), 99)...))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(files) || len(b)%sealBlock != 0 {
			t.Errorf("%d files: %d bytes, %v, %v", len(files), len(b), got, err)
		}
	}
}
