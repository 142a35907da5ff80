package explaining

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"neardup/configs"
	"neardup/explain"
	"neardup/extract"
	"neardup/extract/text"
	"neardup/pipeline/reading"
	"neardup/pipeline/workspace"
)

// Files explains how a config's method compares two files. Each is read as a
// crawled page is: HTML or plain text, of any charset, told by its content.
func Files(config configs.Config, a, b string) (e explain.Explanation, err error) {
	var sides [2]explain.Side
	for i, name := range [2]string{a, b} {
		d, err := readPage(config.Extract, name)
		if err != nil {
			return e, err
		}
		cut := text.Cut(d.Text, config.Text.MaxColumns)
		sides[i] = explain.Side{File: name, Stored: d.Text, Compared: cut}
	}
	return explain.Pair(config, sides[0], sides[1], explain.Between{Weighed: true})
}

// readPage makes a document from a file.
func readPage(o extract.Options, name string) (extract.Document, error) {
	d, reason, err := reading.Page(o, name, "file:///page")
	switch {
	case err != nil:
		return d, err
	case reason == extract.ReasonEmpty || reason == extract.ReasonNoText:
		return extract.Document{}, nil // an empty text
	case reason != extract.ReasonNone:
		return d, fmt.Errorf("%w: %s is no page (%s)", workspace.ErrUsage, filepath.Base(name), reason)
	}
	return d, nil
}

// IsPage reports whether an argument names a page of a workspace, not a file.
func IsPage(name string) bool {
	if strings.HasPrefix(name, "<") || strings.HasPrefix(name, "urn:") || strings.Contains(name, "://") {
		return true
	}
	_, err := os.Stat(name)
	return errors.Is(err, os.ErrNotExist)
}
