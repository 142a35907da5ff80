package page

import (
	"runtime"
	"strings"
	"testing"
)

// TestManyLines bounds what is allocated for each byte of a page of short lines, so
// that a page of millions of them fits into memory.
func TestManyLines(t *testing.T) {
	o := options
	o.Clean = CleanMain
	r := NewReader(o)
	for part, limit := range map[string]uint64{"<table>x": 90, "<p>x": 150} {
		page := strings.Repeat(part, 1<<20/len(part))
		r.Read(page, "", 1<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r.Read(page, "", 1<<20)
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > limit {
			t.Errorf("%s: %d bytes are allocated for a byte of the page, at most %d are allowed", part, n, limit)
		}
	}
}
