package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

var (
	searchFiles        = flag.Duration("search-files", 5*time.Second, "how long to look for costly files")
	searchFilesGoal    = flag.String("search-files-goal", "memory", "what they cost: memory or time")
	searchFilesWorkers = flag.Int("search-files-workers", 2, "workers of the program that reads them")
	searchFilesSize    = flag.Int("search-files-size", 100_000, "bytes of the files that are tried, at most; one that is far costlier than what is known is then tried with 999,000")
	searchFilesKeep    = flag.String("search-files-keep", "", "directory for the costliest file")
)

// fullSize is the size of the files whose cost matters.
const fullSize = 999_000

// costlyParts are what pages of costly files are made of; # becomes a number that no
// other has. extract/page searches for costly pages with more.
var costlyParts = []string{
	"x", "word ", "Sentence number # stands here. ", "中文字符。", "<p>x</p>", "<p>Sentence # stands here.</p>", "<table>x", "<table><tr><td>x", "</table>",
	"<b id=#>", "<b>", "</p>", "<div>", "</div>", "<a href=/#>x</a>", "<li>x", "<ul><li>", "<!--", "-->", "<script>", "</script>", "<svg><g>", "<template>",
	"<select><option>", "&notin", "<a b c d e f g h>", "\n", "<br>", "<h1>Title #</h1>", "<x-#>", "<p hidden>", "\x00", "\xff",
}

// A costlyFile describes a file: records that are all alike, one behind the other
// until the file has its size.
type costlyFile struct {
	format string       // of costlyFormats
	coding string       // of the content: "", gzip, br, or gzip, gzip
	parts  []costlyPart // of the page, one behind the other
	bytes  int          // of the page
}

type costlyPart struct{ part, times int }

var (
	costlyFormats = []string{"warc", "warc.gz", "warc.zst", "warc.lz4", "wacz", "arc.gz", "tsv.gz", "jsonl.gz"}
	costlyCodings = []string{"", "", "", "gzip", "br", "gzip, gzip"}
)

// costlyKnown are the costliest files known, by goal: what the search begins with.
var costlyKnown = map[string]costlyFile{
	"memory": {"warc.gz", "", []costlyPart{{slices.Index(costlyParts, "<table>x"), 1}}, 1 << 24},
	"time":   {"warc", "br", []costlyPart{{slices.Index(costlyParts, "<table>x"), 1}}, 1 << 24},
}

// knownSize is the size of a known file: twelve pages of 16 MiB.
const knownSize = 300_000

// page returns the page.
func (f costlyFile) page() []byte {
	b, n := make([]byte, 0, f.bytes), 0
	for len(b) < f.bytes {
		for _, p := range f.parts {
			for range p.times {
				n++
				b = append(b, strings.ReplaceAll(costlyParts[p.part], "#", fmt.Sprint(n))...)
				if len(b) >= f.bytes {
					return b
				}
			}
		}
	}
	return b
}

