package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"neardup/pipeline/disk"
	"neardup/pipeline/inputs"
)

// checkOutput returns a usage error if a command that has opened the workspace must not
// write its output to path, which a flag names.
func (o *workOptions) checkOutput(j *job, flag, path string) error {
	known, err := j.Sources()
	if err != nil {
		return err
	}
	return checkOutput(flag, path, o.workspace, known)
}

// checkOutput returns a usage error if a command must not write its output to path, which
// a flag names, because one of the sources is there, or it is within the directory of the
// workspace. dir may be empty.
func checkOutput(flag, path, dir string, sources []inputs.Source) error {
	if path == "" || path == "-" {
		return nil
	}
	file, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(file)); errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("%s: there is no directory %s", flag, filepath.Dir(path))}
	}
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
		for _, s := range sources {
			if from, err := os.Stat(s.FilePath()); err == nil && os.SameFile(info, from) {
				return usageError{fmt.Errorf("%s: %s is read, and would be replaced; name another file", flag, s.Shown())}
			}
		}
	}
	if target, _, err := disk.Output(file); err == nil { // of a link
		file = target
	}
	if of, err := os.Stat(dir); dir != "" && err == nil {
		for at := file; ; at = filepath.Dir(at) {
			if info, err := os.Stat(at); err == nil && os.SameFile(info, of) {
				return usageError{fmt.Errorf("%s: %s is in the workspace, where only neardup run writes; name another place", flag, path)}
			}
			if at == filepath.Dir(at) {
				return nil
			}
		}
	}
	return nil
}
