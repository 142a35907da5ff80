//go:build unix

package disk_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"neardup/pipeline/disk"
)

// TestExplain has an error of the system for each piece of advice.
func TestExplain(t *testing.T) {
	dir := t.TempDir()
	at := func(op, name string, err error) error {
		return fmt.Errorf("database: %w", &fs.PathError{Op: op, Path: filepath.Join(dir, name), Err: err})
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		err     error
		refused bool
		want    string
	}{
		{"process has too few", at("open", "file", syscall.EMFILE), true, "raise the limit (ulimit -n) to 1024 or more"},
		{"machine has too few", at("open", "file", syscall.ENFILE), true, "the machine has no file descriptors left"},
		{"full", at("write", "file", syscall.ENOSPC), true, disk.ErrFull.Error() + ": " + dir},
		{"full beneath standard output", &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, true, disk.ErrFull.Error() + ": that of standard output"},
		{"read-only", at("open", "file", syscall.EROFS), true, "is mounted read-only"},
		{"file", at("open", "file", syscall.EACCES), true, filepath.Join(dir, "file") + " is -rw-------"},
		{"file of another", at("chmod", "file", syscall.EPERM), true, filepath.Join(dir, "file") + " is -rw-------"},
		{"new file", at("open", "new/file", syscall.EACCES), true, "; " + dir + " is drwx"},
		{"directory", at("mkdir", "file", syscall.EACCES), true, "; " + dir + " is drwx"},
		{"link", &os.LinkError{Op: "rename", Old: "x", New: filepath.Join(dir, "file"), Err: syscall.EACCES}, true, "; " + dir + " is drwx"},
		{"rights without a path", fs.ErrPermission, true, ""},
		{"too large", at("write", "file", syscall.EFBIG), true, "raise the limit (ulimit -f)"},
		{"failing disk", at("open", "file", syscall.EIO), false, "the disk failed to read or write"},
		{"another error", at("open", "file", syscall.ENXIO), false, ""},
	} {
		got := disk.Explain(c.err)
		if disk.IsRefused(c.err) != c.refused || !errors.Is(got, c.err) {
			t.Errorf("%s: refused %v, want %v; %v is not %v", c.name, !c.refused, c.refused, got, c.err)
		}
		if c.want == "" && got != c.err || !strings.Contains(got.Error(), c.want) {
			t.Errorf("%s: %q, want %q in it", c.name, got, c.want)
		}
	}
	if full := disk.Full(dir, syscall.ENOSPC); disk.Explain(full) != full || disk.Explain(nil) != nil {
		t.Error("an explained error is explained again")
	}
}
