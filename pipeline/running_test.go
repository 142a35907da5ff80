package pipeline_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/pipeline/costs"
	"neardup/pipeline/disk"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/store"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

func openTemp(t *testing.T, dir, temp string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestTemporaryFilesGoElsewhere(t *testing.T) {
	dir, temp := filepath.Join(t.TempDir(), "ws"), t.TempDir()
	w := openTemp(t, dir, temp)
	if filepath.Dir(w.DB.Tmp) != temp {
		t.Errorf("sorted runs go to %s, and not into %s", w.DB.Tmp, temp)
	}
	if _, err := os.Stat(w.DB.Tmp); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if left := namesIn(t, temp); len(left) > 0 {
		t.Errorf("%v are left in the directory for temporary files", left)
	}
	if left := namesIn(t, dir); slices.Contains(left, "temporary") {
		t.Errorf("the workspace still names that directory: %v", left)
	}
}

// TestRunElsewhere runs with sorts that spill, and compares the exports with those of
// a run that sorts in the workspace.
func TestRunElsewhere(t *testing.T) {
	pipetest.Spill(t)
	crawl := pipetest.Crawl(t)
	config := pipetest.MustLoad(t)
	want := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), config, workspace.Options{Workers: 2}, crawl)
	temp := t.TempDir()
	got := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), config, workspace.Options{Workers: 2, Temp: temp, RunRows: 100}, crawl)
	if string(got) != string(want) {
		t.Error("the exports differ")
	}
	if left := namesIn(t, temp); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestTemporaryFilesOfKilledCommands(t *testing.T) {
	for _, c := range []struct {
		name  string // of the directory that the workspace names
		held  bool   // a process holds the directory
		stays bool
	}{
		{"neardup-run-1", false, false},
		{"neardup-run-2", true, true},
		{"photographs", false, true},
	} {
		dir, temp := filepath.Join(t.TempDir(), "ws"), t.TempDir()
		if err := openTemp(t, dir, "").Close(); err != nil {
			t.Fatal(err)
		}
		left := filepath.Join(temp, c.name)
		if err := os.Mkdir(left, 0o777); err != nil {
			t.Fatal(err)
		}
		pipetest.WriteFile(t, filepath.Join(left, "messages-1"), []byte("spilled"))
		pipetest.WriteFile(t, filepath.Join(dir, "temporary"), []byte(left))
		if c.held {
			lock, err := store.LockDirectory(left)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = lock.Close() }()
		}
		w := openTemp(t, dir, "")
		if _, err := os.Stat(filepath.Join(left, "messages-1")); (err == nil) != c.stays {
			t.Errorf("%s: stays: %v, want %v", c.name, err == nil, c.stays)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(namesIn(t, dir), "temporary") {
			t.Errorf("%s: the workspace still names it", c.name)
		}
	}
}

// disks is a Progress that keeps the estimates, and Free of disks that have so many
// bytes.
type disks struct {
	workspace.Silent
	free, freeElsewhere int64
	needs               map[string]workspace.Estimate
}

func (d *disks) Disk(stage string, e workspace.Estimate) { d.needs[stage] = e }

func (d *disks) freeOf(dir string) (int64, error) {
	if strings.HasPrefix(filepath.Base(dir), "neardup-run-") {
		return d.freeElsewhere, nil
	}
	return d.free, nil
}

// needing returns the stages, of which sign needs so much.
func needing(inWorkspace, temporary int64) []workspace.Stage {
	all := slices.Clone(stages.All)
	for i := range all {
		n := workspace.Need{}
		if all[i].Name == workspace.StageSign {
			n = workspace.Need{Workspace: inWorkspace, Temporary: temporary}
		}
		all[i].Need = func(*workspace.Workspace, bool) (workspace.Need, error) { return n, nil }
	}
	return all
}

