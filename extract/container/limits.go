package container

import "fmt"

// Limits bound what a file or a page can cost, whatever is in it. Each is a
// setting, and what is over one is counted or said under the setting's name.
// What is not here is fixed: the limits of a format (textIDs, dictionaries),
// of telling what a file is, and the sizes of buffers.
type Limits struct {
	MaxRecordBytes int64   `yaml:"max_record_bytes" json:"max_record_bytes"` // block bytes kept of a record; what is longer is clipped
	MaxTextBytes   int     `yaml:"max_text_bytes" json:"max_text_bytes"`     // UTF-8 bytes of visible text kept of a page
	MaxHeaderBytes int     `yaml:"max_header_bytes" json:"max_header_bytes"` // of a record's or an answer's header; real ones are under 2 KB
	MaxCodings     int     `yaml:"max_codings" json:"max_codings"`           // that a page may be in, one over the other; two happen
	MaxWindowBytes int64   `yaml:"max_window_bytes" json:"max_window_bytes"` // memory that a zstd file may ask for
	MaxInflation   int64   `yaml:"max_inflation" json:"max_inflation"`       // bytes that a compressed byte may become, beyond freeInflated
	MaxMembers     int     `yaml:"max_members" json:"max_members"`           // archives in a WACZ file
	MaxReplaced    float64 `yaml:"max_replaced" json:"max_replaced"`         // share of U+FFFD in a text from which on it is flagged as mojibake
}

// freeInflated are the bytes that compressed data may become whatever its
// size: small records may compress well.
const freeInflated = 64 << 20

// Validate says what is wrong with the limits.
func (l Limits) Validate() error {
	for _, x := range []struct {
		name            string
		is, least, most int64
	}{
		{"max_record_bytes", l.MaxRecordBytes, 1 << 10, 1 << 40},
		{"max_text_bytes", int64(l.MaxTextBytes), 1 << 10, 1 << 30}, // places in a text are of 32 bits
		{"max_header_bytes", int64(l.MaxHeaderBytes), 1 << 10, 1 << 30},
		{"max_codings", int64(l.MaxCodings), 1, 1 << 10},
		{"max_window_bytes", l.MaxWindowBytes, 8 << 20, 2 << 30}, // what RFC 8878 wants of a decoder; what the zstd command goes up to
		{"max_inflation", l.MaxInflation, 1, 1 << 20},
		{"max_members", int64(l.MaxMembers), 1, maxEntries},
	} {
		switch {
		case x.is < x.least:
			return fmt.Errorf("%s: %d is under %d", x.name, x.is, x.least)
		case x.is > x.most:
			return fmt.Errorf("%s: %d is over %d", x.name, x.is, x.most)
		}
	}
	if !(l.MaxReplaced >= 0 && l.MaxReplaced <= 1) {
		return fmt.Errorf("max_replaced: %v is not in [0, 1]", l.MaxReplaced)
	}
	return nil
}

// inflated is the number of bytes that n compressed bytes may become.
func (l Limits) inflated(n int64) int64 {
	const most = 1 << 61 // leaves room for sums
	if n > (most-freeInflated-l.MaxRecordBytes)/l.MaxInflation {
		return most
	}
	return freeInflated + l.MaxRecordBytes + n*l.MaxInflation
}

// The errors of what is over a limit name the setting.

func (l Limits) headerError() error {
	return fmt.Errorf("record header over %d bytes (extract.max_header_bytes)", l.MaxHeaderBytes)
}

func (l Limits) windowError(window uint64) error {
	return fmt.Errorf("zstd frame asks for %d bytes of memory, over %d (extract.max_window_bytes)", window, l.MaxWindowBytes)
}

func (l Limits) membersError() error {
	return fmt.Errorf("the zip file has over %d archives (extract.max_members)", l.MaxMembers)
}

// inflationError is that of a gzip member, zstd or lz4 frame, or zip member.
func (l Limits) inflationError() error {
	return fmt.Errorf("%w: over %d times its size (extract.max_inflation)", errInflation, l.MaxInflation)
}
