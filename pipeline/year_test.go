package pipeline_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"neardup/pipeline/costs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

var (
	yearWeeks = flag.Int("year-weeks", 8, "weeks of TestYear")
	yearPages = flag.Int("year-pages", 40, "captures of each week of TestYear")
	yearSites = flag.Int("year-sites", 5, "sites of TestYear")
	yearMore  = flag.Int("year-more", 0, "KB of markup, styles and scripts that each page of TestYear has besides; its crawls are compressed then")
	yearDir   = flag.String("year-dir", "", "directory in which TestYear leaves its crawls")
)

// A year of weekly crawls with revisits, changed and vanished pages, and two takedowns,
// one of a site's pages and one of a whole crawl, leaves the rows and exports of one
// run over what is left. With -v it logs what each week costs.
func TestYear(t *testing.T) {
	config := pipetest.MustLoad(t)
	web, dir := pipetest.NewWeb(2024, *yearSites), t.TempDir()
	crawls, name := cmp.Or(*yearDir, dir), "week-%02d.warc"
	if *yearMore > 0 {
		web.Heavier(*yearMore * 1000)
		name += ".gz"
	}
	ws, alone := filepath.Join(dir, "ws"), filepath.Join(dir, "alone")
	site := withdrawn.Withdrawal{URI: "http://site1.example/*", Why: "asked for"}
	var left []string
	t.Log("week, captures so far, processor s of the stages, elapsed s, disk MB, peak MiB")
	for week := range *yearWeeks {
		file := filepath.Join(crawls, fmt.Sprintf(name, week))
		if err := web.Crawl(file, *yearPages); err != nil {
			t.Fatal(err)
		}
		left = append(left, file)
		switch week {
		case *yearWeeks / 3:
			if withdraw(t, ws, config, site) == 0 {
				t.Error("the first takedown takes nothing")
			}
		case *yearWeeks * 2 / 3:
			if withdraw(t, ws, config, ofInput(t, ws, left[1])) == 0 {
				t.Error("the second takedown takes nothing")
			}
			left = slices.Delete(left, 1, 2)
		}
		costed := costs.New()
		began := time.Now()
		pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2, Costs: costed}, file)
		took := time.Since(began)
		m, err := workspace.ReadManifest(ws)
		if err != nil {
			t.Fatal(err)
		}
		var cost costs.Report
		b, err := os.ReadFile(filepath.Join(ws, "run.json"))
		if err := errors.Join(err, json.Unmarshal(b, &cost)); err != nil {
			t.Fatal(err)
		}
		var cpu []string
		peak := int64(0)
		for _, s := range cost.Stages {
			cpu = append(cpu, fmt.Sprintf("%.1f", s.CPU))
			peak = max(peak, s.Peak)
		}
		t.Logf("%4d  %8d  %v  %.1f  %.0f  %d", week+1, (week+1)**yearPages, cpu, took.Seconds(), float64(sizeBelow(t, filepath.Join(ws, "db")))/1e6, peak>>20)
		if len(m.Inputs) != len(left) {
			t.Fatalf("week %d: %d inputs, want %d", week, len(m.Inputs), len(left))
		}
	}
	got := pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2})
	withdraw(t, alone, config, site)
	began := time.Now()
	want := pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, left...)
	t.Logf("one run over what is left: %.1f s, %.0f MB", time.Since(began).Seconds(), float64(sizeBelow(t, filepath.Join(alone, "db")))/1e6)
	if !bytes.Equal(got, want) {
		t.Error("other clusters than one run")
	}
	if *yearPages <= 100 {
		sameContents(t, "year", contentsOf(t, ws, config), contentsOf(t, alone, config))
		return
	}
	// The rows of a large workspace do not fit into memory; their checksums do.
	a, err := workspace.ReadManifest(ws)
	if err != nil {
		t.Fatal(err)
	}
	b, err := workspace.ReadManifest(alone)
	if err != nil {
		t.Fatal(err)
	}
	for i := range stages.All {
		if fmt.Sprint(a.Stages[i].Tables) != fmt.Sprint(b.Stages[i].Tables) || string(workspace.Compact(a.Stages[i].Counts)) != string(workspace.Compact(b.Stages[i].Counts)) {
			t.Errorf("%s: other rows or counts than one run", a.Stages[i].Name)
		}
	}
}

// sizeBelow returns the size of the files in a directory.
func sizeBelow(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := e.Info(); err == nil || !os.IsNotExist(err) {
			n += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
