package container

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// In a plain file a wrong length costs the record that has it, and no other.
func TestReaderFindsTheRecordBehindAWrongLength(t *testing.T) {
	a, c := record("aaa"), record("ccc")
	long := func(block, n string) string { return warcRecord(block, "WARC-Type: resource", "Content-Length: "+n) }
	arcLong := func(block, n string) string {
		return "http://x/ 1.2.3.4 20080430204825 text/html " + n + "\n" + block + "\n"
	}
	quoting := "see:\r\n" + a + "end"
	filler := strings.Repeat("some text\n", 20_000)
	headedBlock := "ccc\r\n\r\nddd" // as of a page with an HTTP header
	headed := record(headedBlock)
	for _, x := range []struct{ name, file, want string }{
		{"too large, into the next record", a + long("bbb", "30") + c, "aaa bbb\r\n\r\n+ ccc"},
		{"too large, over the next record", a + long("bbb", "100") + c + a + a, "aaa bbb\r\n\r\n+ ccc aaa aaa"},
		{"too large, over the file", a + long("bbb", "99999999999") + c + a, "aaa bbb\r\n\r\n+ ccc aaa"},
		{"too large, each", long("a", "999") + long("b", "999") + long("c", "999"), "a\r\n\r\n+ b\r\n\r\n+ c\r\n\r\n+ !"},
		{"too large by more than is read at a time", a + long("bbb", "250000") + filler + c + filler + a, "aaa bbb\r\n\r\n" + filler + "+ ccc ! aaa"},
		{"too large, and the block is a record's", long(a, "9999") + c, "+ aaa ccc"},
		{"too small", a + long("bbbb", "2") + c, "aaa bb+ ! ccc"},
		{"too small, at a line end", a + long("bb\r\nbb", "2") + c, "aaa bb ! ccc"},
		{"too small, into a quoted record", a + long(quoting+"bbb", "40") + c, "aaa see:\r\n+ aaa ! ccc"},
		{"too large, ARC", arcRecord("aaa") + arcLong("bbb", "60") + arcRecord("ccc") + arcRecord("ddd"), "aaa bbb\n+ ccc ddd"},
		{"too small, ARC", arcRecord("aaa") + arcLong("bbb", "2") + arcRecord("ccc"), "aaa bb+ ! ccc"},

		{"right, quoting a record", a + record(quoting) + c, "aaa " + quoting + " ccc"},
		{"right, quoting a record, no line ends behind", a + strings.TrimRight(record(quoting), "\r\n") + c, "aaa " + quoting + " ccc"},
		{"right, quoting a record, garbage behind", a + record(quoting) + "garbage" + c, "aaa " + quoting + " ! ccc"},
		{"right, quoting a record, at the end", a + record(quoting), "aaa " + quoting},
		{"right, quoting a record, half a record behind", a + record(quoting) + a[:9], "aaa " + quoting + " !"},
		{"right, quoting a record, line ends behind", a + record(quoting) + strings.Repeat("\n", 5000) + c, "aaa " + quoting + " ccc"},
		{"right, an ARC line longer than usual behind", a + arcRecordOf("http://"+strings.Repeat("x", 2000), "bbb"), "aaa bbb"},

		{"over, and what is quoted has no type", a + long("WARC/1.0\r\nContent-Length: 3\r\n\r\nbbb", "999"), "aaa WARC/1.0\r\nContent-Length: 3\r\n\r\nbbb\r\n\r\n+ !"},
		{"over, and what is quoted has no length", a + long("WARC/1.0\r\nWARC-Type: resource\r\n\r\nbbb", "999"), "aaa WARC/1.0\r\nWARC-Type: resource\r\n\r\nbbb\r\n\r\n+ !"},
		{"over, and what is quoted has no known type", a + long("WARC/1.0\nWARC-Type: x\nContent-Length: 3\n\nbbb", "999"), "aaa WARC/1.0\nWARC-Type: x\nContent-Length: 3\n\nbbb\r\n\r\n+ !"},
		{"over, and a record is behind half a line", a + long("> "+a, "999"), "aaa > + aaa"},
		{"cut off, and its length ends at an empty line of the next", a + strings.TrimRight(long("bbb", fmt.Sprint(3+len(headed)-len(headedBlock)-4+len("ccc"))), "\r\n") + headed + a, "aaa bbb+ " + headedBlock + " aaa"},
		{"over, and what is quoted has a header too long", a + long("WARC/1.0\r\nWARC-Type: resource\r\nX: "+filler+"\r\nContent-Length: 1\r\n\r\n", "999999") + c, "aaa WARC/1.0\r\nWARC-Type: resource\r\nX: " + filler + "\r\nContent-Length: 1\r\n\r\n\r\n\r\n+ ccc"},
	} {
		t.Run(x.name, func(t *testing.T) {
			events := checkReplay(t, x.file, 1<<20)
			if got := strings.Join(summaries(events), " "); got != x.want {
				t.Errorf("got  %.600q\nwant %.600q", got, x.want)
			}
		})
	}
}

// A disk that fails where a block should end says nothing about its length.
func TestReaderTrustsALengthThatItCannotCheck(t *testing.T) {
	block := strings.Repeat("a", 5000)
	a := record(block)
	file := a + record("bbb")
	r, err := NewReader(failing{file, int64(len(a) - len("\r\n\r\n"))}, Position{}, limits)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.Next()
	if err != nil || string(raw.Block) != block || raw.Clipped {
		t.Fatalf("%v %v", raw, err)
	}
	if _, err := r.Next(); err == nil || err == io.EOF || errors.As(err, new(*Damage)) {
		t.Errorf("%v", err)
	}
}
