package stages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"neardup/configs"
	"neardup/extract/container"
	"neardup/pipeline/extractors"
	"neardup/pipeline/inputs"
)

// TryRecord reads the record at the source's position as extract does, and drops
// the result. First it writes the record's URI to uri. It is for a process of its
// own, which the record may end.
func TryRecord(ctx context.Context, s inputs.Source, config configs.Config, uri io.Writer) error {
	r, _, closer, err := s.Reader(ctx, config.Extract.Limits)
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
	extractors.New(config.Extract).Document(raw)
	return nil
}

// uriOf returns the target URI in a record's header, for messages. In an ARC file
// it is the first word.
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
