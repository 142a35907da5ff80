package container

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func encode(s string, o ...zstd.EOption) string {
	w, err := zstd.NewWriter(nil, append(o, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))...)
	if err != nil {
		panic(err)
	}
	defer func() { _ = w.Close() }()
	return string(w.EncodeAll([]byte(s), nil))
}

// withDictionary is made once: making one costs more than a frame.
var withDictionary = sync.OnceValue(func() *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary()), zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	if err != nil {
		panic(err)
	}
	return w
})

var dictionary = sync.OnceValue(func() []byte {
	rng := rand.New(rand.NewPCG(8, 8))
	history := []byte(record("aaa") + noise(rng, 2000) + record("bbb") + "the quick brown fox and some more of what records hold")
	var contents [][]byte
	for i := range 40 {
		contents = append(contents, []byte(record(fmt.Sprint(i)+noise(rng, 300))+string(history[:600])))
	}
	d, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: contents, History: history, Offsets: [3]int{1, 4, 8}})
	if err != nil {
		panic(err)
	}
	return d
})

func frameWithDictionary(s string) string { return string(withDictionary().EncodeAll([]byte(s), nil)) }

func skippable(id byte, content string) string {
	return string(binary.LittleEndian.AppendUint32([]byte{0x50 | id, 0x2a, 0x4d, 0x18}, uint32(len(content)))) + content
}

// dictionaryFrame is the frame with the dictionary that a file starts with.
func dictionaryFrame(compressed bool) string {
	d := string(dictionary())
	if compressed {
		d = frame(d)
	}
	return skippable(dictionaryID, d)
}

func TestReaderReadsZstd(t *testing.T) {
	a, b, c := record("aaa"), record("bbb"), record("ccc")
	raw := "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 3\r\n\r\n"
	withRaw := func(s string) string { return encode(s, zstd.WithEncoderDictRaw(0, []byte(raw))) }
	corrupt := func(s string, at int) string {
		x := []byte(s)
		x[at] ^= 0xff
		return string(x)
	}
	hungry := "\x28\xb5\x2f\xfd\x00" + "\xf8" + "\x01\x00\x00" // a window of 2 TiB
	large := "\x28\xb5\x2f\xfd\xe0" + "\x00\x00\x00\x00\x10\x00\x00\x00" + "\x01\x00\x00"
	for _, x := range []struct{ name, file, want string }{
		{"a record", frames(a, b, c), "aaa bbb ccc"},
		{"whole", frames(a + b + c), "aaa bbb ccc"},
		{"record in several frames", frames(a[:10], a[10:len(a)-5], a[len(a)-5:]+b, c), "aaa bbb ccc"},
		{"without checksum", encode(a, zstd.WithEncoderCRC(false)) + encode(b, zstd.WithEncoderCRC(false)), "aaa bbb"},
		{"single segment", encode(a, zstd.WithSingleSegment(true)) + encode(b, zstd.WithSingleSegment(true)), "aaa bbb"},
		{"empty frames", frames("", a, "", "", b, ""), "aaa bbb"},
		{"skippable frames", skippable(0, "xx") + frames(a) + skippable(3, "") + skippable(15, "yyy") + frames(b) + skippable(1, "z"), "aaa bbb"},
		{"zeros between", frames(a) + "\x00\x00" + frames(b), "aaa bbb"},
		{"dictionary", dictionaryFrame(false) + frameWithDictionary(a) + frameWithDictionary(b), "aaa bbb"},
		{"compressed dictionary", dictionaryFrame(true) + frameWithDictionary(a) + frameWithDictionary(b), "aaa bbb"},
		{"dictionary and frames without", dictionaryFrame(false) + frames(a) + frameWithDictionary(b) + frames(c), "aaa bbb ccc"},
		{"raw dictionary", skippable(dictionaryID, raw) + withRaw(a) + withRaw(b), "aaa bbb"},
		{"empty dictionary", skippable(dictionaryID, "") + frames(a), "aaa"},
		{"dictionary missing", frameWithDictionary(a) + frames(b), "! bbb"},
		{"dictionary in the wrong place", frames(a) + dictionaryFrame(false) + frameWithDictionary(b) + frames(c), "aaa ! ccc"},
		{"garbage between", frames(a) + "garbage" + frames(b), "aaa ! bbb"},
		{"garbage before", "garbage" + frames(a), "! aaa"},
		{"a window too large", frames(a) + hungry + frames(b), "aaa ! bbb"},
		{"contents too large", frames(a) + large + frames(b), "aaa ! bbb"},
		{"checksum wrong", frames(a) + corrupt(frames(b), len(frames(b))-2) + frames(c), "aaa ! ccc"},
		{"clipped in its magic", frames(a) + frames(b)[:3], "aaa !"},
		{"clipped in its header", frames(a) + frames(b)[:5], "aaa !"},
		{"clipped in its block", frames(a) + frames(b)[:20], "aaa !"},
		{"skippable frame clipped", frames(a) + skippable(1, "xxxx")[:10], "aaa !"},
		{"gzip in zstd", frames(a) + members(b) + frames(c), "aaa ! ccc"},
		{"magic alone", "\x28\xb5\x2f\xfd", "!"},
	} {
		t.Run(x.name, func(t *testing.T) {
			events := checkReplay(t, x.file, 1<<20)
			if got := strings.Join(summaries(events), " "); got != x.want {
				t.Errorf("got  %q\nwant %q\n%.300v", got, x.want, events)
			}
		})
	}
}

