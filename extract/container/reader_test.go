package container

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// event is what Next returned, and what the reader said of its place after it.
type event struct {
	raw      *Raw
	damage   *Damage
	position Position
	consumed int64
}

// String is what must be the same when the event is read again.
func (e event) String() string {
	if e.damage != nil {
		return "damage " + e.damage.Error()
	}
	return fmt.Sprintf("record at %d: %q %q %d %d %v %d %d", e.raw.Offset, e.raw.Header, e.raw.Block, e.raw.Length, e.raw.Size, e.raw.Clipped, e.raw.Inflated, e.raw.Allowed)
}

// summary is the event for tables: the block, + where it is clipped, or !.
func (e event) summary() string {
	switch {
	case e.damage != nil:
		return "!"
	case e.raw.Clipped:
		return string(e.raw.Block) + "+"
	}
	return string(e.raw.Block)
}

// readFrom reads all events of file from a position on, and checks that the
// reader comes to an end and where it says that it is.
func readFrom(t *testing.T, file string, from Position, maxBlock int64) []event {
	t.Helper()
	return readWith(t, openRecords, file, from, maxBlock)
}

// open makes a reader of a file.
type open func(f io.ReaderAt, start Position, maxBlock int64) (*Reader, error)

func openRecords(f io.ReaderAt, start Position, maxBlock int64) (*Reader, error) {
	return NewReader(f, start, limitsOf(maxBlock, 1<<20))
}

func readWith(t *testing.T, reader open, file string, from Position, maxBlock int64) []event {
	t.Helper()
	size := int64(len(file))
	r, err := reader(strings.NewReader(file), from, maxBlock)
	if err != nil {
		t.Fatal(err)
	}
	var events []event
	last := event{position: r.Position(), consumed: r.Consumed()}
	for {
		raw, err := r.Next()
		e := event{raw: raw, position: r.Position(), consumed: r.Consumed()}
		if e.position.Offset < last.position.Offset || e.position.Offset > size || e.consumed > size || e.consumed < last.consumed || e.consumed < e.position.Offset ||
			e.position.Offset == last.position.Offset && e.position.Skip < last.position.Skip {
			t.Fatalf("of %d bytes: at %+v, %d read, after %+v, %d read", size, e.position, e.consumed, last.position, last.consumed)
		}
		if err == io.EOF {
			if raw != nil || e.consumed != size || e.position != (Position{Offset: size}) {
				t.Fatalf("of %d bytes: at the end %+v, %d read", size, e.position, e.consumed)
			}
			if _, err := r.Next(); err != io.EOF {
				t.Fatalf("after the end: %v", err)
			}
			return events
		}
		at := int64(-1)
		if errors.As(err, &e.damage) {
			at = e.damage.Offset
		} else if err != nil {
			t.Fatal(err)
		} else {
			at = raw.Offset
			if int64(len(raw.Block)) > min(maxBlock, raw.Length) || !raw.Clipped && int64(len(raw.Block)) < raw.Length {
				t.Fatalf("%v: wrongly clipped", e)
			}
		}
		if at < from.Offset || at > size {
			t.Fatalf("of %d bytes: %v", size, e)
		}
		events = append(events, e)
		last = e
		if len(events) > 2000*len(file)+10 { // deflate gives at most 1032 times its input
			t.Fatalf("%d events in %d bytes", len(events), size)
		}
	}
}

// checkReplay reads the file again from the place after each event (of some,
// if there are many).
func checkReplay(t *testing.T, file string, maxBlock int64) []event {
	t.Helper()
	return checkReplayWith(t, openRecords, file, maxBlock)
}

func checkReplayWith(t *testing.T, reader open, file string, maxBlock int64) []event {
	t.Helper()
	events := readWith(t, reader, file, Position{}, maxBlock)
	for i := 0; i < len(events); i += 1 + len(events)/40 {
		rest := readWith(t, reader, file, events[i].position, maxBlock)
		same := func(a, b event) bool { return a.String() == b.String() && a.position == b.position }
		if !slices.EqualFunc(rest, events[i+1:], same) {
			t.Fatalf("event %d is %.200v\nafter it, from %+v,\ngot  %.1000v\nwant %.1000v",
				i, events[i], events[i].position, rest, events[i+1:])
		}
	}
	return events
}