// write returns the file, of at most size bytes; nil if not one record has room.
func (f costlyFile) write(t *testing.T, size int) []byte {
	t.Helper()
	content := f.page()
	for _, c := range strings.Split(f.coding, ", ") {
		content = packed(t, c, content)
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	if f.coding != "" {
		head += "Content-Encoding: " + f.coding + "\r\n"
	}
	block := head + "\r\n" + string(content)
	warc := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:10000000-0000-4000-8000-000000000000>\r\n"+
		"WARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Target-URI: http://costly.example/\r\nContent-Type: application/http; msgtype=response\r\n"+
		"Content-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	var record []byte
	switch kind, coding, _ := strings.Cut(f.format, "."); kind {
	case "warc":
		record = packed(t, coding, []byte(warc))
	case "wacz":
		return zipped(t, warc, size)
	case "arc":
		record = packed(t, coding, fmt.Appendf(nil, "http://costly.example/ 192.0.2.1 20240101000000 text/html %d\n%s\n", len(block), block))
		record = append(packed(t, coding, []byte("filedesc://costly.arc 0.0.0.0 20240101000000 text/plain 9\n1 0 costly\n")), record...)
	case "tsv":
		record = packed(t, coding, fmt.Appendf(nil, "id\t%s\n", strings.ReplaceAll(string(content), "\n", " ")))
	case "jsonl":
		record = packed(t, coding, fmt.Appendf(nil, "{\"id\":\"id\",\"text\":%q}\n", strings.ToValidUTF8(string(content), "?")))
	}
	return bytes.Repeat(record, size/len(record))
}

// packed compresses b. A coding of "" leaves it as it is.
func packed(t *testing.T, coding string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "":
		return b
	case "gz", "gzip":
		w, err = gzip.NewWriterLevel(&out, gzip.BestCompression)
	case "br":
		w = brotli.NewWriter(&out)
	case "zst":
		w, err = zstd.NewWriter(&out)
	case "lz4":
		w = lz4.NewWriter(&out)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// zipped returns a WACZ file of as many archives of one record as have room.
func zipped(t *testing.T, warc string, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	before := 0
	for i := 0; i < 2000 && out.Len()+2*(out.Len()-before)+200*i < size; i++ {
		before = out.Len()
		w, err := z.Create(fmt.Sprintf("archive/%d.warc", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, warc); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func randomCostly(rng *rand.Rand) costlyFile {
	f := costlyFile{costlyFormats[rng.IntN(len(costlyFormats))], costlyCodings[rng.IntN(len(costlyCodings))], nil, 1 << (10 + rng.IntN(15))}
	for range 1 + rng.IntN(3) {
		f.parts = append(f.parts, costlyPart{rng.IntN(len(costlyParts)), 1 << rng.IntN(16)})
	}
	return f
}

// changed returns the file with one change.
func (f costlyFile) changed(rng *rand.Rand) costlyFile {
	f.parts = slices.Clone(f.parts)
	other := randomCostly(rng)
	at := rng.IntN(len(f.parts))
	switch rng.IntN(6) {
	case 0:
		f.format = other.format
	case 1:
		f.coding = other.coding
	case 2:
		f.bytes = min(1<<25, max(1, f.bytes*(1+rng.IntN(4))/(1+rng.IntN(4))))
	case 3:
		f.parts[at] = other.parts[0]
	case 4:
		f.parts = slices.Insert(f.parts, at, other.parts[0])
	default:
		f.parts[at].times = max(1, f.parts[at].times*(1+rng.IntN(8))/(1+rng.IntN(8)))
	}
	return f
}

// cost returns what the program takes to extract a file: bytes of memory, or seconds
// of processor time.
func costOf(t *testing.T, path string) float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	ws := filepath.Join(t.TempDir(), "ws")
	c := exec.CommandContext(ctx, "neardup", "extract", "--workspace", ws, "--progress", "none", "--workers", fmt.Sprint(*searchFilesWorkers), path)
	said, err := c.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s does not end", path)
	}
	if e := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &e) || e.ExitCode() != exitInput) {
		t.Fatalf("%s: %v\n%s", path, err, said)
	}
	if err := os.RemoveAll(ws); err != nil {
		t.Fatal(err)
	}
	if *searchFilesGoal == "time" {
		return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	}
	return float64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) * 1024
}

// A file of under 1 MB takes bounded memory. The test looks for one that takes more
// than the bound, by changes of the costliest so far. It begins with the costliest file
// that is known. The files that it tries are smaller, since one of 999,000 bytes can take
// minutes; only what is far costlier than the known one is tried with so many. Longer, and with
// files of the full size:
//
//	go test ./cmd/neardup -run TestSearchForCostlyFiles -v -search-files 600s -search-files-goal time -search-files-workers 16 -search-files-size 999000
func TestSearchForCostlyFiles(t *testing.T) {
	if raced {
		t.Skip("the race detector needs memory of its own")
	}
	const bound = 3 << 30
	limit := min(*searchFilesSize, fullSize)
	if testing.Short() {
		limit = min(limit, fullSize/50)
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	path := filepath.Join(t.TempDir(), "costly.")
	cost := func(f costlyFile, size int) float64 {
		b := f.write(t, size)
		if len(b) == 0 {
			return 0
		}
		name := path + f.format
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return costOf(t, name)
	}
	best := costlyKnown[*searchFilesGoal]
	size := min(knownSize, limit)
	if testing.Short() {
		best.bytes = 1 << 22
	}
	known, tried := cost(best, size), 1
	most, here, is := known, best, known
	for end := time.Now().Add(*searchFiles); time.Now().Before(end); {
		for since := 0; since < 25 && time.Now().Before(end); since++ {
			next := here.changed(rng)
			c := cost(next, limit)
			if tried++; c > is*1.02 {
				here, is, since = next, c, 0
			}
			if c > most {
				best, most, size = next, c, limit
			}
		}
		if !time.Now().Before(end) {
			break
		}
		here = randomCostly(rng)
		is = cost(here, limit)
		if tried++; is > most {
			best, most, size = here, is, limit
		}
	}
	t.Logf("%d files, seed %d, %d workers; the costliest takes %.4g (%s)", tried, seed, *searchFilesWorkers, most, *searchFilesGoal)
	if limit < fullSize && most > known*1.5 {
		size = fullSize
		most = cost(best, size)
	}
	description := fmt.Sprintf("%s, coding %q, pages of %d bytes:", best.format, best.coding, best.bytes)
	for _, p := range best.parts {
		description += fmt.Sprintf(" %d times %q", p.times, costlyParts[p.part])
	}
	t.Logf("with %d bytes %.4g: %s", size, most, description)
	if *searchFilesKeep != "" {
		if err := os.WriteFile(filepath.Join(*searchFilesKeep, "costly."+best.format), best.write(t, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if *searchFilesGoal == "memory" && most > bound {
		t.Errorf("%.0f bytes of memory, more than %d: %s", most, int64(bound), description)
	}
}
