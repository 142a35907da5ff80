package search

import (
	"cmp"
	"context"
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

// banded is a running join of records that share a band of min-hashes.
type banded struct {
	Join
	ctx     context.Context
	rule    *ppjoin.Rule
	records []ppjoin.Record
	keys    [][]uint64 // of each record's bands
	sides   int
	counts  JoinCounts
	emit    func(ppjoin.Pair) error
}

// byBands emits the similar pairs that share a band of min-hashes: "two records will
// be regarded as a candidate pair if one of their l signatures is the same" (section
// 8.1.1). Candidates are verified with all tokens. Equal records are joined once.
func (j Join) byBands(ctx context.Context, workers int, texts [][]string, cs []ppjoin.Collection, o ppjoin.Options, emit func(ppjoin.Pair) error) (JoinCounts, error) {
	rule, err := ppjoin.NewRule(o, cs...)
	if err != nil {
		return JoinCounts{}, err
	}
	b := &banded{Join: j, ctx: ctx, rule: rule, records: rule.Records(cs, true), sides: len(cs)}
	b.emit = func(p ppjoin.Pair) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.counts.Pairs++
		return emit(p)
	}
	for i := range cs {
		b.counts.Records += int64(cs[i].Len())
	}
	b.counts.Distinct, b.counts.Probing = int64(len(b.records)), int64(len(b.records))
	b.sign(workers, texts)
	if err := ctx.Err(); err != nil {
		return b.counts, err
	}
	for i := range b.records {
		if len(cs) == 2 {
			break // equal records of two sides share all bands
		}
		if err := rule.EmitEqual(&b.records[i], b.emit); err != nil {
			return b.counts, err
		}
	}
	for band := range j.bands().Bands {
		if err := b.join(band); err != nil {
			return b.counts, err
		}
	}
	return b.counts, nil
}

// sign makes the keys of the records from the texts.
func (b *banded) sign(workers int, texts [][]string) {
	b.keys = make([][]uint64, len(b.records))
	eachText(len(b.records), workers, func(from, to int) {
		signer := minhash.New(b.bands().Components(), 0)
		for i := from; i < to && b.ctx.Err() == nil; i++ {
			r := &b.records[i]
			b.keys[i] = b.keysOf(signer, texts[r.Side][r.Members[0]])
		}
	})
}

// entry is a record in the order of its keys.
type entry struct {
	key    uint64
	record int32
}

// join verifies the pairs whose first common band is the given one.
func (b *banded) join(band int) error {
	entries := make([]entry, len(b.records))
	for i, keys := range b.keys {
		entries[i] = entry{keys[band], int32(i)}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.record, b.record)) })
	b.counts.Postings += int64(len(entries))
	for from := 0; from < len(entries); {
		to := from + 1
		for to < len(entries) && entries[to].key == entries[from].key {
			to++
		}
		for k := range to - from {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			for _, x := range entries[from : from+k] {
				if err := b.verify(band, x.record, entries[from+k].record); err != nil {
					return err
				}
			}
		}
		from = to
	}
	return nil
}

// verify emits the pairs of two records that share a band, unless they share an
// earlier one too.
func (b *banded) verify(band int, first, second int32) error {
	c := &b.counts
	c.Scanned++
	x, y := &b.records[first], &b.records[second]
	if b.sides == 2 && x.Side == y.Side || firstShared(b.keys[first], b.keys[second]) != band {
		return nil
	}
	c.Prefix, c.Positional, c.Bitmap, c.Suffix = c.Prefix+1, c.Positional+1, c.Bitmap+1, c.Suffix+1
	c.Candidates++
	c.Verified++
	similar, err := b.rule.EmitSimilar(x, y, b.rule.Common(x, y), b.emit)
	if similar {
		c.Similar++
	}
	return err
}
