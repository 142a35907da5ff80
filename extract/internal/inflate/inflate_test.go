package inflate

import (
	"bufio"
	"bytes"
	standard "compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

const behind = "what follows the member"

// outcome is what reading a member gives.
type outcome struct {
	data string
	left int // bytes of the source behind the member
	err  error
}

func (o outcome) String() string {
	return fmt.Sprintf("%d bytes, %d left, %v", len(o.data), o.left, o.err)
}

// reader is the library's reader, or the standard library's.
type reader interface {
	io.Reader
	Multistream(bool)
}

func oracle(file []byte) outcome {
	return oracleBy(file, func(r io.Reader) (reader, error) { return gzip.NewReader(r) })
}

func oracleBy(file []byte, open func(io.Reader) (reader, error)) outcome {
	src := bufio.NewReader(bytes.NewReader(file))
	z, err := open(src)
	if err != nil {
		return outcome{err: err}
	}
	z.Multistream(false)
	data, err := io.ReadAll(z)
	left, _ := io.Copy(io.Discard, src)
	return outcome{string(data), int(left), err}
}

// read reads with a source that buffers and a buffer that takes so many bytes.
func read(r *Reader, file io.Reader, buffer, take int) outcome {
	src := bufio.NewReaderSize(file, buffer)
	if err := r.Reset(src); err != nil {
		return outcome{err: err}
	}
	var data bytes.Buffer
	p := make([]byte, take)
	for {
		n, err := r.Read(p)
		data.Write(p[:n])
		if err == nil {
			continue
		}
		if err == io.EOF {
			err = nil
		}
		left, _ := io.Copy(io.Discard, src)
		return outcome{data.String(), int(left), err}
	}
}

// check compares with the library. It does not compare the messages of errors, nor
// where reading stops at one.
func check(t *testing.T, r *Reader, file []byte) {
	t.Helper()
	want := oracle(file)
	for _, sizes := range [][2]int{{256 << 10, 1 << 20}, {64, 1000}} {
		got := read(r, bytes.NewReader(file), sizes[0], sizes[1])
		// The library reads a block whose code is empty by what other codes left.
		if _, corrupt := got.err.(flate.CorruptInputError); corrupt && got.data != want.data {
			want = oracleBy(file, func(r io.Reader) (reader, error) { return standard.NewReader(r) })
		}
		if got.data != want.data || (got.err == nil) != (want.err == nil) || want.err == nil && got.left != want.left {
			t.Fatalf("%d bytes %.80x: got %v, want %v", len(file), file, got, want)
		}
		if (got.err == gzip.ErrChecksum) != (want.err == gzip.ErrChecksum) || (got.err == gzip.ErrHeader) != (want.err == gzip.ErrHeader) {
			t.Fatalf("got error %v, want %v", got.err, want.err)
		}
	}
}

func member(data string, level int) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(w, data)
	_ = w.Close()
	return append(b.Bytes(), behind...)
}

// texts are data that give blocks of all kinds.
func texts() []string {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200<<10)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	var words, skewed strings.Builder
	for words.Len() < 300<<10 {
		fmt.Fprintf(&words, "<p class=\"a%d\">%s ", rnd.IntN(50), strings.Repeat("x", rnd.IntN(9)))
		if rnd.IntN(50) == 0 {
			words.WriteString(words.String()[max(0, words.Len()-rnd.IntN(40<<10)):])
		}
	}
	for skewed.Len() < 100<<10 { // codes of up to 15 bits
		skewed.WriteByte(byte(rnd.ExpFloat64() * 9))
	}
	return []string{
		"", "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", strings.Repeat("ab", 1<<16), strings.Repeat("abcdefghi", 40), string(noise), words.String(), skewed.String(),
		words.String()[:20<<10] + string(noise[:40<<10]) + skewed.String(), strings.Repeat("a", 1<<20),
	}
}

var levels = []int{gzip.HuffmanOnly, gzip.NoCompression, 1, 5, 9}

func TestReadsWhatTheLibraryReads(t *testing.T) {
	r := new(Reader)
	for _, data := range texts() {
		for _, level := range levels {
			file := member(data, level)
			if want := oracle(file); want.data != data || want.left != len(behind) || want.err != nil {
				t.Fatalf("the library reads %v", want)
			}
			check(t, r, file)
		}
	}
}

func TestReadsDamage(t *testing.T) {
	r, rnd := new(Reader), rand.New(rand.NewPCG(3, 4))
	for _, data := range texts() {
		for _, level := range levels {
			file := member(data[:min(len(data), 150<<10)], level)
			file = file[:len(file)-len(behind)]
			for range 6 {
				check(t, r, file[:rnd.IntN(len(file))])
				bad := bytes.Clone(file)
				bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
				check(t, r, bad)
			}
			check(t, r, file[:len(file)-1])
		}
	}
}

// TestStopsAtTheSamePlaces checks that the place in the source after so many bytes
// of data does not depend on how much is buffered and read at a time.
func TestStopsAtTheSamePlaces(t *testing.T) {
	places := func(buffer, take int) (out []int) {
		file := bytes.NewReader(member(strings.Repeat(texts()[6], 4), 6))
		src, r := bufio.NewReaderSize(file, buffer), new(Reader)
		if err := r.Reset(src); err != nil {
			t.Fatal(err)
		}
		const every = 100 << 10
		for read := 0; ; {
			n, err := r.Read(make([]byte, min(take, every-read%every)))
			if read += n; read%every == 0 {
				out = append(out, file.Len()+src.Buffered())
			}
			if err != nil {
				return out
			}
		}
	}
	want := places(256<<10, 1<<20)
	for _, sizes := range [][2]int{{64, 1 << 20}, {64, 999}, {100, 1}, {64 << 10, 4096}} {
		if got := places(sizes[0], sizes[1]); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("with %v: got %v, want %v", sizes, got, want)
		}
	}
	if len(want) < 10 {
		t.Errorf("only %d places", len(want))
	}
}

func TestReturnsTheErrorOfItsSource(t *testing.T) {
	file := member(texts()[6], 6)
	got := read(new(Reader), io.MultiReader(bytes.NewReader(file[:1000]), iotest.ErrReader(io.ErrNoProgress)), 4096, 512)
	if got.err != io.ErrNoProgress || got.data == "" {
		t.Errorf("got %v", got)
	}
}

func FuzzReader(f *testing.F) {
	for _, data := range texts() {
		for _, level := range levels {
			file := member(data[:min(len(data), 3000)], level)
			f.Add(file[10 : len(file)-len(behind)])
		}
	}
	r := new(Reader)
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, r, append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0}, data...))
	})
}

func BenchmarkReader(b *testing.B) {
	file := member(strings.Repeat(texts()[6], 4), 6)
	size := len(oracle(file).data)
	src := bufio.NewReaderSize(nil, 256<<10)
	r, p := new(Reader), make([]byte, 64<<10)
	b.Run("own", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			src.Reset(bytes.NewReader(file))
			_ = r.Reset(src)
			for err := error(nil); err == nil; {
				_, err = r.Read(p)
			}
		}
	})
	z := new(gzip.Reader)
	b.Run("library", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			src.Reset(bytes.NewReader(file))
			_ = z.Reset(src)
			z.Multistream(false)
			for err := error(nil); err == nil; {
				_, err = z.Read(p)
			}
		}
	})
}
