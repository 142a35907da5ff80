package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"neardup/configs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/remote"
)

// names returns the inputs that the arguments and the lists name.
func (o *workOptions) names(c *cobra.Command, args []string) ([]string, error) {
	for _, list := range o.lists {
		names, err := readList(c, list)
		if err != nil {
			return nil, usageError{fmt.Errorf("--source-file-list: %w", err)}
		}
		args = append(args, names...)
	}
	streams := 0
	for _, name := range append(slices.Clone(args), o.lists...) {
		if inputs.IsStream(name) {
			streams++
		}
	}
	if streams > 1 {
		return nil, usageError{errors.New("standard input is named twice, and can be read once")}
	}
	return args, nil
}

// inputs returns the sources that the names stand for.
func (o *workOptions) inputs(c *cobra.Command, names []string, config configs.Config, p *progress) ([]inputs.Source, error) {
	if slices.Contains(names, "") {
		return nil, usageError{errors.New("an input has an empty name")}
	}
	sources, ignored, err := inputs.Find(c.Context(), o.workspace, names, interruptible(c.Context(), c.InOrStdin()), config.Extract.Limits)
	if ignored > 0 {
		p.Warn("files that are no archives passed over", "files", ignored)
	}
	isThere := func(s inputs.Source) bool { return !s.IsMissing() }
	if err == nil && len(sources) > 0 && !slices.ContainsFunc(sources, isThere) {
		err = usageError{fmt.Errorf("no such file: %s", strings.Join(names, " "))}
		if remote.IsURL(names[0]) {
			err = usageError{fmt.Errorf("%s: %s", names[0], sources[0].Error)}
		}
	}
	if err == nil && len(names) > 0 && len(sources) == 0 {
		err = usageError{fmt.Errorf("no archive in %s", strings.Join(names, " "))}
	}
	return sources, err
}

// interruptible returns a reader of r that fails once ctx ends, even while a Read
// of r blocks.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	pr, pw := io.Pipe()
	context.AfterFunc(ctx, func() { _ = pw.CloseWithError(ctx.Err()) })
	return &lazyReader{pr, sync.OnceFunc(func() {
		go func() {
			_, err := io.Copy(pw, r)
			_ = pw.CloseWithError(err)
		}()
	})}
}

// lazyReader opens its reader on the first Read.
type lazyReader struct {
	io.Reader
	begin func()
}

func (l *lazyReader) Read(p []byte) (int, error) {
	l.begin()
	return l.Reader.Read(p)
}

// openFile opens a file that is no input. It may be a named pipe: opening it waits for
// its writer, and ends with ctx, as reading does.
func openFile(ctx context.Context, name string) (io.ReadCloser, error) {
	f, err := await(ctx, func() (*os.File, error) { return os.Open(name) })
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{interruptible(ctx, f), f}, nil
}

// await calls f, and returns once ctx ends, even if f has not returned.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func readList(c *cobra.Command, list string) ([]string, error) {
	if list == "-" {
		return inputs.ReadList(interruptible(c.Context(), c.InOrStdin()))
	}
	f, err := openFile(c.Context(), list)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	names, err := inputs.ReadList(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	return names, nil
}