func summaries(events []event) []string {
	out := []string{}
	for _, e := range events {
		out = append(out, e.summary())
	}
	return out
}

func TestReaderFramesRecords(t *testing.T) {
	a, b, c := record("aaa"), record("bbb"), record("ccc")
	bare := strings.ReplaceAll(a, "\r\n", "\n")
	noGap := strings.TrimRight(a, "\r\n")
	corrupt := func(s string, at int) string {
		x := []byte(s)
		x[at] ^= 0xff
		return string(x)
	}
	long := strings.Repeat("X-Field: x\r\n", limits.MaxHeaderBytes/12) + "X-Field: x"
	lengthOf := func(value string) string { return warcRecord("bbb", "WARC-Type: resource", "Content-Length: "+value) }
	half := func(s string) string { return s[:len(s)/2] }

	for _, x := range []struct {
		name, file, want string // events between spaces
	}{
		{"empty", "", ""},
		{"line ends alone", "\r\n\r\n\n", ""},
		{"plain", a + b + c, "aaa bbb ccc"},
		{"gzip a record", members(a, b, c), "aaa bbb ccc"},
		{"gzip as a whole", members(a + b + c), "aaa bbb ccc"},
		{"several records a member", members(a+b, c, b+c), "aaa bbb ccc bbb ccc"},
		{"stored members", member(a, 0) + member(b, 0), "aaa bbb"},
		{"record in several members", members(a[:10], a[10:len(a)-5], a[len(a)-5:]+b, c), "aaa bbb ccc"},
		{"record in several members after another", members(c+a[:len(a)-6], a[len(a)-6:]+b), "ccc aaa bbb"},
		{"line ends in their own member", members(noGap, "\r\n\r\n", noGap, "\r\n\r\n"+b, c), "aaa aaa bbb ccc"},
		{"empty members", members("", a, "", "", b, ""), "aaa bbb"},
		{"empty block", record("") + a, " aaa"},

		{"bare line ends", bare + bare, "aaa aaa"},
		{"header line bare, empty line not", strings.Replace(a, "resource\r\n", "resource\n", 1) + b, "aaa bbb"},
		{"last header line bare", strings.Replace(a, "3\r\n\r\n", "3\n\r\n", 1) + b, "aaa bbb"},
		{"line ends doubled", strings.Replace(a, "\r\n", "\r\r\n", 3) + b, "aaa bbb"},
		{"no blank line between", noGap + noGap + b, "aaa aaa bbb"},
		{"no blank line between, gzip", members(noGap, noGap+b), "aaa aaa bbb"},
		{"extra blank lines", "\r\n\n" + a + "\r\n\r\n" + b + "\n\n\n", "aaa bbb"},
		{"extra blank lines, gzip", members("\r\n\n"+a+"\r\n", "\r\n"+b), "aaa bbb"},
		{"version in lower case", strings.ToLower(a) + b, "aaa bbb"},
		{"another version", strings.Replace(a, "1.0", "0.18", 1) + b, "aaa bbb"},

		{"Content-Length garbage", a + lengthOf("three") + c, "aaa ! ccc"},
		{"Content-Length negative", a + lengthOf("-3") + c, "aaa ! ccc"},
		{"Content-Length empty", a + lengthOf("") + c, "aaa ! ccc"},
		{"Content-Length over 63 bits", a + lengthOf("99999999999999999999") + c, "aaa ! ccc"},
		{"Content-Length missing", a + "WARC/1.0\r\nWARC-Type: resource\r\n\r\nbbb\r\n\r\n" + c, "aaa ! ccc"},
		{"Content-Length missing, gzip", members(a, "WARC/1.0\r\nWARC-Type: resource\r\n\r\nbbb\r\n\r\n", c), "aaa ! ccc"},
		{"Content-Length in lower case, spaced", warcRecord("aaa", "content-length :  3 ") + b, "aaa bbb"},
		{"Content-Length folded", warcRecord("aaa", "WARC-Type: resource", "Content-Length:\r\n 3") + b, "aaa bbb"},
		{"Content-Length quoted in a folded line", warcRecord("aaa", "X: y\r\n Content-Length: 99", "WARC-Type: resource") + b, "aaa bbb"},
		{"Content-Length too small", a + lengthOf("1") + c, "aaa b+ ! ccc"},
		{"Content-Length too large, gzip", members(a, lengthOf("999999"), c), "aaa bbb\r\n\r\n+ ccc"},
		{"Content-Length too large at the end", a + lengthOf("9223372036854775807"), "aaa bbb\r\n\r\n+ !"},

		{"header over 64 KiB", a + warcRecord("bbb", long) + c, "aaa ! ccc"},
		{"header over 64 KiB, gzip", members(a, warcRecord("bbb", long), c), "aaa ! ccc"},
		{"version alone", "WARC/\n", "!"},
		{"start of a mark", "WAR", "!"},
		{"header without end", a + "WARC/1.0\r\nWARC-Type: res", "aaa !"},
		{"garbage", "this is no archive", "!"},
		{"garbage before", "garbage\r\n" + a + b, "! aaa bbb"},
		{"garbage between", a + "garbage WARC/ 1\r\n" + b, "aaa ! bbb"},
		{"garbage between that looks like gzip", a + "\x1f\x8b\x08 garbage\r\n" + b, "aaa ! bbb"},
		{"garbage after", a + "garbage", "aaa !"},
		{"clipped", a + b[:len(b)-5], "aaa bb+ !"},
		{"clipped at the header's end", a + b[:len(b)-7], "aaa + !"},
		{"clipped line ends", a + b[:len(b)-3], "aaa bbb"},

		{"gzip, garbage before", "garbage" + members(a, b), "! aaa bbb"},
		{"gzip, first magic number broken", "\x00\x00" + members(a)[2:] + members(b), "! bbb"},
		{"gzip, garbage between", members(a) + "garbage" + members(b), "aaa ! bbb"},
		{"gzip, text between", members(a) + b + members(c), "aaa ! ccc"},
		{"gzip, a lone magic number between", members(a) + "\x1f\x8b\x08" + members(b), "aaa ! bbb"},
		{"gzip, zeros between and after", members(a) + "\x00\x00\x00" + members(b) + "\x00\x00", "aaa bbb"},
		{"gzip, garbage after", members(a) + "garbage", "aaa !"},
		{"gzip, one byte after", members(a) + "\x1f", "aaa !"},
		{"gzip, garbage inside", members(a, "garbage"+b, "garbage", c), "aaa ! bbb ! ccc"},
		{"gzip, checksum wrong", members(a) + corrupt(members(b), len(members(b))-6) + members(c), "aaa bbb ! ccc"},
		{"gzip, method wrong", members(a) + corrupt(members(b), 2) + members(c), "aaa ! ccc"},
		{"gzip, clipped in its header", members(a) + members(b)[:7], "aaa !"},
		{"gzip, clipped in its extra field", members(a) + "\x1f\x8b\x08\x04000000\x00\x00", "aaa !"},
		{"gzip, clipped before the record's end", members(a, strings.Repeat("x", 1000))[:len(members(a))+12], "aaa !"},
		{"gzip, clipped in the middle and gone on", half(members(a)) + members(b, c), "! bbb ccc"},
	} {
		t.Run(x.name, func(t *testing.T) {
			events := checkReplay(t, x.file, 1<<20)
			got := strings.Join(summaries(events), " ")
			if got != x.want {
				t.Errorf("got  %q\nwant %q\n%.300v", got, x.want, events)
			}
		})
	}
}

