package testkit

import (
	"os"
	"path/filepath"
)

// Archives returns the files on which extraction is checked and measured: those
// that NEARDUP_ARCHIVE lists, in the way PATH lists directories, or the example
// crawl. root is the repository's directory.
func Archives(root string) (paths []string, example bool) {
	if list := os.Getenv("NEARDUP_ARCHIVE"); list != "" {
		return filepath.SplitList(list), false
	}
	return []string{filepath.Join(root, "example", "crawl.warc.gz")}, true
}
