package testkit

import (
	"bytes"
	"compress/flate"
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"
)

// Bounded runs work and checks that it ends and that the heap grows little
// meanwhile. The deadline only detects a hang; it asserts no speed.
func Bounded(t *testing.T, work func()) {
	t.Helper()
	const most, deadline = 256 << 20, 2 * time.Minute
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	peak := uint64(0)
	for ended := time.After(deadline); ; {
		metrics.Read(sample)
		peak = max(peak, sample[0].Value.Uint64())
		select {
		case <-done:
			if peak > before+most {
				t.Errorf("%d MiB of memory", (peak-before)>>20)
			}
			return
		case <-ended:
			t.Fatal("hangs")
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Repeated returns a file of head, then n bytes that repeat unit, then tail.
func Repeated(head, unit, tail string, n int64) io.ReaderAt { return repeated{head, unit, tail, n} }

type repeated struct {
	head, unit, tail string
	n                int64
}

func (f repeated) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		at := offset + int64(n)
		switch in := at - int64(len(f.head)); {
		case in < 0:
			n += copy(p[n:], f.head[at:])
		case in < f.n:
			from := int(in % int64(len(f.unit)))
			n += copy(p[n:], f.unit[from:min(int64(len(f.unit)), int64(from)+f.n-in)])
		case in-f.n < int64(len(f.tail)):
			n += copy(p[n:], f.tail[in-f.n:])
		default:
			return n, io.EOF
		}
	}
	return n, nil
}

// GiB is 2^30 bytes.
const GiB = 1 << 30

// Raced reports that the race detector is on.
var Raced bool

// Sequential skips a long test of one goroutine under the race detector. The
// detector has nothing to find there, and the test takes many times as long,
// because libraries that keep large buffers in pools then make them anew each time.
func Sequential(t *testing.T) {
	t.Helper()
	if Raced {
		t.Skip("one goroutine; without the race detector it runs")
	}
}

// Unit is the size by which tests divide a GiB.
const Unit = 1 << 20

// AGiB returns a GiB of the letter a as deflate blocks, none of them the last. A
// short piece of the stream is repeated.
var AGiB = sync.OnceValue(func() string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 1)
	a := bytes.Repeat([]byte{'a'}, Unit)
	_, _ = w.Write(a)
	_ = w.Flush() // ends at a byte boundary
	first := b.Len()
	_, _ = w.Write(a)
	_ = w.Flush()
	return b.String()[:first] + strings.Repeat(b.String()[first:], GiB/Unit-1)
})

// GzipHeader is the header of a gzip member without a name.
const GzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// StoredBlock returns a stored deflate block of s.
func StoredBlock(s string, last byte) string {
	n := len(s)
	return string([]byte{last, byte(n), byte(n >> 8), ^byte(n), ^byte(n >> 8)}) + s
}
