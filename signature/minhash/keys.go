package minhash

import "neardup/signature/internal/hash"

// AppendKeys appends the l band keys of a signature to dst. A document without
// a signature has none. A key hashes k components and the number of their band,
// so that keys of different bands differ, and one index serves all bands. Two
// documents that differ in a band share its key with a probability of about
// 2^-64.
func (c LSH) AppendKeys(dst []uint64, signature []uint32) []uint64 {
	for band := 0; len(signature) >= c.Rows; band++ {
		key := hash.At(hash.Start, band)
		for _, v := range signature[:c.Rows] {
			key = hash.Block(key, uint64(v))
		}
		dst = append(dst, hash.Mix(key))
		signature = signature[c.Rows:]
	}
	return dst
}
