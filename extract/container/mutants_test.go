package container

import (
	"archive/zip"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Damage costs the records that it touches: the others, its neighbours, are
// read whole. What follows damages archives of every format in one place each,
// in seeded ways, and counts neighbours.

var mutantRuns = flag.Int("mutants", 150, "damaged files of each format")

// archiveFormat writes the records of an archive.
type archiveFormat struct {
	name   string
	record func(i int, block string) string
	pack   func(record string) string  // into a member; nil: plain
	whole  func(archive string) string // around all of it; nil: nothing
}

// versionRecord is a record of a version of WARC. Those before 1.0 end lines as
// the Lemur project's crawls do.
func versionRecord(version string) func(i int, block string) string {
	lineEnd := "\r\n"
	if version < "WARC/1" {
		lineEnd = "\n"
	}
	return func(i int, block string) string {
		lines := []string{
			version, "WARC-Type: response", fmt.Sprintf("WARC-Target-URI: http://www.example.org/page/%d", i),
			"WARC-Date: 2009-03-65T08:43:19-0800", fmt.Sprintf("WARC-Record-ID: <urn:uuid:%d>", i),
			"Content-Type: application/http;msgtype=response", fmt.Sprintf("Content-Length: %d", len(block)), "", "",
		}
		return strings.Join(lines, lineEnd) + block + lineEnd + lineEnd
	}
}

func arcVersionRecord(version int) func(i int, block string) string {
	return func(i int, block string) string {
		uri, middle := fmt.Sprintf("http://www.example.org/page/%d", i), "text/html"
		if version == 2 {
			middle += " 200 fac069 - 209 x.arc"
		}
		return fmt.Sprintf("%s 192.0.2.1 20080430204825 %s %d\n%s\n", uri, middle, len(block), block)
	}
}

func inZip(method uint16) func(string) string {
	return func(archive string) string { return zipFile(zipMember{"archive/a.warc.gz", archive, method}) }
}

func archiveFormats() (all []archiveFormat) {
	gzipped := func(s string) string { return member(s, 6) }
	lz := func(s string) string { return lz4Frame(s) }
	for _, version := range []string{"WARC/0.17", "WARC/0.18", "WARC/1.0", "WARC/1.1"} {
		name := strings.ReplaceAll(version, "/", " ")
		all = append(all, archiveFormat{name, versionRecord(version), nil, nil},
			archiveFormat{name + " gzip", versionRecord(version), gzipped, nil})
	}
	warc := versionRecord("WARC/1.1")
	return append(all,
		archiveFormat{"WARC 1.1 zstd", warc, frame, nil},
		archiveFormat{"WARC 1.1 lz4", warc, lz, nil},
		archiveFormat{"ARC 1", arcVersionRecord(1), nil, nil},
		archiveFormat{"ARC 1 gzip", arcVersionRecord(1), gzipped, nil},
		archiveFormat{"ARC 2", arcVersionRecord(2), nil, nil},
		archiveFormat{"ARC 2 zstd", arcVersionRecord(2), frame, nil},
		archiveFormat{"WACZ", warc, gzipped, inZip(zip.Store)},
		archiveFormat{"WACZ deflated", warc, gzipped, inZip(zip.Deflate)},
	)
}

// damagedFile is an archive with damage in one place.
type damagedFile struct {
	file     string
	blocks   []string
	touched  []bool // of the records
	quoting  []bool // a record like those beside it
	fits     bool   // the damaged record's length ends where another record does
	mutation string
}

// damage makes records of a format and damages some bytes of them. Records of
// all sizes stand beside each other, among them pages that quote records.
func (f archiveFormat) damage(rng *rand.Rand) damagedFile {
	var d damagedFile
	var b strings.Builder
	var ends []int
	for i := range 8 + rng.IntN(16) {
		size := []int{0, 1, 60, 700, 5000}[rng.IntN(5)] + rng.IntN(40)
		block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>page %d of %d\n", i, size) + noise(rng, size)
		quotes := rng.IntN(12) == 0
		if quotes {
			block += "\n" + f.record(1000, "quoted") + "end"
		}
		record := f.record(i, block)
		if f.pack != nil {
			record = f.pack(record)
		}
		d.blocks, d.quoting = append(d.blocks, block), append(d.quoting, quotes)
		b.WriteString(record)
		ends = append(ends, b.Len())
	}
	file := b.String()
	at := rng.IntN(len(file))
	n := min(1+rng.IntN(40), len(file)-at)
	put := ""
	switch kind := rng.IntN(7); kind {
	case 0: // a byte is another
		n, put = 1, string([]byte{file[at] ^ byte(1+rng.IntN(255))})
	case 1: // bytes are lost
	case 2: // bytes come in
		n, put = 0, noise(rng, 1+rng.IntN(60))
	case 3: // garbage
		put = noise(rng, n)
	case 4: // zeros
		put = strings.Repeat("\x00", n)
	case 5: // an empty line comes in
		n, put = 0, "\r\n\r\n"
	case 6: // a record is cut off: its rest is lost
		i, _ := slices.BinarySearch(ends, at+1)
		n = ends[i] - at
	}
	d.mutation = fmt.Sprintf("%d bytes at %d of %d become %.60q", n, at, len(file), put)
	start := 0
	for i, end := range ends {
		if f.pack == nil && start <= at && at < end {
			blockEnd := start + strings.Index(file[start:end], d.blocks[i]) + len(d.blocks[i])
			d.fits = slices.ContainsFunc(ends[i+1:], func(e int) bool {
				e += len(put) - n
				return e-len("\r\n\r\n") <= blockEnd && blockEnd <= e
			})
		}
		// What comes in between two records touches neither.
		touched := at < end && at+n > start
		if n == 0 {
			touched = start < at && at < end
		}
		d.touched = append(d.touched, touched)
		start = end
	}
	d.file = file[:at] + put + file[at+n:]
	if f.whole != nil {
		d.file = f.whole(d.file)
	}
	return d
}

// lost returns the neighbours of the damage that are not read whole. It leaves
// out a page that quotes a record and stands before a record whose start is
// damaged: in a plain file nothing tells the quoted one from that. And it leaves
// out a record that is cut off in a plain file and whose length ends, by chance,
// where one of the next records does: it looks like a page that quotes them.
func (d damagedFile) lost(t *testing.T) (lost []int) {
	t.Helper()
	var f io.ReaderAt = strings.NewReader(d.file)
	if strings.HasPrefix(d.file, zipEntry) {
		m, err := waczMembers(t, d.file)[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		f = m
	}
	read := map[string]bool{}
	r, err := NewReader(f, Position{}, limits)
	for err != io.EOF {
		var raw *Raw
		if err == nil {
			raw, err = r.Next()
		}
		var damage *Damage
		if errors.As(err, &damage) {
			err = nil
		}
		if err != nil && err != io.EOF {
			t.Fatalf("%s: %v", d.mutation, err)
		}
		if raw != nil && !raw.Clipped {
			read[string(raw.Block)] = true
		}
	}
	for i, block := range d.blocks {
		explained := d.fits && i > 0 && slices.Contains(d.touched[:i], true) || d.quoting[i] && i+1 < len(d.blocks) && d.touched[i+1]
		if !d.touched[i] && !read[block] && !explained {
			lost = append(lost, i)
		}
	}
	return lost
}

// seeds are those from 0 on, and a few that once lost neighbours.
func seeds(n uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for seed := range n {
			if !yield(seed) {
				return
			}
		}
		for _, seed := range []uint64{774, 797, 1113} {
			if seed >= n && !yield(seed) {
				return
			}
		}
	}
}

func TestDamageCostsWhatItTouches(t *testing.T) {
	sequential(t)
	for _, f := range archiveFormats() {
		t.Run(f.name, func(t *testing.T) {
			bad := 0
			for seed := range seeds(uint64(*mutantRuns)) {
				d := f.damage(rand.New(rand.NewPCG(seed, 17)))
				if lost := d.lost(t); len(lost) > 0 {
					if bad++; bad <= 5 {
						t.Errorf("seed %d: %s\nof %d records, %v are lost, which it does not touch", seed, d.mutation, len(d.blocks), lost)
					}
				}
			}
			if bad > 0 {
				t.Errorf("%d of %d damaged files lost neighbours", bad, *mutantRuns)
			}
		})
	}
}
