package container

import (
	"archive/zip"
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// What a record is allowed grows with the bytes of the file before it, whatever the
// compression, and is the same from wherever reading begins.
func TestAllowance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var records []string
	for i := range 24 {
		records = append(records, record(noise(rng, 100_000)+strings.Repeat("x", 50_000*(i%4))))
	}
	all := strings.Join(records, "")
	for name, file := range map[string]string{
		"plain": all, "gzip by record": members(records...), "gzip": members(all), "zstd": frames(all), "zstd by record": frames(records...), "lz4": lz4Frames(all),
	} {
		events := checkReplay(t, file, 1<<20)
		before := limits.MaxDecodedBytes - 1
		for i, e := range events {
			inflated := int64(len(e.raw.Header) + len(e.raw.Block))
			if name == "plain" {
				inflated = 0
			}
			if e.raw.Inflated != inflated || e.raw.Allowed < before {
				t.Errorf("%s, record %d: inflated to %d, want %d; allowed %d, before it %d", name, i, e.raw.Inflated, inflated, e.raw.Allowed, before)
			}
			before = e.raw.Allowed
		}
		// Decompression is known each MiB, and reading is ahead of it by a little.
		least, most := limits.MaxDecodedBytes+(int64(len(file))-3<<20/2)*limits.MaxInflation, limits.MaxDecodedBytes+int64(len(file))*limits.MaxInflation
		if len(events) != len(records) || before < least || before > most {
			t.Errorf("%s: %d records, and the last is allowed %d, want %d to %d", name, len(events), before, least, most)
		}
	}
}

// Archives in a WACZ file share what a file is allowed, and a deflated one has what its
// deflated bytes allow.
func TestAllowanceInAWACZFile(t *testing.T) {
	long := record(strings.Repeat("x", 500_000))
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	for name, method := range map[string]uint16{"archive/stored.warc": zip.Store, "archive/deflated.warc": zip.Deflate} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(long)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	parts, err := Members(bytes.NewReader(file.Bytes()), int64(file.Len()), limits)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range parts {
		f, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(f, Position{}, limits)
		if err != nil {
			t.Fatal(err)
		}
		r.IsPart(m.Part(len(parts)))
		raw, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		stored := int64(m.file.CompressedSize64)
		least, most := limits.MaxDecodedBytes/2+(stored-8)*limits.MaxInflation, limits.MaxDecodedBytes/2+stored*limits.MaxInflation
		if raw.Allowed < least || raw.Allowed > most {
			t.Errorf("%s: allowed %d, want %d to %d", m.Path, raw.Allowed, least, most)
		}
	}
}
