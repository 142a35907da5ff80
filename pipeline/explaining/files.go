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
	"neardup/pipeline/scores"
	"neardup/pipeline/workspace"
)

// ExplainFiles says what a config's method makes of two files, read as a crawl's
// pages are: HTML or plain text, of any charset, told by what they hold.
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
	return explain.Pair(config, sides[0], sides[1], true, scores.BySearch(config))
}

// readPage makes a document of a file.
func readPage(o extract.Options, name string) (extract.Document, error) {
	d, reason, err := reading.Page(o, name, "file:///page")
	switch {
	case err != nil:
		return d, err
	case reason == extract.ReasonEmpty || reason == extract.ReasonNoText:
		return extract.Document{}, nil // a text without anything in it
	case reason != extract.ReasonNone:
		return d, fmt.Errorf("%w: %s is no page (%s)", workspace.ErrUsage, filepath.Base(name), reason)
	}
	return d, nil
}

// IsPage reports whether an argument names a page of a workspace and not a file.
func IsPage(name string) bool {
	if strings.HasPrefix(name, "<") || strings.HasPrefix(name, "urn:") || strings.Contains(name, "://") {
		return true
	}
	_, err := os.Stat(name)
	return errors.Is(err, os.ErrNotExist)
}
