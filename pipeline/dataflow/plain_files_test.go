package dataflow_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/cluster/judged"
	"neardup/configs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/rows"
	"neardup/signature"
)

// plain runs the stages over plain sorted files, one for each kind of row. A row is
// a key and a value, each behind its length; rows are sorted by key.
type plain struct {
	t      *testing.T
	dir    string
	config configs.Config
	judged []judged.Pair // that clusters follow
}

func (p plain) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// write writes a file of rows, which put hands over in any order.
func (p plain) write(name string, put func(add func(key, value []byte) error) error) {
	p.t.Helper()
	sorter := extsort.New(p.dir)
	defer func() { _ = sorter.Close() }()
	if err := put(sorter.Add); err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	var b bytes.Buffer
	var last []byte
	for e, err := range sorter.Sorted() {
		if err != nil {
			p.t.Fatal(err)
		}
		if bytes.Equal(e.Key, last) {
			continue // a row that was written twice
		}
		last = append(last[:0], e.Key...)
		b.Write(binary.AppendUvarint(nil, uint64(len(e.Key))))
		b.Write(e.Key)
		b.Write(binary.AppendUvarint(nil, uint64(len(e.Value))))
		b.Write(e.Value)
	}
	pipetest.WriteFile(p.t, filepath.Join(p.dir, name), b.Bytes())
}

// writeSorted writes a file of the rows of a sorter.
func (p plain) writeSorted(name string, from *extsort.Sorter) {
	p.t.Helper()
	p.write(name, func(add func(key, value []byte) error) error {
		for e, err := range from.Sorted() {
			if err := errors.Join(err, add(e.Key, e.Value)); err != nil {
				return err
			}
		}
		return nil
	})
}

// read reads a file of rows.
func read[T any](p plain, name string, parse func(key, value []byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		f, err := os.Open(filepath.Join(p.dir, name))
		if err != nil {
			yield(none, err)
			return
		}
		defer func() { _ = f.Close() }()
		r := bufio.NewReader(f)
		part := func() ([]byte, error) {
			n, err := binary.ReadUvarint(r)
			if err != nil {
				return nil, err
			}
			b := make([]byte, n)
			_, err = io.ReadFull(r, b)
			return b, err
		}
		for {
			key, err := part()
			if err == io.EOF {
				return
			}
			value, err := part()
			var v T
			if err == nil {
				v, err = parse(key, value)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

const keySize = cluster.KeySize

func parsePosting(k, _ []byte) (cluster.Posting, error) {
	return cluster.Posting{Signature: signature.Signature(k[:16]), Key: cluster.Key(k[16:])}, nil
}

func parseEdge(k, _ []byte) (cluster.Edge, error) {
	return cluster.Edge{Rep: cluster.Key(k[:keySize]), Member: cluster.Key(k[keySize : 2*keySize])}, nil
}

func parseCandidate(k, v []byte) (rows.Candidate, error) {
	return rows.Candidate{A: cluster.Key(k[:keySize]), B: cluster.Key(k[keySize:]), Score: math.Float64frombits(binary.BigEndian.Uint64(v))}, nil
}

func parseLink(k, v []byte) (l rows.Link, err error) {
	l.Leader, l.Member = cluster.Key(k[:keySize]), cluster.Key(k[keySize:])
	return l, json.Unmarshal(v, &l.Score)
}

func parseText(k, v []byte) (dataflow.Text, error) {
	return dataflow.Text{ID: rows.TextID(k), Text: string(v)}, nil
}

func parseDocument(_, v []byte) (d rows.Document, err error) { return d, json.Unmarshal(v, &d) }

func parseCluster(_, v []byte) (r rows.Cluster, err error) { return r, json.Unmarshal(v, &r) }

func parseContained(_, v []byte) (r rows.Contained, err error) { return r, json.Unmarshal(v, &r) }

func parseAround(_, v []byte) (t dataflow.AroundUnits, err error) { return t, json.Unmarshal(v, &t) }

// occurrence is a page with a text: the file is sorted by text, then by document.
type occurrence struct {
	text rows.TextID
	rows.Occurrence
}

func parseOccurrence(k, v []byte) (o occurrence, err error) {
	o.text = rows.TextID(k[:16])
	return o, json.Unmarshal(v, &o.Occurrence)
}

// addLinks adds links to a file.
func addLinks(add func(key, value []byte) error, links []rows.Link) error {
	for _, l := range links {
		value, err := json.Marshal(l.Score)
		if err := errors.Join(err, add(slices.Concat(l.Leader[:], l.Member[:]), value)); err != nil {
			return err
		}
	}
	return nil
}

// occurrences gives those of each text.
func (p plain) occurrences() map[rows.TextID][]rows.Occurrence {
	out := map[rows.TextID][]rows.Occurrence{}
	for o, err := range read(p, "occurrences", parseOccurrence) {
		if err != nil {
			p.t.Fatal(err)
		}
		out[o.text] = append(out[o.text], o.Occurrence)
	}
	return out
}
