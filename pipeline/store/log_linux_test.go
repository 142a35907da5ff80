package store

import (
	"path/filepath"
	"syscall"
	"testing"

	"neardup/pipeline/disk"
)

// TestLogsTakeWhatTheyHold checks the disk space of logs with few rows.
func TestLogsTakeWhatTheyHold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	for range 3 {
		fill(t, dir, true)
	}
	logs, err := disk.Matching(dir, "*.log")
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	for _, name := range logs {
		var s syscall.Stat_t
		if err := syscall.Stat(name, &s); err != nil || s.Blocks*512 > 1<<20 {
			t.Errorf("%s takes %d bytes for %d (%v)", filepath.Base(name), s.Blocks*512, s.Size, err)
		}
	}
}
