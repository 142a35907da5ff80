package pipeline_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/keep"
	"neardup/pipeline/exports"
	"neardup/pipeline/groups"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/preferences"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// in opens the workspace in dir, which it makes if there is none, for do.
func in(t *testing.T, dir string, config configs.Config, do func(w *workspace.Workspace) error) {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, config, true, workspace.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(w), w.Close()); err != nil {
		t.Fatal(err)
	}
}

// prefer adds a list to a workspace.
func prefer(t *testing.T, dir string, config configs.Config, kind workspace.PreferenceKind, name string, lines ...string) {
	t.Helper()
	in(t, dir, config, func(w *workspace.Workspace) error {
		_, err := preferences.Add(t.Context(), w, workspace.Preference{Name: name, Kind: kind, Path: name, Added: fmt.Sprint(rand.Int())}, strings.NewReader(strings.Join(lines, "\n")))
		return err
	})
}

func dropPreference(t *testing.T, dir string, config configs.Config, name string) {
	t.Helper()
	in(t, dir, config, func(w *workspace.Workspace) error { return preferences.Drop(w, name) })
}

// scoresOf returns random scores for most URIs of a workspace, as lines.
func scoresOf(t *testing.T, dir string, config configs.Config, random *rand.Rand) (lines []string) {
	t.Helper()
	in(t, dir, config, func(w *workspace.Workspace) error {
		for d, err := range results.DocumentRows[groups.DocumentView](w) {
			if err != nil {
				return err
			}
			if random.IntN(10) > 0 {
				lines = append(lines, fmt.Sprintf("%s\t%d", d.Row.TargetURI, random.IntN(40)))
			}
		}
		return nil
	})
	return lines
}

// A workspace that grows, and to which scores and hosts are added, in which they are
// replaced and dropped, between crawls and interrupted runs, has the rows and the
// exports of one run with those that are left; and the clusters of a run with one
// file of the scores.
func TestGrowWithScores(t *testing.T) {
	const closing = "verify.closing=representative"
	for seed, settings := range [][]string{{closing}, {closing, "text.frames=0"}, nil, {closing, "cluster.merge=pairs"}} {
		if testing.Short() && seed > 0 {
			return
		}
		random := rand.New(rand.NewPCG(uint64(seed), 3))
		config := pipetest.MustLoad(t, settings...)
		files := crawls(t, uint64(seed), 3, 4, 40)
		all, ws, alone, plain, set := filepath.Join(t.TempDir(), "all"), filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "plain"), filepath.Join(t.TempDir(), "set")
		without := pipetest.RunAll(t, all, config, workspace.Options{Workers: 2}, files...)
		first, second, other := scoresOf(t, all, config, random), scoresOf(t, all, config, random), scoresOf(t, all, config, random)
		second = second[:len(second)/3]

		scores, hosts := workspace.KindScores, workspace.KindHosts
		grown(t, ws, config, random, files[0])
		prefer(t, ws, config, scores, "first", other...)
		grown(t, ws, config, random, files[1])
		prefer(t, ws, config, hosts, "hosts", "site1.example")
		prefer(t, ws, config, scores, "dropped", other...)
		grown(t, ws, config, random, files[2])
		prefer(t, ws, config, scores, "second", second...)
		prefer(t, ws, config, scores, "first", first...) // it keeps its place
		dropPreference(t, ws, config, "dropped")
		got := grown(t, ws, config, random, files[3])

		prefer(t, alone, config, scores, "first", first...)
		prefer(t, alone, config, scores, "second", second...)
		prefer(t, alone, config, hosts, "hosts", "site1.example")
		want := pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, files...)
		if !bytes.Equal(got, want) || bytes.Equal(got, without) {
			t.Errorf("seed %d: other clusters than one run, or those of a run without scores", seed)
		}
		sameContents(t, fmt.Sprintf("seed %d", seed), contentsOf(t, ws, config), contentsOf(t, alone, config))
		for _, format := range []string{"keep", "warc"} {
			if a, b := keptIn(t, ws, config, format), keptIn(t, alone, config, format); a != b {
				t.Errorf("seed %d: %s\nis not\n%s", seed, a, b)
			}
		}

		in(t, ws, config, func(w *workspace.Workspace) error {
			entries, wrong, err := preferences.Check(w)
			if entries == 0 || len(wrong) > 0 {
				t.Errorf("seed %d: of %d entries %q", seed, entries, wrong)
			}
			return err
		})

		prefer(t, plain, config, scores, "one", slices.Concat(first, second)...) // of a URI the last line counts
		if !bytes.Equal(pipetest.RunAll(t, plain, config, workspace.Options{Workers: 2}, files...), want) {
			t.Errorf("seed %d: other clusters with one list", seed)
		}
		file := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "q.tsv"), []byte(strings.Join(slices.Concat(first, second), "\n")))
		if !bytes.Equal(pipetest.RunAll(t, set, pipetest.MustLoad(t, append(settings, "cluster.quality="+file)...), workspace.Options{Workers: 2}, files...), want) {
			t.Errorf("seed %d: other clusters with cluster.quality", seed)
		}
	}
}

