package container

import "fmt"

// Limits bound the cost of a file or a page, whatever it contains. Each is a
// setting; what exceeds it is counted or reported under the setting's name. Bounds
// that are not here are fixed: those of a format (text IDs, dictionaries), of
// format detection, and of buffers.
type Limits struct {
	MaxRecordBytes  int64   `yaml:"max_record_bytes" json:"max_record_bytes"`   // bytes of a record's block that are kept; a longer block is clipped
	MaxTextBytes    int     `yaml:"max_text_bytes" json:"max_text_bytes"`       // UTF-8 bytes of a page's visible text that are kept
	MaxHeaderBytes  int     `yaml:"max_header_bytes" json:"max_header_bytes"`   // header of a record or response; real ones are under 2 KB
	MaxCodings      int     `yaml:"max_codings" json:"max_codings"`             // nested codings of a page; two occur
	MaxWindowBytes  int64   `yaml:"max_window_bytes" json:"max_window_bytes"`   // memory that a zstd file may request
	MaxInflation    int64   `yaml:"max_inflation" json:"max_inflation"`         // bytes that one compressed byte may become, beyond freeInflated
	MaxDecodedBytes int64   `yaml:"max_decoded_bytes" json:"max_decoded_bytes"` // bytes that the records of a file may be decoded to, beyond MaxInflation times its size
	MaxMembers      int     `yaml:"max_members" json:"max_members"`             // archives in a WACZ file
	MaxReplaced     float64 `yaml:"max_replaced" json:"max_replaced"`           // share of U+FFFD from which on a text is flagged as mojibake
}

// freeInflated is how many bytes compressed data may become whatever its size,
// since small records may compress well.
const freeInflated = 64 << 20

// Validate returns an error that names the first limit out of its range.
func (l Limits) Validate() error {
	for _, x := range []struct {
		name                string
		value, lower, upper int64
	}{
		{"max_record_bytes", l.MaxRecordBytes, 1 << 10, 1 << 40},
		{"max_text_bytes", int64(l.MaxTextBytes), 1 << 10, 1 << 30}, // positions in a text have 32 bits
		{"max_header_bytes", int64(l.MaxHeaderBytes), 1 << 10, 1 << 30},
		{"max_codings", int64(l.MaxCodings), 1, 1 << 10},
		{"max_window_bytes", l.MaxWindowBytes, 8 << 20, 2 << 30}, // what RFC 8878 asks of a decoder; the zstd command's maximum
		{"max_inflation", l.MaxInflation, 1, 1 << 20},
		{"max_decoded_bytes", l.MaxDecodedBytes, 1 << 20, 1 << 60},
		{"max_members", int64(l.MaxMembers), 1, maxEntries},
	} {
		switch {
		case x.value < x.lower:
			return fmt.Errorf("%s: %d is under %d", x.name, x.value, x.lower)
		case x.value > x.upper:
			return fmt.Errorf("%s: %d is over %d", x.name, x.value, x.upper)
		}
	}
	if !(l.MaxReplaced >= 0 && l.MaxReplaced <= 1) {
		return fmt.Errorf("max_replaced: %v is not in [0, 1]", l.MaxReplaced)
	}
	return nil
}

// inflated returns how many bytes n compressed bytes may become.
func (l Limits) inflated(n int64) int64 {
	const limit = 1 << 61 // leaves room for sums
	if n > (limit-freeInflated-l.MaxRecordBytes)/l.MaxInflation {
		return limit
	}
	return freeInflated + l.MaxRecordBytes + n*l.MaxInflation
}

// The errors for what exceeds a limit name the setting.

func (l Limits) headerError() error {
	return fmt.Errorf("record header over %d bytes (extract.max_header_bytes)", l.MaxHeaderBytes)
}

func (l Limits) windowError(window uint64) error {
	return fmt.Errorf("zstd frame requests %d bytes of memory, over %d (extract.max_window_bytes)", window, l.MaxWindowBytes)
}

func (l Limits) membersError() error {
	return fmt.Errorf("the zip file has over %d archives (extract.max_members)", l.MaxMembers)
}

// inflationError returns the error for a gzip member, a zstd or lz4 frame, or a ZIP
// member.
func (l Limits) inflationError() error {
	return fmt.Errorf("%w: over %d times its size (extract.max_inflation)", errInflation, l.MaxInflation)
}
