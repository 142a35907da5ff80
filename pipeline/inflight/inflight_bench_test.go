package inflight

import (
	"testing"

	"neardup/extract/container"
)

// BenchmarkInFlight notes a page, and that it is done.
func BenchmarkInFlight(b *testing.B) {
	notes, err := Open(opened(b))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = notes.Close() }()
	for i := 0; b.Loop(); i++ {
		if err := notes.Begin(0, "/archive/crawl.warc.gz", container.Position{Offset: int64(i)}); err != nil {
			b.Fatal(err)
		}
		if err := notes.End(0); err != nil {
			b.Fatal(err)
		}
	}
}