func find(t *testing.T, w *workspace.Workspace, path string) []inputs.Source {
	t.Helper()
	sources, _, err := inputs.Find(t.Context(), w.Dir, []string{path}, nil, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

func TestStagesThatTheDiskCannotHold(t *testing.T) {
	crawl := pipetest.Crawl(t)
	for _, c := range []struct {
		name                   string
		leave                  int64
		elsewhere              bool
		free, freeElsewhere    int64
		inWorkspace, temporary int64
		says                   string // of the error; empty: none
	}{
		{name: "all of it", free: 100, inWorkspace: 60, temporary: 40},
		{name: "one byte less", free: 99, inWorkspace: 60, temporary: 40, says: "about 100 B in "},
		{name: "some is to stay", leave: 10, free: 109, inWorkspace: 60, temporary: 40, says: "109 B are free, of which 10 B are to stay free"},
		{name: "no limit", leave: workspace.NoLimit, free: 0, inWorkspace: 60, temporary: 40},
		{name: "two disks", elsewhere: true, free: 60, freeElsewhere: 40, inWorkspace: 60, temporary: 40},
		{name: "the other disk", elsewhere: true, free: 1000, freeElsewhere: 39, inWorkspace: 60, temporary: 40, says: "about 40 B in "},
		{name: "the other disk is not used", leave: 10, elsewhere: true, free: 70, freeElsewhere: 5, inWorkspace: 60},
		{name: "the workspace's disk", elsewhere: true, free: 59, freeElsewhere: 1000, inWorkspace: 60, temporary: 40, says: "about 60 B in "},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &disks{free: c.free, freeElsewhere: c.freeElsewhere, needs: map[string]workspace.Estimate{}}
			o := workspace.Options{Workers: 2, Progress: d, LeaveFree: c.leave, Free: d.freeOf}
			if c.elsewhere {
				o.Temp = t.TempDir()
			}
			w, err := workspace.Open(filepath.Join(t.TempDir(), "ws"), needing(c.inWorkspace, c.temporary), pipetest.MustLoad(t), true, o)
			if err != nil {
				t.Fatal(err)
			}
			err = w.Run(t.Context(), workspace.StageExtract, workspace.StageVerify, find(t, w, crawl))
			signed, _, stateErr := w.State(workspace.StageSign)
			if err := errors.Join(stateErr, w.Close()); err != nil {
				t.Fatal(err)
			}
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				want := workspace.Estimate{Need: workspace.Need{Workspace: c.inWorkspace, Temporary: c.temporary}, Free: c.free, FreeTemporary: c.free}
				if c.elsewhere {
					want.FreeTemporary = c.freeElsewhere
				}
				if got := d.needs[workspace.StageSign]; got != want {
					t.Errorf("shown is %+v, want %+v", got, want)
				}
				return
			}
			if !errors.Is(err, disk.ErrFull) || !strings.Contains(err.Error(), "for stage sign: it needs about ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
			if len(signed.Input) > 0 {
				t.Error("sign has begun")
			}
		})
	}
}

// TestEstimates compares the estimates of extract and sign with each other before and
// after more input: new input needs as much as it has, and not as much as all.
func TestEstimates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	texts := func(first, n int) string {
		var all []string
		for i := range n {
			all = append(all, strings.Repeat("The kite number "+pipetest.TextURN(first+i)+" is red. ", 20))
		}
		return pipetest.WriteTexts(t, first, all)
	}
	run := func(settings []string, paths ...string) map[string]workspace.Estimate {
		d := &disks{free: 1 << 40, needs: map[string]workspace.Estimate{}}
		pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{Workers: 2, Progress: d, Free: d.freeOf}, paths...)
		return d.needs
	}
	frameless := []string{"text.frames=0"}
	first := run(frameless, texts(0, 400))
	for _, stage := range stages.Names() {
		if first[stage].Workspace <= 0 {
			t.Errorf("%s needs %+v", stage, first[stage])
		}
	}
	second := run(frameless, texts(400, 40))
	for _, stage := range []string{workspace.StageExtract, workspace.StageSign} {
		if a, b := first[stage].Workspace, second[stage].Workspace; b <= 0 || b > a/5 {
			t.Errorf("%s needs %d bytes for 400 texts, and %d for 40 more", stage, a, b)
		}
	}
	third := run(append(frameless, "sign.smallest=4"))
	if a, b := second[workspace.StageSign].Workspace, third[workspace.StageSign].Workspace; b < 5*a {
		t.Errorf("sign needs %d bytes for 40 texts, and %d for all 440", a, b)
	}
	if _, ok := third[workspace.StageExtract]; ok {
		t.Error("extract has nothing to do, and has an estimate")
	}
}

// All revisits are looked up again when files were read, which takes temporary space.
func TestEstimatesOfRevisits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	records, want := pipetest.Revisits()
	run := func(file string) workspace.Estimate {
		d := &disks{free: 1 << 40, needs: map[string]workspace.Estimate{}}
		pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{Progress: d, Free: d.freeOf}, file)
		return d.needs[workspace.StageExtract]
	}
	if e := run(pipetest.WriteRecords(t, records...)); e.Temporary != 0 {
		t.Errorf("%d bytes for revisits that nobody knows of yet", e.Temporary)
	}
	e := run(pipetest.WriteRecords(t, pipetest.Archived("response", "later", "http://later.example/", 1, pipetest.OkHTML+"<p>later")))
	if least := int64(1000 * len(want)); e.Temporary < least || e.Temporary > 4*least {
		t.Errorf("%d bytes for %d revisits", e.Temporary, len(want))
	}
}

