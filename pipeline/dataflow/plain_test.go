package dataflow_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"neardup/audit"
	"neardup/cluster/judged"
	"neardup/configs"
	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// The stages run over plain sorted files, without a database, and give what a
// workspace gives: links, parts and clusters, row by row.
func TestPlainFiles(t *testing.T) {
	pipetest.Spill(t)
	random := rand.New(rand.NewPCG(71, 72))
	planted, _ := pipetest.Planted(random, 12)
	files := map[string]string{"crawl": pipetest.Crawl(t), "texts": pipetest.WriteTexts(t, 0, planted)}
	for _, method := range [][]string{
		{"default"},
		{"default", "verify.rare_pages=1", "verify.rare_resemblance=0.9"}, // rarity decides about many pairs
		{"paper"},
		{"minhash-lsh"},
		{"shingling", "cluster.common=3"}, // an edge for each common signature
		{"simhash"},
		{"ppjoin"},
	} {
		for name, input := range files {
			t.Run(fmt.Sprint(method, "/", name), func(t *testing.T) {
				c := pipetest.MustLoadPreset(t, method[0], method[1:]...)
				w, _ := finished(t, c, input)
				for _, workers := range []int{1, 3} {
					if workers == 1 && testing.Short() {
						continue
					}
					p := plain{t: t, dir: t.TempDir(), config: c}
					p.extract(input)
					p.extracted(w)
					p.run(workers)
					links := same(t, "links", read(p, "links", parseLink), results.NearPairs(w))
					parts := same(t, "parts", read(p, "parts", parseLink), results.ScoredPairs(w, layout.TablePart))
					clustered := same(t, "clusters", read(p, "clusters", parseCluster), stored(w, layout.TableCluster, layout.Row.Cluster))
					apart := same(t, "contained", read(p, "contained", parseContained), stored(w, layout.TableContained, layout.Row.Contained))
					if method[0] == "default" && len(method) == 1 && name == "crawl" && apart == 0 {
						t.Error("no contained text")
					}
					if links == 0 || clustered == 0 || (c.Verify.Closing == configs.ClosingPartition) != (parts > 0) {
						t.Errorf("%d links, %d parts, %d texts in clusters", links, parts, clustered)
					}
				}
			})
		}
	}
}

// Clusters follow judged pairs, too.
func TestPlainJudgedPairs(t *testing.T) {
	input := pipetest.WriteTexts(t, 0, pipetest.Copies())
	for _, method := range []string{"default", "shingling", "lcs"} {
		t.Run(method, func(t *testing.T) {
			c := pipetest.MustLoadPreset(t, method)
			w, before := finished(t, c, input)
			p := plain{t: t, dir: t.TempDir(), config: c}
			p.extract(input)
			texts := map[string]rows.TextID{}
			for d, err := range read(p, "documents", parseDocument) {
				if err != nil {
					t.Fatal(err)
				}
				if texts[strings.Trim(d.RecordID, "<>")], err = rows.ParseTextID(d.TextID); err != nil {
					t.Fatal(err)
				}
			}
			for _, j := range pipetest.Judgements(t, "0=6", "5=6", "1|2", "1|0", "4=5") {
				a, b := texts[strings.Trim(j.A, "<>")], texts[strings.Trim(j.B, "<>")]
				if a == b {
					t.Fatalf("%+v: no texts", j.Pair)
				}
				p.judged = append(p.judged, judged.Pair{A: []rows.TextID{a}, B: []rows.TextID{b}, Join: j.Verdict == audit.True})
				if err := w.WriteJudgements(func(b store.Batch) error { return workspace.PutJudgement(b, j) }, j.Pair); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
				t.Fatal(err)
			}
			p.run(2)
			n := same(t, "clusters", read(p, "clusters", parseCluster), stored(w, layout.TableCluster, layout.Row.Cluster))
			if after := pipetest.ExportOf(t, w, exports.Options{Format: "jsonl"}); n < 5 || bytes.Equal(before, after) {
				t.Errorf("%d texts in clusters; before %s", n, before)
			}
		})
	}
}

