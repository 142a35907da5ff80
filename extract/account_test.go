package extract

import (
	"bytes"
	"testing"

	"github.com/andybalholm/brotli"

	"neardup/extract/container"
)

// Records are taken while there is room. One that has none takes what is left, so that
// those after it have what their own bytes allow.
func TestAccount(t *testing.T) {
	a := NewAccount(100)
	for i, x := range []struct {
		inflated, decoded, allowed int64
		reason, want               Reason
		spent, room                int64
	}{
		{10, 90, 1000, ReasonNone, ReasonNone, 200, 900},
		{0, 0, 100, ReasonNone, ReasonNone, 200, 1}, // nothing was decoded: it needs no room
		{0, 300, 500, ReasonEncoding, ReasonEncoding, 500, 300},
		{0, 501, 1000, ReasonNone, ReasonInflated, 1000, 500},
		{0, 50, 1050, ReasonNone, ReasonNone, 1050, 50}, // its neighbour is read
		{51, 0, 1100, ReasonStatus, ReasonInflated, 1100, 50},
		{0, 900, 1100, ReasonEndedRun, ReasonEndedRun, 1100, 1},
	} {
		raw := &container.Raw{Inflated: x.inflated, Decoded: x.decoded, Allowed: x.allowed}
		room := a.Room(raw)
		if got := a.Take(raw, x.reason); got != x.want || a.Spent() != x.spent || room != x.room {
			t.Errorf("record %d: %q, spent %d, room %d; want %q, %d, %d", i, got, a.Spent(), room, x.want, x.spent, x.room)
		}
	}
}

// A page is decoded no further than it has room for, and what it was decoded to is
// counted for each layer.
func TestRoom(t *testing.T) {
	page := bytes.Repeat([]byte("<p>Kites fly. "), 10_000)
	layer := func(b []byte) []byte {
		var out bytes.Buffer
		w := brotli.NewWriter(&out)
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	one := layer(page)
	two := layer(one)
	full := int64(len(page) + len(one))
	for _, x := range []struct {
		inflated, room int64
		want           Reason
	}{
		{0, 0, ReasonNone}, {0, full, ReasonNone}, {0, full - 1, ReasonInflated}, {0, 1, ReasonInflated}, {1, full, ReasonInflated}, {1, full + 1, ReasonNone},
		{5, 4, ReasonInflated},
	} {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br, br\r\n\r\n" + string(two)
		raw := &container.Raw{Format: container.FormatRecords, Block: []byte(block), Length: int64(len(block)), Inflated: x.inflated, Room: x.room,
			Header: []byte("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\nWARC-Record-ID: <urn:a>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n\r\n")}
		_, got := NewExtractor(options).Document(raw)
		if got != x.want || got == ReasonNone && raw.Decoded != full || raw.Decoded > full {
			t.Errorf("inflated %d, room %d: %q and decoded to %d, want %q, %d", x.inflated, x.room, got, raw.Decoded, x.want, full)
		}
	}
}
