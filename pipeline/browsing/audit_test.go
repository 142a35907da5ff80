package browsing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"neardup/audit"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/review"
	"neardup/truth"
)

var _ interface {
	Audits(ctx context.Context) ([]audit.Audit, error)
	Draw(ctx context.Context, name string, d audit.Design) (audit.Audit, error)
	Audit(ctx context.Context, name string) (audit.Audit, error)
	Item(ctx context.Context, name string, i int) (audit.Item, error)
	Judge(ctx context.Context, j audit.Judgement) error
	Withdraw(ctx context.Context, p audit.Pair, judge string) error
	Judgements(ctx context.Context, p audit.Pair) ([]audit.Judgement, error)
	Progress(ctx context.Context, name, judge string) (audit.Progress, error)
	Result(ctx context.Context, name string) (audit.Result, error)
	Truth(ctx context.Context, name string) (pages, pairs []byte, err error)
} = (*Review)(nil) // of review.Auditor all but Enforced

// audits opens a workspace for audits.
func audits(t *testing.T, dir string, settings ...string) *Review {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t, settings...), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if w.DB != nil {
			_ = w.Close()
		}
	})
	return Auditor(w)
}

// end closes the workspace.
func end(t *testing.T, r *Review) {
	t.Helper()
	if err := r.w.Close(); err != nil {
		t.Fatal(err)
	}
	r.w.DB = nil
}

func draw(t *testing.T, r *Review, name string, d audit.Design) audit.Audit {
	t.Helper()
	a, err := r.Draw(context.Background(), name, d)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func allItems(t *testing.T, r *Review, a audit.Audit) (out []audit.Item) {
	t.Helper()
	for i := range a.Size {
		it, err := r.Item(context.Background(), a.Name, i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, it)
	}
	return out
}

// A sample as large as the population is the population: each member of the
// exported clusters with what it was verified against, with the scores, and with
// the sites of the documents.
func TestVerifiedPairsAreThoseOfTheExport(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	r := audits(t, dir)
	want := map[audit.Pair]string{}
	for c, err := range results.Clusters(ctx, r.w) {
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Members {
			if m.Relation != report.Representative {
				want[audit.NewPair(m.RecordID, m.VerifiedAgainst)] = fmt.Sprintf("%s %v %v", c.ID, m.Resemblance, m.Containment)
			}
		}
	}
	a := draw(t, r, "all", audit.Design{Population: audit.Verified, Size: 1000})
	if a.Size != len(want) || a.Strata[0] != (audit.Stratum{Name: "verified", Population: int64(len(want)), Sampled: len(want)}) || !a.Current {
		t.Fatalf("%+v, want %d pairs", a, len(want))
	}
	same := 0
	for _, it := range allItems(t, r, a) {
		if got := fmt.Sprintf("%s %v %v", it.Cluster, report.Score(it.Resemblance), report.Score(it.Containment)); got != want[it.Pair] {
			t.Errorf("%v: %s, want %s", it.Pair, got, want[it.Pair])
		}
		for side, id := range [2]string{it.A, it.B} {
			d, err := results.FindPage(ctx, r.w, id)
			if err != nil {
				t.Fatal(err)
			}
			if it.Documents[side] != d.Id.String() || it.URIs[side] != d.TargetURI || it.Dates[side] != d.Date || it.Sites[side] != d.Site {
				t.Errorf("%+v is not of %s", it, id)
			}
		}
		if it.SameSite != (it.Sites[0] == it.Sites[1]) {
			t.Errorf("sites of %+v", it)
		}
		if it.SameSite {
			same++
		}
	}
	if same == 0 || same == len(want) {
		t.Errorf("%d of %d pairs are of one site", same, len(want))
	}
	pages := draw(t, r, "pages", audit.Design{Population: audit.Pages, Size: 1})
	members := 0
	for c := range results.Clusters(ctx, r.w) {
		members += c.Size
	}
	if pages.Strata[0].Population != int64(members) {
		t.Errorf("%d pages, want %d", pages.Strata[0].Population, members)
	}
}

// The sample does not depend on workers, and an archive in two files that come
// in any order gives the same.
func TestSampleDependsOnTheClustersOnly(t *testing.T) {
	texts := slices.Concat(pipetest.Chains(rand.New(rand.NewPCG(1, 1)), 6, 5), pipetest.Chains(rand.New(rand.NewPCG(2, 2)), 6, 5))
	first, second := pipetest.WriteTexts(t, 0, texts[:30]), pipetest.WriteTexts(t, 30, texts[30:])
	var before []audit.Item
	for i, inputs := range [][]string{{first, second}, {second, first}} {
		dir := t.TempDir()
		for _, input := range inputs {
			pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{Workers: 1 + 3*i}, input)
		}
		r := audits(t, dir)
		items := allItems(t, r, draw(t, r, "x", audit.Design{Population: audit.Pages, Size: 10, Seed: 5}))
		if i > 0 && !reflect.DeepEqual(items, before) {
			t.Errorf("got %v\nwant %v", items, before)
		}
		before = items
	}
}

