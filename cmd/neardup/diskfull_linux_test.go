package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDiskFull runs on disks that are too small, of several sizes so that they
// fill up at different moments, then makes each larger and lets the run
// finish.
func TestDiskFull(t *testing.T) {
	mount := func(t *testing.T, dir string, flags uintptr, kilobytes int) error {
		t.Helper()
		return syscall.Mount("tmpfs", dir, "tmpfs", flags, fmt.Sprintf("size=%dk", kilobytes))
	}
	big := bigReference(t, 30)
	for kilobytes := 64; kilobytes < 128<<10; kilobytes = kilobytes * 5 / 4 {
		disk := t.TempDir()
		if err := mount(t, disk, 0, kilobytes); err != nil {
			t.Skipf("mounting a tmpfs is not permitted here (it takes root): %v", err)
		}
		dir := filepath.Join(disk, "workspace")
		t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
		p := start(t, big.arguments(dir))
		code, at := p.wait(), atWork(t, dir)
		t.Logf("%d KB: exit code %d, at work: %s: %s", kilobytes, code, at, strings.TrimSpace(lastLine(p.errors())))
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
