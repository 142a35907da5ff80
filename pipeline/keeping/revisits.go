package keeping

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"neardup/pipeline/extsort"
	"neardup/report"
)

// references are those of revisits to a capture, or to all captures of a text.
type references struct {
	of       string          // record ID that one of the revisits refers to
	from, to map[uint64]bool // parts with these revisits, and with these captures
}

// emit emits a revisit for each part with captures that a revisit of another part refers
// to.
func (r *references) emit(text []byte, to *extsort.Sorter) error {
	for part := range r.to {
		if len(r.from) == 0 || len(r.from) == 1 && r.from[part] {
			continue
		}
		m := report.Member{RevisitOf: r.of, Capture: report.Capture{Text: string(text)}}
		if err := to.Add(binary.BigEndian.AppendUint64(nil, part), packAbout(m)); err != nil {
			return err
		}
	}
	return nil
}

// otherRevisits emits, for each part, the revisits of other parts that refer to captures
// in it, so that these stay. A revisit whose capture is not in the cluster refers to all
// captures of its text, see keep.
func (x *large) otherRevisits(ctx context.Context, to *extsort.Sorter) (err error) {
	const textEnd, idEnd = 32, 32 + sha256.Size
	byCapture := extsort.New(x.dir) // text[32], hash of a record ID[32], 1 for captures[1], part[8] → record ID
	defer func() { err = errors.Join(err, byCapture.Close()) }()
	n := 0
	for e, err := range x.byURI.Sorted() {
		var m report.Member
		if err == nil {
			m, err = unpackAbout(e.Value)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		id, capture := cmp.Or(m.RevisitOf, m.RecordID), byte(1)
		if m.RevisitOf != "" {
			capture = 0
		}
		hash := sha256.Sum256([]byte(id))
		key := append(append([]byte(m.Text), hash[:]...), capture)
		if err := byCapture.Add(binary.BigEndian.AppendUint64(key, uint64(n/chosenPages)), []byte(id)); err != nil {
			return err
		}
		n++
	}
	none := func() references { return references{from: map[uint64]bool{}, to: map[uint64]bool{}} }
	present, lost := none(), none() // to the present capture; of its text, to captures that are not there
	endCapture := func(text []byte) error {
		for part := range present.from {
			if len(present.to) == 0 {
				lost.of, lost.from[part] = present.of, true
			}
		}
		err := present.emit(text, to)
		present = none()
		return err
	}
	endText := func(text []byte) error {
		err := errors.Join(endCapture(text), lost.emit(text, to))
		lost = none()
		return err
	}
	last := make([]byte, idEnd)
	for e, err := range byCapture.Sorted() {
		switch {
		case errors.Join(err, ctx.Err()) != nil:
			return errors.Join(err, ctx.Err())
		case !bytes.Equal(last[:textEnd], e.Key[:textEnd]):
			err = endText(last[:textEnd])
		case !bytes.Equal(last, e.Key[:idEnd]):
			err = endCapture(last[:textEnd])
		}
		if err != nil {
			return err
		}
		copy(last, e.Key)
		if part := binary.BigEndian.Uint64(e.Key[idEnd+1:]); e.Key[idEnd] == 1 {
			present.to[part], lost.to[part] = true, true
		} else {
			present.of, present.from[part] = string(e.Value), true
		}
	}
	return endText(last[:textEnd])
}