func TestReaderGivesOffsetsOfRecordsAndDamage(t *testing.T) {
	a, b := record("aaa"), record("bbb")
	ma := members(a)
	for _, x := range []struct {
		name, file string
		want       []int64
	}{
		{"plain", a + b, []int64{0, int64(len(a))}},
		{"plain, blank lines", a + "\n\n\n" + b, []int64{0, int64(len(a)) + 3}},
		{"gzip a record", ma + members(b), []int64{0, int64(len(ma))}},
		{"gzip as a whole", members(a + b), []int64{0, 0}},
		{"plain, garbage", a + "garbage\n" + b, []int64{0, int64(len(a)), int64(len(a)) + 8}},
		{"gzip, garbage", ma + "garbage" + members(b), []int64{0, int64(len(ma)), int64(len(ma)) + 7}},
		{"gzip, zeros", ma + "\x00\x00\x00\x00" + members(b), []int64{0, int64(len(ma)) + 4}},
	} {
		var got []int64
		for _, e := range readFrom(t, x.file, Position{}, 1<<20) {
			if e.damage != nil {
				got = append(got, e.damage.Offset)
			} else {
				got = append(got, e.raw.Offset)
			}
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: got %v, want %v", x.name, got, x.want)
		}
	}
}

func TestReaderHandsOutWhatIsLeftOfAClippedGzipRecord(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	block := noise(rng, 50_000)
	for name, file := range map[string]string{
		"a record": members(record("aaa"), record(block)),
		"whole":    members(record("aaa") + record(block)),
	} {
		events := checkReplay(t, file[:len(file)-20_000], 1<<20)
		if len(events) != 3 || events[0].summary() != "aaa" || events[2].damage == nil {
			t.Fatalf("%s: got %.300v", name, events)
		}
		left := events[1].raw
		if !left.Clipped || left.Length != int64(len(block)) || len(left.Block) < 10_000 || !strings.HasPrefix(block, string(left.Block)) {
			t.Errorf("%s: got %d bytes of %d, clipped %v", name, len(left.Block), left.Length, left.Clipped)
		}
	}
}