// Judgements and samples stay through another clustering, another extraction and
// the loss of the clusters.
func TestJudgementsSurviveReruns(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	input := pipetest.Crawl(t)
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, input)
	r := audits(t, dir)
	a := draw(t, r, "first", audit.Design{Population: audit.Pages, Size: 12, Seed: 3})
	items := allItems(t, r, a)
	for i, it := range items[:5] {
		for judge, v := range map[string]audit.Verdict{"anna": audit.True, "bo": []audit.Verdict{audit.True, audit.False, audit.Unknown}[i%3]} {
			if err := r.Judge(ctx, audit.Judgement{Pair: it.Pair, Judge: judge, Verdict: v, Note: "because"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, err := r.Result(ctx, "first")
	if err != nil || want.Judged != 5 || len(want.Disputed) != 3 || want.Unknown != 2 {
		t.Fatalf("%+v, %v", want, err)
	}
	check := func(r *Review, current bool) {
		t.Helper()
		got, err := r.Result(ctx, "first")
		if err != nil || got.Audit.Current != current {
			t.Fatalf("%+v, %v", got.Audit, err)
		}
		if got.Audit.Current = want.Audit.Current; !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		if now := allItems(t, r, a); !reflect.DeepEqual(now, items) {
			t.Errorf("items %v\nwant %v", now, items)
		}
		all, err := r.Audits(ctx)
		if err != nil || len(all) != 1 || all[0].Current != current {
			t.Errorf("audits %+v, %v", all, err)
		}
	}
	end(t, r)
	r = audits(t, dir)
	check(r, true)
	run := func(settings ...string) {
		t.Helper()
		end(t, r)
		pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{}, input)
		r = audits(t, dir, settings...)
	}
	strict := []string{"verify.resemblance=1", "verify.containment=2"}
	run(strict...) // next to no clusters
	check(r, false)
	run(append(strict, "extract.clean=none")...) // extracted again
	check(r, false)
	run()
	check(r, true)
	end(t, r)
	r = audits(t, dir, "sign.modulus=3") // not run with this
	check(r, false)
	if _, err := r.Draw(ctx, "second", audit.Design{Population: audit.Pages, Size: 1}); !errors.Is(err, workspace.ErrUsage) {
		t.Errorf("drawn from clusters that are not up to date: %v", err)
	}
}

func TestAuditor(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	r := audits(t, dir)
	d := audit.Design{Population: audit.Pages, Size: 10}
	a := draw(t, r, "one", d)
	draw(t, r, "two", d)
	items := allItems(t, r, a)
	judge := func(i int, who string, v audit.Verdict) {
		t.Helper()
		if err := r.Judge(ctx, audit.Judgement{Pair: audit.Pair{A: items[i].B, B: strings.Trim(items[i].A, "<>")}, Judge: who, Verdict: v, Note: "x\r\ny"}); err != nil {
			t.Fatal(err)
		}
	}
	judge(0, "anna", audit.False)
	judge(0, "anna", audit.True)
	judge(2, "anna", audit.Unknown)
	judge(0, "ann", audit.False) // whose name another's starts with
	for _, name := range []string{"one", "two"} {
		p, err := r.Progress(ctx, name, "anna")
		if err != nil || p.Size != 10 || p.Judged != 2 || p.Next != 1 || p.Given[0] != audit.True || p.Given[2] != audit.Unknown || p.Given[1] != "" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	js, err := r.Judgements(ctx, items[0].Pair)
	if err != nil || len(js) != 2 || js[0].Judge != "ann" || js[1].Verdict != audit.True || js[1].Note != "x\ny" || js[1].Time == "" || js[1].Pair != items[0].Pair {
		t.Errorf("%+v, %v", js, err)
	}
	if err := r.Withdraw(ctx, items[0].Pair, "ann"); err != nil {
		t.Fatal(err)
	}
	if js, err = r.Judgements(ctx, items[0].Pair); err != nil || len(js) != 1 || js[0].Judge != "anna" {
		t.Errorf("%+v, %v", js, err)
	}
	for i := range items {
		judge(i, "anna", audit.True)
	}
	if p, err := r.Progress(ctx, "one", "anna"); err != nil || p.Next != -1 || p.Judged != 10 {
		t.Errorf("%+v, %v", p, err)
	}
	pages, pairs, err := r.Truth(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := truth.Read(bytes.NewReader(pages), bytes.NewReader(pairs))
	if err != nil {
		t.Fatal(err)
	}
	s, err := tr.Score(func(yield func([]string, error) bool) {
		for c, err := range results.Clusters(ctx, r.w) {
			var ids []string
			for _, m := range c.Members {
				ids = append(ids, m.RecordID)
			}
			if !yield(ids, err) {
				return
			}
		}
	})
	if err != nil || s.True != 10 || s.False != 0 || s.Missed != 0 || s.Pair.Precision != 1 {
		t.Errorf("%+v, %v", s, err)
	}

	for what, err := range map[string]error{
		"draw twice": second(r.Draw(ctx, "one", d)), "name": second(r.Draw(ctx, "One", d)), "design": second(r.Draw(ctx, "x", audit.Design{})),
		"verdict":    r.Judge(ctx, audit.Judgement{Pair: items[0].Pair, Judge: "a", Verdict: "yes"}),
		"no pair":    r.Judge(ctx, audit.Judgement{Pair: audit.Pair{A: "x", B: "<x>"}, Judge: "a", Verdict: audit.True}),
		"judge":      r.Judge(ctx, audit.Judgement{Pair: items[0].Pair, Judge: "", Verdict: audit.True}),
		"note":       r.Judge(ctx, audit.Judgement{Pair: items[0].Pair, Judge: "a", Verdict: audit.True, Note: "\x00"}),
		"all judges": r.Withdraw(ctx, items[0].Pair, ""),
		"progress":   second(r.Progress(ctx, "one", "")),
	} {
		if !errors.Is(err, workspace.ErrUsage) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"audit": second(r.Audit(ctx, "three")), "prefix": second(r.Audit(ctx, "on")), "item": second(r.Item(ctx, "one", 10)),
		"item below": second(r.Item(ctx, "one", -1)), "result": second(r.Result(ctx, "")), "progress": second(r.Progress(ctx, "x", "a")),
	} {
		if !errors.Is(err, review.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Judges work at once, and readers see whole judgements.
func TestJudgesAtOnce(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	r := audits(t, dir)
	items := allItems(t, r, draw(t, r, "x", audit.Design{Population: audit.Pages, Size: 6}))
	var wg sync.WaitGroup
	errs := make(chan error, 1000)
	for _, judge := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			for _, it := range items {
				errs <- r.Judge(ctx, audit.Judgement{Pair: it.Pair, Judge: judge, Verdict: audit.True})
				errs <- second(r.Result(ctx, "x"))
			}
		})
	}
	const names = 20
	for n := range names { // of four that draw at once, one has the name
		begin := make(chan struct{})
		for range 4 {
			wg.Go(func() {
				<-begin
				if _, err := r.Draw(ctx, fmt.Sprint("same-", n), audit.Design{Population: audit.Pages, Size: 3}); !errors.Is(err, workspace.ErrUsage) {
					errs <- err
				}
			})
		}
		close(begin)
	}
	wg.Wait()
	close(errs)
	n := 0
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
		n++
	}
	if res, err := r.Result(ctx, "x"); n != 4*6*2+names || err != nil || res.Overall.True != 6 || len(res.Judges) != 4 {
		t.Errorf("%d answers, %+v, %v", n, res, err)
	}
}

func TestImportOfLabels(t *testing.T) {
	ctx := context.Background()
	from := t.TempDir()
	input := pipetest.Crawl(t)
	pipetest.RunAll(t, from, pipetest.MustLoad(t), workspace.Options{}, input)
	r := audits(t, from)
	items := allItems(t, r, draw(t, r, "x", audit.Design{Population: audit.Verified, Stratified: true, Size: 15, Seed: 8}))
	for i, it := range items[:9] {
		j := audit.Judgement{Pair: it.Pair, Judge: "a", Verdict: []audit.Verdict{audit.True, audit.False}[i%2], Enforce: i < 4}
		if err := r.Judge(ctx, j); err != nil {
			t.Fatal(err)
		}
	}
	var labels bytes.Buffer
	l, err := r.Labels(ctx, "x")
	if err := errors.Join(err, l.Write(&labels)); err != nil {
		t.Fatal(err)
	}
	imported := func(r *Review, o ImportOptions, want Imported) {
		t.Helper()
		got, err := r.ImportLabels(ctx, bytes.NewReader(labels.Bytes()), o)
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	enforced := func(r *Review) (n int) {
		t.Helper()
		for _, it := range items {
			js, err := r.Judgements(ctx, it.Pair)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range js {
				if j.Enforce {
					n++
				}
			}
		}
		return n
	}
	imported(r, ImportOptions{}, Imported{Audit: "x", Pairs: 15, Same: 9})
	if n := enforced(r); n != 4 {
		t.Errorf("%d enforced, want those of before", n)
	}

	// Another workspace of the same crawl: everything comes back.
	to := t.TempDir()
	pipetest.RunAll(t, to, pipetest.MustLoad(t), workspace.Options{}, input)
	other := audits(t, to)
	imported(other, ImportOptions{}, Imported{Audit: "x", New: true, Pairs: 15, Added: 9})
	if n := enforced(other); n != 0 {
		t.Errorf("%d enforced that nobody asked for", n)
	}
	a, err := r.Audit(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	if got := allItems(t, other, a); !reflect.DeepEqual(got, items) {
		t.Errorf("got %+v\nwant %+v", got, items)
	}
	want, err := r.Result(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := other.Result(ctx, "x"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	imported(other, ImportOptions{Enforce: true, Name: "y"}, Imported{Audit: "y", New: true, Pairs: 15, Replaced: 4, Same: 5})
	if n := enforced(other); n != 4 {
		t.Errorf("%d enforced, want 4", n)
	}
	if err := other.Judge(ctx, audit.Judgement{Pair: items[1].Pair, Judge: "a", Verdict: audit.True, Enforce: true}); err != nil {
		t.Fatal(err)
	}
	imported(other, ImportOptions{}, Imported{Audit: "x", Pairs: 15, Replaced: 1, Same: 8})
	if n := enforced(other); n != 3 {
		t.Errorf("%d enforced, want 3: not the opposite of what was", n)
	}

	// One of other pages: they are kept, and shown.
	elsewhere := t.TempDir()
	pipetest.RunAll(t, elsewhere, pipetest.MustLoad(t), workspace.Options{}, pipetest.WriteTexts(t, 0, []string{"one text of its own that is of some length", "one text of its own that is of some length"}))
	away := audits(t, elsewhere)
	imported(away, ImportOptions{}, Imported{Audit: "x", New: true, Pairs: 15, Added: 9, Unknown: 15})
	if it, err := away.Item(ctx, "x", 0); err != nil || it.Pair != items[0].Pair || it.URIs != [2]string{} {
		t.Errorf("%+v, %v", it, err)
	}

	// Another audit of the name stops everything.
	draw(t, other, "z", audit.Design{Population: audit.Pages, Size: 15})
	if _, err := other.ImportLabels(ctx, bytes.NewReader(labels.Bytes()), ImportOptions{Name: "z", Enforce: true}); !errors.Is(err, workspace.ErrUsage) || enforced(other) != 3 {
		t.Errorf("imported over another audit: %v", err)
	}
	if _, err := other.ImportLabels(ctx, strings.NewReader("{}\n{"), ImportOptions{}); !errors.Is(err, workspace.ErrUsage) {
		t.Errorf("imported what is no label: %v", err)
	}
}

// What was given is there after the process ended without closing the workspace.
func TestAJudgementGivenIsKept(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	r := audits(t, dir)
	items := allItems(t, r, draw(t, r, "x", audit.Design{Population: audit.Pages, Size: 3}))
	if err := r.Judge(ctx, audit.Judgement{Pair: items[1].Pair, Judge: "a", Verdict: audit.False}); err != nil {
		t.Fatal(err)
	}
	var left string // as a crash would leave it
	for try := 0; ; try++ {
		left = filepath.Join(t.TempDir(), "ws")
		err := os.CopyFS(left, os.DirFS(dir))
		if errors.Is(err, fs.ErrNotExist) && try < 100 {
			continue // the database has removed an old file meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if got, err := audits(t, left).Result(ctx, "x"); err != nil || got.Overall.False != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A pair whose judgement clusters do not follow is not in the list of those that they
// follow, and hides no other.
func TestUndecidedPairsAreNotEnforced(t *testing.T) {
	w := pipetest.Copied(t)
	r := Auditor(w)
	for i, j := range pipetest.Judgements(t, "0=1", "0=2", "0=3", "0=4", "0=5", "0=6", "1=2", "1=3") {
		if i%2 == 0 {
			j.Verdict, j.Enforce = audit.Unknown, false
		}
		if err := r.Judge(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.Enforced(t.Context(), "", 100)
	if err != nil || len(list.Pairs) != 4 {
		t.Errorf("%d pairs, %v", len(list.Pairs), err)
	}
}

// A workspace that can only be read, or that was replaced, refuses judgements and samples.
func TestRefusesToWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	holds := audits(t, dir)
	a := draw(t, holds, "one", audit.Design{Population: audit.Verified, Size: 3, Seed: 1})
	pair := allItems(t, holds, a)[0].Pair
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{Read: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	check := func(what, why string, r *Review) {
		t.Helper()
		_, drawn := r.Draw(t.Context(), "two", audit.Design{Population: audit.Verified, Size: 3, Seed: 1})
		for did, err := range map[string]error{"draw": drawn, "withdraw": r.Withdraw(t.Context(), pair, "Ines"),
			"judge": r.Judge(t.Context(), audit.Judgement{Pair: pair, Judge: "Ines", Verdict: audit.True})} {
			if !errors.Is(err, review.ErrRefused) || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %s: %v", what, did, err)
			}
		}
	}
	check("only read", "then start neardup serve again", Auditor(w))
	if err := os.Rename(filepath.Join(dir, "db"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	check("replaced", "", holds)
	if err := os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "db")); err != nil {
		t.Fatal(err)
	}
}