// A text may get another weight though none of its lists changes: by a new page, or by
// another score of its page; also where the order of the texts stays.
func TestOtherWeights(t *testing.T) {
	config, texts, dir := pipetest.MustLoad(t), pipetest.Copies(), t.TempDir()
	var files []string
	for i, pages := range [][]int{{0, 1, 2, 3}, {3}} {
		var b strings.Builder
		for _, n := range pages {
			fmt.Fprintf(&b, "http://%d.example/%d\t%s\n", i, n, texts[n])
		}
		files = append(files, pipetest.WriteFile(t, filepath.Join(dir, fmt.Sprintf("%d.tsv", i)), []byte(b.String())))
	}
	list := func(score3, scoreOfNew int) []string {
		return []string{"http://0.example/0\t5", fmt.Sprintf("http://0.example/3\t%d", score3), fmt.Sprintf("http://1.example/3\t%d", scoreOfNew)}
	}
	for _, tt := range []struct {
		name          string
		before, after []string
		files         []string // in the end
	}{
		{"a new page is the best", list(2, 9), list(2, 9), files},
		{"a new page is better", list(2, 3), list(2, 3), files},
		{"a page becomes the best", list(2, 9), list(6, 9), files[:1]},
		{"a page becomes better", list(2, 9), list(3, 9), files[:1]},
	} {
		ws, alone := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "alone")
		prefer(t, ws, config, workspace.KindScores, "s", tt.before...)
		pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, files[0])
		before := contentsOf(t, ws, config)
		prefer(t, ws, config, workspace.KindScores, "s", tt.after...)
		pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, tt.files...)
		prefer(t, alone, config, workspace.KindScores, "s", tt.after...)
		pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, tt.files...)
		after := contentsOf(t, ws, config)
		sameContents(t, tt.name, after, contentsOf(t, alone, config))
		for k := range before {
			if _, ok := after[k]; k[0] == layout.TablePosting && !ok {
				t.Errorf("%s: a list changes: %x", tt.name, k)
			}
		}
	}
}

// keptIn returns a keep list by scores, or the manifest of a reduced archive.
func keptIn(t *testing.T, dir string, config configs.Config, format string) (out string) {
	t.Helper()
	in(t, dir, config, func(w *workspace.Workspace) error {
		rules := keep.Default()
		rules.Policy = keep.Quality
		o := exports.Options{Format: format, Keep: &rules}
		if format == "keep" {
			out = string(pipetest.ExportOf(t, w, o))
			return nil
		}
		to := filepath.Join(t.TempDir(), "out")
		err := exports.WriteDirectory(t.Context(), w, o, to)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(to, "manifest.json"))
		out = string(b)
		for _, want := range []string{`"name": "first"`, `"name": "second"`, `"name": "hosts"`} {
			if !strings.Contains(out, want) {
				t.Errorf("the manifest has no %s:\n%s", want, b)
			}
		}
		return err
	})
	return out
}

