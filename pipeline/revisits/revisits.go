// Package revisits finds the captures that revisit records refer to.
package revisits

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"neardup/extract"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
)

// maxChain limits the chain of revisits of revisits that is followed. A
// revisit refers to the capture itself (WARC 1.1, section 6.7), so even one more
// step is a mistake, and a long chain or a circle is hostile.
const maxChain = 16

// Revisit is a revisit record with the place of its row.
type Revisit struct {
	Place    []byte // rows come in the order of their places; no place is a prefix of another
	Document extract.Document
}

// Capture is a page that revisits may refer to. Its row is parsed only on demand.
type Capture struct {
	ID  extract.ID
	Row func() (rows.Document, error)
	// Brief is Row with no more than what a capture is found by: its record ID, target URI,
	// date and digest, what it repeats, whether it is derived, and its text.
	Brief func() (rows.Document, error)
}

// Resolve finds for each revisit the capture that it refers to, and calls linked
// with the revisit as a page. Fields that the revisit lacks are taken from the
// capture. If several captures match, the earliest counts, and a capture comes
// before a revisit that was itself resolved.
//
// Revisits come by place. Captures come by ID; of those with one ID, the first counts. Pages
// that were made from revisits may be among them, and are ignored. Both are read more than once. linked is called in the order of capture IDs, then of
// places. The order in which the records were read does not matter. sorter makes an
// empty sorter; the memory needed is that of a few sorters.
func Resolve(ctx context.Context, revisits iter.Seq2[Revisit, error], captures iter.Seq2[Capture, error],
	sorter func() *extsort.Sorter, linked func(r Revisit, text rows.TextID, page rows.Document) error) (err error) {
	r := resolver{ctx: ctx, sorter: sorter}
	defer func() { err = errors.Join(err, r.close()) }()
	r.offers, r.derived, r.links = r.sort(), r.sort(), r.sort()
	wanted, err := r.want(revisits)
	if err != nil {
		return err
	}
	if err := r.offerAll(captures); err != nil {
		return err
	}
	if revisits, wanted, err = r.follow(revisits, wanted); err != nil {
		return err
	}
	more, err := r.offerDerived()
	if err == nil && more {
		_, _, err = r.follow(revisits, wanted)
	}
	if err != nil {
		return err
	}
	return r.pages(captures, linked)
}

// resolver finds the captures of revisits.
type resolver struct {
	ctx    context.Context
	sorter func() *extsort.Sorter
	made   []*extsort.Sorter
	n      int // rows read

	asked   filter          // keys that revisits refer by
	offers  *extsort.Sorter // key[16] chain[1] digits of the date 00 docID[16] → textID[16]: captures by key, the best first
	derived *extsort.Sorter // the same of text that was made from captures
	links   *extsort.Sorter // docID[16] textID[16] place → revisit: resolved revisits with their captures
}

func (r *resolver) sort() *extsort.Sorter {
	s := r.sorter()
	r.made = append(r.made, s)
	return s
}

