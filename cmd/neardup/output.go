package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"neardup/pipeline/disk"
	"neardup/pipeline/inputs"
	"neardup/pipeline/workspace"
)

// checkOutput returns a usage error if a command that has opened the workspace must not
// write its output to path, which a flag names. also are files that it reads.
func (o *workOptions) checkOutput(j *job, flag, path string, also ...string) error {
	known, err := j.Sources()
	if err != nil {
		return err
	}
	return checkOutput(flag, path, o.workspace, slices.Concat(known, files(o.config, j.Config.Cluster.Quality), files(also...)))
}

// files returns files that are no archives as sources, for checkOutput.
func files(names ...string) (sources []inputs.Source) {
	for _, name := range names {
		if name != "" {
			sources = append(sources, inputs.Source{Path: name})
		}
	}
	return sources
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
	if err := checkUnread(flag, file, sources); err != nil {
		return err
	}
	if target, _, err := disk.Output(file); err == nil { // of a link
		file = target
	}
	of, err := os.Stat(dir)
	isThis := func(at string) bool {
		info, failure := os.Stat(at)
		return dir != "" && err == nil && failure == nil && os.SameFile(info, of)
	}
	if within(file, isThis) {
		return usageError{fmt.Errorf("%s: %s is in the workspace, where only neardup run writes; name another place", flag, path)}
	}
	return nil
}

// checkUnread returns a usage error if one of the sources is at path.
func checkUnread(flag, path string, sources []inputs.Source) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	for _, s := range sources {
		if from, err := os.Stat(s.FilePath()); err == nil && os.SameFile(info, from) {
			return usageError{fmt.Errorf("%s: %s is read, and would be replaced; name another place", flag, s.Shown())}
		}
	}
	return nil
}

// within reports whether an absolute path is, or is in, a directory that is answers
// true for. It need not exist.
func within(path string, is func(dir string) bool) bool {
	for at := path; ; at = filepath.Dir(at) {
		if target, err := filepath.EvalSymlinks(at); err == nil {
			at = target
		}
		if is(at) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// checkDirectory returns a usage error if a command must not make files in the directory
// path, which a flag names, because it is within a workspace.
func checkDirectory(flag, path string) error {
	dir, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	isWorkspace := func(at string) bool {
		m, err := workspace.ReadManifest(at)
		return err == nil && m.Format > 0
	}
	if within(dir, isWorkspace) {
		return usageError{fmt.Errorf("%s: %s is in a workspace, where only neardup run writes; name another place", flag, path)}
	}
	return nil
}

// outNames are the names of files that commands write into --out, besides figures.
var outNames = []string{"page.md", "paper.json", "pairs.tsv", "pairs.jsonl", "sweep.json", "sweep.csv", "compare.json", "compare.csv"}

// checkOut returns a usage error if files of the directory --out must not be replaced,
// because they are sources, or if it is within a workspace.
func checkOut(out string, sources []inputs.Source) error {
	if out == "" {
		return nil
	}
	if err := checkDirectory("--out", out); err != nil {
		return err
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return nil // makeOut reports it
	}
	for _, e := range entries {
		if file := filepath.Join(out, e.Name()); slices.Contains(outNames, e.Name()) || filepath.Ext(file) == ".svg" {
			if err := checkUnread("--out", file, sources); err != nil {
				return err
			}
		}
	}
	return nil
}
