package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A directory of temporary files that cannot be removed stays named, so that a later
// command removes it.
func TestClearElsewhere(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("needs a user to whom modes apply")
	}
	w := &Workspace{opened: &opened{Dir: t.TempDir(), Options: Options{Progress: Silent{}}}}
	dir := filepath.Join(t.TempDir(), elsewherePrefix+"1")
	inner := filepath.Join(dir, "inner")
	if err := errors.Join(os.MkdirAll(inner, 0o700), os.WriteFile(filepath.Join(inner, "run"), nil, 0o600), os.Chmod(inner, 0o500),
		os.WriteFile(w.Path(elsewhereName), []byte(dir), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o500, 0o700} {
		if err := errors.Join(os.Chmod(inner, mode), w.clearElsewhere()); err != nil {
			t.Fatal(err)
		}
		_, named := os.Stat(w.Path(elsewhereName))
		_, there := os.Stat(dir)
		if stays := mode == 0o500; (named == nil) != stays || (there == nil) != stays {
			t.Errorf("mode %v: named %v, there %v", mode, named, there)
		}
	}
}
