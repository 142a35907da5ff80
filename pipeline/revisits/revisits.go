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
// that were made from revisits may be among them, and are ignored. Both are read more than
// once. linked is called in the order of capture IDs, then of places. The order in which the
// records were read does not matter. sorter makes an empty sorter; the memory needed is that
// of a few sorters.
func Resolve(ctx context.Context, revisits iter.Seq2[Revisit, error], captures iter.Seq2[Capture, error],
	sorter func() *extsort.Sorter, linked func(r Revisit, text rows.TextID, page rows.Document) error) (err error) {
	r := resolver{ctx: ctx, sorter: sorter}
	defer func() { err = errors.Join(err, r.close()) }()
	r.links, r.left, r.done = r.sort(), r.sort(), r.sort()
	captured, derived := r.offered(), r.offered()
	wanted, err := r.want(revisits)
	if err != nil {
		return err
	}
	if err := r.offerAll(captures, captured, derived); err != nil {
		return err
	}
	offers := r.offered()
	if _, err := r.link(revisits, wanted, captured.rows, offers, r.left); err != nil {
		return err
	}
	if err := errors.Join(wanted.Close(), captured.rows.Close(), r.follow(offers, maxChain-1)); err != nil {
		return err
	}
	if err := r.follow(derived, maxChain); err != nil {
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

	asked filter          // keys that revisits refer by
	links *extsort.Sorter // docID[16] textID[16] place → revisit: resolved revisits with their captures
	left  *extsort.Sorter // place → number of keys[1] keys revisit: those that refer to no capture but perhaps to a revisit, or to text that was made from a capture
	done  *extsort.Sorter // places of those of left that are resolved since
}

// offered are captures that revisits may refer to.
type offered struct {
	rows *extsort.Sorter // key[16] digits of the date 00 docID[16] → textID[16]: by key, the best first
	keys filter          // of rows
}

func (r *resolver) offered() *offered { return &offered{rows: r.sort()} }

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
func (r *resolver) offer(to *offered, keys []extract.Key, date string, id extract.ID, t rows.TextID) error {
	for _, k := range keys {
		if !r.asked.has(k) {
			continue
		}
		to.keys.add(k)
		if err := to.rows.Add(slices.Concat(k[:], []byte(extract.DateOrder(date)), []byte{0}, id[:]), t[:]); err != nil {
			return err
		}
	}
	return nil
}

// offerAll offers all captures, and the text that was made from captures apart from them.
func (r *resolver) offerAll(captures iter.Seq2[Capture, error], captured, derived *offered) error {
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
		to := captured
		if d.Derived {
			to = derived
		}
		if err := r.offer(to, d.Keys(), d.Date, c.ID, t); err != nil {
			return err
		}
	}
	return nil
}

// follow finds captures on offer for the revisits that are left, and then for revisits of
// these, as long as it finds any. Only those that refer by a key on offer are looked at: a
// crawl may have millions that refer to nothing.
func (r *resolver) follow(offers *offered, rounds int) error {
	for ; rounds > 0 && offers.keys.bits != nil; rounds-- {
		next := r.offered()
		linked, err := r.followOnce(offers, next)
		if err != nil || linked == 0 {
			return err
		}
		if err := offers.rows.Close(); err != nil {
			return err
		}
		offers = next
	}
	return nil
}

// followOnce is one round of follow. What revisits of the linked ones refer to goes to next.
func (r *resolver) followOnce(offers, next *offered) (linked int, err error) {
	hopeful, wanted := r.sorter(), r.sorter()
	defer func() { err = errors.Join(err, hopeful.Close(), wanted.Close()) }()
	nextDone, stop := iter.Pull2(r.done.Sorted())
	defer stop()
	d, derr, more := nextDone()
	for e, err := range r.left.Sorted() {
		for more && derr == nil && bytes.Compare(d.Key, e.Key) < 0 {
			d, derr, more = nextDone()
		}
		if err := errors.Join(err, derr, r.alive()); err != nil {
			return 0, err
		}
		if more && bytes.Equal(d.Key, e.Key) {
			continue
		}
		keys, row := keysOf(e.Value)
		hopes := false
		for i, k := range keys {
			if offers.keys.has(k) {
				hopes = true
				if err := wanted.Add(slices.Concat(k[:], []byte{byte(i)}, e.Key), nil); err != nil {
					return 0, err
				}
			}
		}
		if hopes {
			if err := hopeful.Add(e.Key, row); err != nil {
				return 0, err
			}
		}
	}
	stop() // link adds to done
	return r.link(sorted(hopeful), wanted, offers.rows, next, nil)
}

// link finds captures among offers for revisits, whose keys are in wanted, and adds those
// that it links to next. It adds the others to left, or if that is nil, the places of the linked ones
// to done.
func (r *resolver) link(revisits iter.Seq2[Revisit, error], wanted, offers *extsort.Sorter, next *offered, left *extsort.Sorter) (linked int, err error) {
	found := r.sorter() // place number[1] → docID[16] textID[16]
	defer func() { err = errors.Join(err, found.Close()) }()
	if err := r.match(wanted, offers, found); err != nil {
		return 0, err
	}
	nextFound, stop := iter.Pull2(found.Sorted())
	defer stop()
	f, err, more := nextFound()
	for v, verr := range revisits {
		if err := errors.Join(verr, err, r.alive()); err != nil {
			return 0, err
		}
		if !more || !bytes.Equal(f.Key[:len(f.Key)-1], v.Place) {
			if left != nil {
				if err := addLeft(left, v); err != nil {
					return 0, err
				}
			}
			continue
		}
		linked++
		id, t := extract.ID(f.Value[:16]), rows.TextID(f.Value[16:])
		err = errors.Join(addRevisit(r.links, slices.Concat(id[:], t[:], v.Place), v.Document),
			r.offer(next, v.Document.Keys(), v.Document.Date, id, t))
		if left == nil {
			err = errors.Join(err, r.done.Add(v.Place, nil))
		}
		if err != nil {
			return 0, err
		}
		for more && err == nil && bytes.Equal(f.Key[:len(f.Key)-1], v.Place) { // skip its later keys
			f, err, more = nextFound()
		}
	}
	return linked, err
}

// match adds the best capture on offer under each wanted key to found.
func (r *resolver) match(wanted, offers, found *extsort.Sorter) error {
	const k = len(extract.Key{})
	next, stop := iter.Pull2(offers.Sorted())
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

// addLeft adds a revisit with its keys to left.
func addLeft(to *extsort.Sorter, v Revisit) error {
	keys := v.Document.Repeats.Keys(v.Document.TargetURI)
	b := []byte{byte(len(keys))}
	for _, k := range keys {
		b = append(b, k[:]...)
	}
	row, err := json.Marshal(v.Document)
	return errors.Join(err, to.Add(v.Place, slices.Concat(b, v.Document.ID[:], row)))
}

// keysOf returns the keys of a revisit of left, and the rest of its row.
func keysOf(value []byte) (keys []extract.Key, row []byte) {
	n, row := int(value[0]), value[1:]
	for range n {
		keys = append(keys, extract.Key(row))
		row = row[len(extract.Key{}):]
	}
	return keys, row
}

func parseRevisit(place, value []byte) (v Revisit, err error) {
	row, err := rows.ParseRevisit(value[16:])
	v.Place, v.Document = bytes.Clone(place), row.Document
	v.Document.ID = extract.ID(value[:16])
	return v, err
}

// sorted yields the revisits of a sorter, by place.
func sorted(left *extsort.Sorter) iter.Seq2[Revisit, error] {
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
