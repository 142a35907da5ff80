package container

import (
	"errors"
	"io"
)

// source reads a file from an offset on.
type source struct {
	f      io.ReaderAt
	offset int64
	step   int   // bytes to read at most while little may suffice; it doubles. 0: no limit
	err    error // error of the file, not of its content
	ends   error // what is wrong with a file that ends early
}

// firstStep is how many bytes are read first where little may suffice.
const firstStep = 512

func (s *source) Read(p []byte) (int, error) {
	if s.step > 0 && s.step < len(p) {
		p = p[:s.step]
		s.step *= 2
	}
	n, err := s.f.ReadAt(p, s.offset)
	s.offset += int64(n)
	var broken *brokenOff
	switch {
	case errors.As(err, &broken):
		s.ends, err = broken.cause, io.EOF
	case err != nil && err != io.EOF:
		s.err = err
	case n > 0:
		err = nil
	}
	return n, err
}

// brokenOff is the error of a file whose rest cannot be read though the disk works,
// such as a damaged member of a ZIP file.
type brokenOff struct{ cause error }

func (b *brokenOff) Error() string { return b.cause.Error() }
