package dataflow

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
)

// Digest identifies everything that the result of a set or a component depends on,
// besides the settings and the program. Equal digests mean equal results, so a result
// of an earlier run can be used again. The zero digest is of none.
type Digest [16]byte

func sum(h hash.Hash) Digest { return Digest(h.Sum(nil)[:16]) }

// Side is what verdicts on a text depend on, besides the text and other texts.
type Side struct {
	Text   // without its content
	Units  rows.Units
	Signed rows.Signed
}

// Digest returns the digest of a text: its sites, the names of its pages, its
// sentences in frames, and how common its sentences are. It is zero for a text that
// may be too long to be compared whole: its last sentence is cut, and is not in Units.
func (s Side) Digest(c configs.Config, common Pages) (Digest, error) {
	if limit := c.Text.MaxColumns; limit > 0 && 2*(int64(s.Signed.Characters)+1) >= int64(limit) {
		return Digest{}, nil
	}
	h := sha256.New()
	var b []byte
	b = append(b, s.ID[:]...)
	b = binary.AppendUvarint(b, uint64(len(s.Sites)))
	for _, site := range s.Sites {
		b = binary.BigEndian.AppendUint64(b, site)
	}
	b = s.Names.Append(b)
	b = append(binary.AppendUvarint(b, uint64(len(s.Signed.Framed))), s.Signed.Framed...)
	if c.Verify.RarePages > 0 {
		judging := c.Verify.Judging()
		for _, units := range [][]uint64{s.Units.Both, s.Units.Plain} {
			for _, u := range units {
				pages, err := MaxPages(s.Sites, u, common)
				if err != nil {
					return Digest{}, err
				}
				if pages <= c.Verify.RarePages { // it weighs as much as on one page
					pages = 1
				}
				b = binary.AppendUvarint(b, uint64(min(pages, judging.Saturation())))
			}
		}
	}
	h.Write(b)
	return sum(h), nil
}

// digestOf returns the digest of texts, from those of each, or zero if one of them has
// none.
func digestOf(keys []cluster.Key, of func(rows.TextID) (Digest, error), more []byte) (Digest, error) {
	h := sha256.New()
	b := binary.AppendUvarint(nil, uint64(len(keys)))
	for _, k := range keys {
		d, err := of(k.ID())
		if err != nil || d == (Digest{}) {
			return Digest{}, err
		}
		b = append(append(b, k[:]...), d[:]...)
	}
	h.Write(b)
	h.Write(more)
	return sum(h), nil
}

// SetDigest returns the digest of a perhaps-similar set from those of its texts.
func SetDigest(set []cluster.Key, of func(rows.TextID) (Digest, error)) (Digest, error) {
	return digestOf(set, of, nil)
}

// Digest returns the digest of a component from those of its texts.
func (c Component) Digest(of func(rows.TextID) (Digest, error)) (Digest, error) {
	var b []byte
	for i, l := range c.Links {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(l.A)), uint64(l.B))
		s := c.Scores[i]
		b = append(append(b, s.Relation...), 0)
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Resemblance))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Containment))
	}
	return digestOf(c.Keys, of, b)
}