// A corrupt byte costs the record that it is in, and one Damage, wherever in
// the member it is: a decoder that loses its place runs into the next members.
func TestReaderLosesOnlyTheRecordWithTheCorruptByte(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, level := range []int{0, 1, 9} {
		var parts []string
		for i := range 7 {
			parts = append(parts, member(record(fmt.Sprintf("<%d>%s", i, noise(rng, 300))), level))
		}
		undamaged := summaries(readFrom(t, strings.Join(parts, ""), Position{}, 1<<20))
		before := len(strings.Join(parts[:3], ""))
		for at := range parts[3] {
			if at >= 3 && at < 10 { // gzip's flags, time and system
				continue
			}
			file := []byte(strings.Join(parts, ""))
			file[before+at] ^= 1 << rng.IntN(8)
			events := readFrom(t, string(file), Position{}, 1<<20)
			if at%16 == 0 {
				checkReplay(t, string(file), 1<<20)
			}
			if slices.Equal(summaries(events), undamaged) {
				continue // a bit of padding
			}
			damages := 0
			for _, e := range events {
				if e.damage != nil {
					damages++
					if e.damage.Offset < int64(before) || e.damage.Offset > int64(before+len(parts[3]))+(&gzipCodec{}).lookBack() {
						t.Fatalf("level %d, byte %d: %v", level, at, e)
					}
				}
			}
			for _, i := range []int{0, 1, 2, 4, 5, 6} {
				whole := func(e event) bool { return strings.HasPrefix(e.summary(), fmt.Sprintf("<%d>", i)) && !e.raw.Clipped }
				if !slices.ContainsFunc(events, whole) {
					t.Fatalf("level %d, byte %d: record %d is lost: %.1000v", level, at, i, events)
				}
			}
			if damages != 1 {
				t.Fatalf("level %d, byte %d: %d damages in %.1000v", level, at, damages, events)
			}
		}
	}
}

func TestReaderClipsBlocksOverTheLimitAndKeepsTheNextRecord(t *testing.T) {
	long := strings.Repeat("0123456789", 100_000)
	for name, file := range map[string]string{
		"plain": record(long) + record("bbb"),
		"gzip":  members(record(long), record("bbb")),
		"whole": members(record(long) + record("bbb")),
	} {
		events := checkReplay(t, file, 15)
		if got := strings.Join(summaries(events), " "); got != "012345678901234+ bbb" || events[0].raw.Length != int64(len(long)) {
			t.Errorf("%s: got %q, length %d", name, got, events[0].raw.Length)
		}
	}
}

