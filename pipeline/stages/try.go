package stages

import (
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
	if _, err := fmt.Fprintf(uri, "%s\n", raw.URI()); err != nil {
		return err
	}
	extractors.New(config.Extract).Document(raw)
	return nil
}
