package filters

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"neardup/cluster"
	"neardup/cluster/prefix"
	"neardup/cluster/search"
	"neardup/pipeline/blocks"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
)

// parts returns the join of the config in parts.
func (t *task) parts() (*search.Parts, error) { return search.NewParts(t.Config.Cluster.Join) }

// tokens makes records of texts. For a join by prefixes it writes their tokens, for one
// by bands the records and the bands under which they meet.
func (t *task) tokens() error {
	parts, err := t.parts()
	if err != nil {
		return err
	}
	return t.eachText(func(p *placed) error {
		if p.leftOut(t.Config) {
			return nil
		}
		r, err := dataflow.Read(t.Config, p.Text, p.frames.of)
		if err != nil {
			return err
		}
		record := parts.Record(r.Own)
		key := cluster.NewKey(float32(utf8.RuneCountInString(r.Own)), p.ID)
		if !parts.ByBands() {
			size := binary.BigEndian.AppendUint32(nil, uint32(len(record)))
			for _, token := range record {
				if err := t.out.Put(blocks.Tokens, slices.Concat(binary.BigEndian.AppendUint64(nil, token), key[:]), size); err != nil {
					return err
				}
			}
			return nil
		}
		if len(record) == 0 {
			return nil
		}
		for _, band := range parts.Bands(record) {
			if err := t.putEntry(band, prefix.Entry{Key: key}); err != nil {
				return err
			}
		}
		return t.putRecord(p.ID, len(record), record)
	})
}

// sharedTokens gives the tokens that several texts have back to these, with the number
// of texts.
func (t *task) sharedTokens() error {
	return t.byNumber(blocks.Tokens, func(n int, texts func(func(extsort.Entry) error) error) error {
		if n < 2 {
			return nil
		}
		count := binary.BigEndian.AppendUint32(nil, uint32(min(n, math.MaxUint32)))
		return texts(func(e extsort.Entry) error {
			k := cluster.Key(e.Key[8:])
			id := k.ID()
			return t.out.Put(blocks.SharedTokens, slices.Concat(id[:], count, e.Key[:8]), slices.Concat(k[:4], e.Value))
		})
	})
}

// byNumber calls each for the rows of a dataset whose keys begin with one number of 8
// bytes: how many they are, and a function that yields them once.
func (t *task) byNumber(l blocks.Layout, each func(n int, rows func(func(extsort.Entry) error) error) error) error {
	behind := newCursor(t.rows(l)) // reads the rows again that are counted
	defer behind.stop()
	var number []byte
	n := 0
	end := func() error {
		if n == 0 {
			return nil
		}
		return each(n, func(one func(extsort.Entry) error) error { return behind.of(number, one) })
	}
	for e, err := range t.rows(l) {
		if err == nil && !bytes.Equal(e.Key[:8], number) {
			err = end()
			number, n = append(number[:0], e.Key[:8]...), 0
		}
		if err != nil {
			return err
		}
		n++
	}
	return end()
}

// prefixes makes records of shared tokens, and puts the tokens of their prefixes where
// they meet.
func (t *task) prefixes() error {
	parts, err := t.parts()
	if err != nil {
		return err
	}
	var id rows.TextID
	var weight, size []byte
	var shared []uint64 // of the text, the rarest first
	end := func() error {
		if len(shared) == 0 {
			return nil
		}
		n := int(binary.BigEndian.Uint32(size))
		tokens, first := prefix.Of(parts.Rule, n, shared)
		for i, token := range tokens {
			e := prefix.Entry{Size: uint32(n), Position: uint32(first + i), Key: cluster.Key(slices.Concat(weight, id[:]))}
			if err := t.putEntry(token, e); err != nil {
				return err
			}
		}
		slices.Sort(shared)
		err := t.putRecord(id, n, shared)
		shared = shared[:0]
		return err
	}
	for e, err := range t.rows(blocks.SharedTokens) {
		if err == nil && rows.TextID(e.Key) != id {
			err = end()
			id = rows.TextID(e.Key)
		}
		if err != nil {
			return err
		}
		weight, size = append(weight[:0], e.Value[:4]...), append(size[:0], e.Value[4:]...)
		shared = append(shared, binary.BigEndian.Uint64(e.Key[len(id)+4:]))
	}
	return end()
}

// putEntry writes a record under a token or a band.
func (t *task) putEntry(at uint64, e prefix.Entry) error {
	key := binary.BigEndian.AppendUint64(nil, at)
	key = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(key, e.Size), e.Position)
	return t.out.Put(blocks.Entries, append(key, e.Key[:]...), nil)
}

