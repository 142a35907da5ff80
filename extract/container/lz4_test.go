package container

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

func TestReaderReadsLZ4(t *testing.T) {
	a, b, c := record("aaa"), record("bbb"), record("ccc")
	long := noise(rand.New(rand.NewPCG(12, 12)), 200_000)
	blocks := lz4Frame(record(long), lz4.BlockSizeOption(lz4.Block64Kb), lz4.BlockChecksumOption(true), lz4.SizeOption(uint64(len(record(long)))))
	corrupt := func(s string, at int) string {
		x := []byte(s)
		x[at] ^= 0xff
		return string(x)
	}
	withDictionary := "\x04\x22\x4d\x18\x41\x40\x01\x02\x03\x04\xff"
	hungry := lz4Frame(b)[:7] + "\xff\xff\xff\x7f" + lz4Frame(b)[11:]
	for _, x := range []struct{ name, file, want string }{
		{"a record", lz4Frames(a, b, c), "aaa bbb ccc"},
		{"whole", lz4Frames(a + b + c), "aaa bbb ccc"},
		{"record in several frames", lz4Frames(a[:10], a[10:len(a)-5], a[len(a)-5:]+b, c), "aaa bbb ccc"},
		{"several blocks, all that a frame can have", blocks + lz4Frames(b), long + " bbb"},
		{"without checksum", lz4Frame(a, lz4.ChecksumOption(false)) + lz4Frame(b, lz4.ChecksumOption(false)), "aaa bbb"},
		{"empty frames", lz4Frames("", a, "", "", b, ""), "aaa bbb"},
		{"skippable frames", lz4Frames(a) + skippable(3, "yyy") + lz4Frames(b) + skippable(1, "z"), "aaa bbb"},
		{"ARC", lz4Frames(arcRecord("aaa"), arcRecord("bbb")), "aaa bbb"},
		{"garbage before", "garbage" + lz4Frames(a), "! aaa"},
		{"garbage between", lz4Frames(a) + "garbage" + lz4Frames(b), "aaa ! bbb"},
		{"zeros between", lz4Frames(a) + "\x00\x00" + lz4Frames(b), "aaa bbb"},
		{"dictionary", lz4Frames(a) + withDictionary + lz4Frames(b), "aaa ! bbb"},
		{"a block too large", lz4Frames(a) + hungry + lz4Frames(c), "aaa ! ccc"},
		{"flags wrong", lz4Frames(a) + corrupt(lz4Frames(b), 4) + lz4Frames(c), "aaa ! ccc"},
		{"checksum wrong", lz4Frames(a) + corrupt(lz4Frames(b), len(lz4Frames(b))-2) + lz4Frames(c), "aaa bbb ! ccc"},
		{"clipped in its header", lz4Frames(a) + lz4Frames(b)[:6], "aaa !"},
		{"clipped in its block", lz4Frames(a) + lz4Frames(b)[:20], "aaa !"},
		{"skippable frame clipped", lz4Frames(a) + skippable(1, "xxxx")[:10], "aaa !"},
		{"gzip in lz4", lz4Frames(a) + members(b) + lz4Frames(c), "aaa ! ccc"},
		{"magic alone", "\x04\x22\x4d\x18", "!"},
	} {
		t.Run(x.name, func(t *testing.T) {
			events := checkReplay(t, x.file, 1<<20)
			if got := strings.Join(summaries(events), " "); got != x.want {
				t.Errorf("got  %.300q\nwant %.300q\n%.300v", got, x.want, events)
			}
		})
	}
}

// A corrupt byte costs the frame that it is in, and no other.
func TestReaderLosesOnlyTheLZ4FrameWithTheCorruptByte(t *testing.T) {
	sequential(t)
	rng := rand.New(rand.NewPCG(14, 14))
	var parts []string
	for i := range 7 {
		parts = append(parts, lz4Frame(record(fmt.Sprintf("<%d>%s", i, noise(rng, 300)))))
	}
	file := strings.Join(parts, "")
	before := len(strings.Join(parts[:3], ""))
	for at := range parts[3] {
		b := []byte(file)
		b[before+at] ^= 1 << rng.IntN(8)
		events := readFrom(t, string(b), Position{}, 1<<20)
		if at%16 == 0 {
			checkReplay(t, string(b), 1<<20)
		}
		damages := 0
		for _, e := range events {
			if e.damage != nil {
				damages++
			}
		}
		for _, i := range []int{0, 1, 2, 4, 5, 6} {
			whole := func(e event) bool { return strings.HasPrefix(e.summary(), fmt.Sprintf("<%d>", i)) && !e.raw.Clipped }
			if !slices.ContainsFunc(events, whole) {
				t.Fatalf("byte %d: record %d is lost: %.1000v", at, i, events)
			}
		}
		if damages != 1 {
			t.Fatalf("byte %d: %d damages in %.1000v", at, damages, events)
		}
	}
}