// oneByte is a file that gives one byte at a time.
type oneByte string

func (f oneByte) ReadAt(p []byte, offset int64) (int, error) {
	if offset >= int64(len(f)) {
		return 0, io.EOF
	}
	return copy(p[:1], f[offset:]), nil
}

// What a header is must not depend on how the file comes in.
func TestReaderSeesTheSameInReadsOfAnySize(t *testing.T) {
	nearly := warcRecord("aaa", strings.Repeat("X-Field: x\r\n", limits.MaxHeaderBytes/12-20)+"X-Field: x")
	over := warcRecord("bbb", strings.Repeat("X-Field: x\r\n", limits.MaxHeaderBytes/12)+"X-Field: x")
	for _, file := range []string{nearly + over + record("ccc"), members(nearly + over + record("ccc")), members(nearly, over, record("ccc"))} {
		want := readFrom(t, file, Position{}, 1<<20)
		r, err := NewReader(oneByte(file), Position{}, limits)
		if err != nil {
			t.Fatal(err)
		}
		var got []event
		for {
			var e event
			raw, err := r.Next()
			if err == io.EOF {
				break
			}
			errors.As(err, &e.damage)
			e.raw = raw
			got = append(got, e)
		}
		same := func(a, b event) bool { return a.String() == b.String() }
		if strings.Join(summaries(got), " ") != "aaa ! ccc" || !slices.EqualFunc(got, want, same) {
			t.Errorf("got %.300v\nwant %.300v", got, want)
		}
	}
}

// failing is a file that cannot be read from byte at on.
type failing struct {
	file string
	at   int64
}

func (f failing) ReadAt(p []byte, offset int64) (int, error) {
	n := copy(p, f.file[min(offset, f.at):f.at])
	if n < len(p) {
		return n, os.ErrPermission
	}
	return n, nil
}

// A record that the disk did not give whole is no clipped record: the reader
// stops before it, so that another run can read it.
func TestReaderStopsAtAnErrorOfTheFile(t *testing.T) {
	a, b := record("aaa"), record(strings.Repeat("b", 500))
	for name, file := range map[string]string{"plain": a + b + a, "gzip": members(a, b, a), "whole": members(a + b + a)} {
		want := readFrom(t, file, Position{}, 1<<20)
		for at := range file {
			r, err := NewReader(failing{file, int64(at)}, Position{}, limits)
			n := 0
			for err == nil {
				var raw *Raw
				raw, err = r.Next()
				if err != nil {
					break
				}
				if got := (event{raw: raw}); got.String() != want[n].String() {
					t.Fatalf("%s, byte %d: got %v, want %v", name, at, got, want[n])
				}
				n++
			}
			if !errors.Is(err, os.ErrPermission) {
				t.Fatalf("%s, byte %d: %v", name, at, err)
			}
			if r == nil {
				continue
			}
			rest := readFrom(t, file, r.Position(), 1<<20)
			same := func(a, b event) bool { return a.String() == b.String() }
			if !slices.EqualFunc(rest, want[n:], same) {
				t.Fatalf("%s, byte %d: after %d events, from %+v, got %v", name, at, n, r.Position(), rest)
			}
		}
	}
}

func TestURIOfARecord(t *testing.T) {
	for header, want := range map[string]string{
		"WARC/1.0\r\nwarc-target-uri: <http://x.org/>\r\n":       "http://x.org/",
		"WARC/1.0\r\nWARC-Target-URI:\thttp://x.org/?q=<b> \r\n": "http://x.org/?q=<b>",
		"WARC/1.0\r\nWARC-Target-URI: <>\r\n":                    "",
		"http://x.org/ 192.0.2.1 20080430204825 text/html 1\n":   "http://x.org/",
		"WARC/1.0\r\n": "",
	} {
		if got := string((&Raw{Header: []byte(header)}).URI()); got != want {
			t.Errorf("%q: %q", header, got)
		}
	}
}