// putRecord writes a record for the pairs that it is in: its size, and its tokens,
// ascending, without those that no other record has.
func (t *task) putRecord(id rows.TextID, size int, tokens []uint64) error {
	value := binary.BigEndian.AppendUint32(nil, uint32(size))
	for _, token := range tokens {
		value = binary.BigEndian.AppendUint64(value, token)
	}
	return t.out.Put(blocks.Records, id[:], value)
}

// meet makes candidates of the records that stand under one token or band.
func (t *task) meet() error {
	parts, err := t.parts()
	if err != nil {
		return err
	}
	emit := func(a, b cluster.Key) error {
		if a.Compare(b) > 0 {
			a, b = b, a
		}
		target := blocks.Candidates.Target(a[:], t.Partitions)
		return errors.Join(t.out.PutTo(blocks.Candidates, target, slices.Concat(a[:], b[:]), nil), t.compares(target, a), t.compares(target, b))
	}
	return t.byNumber(blocks.Entries, func(n int, all func(func(extsort.Entry) error) error) error {
		if n < 2 {
			return nil
		}
		entries := make([]prefix.Entry, 0, n)
		err := all(func(e extsort.Entry) error {
			entries = append(entries, prefix.Entry{Size: binary.BigEndian.Uint32(e.Key[8:]), Position: binary.BigEndian.Uint32(e.Key[12:]), Key: cluster.Key(e.Key[16:])})
			return nil
		})
		if err != nil {
			return err
		}
		if !parts.ByBands() {
			return prefix.Meet(parts.Rule, entries, emit)
		}
		for i, a := range entries {
			for _, b := range entries[:i] {
				if err := errors.Join(emit(a.Key, b.Key), t.alive()); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// gatherJoin sends records to the partitions that join them.
func (t *task) gatherJoin() error {
	members := newCursor(t.rows(blocks.Members))
	defer members.stop()
	for e, err := range t.rows(blocks.Records) {
		if err == nil {
			err = members.of(e.Key, func(m extsort.Entry) error {
				return t.out.PutTo(blocks.Joined, binary.BigEndian.Uint32(m.Key[len(rows.TextID{}):]), e.Key, e.Value)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// join verifies candidates, and writes the similar pairs.
func (t *task) join() error {
	parts, err := t.parts()
	if err != nil {
		return err
	}
	records, err := t.table(t.rows(blocks.Joined))
	if err != nil {
		return err
	}
	record := func(k cluster.Key) ([]byte, error) {
		id := k.ID()
		value, ok, err := records.Get(id[:])
		if err == nil && !ok {
			err = fmt.Errorf("no record of %x among those to join", id)
		}
		return value, err
	}
	var last cluster.Key
	var x []byte
	left := t.Config.Cluster.MaxPairs
	for e, err := range t.rows(blocks.Candidates) {
		if err != nil {
			return err
		}
		a, b := cluster.Key(e.Key), cluster.Key(e.Key[keySize:])
		if x == nil || a != last {
			if x, err = record(a); err != nil {
				return err
			}
			last = a
		}
		y, err := record(b)
		if err != nil {
			return err
		}
		share, similar := parts.Share(int(binary.BigEndian.Uint32(x)), int(binary.BigEndian.Uint32(y)), common(x[4:], y[4:]))
		if !similar {
			continue
		}
		if left--; left < 0 {
			return overPairs(t.Config)
		}
		target := blocks.Sets.Target(a[:], t.Partitions)
		if err := errors.Join(t.putSet(a, a, 1), t.putSet(a, b, share), t.compares(target, a), t.compares(target, b)); err != nil {
			return err
		}
	}
	return nil
}

// putSet writes a scored row of a candidate pair.
func (t *task) putSet(set, member cluster.Key, score float64) error {
	key := binary.BigEndian.AppendUint64(slices.Concat(set[:], member[:]), math.Float64bits(score))
	return t.out.Put(blocks.Sets, key, nil)
}

// common returns the number of tokens that two records have in common, each as 8 bytes,
// ascending.
func common(x, y []byte) (n int) {
	for len(x) > 0 && len(y) > 0 {
		switch c := bytes.Compare(x[:8], y[:8]); {
		case c < 0:
			x = x[8:]
		case c > 0:
			y = y[8:]
		default:
			n++
			x, y = x[8:], y[8:]
		}
	}
	return n
}