func TestReaderNeedsTheDictionaryToBeWhole(t *testing.T) {
	d := string(dictionary())
	for name, file := range map[string]string{
		"clipped":                 skippable(dictionaryID, d)[:200],
		"over the limit":          "\x5d\x2a\x4d\x18\xff\xff\xff\xff" + d,
		"damaged":                 skippable(dictionaryID, "\x37\xa4\x30\xec"+strings.Repeat("\xff", 100)),
		"compressed and damaged":  skippable(dictionaryID, frame(d)[:100]),
		"compressed and too long": skippable(dictionaryID, frame(strings.Repeat("x", maxDictionary+1))),
	} {
		if _, err := NewReader(strings.NewReader(file), Position{}, limits); err == nil || !strings.HasPrefix(err.Error(), "zstd dictionary: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A corrupt byte costs the frame that it is in, wherever it is.
func TestReaderLosesOnlyTheFrameWithTheCorruptByte(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var parts []string
	for i := range 7 {
		parts = append(parts, frame(record(fmt.Sprintf("<%d>%s", i, noise(rng, 300)))))
	}
	before := len(strings.Join(parts[:3], ""))
	for at := range parts[3] {
		file := []byte(strings.Join(parts, ""))
		file[before+at] ^= 1 << rng.IntN(8)
		events := readFrom(t, string(file), Position{}, 1<<20)
		if at%16 == 0 {
			checkReplay(t, string(file), 1<<20)
		}
		for _, i := range []int{0, 1, 2, 4, 5, 6} {
			whole := func(e event) bool { return strings.HasPrefix(e.summary(), fmt.Sprintf("<%d>", i)) && !e.raw.Clipped }
			if !slices.ContainsFunc(events, whole) {
				t.Fatalf("byte %d: record %d is lost: %.1000v", at, i, events)
			}
		}
		if n := len(events); n < 7 || n > 8 {
			t.Fatalf("byte %d: %.1000v", at, events)
		}
	}
}

// Frames hand out what they hold piece by piece.
func TestReaderStreamsAFrameLargerThanItsWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	block := strings.Repeat(noise(rng, 1000), 5000)
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(1<<16))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte(record(block) + record("bbb")))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	events := checkReplay(t, b.String(), 1<<30)
	if len(events) != 2 || string(events[0].raw.Block) != block || string(events[1].raw.Block) != "bbb" {
		t.Errorf("%d events", len(events))
	}
}

func FuzzZstd(f *testing.F) {
	a, b := record("aaa"), record("bbb")
	for _, s := range []string{
		frames(a, b), frames(a + b), dictionaryFrame(false) + frameWithDictionary(a) + frames(b), dictionaryFrame(true) + frameWithDictionary(a),
		skippable(dictionaryID, "raw") + frames(a), skippable(2, "x") + frames(a), frames(a)[:30], frames(a) + "garbage" + frames(b),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 1<<14 || !isZstd(file) {
			return
		}
		if _, err := openRecords(bytes.NewReader(file), Position{}, 1000); err != nil {
			return // a dictionary that is none
		}
		r, _ := openRecords(bytes.NewReader(file), Position{}, 1000)
		total := 0
		for total < 1<<20 && r.fill() { // what is not checked twice: bombs
			total += len(r.buf) - r.r
			r.r = len(r.buf)
		}
		if total < 1<<20 {
			checkReplay(t, string(file), 1000)
		}
	})
}
