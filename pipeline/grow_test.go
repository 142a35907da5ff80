package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"neardup/configs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// crawls writes crawls of a made web, of n captures each.
func crawls(t *testing.T, seed uint64, sites, weeks, n int) (files []string) {
	t.Helper()
	web, dir := pipetest.NewWeb(seed, sites), t.TempDir()
	for week := range weeks {
		file := filepath.Join(dir, fmt.Sprintf("week-%02d.warc", week))
		if err := web.Crawl(file, n); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// A workspace to which crawls are added in any order and in any pieces, which loses
// some of them and some of its pages, and whose runs are interrupted, has the rows and
// the exports of one run over what is left.
func TestGrow(t *testing.T) {
	methods := [][]string{nil, {"verify.closing=transitive"}, {"text.frames=0"}, nil, {"verify.rare_pages=0"}, {"verify.closing=leaders"},
		{"text.pages=topic"}, {"text.max_columns=400"}, {"cluster.merge=pairs"}}
	seeds := uint64(len(methods))
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 1))
		config := pipetest.MustLoad(t, methods[seed]...)
		files := crawls(t, seed, 1+random.IntN(4), 6, 40)
		ws, alone := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "alone")
		left := slices.Clone(files)
		random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		var of []workspace.Withdrawal
		for at := 0; at < len(files); {
			n := min(1+random.IntN(2), len(files)-at)
			grown(t, ws, config, random, files[at:at+n]...)
			at += n
			switch random.IntN(5) {
			case 0:
				d := workspace.Withdrawal{URI: fmt.Sprintf("http://site%d.example/%d/*", random.IntN(4), 1+random.IntN(6))}
				withdraw(t, ws, config, d)
				of = append(of, d)
			case 1:
				gone := files[random.IntN(at)]
				if slices.Contains(left, gone) && len(left) > 1 && at < len(files) {
					withdraw(t, ws, config, ofInput(t, ws, gone))
					left = slices.DeleteFunc(left, func(f string) bool { return f == gone })
				}
			}
		}
		got := grown(t, ws, config, random)
		if len(of) > 0 {
			withdraw(t, alone, config, of...)
		}
		want := pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, left...)
		if !bytes.Equal(got, want) {
			t.Errorf("seed %d: other clusters than one run", seed)
		}
		sameContents(t, fmt.Sprintf("seed %d", seed), contentsOf(t, ws, config), contentsOf(t, alone, config))
		if t.Failed() {
			return
		}
	}
}

// grown runs, interrupted now and then, until everything is done.
func grown(t *testing.T, dir string, config configs.Config, random *rand.Rand, files ...string) []byte {
	t.Helper()
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		stop := &pipetest.Interrupter{Cancel: cancel}
		stop.Left.Store(1 + random.Int64N(60))
		w, err := workspace.Open(dir, stages.All, config, true, workspace.Options{Workers: 1 + random.IntN(3), Progress: stop, CommitBytes: 1 + random.IntN(1<<12), RunRows: 1 + random.IntN(1000)})
		if err != nil {
			t.Fatal(err)
		}
		sources, _, err := inputs.Find(ctx, dir, files, nil, pipetest.Limits)
		if err == nil {
			err = w.Run(ctx, workspace.StageExtract, workspace.StageVerify, sources)
		}
		cancel()
		if cerr := w.Close(); cerr != nil || err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(errors.Join(err, cerr))
		}
	}
	return pipetest.RunAll(t, dir, config, workspace.Options{Workers: 2}, files...)
}
