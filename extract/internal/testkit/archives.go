// Package testkit makes test data for extract's packages and has checks that their
// tests share.
package testkit

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// WARCRecord returns a record with the given fields, each "name: value"; the first
// one is the type. Content-Length is added unless it is given.
func WARCRecord(block string, fields ...string) string {
	var b strings.Builder
	b.WriteString("WARC/1.0\r\n")
	length := true
	for _, f := range fields {
		length = length && !strings.HasPrefix(strings.ToLower(f), "content-length")
		b.WriteString(f + "\r\n")
	}
	if length {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(block))
	}
	return b.String() + "\r\n" + block + "\r\n\r\n"
}

// Record returns a resource record.
func Record(block string) string { return WARCRecord(block, "WARC-Type: resource") }

// Member returns s as one gzip member. Level 0 stores it.
func Member(s string, level int) string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, level)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

// Members returns the records as gzip members, one each.
func Members(records ...string) string {
	var b strings.Builder
	for _, s := range records {
		b.WriteString(Member(s, 6))
	}
	return b.String()
}

// Noise returns text that hardly compresses.
func Noise(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(' ' + rng.IntN(90))
	}
	return string(b)
}

// ARCRecord returns a record of version 1.
func ARCRecord(block string) string { return ARCRecordOf("http://www.example.org/", block) }

// ARCRecordOf returns an ARC record of a URI.
func ARCRecordOf(uri, block string) string {
	return fmt.Sprintf("%s 192.0.2.1 20080430204825 text/html %d\n%s\n", uri, len(block), block)
}

// ARCVersion is the block of the record that describes an ARC file.
const ARCVersion = "1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n"

// ARCFile returns an ARC file with its first record.
func ARCFile(records ...string) string {
	return fmt.Sprintf("filedesc://x.arc 0.0.0.0 20080430204825 text/plain %d\n%s\n", len(ARCVersion), ARCVersion) + strings.Join(records, "")
}

// LZ4Frame returns s as one lz4 frame.
func LZ4Frame(s string, o ...lz4.Option) string {
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	err := w.Apply(o...)
	if err == nil {
		_, err = w.Write([]byte(s))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	return b.String()
}

// LZ4Frames returns the records as lz4 frames, one each.
func LZ4Frames(records ...string) string {
	var b strings.Builder
	for _, s := range records {
		b.WriteString(LZ4Frame(s))
	}
	return b.String()
}

// encoder is shared: making one costs more than encoding a frame.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	if err != nil {
		panic(err)
	}
	return e
})

// Frame returns s as one zstd frame.
func Frame(s string) string { return string(encoder().EncodeAll([]byte(s), nil)) }

// Frames returns the records as zstd frames, one each.
func Frames(records ...string) string {
	var b strings.Builder
	for _, s := range records {
		b.WriteString(Frame(s))
	}
	return b.String()
}
