package keeping

import (
	"encoding/binary"
	"math"

	"neardup/pipeline/layout"
	"neardup/report"
)

// packMember packs what the choice for a page depends on.
func packMember(m report.Member) []byte {
	clipped := uint64(0)
	if m.Clipped {
		clipped = 1
	}
	return pack([]string{m.Document, m.Text, m.RecordID, m.URI, m.Date, m.RevisitOf, string(m.Relation)}, uint64(m.TextBytes), clipped)
}

func unpackMember(b []byte) (m report.Member, err error) {
	var relation string
	var bytes, clipped uint64
	err = unpack(b, []*string{&m.Document, &m.Text, &m.RecordID, &m.URI, &m.Date, &m.RevisitOf, &relation}, &bytes, &clipped)
	m.Relation, m.TextBytes, m.Clipped = report.Relation(relation), int64(bytes), clipped == 1
	return m, err
}

// packChoice packs a choice, without With.
func packChoice(c report.Choice) []byte {
	compared := uint64(0)
	if c.Compared {
		compared = 1
	}
	return pack([]string{string(c.Action), string(c.Why), c.Kept, c.KeptURI}, uint64(c.Characters), uint64(c.Lost), math.Float64bits(float64(c.Resemblance)), compared)
}

func unpackChoice(b []byte) (c report.Choice, err error) {
	var action, why string
	var characters, lost, resemblance, compared uint64
	err = unpack(b, []*string{&action, &why, &c.Kept, &c.KeptURI}, &characters, &lost, &resemblance, &compared)
	c.Action, c.Why, c.Characters, c.Lost = report.Action(action), report.Why(why), int(characters), int(lost)
	c.Resemblance, c.Compared = report.Score(math.Float64frombits(resemblance)), compared == 1
	return c, err
}

func pack(strings []string, numbers ...uint64) (b []byte) {
	for _, s := range strings {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func unpack(b []byte, strings []*string, numbers ...*uint64) error {
	for _, s := range strings {
		n, used := binary.Uvarint(b)
		if used <= 0 || uint64(len(b)-used) < n {
			return layout.ErrCorrupt
		}
		*s, b = string(b[used:used+int(n)]), b[used+int(n):]
	}
	for _, n := range numbers {
		used := 0
		if *n, used = binary.Uvarint(b); used <= 0 {
			return layout.ErrCorrupt
		}
		b = b[used:]
	}
	return nil
}
