package closing

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"

	"neardup/cluster"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
	"neardup/report"
)

// hosts has texts that others, their hosts, contain, and finds the best host of each: the
// one that holds the greatest share of it; among equals, the one with the largest key. It
// sorts in files.
type hosts struct {
	dir         string
	byText, all *extsort.Sorter
}

func newHosts(dir string) *hosts { return &hosts{dir, extsort.New(dir), extsort.New(dir)} }

func (h *hosts) close() error { return errors.Join(h.byText.Close(), h.all.Close()) }

// contained is a text with a host.
type contained struct {
	text, host  cluster.Key
	share       float64 // of the text that is in the host
	resemblance float64
}

func containedIn(l rows.Link) contained {
	c := contained{l.Member, l.Leader, l.Score.Containment, l.Score.Resemblance}
	if l.Score.Relation == report.Contains {
		c.text, c.host = c.host, c.text
	}
	return c
}

// add adds a near pair of which one text contains the other.
func (h *hosts) add(l rows.Link) error {
	c := containedIn(l)
	key := appendDescending(slices.Clone(c.text[:]), c.share)
	return errors.Join(h.byText.Add(append(key, c.host[:]...), appendDescending(nil, c.resemblance)), h.all.Add(c.host[:], nil))
}

// best yields each contained text with its best host, by host, then text, from the
// largest key down. With leaves it leaves out texts that are hosts themselves.
func (h *hosts) best(leaves bool) iter.Seq2[contained, error] {
	return func(yield func(contained, error) bool) {
		byHost := extsort.New(h.dir)
		defer func() { _ = byHost.Close() }()
		if err := h.sortByHost(byHost, leaves); err != nil {
			yield(contained{}, err)
			return
		}
		for e, err := range byHost.Sorted() {
			if err != nil {
				yield(contained{}, err)
				return
			}
			c := contained{cluster.Key(e.Key[cluster.KeySize:]), cluster.Key(e.Key), descending(e.Value), descending(e.Value[8:])}
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (h *hosts) sortByHost(to *extsort.Sorter, leaves bool) error {
	next, stop := iter.Pull2(h.all.Sorted())
	defer stop()
	host, err, more := next()
	var last []byte
	for e, eachErr := range h.byText.Sorted() {
		if eachErr != nil {
			return eachErr
		}
		text, share, best := e.Key[:cluster.KeySize], e.Key[cluster.KeySize:][:8], e.Key[cluster.KeySize+8:]
		if bytes.Equal(text, last) {
			continue // a host that is not the best
		}
		last = append(last[:0], text...)
		if leaves {
			for more && err == nil && bytes.Compare(host.Key, text) < 0 {
				host, err, more = next()
			}
			if err != nil {
				return err
			}
			if more && bytes.Equal(host.Key, text) {
				continue
			}
		}
		if err := to.Add(slices.Concat(best, text), slices.Concat(share, e.Value)); err != nil {
			return err
		}
	}
	return nil
}

// appendDescending appends a score so that bytes sort from the greatest down.
func appendDescending(b []byte, score float64) []byte {
	return binary.BigEndian.AppendUint64(b, ^math.Float64bits(score))
}

func descending(b []byte) float64 { return math.Float64frombits(^binary.BigEndian.Uint64(b)) }
