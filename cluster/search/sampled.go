package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"neardup/cluster/ppjoin"
	"neardup/signature/minhash"
	"neardup/signature/shingle"
)

// eachText calls do with all numbers below n, from several workers.
func eachText(n, workers int, do func(from, to int)) {
	workers = max(1, min(workers, n/64))
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() { do(n*w/workers, n*(w+1)/workers) })
	}
	group.Wait()
}

// sketches returns the sketches of the texts as records: "Each record has 32
// shingles represented in 4-byte integers", the smallest by as many permutations
// (section 8.1.8). A text without tokens has none.
func (j Join) sketches(workers int, texts [][]string) (cs []ppjoin.Collection) {
	o := j.tokenOptions(1, false)
	for _, collection := range texts {
		values := make([][]uint64, len(collection))
		eachText(len(collection), workers, func(from, to int) {
			for i := from; i < to; i++ {
				values[i] = shingle.MinWise(shingle.NewSet(o.Features(collection[i])), j.Sketch).Values
			}
		})
		var c ppjoin.Collection
		for _, of := range values {
			for _, v := range of {
				c.Tokens = append(c.Tokens, uint32(v>>32))
			}
			c.Ends = append(c.Ends, len(c.Tokens))
		}
		cs = append(cs, c)
	}
	return cs
}

// bands returns the bands of JoinLSH: as many as find a pair at the threshold with
// probability Recall. Min-hashes agree with the probability of Jaccard's
// coefficient, "suppose" section 8.1.1. Records of cosine c have one of c² at least,
// where the smaller is a part of the larger. Min-hashes know no weights, so with
// weights the probability may be smaller.
func (j Join) bands() minhash.LSH {
	t := j.Threshold
	if j.Measure == JoinCosine {
		t *= t
	}
	return minhash.LSH{Rows: j.Rows, Bands: minhash.Bands(t, j.Recall, j.Rows)}
}

// keysOf returns the keys of a text's bands. A text without tokens has none.
func (j Join) keysOf(signer *minhash.Signer, text string) []uint64 {
	return j.bands().AppendKeys(nil, signer.Sign(nil, j.tokenOptions(1, false).Features(text)))
}

// meets reports whether two texts share a band.
func (j Join) meets(texts [2]string) bool {
	signer := minhash.New(j.bands().Components(), 0)
	return firstShared(j.keysOf(signer, texts[0]), j.keysOf(signer, texts[1])) >= 0
}

// firstShared returns the first band in which the keys are equal, or -1.
func firstShared(a, b []uint64) int {
	for band := range min(len(a), len(b)) {
		if a[band] == b[band] {
			return band
		}
	}
	return -1
}

// sampled is a distinct record of a side, with the keys of its bands.
type sampled struct {
	side    int
	mass    int64
	tokens  []uint32 // ascending
	members []int
	keys    []uint64
}

// byBands emits the similar pairs that share a band of min-hashes: "two records will
// be regarded as a candidate pair if one of their l signatures is the same" (section
// 8.1.1). Candidates are verified with all tokens. Equal records are joined once.
func (j Join) byBands(ctx context.Context, workers int, texts [][]string, cs []ppjoin.Collection, o ppjoin.Options, emit func(ppjoin.Pair) error) (c JoinCounts, err error) {
	rule, err := ppjoin.NewRule(o, cs...)
	if err != nil {
		return c, err
	}
	pair := func(a, b int, similarity float64) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.Pairs++
		return emit(ppjoin.Pair{A: a, B: b, Similarity: similarity})
	}
	records := distinctRecords(cs)
	for i := range records {
		for _, t := range records[i].tokens {
			records[i].mass += rule.Mass(t)
		}
	}
	for i := range cs {
		c.Records += int64(cs[i].Len())
	}
	c.Distinct, c.Probing = int64(len(records)), int64(len(records))
	eachText(len(records), workers, func(from, to int) {
		signer := minhash.New(j.bands().Components(), 0)
		for i := from; i < to && ctx.Err() == nil; i++ {
			records[i].keys = j.keysOf(signer, texts[records[i].side][records[i].members[0]])
		}
	})
	if err := ctx.Err(); err != nil {
		return c, err
	}
	verify := func(x, y *sampled) error {
		c.Candidates++
		c.Verified++
		similarity, ok := rule.Decide(x.mass, y.mass, commonMass(rule, x.tokens, y.tokens), x.tokens, y.tokens)
		if !ok {
			return nil
		}
		c.Similar++
		for _, a := range x.members {
			for _, b := range y.members {
				first, second := a, b
				if x.side > y.side || x.side == y.side && a > b {
					first, second = b, a
				}
				if err := pair(first, second, similarity); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, r := range records {
		if len(cs) == 2 || len(r.members) == 1 {
			continue
		}
		similarity, ok := rule.Decide(r.mass, r.mass, r.mass, r.tokens, r.tokens)
		for k, b := range r.members {
			for _, a := range r.members[:k] {
				if !ok {
					break
				}
				if err := pair(a, b, similarity); err != nil {
					return c, err
				}
			}
		}
	}
	type entry struct {
		key    uint64
		record int32
	}
	entries := make([]entry, len(records))
	for band := range j.bands().Bands {
		for i, r := range records {
			entries[i] = entry{r.keys[band], int32(i)}
		}
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.record, b.record)) })
		c.Postings += int64(len(entries))
		for from := 0; from < len(entries); {
			to := from + 1
			for to < len(entries) && entries[to].key == entries[from].key {
				to++
			}
			for k, b := range entries[from:to] {
				if err := ctx.Err(); err != nil {
					return c, err
				}
				y := &records[b.record]
				for _, a := range entries[from : from+k] {
					x := &records[a.record]
					c.Scanned++
					if len(cs) == 2 && x.side == y.side || firstShared(x.keys, y.keys) != band {
						continue
					}
					c.Prefix, c.Positional, c.Bitmap, c.Suffix = c.Prefix+1, c.Positional+1, c.Bitmap+1, c.Suffix+1
					if err := verify(x, y); err != nil {
						return c, err
					}
				}
			}
			from = to
		}
	}
	return c, nil
}

// distinctRecords groups equal records of each side, and leaves out those without
// tokens.
func distinctRecords(cs []ppjoin.Collection) (records []sampled) {
	at := map[string]int{}
	var key []byte
	for side, c := range cs {
		for i := range c.Len() {
			tokens := slices.Clone(c.Record(i))
			slices.Sort(tokens)
			tokens = slices.Compact(tokens)
			if len(tokens) == 0 {
				continue
			}
			key = append(key[:0], byte(side))
			for _, t := range tokens {
				key = binary.LittleEndian.AppendUint32(key, t)
			}
			k, ok := at[string(key)]
			if !ok {
				k = len(records)
				at[string(key)] = k
				records = append(records, sampled{side: side, tokens: tokens})
			}
			records[k].members = append(records[k].members, i)
		}
	}
	return records
}

// commonMass returns the mass of the tokens that two records have in common.
func commonMass(rule *ppjoin.Rule, x, y []uint32) (mass int64) {
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			mass += rule.Mass(x[0])
			x, y = x[1:], y[1:]
		}
	}
	return mass
}
