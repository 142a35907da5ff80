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

// TestCompactDiskFull compacts a workspace on a disk that has too little room for it.
func TestCompactDiskFull(t *testing.T) {
	from, disk := t.TempDir(), t.TempDir()
	runIn(t, from, committed)
	mount := func(flags uintptr, kilobytes int) error {
		return syscall.Mount("tmpfs", disk, "tmpfs", flags, fmt.Sprintf("size=%dk", kilobytes))
	}
	if err := mount(0, 1<<16); err != nil {
		t.Skipf("a small disk cannot be mounted here; it takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(disk, "workspace")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(disk, &s); err != nil {
		t.Fatal(err)
	}
	if err := mount(syscall.MS_REMOUNT, int((s.Blocks-s.Bfree)*uint64(s.Bsize)>>10)+40); err != nil {
		t.Fatal(err)
	}
	p := start(t, []string{"compact", "--workspace", dir})
	if code := p.wait(); code != exitDiskFull || !strings.HasPrefix(p.errors(), "neardup: no space left on the disk: "+dir) {
		t.Errorf("exit code %d, want %d:\n%s", code, exitDiskFull, p.errors())
	}
	if err := mount(syscall.MS_REMOUNT, 1<<16); err != nil {
		t.Fatal(err)
	}
	neardup(t, exitOK, "compact", "--workspace", dir)
	neardup(t, exitOK, "check", "--workspace", dir)
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
