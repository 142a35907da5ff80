package container

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// zipMember is a file to put into a zip file.
type zipMember struct {
	name, content string
	method        uint16
}

func zipFile(members ...zipMember) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		f, err := w.CreateHeader(&zip.FileHeader{Name: m.name, Method: m.method})
		if err == nil {
			_, err = io.WriteString(f, m.content)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func waczMembers(t *testing.T, file string) []Member {
	t.Helper()
	ms, err := Members(strings.NewReader(file), int64(len(file)), limits)
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

func TestMembersAreTheFilesOfTheArchiveFolder(t *testing.T) {
	file := zipFile(
		zipMember{"datapackage.json", "{}", zip.Deflate}, zipMember{"archive/", "", zip.Store}, zipMember{"archive/a.warc.gz", "a", zip.Store},
		zipMember{"archive/deep/b.warc", "b", zip.Deflate}, zipMember{"archive/../../c.warc", "c", zip.Store}, zipMember{"/archive/d.warc", "d", zip.Store},
		zipMember{`archive\e.warc`, "e", zip.Store}, zipMember{"archive/\x00f\n\xff.warc", "f", zip.Store}, zipMember{"archive/" + strings.Repeat("g", 5000), "g", zip.Store},
		zipMember{"archive/a.warc.gz", "h", zip.Store}, zipMember{"xarchive/i.warc", "i", zip.Store},
	)
	got := ""
	for _, m := range waczMembers(t, file) {
		f, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := readHead(f, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Name) > 255 || len(m.Path) > 1024 || strings.ContainsAny(m.Path, "\x00\n") || strings.ToValidUTF8(m.Path, "") != m.Path {
			t.Errorf("%q %q", m.Path, m.Name)
		}
		got += fmt.Sprintf("%d%.9s=%s ", m.Entry, m.Name, b)
	}
	if want := "2a.warc.gz=a 3b.warc=b 4c.warc=c 6e.warc=e 7f\uFFFD.warc=f 8ggggggggg=g 9a.warc.gz=h "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A member reads the same from anywhere, in any order, as the file it was.
func TestMembersReadAtAnyOffset(t *testing.T) {
	sequential(t)
	rng := rand.New(rand.NewPCG(9, 9))
	content := noise(rng, 3<<20)
	ms := waczMembers(t, zipFile(zipMember{"archive/a", content, zip.Store}, zipMember{"archive/b", content, zip.Deflate}))
	for _, m := range ms {
		f, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			at, size := rng.IntN(len(content)+10), rng.IntN(1+[]int{10, 100_000, 2 << 20}[rng.IntN(3)])
			b := make([]byte, size)
			n, err := f.ReadAt(b, int64(at))
			want := content[min(at, len(content)):min(at+size, len(content))]
			if string(b[:n]) != want || (err == nil) != (n == size) || err != nil && err != io.EOF {
				t.Fatalf("method %d: %d bytes at %d: %d, %v", m.file.Method, size, at, n, err)
			}
		}
	}
}

func TestReaderResumesInMembers(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	for range 20 {
		archive := randomArchive(rng, record, func(s string) string { return member(s, 6) })
		for _, m := range waczMembers(t, zipFile(zipMember{"archive/a", archive, zip.Store}, zipMember{"archive/b", archive, zip.Deflate})) {
			reader := func(_ io.ReaderAt, start Position, maxBlock int64) (*Reader, error) {
				f, err := m.Open()
				if err != nil {
					return nil, err
				}
				return openRecords(f, start, maxBlock)
			}
			checkReplayWith(t, reader, archive, 1<<20)
		}
	}
}

func TestDamagedMembersEndInDamage(t *testing.T) {
	var plain strings.Builder
	rng := rand.New(rand.NewPCG(11, 11))
	for range 50 {
		plain.WriteString(record(noise(rng, 3000)))
	}
	whole := zipFile(zipMember{"archive/a.warc", plain.String(), zip.Deflate})
	at := strings.Index(whole, "a.warc") + 6
	for name, change := range map[string]func([]byte){
		"corrupt":   func(b []byte) { copy(b[at+50_000:], bytes.Repeat([]byte{0xff}, 5000)) },
		"too short": func(b []byte) { b[bytes.LastIndex(b, []byte("PK\x01\x02"))+24] ^= 1 },
	} {
		b := []byte(whole)
		change(b)
		f, err := waczMembers(t, string(b))[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(f, Position{}, limits)
		if err != nil {
			t.Fatal(err)
		}
		records, damages := 0, 0
		var last Position
		for {
			raw, err := r.Next()
			var damage *Damage
			if err == io.EOF {
				break
			}
			if raw != nil {
				records++
			} else if errors.As(err, &damage) {
				damages++
			} else {
				t.Fatal(name, err)
			}
			last = r.Position()
		}
		if records == 0 || damages == 0 || damages > 2 {
			t.Errorf("%s: %d records, %d damages", name, records, damages)
		}
		if r, err = NewReader(f, last, limits); err != nil {
			t.Fatal(err)
		}
		if raw, err := r.Next(); err != io.EOF {
			t.Errorf("%s: behind the last damage: %v %v", name, raw, err)
		}
	}
}

func TestBombsEndInDamage(t *testing.T) {
	sequential(t)
	bomb := zipFile(zipMember{"archive/a.warc", record(strings.Repeat("x", 100<<20)), zip.Deflate})
	f, err := waczMembers(t, bomb)[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	r, err := openRecords(f, Position{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := r.Next(); err != nil || !raw.Clipped {
		t.Errorf("%v %v", raw, err)
	}
	if _, err := r.Next(); !errors.Is(err, errInflation) {
		t.Errorf("%v", err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("%v", err)
	}

	// Many entries that are the same bytes, and more entries than may be.
	one := zipFile(zipMember{"archive/a.warc", record("aaa"), zip.Store})
	at := strings.LastIndex(one, "PK\x01\x02")
	end := strings.LastIndex(one, "PK\x05\x06")
	entry := one[at:end]
	many := func(n int) string {
		b := []byte(one[:at] + strings.Repeat(entry, n) + one[end:])
		e := b[len(b)-22:]
		e[8], e[9], e[10], e[11] = byte(n), byte(n>>8), byte(n), byte(n>>8)
		size := n * len(entry)
		e[12], e[13], e[14], e[15] = byte(size), byte(size>>8), byte(size>>16), byte(size>>24)
		return string(b)
	}
	refused := 0
	for _, m := range waczMembers(t, many(3)) {
		if _, err := m.Open(); errors.Is(err, errOverlap) {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d of 3 refused", refused)
	}
	for n, want := range map[int]error{20_000: limits.membersError(), 400_000: errDirectory} {
		file := many(n)
		if _, err := Members(strings.NewReader(file), int64(len(file)), limits); err == nil || err.Error() != want.Error() {
			t.Errorf("%d: %v", n, err)
		}
	}
	announced := "PK\x06\x06" + strings.Repeat("\x00", 28) + strings.Repeat("\xff", 4) + strings.Repeat("\x00", 20) +
		"PK\x06\x07" + strings.Repeat("\x00", 16) + one[end:]
	if err := checkAnnounced(strings.NewReader(announced), int64(len(announced))); !errors.Is(err, errDirectory) {
		t.Errorf("%v", err)
	}
}

func FuzzWACZ(f *testing.F) {
	a, b := record("aaa"), record("bbb")
	for _, s := range []string{
		zipFile(zipMember{"archive/a.warc.gz", members(a, b), zip.Store}, zipMember{"archive/b.warc", a + b, zip.Deflate}),
		zipFile(), zipFile(zipMember{"archive/a", a, zip.Deflate})[:60], zipFile(zipMember{"archive/../x", a, zip.Store}),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 1<<14 {
			return
		}
		ms, err := Members(bytes.NewReader(file), int64(len(file)), limits)
		if err != nil {
			return
		}
		for _, m := range ms {
			f, err := m.Open()
			if err != nil {
				continue
			}
			r, err := openRecords(f, Position{}, 1000)
			if err != nil {
				continue
			}
			for n := 0; ; n++ {
				_, err := r.Next()
				var damage *Damage
				if err == io.EOF {
					break
				}
				if err != nil && !errors.As(err, &damage) {
					t.Fatal(err)
				}
				if n > 1<<22 {
					t.Fatal("no end")
				}
			}
		}
	})
}
