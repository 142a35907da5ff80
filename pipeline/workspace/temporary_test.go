package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"neardup/pipeline/disk"
)

// A directory of temporary files that cannot be removed stays named, so that a later
// command removes it.
func TestClearElsewhere(t *testing.T) {
	w := &Workspace{opened: &opened{Dir: t.TempDir(), Options: Options{Progress: Silent{}}}}
	dir := filepath.Join(t.TempDir(), elsewherePrefix+"1")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(w.Path(elsewhereName), []byte(dir), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Fault.Store(nil) })
	for _, fault := range []error{fs.ErrPermission, nil} {
		disk.Fault.Store(new(disk.Injector(func(string, string, int) (int, error) { return 0, fault })))
		if err := w.clearElsewhere(); err != nil {
			t.Fatal(err)
		}
		_, named := os.Stat(w.Path(elsewhereName))
		_, there := os.Stat(dir)
		if stays := fault != nil; (named == nil) != stays || (there == nil) != stays {
			t.Errorf("fault %v: named %v, there %v", fault, named, there)
		}
	}
}