func (r *resolver) close() error {
	var errs []error
	for _, s := range r.made {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// alive returns the context's error from time to time.
func (r *resolver) alive() error {
	if r.n++; r.n&0xfff == 0 {
		return context.Cause(r.ctx)
	}
	return nil
}

// want returns the keys that the revisits refer by, as rows key[16] number[1]
// place. number is the index of the key among the keys of its revisit.
func (r *resolver) want(revisits iter.Seq2[Revisit, error]) (*extsort.Sorter, error) {
	wanted := r.sort()
	for v, err := range revisits {
		if err := errors.Join(err, r.alive()); err != nil {
			return nil, err
		}
		for i, k := range v.Document.Repeats.Keys(v.Document.TargetURI) {
			r.asked.add(k)
			if err := wanted.Add(slices.Concat(k[:], []byte{byte(i)}, v.Place), nil); err != nil {
				return nil, err
			}
		}
	}
	return wanted, nil
}

// offer adds a capture under each of its keys that a revisit may refer by.
func (r *resolver) offer(to *extsort.Sorter, keys []extract.Key, chain byte, date string, id extract.ID, t rows.TextID) error {
	for _, k := range keys {
		if !r.asked.has(k) {
			continue
		}
		if err := to.Add(slices.Concat(k[:], []byte{chain}, []byte(extract.DateOrder(date)), []byte{0}, id[:]), t[:]); err != nil {
			return err
		}
	}
	return nil
}

// offerAll offers all captures.
func (r *resolver) offerAll(captures iter.Seq2[Capture, error]) error {
	for c, err := range captures {
		if err := errors.Join(err, r.alive()); err != nil {
			return err
		}
		d, err := c.Brief()
		if err != nil {
			return err
		}
		if d.Repeats != nil {
			continue
		}
		t, err := rows.ParseTextID(d.TextID)
		if err != nil {
			return err
		}
		to := r.offers
		if d.Derived {
			to = r.derived
		}
		if err := r.offer(to, d.Keys(), 0, d.Date, c.ID, t); err != nil {
			return err
		}
	}
	return nil
}

// offerDerived offers the text that was made from captures. It reports whether there is any.
func (r *resolver) offerDerived() (more bool, err error) {
	for e, err := range r.derived.Sorted() {
		if err := errors.Join(err, r.alive(), r.offers.Add(e.Key, e.Value)); err != nil {
			return more, err
		}
		more = true
	}
	return more, nil
}

// follow finds captures for revisits, and then for revisits of these, as long as it finds any.
// It returns the revisits that are left, and their keys.
func (r *resolver) follow(revisits iter.Seq2[Revisit, error], wanted *extsort.Sorter) (iter.Seq2[Revisit, error], *extsort.Sorter, error) {
	for chain := byte(0); chain < maxChain; chain++ {
		left, n, err := r.link(revisits, wanted, chain)
		if err != nil || n == 0 {
			return revisits, wanted, err
		}
		revisits = unresolved(left)
		if wanted, err = r.want(revisits); err != nil {
			return nil, nil, err
		}
	}
	return revisits, wanted, nil
}

// link finds captures for revisits, whose keys are in wanted. It returns the
// revisits that are left.
func (r *resolver) link(revisits iter.Seq2[Revisit, error], wanted *extsort.Sorter, chain byte) (left *extsort.Sorter, linked int, err error) {
	found := r.sort() // place number[1] → docID[16] textID[16]
	if err := r.match(wanted, found); err != nil {
		return nil, 0, err
	}
	next, stop := iter.Pull2(found.Sorted())
	defer stop()
	f, err, more := next()
	left = r.sort()
	for v, verr := range revisits {
		if err := errors.Join(verr, err, r.alive()); err != nil {
			return nil, 0, err
		}
		if !more || !bytes.Equal(f.Key[:len(f.Key)-1], v.Place) {
			if err := addRevisit(left, v.Place, v.Document); err != nil {
				return nil, 0, err
			}
			continue
		}
		linked++
		id, t := extract.ID(f.Value[:16]), rows.TextID(f.Value[16:])
		if err := errors.Join(addRevisit(r.links, slices.Concat(id[:], t[:], v.Place), v.Document),
			r.offer(r.offers, v.Document.Keys(), chain+1, v.Document.Date, id, t)); err != nil {
			return nil, 0, err
		}
		for more && err == nil && bytes.Equal(f.Key[:len(f.Key)-1], v.Place) { // skip its later keys
			f, err, more = next()
		}
	}
	return left, linked, err
}

// match adds the best capture under each wanted key to found.
func (r *resolver) match(wanted, found *extsort.Sorter) error {
	const k = len(extract.Key{})
	next, stop := iter.Pull2(r.offers.Sorted())
	defer stop()
	o, err, more := next()
	for w, werr := range wanted.Sorted() {
		if err := errors.Join(werr, err, r.alive()); err != nil {
			return err
		}
		for more && err == nil && bytes.Compare(o.Key[:k], w.Key[:k]) < 0 {
			o, err, more = next()
		}
		if err != nil {
			return err
		}
		if more && bytes.Equal(o.Key[:k], w.Key[:k]) { // keep o: other revisits may refer by the same key
			id := o.Key[len(o.Key)-16:]
			if err := found.Add(slices.Concat(w.Key[k+1:], w.Key[k:k+1]), slices.Concat(id, o.Value)); err != nil {
				return err
			}
		}
	}
	return err
}

// pages calls linked with the resolved revisits as pages.
func (r *resolver) pages(captures iter.Seq2[Capture, error], linked func(Revisit, rows.TextID, rows.Document) error) error {
	next, stop := iter.Pull2(captures)
	defer stop()
	from := originals{next: next}
	for l, err := range r.links.Sorted() {
		if err := errors.Join(err, r.alive()); err != nil {
			return err
		}
		original, err := from.of(extract.ID(l.Key[:16]))
		if err != nil {
			return err
		}
		v, err := parseRevisit(l.Key[32:], l.Value)
		if err != nil {
			return err
		}
		if err := linked(v, rows.TextID(l.Key[16:32]), asRevisit(original, v.Document)); err != nil {
			return err
		}
	}
	return nil
}

// originals looks up captures.
type originals struct {
	next func() (Capture, error, bool)
	held bool
	id   extract.ID    // of the capture held
	row  rows.Document // of the capture held
}

// of returns the first row of the capture with an ID. IDs ascend from call to call.
func (o *originals) of(id extract.ID) (rows.Document, error) {
	for !o.held || o.id != id {
		c, err, more := o.next()
		switch {
		case err != nil:
			return rows.Document{}, err
		case !more || bytes.Compare(c.ID[:], id[:]) > 0:
			return rows.Document{}, fmt.Errorf("no capture %x", id)
		case c.ID == id:
			if o.row, err = c.Row(); err != nil {
				return rows.Document{}, err
			}
			o.held, o.id = o.row.Repeats == nil, id
		}
	}
	return o.row, nil
}

// asRevisit returns a revisit as a page. Fields that the revisit lacks are taken
// from the original capture.
func asRevisit(original rows.Document, v extract.Document) rows.Document {
	d := original
	d.ID, d.RecordID, d.TargetURI, d.Date, d.Site = v.ID, v.RecordID, v.TargetURI, v.Date, v.Site
	if v.Digest != "" {
		d.Digest = v.Digest
	}
	d.Bytes, d.Clipped, d.Choices, d.Derived = 0, v.Clipped, 0, false // those of the revisit record, of which no payload is read
	d.Status, d.RecordBytes = v.Status, v.RecordBytes
	d.Repeats = v.Repeats
	d.RevisitOf = original.RecordID
	return d
}

// addRevisit adds a revisit to a sorter.
func addRevisit(to *extsort.Sorter, key []byte, d extract.Document) error {
	row, err := json.Marshal(d)
	return errors.Join(err, to.Add(key, slices.Concat(d.ID[:], row)))
}

func parseRevisit(place, value []byte) (v Revisit, err error) {
	v.Place = bytes.Clone(place)
	err = json.Unmarshal(value[16:], &v.Document)
	v.Document.ID = extract.ID(value[:16])
	return v, err
}

// unresolved yields the revisits of a sorter, by place.
func unresolved(left *extsort.Sorter) iter.Seq2[Revisit, error] {
	return func(yield func(Revisit, error) bool) {
		for e, err := range left.Sorted() {
			var v Revisit
			if err == nil {
				v, err = parseRevisit(e.Key, e.Value)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// filter is a Bloom filter of keys. Keys are digests, so two parts of a key give
// its bits. It keeps captures that no revisit refers to, which are nearly all, out
// of the sorter.
type filter struct{ bits []uint64 }

const filterBits = 1 << 26

func (f *filter) places(k extract.Key) [2]uint32 {
	at := func(i int) uint32 {
		return (uint32(k[i])<<24 | uint32(k[i+1])<<16 | uint32(k[i+2])<<8 | uint32(k[i+3])) % filterBits
	}
	return [2]uint32{at(0), at(4)}
}

func (f *filter) add(k extract.Key) {
	if f.bits == nil {
		f.bits = make([]uint64, filterBits/64)
	}
	for _, p := range f.places(k) {
		f.bits[p/64] |= 1 << (p % 64)
	}
}

func (f *filter) has(k extract.Key) bool {
	for _, p := range f.places(k) {
		if f.bits == nil || f.bits[p/64]&(1<<(p%64)) == 0 {
			return false
		}
	}
	return true
}
