package container

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// entryField is the place of a number in the directory's only entry.
const (
	entryCRC        = 16
	entryCompressed = 20
	entrySize       = 24
)

// changed is the zip file with another number in its directory's entry.
func changed(file string, field int, to func(uint32) uint32) string {
	b := []byte(file)
	at := bytes.LastIndex(b, []byte("PK\x01\x02")) + field
	binary.LittleEndian.PutUint32(b[at:], to(binary.LittleEndian.Uint32(b[at:])))
	return string(b)
}

// memberEvents reads the only member of a zip file from a place on.
func memberEvents(t *testing.T, file string, from Position) []event {
	t.Helper()
	f, err := waczMembers(t, file)[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(f, from, limits)
	if err != nil {
		t.Fatal(err)
	}
	var out []event
	for {
		raw, err := r.Next()
		e := event{raw: raw, position: r.Position()}
		if err == io.EOF {
			return out
		}
		if err != nil && !errors.As(err, &e.damage) {
			t.Fatal(err)
		}
		out = append(out, e)
	}
}

// What a zip file's directory says of a member is checked when all of the
// member is read: what was read stays, and the lie is one damaged place, also
// for a reader that starts in the middle.
func TestDirectoriesThatLie(t *testing.T) {
	sequential(t)
	rng := rand.New(rand.NewPCG(13, 13))
	blocks := []string{noise(rng, 3000), noise(rng, 300_000), noise(rng, 700_000), noise(rng, 10)}
	var records []string
	for _, b := range blocks {
		records = append(records, record(b))
	}
	flip := func(n uint32) uint32 { return n ^ 1 }
	unset := func(uint32) uint32 { return 0 }
	fewer := func(n uint32) uint32 { return n - uint32(len(records[3])) }
	more := func(n uint32) uint32 { return n + 1_000_000 }
	for _, x := range []struct {
		name   string
		method uint16
		field  int
		to     func(uint32) uint32
		lost   int // records
		damage string
	}{
		{"stored, checksum", zip.Store, entryCRC, flip, 0, "checksum is wrong"},
		{"stored, no checksum", zip.Store, entryCRC, unset, 0, ""},
		{"stored, size too large", zip.Store, entryCompressed, more, 0, "and should have"},
		{"stored, size too small", zip.Store, entryCompressed, fewer, 1, "checksum is wrong"},
		{"stored, another size when inflated", zip.Store, entrySize, more, 0, ""},
		{"deflated, checksum", zip.Deflate, entryCRC, flip, 0, "checksum is wrong"},
		{"deflated, no checksum", zip.Deflate, entryCRC, unset, 0, ""},
		{"deflated, size too large", zip.Deflate, entrySize, more, 0, "and should have"},
		{"deflated, size too small", zip.Deflate, entrySize, fewer, 0, "and should have"},
		{"deflated, compressed size too large", zip.Deflate, entryCompressed, more, 0, ""},
	} {
		for layout, content := range map[string]string{"plain": strings.Join(records, ""), "gzip": members(records...)} {
			if x.name == "stored, size too small" && layout == "gzip" {
				continue // which record it cuts is another matter
			}
			file := changed(zipFile(zipMember{"archive/a.warc", content, x.method}), x.field, x.to)
			events := memberEvents(t, file, Position{})
			var got []string
			damage := ""
			for _, e := range events {
				if e.damage != nil {
					damage += e.damage.Error()
				} else {
					got = append(got, e.summary())
				}
			}
			if !slices.Equal(got, blocks[:len(blocks)-x.lost]) || !strings.Contains(damage, x.damage) || (damage == "") != (x.damage == "") {
				t.Errorf("%s, %s: %d records, damage %q", x.name, layout, len(got), damage)
			}
			for i, e := range events {
				same := func(a, b event) bool { return a.String() == b.String() }
				if rest := memberEvents(t, file, e.position); !slices.EqualFunc(rest, events[i+1:], same) {
					t.Errorf("%s, %s: from %+v on there are %d events, not %d", x.name, layout, e.position, len(rest), len(events)-i-1)
				}
			}
		}
	}
}
