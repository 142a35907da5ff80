package keeping

import (
	"encoding/binary"
	"math"

	"neardup/pipeline/layout"
	"neardup/report"
)

// packMember packs a member without Chosen.
func packMember(m report.Member) []byte {
	return pack([]string{m.RecordID, m.URI, m.Date, m.Title, m.Byline, m.WARC, m.Path, m.Entry, m.Digest, string(m.Relation), m.VerifiedAgainst, m.RevisitOf,
		m.AgainstDocument, m.AgainstText, m.Source, m.Document, m.MediaType, m.Charset, m.Site, m.Text},
		uint64(m.Offset), uint64(m.Bytes), uint64(m.Status), uint64(m.RecordBytes), uint64(m.TextBytes), bit(m.Unsure), bit(m.TypeSniffed), bit(m.Clipped), bit(m.Derived),
		math.Float64bits(float64(m.Resemblance)), math.Float64bits(float64(m.Containment)))
}

func unpackMember(b []byte) (m report.Member, err error) {
	var relation string
	var offset, bytes, status, recordBytes, textBytes, unsure, sniffed, clipped, derived, resemblance, containment uint64
	err = unpack(b, []*string{&m.RecordID, &m.URI, &m.Date, &m.Title, &m.Byline, &m.WARC, &m.Path, &m.Entry, &m.Digest, &relation, &m.VerifiedAgainst, &m.RevisitOf,
		&m.AgainstDocument, &m.AgainstText, &m.Source, &m.Document, &m.MediaType, &m.Charset, &m.Site, &m.Text},
		&offset, &bytes, &status, &recordBytes, &textBytes, &unsure, &sniffed, &clipped, &derived, &resemblance, &containment)
	m.Relation, m.Offset, m.Bytes, m.Status, m.RecordBytes, m.TextBytes = report.Relation(relation), int64(offset), int64(bytes), int(status), int64(recordBytes), int64(textBytes)
	m.Unsure, m.TypeSniffed, m.Clipped, m.Derived = unsure == 1, sniffed == 1, clipped == 1, derived == 1
	m.Resemblance, m.Containment = report.Score(math.Float64frombits(resemblance)), report.Score(math.Float64frombits(containment))
	return m, err
}

// packAbout packs what the choice for a page depends on.
func packAbout(m report.Member) []byte {
	return pack([]string{m.Document, m.Text, m.RecordID, m.URI, m.Date, m.RevisitOf, m.Digest, string(m.Relation)}, uint64(m.TextBytes), bit(m.Clipped), bit(m.Derived))
}

func unpackAbout(b []byte) (m report.Member, err error) {
	var relation string
	var bytes, clipped, derived uint64
	err = unpack(b, []*string{&m.Document, &m.Text, &m.RecordID, &m.URI, &m.Date, &m.RevisitOf, &m.Digest, &relation}, &bytes, &clipped, &derived)
	m.Relation, m.TextBytes, m.Clipped, m.Derived = report.Relation(relation), int64(bytes), clipped == 1, derived == 1
	return m, err
}

func bit(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// packChoice packs a choice, without With.
func packChoice(c report.Choice) []byte {
	return pack([]string{string(c.Action), string(c.Why), c.Kept, c.KeptURI}, uint64(c.Characters), uint64(c.Lost), math.Float64bits(float64(c.Resemblance)), bit(c.Compared))
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
