//go:build unix

package pipeline_test

import (
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"neardup/configs"
	"neardup/pipeline/internal/pipetest"
)

// BenchmarkAdversaries takes collections that are made to cost much through all
// stages. Memory is the peak of the process, so each is run alone.
//
//	go test ./pipeline -run - -bench 'Adversaries/signatures/10000$' -benchtime 1x
func BenchmarkAdversaries(b *testing.B) {
	config, err := configs.Load("default", nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, a := range pipetest.Adversaries {
		for _, n := range []int{100, 300, 1_000, 3_000, 10_000, 30_000, 100_000} {
			b.Run(a.Name+"/"+strconv.Itoa(n), func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "pages.jsonl")
				if err := pipetest.WriteAdversary(path, a, n); err != nil {
					b.Fatal(err)
				}
				before, runs := usage(b), 0
				for b.Loop() {
					runs++
					c := runOnce(b, filepath.Join(b.TempDir(), strconv.Itoa(runs)), config, path)
					b.ReportMetric(float64(c.Pairs), "pairs")
					b.ReportMetric(float64(c.Sets), "sets")
					b.ReportMetric(float64(c.ByDistance+c.ByScore+c.ByRarity+c.Near), "scored")
				}
				after := usage(b)
				seconds := func(u syscall.Rusage) float64 { return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9 }
				b.ReportMetric((seconds(after)-seconds(before))/float64(runs), "cpu-s/op")
				b.ReportMetric(float64(after.Maxrss)/1024, "peak-MB")
			})
		}
	}
}

func usage(b *testing.B) (u syscall.Rusage) {
	b.Helper()
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u
}