// Revisits, too: of captures in any file, of each other, of nothing.
func TestPlainRevisits(t *testing.T) {
	pipetest.Spill(t)
	records, want := pipetest.Revisits()
	input := pipetest.WriteRecords(t, records...)
	c := pipetest.MustLoad(t)
	w, _ := finished(t, c, input)
	p := plain{t: t, dir: t.TempDir(), config: c}
	p.extract(input)
	documents := len(records) - len(want)
	for _, of := range want {
		if of != "" {
			documents++
		}
	}
	if n := p.extracted(w); n != documents {
		t.Errorf("%d documents, want %d", n, documents)
	}
	for d, err := range read(p, "documents", parseDocument) {
		if err != nil {
			t.Fatal(err)
		}
		of, known := want[strings.TrimSuffix(strings.TrimPrefix(d.RecordID, "<urn:test:"), ">")]
		if known && (of == "" || d.RevisitOf != "<urn:test:"+of+">") {
			t.Errorf("%s is a revisit of %s, want %q", d.RecordID, d.RevisitOf, of)
		}
	}
}

// finished returns a workspace of an input after a run, and its export.
func finished(t *testing.T, c configs.Config, input string) (w *workspace.Workspace, exported []byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	exported = pipetest.RunAll(t, dir, c, workspace.Options{Workers: 2}, input)
	return pipetest.Open(t, dir, c), exported
}

// row is a row of a file or a table, as text.
type row struct{ key, value string }

func parseRow(k, v []byte) (row, error) { return row{string(k), string(v)}, nil }

// extracted compares the files that extract makes with what the workspace has, and
// returns the number of documents.
func (p plain) extracted(w *workspace.Workspace) (documents int) {
	p.t.Helper()
	table := func(table byte, value func(r layout.Row) ([]byte, error)) iter.Seq2[row, error] {
		return stored(w, table, func(r layout.Row) (row, error) {
			v, err := value(r)
			return row{string(r.Key()[1:]), string(v)}, err
		})
	}
	same(p.t, "texts", read(p, "texts", parseRow), table(layout.TableText, layout.Row.Value))
	same(p.t, "occurrences", read(p, "occurrences", parseRow), table(layout.TableOccurrence, func(r layout.Row) ([]byte, error) {
		o, err := r.Occurrence()
		b, jsonErr := json.Marshal(o)
		return b, errors.Join(err, jsonErr)
	}))
	same(p.t, "around", read(p, "around", func(_, v []byte) (string, error) { return string(v), nil }), func(yield func(string, error) bool) {
		for t, err := range results.Around(w) {
			b, jsonErr := json.Marshal(t)
			if !yield(string(b), errors.Join(err, jsonErr)) {
				return
			}
		}
	})
	return same(p.t, "documents", read(p, "documents", parseRow), table(layout.TableDocument, layout.Row.Value))
}

// same compares what a file has with what the workspace has.
func same[T comparable](t *testing.T, name string, got, want iter.Seq2[T, error]) (n int) {
	t.Helper()
	next, stop := iter.Pull2(got)
	defer stop()
	for want, err := range want {
		if err != nil {
			t.Fatal(err)
		}
		x, err, ok := next()
		if err != nil || !ok || x != want {
			t.Fatalf("%s: row %d is %+v (%v), want %+v", name, n, x, err, want)
		}
		n++
	}
	if x, err, ok := next(); ok {
		t.Fatalf("%s: beyond the %d rows of the workspace %+v (%v)", name, n, x, err)
	}
	return n
}

// stored yields the rows of a table of the workspace.
func stored[T any](w *workspace.Workspace, table byte, parse func(layout.Row) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for r, err := range w.DB.Table(table) {
			var row T
			if err == nil {
				row, err = parse(r)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