// Scores make cluster stale, and hosts nothing. What counts are the scores, and not
// who gave them how.
func TestScoresMakeClusterStale(t *testing.T) {
	config, dir := pipetest.MustLoad(t), filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, config, workspace.Options{}, pipetest.Crawl(t))
	stale := func(what string, want workspace.Reason, why string) {
		t.Helper()
		s, err := workspace.ReadStatus(t.Context(), dir, stages.All, &config)
		if err != nil {
			t.Fatal(err)
		}
		after := workspace.UpToDate
		if want != workspace.UpToDate {
			after = workspace.Input
		}
		for i, want := range []workspace.Reason{workspace.UpToDate, workspace.UpToDate, want, after} {
			if st := s.Stages[i]; st.Stale != want || i == 2 && st.Why != why {
				t.Errorf("%s: %s is %q (%s), want %q (%s)", what, st.Name, st.Stale, st.Why, want, why)
			}
		}
		in(t, dir, config, func(w *workspace.Workspace) error {
			if err := w.Current(workspace.StageVerify); (err == nil) != (want == workspace.UpToDate) || err != nil && !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", what, err)
			}
			return nil
		})
	}
	run := func() {
		t.Helper()
		pipetest.RunAll(t, dir, config, workspace.Options{})
		stale("after a run", workspace.UpToDate, "")
	}
	const a, b = "http://recipes.example/pages/tea.html\t3", "http://elsewhere.example/\t0.5"
	prefer(t, dir, config, workspace.KindHosts, "h", "a.example")
	stale("hosts", workspace.UpToDate, "")
	prefer(t, dir, config, workspace.KindScores, "s", a, b)
	stale("scores", workspace.Scores, "lists of scores: 0 before, now 1")
	run()
	prefer(t, dir, config, workspace.KindScores, "s", b+"0", "", "http://recipes.example/pages/tea.html\t1", a)
	stale("the same scores, written otherwise", workspace.UpToDate, "")
	dropPreference(t, dir, config, "s")
	stale("without scores", workspace.Scores, "lists of scores: 1 before, now 0")
	prefer(t, dir, config, workspace.KindScores, "other", a, b)
	stale("the same scores of another name", workspace.UpToDate, "")
	prefer(t, dir, config, workspace.KindScores, "other", a, b+"1")
	stale("another score", workspace.Scores, "lists of scores: 1 before, now 1")
	run()

	// The manifest is made again with the lists.
	before, err := workspace.ReadManifest(dir)
	if err != nil || len(before.Preferences) != 2 || before.Preferences[0].Name != "h" {
		t.Fatalf("%+v: %v", before.Preferences, err)
	}
	if err := os.Remove(filepath.Join(dir, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	if restored, err := workspace.Restore(dir, stages.All); err != nil || !restored {
		t.Fatal(restored, err)
	}
	if after, err := workspace.ReadManifest(dir); err != nil || !slices.Equal(after.Preferences, before.Preferences) {
		t.Errorf("%+v: %v", after.Preferences, err)
	}
	stale("with the manifest made again", workspace.UpToDate, "")

	// Scores from two places are an error before anything is done. A trial has none.
	both := pipetest.MustLoad(t, "cluster.quality="+pipetest.WriteFile(t, filepath.Join(t.TempDir(), "q.tsv"), []byte(a)))
	w := pipetest.Open(t, dir, both)
	if err := w.Run(t.Context(), "extract", "verify", nil); !errors.Is(err, workspace.ErrUsage) || !strings.Contains(err.Error(), "neardup prefer drop other") {
		t.Errorf("scores from two places: %v", err)
	}
	if lists, err := w.Trial(config).ScoreLists(); err != nil || len(lists) > 0 {
		t.Errorf("a trial has %v: %v", lists, err)
	}
}

// A wrong list changes nothing.
func TestWrongPreferences(t *testing.T) {
	w := pipetest.OpenTest(t)
	add := func(name string, kind workspace.PreferenceKind, content string) error {
		_, err := preferences.Add(t.Context(), w, workspace.Preference{Name: name, Kind: kind, Path: "lists/" + name}, strings.NewReader(content))
		return err
	}
	if err := errors.Join(add("s", workspace.KindScores, "u\t1\nv\t2"), add("h", workspace.KindHosts, "a.example")); err != nil {
		t.Fatal(err)
	}
	before, err := w.Preferences()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, content, want string }{
		{"s", "u\t5\nv\t-2", "lists/s: line 2: want URI<TAB>score"},
		{"new", "u", "lists/new: line 1: "},
		{"s", "\n \n", "lists/s has no scores"},
		{"h", "u\t1", "h is a list of hosts"},
		{"", "u\t1", "is no name of a list"},
		{"a b", "u\t1", "is no name of a list"},
		{strings.Repeat("n", 65), "u\t1", "is no name of a list"},
	} {
		if err := add(tt.name, workspace.KindScores, tt.content); !errors.Is(err, workspace.ErrUsage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v", tt.name, err)
		}
	}
	if err := preferences.Drop(w, "new"); !errors.Is(err, workspace.ErrUsage) {
		t.Errorf("dropped what is not there: %v", err)
	}
	after, err := w.Preferences()
	scores, scoresErr := preferences.ScoresOf(w)
	if err := errors.Join(err, scoresErr); err != nil || !slices.Equal(before, after) {
		t.Fatalf("%+v: %v", after, err)
	}
	n := 0
	for _, err := range scores.All() {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if v, _, err := scores.Of("v"); err != nil || n != 2 || v != 2 {
		t.Errorf("v has %v of %d scores: %v", v, n, err)
	}
}

// Hosts of the command come before those of the workspace, whose first list comes
// first.
func TestPreferredHosts(t *testing.T) {
	config, dir := pipetest.MustLoad(t), filepath.Join(t.TempDir(), "ws")
	page := func(n int, host string) []byte {
		return pipetest.Archived("response", fmt.Sprint(n), "http://"+host+".example/", n, pipetest.OkHTML+"<p>"+pipetest.Copies()[0])
	}
	pipetest.RunAll(t, dir, config, workspace.Options{}, pipetest.WriteRecords(t, page(1, "early"), page(2, "a"), page(3, "www.b"), page(4, "c")))
	prefer(t, dir, config, workspace.KindHosts, "first", "# comment", "B.example")
	prefer(t, dir, config, workspace.KindHosts, "second", "a.example", "b.example")
	w := pipetest.Open(t, dir, config)
	for _, tt := range []struct {
		without bool
		hosts   []string
		want    string
	}{
		{false, nil, "www.b"}, {false, []string{"c.example"}, "c"}, {true, []string{"a.example"}, "a"}, {true, nil, "early"},
	} {
		rules, used := keep.Default(), keep.Rules{}
		rules.Hosts, rules.AllowLostURIs = rules.Hosts.Then(tt.hosts...), true
		list := pipetest.ExportOf(t, w, exports.Options{Format: "keep", Keep: &rules, WithoutStoredHosts: tt.without, Rules: &used})
		if !bytes.Contains(list, []byte(",keep,policy,<urn:test:"+map[string]string{"early": "1", "a": "2", "www.b": "3", "c": "4"}[tt.want]+">,")) {
			t.Errorf("%+v:\n%s", tt, list)
		}
		if said := strings.Contains(used.String(), "hosts of first (SHA-256 ") && len(used.From) == 2; said == tt.without {
			t.Errorf("%+v: %s", tt, used)
		}
	}
	if err := preferences.Drop(w, "first"); err != nil {
		t.Fatal(err)
	}
	rules := keep.Default()
	rules.AllowLostURIs = true
	if list := pipetest.ExportOf(t, w, exports.Options{Format: "keep", Keep: &rules}); !bytes.Contains(list, []byte(",keep,policy,<urn:test:2>,")) {
		t.Errorf("without the first list:\n%s", list)
	}
}
