package workspace_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// A database that has lost its seal is compared with what the stages left.
func TestContentsAreCompared(t *testing.T) {
	config := pipetest.MustLoad(t)
	open := func(dir string) (*workspace.Workspace, error) {
		return workspace.Open(dir, stages.All, config, false, workspace.Options{})
	}
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, config, workspace.Options{}, pipetest.Crawl(t))
	for _, st := range stages.All {
		for _, table := range st.Tables {
			damaged := filepath.Join(t.TempDir(), "ws")
			if err := os.CopyFS(damaged, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			w, err := open(damaged)
			if err != nil {
				t.Fatal(err)
			}
			lower, upper := layout.TableBounds(table)
			rows := 0
			b := w.DB.Batch()
			for r, err := range w.DB.Rows(lower, upper) {
				if err != nil {
					t.Fatal(err)
				}
				if rows++; rows == 1 {
					if err := b.Delete(append([]byte{}, r.Key()...)); err != nil {
						t.Fatal(err)
					}
				}
			}
			if rows == 0 { // one too many is as wrong as one too few
				if err := b.Set([]byte{table, 1}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(b.Commit(), w.Close()); err != nil {
				t.Fatal(err)
			}
			if w, err := open(damaged); err != nil {
				t.Errorf("table %c: with its seal: %v", table, err)
			} else if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(damaged, "db", "seal")); err != nil {
				t.Fatal(err)
			}
			if _, err := open(damaged); !errors.Is(err, layout.ErrCorrupt) {
				t.Errorf("table %c of %s lost one of %d rows: %v", table, st.Name, rows, err)
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, "db", "seal")); err != nil {
		t.Fatal(err)
	}
	w, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A manifest that is lost is made again, with the config that it had.
func TestRestore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	config := pipetest.MustLoad(t, "verify.resemblance=0.77")
	pipetest.RunAll(t, dir, config, workspace.Options{}, pipetest.Crawl(t))
	path := filepath.Join(dir, "manifest.json")
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"another format": bytes.Replace(want, []byte(`"format": 2,`), []byte(`"format": 29`), 1), "gone": nil, "empty": {}, "half": want[:len(want)/2], "a digit": append(append([]byte{}, want[:700]...), append([]byte("7"), want[701:]...)...),
	} {
		err := os.Remove(path)
		if name != "gone" {
			err = os.WriteFile(path, content, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		restored, err := workspace.Restore(dir, stages.All)
		got, readErr := os.ReadFile(path)
		if !restored || err != nil || readErr != nil || string(got) != string(want) {
			t.Errorf("%s: restored %v, %v, %v:\n%s", name, restored, err, readErr, got)
		}
	}
	if restored, err := workspace.Restore(dir, stages.All); restored || err != nil {
		t.Errorf("not damaged: %v %v", restored, err)
	}
	var m workspace.Manifest
	if m, err = workspace.ReadManifest(dir); err != nil || m.Config == nil || !reflect.DeepEqual(*m.Config, config) || m.Format != workspace.Format {
		t.Errorf("%+v %v", m, err)
	}
}
