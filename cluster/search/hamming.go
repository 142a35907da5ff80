package search

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"neardup/cluster"
	"neardup/cluster/hamming"
	"neardup/signature"
	"neardup/signature/simhash"
)

// Hamming holds the settings of the search for signatures that differ in few bits,
// through permuted, sorted tables (Manku, Jain, Das Sarma 2007; package hamming). A
// table has each signature once. Texts that share a signature are pairs, too.
type Hamming struct {
	Distance int `yaml:"distance" json:"distance"`
	AllPairs int `yaml:"all_pairs" json:"all_pairs"` // for texts of equal signatures
}

// HammingCounts are the counts of the search for near signatures.
type HammingCounts struct {
	Signatures int64 `json:"signatures"` // distinct
	Tables     int   `json:"tables"`
	Pairs      int64 `json:"signature_pairs"` // pairs of distinct signatures within the distance
	Largest    int64 `json:"largest_group"`   // most texts of one signature
}

// maxDistance limits the distance, in bits. It is twice the distance beyond which
// simhash joins unrelated pages of one kind (docs/benchmarks/methods.md). Tables
// for more compare nearly every pair.
const maxDistance = 16

// Validate returns an error that names the first invalid setting.
func (h Hamming) Validate() error {
	switch {
	case h.Distance < 0 || h.Distance > maxDistance:
		return fmt.Errorf("distance: %d is not from 0 to %d", h.Distance, maxDistance)
	case h.AllPairs < 0:
		return fmt.Errorf("all_pairs: %d is negative", h.AllPairs)
	}
	return nil
}

// Emits implements Search.
func (Hamming) Emits() Kind { return Scored }

// permutedSize is the length of a key of package hamming, in bytes.
const permutedSize = 2 + simhash.Bits/8

// RowSize implements Mapper. A row is an entry of a table: the table and the
// permuted signature, the largest key of the texts with the signature, and the
// number of these texts.
func (Hamming) RowSize() int { return permutedSize + cluster.KeySize + 4 }

// group is the set of texts that share a signature. It is named by the largest key.
type group struct {
	signature signature.Signature
	key       cluster.Key
	texts     uint32
}

func (h Hamming) tables(in Input) (*hamming.Tables, error) {
	n, err := in.Different()
	if err != nil {
		return nil, err
	}
	return hamming.Choose(simhash.Bits, h.Distance, float64(n), hamming.EntryStore)
}

// Map writes the tables' entries.
func (h Hamming) Map(in Input, out RowSink, c *Counts) error {
	tables, err := h.tables(in)
	if err != nil {
		return err
	}
	if c.Hamming == nil {
		c.Hamming = &HammingCounts{}
	}
	c.Hamming.Tables = tables.Len()
	var shared group
	var row []byte
	end := func() error {
		if shared.texts == 0 {
			return nil
		}
		for t := range tables.Len() {
			row = append(tables.AppendKey(row[:0], t, shared.signature.Bits()), shared.key[:]...)
			row = binary.BigEndian.AppendUint32(row, shared.texts)
			if err := out.Row(row); err != nil {
				return err
			}
		}
		c.Hamming.Signatures++
		c.Hamming.Largest = max(c.Hamming.Largest, int64(shared.texts))
		return nil
	}
	for p, err := range in.Postings {
		if err != nil {
			return err
		}
		if p.Signature != shared.signature || shared.texts == 0 {
			if err := end(); err != nil {
				return err
			}
			shared = group{p.Signature, p.Key, 0}
			if err := out.Whole(p.Signature); err != nil {
				return err
			}
		}
		shared.texts++
		if p.Key.Compare(shared.key) < 0 { // larger keys sort first
			shared.key = p.Key
		}
	}
	return end()
}

// Find emits the pairs of texts whose signatures are equal or differ in few bits.
func (h Hamming) Find(ctx context.Context, in Input, out Sink, c *Counts) error {
	tables, err := h.tables(in)
	if err != nil {
		return err
	}
	scan := hamming.NewScan(tables, func(a, b group, distance int) error {
		c.Hamming.Pairs++
		return h.pairs(ctx, in, a, b, similarity(distance), out)
	})
	for row, err := range in.Rows {
		if err != nil {
			return err
		}
		if len(row) != h.RowSize() {
			return fmt.Errorf("search: an entry of %d bytes", len(row))
		}
		key, rest := row[:permutedSize], row[permutedSize:]
		table, bits, err := tables.ParseKey(key)
		if err != nil {
			return err
		}
		g := group{signature.Of(bits), cluster.Key(rest[:cluster.KeySize]), binary.BigEndian.Uint32(rest[cluster.KeySize:])}
		if table == 0 && g.texts > 1 {
			if err := h.pairsOf(in, g, out); err != nil {
				return err
			}
		}
		if err := scan.Add(key, g); err != nil {
			return err
		}
	}
	return nil
}

// pairsOf emits the pairs of texts that share a signature.
func (h Hamming) pairsOf(in Input, g group, out Sink) error {
	members, err := in.Members(g.signature)
	if err != nil {
		return err
	}
	slices.SortFunc(members, cluster.Key.Compare)
	for e := range cluster.Pairs(members, h.AllPairs) {
		if err := out.Pair(e.Rep, e.Member, 1); err != nil {
			return err
		}
	}
	return nil
}

// pairs emits the pairs of texts of two signatures: all of them if both have few
// texts, otherwise only those with the text of the largest key on either side.
func (h Hamming) pairs(ctx context.Context, in Input, a, b group, score float64, out Sink) error {
	var members [2][]cluster.Key
	few := int(max(a.texts, b.texts)) <= h.AllPairs
	for i, g := range []group{a, b} {
		members[i] = []cluster.Key{g.key}
		if g.texts == 1 {
			continue
		}
		all, err := in.Members(g.signature)
		if err != nil {
			return err
		}
		for _, k := range all {
			if k != g.key {
				members[i] = append(members[i], k)
			}
		}
	}
	for i, x := range members[0] {
		if err := ctx.Err(); err != nil {
			return err
		}
		others := members[1]
		if !few && i > 0 {
			others = others[:1]
		}
		for _, y := range others {
			if err := out.Pair(x, y, score); err != nil {
				return err
			}
		}
	}
	return nil
}

// similarity returns the share of bits that agree, from 0 to 1.
func similarity(distance int) float64 { return 1 - float64(distance)/simhash.Bits }

// distance returns the number of bits in which the signatures of the two texts
// differ. ok is false if a text has no signature.
func (t Two) distance() (int, bool) {
	a, b := t.Signatures[0], t.Signatures[1]
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	return simhash.Differ(a[0].Bits(), b[0].Bits()), true
}

// Meet implements Search.
func (h Hamming) Meet(t Two) Meeting {
	d, ok := t.distance()
	return Meeting{Candidates: ok && d <= h.Distance, Bits: &h.Distance}
}

// Score implements Scorer.
func (h Hamming) Score(t Two) (Score, error) {
	s := Score{Known: true, Measure: "share of bits that agree", Least: similarity(h.Distance)}
	if d, ok := t.distance(); ok {
		s.Scored, s.Near, s.Similarity = true, d <= h.Distance, similarity(d)
	}
	return s, nil
}
