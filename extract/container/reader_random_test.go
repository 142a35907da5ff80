package container

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/extract/internal/testkit"
)

// packer compresses a string into a member of its own.
type packer func(s string) string

// randomArchive writes records in a random layout and damages some.
func randomArchive(rng *rand.Rand, write func(block string) string, pack packer) string {
	garbage := func() string {
		g := []string{"garbage", "\r\n", "WARC/1.", "WARC/1.0\r\n\r\n", "\x1f\x8b", "\x1f\x8b\x08", "\x00\x00", "\x00", "WARC/", "\n\n\n", "\x1f", "WA",
			"\x28\xb5\x2f\xfd", "\x50\x2a\x4d\x18\x02\x00\x00\x00xx", "\x28\xb5", "\x04\x22\x4d\x18", "http://x/ 1.2.3.4 20200101000000 text/plain 9", "http://x/ 1.2.3.4 20200101000000 x 3\n", "http:",
			noise(rng, rng.IntN(100)), strings.Repeat("\x1f\x8b\x08\x00", 20)}
		return g[rng.IntN(len(g))]
	}
	damaging := rng.IntN(3) > 0
	hit := func(n int) bool { return damaging && rng.IntN(n) == 0 }
	layout := rng.IntN(5)
	var plain, file strings.Builder
	flush := func() {
		file.WriteString(pack(plain.String()))
		plain.Reset()
	}
	for range rng.IntN(12) {
		size := rng.IntN(200)
		if rng.IntN(16) == 0 {
			size = rng.IntN(150_000)
		}
		s := write(noise(rng, size))
		switch {
		case hit(12):
			s = strings.Replace(s, "Content-Length: ", "Content-Length: "+[]string{"x", "-", "9", "0", "\r\n "}[rng.IntN(5)], 1)
		case hit(20):
			s = strings.TrimRight(s, "\r\n")
		case hit(20):
			s = s[:rng.IntN(len(s))]
		case rng.IntN(10) == 0:
			s = strings.ReplaceAll(s, "\r\n", "\n")
		}
		if hit(8) {
			s = garbage() + s
		}
		plain.WriteString(s)
		switch layout {
		case 0: // plain
		case 1: // gzip a record
			flush()
		case 2: // gzip as a whole
		case 3: // several records a member
			if rng.IntN(3) == 0 {
				flush()
			}
		case 4: // members end anywhere
			s := plain.String()
			at := rng.IntN(len(s) + 1)
			plain.Reset()
			plain.WriteString(s[:at])
			flush()
			plain.WriteString(s[at:])
		}
		if layout != 0 && hit(8) {
			file.WriteString(garbage())
		}
	}
	if layout == 0 {
		file.WriteString(plain.String())
	} else if plain.Len() > 0 {
		flush()
	}
	b := []byte(file.String())
	for len(b) > 0 && hit(2) {
		switch at := rng.IntN(len(b)); rng.IntN(4) {
		case 0:
			b = b[:at]
		case 1:
			b = slices.Delete(b, at, min(len(b), at+rng.IntN(50)))
		default:
			b[at] ^= byte(1 + rng.IntN(255))
		}
	}
	return string(b)
}

func TestReaderGoesOnFromEveryPosition(t *testing.T) {
	seeds := uint64(120)
	if testkit.Raced {
		seeds = 12
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			level := []int{0, 1, 6, -2}[rng.IntN(4)]
			write, maxBlock := record, []int64{1 << 20, 1000, 0}[rng.IntN(3)]
			if rng.IntN(3) == 0 {
				write = arcRecord
			}
			checkReplay(t, randomArchive(rng, write, func(s string) string { return member(s, level) }), maxBlock)
			checkReplay(t, randomArchive(rng, write, frame), maxBlock)
			checkReplay(t, randomArchive(rng, write, func(s string) string { return lz4Frame(s) }), maxBlock)
			checkReplay(t, dictionaryFrame(false)+randomArchive(rng, write, frameWithDictionary), maxBlock)
		})
	}
}

func FuzzReader(f *testing.F) {
	a, b := record("aaa"), record("bbb")
	for _, s := range []string{
		"", "WARC/\n", a + b, members(a, b), members(a + b), members(a[:20], a[20:]+b), members(a)[:30], a[:50],
		strings.ReplaceAll(a+b, "\r\n", "\n"), members(a) + "garbage" + members(b), a + "garbage" + b, "\x1f\x8b\x08", "\x1f\x8b",
		arcRecord("aaa") + arcRecord("bbb"), members(arcRecord("aaa"), arcRecord("bbb")), a + arcRecord("bbb") + b, "http://x/ 1.2.3.4 null x 3\naaa\n" + arcRecord("bbb"),
		frames(a, b), frames(a + b), frames(arcRecord("aaa"), b), frames(a)[:20], lz4Frames(a, b), lz4Frames(a + b)[:40],
		a + warcRecord(a, "WARC-Type: resource", "Content-Length: 120") + b, arcRecord("aaa") + "http://x/ 1.2.3.4 20080430204825 text/html 99\naaa\n" + arcRecord("bbb"),
		warcRecord("x", "Content-Length: 9999"), warcRecord("x", "Content-Length: -1"), members(a) + "\x00\x00" + member(b, 0),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) < 1<<14 {
			checkReplay(t, string(file), 1000)
		}
	})
}