func readCosts(t *testing.T, dir string) (c costs.Report) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCosts(t *testing.T) {
	dir, crawl := filepath.Join(t.TempDir(), "ws"), pipetest.Crawl(t)
	config := pipetest.MustLoad(t)
	costed := func() workspace.Options {
		return workspace.Options{Workers: 2, Costs: costs.New()}
	}
	pipetest.RunAll(t, dir, config, costed(), crawl)
	c := readCosts(t, dir)
	var names []string
	for _, s := range c.Stages {
		names = append(names, s.Name+" "+s.Reason)
		if s.Seconds <= 0 || s.Peak <= 0 || s.Needs <= 0 {
			t.Errorf("stage %+v", s)
		}
	}
	if want := []string{"extract missing", "sign missing", "cluster missing", "verify missing"}; !slices.Equal(names, want) {
		t.Errorf("stages %q, want %q", names, want)
	}
	if len(c.Files) != 1 || filepath.Base(c.Files[0].File) != filepath.Base(crawl) || c.Files[0].Records != 135 || c.Files[0].Seconds <= 0 || c.Files[0].Elapsed <= 0 {
		t.Errorf("files %+v", c.Files)
	}
	if len(c.Pages) != 20 || !slices.IsSortedFunc(c.Pages, func(a, b costs.Page) int { return int(1e9 * (b.Seconds - a.Seconds)) }) || c.Pages[0].Seconds <= 0 {
		t.Errorf("pages %+v", c.Pages)
	}
	if !slices.ContainsFunc(c.Pages, func(p costs.Page) bool { return p.URI != "" && p.Bytes > 0 && p.Offset > 0 }) {
		t.Errorf("no page has URI, bytes and offset: %+v", c.Pages)
	}
	pairs := int64(0)
	for _, s := range c.Sets {
		pairs += s.Pairs
		if s.Texts < 2 || len(s.Set) != 32 {
			t.Errorf("set %+v", s)
		}
	}
	if pairs == 0 {
		t.Errorf("sets %+v", c.Sets)
	}

	// a run that does nothing leaves the file
	pipetest.RunAll(t, dir, config, costed(), crawl)
	if again := readCosts(t, dir); !again.Began.Equal(c.Began) {
		t.Error("a run without work replaced the costs")
	}

	// one that is interrupted in its first stage replaces it
	pipetest.RunInterrupted(t, dir, config, 1, costed(), pipetest.WriteRecords(t, []byte(pipetest.PageRecord("http://later.example/", "2024-05-01T00:00:00Z", "<p>The kite is red, and it flies over the sea.</p>", 0))))
	if again := readCosts(t, dir); again.Began.Equal(c.Began) || len(again.Stages) > 0 || !strings.Contains(again.Error, "canceled") {
		t.Errorf("of an interrupted run: %+v", again)
	}
	pipetest.RunAll(t, dir, config, costed())
	pipetest.RunAll(t, dir, pipetest.MustLoad(t, "verify.slope=0.2"), costed())
	if c = readCosts(t, dir); len(c.Stages) != 1 || c.Stages[0].Reason != "options" || len(c.Pages) > 0 || c.Pages == nil {
		t.Errorf("of a run that only verifies: %+v", c)
	}
}

// TestCostsWithoutWithdrawn checks that costs name no withdrawn URI, whether the page
// is withdrawn before it is read or after.
func TestCostsWithoutWithdrawn(t *testing.T) {
	crawl := pipetest.WriteRecords(t,
		[]byte(pipetest.PageRecord("http://secret.example/orders", "2024-05-01T00:00:00Z", "<p>The secret kite is red, and it flies over the sea.</p>", 0)),
		[]byte(pipetest.PageRecord("http://open.example/", "2024-05-01T00:00:00Z", "<p>The open kite is blue, and it stands in the hall.</p>", 0)))
	config, secret := pipetest.MustLoad(t), withdrawn.Withdrawal{URI: "http://secret.example/*"}
	names := func(dir string) (open, withdrawn bool) {
		found := func(what string) bool { return slices.Contains(holds(t, dir, []string{what}), "run.json") }
		return found("open.example"), found("secret.example")
	}
	run := func(dir string) {
		pipetest.RunAll(t, dir, config, workspace.Options{Workers: 2, Costs: costs.New()}, crawl)
	}

	before := filepath.Join(t.TempDir(), "ws")
	withdraw(t, before, config, secret)
	run(before)
	if open, withdrawn := names(before); !open || withdrawn {
		t.Errorf("withdrawn before: costs name the open page: %v, the withdrawn page: %v", open, withdrawn)
	}
	after := filepath.Join(t.TempDir(), "ws")
	run(after)
	if open, withdrawn := names(after); !open || !withdrawn {
		t.Errorf("nothing is withdrawn: costs name the pages: %v, %v", open, withdrawn)
	}
	withdraw(t, after, config, secret)
	if _, withdrawn := names(after); withdrawn {
		t.Error("withdrawn after: costs name the page")
	}
}
