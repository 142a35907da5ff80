package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"neardup/extract/container"
)

// IsStream reports whether an argument names something that can be read once,
// and so is copied into the workspace: standard input, or a pipe that a shell made
// for the process, such as /dev/fd/63. A pipe with a name of its own is none:
// opening it could wait forever.
func IsStream(arg string) bool {
	if arg == "-" {
		return true
	}
	clean := filepath.Clean(arg)
	if clean != "/dev/stdin" && !strings.HasPrefix(clean, "/dev/fd/") && !strings.HasPrefix(clean, "/proc/self/fd/") {
		return false
	}
	info, err := os.Stat(clean)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// spoolArgument copies a stream into the workspace.
func spoolArgument(dir, arg string, stdin io.Reader, limits container.Limits) ([]Source, error) {
	if arg == "-" || filepath.Clean(arg) == "/dev/stdin" {
		return spool(dir, stdin, limits)
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return spool(dir, f, limits)
}

// spool copies standard input into the workspace. The copy's name is its digest.
func spool(dir string, stdin io.Reader, limits container.Limits) ([]Source, error) {
	into := filepath.Join(dir, "spool")
	if err := os.MkdirAll(into, 0o777); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(into, temporary+"*")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, h), stdin); err != nil {
		if IsNoSpace(err) {
			return nil, DiskFull(dir, err)
		}
		return nil, fmt.Errorf("standard input: %w", err)
	}
	path := filepath.Join(into, "stdin-"+hex.EncodeToString(h.Sum(nil)[:8]))
	if err := errors.Join(f.Sync(), os.Rename(f.Name(), path)); err != nil {
		return nil, err
	}
	return findSources(path, true, limits), nil
}
