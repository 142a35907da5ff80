package extract

import (
	"bufio"
	"bytes"
	"os"
	"testing"

	"neardup/extract/container"
	"neardup/extract/internal/testkit"
)

// responses returns the response records of an archive.
func responses(b *testing.B) (x *Extractor, records []*container.Raw) {
	b.Helper()
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
	x = NewExtractor(options)
	for {
		raw, err := r.Next()
		if raw == nil && err != nil {
			return x, records
		}
		if h, reason := x.head(raw); reason == ReasonNone && h.http {
			records = append(records, raw)
		}
	}
}

// BenchmarkHead measures reading the headers of the response records of an
// archive: ns and allocations of a record.
func BenchmarkHead(b *testing.B) {
	x, records := responses(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.head(records[i%len(records)])
	}
}

// BenchmarkHeadByGowarc measures the same by gowarc, which is given the header only.
func BenchmarkHeadByGowarc(b *testing.B) {
	_, records := responses(b)
	u := unmarshaler()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		rec, _, _, err := u.Unmarshal(bufio.NewReader(bytes.NewReader(records[i%len(records)].Header)))
		if err != nil {
			b.Fatal(err)
		}
		if err := rec.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
