package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"neardup/pipeline/disk"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// Two processes may make a workspace at the same time. The one that is late finds
// it in use, and changes nothing of it.
func TestTwoMakeAWorkspace(t *testing.T) {
	for _, at := range []string{"sync", "publish"} {
		dir := filepath.Join(t.TempDir(), "ws")
		open := func() (*workspace.Workspace, error) {
			return workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{})
		}
		var first *workspace.Workspace
		var made os.FileInfo
		disk.Fault.Store(new(disk.Injector(func(operation, file string, n int) (int, error) {
			if operation != at || file != "manifest.json" {
				return n, nil
			}
			disk.Fault.Store(nil)
			var err error
			if first, err = open(); err == nil {
				made, err = os.Stat(filepath.Join(dir, "manifest.json"))
			}
			return n, err
		})))
		t.Cleanup(func() { disk.Fault.Store(nil) })
		if _, err := open(); !errors.Is(err, workspace.ErrInUse) {
			t.Errorf("%s: %v", at, err)
		}
		if is, err := os.Stat(filepath.Join(dir, "manifest.json")); !os.SameFile(is, made) {
			t.Errorf("%s: the manifest was replaced, %v", at, err)
		}
		if first == nil {
			t.Fatal("the manifest was not written")
		}
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
}
