//go:build unix

package page

import (
	"encoding/json"
	"io"
	"os"
	"syscall"
	"testing"
)

// BenchmarkReadPages reads the pages of NEARDUP_PAGES, a file of JSON lines with
// HTML, for the table of docs/content.md: MB of HTML per second of processor time.
func BenchmarkReadPages(b *testing.B) {
	name := os.Getenv("NEARDUP_PAGES")
	if name == "" {
		b.Skip("NEARDUP_PAGES names no file")
	}
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var pages []string
	size := 0
	for d := json.NewDecoder(f); ; {
		var p struct{ HTML string }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			b.Fatal(err)
		}
		pages, size = append(pages, p.HTML), size+len(p.HTML)
	}
	for _, clean := range []Clean{CleanNone, CleanMain} {
		o := options
		o.Clean = clean
		r := NewReader(o)
		b.Run(string(clean), func(b *testing.B) {
			before := processorSeconds(b)
			for b.Loop() {
				for _, p := range pages {
					r.Read(p, "", 4<<20)
				}
			}
			b.ReportMetric(float64(b.N)*float64(size)/1e6/(processorSeconds(b)-before), "MB/cpu-s")
		})
	}
}

func processorSeconds(b testing.TB) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
