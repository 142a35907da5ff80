package stages

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"neardup/configs"
	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/workspace"
)

// TryRecord reads the record at the source's position as extract does, and
// drops it. Before, it writes the record's URI. It is for a process that may end
// while it does.
func TryRecord(s workspace.Source, config configs.Config, uri io.Writer) error {
	r, _, closer, err := s.Reader(config.Extract.Limits)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	raw, err := r.Next()
	var damage *container.Damage
	if errors.As(err, &damage) || err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(uri, "%s\n", uriOf(raw.Header)); err != nil {
		return err
	}
	extract.NewExtractor(config.Extract).Document(raw)
	return nil
}

// uriOf returns the URI that the header of a record has, to name the record. In
// an ARC file that is the first word.
func uriOf(header []byte) []byte {
	for line := range bytes.Lines(header) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok && bytes.EqualFold(name, []byte("WARC-Target-URI")) {
			return bytes.Trim(value, " \t\r\n<>")
		}
	}
	first, _, _ := bytes.Cut(header, []byte(" "))
	if bytes.Contains(first, []byte("://")) {
		return first
	}
	return nil
}
