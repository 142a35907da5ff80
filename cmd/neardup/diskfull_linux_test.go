package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"neardup/pipeline/exports"
)

// TestDiskFull runs on a disk that is too small, and makes it larger each time
// it was full, so that it fills up at many moments. When it is large enough,
// the exports are those of a run that had room.
func TestDiskFull(t *testing.T) {
	disk := t.TempDir()
	mount := func(flags uintptr, kilobytes int) error {
		return syscall.Mount("tmpfs", disk, "tmpfs", flags, fmt.Sprintf("size=%dk", kilobytes))
	}
	kilobytes := 64
	if err := mount(0, kilobytes); err != nil {
		t.Skipf("a small disk cannot be mounted here; it takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	variants, growth := 30, 4./3
	if raced {
		variants, growth = 15, 2
	}
	big := bigReference(t, variants)
	dir := filepath.Join(disk, "workspace")
	full := 0
	for {
		p := start(t, append(big.arguments(dir), "--leave-free", "off"))
		code := p.wait()
		t.Logf("%d KB: exit code %d, at work: %s", kilobytes, code, atWork(t, dir))
		if code == exitOK {
			break
		}
		stderr := p.errors()
		if want := "neardup: no space left on the disk: " + dir; code != exitDiskFull || !strings.Contains(stderr, want) {
			t.Fatalf("exit code %d, want %d, and %q in standard error:\n%s", code, exitDiskFull, want, stderr)
		}
		full++
		if kilobytes = int(float64(kilobytes) * growth); kilobytes > 1<<20 {
			t.Fatal("1 GB is not enough")
		}
		if err := mount(syscall.MS_REMOUNT, kilobytes); err != nil {
			t.Fatal(err)
		}
	}
	if full == 0 {
		t.Errorf("%d KB were enough", kilobytes)
	}
	big.check(t, dir)
}

// TestExportDiskFull writes exports onto a disk that is too small for them.
func TestExportDiskFull(t *testing.T) {
	disk, dir := t.TempDir(), t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4k"); err != nil {
		t.Skipf("a small disk cannot be mounted here; it takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	runIn(t, dir, committed)
	empty := func(what string) {
		t.Helper()
		if files, err := os.ReadDir(disk); err != nil || len(files) > 0 {
			t.Errorf("%s: left %v (%v)", what, files, err)
		}
	}
	for _, format := range exports.Names("") {
		if strings.HasPrefix(format, "summary") || format == "contained" || format == "wacz" { // the first two fit
			continue
		}
		neardup(t, exitDiskFull, "export", "--workspace", dir, "--format", format, "--output", filepath.Join(disk, "out"))
		empty(format)
	}
	neardup(t, exitDiskFull, "report", "--workspace", dir, "--output", filepath.Join(disk, "report"))
	empty("report")
}
