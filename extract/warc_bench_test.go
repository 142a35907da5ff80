package extract

import (
	"os"
	"testing"

	"neardup/extract/container"
	"neardup/extract/internal/testkit"
)

// BenchmarkHead measures reading the headers of the response records of an
// archive: ns and allocations of a record.
func BenchmarkHead(b *testing.B) {
	paths, _ := testkit.Archives("..")
	f, err := os.Open(paths[0])
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := container.NewReader(f, container.Position{}, limits)
	if err != nil {
		b.Fatal(err)
	}
	x := NewExtractor(options)
	var records []*container.Raw
	for {
		raw, err := r.Next()
		if raw == nil && err != nil {
			break
		}
		if h, reason := x.head(raw); reason == ReasonNone && h.http {
			records = append(records, raw)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.head(records[i%len(records)])
	}
}
